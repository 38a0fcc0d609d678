"""Batch joins inside a join on a clock that moves: their rows are there from the start.

Each is played first, and stands from then on as a data set of its rows.
"""

from __future__ import annotations

from dataclasses import replace

from dovetail.oracle.clock_batch import play_batch
from dovetail.oracle.parts import Parts
from dovetail.spec.inputs import Inputs
from dovetail.spec.join import JoinSpec, Named, Nested, Side
from dovetail.spec.play import Play
from dovetail.spec.results import input_of
from dovetail.spec.static import is_batch_inside


def with_static_played(play: Play, join: JoinSpec) -> tuple[JoinSpec, Inputs]:
    """Returns a join whose batches inside are data sets, and the inputs with those."""
    left, inputs = _with_side_played(play, join, join.left)
    right, inputs = _with_side_played(replace(play, inputs=inputs), join, join.right)
    return replace(join, left=left, right=right), inputs


def _with_side_played(play: Play, around: JoinSpec, side: Side) -> tuple[Side, Inputs]:
    """Returns a side and the inputs, where the side is a join with that one played."""
    match side.source:
        case Nested() as inner if is_batch_inside(play, inner, around):
            return _as_data_set(play, side, inner)
        case Nested(inside, name):
            known, inputs = with_static_played(play, inside)
            return replace(side, source=Nested(known, name)), inputs
        case _:
            return side, play.inputs


def _as_data_set(play: Play, side: Side, inner: Nested) -> tuple[Side, Inputs]:
    """Returns the rows of a join as a data set among the inputs."""
    name = inner.name
    while name in play.inputs:
        name = f"the {name}"
    rows = tuple(one.row for one in play_batch(Parts.of(play, inner.join), play))
    data_set = replace(input_of(inner, play.inputs, name), rows=rows)
    return replace(side, source=Named(name)), {**play.inputs, name: data_set}
