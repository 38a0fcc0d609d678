"""Which of the rows that came are those that were turned away, and on which sides."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from dovetail.conformance.oracle.life import Plain
from dovetail.conformance.oracle.parts import Parts
from dovetail.spec.inputs import Arrive, Emission, Event, Outlet
from dovetail.spec.join import Hand


@dataclass(frozen=True, slots=True)
class Newcomer:
    """A row that came, and the sides that it came to."""

    hands: tuple[Hand, ...]
    values: Plain


@dataclass(frozen=True, slots=True)
class Rejected:
    """A row that takes no part on a side, and why."""

    hand: Hand
    values: Plain
    reason: str


def rejected(
    parts: Parts, events: Iterable[Event], emissions: Iterable[Emission]
) -> Iterator[Rejected]:
    """Yields the rows of events that left by the outlet `late`, once a side."""
    waiting = list(_arriving(parts, events))
    for emission in emissions:
        if emission.outlet is Outlet.LATE:
            newcomer = next(_who_left(waiting, emission), _inner(parts, emission))
            if newcomer in waiting:
                waiting.remove(newcomer)
            reason = str(emission.row["reason"])
            for hand in newcomer.hands:
                yield Rejected(hand, newcomer.values, reason)


def _who_left(waiting: Iterable[Newcomer], emission: Emission) -> Iterator[Newcomer]:
    """Yields the newcomers that a late row may show, the first of them first."""
    reason = emission.row["reason"]
    for newcomer in waiting:
        if {**newcomer.values, "reason": reason} == emission.row:
            yield newcomer


def _inner(parts: Parts, emission: Emission) -> Newcomer:
    """Returns the row of an inner join that came to the sides of such columns."""
    values = {name: emission.row[name] for name in emission.row if name != "reason"}
    hands = [
        hand
        for hand in parts.inner
        if set(parts.sides[hand].input.schema.names) == set(values)
    ]
    return Newcomer(tuple(hands[:1]), values)


def _arriving(parts: Parts, events: Iterable[Event]) -> Iterator[Newcomer]:
    """Yields the rows that come by events."""
    for event in events:
        if isinstance(event, Arrive):
            yield Newcomer(parts.hands_of(event.input), event.row)
