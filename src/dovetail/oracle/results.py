"""What a join on the event clock gives, judged by all that is known at one moment.

A result is one row that comes out, or may: a meeting of a pair, one row of a semi join,
a life without a partner. It is *decided* when nothing that can still come changes it.
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
    """A pair, or one row alone, and which of their lives; its time in the output.

    Where it is not decided, `row_time` is the least that it may have. `counter` is the
    number of a pair among those of its left row, where a pick has counted them; else it
    is 0 and they are counted as they come out.
    """

    role: Role
    rows: tuple[LivingRow, ...]
    row_time: Moment
    is_decided: bool
    lives: tuple[int, ...] = (0,)
    counter: int = 0

    @property
    def identity(self) -> object:
        """Returns what no two results share, however often they are judged."""
        return self.role, self.rows, self.lives

    def life_of(self, row: LivingRow) -> int:
        """Returns which of a row's lives it is."""
        return self.lives[self.rows.index(row)]


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
                met_by[pair.right].extend(self.of_pair(pair, verdict))
        for right in self.rows[Hand.RIGHT]:
            yield from self._of_row(right, met_by[right])

    def _of_left(self, left: LivingRow, verdict: Verdict) -> Iterator[Result]:
        """Yields what becomes of a left row and its pairs."""
        pairs = [
            result for pair in verdict.matches for result in self.of_pair(pair, verdict)
        ]
        if self.parts.kind.gives_pairs:
            is_plain = math.isinf(self.parts.picker.keep) and not verdict.is_picked
            yield from pairs if is_plain else self._counted(pairs, verdict)
        if not verdict.is_over_limit:
            yield from self._of_row(left, pairs)
        elif self.parts.writer.on_exceed is OnExceed.TRANSFORM:
            last = len(left.lives) - 1
            result = self._alone(left, last, is_decided=verdict.is_closed)
            yield replace(result, role=Role.OVER_LIMIT)

    def _counted(self, pairs: list[Result], verdict: Verdict) -> Iterator[Result]:
        """Yields the first pairs of a left row, by time and order of the right ones.

        A pair is sure when nothing can come or go before it. Those behind the first may
        still move up until that is so. A row that is skipped is counted, not kept. A
        pair that meets more than once is kept once.
        """
        is_sure, kept = True, set[object]()
        for counter, pair in enumerate(pairs, start=1):
            is_passed = verdict.is_picked or self.horizon.is_passed(pair.rows[1])
            is_sure = is_sure and pair.is_decided and is_passed
            result = replace(pair, is_decided=is_sure, counter=counter)
            if is_sure and self._is_skipped(result):
                continue
            if pair.rows in kept or len(kept) < self.parts.picker.keep:
                yield result
                kept |= {pair.rows} if is_sure else set()

    def _is_skipped(self, result: Result) -> bool:
        """Tells whether the row of a pair would not come out."""
        left, right = result.rows
        pair = Pair(left, right)
        return self.parts.writer.skips(pair, result.counter, result.row_time)

    def _of_row(self, row: LivingRow, met: list[Result]) -> Iterator[Result]:
        """Yields what becomes of one row by itself: once, or a null row for a life."""
        if self.parts.kind.gives_once(row.hand) and met:
            first = min(met, key=lambda one: (one.row_time, not one.is_decided))
            yield Result(Role.ONCE, (row,), first.row_time, first.is_decided)
        if self.parts.kind.preserves(row.hand):
            for number in range(len(row.lives)):
                of_life = [one for one in met if one.life_of(row) == number]
                if not any(one.is_decided for one in of_life):
                    is_closed = not of_life and self._is_closed(row, number)
                    yield self._alone(row, number, is_decided=is_closed)

    def _is_closed(self, row: LivingRow, number: int) -> bool:
        """Tells whether a life gets no more pairs."""
        verdict = self.verdicts.get(row)
        if verdict is not None and verdict.is_picked:
            return verdict.is_closed
        return not self.horizon.can_meet_in(row, row.lives[number])

    def _alone(self, row: LivingRow, number: int, *, is_decided: bool) -> Result:
        """Returns the result of one row by itself, at the end of one of its lives."""
        life = row.lives[number]
        end = self.horizon.soonest(row, life).end
        is_known = is_decided and end == life.end
        return Result(Role.ALONE, (row,), end, is_known, (number,))

    def of_pair(self, pair: Pair, verdict: Verdict) -> Iterator[Result]:
        """Yields the results of a pair: one at each later birth, if neither changes."""
        is_open = verdict.is_picked and not verdict.is_closed
        for meeting in self.horizon.meetings(pair):
            is_decided = meeting.is_sure and not is_open
            yield Result(
                Role.PAIR, pair.rows, meeting.row_time, is_decided, meeting.lives
            )
