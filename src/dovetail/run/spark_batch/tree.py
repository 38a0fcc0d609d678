"""A join and the joins inside it: the rows of each are the input of the one around.

All stand on the same ground: the inputs, and which of their rows take part.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import assert_never

from pyspark.sql import DataFrame

from dovetail.plan.batch import plan_buckets
from dovetail.run.spark_batch.arrivals import Admitted, Arrivals, admit
from dovetail.run.spark_batch.inner import as_input
from dovetail.run.spark_batch.lives import Living, Seat, give_lives
from dovetail.run.spark_batch.matching import Meeting
from dovetail.run.spark_batch.pruned import pruned
from dovetail.run.spark_batch.results import outlets
from dovetail.spec.inputs import Input, Outlet
from dovetail.spec.join import HANDS, Hand, JoinSpec, Named, Nested, Side
from dovetail.spec.picks import Strategy
from dovetail.spec.sources import is_timed
from dovetail.spec.windows import Window


@dataclass(frozen=True, slots=True)
class BatchRows:
    """The rows of every outlet, and the late rows of every input with their reasons.

    Where `in_left_order` they come in the order of the left rows as they are.
    """

    outlets: Mapping[Outlet, DataFrame]
    late: Mapping[str, DataFrame]
    in_left_order: bool = False


@dataclass(frozen=True, slots=True)
class Ground:
    """The inputs that all joins of a tree stand on, and what is known of them.

    `failure` is said where a limit fails.
    """

    inputs: Mapping[str, Input]
    arrivals: Mapping[str, Arrivals]
    admitted: Mapping[str, Admitted]
    failure: str = ""


@dataclass(frozen=True, slots=True)
class _Came:
    """The rows of a side, wherever they come from; those that are late by name."""

    source: Input
    arrivals: Arrivals
    admitted: Admitted
    late: Mapping[str, DataFrame]


def joined(
    join: JoinSpec, ground: Ground, *, asks_row_time: bool, place: str
) -> BatchRows:
    """Returns the rows of one join of the tree, which stands at a place in it."""
    sides: dict[Hand, Living] = {}
    late: dict[str, DataFrame] = {}
    for hand in HANDS:
        came = _came(join, hand, ground, f"{hand.value} of {place}")
        window = join.side(hand).window
        seat = Seat(hand, came.source, window, came.arrivals, join.clock)
        sides[hand] = give_lives(seat, came.admitted)
        late |= came.late
    left, right = (sides[hand].seat.source for hand in HANDS)
    buckets = plan_buckets(join, (left, right))
    whole = Meeting(join, sides, buckets, asks_row_time, ground.failure)
    meeting = pruned(whole)
    # Left rows that look for one right row in memory stay where they are.
    strategies = (join.picks.strategy, meeting.join.picks.strategy)
    stays = strategies == (Strategy.LOOKUP, Strategy.MANY_LOOKUP)
    return BatchRows(outlets(meeting), late, in_left_order=stays)


def _came(join: JoinSpec, hand: Hand, ground: Ground, place: str) -> _Came:
    """Returns what comes to a side; the rows of a join are an input of that name."""
    side = join.side(hand)
    match side.source:
        case Named(name):
            known = ground.inputs[name], ground.arrivals[name], ground.admitted[name]
            return _Came(*known, {})
        case Nested(inner):
            below = joined(inner, ground, asks_row_time=True, place=place)
            rows = below.outlets[Outlet.MATCHED]
            has_time = is_timed(side.source, ground.inputs)
            source, arrivals = as_input(place, rows, join, is_timed=has_time)
            admitted = admit(source, arrivals, join.clock, [side.window])
            late = {**below.late, place: admitted.late}
            return _Came(source, arrivals, admitted, late)
        case _:
            assert_never(side.source)


def windows_on(join: JoinSpec, name: str) -> Iterator[Window]:
    """Gives the windows of all sides of a tree of joins that an input is on."""
    for hand in HANDS:
        match join.side(hand):
            case Side(source=Named(named), window=window) if named == name:
                yield window
            case Side(source=Nested(inner)):
                yield from windows_on(inner, name)
            case _:
                pass
