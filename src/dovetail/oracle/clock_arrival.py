"""The clock `arrival`: rows meet in the order in which they come.

What one row does, in this order: it meets the rows that are alive on the other side; it
drives out rows of its own side, which leave unmatched if they met nobody; it stays.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import assert_never

from dovetail.oracle.emission import late_row, mark
from dovetail.oracle.eviction import leaving, of_key, stays
from dovetail.oracle.lateness import IN_TIME, NULL_TIME
from dovetail.oracle.life import LivingRow, Plain
from dovetail.oracle.lifetimes import Version, version_of
from dovetail.oracle.matching import Pair
from dovetail.oracle.parts import Parts
from dovetail.spec.inputs import (
    Arrive,
    Bound,
    Emission,
    Event,
    Finish,
    Outlet,
    Pause,
    Remove,
)
from dovetail.spec.join import HANDS, Hand
from dovetail.spec.windows import Latest


class ArrivalClock:
    """Plays one join on the arrival clock."""

    def __init__(self, parts: Parts) -> None:
        """Starts with empty sides."""
        self._parts = parts
        self._stored: dict[Hand, list[LivingRow]] = {hand: [] for hand in HANDS}
        self._versions: dict[Hand, list[Version]] = {hand: [] for hand in HANDS}
        self._sent = 0

    def start(self) -> Iterator[Emission]:
        """Takes the rows that are there from the start; as state they give nothing."""
        for hand in HANDS:
            source = self._parts.sides[hand].input
            for values in self._parts.state(self._parts.sides[hand]):
                if self._parts.bounds.verdict(source, values) == NULL_TIME:
                    yield late_row(values, NULL_TIME)
                else:
                    list(self._enter(hand, values))

    def on(self, event: Event) -> Iterator[Emission]:
        """Takes one event and yields what comes out during it."""
        match event:
            case Arrive():
                yield from self._arrive(event)
            case Remove():
                yield from self._remove(event)
            case Bound():
                self._parts.bounds.promise(event.input, event.moment)
            case Finish() | Pause():
                pass
            case _:
                assert_never(event)

    def _arrive(self, event: Arrive) -> Iterator[Emission]:
        """Lets a row in on each of its sides, or sends it to `late`."""
        source = self._parts.inputs[event.input]
        verdict = self._parts.bounds.verdict(source, event.row)
        if verdict != IN_TIME:
            yield late_row(event.row, verdict)
            return
        for hand in self._parts.hands_of(event.input):
            yield from self._marked(self._enter(hand, event.row))

    def _marked(self, emissions: Iterable[Emission]) -> Iterator[Emission]:
        """Yields what one row gives, and a mark behind it where the first port gave."""
        before = self._sent
        for emission in emissions:
            self._sent += emission.outlet is Outlet.MATCHED
            yield emission
        if self._sent > before:
            yield mark(self._sent)

    def _enter(self, hand: Hand, values: Plain) -> Iterator[Emission]:
        """Lets a row meet, drive out and stay, and yields what that gives."""
        row, side = self._parts.row(hand, values), self._parts.sides[hand]
        if not self._is_newest(row):
            yield from self._leave(row)
            return
        yield from self._meet(row)
        for gone in leaving(side, self._stored[hand], row):
            self._stored[hand].remove(gone)
            yield from self._leave(gone)
        if stays(side.window):
            self._stored[hand].append(row)
        else:
            yield from self._leave(row)

    def _meet(self, row: LivingRow) -> Iterator[Emission]:
        """Yields what comes of a row and those that are alive on the other side."""
        for partner in self._stored[row.hand.other]:
            pair = Pair.of(row, partner)
            if self._parts.condition.holds(pair):
                yield from self._join(pair)

    def _join(self, pair: Pair) -> Iterator[Emission]:
        """Yields the pair, or its rows that come out once and have not yet."""
        for row in pair.rows:
            row.partners += 1
        if self._parts.kind.gives_pairs:
            yield self._parts.writer.pair(pair)
        for row in pair.rows:
            if self._parts.kind.gives_once(row.hand) and row.partners == 1:
                yield self._parts.writer.once(row)

    def _leave(self, row: LivingRow) -> Iterator[Emission]:
        """Yields a row that dies without ever having had a partner."""
        if self._parts.kind.preserves(row.hand) and not row.partners:
            yield self._parts.writer.unmatched(row)

    def _remove(self, event: Remove) -> Iterator[Emission]:
        """Takes a key out, unless a newer version of it is known."""
        if self._parts.is_late(event):
            return
        for hand in self._parts.hands_of(event.input):
            version = self._parts.delete(hand, event.row)
            if self._take_version(hand, version):
                yield from self._marked(self._delete(hand, version.key))

    def _delete(self, hand: Hand, key: tuple[object, ...]) -> Iterator[Emission]:
        """Yields what leaves when a key is deleted."""
        for gone in of_key(self._parts.sides[hand], self._stored[hand], key):
            self._stored[hand].remove(gone)
            yield from self._leave(gone)

    def _is_newest(self, row: LivingRow) -> bool:
        """Tells whether a row lives at all: an older version of a key does not."""
        version = version_of(self._parts.sides[row.hand], row)
        return self._take_version(row.hand, version)

    def _take_version(self, hand: Hand, version: Version) -> bool:
        """Tells whether no newer version of a key is known, and takes it in."""
        side = self._parts.sides[hand]
        if not isinstance(side.window, Latest) or not side.input.is_timed:
            return True
        known = self._versions[hand]
        if any(one.key == version.key and one.time > version.time for one in known):
            return False
        known.append(version)
        return True
