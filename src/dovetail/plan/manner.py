"""How a stream's rows get their order of arrival, and how long rows stay.

Three orders: `sequence`, one number over both sides; `merged`, by row time, held back
until both sides' bounds have passed; `as_read`, batch by batch, where there is no time.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from dovetail.errors import SpecError, UnsupportedError
from dovetail.spec.defaults import is_by_row_time
from dovetail.spec.inputs import Arrival, Input, InputKind
from dovetail.spec.join import HANDS, Clock, Hand, JoinSpec
from dovetail.spec.spans import NO_TIME, Span
from dovetail.spec.windows import Forever, Latest, Range, Rows, Window


@dataclass(frozen=True, slots=True)
class SideFacts:
    """What an engine knows of a side beside its input."""

    source: Input
    ordered: bool
    in_sequence: bool


Facts = Mapping[Hand, SideFacts]


def arrival_of(join: JoinSpec, facts: Facts) -> Arrival:
    """Returns the order of arrival that the sides allow, or refuses the join."""
    if all(side.in_sequence for side in facts.values()):
        return Arrival.SEQUENCE
    if all(side.source.is_timed for side in facts.values()):
        return Arrival.MERGED
    if join.clock is Clock.ARRIVAL:
        for hand, side in facts.items():
            if not side.ordered:
                raise SpecError(
                    f"the {hand.value} side has no order: its rows have neither a "
                    "time that both sides share nor a number",
                    "time=... on both sides, or order=... on each",
                    "for Kafka, order= can be made of partition and offset",
                    rule="order_of_arrival",
                )
    return Arrival.AS_READ


def refuse_static(facts: Facts, streaming: Mapping[Hand, bool]) -> None:
    """Refuses a join of a stream with rows that do not stream."""
    for hand in facts:
        if not streaming[hand]:
            raise UnsupportedError.not_yet(
                "stream",
                f"a {hand.value} side that is no stream",
                hint="spark.readStream reads what stays too; two sides that stay are "
                "joined as a batch",
            )


def unbounded_sides(join: JoinSpec, inputs: Mapping[Hand, Input]) -> tuple[Hand, ...]:
    """Returns the sides whose state grows for ever while the stream runs."""
    return tuple(
        hand
        for hand in HANDS
        if inputs[hand].kind is InputKind.STREAM
        and join.clock is not Clock.BATCH
        and isinstance(join.side(hand).window, Forever)
        and not _forgets(join, inputs, hand)
    )


def _forgets(join: JoinSpec, inputs: Mapping[Hand, Input], hand: Hand) -> bool:
    """Tells whether a side loses the rows that an `asof` can no longer pick."""
    named = {source.name: source for source in inputs.values()}
    by_time = join.clock is Clock.EVENT and is_by_row_time(join, named)
    return hand is Hand.RIGHT and by_time


def state_bound(
    join: JoinSpec, inputs: Mapping[Hand, Input], hand: Hand, arrival: Arrival | None
) -> str:
    """Returns in words how many rows of a side are kept at most.

    Where rows meet by row time, those wait that the bounds have not passed.
    """
    merges = arrival is Arrival.MERGED or join.clock is Clock.EVENT
    waits = merges and all(source.is_timed for source in inputs.values())
    waiting = "rows that one of the bounds has not passed yet"
    other = join.side(hand.other).window
    match join.side(hand).window:
        case Rows(0):
            return waiting if waits else "none: each row is met once"
        case Rows(count):
            rows = f"{count} row{'s' * (count != 1)} a partition"
            return f"{rows}, and {waiting}" if waits else rows
        case Latest(key):
            rows = f"one row for each {', '.join(key)}"
            return f"{rows}, and {waiting}" if waits else rows
        case Range(preceding):
            reach = _together(preceding, other)
            age = f"up to {reach.in_words()}" if reach != NO_TIME else "not"
            return f"rows {age} older than the {hand.other.value} side's bound"
        case _ if inputs[hand].kind is not InputKind.STREAM:
            return "all of it"
        case Forever() if _forgets(join, inputs, hand):
            return "for each key the rows that a left row may still pick"
        case _:
            return "without a bound: every row that ever came"


def _together(preceding: Span, other: Window) -> Span:
    """Returns how long a row can wait: its own window and the other's look ahead."""
    match other:
        case Range(following=ahead):
            months = preceding.months + ahead.months
            return Span(months, preceding.microseconds + ahead.microseconds)
        case _:
            return preceding
