"""Two tables on the clock `arrival`: the result is a table too, told by its changes.

After every change all rows of the result are found anew. What was there and is no more
is taken back; what is new is inserted. Where two of them are of one key, the old row
and the new one are an update.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import assert_never

from dovetail import spec
from dovetail.conformance.oracle.parts import Parts
from dovetail.conformance.oracle.picks import Choice
from dovetail.conformance.oracle.sides import LivingRow, Pair
from dovetail.conformance.oracle.store import (
    Now,
    Store,
    arrival_life,
    expires_after,
    has_expired,
)


class ChangelogClock:
    """Plays a join of two tables."""

    def __init__(self, parts: Parts) -> None:
        """Starts with empty tables."""
        self._parts = parts
        self._stores = {hand: Store(parts.sides, hand) for hand in spec.HANDS}
        self._now = Now()

    def state(self, event: spec.Arrive) -> None:
        """Takes a row that is there from the start; as state it gives nothing."""
        for hand in self._parts.hands_of(event.input):
            row = self._row(hand, event)
            self._see_time()
            self._pass(self._now)
            self._insert(row)

    def start(self) -> Iterator[spec.Emission]:
        """Yields what the rows give that are there from the start: nothing.

        Too many candidates are too many from the start.
        """
        self._results()
        return iter(())

    def on(self, event: spec.Event) -> Iterator[spec.Emission]:
        """Takes one event and yields what it changes, and what time does before it."""
        self._now.clock = event.clock
        yield from self._expire()
        match event:
            case spec.Arrive():
                for hand in self._parts.hands_of(event.input):
                    row = self._row(hand, event)
                    # The row itself may have moved the highest row time.
                    yield from self._expire()
                    before = self._results()
                    self._insert(row)
                    yield from changes(before, self._results())
            case spec.Remove() if not self._parts.is_late(event):
                for hand in self._parts.hands_of(event.input):
                    before = self._results()
                    self._stores[hand].delete(self._parts.delete(hand, event.row))
                    yield from changes(before, self._results())
            case spec.Bound():
                self._parts.bounds.promise(event.input, event.moment)
            case spec.Finish():
                for hand in self._parts.hands_of(event.input):
                    self._stores[hand].freeze()
            case spec.Pause() | spec.Remove():
                pass
            case _:
                assert_never(event)

    def _expire(self) -> Iterator[spec.Emission]:
        """Yields what changes because time has passed some rows.

        They leave one moment after the other, however long nobody has looked at it.
        """
        self._see_time()
        sides = self._parts.sides
        passed = {
            expires_after(sides, row)
            for store in self._stores.values()
            for row in store.rows
            if has_expired(sides, row, self._now)
        }
        for last in sorted(passed):
            before = self._results()
            self._pass(Now(int(last) + 1, last + 1))
            yield from changes(before, self._results())

    def _see_time(self) -> None:
        """Notes the highest row time that either table has shown."""
        sides = self._parts.sides.values()
        self._now.highest = max(self._parts.bounds.newest(side.input) for side in sides)

    def _pass(self, now: Now) -> None:
        """Takes out the rows that time has passed by then."""
        for store in self._stores.values():
            store.expire(now)

    def _row(self, hand: spec.Hand, event: spec.Arrive) -> LivingRow:
        """Returns the next row of a table with its life."""
        row = self._parts.row(hand, self._parts.new_row(event), self._now.clock)
        row.lives = (arrival_life(self._parts.sides[hand], row),)
        return row

    def _insert(self, row: LivingRow) -> None:
        """Puts a row into its table, unless a newer version of its key is there."""
        if self._stores[row.hand].is_newest(row):
            self._stores[row.hand].insert(row, self._now)

    def _results(self) -> list[TableRow]:
        """Returns all rows of the result: those of each left row, then right rows."""
        lefts, rights = (self._stores[hand].rows for hand in spec.HANDS)
        results: list[TableRow] = []
        matched: set[LivingRow] = set()
        for left in lefts:
            pairs = [Pair(left, right) for right in rights]
            met = [pair for pair in pairs if pair.is_alive_together]
            counted = [pair for pair in met if self._parts.picker.may_count(pair)]
            choice = self._parts.picker.choose(counted)
            matched.update(pair.right for pair in choice.matches)
            results += self._of_left(left, choice)
        for right in rights:
            results += self._single(right, has_met=right in matched)
        return results

    def _of_left(self, left: LivingRow, choice: Choice) -> Iterator[TableRow]:
        """Yields the pairs of one left row, or what it gives by itself."""
        if choice.is_over_limit:
            self._parts.refuse_excess(left, len(choice.matches))
            for emission in self._parts.writer.over_limit(left):
                yield replace(self._result((left,), emission), stands_for_many=True)
            return
        kept = 0
        for number, pair in enumerate(choice.matches, start=1):
            if self._parts.kind.gives_pairs and kept < self._parts.picker.keep:
                for emission in self._parts.writer.pair(pair, number):
                    kept += 1  # a row that is skipped has a number, but is not kept
                    yield self._result(pair.rows, emission)
        yield from self._single(left, has_met=bool(choice.matches))

    def _single(self, row: LivingRow, *, has_met: bool) -> Iterator[TableRow]:
        """Yields what a row gives by itself: unmatched, or once of a semi join."""
        if self._parts.kind.preserves(row.hand) and not has_met:
            for emission in self._parts.writer.unmatched(row):
                yield self._result((row,), emission)
        if self._parts.kind.gives_once(row.hand) and has_met:
            for emission in self._parts.writer.once(row):
                yield self._result((row,), emission)

    def _result(self, rows: tuple[LivingRow, ...], emission: spec.Emission) -> TableRow:
        """Returns a row of the result with the keys of those it is made of."""
        sides = self._parts.sides
        # Without a key a row is only like itself.
        keys = {
            row.hand: sides[row.hand].key_of(row.values) or (row.place,) for row in rows
        }
        return TableRow(rows, keys, emission)


@dataclass(frozen=True, slots=True)
class TableRow:
    """One row of the result, what it is made of, and the keys of that.

    That of a left row over its limit is another one than its null row.
    """

    rows: tuple[LivingRow, ...]
    keys: Mapping[spec.Hand, tuple[object, ...]]
    emission: spec.Emission
    stands_for_many: bool = False

    @property
    def identity(self) -> tuple[object, ...]:
        """Returns what makes two rows of the result the same one."""
        return self.rows, self.stands_for_many, self.emission

    def changed(self, change: spec.Change) -> spec.Emission:
        """Returns the row with what happened to it."""
        return replace(self.emission, change=change)


def changes(
    before: Sequence[TableRow], after: Sequence[TableRow]
) -> Iterator[spec.Emission]:
    """Yields the steps from one result to the next."""
    # What stays the same is told neither as gone nor as new.
    old, new = without(before, after), without(after, before)
    for result in old:
        successor = successor_of(result, new)
        if successor is None:
            yield result.changed(spec.Change.DELETE)
        else:
            # Each new row takes the place of one old row at most.
            new.remove(successor)
            yield result.changed(spec.Change.UPDATE_BEFORE)
            yield successor.changed(spec.Change.UPDATE_AFTER)
    for result in new:
        yield result.changed(spec.Change.INSERT)


def without(results: Sequence[TableRow], others: Sequence[TableRow]) -> list[TableRow]:
    """Returns the results that are not among the others."""
    # A list, not a set: what rows hold may not be hashable.
    known = [other.identity for other in others]
    return [one for one in results if one.identity not in known]


def successor_of(result: TableRow, new: Sequence[TableRow]) -> TableRow | None:
    """Returns the first new result of the same left key, else of the same right key."""
    for hand in spec.HANDS:
        for candidate in new:
            if shares(result, candidate, hand):
                return candidate
    return None


def shares(result: TableRow, other: TableRow, hand: spec.Hand) -> bool:
    """Tells whether two results have a row of the same key on a side."""
    key = result.keys.get(hand)
    return key is not None and key == other.keys.get(hand)
