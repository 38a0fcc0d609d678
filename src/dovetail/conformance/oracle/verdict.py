"""What the picks make of one left row's pairs on the event clock, as far as is known.

A pair is *sure* when no version can come that ends one of its lives before they meet.
A left row is *closed* when nothing that comes can change what it gives: no candidate,
or, in an `asof`, none that is better than the best by now.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from dovetail.conformance.oracle.horizon import Horizon
from dovetail.conformance.oracle.life import LivingRow
from dovetail.conformance.oracle.matching import Pair
from dovetail.conformance.oracle.nearest import Nearest
from dovetail.conformance.oracle.parts import Parts
from dovetail.spec.join import Hand


@dataclass(frozen=True, slots=True)
class Verdict:
    """The pairs that come out or may, and those that match a right row or may.

    Where every pair stands for itself nothing is picked. What is picked waits until the
    left row is closed.
    """

    matches: list[Pair]
    marks: list[Pair]
    is_picked: bool = False
    is_closed: bool = False
    is_over_limit: bool = False
    has_too_many: bool = False


@dataclass(frozen=True, slots=True)
class Verdicts:
    """The judge of left rows at one moment."""

    parts: Parts
    horizon: Horizon

    def of(
        self, lefts: Iterable[LivingRow], pairs: Iterable[Pair]
    ) -> dict[LivingRow, Verdict]:
        """Returns the verdict on each left row, its pairs by time and order."""
        met: dict[LivingRow, list[Pair]] = {left: [] for left in lefts}
        for pair in sorted(pairs, key=by_right_row):
            if any(self.horizon.meetings(pair)):
                met[pair.left].append(pair)
        if not self.parts.picker.waits:
            return {
                left: Verdict(its_pairs, its_pairs) for left, its_pairs in met.items()
            }
        return {left: self._picked(left, its_pairs) for left, its_pairs in met.items()}

    def _picked(self, left: LivingRow, met: list[Pair]) -> Verdict:
        """Returns the verdict where a pair decides about others."""
        picker = self.parts.picker
        sure = [pair for pair in met if self.horizon.is_sure(pair)]
        self.parts.refuse_excess(left, len(picker.candidates(sure)))
        possible = [pair for pair in met if self._may_come(pair, sure)]
        is_closed = self._is_closed(left, met, possible)
        choice = picker.choose(sure)
        marks = choice.matches if is_closed else met
        return Verdict(
            possible,
            marks,
            is_picked=True,
            is_closed=is_closed,
            is_over_limit=choice.is_over_limit,
            has_too_many=choice.has_too_many,
        )

    def _may_come(self, pair: Pair, sure: list[Pair]) -> bool:
        """Tells whether a pair is still picked, if it is there beside those for sure.

        More pairs only ever take others away, so what is not picked now never is.
        """
        beside = sure if pair in sure else sorted([*sure, pair], key=by_right_row)
        choice = self.parts.picker.choose(beside)
        return pair in choice.matches and not choice.is_over_limit

    def _is_closed(
        self, left: LivingRow, met: list[Pair], possible: list[Pair]
    ) -> bool:
        """Tells whether the verdict is final."""
        can_meet, nearest = self.horizon.can_meet(left), self.parts.picker.nearest
        if isinstance(nearest, Nearest) and not self.parts.picker.counts:
            can_improve = can_meet and self._can_improve(nearest, left, possible)
            return not can_improve and all(map(self.horizon.is_sure, possible))
        return not can_meet and all(map(self.horizon.is_sure, met))

    def _can_improve(
        self, nearest: Nearest, left: LivingRow, possible: list[Pair]
    ) -> bool:
        """Tells whether a better right row can come."""
        best = [nearest.right(pair.right.values) for pair in possible]
        time, bound = nearest.left(left.values), self.horizon.bound(Hand.RIGHT)
        return nearest.can_be_better(time, next(iter(best), None), bound)


def by_right_row(pair: Pair) -> int:
    """Returns what pairs of a left row, in order of arrival, are picked by."""
    return pair.right.time or 0
