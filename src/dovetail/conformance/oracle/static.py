"""Batch joins inside a join on a clock that moves: their rows are there from the start.

Each is played first, and stands from then on as a data set of its rows.
"""

from __future__ import annotations

from dataclasses import replace

from dovetail.conformance.oracle.clock_batch import play_batch
from dovetail.conformance.oracle.parts import Parts
from dovetail.spec.inputs import Emission, Inputs, Outlet
from dovetail.spec.join import HANDS, Hand, JoinSpec, Named, Nested
from dovetail.spec.play import Play
from dovetail.spec.static import data_set_of, is_batch_inside, without_static


def with_static_played(
    play: Play, join: JoinSpec
) -> tuple[Play, JoinSpec, list[Emission]]:
    """Returns a play and its join with batches inside as data sets; their late rows."""
    late: list[Emission] = []
    for hand in HANDS:
        join, play = _with_side_played(play, join, hand, late)
    return without_static(play, join), join, late


def _with_side_played(
    play: Play, around: JoinSpec, hand: Hand, late: list[Emission]
) -> tuple[JoinSpec, Play]:
    """Returns a join and its play, where the side is a join with that one played."""
    side, inputs = around.side(hand), play.inputs
    match side.source:
        case Nested() as inner if is_batch_inside(around, side, inputs):
            name, inputs = _as_data_set(play, inner, late)
            side = replace(side, source=Named(name))
        case Nested(inside, name):
            for one in HANDS:
                inside, play = _with_side_played(play, inside, one, late)
            side, inputs = replace(side, source=Nested(inside, name)), play.inputs
        case _:
            pass
    known = replace(play, inputs=inputs)
    if hand is Hand.LEFT:
        return replace(around, left=side), known
    return replace(around, right=side), known


def _as_data_set(play: Play, inner: Nested, late: list[Emission]) -> tuple[str, Inputs]:
    """Returns the name of a join's rows as a data set, among the inputs."""
    name = inner.name
    while name in play.inputs:
        name = f"the {name}"
    found = play_batch(Parts.of(play, inner.join), play)
    late += [one for one in found if one.outlet is Outlet.LATE]
    rows = tuple(one.row for one in found if one.outlet is Outlet.MATCHED)
    data_set = replace(data_set_of(inner, play.inputs, name), rows=rows)
    return name, {**play.inputs, name: data_set}
