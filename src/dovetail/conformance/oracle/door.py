"""The door: rows that take no part are turned away before any clock sees them.

Late, without a row time, or with a bad interval: such a row leaves once, by the outlet
`late`, however many sides and inner joins it would have come to.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Protocol

from dovetail.conformance.oracle.emission import late_row
from dovetail.conformance.oracle.lateness import BAD_INTERVAL, IN_TIME
from dovetail.conformance.oracle.parts import Parts
from dovetail.spec.inputs import Arrive, Emission, Event, Pause


class Player(Protocol):
    """A clock that takes events one by one."""

    def state(self, event: Arrive) -> None:
        """Takes a row that is there from the start."""

    def start(self) -> Iterator[Emission]:
        """Yields what the rows give that are there from the start."""

    def on(self, event: Event) -> Iterator[Emission]:
        """Yields what one event gives."""


class Door:
    """Stands before a clock, and lets rows in."""

    def __init__(self, parts: Parts, player: Player) -> None:
        """Stands before this clock of a join."""
        self._parts = parts
        self._player = player

    def start(self) -> Iterator[Emission]:
        """Yields what the rows give that are there from the start."""
        for event in self._parts.state():
            verdict = self._parts.verdict_of_state(event)
            if verdict == IN_TIME:
                self._player.state(event)
            else:
                yield late_row(event.row, verdict)
        yield from self._player.start()

    def on(self, event: Event) -> Iterator[Emission]:
        """Yields what one event gives; time goes on where a row is turned away."""
        match event:
            case Arrive() if (verdict := self._parts.verdict(event)) != IN_TIME:
                yield from self._player.on(Pause(event.clock))
                yield late_row(event.row, verdict)
            case _:
                yield from self._player.on(event)


def turned_away(parts: Parts, events: Iterable[Event]) -> list[Arrive]:
    """Returns the rows that a batch turns away: for nothing but a bad interval."""
    return [
        event
        for event in events
        if isinstance(event, Arrive) and parts.verdict_of_state(event) == BAD_INTERVAL
    ]
