"""Two tables on the clock `arrival`: the result is a table too, told by its changes.

After every change all rows of the result are found anew. What was there and is no more
is taken back; what is new is given. Where two of them are of one key, the old row and
the new one are an update.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import assert_never

from dovetail.conformance.oracle.changes import Result, changes
from dovetail.conformance.oracle.expiry import (
    Now,
    arrival_life,
    expires_after,
    has_expired,
)
from dovetail.conformance.oracle.life import LivingRow, Moment
from dovetail.conformance.oracle.matching import Pair
from dovetail.conformance.oracle.parts import Parts
from dovetail.conformance.oracle.picking import Choice
from dovetail.conformance.oracle.store import Store
from dovetail.spec.inputs import (
    Arrive,
    Bound,
    Emission,
    Event,
    Finish,
    Pause,
    Remove,
)
from dovetail.spec.join import HANDS, Hand


class ChangelogClock:
    """Plays a join of two tables."""

    def __init__(self, parts: Parts) -> None:
        """Starts with empty tables."""
        self._parts = parts
        self._stores = {hand: Store(parts.sides, hand) for hand in HANDS}
        self._now = Now()

    def state(self, event: Arrive) -> None:
        """Takes a row that is there from the start; as state it gives nothing."""
        for hand in self._parts.hands_of(event.input):
            row = self._row(hand, event)
            self._see_time()
            self._pass(self._now)
            self._insert(row)

    def start(self) -> Iterator[Emission]:
        """Yields what the rows give that are there from the start: nothing.

        Too many candidates are too many from the start.
        """
        self._results()
        return iter(())

    def on(self, event: Event) -> Iterator[Emission]:
        """Takes one event and yields what it changes, and what time does before it."""
        self._now.clock = event.clock
        yield from self._expire()
        match event:
            case Arrive():
                yield from self._arrive(event)
            case Remove():
                yield from self._remove(event)
            case Bound():
                self._parts.bounds.promise(event.input, event.moment)
            case Finish():
                for hand in self._parts.hands_of(event.input):
                    self._stores[hand].freeze()
            case Pause():
                pass
            case _:
                assert_never(event)

    def _arrive(self, event: Arrive) -> Iterator[Emission]:
        """Puts a row into its tables."""
        for hand in self._parts.hands_of(event.input):
            row = self._row(hand, event)
            yield from self._expire()
            before = self._results()
            self._insert(row)
            yield from changes(before, self._results())

    def _expire(self) -> Iterator[Emission]:
        """Yields what changes because time has passed some rows.

        They leave one moment after the other, however long nobody has looked at it.
        """
        self._see_time()
        for last in sorted(self._passed()):
            before = self._results()
            self._pass(Now(int(last) + 1, last + 1))
            yield from changes(before, self._results())

    def _see_time(self) -> None:
        """Notes the highest row time that either table has shown."""
        sides = self._parts.sides.values()
        self._now.highest = max(self._parts.bounds.newest(side.input) for side in sides)

    def _passed(self) -> set[Moment]:
        """Returns the last moments of the rows that time has passed."""
        sides = self._parts.sides
        return {
            expires_after(sides, row)
            for store in self._stores.values()
            for row in store.rows
            if has_expired(sides, row, self._now)
        }

    def _pass(self, now: Now) -> None:
        """Takes out the rows that time has passed by then."""
        for store in self._stores.values():
            store.expire(now)

    def _remove(self, event: Remove) -> Iterator[Emission]:
        """Takes a key out of its tables."""
        if self._parts.is_late(event):
            return
        for hand in self._parts.hands_of(event.input):
            before = self._results()
            self._stores[hand].delete(self._parts.delete(hand, event.row))
            yield from changes(before, self._results())

    def _row(self, hand: Hand, event: Arrive) -> LivingRow:
        """Returns the next row of a table with its life."""
        row = self._parts.row(hand, self._parts.came(event), self._now.clock)
        row.lives = (arrival_life(self._parts.sides[hand], row),)
        return row

    def _insert(self, row: LivingRow) -> None:
        """Puts a row into its table, unless a newer version of its key is there."""
        if self._stores[row.hand].is_newest(row):
            self._stores[row.hand].insert(row, self._now)

    def _results(self) -> list[Result]:
        """Returns all rows of the result: each left row's, then right rows alone."""
        lefts, rights = (self._stores[hand].rows for hand in HANDS)
        results: list[Result] = []
        matched: set[LivingRow] = set()
        for left in lefts:
            pairs = [Pair(left, right) for right in rights]
            met = [pair for pair in pairs if pair.is_alive_together]
            counted = [pair for pair in met if self._parts.picker.may_count(pair)]
            choice = self._parts.picker.choose(counted)
            matched.update(pair.right for pair in choice.matches)
            results += self._of_left(left, choice)
        for right in rights:
            results += self._alone(right, has_met=right in matched)
        return results

    def _of_left(self, left: LivingRow, choice: Choice) -> Iterator[Result]:
        """Yields the pairs of one left row, or what it gives by itself."""
        if choice.is_over_limit:
            self._parts.refuse_excess(left, len(choice.matches))
            for emission in self._parts.writer.over_limit(left):
                yield replace(self._result((left,), emission), stands_for_many=True)
            return
        if self._parts.kind.gives_pairs:
            yield from self._of_pairs(choice.matches)
        yield from self._alone(left, has_met=bool(choice.matches))

    def _of_pairs(self, pairs: list[Pair]) -> Iterator[Result]:
        """Yields the pairs of one left row, as many as it keeps; skipped ones count."""
        kept = 0
        for number, pair in enumerate(pairs, start=1):
            for emission in self._parts.writer.pair(pair, number):
                kept += 1
                if kept <= self._parts.picker.keep:
                    yield self._result(pair.rows, emission)

    def _alone(self, row: LivingRow, *, has_met: bool) -> Iterator[Result]:
        """Yields what a row gives by itself: unmatched, or once of a semi join."""
        if self._parts.kind.preserves(row.hand) and not has_met:
            for emission in self._parts.writer.unmatched(row):
                yield self._result((row,), emission)
        if self._parts.kind.gives_once(row.hand) and has_met:
            for emission in self._parts.writer.once(row):
                yield self._result((row,), emission)

    def _result(self, rows: tuple[LivingRow, ...], emission: Emission) -> Result:
        """Returns a row of the result with the keys of those it is made of."""
        return Result(rows, {row.hand: self._key(row) for row in rows}, emission)

    def _key(self, row: LivingRow) -> tuple[object, ...]:
        """Returns the key of a table's row; without one it is only like itself."""
        return self._parts.sides[row.hand].key_of(row.values) or (row.place,)
