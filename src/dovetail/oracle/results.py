"""What a join on the event clock gives, judged by all that is known at one moment.

A result is one row that comes out, or may: a pair, one row of a semi join, one row
without a partner. It is *decided* when nothing that can still come changes it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

from dovetail.oracle.horizon import Horizon
from dovetail.oracle.life import LivingRow, Moment
from dovetail.oracle.matching import Pair
from dovetail.spec.join import HANDS, Hand, Kind


@dataclass(frozen=True, slots=True)
class Result:
    """A pair, or one row alone; `row_time` is its time in the output."""

    rows: tuple[LivingRow, ...]
    row_time: Moment
    is_decided: bool


@dataclass(frozen=True, slots=True)
class Known:
    """The rows of each side, the pairs that fit, and what can still come."""

    kind: Kind
    keep: float
    rows: dict[Hand, list[LivingRow]]
    pairs: list[Pair]
    horizon: Horizon

    def results(self) -> Iterator[Result]:
        """Yields every result that is, or may be, by what is known."""
        met = [self.of_pair(pair) for pair in self.pairs if has_met(pair)]
        met_by: dict[LivingRow, list[Result]] = {
            row: [] for hand in HANDS for row in self.rows[hand]
        }
        for result in met:
            for row in result.rows:
                met_by[row].append(result)
        for row, its_pairs in met_by.items():
            if self.kind.gives_pairs and row.hand is Hand.LEFT:
                yield from its_pairs if math.isinf(self.keep) else self._kept(its_pairs)
            yield from self._of_row(row, its_pairs)

    def _kept(self, met: list[Result]) -> Iterator[Result]:
        """Yields the first pairs of a left row, by time and order of the right ones.

        A pair is sure when nothing can come or go before it. Those behind the first may
        still move up until that is so.
        """
        is_sure = True
        for rank, result in enumerate(sorted(met, key=by_right_row)):
            right = result.rows[1]
            is_sure = is_sure and result.is_decided and self.horizon.is_passed(right)
            if rank < self.keep or not is_sure:
                yield replace(result, is_decided=is_sure)

    def _of_row(self, row: LivingRow, met: list[Result]) -> Iterator[Result]:
        """Yields what becomes of one row by itself."""
        if self.kind.gives_once(row.hand) and met:
            first = min(met, key=lambda result: result.row_time)
            yield Result((row,), first.row_time, first.is_decided)
        if self.kind.preserves(row.hand) and not any(one.is_decided for one in met):
            is_alone = not met and not self.horizon.can_meet(row)
            is_known = self.horizon.has_ended(row)
            yield Result((row,), self.horizon.least_end(row), is_alone and is_known)

    def of_pair(self, pair: Pair) -> Result:
        """Returns the result of a pair: at the later birth, if neither life shrinks."""
        row_time = max(row.life.birth for row in pair.rows)
        is_decided = all(self.horizon.outlives(row, row_time) for row in pair.rows)
        return Result(pair.rows, row_time, is_decided)


def by_right_row(result: Result) -> tuple[int, int]:
    """Returns the order in which the pairs of a left row are kept."""
    right = result.rows[1]
    return right.time or 0, right.place


def has_met(pair: Pair) -> bool:
    """Tells whether the lives of a pair overlap."""
    return pair.left.life.meets(pair.right.life)
