"""The clock `arrival`: rows meet in the order in which they come.

What one row does, in this order: time passes, and who is past it leaves; the row meets
those that are alive on the other side; it drives out rows of its own side, which leave
unmatched if they met nobody; it stays.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from dovetail.conformance.oracle.emission import mark
from dovetail.conformance.oracle.expiry import Now, arrival_life, expires_after
from dovetail.conformance.oracle.holding import Held
from dovetail.conformance.oracle.life import Came, LivingRow, Moment
from dovetail.conformance.oracle.matching import Pair
from dovetail.conformance.oracle.outer_rows import NullRows
from dovetail.conformance.oracle.parts import Parts
from dovetail.conformance.oracle.store import Store
from dovetail.spec.inputs import (
    Arrive,
    Bound,
    Emission,
    Event,
    Finish,
    Outlet,
    Remove,
)
from dovetail.spec.join import HANDS, Hand


class ArrivalClock:
    """Plays one join on the arrival clock."""

    def __init__(self, parts: Parts) -> None:
        """Starts with empty sides."""
        self._parts = parts
        self._inner = {hand: ArrivalClock(inner) for hand, inner in parts.inner.items()}
        self._stores = {hand: Store(parts.sides, hand) for hand in HANDS}
        self._nulls = NullRows(parts)
        self._held = Held(parts, self._nulls)
        self._now = Now()
        self._sent = 0

    def state(self, event: Arrive) -> None:
        """Takes a row that is there from the start; as state it gives nothing."""
        for hand in HANDS:
            if hand in self._inner:
                self._inner[hand].state(event)
            elif event.input == self._parts.sides[hand].input.name:
                row = self._row(hand, self._parts.came(event))
                list(self._enter(row, is_new=False))

    def start(self) -> Iterator[Emission]:
        """Yields what the rows give that are there from the start: nothing."""
        return iter(())

    def on(self, event: Event) -> Iterator[Emission]:
        """Takes one event and yields what comes out during it.

        What an inner join gives arrives at once.
        """
        self._now.clock = event.clock
        yield from self._expire()
        if isinstance(event, Bound):
            self._parts.bounds.promise(event.input, event.moment)
        for hand in HANDS:
            if hand in self._inner:
                yield from self._ask(hand, event)
            else:
                yield from self._take(hand, event)

    def _ask(self, hand: Hand, event: Event) -> Iterator[Emission]:
        """Lets in what an inner join gives during an event."""
        for emission in self._inner[hand].on(event):
            if emission.outlet is Outlet.MATCHED:
                row = self._row(hand, Came(emission.row))
                yield from self._marked(self._enter(row))

    def _take(self, hand: Hand, event: Event) -> Iterator[Emission]:
        """Lets in what an event brings to one side, and yields what that gives."""
        name = self._parts.sides[hand].input.name
        match event:
            case Arrive(input=source) if source == name:
                row = self._row(hand, self._parts.came(event))
                yield from self._marked(self._enter(row))
            case Remove(input=source) if source == name:
                yield from self._marked(self._remove(hand, event))
            case Finish(input=source) if source == name:
                self._stores[hand].freeze()
            case _:
                pass

    def _marked(self, emissions: Iterable[Emission]) -> Iterator[Emission]:
        """Yields what one row gives, and a mark behind it where the first port gave."""
        before = self._sent
        for emission in emissions:
            self._sent += emission.outlet is Outlet.MATCHED
            yield emission
        if self._sent > before:
            yield mark(self._sent)

    def _row(self, hand: Hand, came: Came) -> LivingRow:
        """Returns the next row of a side with its life."""
        row = self._parts.row(hand, came, self._now.clock)
        row.lives = (arrival_life(self._parts.sides[hand], row),)
        return row

    def _enter(self, row: LivingRow, *, is_new: bool = True) -> Iterator[Emission]:
        """Lets a row meet, drive out and stay, and yields what that gives.

        A row of the state is not new: it gives no null row at once.
        """
        yield from self._expire()
        if not self._stores[row.hand].is_newest(row):
            yield from self._leave([row])
            return
        yield from self._meet(row)
        yield from self._nulls.late_matches(row, self._now.clock)
        if is_new and not self._held.has_match(row):
            yield from self._nulls.at_once(row)
        yield from self._leave(self._stores[row.hand].insert(row, self._now))

    def _expire(self) -> Iterator[Emission]:
        """Yields who leaves because time has passed."""
        self._now.highest = max(
            self._parts.bounds.newest(side.input) for side in self._parts.sides.values()
        )
        gone = [row for hand in HANDS for row in self._stores[hand].expire(self._now)]
        yield from self._leave(sorted(gone, key=self._expiry))

    def _expiry(self, row: LivingRow) -> tuple[Moment, int]:
        """Returns when a row expires, and its place among those of one moment."""
        return expires_after(self._parts.sides, row), row.place

    def _meet(self, row: LivingRow) -> Iterator[Emission]:
        """Yields what comes of a row and those that are alive on the other side."""
        for partner in self._stores[row.hand.other].rows:
            pair = Pair.of(row, partner)
            if row.life.meets(partner.life) and self._parts.picker.may_count(pair):
                if self._parts.picker.waits:
                    self._held.take(pair)
                else:
                    yield from self._join(pair)
        if row.hand is Hand.LEFT and not self._parts.sides[Hand.RIGHT].can_grow:
            yield from self._held.judge(row)

    def _join(self, pair: Pair) -> Iterator[Emission]:
        """Yields the pair, or its rows that come out once and have not yet."""
        for row in pair.rows:
            row.partners += 1
        yield from self._nulls.taken_back(*pair.rows)
        if self._parts.kind.gives_pairs:
            yield from self._kept(pair)
        for row in pair.rows:
            if self._parts.kind.gives_once(row.hand) and row.partners == 1:
                yield from self._parts.writer.once(row)

    def _kept(self, pair: Pair) -> Iterator[Emission]:
        """Yields the row of a pair, if it is among the first of its left row."""
        left = pair.left
        if left.given < self._parts.picker.keep:
            emissions = self._parts.writer.pair(pair, left.partners)
            left.given += len(emissions)
            yield from emissions

    def _leave(self, gone: Iterable[LivingRow]) -> Iterator[Emission]:
        """Yields what becomes of rows that die, one after the other."""
        for row in gone:
            yield from self._held.leave(row, self._now.clock)

    def _remove(self, hand: Hand, event: Remove) -> Iterator[Emission]:
        """Takes a key out of a side, and yields what leaves with it."""
        if not self._parts.is_late(event):
            gone = self._stores[hand].delete(self._parts.delete(hand, event.row))
            yield from self._leave(gone)
