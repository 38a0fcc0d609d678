"""Which of the rows that came are those that were turned away, and on which sides."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from dovetail.oracle.life import Plain
from dovetail.oracle.parts import Parts
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
    newcomers: Iterable[Newcomer], emissions: Iterable[Emission]
) -> Iterator[Rejected]:
    """Yields the newcomers that left by the outlet `late`, once a side."""
    waiting = list(newcomers)
    for emission in emissions:
        if emission.outlet is Outlet.LATE:
            newcomer = _who_left(waiting, emission)
            waiting.remove(newcomer)
            reason = str(emission.row["reason"])
            for hand in newcomer.hands:
                yield Rejected(hand, newcomer.values, reason)


def _who_left(newcomers: Iterable[Newcomer], emission: Emission) -> Newcomer:
    """Returns the first newcomer that a late row shows."""
    reason = emission.row["reason"]
    return next(
        newcomer
        for newcomer in newcomers
        if {**newcomer.values, "reason": reason} == emission.row
    )


def state_of(parts: Parts) -> Iterator[Newcomer]:
    """Returns the rows that are there from the start."""
    return arriving(parts, parts.state())


def arriving(parts: Parts, events: Iterable[Event]) -> Iterator[Newcomer]:
    """Yields the rows that come by events."""
    for event in events:
        if isinstance(event, Arrive):
            yield Newcomer(parts.hands_of(event.input), event.row)
