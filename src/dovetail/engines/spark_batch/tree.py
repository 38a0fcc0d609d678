"""A join and the joins inside it: the rows of each are the input of the one around.

All stand on the same ground: the inputs, and which of their rows take part.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import assert_never

from pyspark.sql import DataFrame

from dovetail.engines.spark_batch.arrivals import Admitted, Arrivals, admit
from dovetail.engines.spark_batch.inner import as_input, in_order, looks_at_order
from dovetail.engines.spark_batch.lives import LASTING, Living, Seat, give_lives
from dovetail.engines.spark_batch.matching import Meeting
from dovetail.engines.spark_batch.pruned import pruned
from dovetail.engines.spark_batch.results import ORDER, outlets
from dovetail.engines.spark_batch.skew import watched
from dovetail.plan.batch import plan_buckets
from dovetail.spec.inputs import Input, Outlet
from dovetail.spec.join import HANDS, Hand, JoinSpec, Named, Nested, Side
from dovetail.spec.picks import Strategy
from dovetail.spec.sources import is_state, is_timed, known_input
from dovetail.spec.stops import Stops
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
    """The inputs that all joins of a tree stand on, and what is known of them."""

    inputs: Mapping[str, Input]
    arrivals: Mapping[str, Arrivals]
    admitted: Mapping[str, Admitted]
    stops: Stops = Stops()


@dataclass(frozen=True, slots=True)
class _Came:
    """The rows of a side, wherever they come from; those that are late by name."""

    source: Input
    arrivals: Arrivals
    admitted: Admitted
    late: Mapping[str, DataFrame]


@dataclass(frozen=True, slots=True)
class Asked:
    """What is asked of a join's rows: their row time, an order, hidden columns."""

    row_time: bool
    order: bool
    hidden: tuple[str, ...] = ORDER


def joined(join: JoinSpec, ground: Ground, asked: Asked, place: str) -> BatchRows:
    """Returns the rows of one join of the tree, which stands at a place in it."""
    sides: dict[Hand, Living] = {}
    asks_order = asked.order or looks_at_order(join)
    late: dict[str, DataFrame] = {}
    for hand in HANDS:
        name = f"{hand.value} of {place}"
        came = _came(join, hand, ground, name, asks_order=asks_order)
        of_side = (came.source, join.side(hand), came.arrivals, join.clock)
        seat = Seat(hand, *of_side, is_state(join, hand))
        sides[hand] = give_lives(seat, came.admitted)
        late |= came.late
    left, right = (sides[hand].seat.source for hand in HANDS)
    buckets = plan_buckets(join, (left, right))
    whole = Meeting(join, sides, buckets, asked.row_time, ground.stops.failure)
    meeting = pruned(watched(whole, ground.stops.skew))
    # Left rows that look for one right row in memory stay where they are.
    strategies = (join.picks.strategy, meeting.join.picks.strategy)
    stays = strategies == (Strategy.LOOKUP, Strategy.MANY_LOOKUP)
    return BatchRows(outlets(meeting, asked.hidden), late, in_left_order=stays)


def _came(
    join: JoinSpec, hand: Hand, ground: Ground, place: str, *, asks_order: bool
) -> _Came:
    """Returns what comes to a side; the rows of a join are an input of that name.

    Sorting them costs, so it is done only where somebody asks for their order.
    """
    side = join.side(hand)
    match side.source:
        case Named(name):
            known = ground.inputs[name], ground.arrivals[name], ground.admitted[name]
            return _Came(*known, {})
        case Nested(inner):
            hidden = (*ORDER, *LASTING)
            asked = Asked(row_time=True, order=asks_order, hidden=hidden)
            below = joined(inner, ground, asked, place)
            rows = below.outlets[Outlet.MATCHED]
            found = in_order(rows, join.clock) if asks_order else rows
            named = replace(known_input(side.source, ground.inputs), name=place)
            timed = is_timed(side.source, ground.inputs)
            source, arrivals = as_input(named, found, is_timed=timed)
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
