"""The frontier: the least row time of any row that can still come out.

A decided result leaves when its row time is not above the frontier, so rows come out in
row-time order and rows of one row time do not wait for each other. Only what the kind
gives counts: `left_only` has no pairs to wait for.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator
from dataclasses import dataclass

from dovetail.conformance.oracle.life import NEVER, LivingRow, Moment
from dovetail.conformance.oracle.results import Known, Result, Role
from dovetail.spec.inputs import OuterRows
from dovetail.spec.join import HANDS, Hand


@dataclass(frozen=True, slots=True)
class Frontier:
    """What is known, which results there may be, and which of them have come out."""

    known: Known
    results: list[Result]
    given: Collection[object]

    def moment(self) -> Moment:
        """Returns the least row time of what is undecided or has not come."""
        parts = (self._undecided(), self._unmatched_to_come(), self._pairs_to_come())
        return min((moment for part in parts for moment in part), default=NEVER)

    def _undecided(self) -> Iterator[Moment]:
        """Yields the row times of results that what comes may still change."""
        for result in self.results:
            if not result.is_decided and result.identity not in self.given:
                yield result.row_time

    def _unmatched_to_come(self) -> Iterator[Moment]:
        """Yields the least time of a null row still to come on each preserved side.

        Those that come at once wait for nobody.
        """
        settings = self.known.parts.settings
        for hand in HANDS:
            life = self.known.horizon.first_to_come(hand)
            if self.known.parts.kind.preserves(hand) and not settings.is_eager:
                is_split = settings.outer_rows is OuterRows.PER_MILLISECOND
                yield life.birth if is_split else life.end

    def _pairs_to_come(self) -> Iterator[Moment]:
        """Yields the least row times of pairs that have a row still to come.

        With a partner that is there, with one still to come, and, as no row may come
        out ahead of an input that gives pairs, the bound of that input.
        """
        horizon = self.known.horizon
        if not self._puts_out_matches():
            return
        yield horizon.least_meeting()
        for hand in HANDS:
            partners = self._partners_to_be(hand)
            yield from (horizon.least_meeting_with(row) for row in partners)
            if partners or horizon.can_come(hand.other):
                yield max(horizon.bound(hand), horizon.first_to_come(hand).birth)

    def _puts_out_matches(self) -> bool:
        """Tells whether a match makes a row come out: a pair, or one taken back."""
        kind = self.known.parts.kind
        takes_back = self.known.parts.settings.outer_rows is OuterRows.EAGER_RETRACT
        return kind.gives_pairs or takes_back or any(map(kind.gives_once, HANDS))

    def _partners_to_be(self, hand: Hand) -> list[LivingRow]:
        """Returns the rows that a row still to come on this hand would come out with.

        In a semi join a row that has come out does not come again, nor does a left row
        that keeps as many pairs as it may.
        """
        rows = self.known.rows[hand.other]
        return [
            row
            for row in rows
            if self.known.horizon.can_meet(row) and not self._is_done(row)
        ]

    def _is_done(self, row: LivingRow) -> bool:
        """Tells whether a row comes out with no further partner."""
        if self.known.parts.kind.gives_once(row.hand):
            return self._is_given_once(row) or self._is_settled(row)
        return row.hand is Hand.LEFT and (self._is_settled(row) or self._is_full(row))

    def _is_settled(self, row: LivingRow) -> bool:
        """Tells whether the picks want no more of a row, whatever comes.

        In a right semi join what comes may still match a left row over its limit.
        """
        verdict = self.known.verdicts.get(row)
        if verdict is None:
            return False
        is_over = verdict.is_over_limit and not self._gives_right_rows()
        return verdict.is_closed or is_over

    def _gives_right_rows(self) -> bool:
        """Tells whether right rows come out because they match."""
        return self.known.parts.kind.gives_once(Hand.RIGHT)

    def _is_full(self, row: LivingRow) -> bool:
        """Tells whether a left row has all the pairs that it keeps."""
        if math.isinf(self.known.parts.picker.keep):
            return False
        sure = {
            one.rows
            for one in self.results
            if one.role is Role.PAIR and one.is_decided and one.rows[0] is row
        }
        return len(sure) >= self.known.parts.picker.keep

    def _is_given_once(self, row: LivingRow) -> bool:
        """Tells whether no earlier partner of a row that comes out once can come."""
        earliest = self.known.horizon.least_meeting_with(row)
        return any(
            one.row_time <= earliest for one in self.results if one.rows == (row,)
        )
