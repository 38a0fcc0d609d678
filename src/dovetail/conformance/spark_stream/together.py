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

import pyarrow as pa
from pyspark.sql import Row

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
    joins: Mapping[int, Join], state: StateShelf, rows: Iterator[Row]
) -> Iterator[Row]:
    """Gives the results of one bucket beside the part that the bucket is of."""
    lines = list(rows)
    part, settings, schemas = joins[lines[0]["bucket"]]
    of_part = Row(PART, JOIN, BLOB)
    for found in results(settings, schemas, state, iter(lines)):
        if found[BLOB] is not None:  # else it only counts
            yield of_part(part, found[JOIN], found[BLOB])
