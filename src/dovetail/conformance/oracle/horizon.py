"""What can still come on the event clock, judged by bounds and windows alone.

left    10:00 [####)   10:03 [####)    bound 10:03: rows from here on may come
right              10:02 [##)          bound 10:02

A life may still change: the next version ends it, and a row that counts may come in
between. So each life is looked at twice: as it is if nothing more comes, and as soon
as what comes can make it begin and end.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import product

from dovetail.conformance.oracle.lateness import Bounds
from dovetail.conformance.oracle.life import NEVER, PAST, Life, LivingRow, Moment
from dovetail.conformance.oracle.lifetimes import (
    first_life,
    inherited_life,
    is_settled,
    soonest,
)
from dovetail.conformance.oracle.matching import Pair
from dovetail.conformance.oracle.sides import Sides
from dovetail.spec.join import HANDS, Hand
from dovetail.spec.windows import Inherited


@dataclass(frozen=True, slots=True)
class Meeting:
    """Two lives that overlap or may, by their numbers, and the least time they meet."""

    lives: tuple[int, int]
    row_time: Moment
    is_sure: bool


@dataclass(frozen=True, slots=True)
class Horizon:
    """Both sides with their bounds; `gone` are rows that left a table without time.

    `inner` is the horizon of the join that a side is made of.
    """

    sides: Sides
    bounds: Bounds
    gone: set[LivingRow]
    inner: Mapping[Hand, Horizon]

    def bound(self, hand: Hand) -> Moment:
        """Returns the least row time that a row still to come can have."""
        side = self.sides[hand]
        return self.bounds.bound(side.input) if side.can_grow else NEVER

    def first_to_come(self, hand: Hand) -> Life:
        """Returns the least birth and end that a row still to come can have.

        A row without time is met by rows that come after it: for those that are there
        already it is never born.
        """
        side = self.sides[hand]
        return first_life(side, self.bound(hand) if side.is_timed else NEVER)

    def soonest(self, row: LivingRow, life: Life) -> Life:
        """Returns a life of a row as soon as rows to come can make it begin and end."""
        if is_settled(self.sides[row.hand]):
            return life
        if isinstance(self.sides[row.hand].window, Inherited):
            inner = self.inner[row.hand]
            lives = [
                inner.soonest(one, one.lives[number]) for one, number in row.origin
            ]
            return inherited_life(self._time(row), lives)
        return soonest(life, self._time(row), self.bound(row.hand))

    def can_meet(self, row: LivingRow) -> bool:
        """Tells whether a row still to come on the other side can meet this row."""
        return any(self.can_meet_in(row, life) for life in row.lives)

    def can_meet_in(self, row: LivingRow, life: Life) -> bool:
        """Tells whether a row still to come can meet this one in one of its lives."""
        least_birth = self.first_to_come(row.hand.other).birth
        birth = max(self.soonest(row, life).birth, least_birth)
        return row not in self.gone and life.death > birth

    def meetings(self, pair: Pair) -> Iterator[Meeting]:
        """Yields the meetings of a pair that there are or may be, by number of lives.

        One is sure when neither life can change any more so that it would fall away or
        come at another time.
        """
        left, right = ([*enumerate(row.lives)] for row in pair.rows)
        for (one, left_life), (other, right_life) in product(left, right):
            lives = (left_life, right_life)
            least = list(map(self.soonest, pair.rows, lives))
            row_time = max(life.birth for life in least)
            if row_time < min(life.death for life in lives):
                is_sure = row_time < min(life.death for life in least)
                yield Meeting((one, other), row_time, is_sure)

    def is_sure(self, pair: Pair) -> bool:
        """Tells whether the rows of a pair have met for good."""
        return any(meeting.is_sure for meeting in self.meetings(pair))

    def is_passed(self, row: LivingRow) -> bool:
        """Tells whether no row can come that stands before this one on its side."""
        return self.bound(row.hand) >= self._time(row)

    def can_come(self, hand: Hand) -> bool:
        """Tells whether a row may still come on this hand."""
        return self.bound(hand) < NEVER

    def least_meeting(self) -> Moment:
        """Returns the least row time of a pair of which both rows are to come."""
        if not all(map(self.can_come, HANDS)):
            return NEVER
        timed = [hand for hand in HANDS if self.sides[hand].is_timed]
        return max((self.first_to_come(hand).birth for hand in timed), default=NEVER)

    def least_meeting_with(self, row: LivingRow) -> Moment:
        """Returns the least row time of a row with one to come that it can meet."""
        least_birth = self.first_to_come(row.hand.other).birth
        births = (self.soonest(row, life).birth for life in row.lives)
        return max(min(births), least_birth)

    def _time(self, row: LivingRow) -> Moment:
        """Returns the row time of a row; those without stand before all others."""
        return PAST if row.time is None else row.time
