"""What a join on the event clock gives, judged by all that is known at one moment.

A result is one row that comes out, or may: a meeting of a pair, one row of a semi join,
a life without a partner. It is *decided* when nothing that can still come changes it.

Null rows per millisecond: one for each stretch of a life without a partner.

    row        10:00:00 [#################] 10:01:00
    partners        10:00:05 [###] 10:00:20
    null rows  10:00:00           10:00:20.001

Rows of a table that come late: a stream's row that found no match gives one more row
with the first version of the table that begins after its own life.

    stream   10:00 (null row) ............ pair
    table                       10:05 [##########
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum

from dovetail import spec
from dovetail.conformance.oracle import sides
from dovetail.conformance.oracle.horizon import Horizon, Judgement
from dovetail.conformance.oracle.parts import Parts


class Role(Enum):
    """What a result is: rows that meet, or one row and why it comes out."""

    PAIR = "pair"
    ONCE = "once"
    UNMATCHED = "unmatched"
    OVER_LIMIT = "over_limit"
    TAKEN_BACK = "taken_back"
    LATE_PAIR = "late_pair"


@dataclass(frozen=True, slots=True)
class Result:
    """A pair, or one row alone, and which of their lives; its time in the output.

    Where it is not decided, `row_time` is the least that it may have. It `is_match`
    where its rows have met for good, be it that it still waits to come out. `counter`
    is the number of a pair among those of its left row, where a pick has counted them;
    else it is 0 and they are counted as they come out.
    """

    role: Role
    rows: tuple[sides.LivingRow, ...]
    row_time: sides.Moment
    is_decided: bool
    lives: tuple[int, ...] = ()
    counter: int = 0
    is_match: bool = False

    @property
    def identity(self) -> object:
        """Returns what no two results share, however often they are judged."""
        return self.role, self.rows, self.lives

    def life_of(self, row: sides.LivingRow) -> int:
        """Returns which of a row's lives it is."""
        return self.lives[self.rows.index(row)]


EarlyRow = tuple[sides.LivingRow, int]  # a life whose null row has come out at once
MILLISECOND = 1000


@dataclass(frozen=True, slots=True)
class Known:
    """The rows of each side, what the picks make of them, and what can still come."""

    parts: Parts
    rows: dict[spec.Hand, list[sides.LivingRow]]
    judgements: Mapping[sides.LivingRow, Judgement]
    horizon: Horizon
    pairs: Sequence[sides.Pair]
    early: Collection[EarlyRow]

    def results(self) -> Iterator[Result]:
        """Yields every result that is, or may be, by what is known."""
        # Of a left row the pairs that may come out; of a right row those that mark it
        # as matched, be they over a limit.
        met_by: dict[sides.LivingRow, list[Result]] = {
            row: [] for hand in spec.HANDS for row in self.rows[hand]
        }
        for judgement in self.judgements.values():
            for pair in judgement.marks:
                met_by[pair.right].extend(self.of_pair(pair, judgement))
            for pair in judgement.matches:
                met_by[pair.left].extend(self.of_pair(pair, judgement))
        late_pairs = [
            late
            for row, met in met_by.items()
            if self._waits_for_table(row) and not met
            for late in self._late_match(row)
        ]
        for late in late_pairs:
            yield late
            # The row that waited has its null row; only that can be taken back. For
            # the table's row it is a match as any other.
            for row in late.rows:
                if self.parts.waits_for_table(row.hand):
                    yield from self._taken_back(row, len(row.lives) - 1, [late])
                else:
                    met_by[row].append(late)
        for left, judgement in self.judgements.items():
            yield from self._of_left(left, judgement, met_by[left])
        for right in self.rows[spec.Hand.RIGHT]:
            yield from self._of_row(right, met_by[right])

    def _waits_for_table(self, row: sides.LivingRow) -> bool:
        """Tells whether a row waits for a table; one with too many candidates does not.

        Nor does one that is in no window.
        """
        judgement = self.judgements.get(row)
        has_too_many = judgement is not None and judgement.has_too_many
        is_done = has_too_many or self._is_over(row) or not row.lives
        return self.parts.waits_for_table(row.hand) and not is_done

    def _is_over(self, row: sides.LivingRow) -> bool:
        """Tells whether a row has more candidates than its limit: it has matched."""
        judgement = self.judgements.get(row)
        return judgement is not None and judgement.is_over_limit

    def _of_left(
        self, left: sides.LivingRow, judgement: Judgement, met: list[Result]
    ) -> Iterator[Result]:
        """Yields what becomes of a left row and its pairs."""
        pairs = [one for one in met if one.role is Role.PAIR]
        if self.parts.kind.gives_pairs:
            is_plain = math.isinf(self.parts.picker.keep) and not judgement.is_picked
            yield from pairs if is_plain else self._counted(pairs, judgement)
        if not judgement.is_over_limit:
            yield from self._of_row(left, met)
            return
        # Over its limit it has met all its candidates: each takes back what came early.
        marks = [it for pair in judgement.marks for it in self.of_pair(pair, judgement)]
        for number in range(len(left.lives)):
            yield from self._taken_back(left, number, marks)
        if self.parts.writer.transforms:
            last = len(left.lives) - 1
            result = self._unmatched(left, last, is_decided=judgement.is_closed)
            yield replace(result, role=Role.OVER_LIMIT)

    def _counted(self, pairs: list[Result], judgement: Judgement) -> Iterator[Result]:
        """Yields the first pairs of a left row, by time and order of the right ones.

        A pair is sure when nothing can come or go before it; until then those behind it
        may still move up. A row that is skipped is counted, not kept. A pair that meets
        more than once is kept once.
        """
        is_sure, kept = True, set[object]()
        for counter, pair in enumerate(pairs, start=1):
            is_passed = judgement.is_picked or self.horizon.is_passed(pair.rows[1])
            is_sure = is_sure and pair.is_decided and is_passed
            # One that meets in several windows counts once, and comes out in each.
            is_kept = pair.rows in kept or len(kept) < self.parts.picker.keep
            written = sides.Pair(*pair.rows), counter, pair.row_time
            if is_kept and not self.parts.writer.skips(*written):
                yield replace(pair, is_decided=is_sure, counter=counter)
                kept.add(pair.rows)

    def _of_row(self, row: sides.LivingRow, met: list[Result]) -> Iterator[Result]:
        """Yields what becomes of one row by itself: once, or a null row for a life."""
        if self.parts.kind.gives_once(row.hand) and met:
            # Of one time one that is decided counts: nothing can take the row's coming
            # out back.
            first = min(met, key=lambda one: (one.row_time, not one.is_decided))
            yield Result(Role.ONCE, (row,), first.row_time, first.is_decided)
        if not self.parts.kind.preserves(row.hand):
            return
        if self.parts.settings.outer_rows is spec.OuterRows.PER_MILLISECOND:
            yield from self._stretches(row, met)
            return
        for number in range(len(row.lives)):
            of_life = [one for one in met if one.life_of(row) == number]
            if (row, number) in self.early:
                yield from self._taken_back(row, number, of_life)
            elif not any(one.is_match for one in of_life):
                is_closed = not of_life and self._is_closed(row, number)
                yield self._unmatched(row, number, is_decided=is_closed)

    def _taken_back(
        self, row: sides.LivingRow, number: int, met: list[Result]
    ) -> Iterator[Result]:
        """Yields that a null row which came at once goes, at the first match."""
        is_asked = self.parts.settings.outer_rows is spec.OuterRows.EAGER_RETRACT
        if is_asked and met and (row, number) in self.early:
            first = min(met, key=lambda one: (one.row_time, not one.is_decided))
            yield Result(
                Role.TAKEN_BACK, (row,), first.row_time, first.is_decided, (number,)
            )

    def _stretches(self, row: sides.LivingRow, met: list[Result]) -> Iterator[Result]:
        """Yields a null row for each stretch of a life without a partner.

        A stretch begins with the row's own life, or in the first millisecond in which
        the last partner is no longer there. It is known once no row comes any more that
        is there by then, and the picks have judged all those that are.
        """
        lives: list[sides.Life] = []
        open_lives: list[
            sides.Life
        ] = []  # of partners that the picks may still take away
        for one in met:
            is_open = self.judgements[one.rows[0]].is_open
            (there,) = (other for other in one.rows if other is not row)
            (open_lives if is_open else lives).append(there.lives[one.life_of(there)])
        to_come = self.horizon.first_to_come(row.hand.other)
        # A stretch begins with the row or with the end of a partner: no other moment
        # need be tried.
        starts = {row.life.birth, *(whole(one.death) for one in (*lives, *open_lives))}
        for start in starts:
            is_unmatched = not any(life.birth <= start < life.death for life in lives)
            if is_unmatched and start < row.life.death:
                is_judged = all(life.birth > start for life in open_lives)
                is_decided = to_come.birth > start and is_judged
                yield Result(Role.UNMATCHED, (row,), start, is_decided, (int(start),))

    def unmatched_lives(self, row: sides.LivingRow) -> Iterator[int]:
        """Yields the lives of a row in which it has no match by now."""
        if self._is_over(row):
            return
        met = [
            one
            for judgement in self.judgements.values()
            for pair in judgement.matches
            if row in pair.rows
            for one in self.of_pair(pair, judgement)
        ]
        for number in range(len(row.lives)):
            if not any(one.life_of(row) == number for one in met):
                yield number

    def _is_closed(self, row: sides.LivingRow, number: int) -> bool:
        """Tells whether a life gets no more pairs."""
        judgement = self.judgements.get(row)
        if judgement is not None and judgement.is_picked:
            return judgement.is_closed
        return not self.horizon.can_meet_in(row, row.lives[number])

    def _unmatched(
        self, row: sides.LivingRow, number: int, *, is_decided: bool
    ) -> Result:
        """Returns the result of one row by itself, at the end of one of its lives."""
        life = row.lives[number]
        # A version to come may end the life sooner: then its end is not known yet.
        end = self.horizon.soonest(row, life).end
        is_known = is_decided and end == life.end
        return Result(Role.UNMATCHED, (row,), end, is_known, (number,))

    def of_pair(self, pair: sides.Pair, judgement: Judgement) -> Iterator[Result]:
        """Yields the results of a pair: one at each later birth, if neither changes."""
        for found in self.horizon.meetings(pair):
            is_decided = found.is_sure and not judgement.is_open
            # Over its limit a left row has met all its candidates, whoever comes.
            is_match = is_decided or (found.is_sure and judgement.is_over_limit)
            yield Result(
                Role.PAIR,
                pair.rows,
                found.row_time,
                is_decided,
                found.lives,
                is_match=is_match,
            )

    def _late_match(self, row: sides.LivingRow) -> Iterator[Result]:
        """Yields the pair of a row without a match and a table's row that comes late.

        One that is still to come has the row time of a row to come, so nothing that is
        known waits for it.
        """
        late = []
        for pair in self.pairs:
            if row in pair.rows:
                (there,) = (one for one in pair.rows if one is not row)
                if self._is_late(row, there, pair):
                    late.append((first_life(there).birth, there, pair))
        if late:
            _, there, pair = min(late, key=lambda found: found[0])
            life, horizon = first_life(there), self.horizon
            least = horizon.soonest(there, life)
            # Sure once no row can come that is met before this one, or ends it.
            # No row of the table that is still to come could be met before this one.
            is_first = horizon.first_to_come(there.hand).birth >= life.birth
            is_sure = is_first and least.death > life.birth
            meeting = max(least.birth, row.lives[-1].birth)
            yield Result(
                Role.LATE_PAIR, pair.rows, meeting, is_sure, (0, 0), is_match=is_sure
            )

    def _is_late(
        self, row: sides.LivingRow, there: sides.LivingRow, pair: sides.Pair
    ) -> bool:
        """Tells whether the table's row begins after the other, not too late.

        One without time begins as it comes.
        """
        own, life = row.lives[-1], first_life(there)
        came_later = life.birth == sides.PAST and there.place > row.place
        is_behind = life.birth >= own.death or came_later
        has_match = bool(self.parts.picker.choose([pair]).matches)
        has_waited = self.parts.has_waited(own.end, life.birth)
        return is_behind and not life.is_empty and has_match and not has_waited


def first_life(row: sides.LivingRow) -> sides.Life:
    """Returns the first life of a table's row; one that is in no window has none."""
    return next(iter(row.lives), sides.NOWHERE)


def whole(moment: sides.Moment) -> sides.Moment:
    """Returns the first whole millisecond from a moment on."""
    if math.isinf(moment):
        return moment
    return math.ceil(moment / MILLISECOND) * MILLISECOND
