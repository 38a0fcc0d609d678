"""What can still come, and what it can change: whoever waits asks the horizon.

    left row     10:00 [########) 10:08        past: nobody who comes meets it
    left row              10:04 [#######       not past
    right bound                  10:08         `least`: right rows are born from here on
    version         10:02 [------------ ?      ends at 10:20, where the next one by now
                                               begins, or sooner, from its bound on

Bounds only rise, so the law: what the horizon says for sure, no later step takes back.
A row that is past stays past, an end that is known is the end, a pair that is sure
meets. What is not known yet has two limits: the soonest at which it may be, and the
widest life that a row can have, which is the one it has if nobody else comes.

What could still come as a row of this step came, `BoundsByPlace` says:

    place             4       5       6        rows of both sides, as they came
    left bound      10:00   10:03   10:03
    right bound     10:02   10:02   10:04
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

import numpy as np

from dovetail.kernels.arrays.rows import (
    BEGINNING,
    MISSING,
    NEVER,
    Mask,
    Rows,
    Whole,
    join_rows,
)
from dovetail.kernels.arrival import arrival, untimed
from dovetail.kernels.arrival.admission import Present
from dovetail.kernels.lifetimes import births
from dovetail.kernels.lifetimes.calendar import shift
from dovetail.kernels.lifetimes.lives import sure_until
from dovetail.kernels.pairs import formulas
from dovetail.kernels.pairs.matches import Matches, overlaps
from dovetail.kernels.settings import JoinSettings, waits_for
from dovetail.kernels.state import JoinState
from dovetail.spec.inputs import Arrival

Found = TypeVar("Found")


class FoundOnce(Generic[Found]):
    """A property that is found when it is first asked for, and then stays.

    That of functools has a lock in Python 3.11, and nothing with a lock travels to
    Spark's workers by value.
    """

    def __init__(self, find: Callable[..., Found]) -> None:
        """Keeps how it is found."""
        self.find = find

    def __get__(self, owner: object, _: type) -> Found:
        """Returns what is found, which from now on stands where Python looks first."""
        # The instance's own attribute is found before this one, which has no `__set__`.
        found = vars(owner)[self.find.__name__] = self.find(owner)
        return found


def meeting_times(present: Present, found: Matches) -> Whole:
    """Returns when each pair meets: the later of the two births."""
    left, right = present.rows
    return np.maximum(left.birth[found.left], right.birth[found.right])


def sure_below(settings: JoinSettings, bounds: tuple[Whole, Whole]) -> Whole:
    """Returns the row times below which meetings are sure, for both sides' bounds."""
    # A side whose bound nobody waits for cannot part a pair by what comes.
    below = np.full(len(bounds[0]), NEVER)
    for bound, is_waited_for in zip(bounds, waits_for(settings), strict=True):
        below = np.minimum(below, bound) if is_waited_for else below
    return below


@dataclass(frozen=True)
class Horizon:
    """What rows to come can do to those that take part in a step, or wait.

    Of these it looks at nothing but their lives and places, which stay as they are once
    rows have been let in. What is asked more than once is found once.
    """

    settings: JoinSettings
    present: Present

    def bound(self, hand: int) -> int:
        """Returns the least row time of a row to come, NEVER where none can."""
        return self.present.watches[hand].bound

    def can_come(self, hand: int) -> bool:
        """Tells whether a row may still come on this hand."""
        return self.bound(hand) < NEVER

    @FoundOnce
    def least(self) -> tuple[int, int]:
        """Returns for each side the least birth of a row that has yet to take part.

        It has yet to come, or it waits. In order of arrival that is the next place.
        """
        place = self.present.next_place
        if not self.settings.event_clock:
            return place, place
        left, right = (
            min(
                self.first_birth(hand),
                self.present.behind[hand],
                int(self.waiting(hand).birth.min(initial=NEVER)),
            )
            for hand in (0, 1)
        )
        return left, right

    def first_birth(self, hand: int) -> int:
        """Returns the least row time at which a row to come is born.

        A row without time is met by rows that come after it, by none that is there.
        """
        side = self.settings.sides[hand]
        if side.untimed or not self.can_come(hand):
            return NEVER
        return births.least_birth(side.window, self.bound(hand))

    def waiting(self, hand: int) -> Rows:
        """Returns the rows that wait, without deletes, which meet nobody."""
        rows = self.present.waiting[hand]
        return rows.take(~rows.removes) if len(rows) else rows

    @FoundOnce
    def past(self) -> tuple[Mask, Mask]:
        """Tells for each side which rows no row that is yet to take part meets.

        Who lives nowhere, as the older of two versions of one time, waits for nobody.
        """
        found: list[Mask] = []
        for hand, rows in enumerate(self.present.rows):
            other = self.least[1 - hand]
            if self.settings.sides[hand].untimed:
                # Of a table without times a row is met until it is replaced, whatever
                # the row time.
                past = untimed.is_replaced(rows) | (other == NEVER)
                past[self._wanted(hand)] = False
            else:
                past = (rows.death <= other) | (rows.death <= rows.birth)
            found.append(past)
        return found[0], found[1]

    def _wanted(self, hand: int) -> Whole:
        """Returns the replaced rows that rows meet which came in time and wait."""
        rows, waiting = self.present.rows[hand], self.present.waiting[1 - hand]
        number = np.flatnonzero(untimed.is_replaced(rows))
        if not len(number) or not len(waiting):
            return number[:0]
        known = self.present.rows[1 - hand]
        # Who is alive by the widest life could meet it; one that lives nowhere cannot.
        every = self._widened(1 - hand, join_rows([known.bare(), waiting.bare()]))
        came = waiting.take((every.birth < every.death)[len(known) :])
        # Versions without a time are there at all row times: places say who meets whom.
        birth, death = (np.full(len(came), moment) for moment in (BEGINNING, NEVER))
        both = (rows.take(number), came.with_arrays(birth=birth, death=death))
        sides = both if hand == 0 else (both[1], both[0])
        hold = (
            formulas.truly_equal if self.settings.picks.counts else formulas.that_hold
        )
        found = overlaps(*untimed.by_arrival(self.settings, sides))
        found = hold(self.settings, sides, found)
        wanted: Whole = number[(found.left, found.right)[hand]]
        return wanted

    def widest(self, hand: int) -> Rows:
        """Returns all rows of a side, those that wait last, with their widest lives.

        A life ends where it does if nobody else comes, or sooner. One that later rows
        begin may begin as soon as such a row can come.
        """
        present = self.present
        return self._widened(
            hand, join_rows([present.rows[hand], present.waiting[hand]])
        )

    def _widened(self, hand: int, rows: Rows) -> Rows:
        """Returns all rows of a side with their widest lives."""
        side = self.settings.sides[hand]
        if not side.ends_with_later:
            return rows.with_arrays(death=births.deaths(side, rows))
        # A row to come has a time from the bound on, and stands behind this one.
        soonest = np.maximum(rows.moment, self.bound(hand))
        return rows.with_arrays(
            birth=np.where(rows.birth == NEVER, soonest, rows.birth),
            death=np.minimum(rows.death, births.deaths(side, rows)),
        )

    def latest_ends(self, hand: int) -> Whole:
        """Returns when the rows that take part die if nobody else comes."""
        rows, waiting = self.present.rows[hand], self.present.waiting[hand]
        if not self.settings.sides[hand].ends_with_later:
            return rows.death
        every = self._widened(hand, join_rows([rows.bare(), waiting.bare()]))
        latest: Whole = every.death[: len(rows)]
        return latest

    def soonest_ends(self, hand: int, rows: Rows) -> Whole:
        """Returns when null rows of a side's rows come out, at the soonest.

        The life that a row inherits may end as soon as it is not sure any more.
        """
        side = self.settings.sides[hand]
        found = births.ends(side, rows)
        if not side.inherits:
            return found
        holds = self.present.watches[hand].holds
        held = np.maximum(rows.moment, sure_until(rows, holds))
        soonest: Whole = np.minimum(found, held)
        return soonest

    def know_ends(self, hand: int) -> Mask:
        """Tells of which rows the end can no longer change; a newest version's can."""
        side, rows = self.settings.sides[hand], self.present.rows[hand]
        if side.inherits:
            known: Mask = births.ends(side, rows) == self.soonest_ends(hand, rows)
            return known
        if side.is_intrinsic or side.untimed or not self.can_come(hand):
            return np.ones(len(rows), bool)
        return rows.death < NEVER

    def are_left(self, pairs: Matches) -> Mask:
        """Tells which pairs meet before the lives end that their rows inherit."""
        left, right = self.present.rows
        return self._meet_before(pairs, (left.death, right.death))

    def are_sure(self, pairs: Matches) -> Mask:
        """Tells of which pairs that are left neither life can end before they meet."""
        left, right = (
            sure_until(rows, watch.holds) if side.inherits else rows.death
            for side, rows, watch in zip(
                self.settings.sides,
                self.present.rows,
                self.present.watches,
                strict=True,
            )
        )
        return self._meet_before(pairs, (left, right))

    def _meet_before(self, pairs: Matches, limits: tuple[Whole, Whole]) -> Mask:
        """Tells which pairs meet before a limit of every life that is inherited."""
        when = meeting_times(self.present, pairs)
        before = np.ones(len(pairs), bool)
        for side, limit, number in zip(
            self.settings.sides, limits, (pairs.left, pairs.right), strict=True
        ):
            if side.inherits:
                before &= when < limit[number]
        return before


@dataclass(frozen=True, slots=True)
class _Course:
    """How far a side's bound was behind each position; the first is before all."""

    position: Whole
    bound: Whole

    @classmethod
    def of(
        cls, parcels: list[arrival.Parcel], position: Whole, moved: Whole, before: int
    ) -> _Course:
        """Returns the course of a bound, by rows and by what tasks report."""
        last = [
            int(parcel.rows.place.max(initial=parcel.report.position))
            for parcel in parcels
        ]
        # What a task reports holds behind its last row that came here.
        reported = [parcel.report.bound for parcel in parcels]
        position = np.concatenate((position, np.array(last, np.int64)))
        moved = np.concatenate((moved, np.array(reported, np.int64)))
        order = np.argsort(position, kind="stable")
        # A bound only rises; a late row does not move it.
        reached = np.maximum.accumulate(np.append(before, moved[order]))
        return cls(position[order], reached)

    def at(self, position: Whole) -> Whole:
        """Returns the bounds behind the rows at the positions."""
        found: Whole = self.bound[np.searchsorted(self.position, position, "right")]
        return found


@dataclass(frozen=True, slots=True)
class BoundsByPlace:
    """How far both bounds were behind each row that came in a step, by its place.

    `position` has those of all rows in order; `since` is the place of the first one.
    Without positions it is where the bounds stood before the step.
    """

    position: Whole
    courses: tuple[_Course, _Course]
    since: int

    def behind(self, place: Whole) -> tuple[Whole, Whole]:
        """Returns both sides' bounds behind the rows that came at these places.

        What they were behind rows that came before the step is not asked.
        """
        position = np.zeros(len(place), np.int64)
        if len(self.position):
            # Places are dealt out in the order of positions, from `since` on.
            position = self.position[np.maximum(place - self.since, 0)]
        left, right = (course.at(position) for course in self.courses)
        return left, right


_NONE = np.empty(0, np.int64)


def bounds_by_place(
    settings: JoinSettings,
    state: JoinState,
    parcels: list[arrival.Parcel],
    arrived: tuple[arrival.Arrived, arrival.Arrived],
) -> BoundsByPlace:
    """Returns the bounds behind every row that comes in a step, if anybody asks.

    Only a sequence says in which order rows and bounds came; elsewhere a bound is known
    to have stood before a row if it did before the step.
    """
    stood = [
        NEVER if side.static else watch.bound
        for side, watch in zip(settings.sides, state.watches, strict=True)
    ]
    if not settings.asks_bounds or settings.arrival is not Arrival.SEQUENCE:
        left, right = (_Course(_NONE, np.array([bound])) for bound in stood)
        return BoundsByPlace(_NONE, (left, right), 0)
    left, right = (
        _Course.of(
            [parcel for parcel in parcels if parcel.report.hand == hand],
            came.on_time.place,
            np.where(
                came.on_time.moment == MISSING,
                BEGINNING,
                shift(came.on_time.moment, side.lateness.negated()),
            ),
            before,
        )
        for hand, (side, came, before) in enumerate(
            zip(settings.sides, arrived, stood, strict=True)
        )
    )
    position = np.sort(np.concatenate([came.on_time.place for came in arrived]))
    return BoundsByPlace(position, (left, right), state.next_place)
