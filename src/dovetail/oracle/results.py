"""What a join on the event clock gives, judged by all that is known at one moment.

A result is one row that comes out, or may: a pair, one row of a semi join, one row
without a partner. It is *decided* when nothing that can still come changes it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from enum import Enum

from dovetail.oracle.horizon import Horizon
from dovetail.oracle.life import LivingRow, Moment
from dovetail.oracle.matching import Pair
from dovetail.oracle.parts import Parts
from dovetail.oracle.verdict import Verdict
from dovetail.spec.join import HANDS, Hand
from dovetail.spec.picks import OnExceed


class Role(Enum):
    """What a result is: rows that meet, or one row and why it comes out."""

    PAIR = "pair"
    ONCE = "once"
    ALONE = "alone"
    OVER_LIMIT = "over_limit"


@dataclass(frozen=True, slots=True)
class Result:
    """A pair, or one row alone; `row_time` is its time in the output.

    `counter` is the number of a pair among those of its left row, where a pick has
    counted them; else it is 0 and they are counted as they come out.
    """

    role: Role
    rows: tuple[LivingRow, ...]
    row_time: Moment
    is_decided: bool
    counter: int = 0

    @property
    def identity(self) -> object:
        """Returns what no two results share, however often they are judged."""
        return self.role, self.rows


@dataclass(frozen=True, slots=True)
class Known:
    """The rows of each side, what the picks make of them, and what can still come."""

    parts: Parts
    rows: dict[Hand, list[LivingRow]]
    verdicts: Mapping[LivingRow, Verdict]
    horizon: Horizon

    def results(self) -> Iterator[Result]:
        """Yields every result that is, or may be, by what is known."""
        met_by: dict[LivingRow, list[Result]] = {
            row: [] for hand in HANDS for row in self.rows[hand]
        }
        for left, verdict in self.verdicts.items():
            yield from self._of_left(left, verdict)
            for pair in verdict.marks:
                met_by[pair.right].append(self.of_pair(pair, verdict))
        for right in self.rows[Hand.RIGHT]:
            is_closed = not self.horizon.can_meet(right)
            yield from self._of_row(right, met_by[right], is_closed=is_closed)

    def _of_left(self, left: LivingRow, verdict: Verdict) -> Iterator[Result]:
        """Yields what becomes of a left row and its pairs."""
        pairs = [self.of_pair(pair, verdict) for pair in verdict.matches]
        if self.parts.kind.gives_pairs:
            is_plain = math.isinf(self.parts.picker.keep) and not verdict.is_picked
            yield from pairs if is_plain else self._counted(pairs, verdict)
        if not verdict.is_over_limit:
            yield from self._of_row(left, pairs, is_closed=verdict.is_closed)
        elif self.parts.writer.on_exceed is OnExceed.TRANSFORM:
            yield self._alone(Role.OVER_LIMIT, left, is_decided=verdict.is_closed)

    def _counted(self, pairs: list[Result], verdict: Verdict) -> Iterator[Result]:
        """Yields the first pairs of a left row, by time and order of the right ones.

        A pair is sure when nothing can come or go before it. Those behind the first may
        still move up until that is so. A row that is skipped is counted, not kept.
        """
        is_sure, kept = True, 0
        for counter, pair in enumerate(pairs, start=1):
            is_passed = verdict.is_picked or self.horizon.is_passed(pair.rows[1])
            is_sure = is_sure and pair.is_decided and is_passed
            result = replace(pair, is_decided=is_sure, counter=counter)
            if is_sure and self._is_skipped(result):
                continue
            if kept < self.parts.picker.keep:
                yield result
            kept += is_sure

    def _is_skipped(self, result: Result) -> bool:
        """Tells whether the row of a pair would not come out."""
        left, right = result.rows
        pair = Pair(left, right)
        return self.parts.writer.skips(pair, result.counter, result.row_time)

    def _of_row(
        self, row: LivingRow, met: list[Result], *, is_closed: bool
    ) -> Iterator[Result]:
        """Yields what becomes of one row by itself; closed, it gets no more pairs."""
        if self.parts.kind.gives_once(row.hand) and met:
            first = min(met, key=lambda result: result.row_time)
            yield Result(Role.ONCE, (row,), first.row_time, first.is_decided)
        if self.parts.kind.preserves(row.hand) and not any(
            one.is_decided for one in met
        ):
            yield self._alone(Role.ALONE, row, is_decided=is_closed and not met)

    def _alone(self, role: Role, row: LivingRow, *, is_decided: bool) -> Result:
        """Returns the result of one row by itself, at the end of its life."""
        is_known = self.horizon.has_ended(row)
        least_end = self.horizon.least_end(row)
        return Result(role, (row,), least_end, is_decided and is_known)

    def of_pair(self, pair: Pair, verdict: Verdict) -> Result:
        """Returns the result of a pair: at the later birth, if neither life shrinks."""
        row_time = row_time_of(pair)
        is_decided = self.horizon.is_sure(pair)
        if verdict.is_picked:
            is_decided = is_decided and verdict.is_closed
        return Result(Role.PAIR, pair.rows, row_time, is_decided)


def row_time_of(pair: Pair) -> Moment:
    """Returns the row time of a pair: the later birth."""
    return max(row.life.birth for row in pair.rows)
