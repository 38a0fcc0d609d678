"""The operator of a query that several joins share: each bucket is of one of them.

    bucket   0  1  2  3  4
    part     0  0  1  1  2

A join's own step runs in each bucket, on the bucket's own state, so a part knows
nothing of the others. What comes out says whose it is.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import NamedTuple

import pandas as pd
import pyarrow as pa

from dovetail.bind.travel import Carried
from dovetail.engines.spark_stream.worker.bucket import BLOB, JOIN
from dovetail.engines.spark_stream.worker.operator import (
    JoinOperator,
    StateShelf,
    results,
)
from dovetail.kernels.settings import JoinSettings

PART = "part"
RESULT_DDL = f"{PART} int, {JOIN} int, {BLOB} binary"


class Join(NamedTuple):
    """The number of a part, and what its steps must know."""

    part: int
    settings: JoinSettings
    schemas: tuple[pa.Schema, pa.Schema]


def make_shared_operator(joins: Mapping[int, Join]) -> JoinOperator:
    """Returns the operator of several joins, by the labels of their buckets."""
    return JoinOperator(Carried(partial(shared_results, joins)))


def shared_results(
    joins: Mapping[int, Join], state: StateShelf, rows: Iterator[pd.DataFrame]
) -> Iterator[pd.DataFrame]:
    """Gives the results of one bucket beside the part that the bucket is of."""
    frames = list(rows)
    part, settings, schemas = joins[int(frames[0]["bucket"].iloc[0])]
    for found in results(settings, schemas, state, iter(frames)):
        # A line without a blob only counts.
        own = found[[JOIN, BLOB]].dropna()
        yield own.assign(**{PART: part})[[PART, JOIN, BLOB]]
