"""A join that is given as data, as case files have it, on DataFrames."""

from __future__ import annotations

from collections.abc import Mapping

from pyspark.sql import DataFrame

from dovetail.run.spark_program import met
from dovetail.spec.reading import read_join


def join(
    spec: Mapping[str, object],
    frames: Mapping[str, DataFrame],
    *,
    failure: str = "",
) -> DataFrame:
    """Returns the rows of a join of data sets; nothing runs yet.

    `spec`: the join as data, as in the `join` of a case. `frames`: a DataFrame for each
    name in it; rows count in the order in which it has them. `failure`: what is said
    where a limit fails.
    """
    return met(read_join(spec), frames, failure)
