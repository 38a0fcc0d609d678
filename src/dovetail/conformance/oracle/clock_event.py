"""The clock `event`: rows meet by row time, and leave when nothing earlier can come.

After every event everything is judged anew from all rows so far: lives, pairs, what is
decided, the frontier. What is decided and not above the frontier leaves.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import assert_never

from dovetail.conformance.oracle.emission import late_row
from dovetail.conformance.oracle.frontier import Frontier
from dovetail.conformance.oracle.horizon import Horizon
from dovetail.conformance.oracle.lateness import IN_TIME
from dovetail.conformance.oracle.life import NEVER, PAST, Came, LivingRow, Plain
from dovetail.conformance.oracle.lifetimes import give_lives
from dovetail.conformance.oracle.matching import Pair
from dovetail.conformance.oracle.outer_rows import has_waited
from dovetail.conformance.oracle.parts import Parts
from dovetail.conformance.oracle.results import EarlyRow, Known, Result, Role
from dovetail.conformance.oracle.verdict import Verdicts
from dovetail.conformance.oracle.versions import Version
from dovetail.spec.inputs import (
    Arrive,
    Bound,
    Change,
    Emission,
    Event,
    Finish,
    Outlet,
    Pause,
    Remove,
)
from dovetail.spec.join import HANDS, Hand
from dovetail.spec.windows import Latest


@dataclass(frozen=True, slots=True)
class Step:
    """A row that comes out, and how it comes to the join around this one."""

    emission: Emission
    came: Came


class EventClock:
    """Plays one join on the event clock."""

    def __init__(self, parts: Parts) -> None:
        """Starts with nothing known."""
        self.frontier = PAST
        self._parts = parts
        self._inner = {hand: EventClock(inner) for hand, inner in parts.inner.items()}
        self._rows: dict[Hand, list[LivingRow]] = {hand: [] for hand in HANDS}
        self._deletes: dict[Hand, list[Version]] = {hand: [] for hand in HANDS}
        self._pairs: list[Pair] = []
        self._gone: set[LivingRow] = set()
        self._late_pairs: list[Pair] = []
        self._given: set[object] = set()
        self._early: dict[EarlyRow, list[Emission]] = {}

    def state(self, event: Arrive) -> None:
        """Takes a row that is there from the start."""
        for hand in HANDS:
            if hand in self._inner:
                self._inner[hand].state(event)
            elif event.input == self._parts.sides[hand].input.name:
                self._enter(hand, self._parts.came(event))

    def start(self) -> Iterator[Emission]:
        """Yields what the rows give that are there from the start."""
        return self.on(Pause())

    def on(self, event: Event) -> Iterator[Emission]:
        """Takes one event and yields what comes out during it."""
        for step in self.steps(event):
            yield step.emission

    def steps(self, event: Event) -> Iterator[Step]:
        """Takes one event and yields what comes out, with what an outer join needs."""
        newest = len(self._parts.rows)
        for hand in HANDS:
            if hand in self._inner:
                yield from self._ask(hand, event)
            elif isinstance(event, Arrive | Remove):
                self._take(hand, event)
        for row in self._parts.rows[newest:]:
            yield from self._at_once(row)
        if isinstance(event, Bound):
            self._parts.bounds.promise(event.input, event.moment)
        if isinstance(event, Finish):
            self._parts.bounds.promise(event.input)
        yield from self._release()

    def _ask(self, hand: Hand, event: Event) -> Iterator[Step]:
        """Lets in what an inner join gives during an event; its frontier is a bound."""
        inner, source = self._inner[hand], self._parts.sides[hand].input
        for step in inner.steps(event):
            verdict = self._parts.verdict_of_result(hand, step.came)
            if step.emission.outlet is Outlet.LATE:
                yield step
            elif verdict != IN_TIME:
                yield Step(late_row(step.came.values, verdict), step.came)
            else:
                self._enter(hand, step.came)
        self._parts.bounds.promise(source.name, inner.frontier)

    def _take(self, hand: Hand, event: Arrive | Remove) -> None:
        """Lets a row of an input in, or ends the life of a key's version."""
        if event.input != self._parts.sides[hand].input.name:
            return
        if isinstance(event, Arrive):
            self._enter(hand, self._parts.came(event))
        elif not self._parts.is_late(event):
            self._deletes[hand].append(self._parts.delete(hand, event.row))
            self._leave(hand, event.row)

    def _enter(self, hand: Hand, came: Came) -> None:
        """Adds a row to its side, with the pairs in which it fits."""
        row = self._parts.row(hand, came)
        pairs = (Pair.of(row, partner) for partner in self._partners(row))
        self._pairs += [pair for pair in pairs if self._parts.picker.may_count(pair)]
        self._late_pairs += self._too_late(row)
        self._leave(hand, came.values)
        self._rows[hand].append(row)

    def _too_late(self, row: LivingRow) -> Iterator[Pair]:
        """Yields a table's row without time beside each row that may wait for it."""
        hand = row.hand.other
        if not self._parts.sides[row.hand].is_timed:
            bound = self._parts.bounds.bound(self._parts.sides[hand].input)
            for there in self._rows[hand]:
                if not has_waited(self._parts, there.life.end, bound):
                    yield Pair.of(row, there)

    def _at_once(self, row: LivingRow) -> Iterator[Step]:
        """Yields the null rows of a new row, if eager, for lives without a match."""
        is_preserved = self._parts.kind.preserves(row.hand)
        if not is_preserved or not self._parts.settings.is_eager:
            return
        for number in self._known().lonely_lives(row):
            end = row.lives[number].end
            self._early[row, number] = self._parts.writer.unmatched(row, end)
            for emission in self._early[row, number]:
                yield Step(emission, Came(emission.row))

    def _partners(self, row: LivingRow) -> list[LivingRow]:
        """Returns the rows of the other side that a newcomer may fit.

        Rows without time are met as they are when a row with a time arrives.
        """
        mine, other = (self._parts.sides[hand] for hand in (row.hand, row.hand.other))
        if other.is_timed and not mine.is_timed:
            return []
        return [there for there in self._rows[other.hand] if there not in self._gone]

    def _leave(self, hand: Hand, values: Plain) -> None:
        """Takes the version of a key out of a table without time."""
        side = self._parts.sides[hand]
        if isinstance(side.window, Latest) and not side.is_timed:
            key = side.key_of(values)
            self._gone.update(
                row for row in self._rows[hand] if side.key_of(row.values) == key
            )

    def _release(self) -> Iterator[Step]:
        """Yields what is decided and not above the frontier, in order of row time."""
        known = self._known()
        results = list(known.results())
        frontier = Frontier(known, results, self._given)
        least = frontier.moment()
        due = [
            result
            for result in results
            if result.is_decided and result.identity not in self._given
            if result.row_time <= least or result.row_time == NEVER
        ]
        for result in sorted(due, key=in_order):
            self._given.add(result.identity)
            for emission in self._written(result):
                yield Step(emission, came_of(result, emission))
        self.frontier = max(self.frontier, frontier.moment())

    @property
    def horizon(self) -> Horizon:
        """Returns what can still come, by now."""
        inner = {hand: clock.horizon for hand, clock in self._inner.items()}
        return Horizon(self._parts.sides, self._parts.bounds, self._gone, inner)

    def _known(self) -> Known:
        """Returns all that is known by now."""
        sides = self._parts.sides
        for hand in HANDS:
            if sides[hand].is_timed:
                give_lives(sides[hand], self._rows[hand], self._deletes[hand])
        judge = Verdicts(self._parts, self.horizon)
        verdicts = judge.of(self._rows[Hand.LEFT], self._pairs)
        pairs = [*self._pairs, *self._late_pairs]
        known = (self._parts, self._rows, verdicts, judge.horizon)
        return Known(*known, pairs, self._early)

    def _written(self, result: Result) -> list[Emission]:
        """Returns the row of a result, nothing where it is skipped."""
        writer, row_time = self._parts.writer, result.row_time
        row = result.rows[0]
        match result.role:
            case Role.PAIR | Role.LATE_PAIR:
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
                (number,) = result.lives
                early = self._early[row, number]
                return [replace(one, change=Change.DELETE) for one in early]
            case role:
                assert_never(role)


def came_of(result: Result, emission: Emission) -> Came:
    """Returns a result as a row that comes in, from the lives that it is made of.

    That of a semi join is from the life in which its row first met another. A row
    without a partner is from none: it is alive at its own row time only.
    """
    time = None if math.isinf(result.row_time) else int(result.row_time)
    match result.role:
        case Role.PAIR:
            origin = tuple(zip(result.rows, result.lives, strict=True))
        case Role.ONCE:
            (row,) = result.rows
            origin = ((row, row.life_at(result.row_time)),)
        case _:
            origin = ()
    return Came(emission.row, time, origin)


def in_order(result: Result) -> tuple[float, bool, bool, int, int]:
    """Returns the order of leaving: row time, pairs first, then order of arrival.

    What is taken back goes before the pairs for which it goes.
    """
    places = [row.place for row in result.rows]
    goes, meets = (result.role is role for role in (Role.TAKEN_BACK, Role.PAIR))
    return result.row_time, not goes, not meets, max(places), min(places)
