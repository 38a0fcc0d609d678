"""The clock `event`: rows meet by row time, and leave when nothing earlier can come.

After every event everything is judged anew from all rows so far: lives, pairs, what is
decided, the frontier. What is decided and not above the frontier leaves:

    left     10:00 [#########)                 bound 10:06
    right        10:03 [#########)             bound 10:04
    pair         10:03 decided                 frontier 10:04: nothing earlier can come
    right              10:05 ... undecided     waits: a row at 10:04 may still come

The frontier is the least row time of any row that can still come out. So rows come out
in row-time order, and rows of one row time do not wait for each other.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from typing import assert_never

from dovetail import spec
from dovetail.conformance.oracle import lives
from dovetail.conformance.oracle.emission import late_row
from dovetail.conformance.oracle.horizon import Horizon, Judge
from dovetail.conformance.oracle.parts import IN_TIME, Parts
from dovetail.conformance.oracle.picks import Nearest
from dovetail.conformance.oracle.results import EarlyRow, Known, Result, Role
from dovetail.conformance.oracle.sides import (
    NEVER,
    PAST,
    LivingRow,
    Moment,
    NewRow,
    Pair,
    Plain,
)


@dataclass(frozen=True, slots=True)
class Step:
    """A row that comes out, and how it comes to the join around this one."""

    emission: spec.Emission
    row: NewRow


class EventClock:
    """Plays one join on the event clock."""

    def __init__(self, parts: Parts) -> None:
        """Starts with nothing known."""
        self.frontier = PAST
        self._parts = parts
        self._inner = {hand: EventClock(inner) for hand, inner in parts.inner.items()}
        self._rows: dict[spec.Hand, list[LivingRow]] = {hand: [] for hand in spec.HANDS}
        self._deletes: dict[spec.Hand, list[lives.Version]] = {
            hand: [] for hand in spec.HANDS
        }
        self._pairs: list[Pair] = []
        self._gone: set[LivingRow] = set()
        self._late_pairs: list[Pair] = []
        self._emitted: set[object] = set()
        self._early: dict[EarlyRow, list[spec.Emission]] = {}
        self._timed_state: list[tuple[spec.Hand, spec.Arrive]] = []

    def state(self, event: spec.Arrive) -> None:
        """Takes a row that is there from the start.

        One with a time looks up what is there, so those without come before it.
        """
        for hand in spec.HANDS:
            if hand in self._inner:
                self._inner[hand].state(event)
            elif event.input == self._parts.sides[hand].input.name:
                if self._parts.sides[hand].is_timed:
                    self._timed_state.append((hand, event))
                else:
                    self._enter(hand, self._parts.new_row(event))

    def start(self) -> Iterator[spec.Emission]:
        """Yields what the rows give that are there from the start."""
        return self.on(spec.Pause())

    def on(self, event: spec.Event) -> Iterator[spec.Emission]:
        """Takes one event and yields what comes out during it."""
        for step in self.steps(event):
            yield step.emission

    def steps(self, event: spec.Event) -> Iterator[Step]:
        """Takes one event and yields what comes out, with what an outer join needs."""
        for hand, first in self._timed_state:
            self._enter(hand, self._parts.new_row(first))
        self._timed_state.clear()
        for hand in spec.HANDS:
            newest = len(self._parts.rows)
            if hand in self._inner:
                yield from self._take_from_inner(hand, event)
            elif isinstance(event, spec.Arrive | spec.Remove):
                self._take(hand, event)
            # Asked hand by hand: a row of a self-join comes on the left side first.
            for row in self._parts.rows[newest:]:
                yield from self._null_rows_at_once(row)
        # The bounds move last: what the event brings is judged by those before it.
        if isinstance(event, spec.Bound):
            self._parts.bounds.promise(event.input, event.moment)
        if isinstance(event, spec.Finish):
            self._parts.bounds.promise(event.input)
        known = self._known()
        results = list(known.results())
        frontier = Frontier(known, results, self._emitted)
        # Asked before anything comes out, so that all of one event leave by one
        # frontier.
        least = frontier.moment()
        due = [
            result
            for result in results
            if result.is_decided and result.identity not in self._emitted
            # What has no row time waits for nobody: it has no place among the others.
            if result.row_time <= least or result.row_time == NEVER
        ]
        for result in sorted(due, key=in_order):
            self._emitted.add(result.identity)
            for emission in self._written(result):
                yield Step(emission, new_row_of(result, emission))
        # Asked again: what has just come out is not waited for any more. A frontier
        # that an outer join has taken as a bound never goes back.
        self.frontier = max(self.frontier, frontier.moment())

    def _take_from_inner(self, hand: spec.Hand, event: spec.Event) -> Iterator[Step]:
        """Lets in what an inner join gives during an event; its frontier is a bound."""
        inner, source = self._inner[hand], self._parts.sides[hand].input
        for step in inner.steps(event):
            reason = self._parts.rejection_of_result(hand, step.row)
            if step.emission.outlet is spec.Outlet.LATE:
                yield step
            elif reason != IN_TIME:
                yield Step(late_row(step.row.values, reason), step.row)
            else:
                self._enter(hand, step.row)
        # Nothing earlier comes out of it any more: to this join that is a bound like
        # any other.
        self._parts.bounds.promise(source.name, inner.frontier)

    def _take(self, hand: spec.Hand, event: spec.Arrive | spec.Remove) -> None:
        """Lets a row of an input in, or ends the life of a key's version."""
        if event.input != self._parts.sides[hand].input.name:
            return
        if isinstance(event, spec.Arrive):
            self._enter(hand, self._parts.new_row(event))
        elif not self._parts.is_late(event):
            self._deletes[hand].append(self._parts.delete(hand, event.row))
            self._leave(hand, event.row)

    def _enter(self, hand: spec.Hand, new: NewRow) -> None:
        """Adds a row to its side, with the pairs in which it fits.

        Rows without time are met as they are when a row with a time arrives. A table's
        row without time stands beside each row that may wait for it.
        """
        row = self._parts.row(hand, new)
        mine, other = (self._parts.sides[one] for one in (hand, hand.other))
        there = self._rows[hand.other]
        if mine.is_timed or not other.is_timed:
            pairs = (Pair.of(row, one) for one in there if one not in self._gone)
            self._pairs += filter(self._parts.picker.may_count, pairs)
        if not mine.is_timed:
            bound = self._parts.bounds.bound(other.input)
            waiting = (
                one for one in there if not self._parts.has_waited(one.life.end, bound)
            )
            self._late_pairs += (Pair.of(row, one) for one in waiting)
        # The version before it is gone from here on; whom that has met stays met.
        self._leave(hand, new.values)
        self._rows[hand].append(row)

    def _null_rows_at_once(self, row: LivingRow) -> Iterator[Step]:
        """Yields the null rows of a new row, if eager, for lives without a match."""
        is_preserved = self._parts.kind.preserves(row.hand)
        # Asked as the row comes, by what is there already: who comes later takes it
        # back, or does not.
        if not is_preserved or not self._parts.settings.is_eager:
            return
        for number in self._known().unmatched_lives(row):
            end = row.lives[number].end
            self._early[row, number] = self._parts.writer.unmatched(row, end)
            for emission in self._early[row, number]:
                yield Step(emission, NewRow(emission.row))

    def _leave(self, hand: spec.Hand, values: Plain) -> None:
        """Takes the version of a key out of a table without time."""
        side = self._parts.sides[hand]
        if isinstance(side.window, spec.Latest) and not side.is_timed:
            key = side.key_of(values)
            self._gone.update(
                row for row in self._rows[hand] if side.key_of(row.values) == key
            )

    @property
    def horizon(self) -> Horizon:
        """Returns what can still come, by now."""
        inner = {hand: clock.horizon for hand, clock in self._inner.items()}
        return Horizon(self._parts.sides, self._parts.bounds, self._gone, inner)

    def _known(self) -> Known:
        """Returns all that is known by now."""
        sides = self._parts.sides
        for hand in spec.HANDS:
            # Found anew each time: a row that has come may have ended the life of any
            # other.
            if sides[hand].is_timed:
                lives.give_lives(sides[hand], self._rows[hand], self._deletes[hand])
        judge = Judge(self._parts, self.horizon)
        judgements = judge.of(self._rows[spec.Hand.LEFT], self._pairs)
        pairs = [*self._pairs, *self._late_pairs]
        known = (self._parts, self._rows, judgements, judge.horizon)
        return Known(*known, pairs, self._early)

    def _written(self, result: Result) -> list[spec.Emission]:
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
            case Role.UNMATCHED:
                return writer.unmatched(row, row_time)
            case Role.OVER_LIMIT:
                return writer.over_limit(row, row_time)
            case Role.TAKEN_BACK:
                (number,) = result.lives
                early = self._early[row, number]
                return [replace(one, change=spec.Change.DELETE) for one in early]
            case role:
                assert_never(role)


def new_row_of(result: Result, emission: spec.Emission) -> NewRow:
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
    return NewRow(emission.row, time, origin)


def in_order(result: Result) -> tuple[float, bool, bool, int, int]:
    """Returns the order of leaving: row time, pairs first, then order of arrival.

    What is taken back goes before the pairs for which it goes.
    """
    places = [row.place for row in result.rows]
    goes, meets = (result.role is role for role in (Role.TAKEN_BACK, Role.PAIR))
    return result.row_time, not goes, not meets, max(places), min(places)


@dataclass(frozen=True, slots=True)
class Frontier:
    """What is known, which results there may be, and which of them have come out."""

    known: Known
    results: list[Result]
    emitted: Collection[object]

    def moment(self) -> Moment:
        """Returns the least row time of what is undecided or has not come."""
        # Results that are there, but which what comes may still change.
        undecided = [
            result.row_time
            for result in self.results
            if not result.is_decided and result.identity not in self.emitted
        ]
        # Null rows of rows still to come; those that come at once wait for nobody.
        parts, null_rows = self.known.parts, []
        is_split = parts.settings.outer_rows is spec.OuterRows.PER_MILLISECOND
        for hand in spec.HANDS:
            life = self.known.horizon.first_to_come(hand)
            if parts.kind.preserves(hand) and not parts.settings.is_eager:
                null_rows.append(life.birth if is_split else life.end)
        return min((*undecided, *null_rows, *self._pairs_to_come()), default=NEVER)

    def _pairs_to_come(self) -> Iterator[Moment]:
        """Yields the least row times of pairs that have a row still to come.

        With a partner that is there, with one still to come, and, as no row may come
        out ahead of an input that gives pairs, the bound of that input.
        """
        horizon, kind = self.known.horizon, self.known.parts.kind
        takes_back = (
            self.known.parts.settings.outer_rows is spec.OuterRows.EAGER_RETRACT
        )
        # Pairs hold others back only where something comes of them.
        puts_out = (
            kind.gives_pairs or takes_back or any(map(kind.gives_once, spec.HANDS))
        )
        if not puts_out:
            return  # as `left_only`, which has no pairs to wait for
        yield horizon.least_meeting()
        for hand in spec.HANDS:
            there = self.known.rows[hand.other]
            partners = [one for one in there if self._gives_with_new_partner(one)]
            yield from (horizon.least_meeting_with(row) for row in partners)
            if partners or horizon.can_come(hand.other):
                yield max(horizon.bound(hand), horizon.first_to_come(hand).birth)

    def _gives_with_new_partner(self, row: LivingRow) -> bool:
        """Tells whether a row would come out with a partner that is still to come.

        In a semi join a row that has come out does not come again, nor does a left row
        that keeps as many pairs as it may.
        """
        horizon, kind = self.known.horizon, self.known.parts.kind
        if not horizon.can_meet(row):
            return False
        nearest = self.known.parts.picker.nearest
        if row.hand is spec.Hand.RIGHT and isinstance(nearest, Nearest):
            bound = horizon.bound(spec.Hand.LEFT)
            if not nearest.can_be_taken(row.values, bound):
                return False
        if row in self.known.judgements:
            # Of such a left row the picks want no more, whatever comes. But in a right
            # semi join what comes may still match one that is over its limit.
            judgement = self.known.judgements[row]
            gives_rights = kind.gives_once(spec.Hand.RIGHT)
            if judgement.is_closed or (judgement.is_over_limit and not gives_rights):
                return False
        if kind.gives_once(row.hand):
            earliest = horizon.least_meeting_with(row)
            return not any(
                one.row_time <= earliest for one in self.results if one.rows == (row,)
            )
        # A left row that is not full may still keep one more.
        sure = {
            one.rows
            for one in self.results
            if one.role is Role.PAIR and one.is_decided and one.rows[0] is row
        }
        return row.hand is spec.Hand.RIGHT or len(sure) < self.known.parts.picker.keep
