"""A join that is given as data, as case files have it, on DataFrames."""

from __future__ import annotations

from collections.abc import Mapping

from pyspark.sql import DataFrame

from dovetail.run.spark_program import met
from dovetail.spec.reading import read_join
from dovetail.spec.stops import USUAL_THRESHOLD, Skew, Stops


def join(
    spec: Mapping[str, object],
    frames: Mapping[str, DataFrame],
    *,
    failure: str = "",
    skew: float = 1.0,
    threshold: int = USUAL_THRESHOLD,
) -> DataFrame:
    """Returns the rows of a join of data sets; nothing runs yet.

    `spec`: the join as data, as in the `join` of a case. `frames`: a DataFrame for each
    name in it; rows count in the order in which it has them. `failure`: what is said
    where a limit fails. `skew`: the job fails where a side's rows lie more unevenly
    than that (0 to 1) and the largest part has more than `threshold` bytes.
    """
    return met(read_join(spec), frames, Stops(failure, Skew(skew, threshold)))
