"""One join of DataFrames, given as data: the native plan of the batch engine.

The rows of each frame count in the order in which it has them.
"""

from __future__ import annotations

from collections.abc import Mapping

from pyspark.sql import DataFrame

from dovetail.bind.schemas import schema_of
from dovetail.engines.spark_batch.arrivals import Arrivals
from dovetail.engines.spark_batch.join import join_batch
from dovetail.spec.inputs import Input, InputKind, Outlet
from dovetail.spec.join import JoinSpec, SetJoinSpec
from dovetail.spec.play import Play
from dovetail.spec.rules import checked
from dovetail.spec.stops import Stops

_NO_STOPS = Stops()


def met(
    join: JoinSpec | SetJoinSpec,
    frames: Mapping[str, DataFrame],
    stops: Stops = _NO_STOPS,
) -> DataFrame:
    """Returns the rows of a join; `stops` says when its job fails."""
    inputs = {
        name: Input(name, InputKind.DATASET, schema_of(frame))
        for name, frame in frames.items()
    }
    play = checked(Play(join, inputs))
    arrivals = {name: Arrivals(frame) for name, frame in frames.items()}
    rows = join_batch(play.join, play.inputs, arrivals, stops=stops)
    return rows.outlets[Outlet.MATCHED]
