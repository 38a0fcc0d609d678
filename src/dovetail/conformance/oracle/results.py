"""What a join on the event clock gives, judged by all that is known at one moment.

A result is one row that comes out, or may: a meeting of a pair, one row of a semi join,
a life without a partner. It is *decided* when nothing that can still come changes it.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum

from dovetail.conformance.oracle.horizon import Horizon
from dovetail.conformance.oracle.late_tables import LateTables
from dovetail.conformance.oracle.life import Life, LivingRow, Moment
from dovetail.conformance.oracle.matching import Pair
from dovetail.conformance.oracle.parts import Parts
from dovetail.conformance.oracle.stretches import stretches
from dovetail.conformance.oracle.verdict import Verdict
from dovetail.spec.inputs import OuterRows
from dovetail.spec.join import HANDS, Hand


class Role(Enum):
    """What a result is: rows that meet, or one row and why it comes out."""

    PAIR = "pair"
    ONCE = "once"
    ALONE = "alone"
    OVER_LIMIT = "over_limit"
    TAKEN_BACK = "taken_back"
    LATE_PAIR = "late_pair"


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
    lives: tuple[int, ...] = ()
    counter: int = 0

    @property
    def identity(self) -> object:
        """Returns what no two results share, however often they are judged."""
        return self.role, self.rows, self.lives

    def life_of(self, row: LivingRow) -> int:
        """Returns which of a row's lives it is."""
        return self.lives[self.rows.index(row)]


EarlyRow = tuple[LivingRow, int]  # a life that has given its null row at once


@dataclass(frozen=True, slots=True)
class Known:
    """The rows of each side, what the picks make of them, and what can still come."""

    parts: Parts
    rows: dict[Hand, list[LivingRow]]
    verdicts: Mapping[LivingRow, Verdict]
    horizon: Horizon
    pairs: Sequence[Pair]
    early: Collection[EarlyRow]

    def results(self) -> Iterator[Result]:
        """Yields every result that is, or may be, by what is known."""
        met_by = self._met_by()
        for late in self._late(met_by):
            yield late
            for row in late.rows:
                if self.parts.waits_for_table(row.hand):
                    yield from self._taken_back(row, len(row.lives) - 1, [late])
                else:
                    met_by[row].append(late)
        for left, verdict in self.verdicts.items():
            yield from self._of_left(left, verdict, met_by[left])
        for right in self.rows[Hand.RIGHT]:
            yield from self._of_row(right, met_by[right])

    def _met_by(self) -> dict[LivingRow, list[Result]]:
        """Returns the meetings of each row: a right one's are those that mark it."""
        met_by: dict[LivingRow, list[Result]] = {
            row: [] for hand in HANDS for row in self.rows[hand]
        }
        for verdict in self.verdicts.values():
            for pair in verdict.marks:
                met_by[pair.right].extend(self.of_pair(pair, verdict))
            for pair in verdict.matches:
                met_by[pair.left].extend(self.of_pair(pair, verdict))
        return met_by

    def _late(self, met_by: Mapping[LivingRow, list[Result]]) -> list[Result]:
        """Returns the late matches of rows that have no other."""
        judge = LateTables(self.parts, self.horizon)
        results = []
        for row, met in met_by.items():
            waits = self.parts.waits_for_table(row.hand) and not self._is_done(row)
            if waits and row.lives and not met:
                own = [pair for pair in self.pairs if row in pair.rows]
                for match in judge.of(row, own):
                    told = (match.pair.rows, match.row_time, match.is_decided)
                    results.append(Result(Role.LATE_PAIR, *told, (0, 0)))
        return results

    def _is_done(self, row: LivingRow) -> bool:
        """Tells whether a row had too many candidates: it takes none that comes."""
        verdict = self.verdicts.get(row)
        had_too_many = verdict is not None and verdict.has_too_many
        return had_too_many or self._is_over(row)

    def _is_over(self, row: LivingRow) -> bool:
        """Tells whether a row has more candidates than its limit: it has matched."""
        verdict = self.verdicts.get(row)
        return verdict is not None and verdict.is_over_limit

    def _of_left(
        self, left: LivingRow, verdict: Verdict, met: list[Result]
    ) -> Iterator[Result]:
        """Yields what becomes of a left row and its pairs."""
        pairs = [one for one in met if one.role is Role.PAIR]
        if self.parts.kind.gives_pairs:
            is_plain = math.isinf(self.parts.picker.keep) and not verdict.is_picked
            yield from pairs if is_plain else self._counted(pairs, verdict)
        if not verdict.is_over_limit:
            yield from self._of_row(left, met)
            return
        marks = [one for pair in verdict.marks for one in self.of_pair(pair, verdict)]
        for number in range(len(left.lives)):
            yield from self._taken_back(left, number, marks)
        last = len(left.lives) - 1
        result = self._alone(left, last, is_decided=verdict.is_closed)
        yield replace(result, role=Role.OVER_LIMIT)

    def _counted(self, pairs: list[Result], verdict: Verdict) -> Iterator[Result]:
        """Yields the first pairs of a left row, by time and order of the right ones.

        A pair is sure when nothing can come or go before it; until then those behind it
        may still move up. A row that is skipped is counted, not kept. A pair that meets
        more than once is kept once.
        """
        is_sure, kept = True, set[object]()
        for counter, pair in enumerate(pairs, start=1):
            is_passed = verdict.is_picked or self.horizon.is_passed(pair.rows[1])
            is_sure = is_sure and pair.is_decided and is_passed
            result = replace(pair, is_decided=is_sure, counter=counter)
            if self._is_skipped(result):
                continue
            if pair.rows in kept or len(kept) < self.parts.picker.keep:
                yield result
                kept.add(pair.rows)

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
        if not self.parts.kind.preserves(row.hand):
            return
        if self.parts.settings.outer_rows is OuterRows.PER_MILLISECOND:
            yield from self._stretches(row, met)
            return
        for number in range(len(row.lives)):
            of_life = [one for one in met if one.life_of(row) == number]
            if (row, number) in self.early:
                yield from self._taken_back(row, number, of_life)
            elif not any(one.is_decided for one in of_life):
                is_closed = not of_life and self._is_closed(row, number)
                yield self._alone(row, number, is_decided=is_closed)

    def _taken_back(
        self, row: LivingRow, number: int, met: list[Result]
    ) -> Iterator[Result]:
        """Yields that a null row which came at once goes, at the first match."""
        is_asked = self.parts.settings.outer_rows is OuterRows.EAGER_RETRACT
        if is_asked and met and (row, number) in self.early:
            first = min(met, key=lambda one: (one.row_time, not one.is_decided))
            yield Result(
                Role.TAKEN_BACK, (row,), first.row_time, first.is_decided, (number,)
            )

    def _stretches(self, row: LivingRow, met: list[Result]) -> Iterator[Result]:
        """Yields a null row for each stretch of a life without a partner."""
        partners: dict[bool, list[Life]] = {True: [], False: []}
        for one in met:
            partners[self._is_open(one.rows[0])] += [
                there.lives[one.life_of(there)]
                for there in one.rows
                if there is not row
            ]
        for stretch in stretches(self.horizon, row, partners[False], partners[True]):
            start, is_decided = stretch.start, stretch.is_decided
            yield Result(Role.ALONE, (row,), start, is_decided, (int(start),))

    def _is_open(self, left: LivingRow) -> bool:
        """Tells whether a left row's pairs may still be taken from it by its picks."""
        verdict = self.verdicts[left]
        return verdict.is_picked and not verdict.is_closed

    def lonely_lives(self, row: LivingRow) -> Iterator[int]:
        """Yields the lives of a row in which it has no match by now."""
        if self._is_over(row):
            return
        met = [
            one
            for verdict in self.verdicts.values()
            for pair in verdict.matches
            if row in pair.rows
            for one in self.of_pair(pair, verdict)
        ]
        for number in range(len(row.lives)):
            if not any(one.life_of(row) == number for one in met):
                yield number

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
