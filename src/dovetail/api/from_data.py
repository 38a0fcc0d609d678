"""A join that is given as data, as case files have it, on DataFrames."""

from __future__ import annotations

from collections.abc import Mapping

from pyspark.sql import DataFrame

from dovetail.bind.schemas import frame_given
from dovetail.engines.spark_program import met
from dovetail.spec import arguments
from dovetail.spec.calls import public
from dovetail.spec.join import JoinSpec
from dovetail.spec.reading import read_join
from dovetail.spec.sources import source_names
from dovetail.spec.stops import USUAL_THRESHOLD, Skew, Stops


@public
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
    arguments.mapping("spec", spec, '{"type": "inner", ..}')
    arguments.mapping("frames", frames, '{"a": frame, "b": other}')
    for name, frame in frames.items():
        frame_given(f"frames[{arguments.told(name)}]", frame)
    arguments.said("failure", failure, "a text", 'failure="too many"')
    limit = arguments.number("skew", skew, "a share from 0 to 1", "skew=0.5")
    if not 0 <= limit <= 1:
        raise arguments.wrong(
            "skew", skew, "a share from 0 to 1", "skew=1.0 is no limit"
        )
    least = arguments.whole("threshold", threshold, "threshold=1_000_000")
    join = read_join(spec)
    names = source_names(join) if isinstance(join, JoinSpec) else join.sets
    if {*names} != {*frames}:
        expected = f"a DataFrame for each of {', '.join(names)}, and no other"
        raise arguments.wrong(
            "frames", frames, expected, "the spec names its inputs by from"
        )
    return met(join, frames, Stops(failure, Skew(float(limit), least)))
