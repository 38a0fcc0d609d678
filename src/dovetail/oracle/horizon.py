"""What can still come on the event clock, judged by bounds and windows alone.

left    10:00 [####)   10:03 [####)    bound 10:03: rows from here on may come
right              10:02 [##)          bound 10:02
"""

from __future__ import annotations

from dataclasses import dataclass

from dovetail.oracle.lateness import Bounds
from dovetail.oracle.life import NEVER, PAST, LivingRow, Moment
from dovetail.oracle.lifetimes import range_life
from dovetail.oracle.matching import Pair
from dovetail.oracle.sides import Sides
from dovetail.spec.join import HANDS, Hand
from dovetail.spec.windows import Forever, Latest, Range


@dataclass(frozen=True, slots=True)
class Horizon:
    """Both sides with their bounds; `gone` are rows that left a table without time."""

    sides: Sides
    bounds: Bounds
    gone: set[LivingRow]

    def bound(self, hand: Hand) -> Moment:
        """Returns the least row time that a row still to come can have."""
        side = self.sides[hand]
        return self.bounds.bound(side.input) if side.can_grow else NEVER

    def least_birth(self, hand: Hand) -> Moment:
        """Returns the least birth that a row still to come can have.

        A row without time is met by rows that come after it: for those that are there
        already it is never born.
        """
        side, bound = self.sides[hand], self.bound(hand)
        if not side.is_timed or bound == NEVER:
            return NEVER
        if isinstance(side.window, Range) and bound > PAST:
            return range_life(side.window, int(bound)).birth
        return bound

    def least_end_to_come(self, hand: Hand) -> Moment:
        """Returns the least end that the life of a row still to come can have."""
        side, bound = self.sides[hand], self.bound(hand)
        if not side.is_timed or isinstance(side.window, Forever) or bound == NEVER:
            return NEVER
        if isinstance(side.window, Range) and bound > PAST:
            return range_life(side.window, int(bound)).end
        return bound

    def can_meet(self, row: LivingRow) -> bool:
        """Tells whether a row still to come on the other side can meet this row."""
        least_birth = self.least_birth(row.hand.other)
        return row not in self.gone and row.life.death > least_birth

    def outlives(self, row: LivingRow, moment: Moment) -> bool:
        """Tells whether no version can come that ends this row by that moment."""
        return not self._may_shrink(row) or self.bound(row.hand) > moment

    def is_sure(self, pair: Pair) -> bool:
        """Tells whether the rows of a pair that meet by now have met for good."""
        row_time = max(row.life.birth for row in pair.rows)
        return all(self.outlives(row, row_time) for row in pair.rows)

    def has_ended(self, row: LivingRow) -> bool:
        """Tells whether the end of the row's life is known for good."""
        return not self._may_shrink(row) or self.bound(row.hand) >= row.life.death

    def least_end(self, row: LivingRow) -> Moment:
        """Returns the least row time at which the life of this row may end."""
        if not self._may_shrink(row):
            return row.life.end
        return min(row.life.end, max(row.life.birth, self.bound(row.hand)))

    def _may_shrink(self, row: LivingRow) -> bool:
        """Tells whether versions end the row's life."""
        side = self.sides[row.hand]
        return side.is_timed and isinstance(side.window, Latest)

    def is_passed(self, row: LivingRow) -> bool:
        """Tells whether no row can come that stands before this one on its side."""
        time = PAST if row.time is None else row.time
        return self.bound(row.hand) >= time

    def can_come(self, hand: Hand) -> bool:
        """Tells whether a row may still come on this hand."""
        return self.bound(hand) < NEVER

    def least_meeting(self) -> Moment:
        """Returns the least row time of a pair of which both rows are to come."""
        if not all(map(self.can_come, HANDS)):
            return NEVER
        timed = [hand for hand in HANDS if self.sides[hand].is_timed]
        return max((self.least_birth(hand) for hand in timed), default=NEVER)

    def least_meeting_with(self, row: LivingRow) -> Moment:
        """Returns the least row time of a pair of this row and one to come."""
        return max(row.life.birth, self.least_birth(row.hand.other))
