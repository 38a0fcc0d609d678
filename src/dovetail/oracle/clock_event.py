"""The clock `event`: rows meet by row time, and leave when nothing earlier can come.

After every event everything is judged anew from all rows so far: lives, pairs, what is
decided, the frontier. What is decided and not above the frontier leaves.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import assert_never

from dovetail.oracle.emission import late_row
from dovetail.oracle.frontier import Frontier
from dovetail.oracle.horizon import Horizon
from dovetail.oracle.lateness import IN_TIME
from dovetail.oracle.life import NEVER, LivingRow, Plain
from dovetail.oracle.lifetimes import give_lives
from dovetail.oracle.matching import Pair
from dovetail.oracle.outer_rows import has_waited
from dovetail.oracle.parts import Parts
from dovetail.oracle.results import EarlyRow, Known, Result, Role
from dovetail.oracle.verdict import Verdicts
from dovetail.oracle.versions import Version
from dovetail.spec.inputs import (
    Arrive,
    Bound,
    Change,
    Emission,
    Event,
    Finish,
    Pause,
    Remove,
)
from dovetail.spec.join import HANDS, Hand
from dovetail.spec.windows import Latest


class EventClock:
    """Plays one join on the event clock."""

    def __init__(self, parts: Parts) -> None:
        """Starts with nothing known."""
        self._parts = parts
        self._rows: dict[Hand, list[LivingRow]] = {hand: [] for hand in HANDS}
        self._deletes: dict[Hand, list[Version]] = {hand: [] for hand in HANDS}
        self._pairs: list[Pair] = []
        self._gone: set[LivingRow] = set()
        self._late_pairs: list[Pair] = []
        self._given: set[object] = set()
        self._early: dict[EarlyRow, list[Emission]] = {}

    def start(self) -> Iterator[Emission]:
        """Takes the rows that are there from the start, which are never late."""
        for event in self._parts.state():
            yield from self._admit(event, self._parts.verdict_of_state(event))
        yield from self._release()

    def on(self, event: Event) -> Iterator[Emission]:
        """Takes one event and yields what comes out during it."""
        match event:
            case Arrive():
                newest = len(self._parts.rows)
                yield from self._admit(event, self._parts.verdict(event))
                for row in self._parts.rows[newest:]:
                    yield from self._at_once(row)
            case Remove():
                self._remove(event)
            case Bound():
                self._parts.bounds.promise(event.input, event.moment)
            case Finish():
                self._parts.bounds.promise(event.input)
            case Pause():
                pass
            case _:
                assert_never(event)
        yield from self._release()

    def _admit(self, event: Arrive, verdict: str) -> Iterator[Emission]:
        """Lets a row in on each of its sides, or sends it to `late`."""
        if verdict != IN_TIME:
            yield late_row(event.row, verdict)
            return
        for hand in self._parts.hands_of(event.input):
            self._enter(hand, event.row)

    def _enter(self, hand: Hand, values: Plain) -> None:
        """Adds a row to its side, with the pairs in which it fits."""
        row = self._parts.row(hand, values)
        pairs = (Pair.of(row, partner) for partner in self._partners(row))
        self._pairs += [pair for pair in pairs if self._parts.picker.may_count(pair)]
        self._late_pairs += self._too_late(row)
        self._leave(hand, values)
        self._rows[hand].append(row)

    def _too_late(self, row: LivingRow) -> Iterator[Pair]:
        """Yields a table's row without time beside each row that waits for it."""
        hand = row.hand.other
        if (
            self._parts.waits_for_table(hand)
            and not self._parts.sides[row.hand].is_timed
        ):
            bound = self._parts.bounds.bound(self._parts.sides[hand].input)
            for there in self._rows[hand]:
                if not has_waited(self._parts, there.lives[-1].end, bound):
                    yield Pair.of(row, there)

    def _at_once(self, row: LivingRow) -> Iterator[Emission]:
        """Yields the null rows of a new row, if eager, for lives without a match."""
        is_preserved = self._parts.kind.preserves(row.hand)
        if not is_preserved or not self._parts.settings.is_eager:
            return
        for number in self._known().lonely_lives(row):
            end = row.lives[number].end
            self._early[row, number] = self._parts.writer.unmatched(row, end)
            yield from self._early[row, number]

    def _partners(self, row: LivingRow) -> list[LivingRow]:
        """Returns the rows of the other side that a newcomer may fit.

        Rows without time are met as they are when a row with a time arrives.
        """
        mine, other = (self._parts.sides[hand] for hand in (row.hand, row.hand.other))
        if other.is_timed and not mine.is_timed:
            return []
        return [there for there in self._rows[other.hand] if there not in self._gone]

    def _remove(self, event: Remove) -> None:
        """Ends the life of a key's version, unless the delete is late."""
        if self._parts.is_late(event):
            return
        for hand in self._parts.hands_of(event.input):
            self._deletes[hand].append(self._parts.delete(hand, event.row))
            self._leave(hand, event.row)

    def _leave(self, hand: Hand, values: Plain) -> None:
        """Takes the version of a key out of a table without time."""
        side = self._parts.sides[hand]
        if isinstance(side.window, Latest) and not side.is_timed:
            key = side.key_of(values)
            self._gone.update(
                row for row in self._rows[hand] if side.key_of(row.values) == key
            )

    def _release(self) -> Iterator[Emission]:
        """Yields what is decided and not above the frontier, in order of row time."""
        known = self._known()
        results = list(known.results())
        frontier = Frontier(known, results, self._given).moment()
        due = [
            result
            for result in results
            if result.is_decided and result.identity not in self._given
            if result.row_time <= frontier or result.row_time == NEVER
        ]
        for result in sorted(due, key=in_order):
            self._given.add(result.identity)
            yield from self._written(result)

    def _known(self) -> Known:
        """Returns all that is known by now."""
        sides = self._parts.sides
        for hand in HANDS:
            if sides[hand].is_timed:
                give_lives(sides[hand], self._rows[hand], self._deletes[hand])
        horizon = Horizon(sides, self._parts.bounds, self._gone)
        judge = Verdicts(self._parts, horizon)
        verdicts = judge.of(self._rows[Hand.LEFT], self._pairs)
        pairs = [*self._pairs, *self._late_pairs]
        return Known(self._parts, self._rows, verdicts, horizon, pairs, self._early)

    def _written(self, result: Result) -> list[Emission]:
        """Returns the row of a result, nothing where it is skipped."""
        writer, row_time = self._parts.writer, result.row_time
        row = result.rows[0]
        match result.role:
            case Role.PAIR:
                row.partners += 1
                counter = result.counter or row.partners
                return writer.pair(Pair(*result.rows), counter, row_time)
            case Role.ONCE:
                return writer.once(row, row_time)
            case Role.ALONE:
                return writer.unmatched(row, row_time)
            case Role.OVER_LIMIT:
                return writer.over_limit(row, row_time)
            case Role.TAKEN_BACK:
                early = self._early[row, result.lives[0]]
                return [replace(one, change=Change.DELETE) for one in early]
            case Role.LATE_PAIR:
                return writer.pair(Pair(*result.rows), 1, row_time)
            case role:
                assert_never(role)


ORDER = {Role.TAKEN_BACK: 0, Role.PAIR: 1}


def in_order(result: Result) -> tuple[float, int, int, int]:
    """Returns the order of leaving: row time, pairs first, then order of arrival.

    What is taken back goes before the pairs for which it goes.
    """
    places = [row.place for row in result.rows]
    rank = ORDER.get(result.role, len(ORDER))
    return result.row_time, rank, max(places), min(places)
