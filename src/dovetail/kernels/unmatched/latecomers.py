"""Rows of a table that come too late: stream rows that left unmatched wait for them.

    stream row arrives, meets nobody: its null row
    ...                                             it waits, at most so long
    table row arrives that fits: their pair, once

A row that waits has left its window. `Rows` say since when by the clock.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from dovetail.kernels.arrays.rows import (
    NEVER,
    Mask,
    Rows,
    Whole,
)
from dovetail.kernels.arrays.sort import sorted_by
from dovetail.kernels.arrival.admission import Present
from dovetail.kernels.arrival.time_limits import CLOCK, last_moments
from dovetail.kernels.candidates.emitted import passes
from dovetail.kernels.candidates.nearest import near
from dovetail.kernels.candidates.picks import Picked
from dovetail.kernels.pairs.formulas import that_hold
from dovetail.kernels.pairs.matches import Matches, overlaps
from dovetail.kernels.pairs.results import (
    ABSENT,
    UNMATCHED,
    Leaving,
    Reason,
    Turn,
    alone,
)
from dovetail.kernels.settings import Closing, JoinSettings
from dovetail.kernels.unmatched.outcome import Outcome
from dovetail.spec import windows
from dovetail.spec.inputs import Change, Outlet


@dataclass(frozen=True, slots=True)
class Edge:
    """Where a step stands: its first place in the order of arrival, its clock."""

    since: int
    now: int


@dataclass(frozen=True, slots=True)
class Latecomers:
    """The late pairs of a step: what leaves, and which rows of a hand wait on."""

    present: Present
    hand: int
    leaving: tuple[Leaving, ...]
    waits: Mask
    begun: Whole
    counted: Whole

    @property
    def least(self) -> int:
        """Returns that nothing waits for a row time in order of arrival."""
        return NEVER

    def picked(self, picked: Picked) -> Picked:
        """Returns what is picked; a left row of the table has counted its late pairs.

        They are numbered behind the pairs that it met as it came, before all others.
        """
        late = [part.left for part in self.leaving if part.turn is Turn.LATE_PAIR]
        if self.hand == 0 or not late or not len(late[0]):
            return picked
        left, right = self.present.rows
        more = self.counted
        part, (partners, given) = picked.given, picked.counts
        is_behind = right.place[part.right] > left.place[part.left]
        counter = part.counter + np.where(is_behind, more[part.left], 0)
        return replace(
            picked,
            given=replace(part, counter=counter),
            counts=(partners + more, given),
        )

    def told(self, outcomes: tuple[Outcome, Outcome]) -> tuple[Outcome, Outcome]:
        """Returns the outcomes with the late pairs; who waits on is kept."""
        if not len(self.waits):
            return outcomes
        changed = list(outcomes)
        mine = outcomes[self.hand]
        changed[self.hand] = replace(
            mine,
            leaving=(*mine.leaving, *self.leaving),
            kept=mine.kept | self.waits,
        )
        return changed[0], changed[1]

    def noted(self, present: Present) -> Present:
        """Returns the rows with since when they wait."""
        if not self.waits.any():
            return present
        rows = list(present.rows)
        mine = rows[self.hand]
        since = np.where(self.waits, self.begun, mine.waits_since)
        waiting = mine.with_arrays(waits_since=since)
        rows[self.hand] = waiting.with_flags(waits=mine.waits | self.waits)
        return replace(present, rows=(rows[0], rows[1]))


def latecomers(
    settings: JoinSettings, present: Present, edge: Edge, picked: Picked
) -> Latecomers:
    """Returns the late pairs of a step; only one side's rows can wait."""
    for hand, side in enumerate(settings.sides):
        if side.waits:
            waiting = _Waiting.of(settings, present, hand, edge, picked)
            return waiting.late(picked.met)
    nobody = np.empty(0, np.int64)
    return Latecomers(present, 0, (), nobody.astype(bool), nobody, nobody)


@dataclass(frozen=True, slots=True)
class _Waiting:
    """The rows of one hand that wait, and since when by the clock."""

    settings: JoinSettings
    present: Present
    hand: int
    edge: Edge
    waits: Mask
    begun: Whole

    @classmethod
    def of(
        cls,
        settings: JoinSettings,
        present: Present,
        hand: int,
        edge: Edge,
        picked: Picked,
    ) -> _Waiting:
        """Returns the rows that have waited, and those that have just left.

        A left row that had too many candidates takes none that comes later.
        """
        rows = present.rows[hand]
        old = rows.waits & ~rows.emitted
        stays = rows.removes | rows.dropped | rows.decided | (rows.met < NEVER)
        if hand == 0:
            stays |= picked.crowded
        new = ~stays & (rows.death <= present.next_place)
        clock = _clock_at(present, _left(settings, rows, hand), edge.now)
        begun = np.where(old, rows.waits_since, clock)
        return cls(
            settings, present, hand, edge, old | new, np.where(old | new, begun, 0)
        )

    def late(self, met: Matches) -> Latecomers:
        """Returns the late pairs: of each row that waits the first."""
        pairs = self._first(self._found())
        sides = list(self.present.rows)
        other = sides[1 - self.hand]
        mine, theirs = self._ours(pairs)
        first = other.met.copy()
        np.minimum.at(first, theirs, other.place[theirs])
        other = self._matched(other, theirs)
        sides[1 - self.hand] = other.with_arrays(met=first)
        waits = self.waits.copy()
        waits[mine] = False
        wait = self.settings.sides[self.hand].longest_wait
        if wait != NEVER:
            waits &= self.edge.now - self.begun <= wait
        return Latecomers(
            replace(self.present, rows=(sides[0], sides[1])),
            self.hand,
            tuple(self._leaving(pairs, met)),
            waits,
            self.begun,
            np.bincount(pairs.left, minlength=len(self.present.rows[0])),
        )

    def _ours(self, pairs: Matches) -> tuple[Whole, Whole]:
        """Returns the pairs as rows that wait and rows that come."""
        both = (pairs.left, pairs.right)
        return both[self.hand], both[1 - self.hand]

    def _found(self) -> Matches:
        """Returns the pairs of rows that wait with rows that come, all that fit."""
        sides = list(self.present.rows)
        mine, other = sides[self.hand], sides[1 - self.hand]
        left = np.where(
            mine.death < self.edge.since,
            self.edge.since,
            _left(self.settings, mine, self.hand),
        )
        endless = np.where(self.waits, NEVER, left)
        sides[self.hand] = mine.bare().with_arrays(birth=left, death=endless)
        comes = (other.birth >= self.edge.since) & (other.birth < other.death)
        until = np.where(comes, other.birth + 1, other.birth)
        sides[1 - self.hand] = other.bare().with_arrays(death=until)
        found = overlaps(sides[0], sides[1])
        if not len(found):
            return found
        found = that_hold(self.settings, self.present.rows, found)
        for nearest in self.settings.picks.nearest:
            found = near(nearest, self.present.rows, found)
        wait = self.settings.sides[self.hand].longest_wait
        if wait == NEVER:
            return found
        waiter, comer = self._ours(found)
        waited = _clock_at(self.present, other.place, self.edge.now)[comer]
        return found.take(np.flatnonzero(waited - self.begun[waiter] <= wait))

    def _first(self, found: Matches) -> Matches:
        """Returns of each row that waits the first pair."""
        waiter, comer = self._ours(found)
        place = self.present.rows[1 - self.hand].place[comer]
        order = sorted_by(waiter, place)
        waiter = waiter[order]
        first = np.ones(len(waiter), bool)
        first[1:] = waiter[1:] != waiter[:-1]
        return found.take(order[first])

    def _leaving(self, pairs: Matches, met: Matches) -> list[Leaving]:
        """Returns the pairs in the order of waiting, before each what it takes back."""
        waiter, comer = self._ours(pairs)
        when = self.present.rows[1 - self.hand].place[comer]
        rank = self._ranks()[waiter]
        late = Leaving(
            Outlet.MATCHED,
            Reason.NONE,
            Turn.LATE_PAIR,
            pairs.left,
            pairs.right,
            when,
            2 * rank + 1,
            self._numbers(pairs, met, rank),
            when,
            np.full(len(when), ABSENT),
        )
        late = late.take(passes(self.settings, self.present, late))
        if not self.settings.retracts:
            return [late]
        back = alone(self.hand, waiter, when, UNMATCHED[self.hand])
        back = replace(back, turn=Turn.LATE_PAIR, due=2 * rank, change=Change.DELETE)
        return [late, self._given(back, waiter)]

    def _matched(self, rows: Rows, met: Whole) -> Rows:
        """Returns the rows that come; who is met at last gives no null row at once."""
        if not self.settings.holds_nulls:
            return rows
        null_emitted = rows.null_emitted
        null_emitted[met] = False
        return rows.with_flags(null_emitted=null_emitted)

    def _given(self, back: Leaving, waiter: Whole) -> Leaving:
        """Returns of the null rows that go those that were given at once."""
        if not self.settings.holds_nulls:
            return back
        return back.take(self.present.rows[self.hand].null_emitted[waiter])

    def _numbers(self, pairs: Matches, met: Matches, rank: Whole) -> Whole:
        """Returns which pair of its left row each late pair is.

        One of the table's has the pairs that it met as it came before them.
        """
        if self.hand == 0:
            return np.ones(len(pairs), np.int64)
        left, right = self.present.rows
        at_once = met.left[right.place[met.right] < left.place[met.left]]
        before = np.bincount(at_once, minlength=len(left))
        order = sorted_by(pairs.left, rank)
        owner = pairs.left[order]
        starts = np.searchsorted(owner, owner)
        number = np.empty(len(order), np.int64)
        number[order] = np.arange(1, len(order) + 1) - starts
        numbers: Whole = number + before[pairs.left]
        return numbers

    def _ranks(self) -> Whole:
        """Returns for each row how many stand before it in the order of leaving."""
        rows = self.present.rows[self.hand]
        last = last_moments(self.settings, self.hand, rows)
        order = np.lexsort((rows.place, last, rows.death, self.begun))
        ranks = np.empty(len(order), np.int64)
        ranks[order] = np.arange(len(order))
        return ranks


def _left(settings: JoinSettings, rows: Rows, hand: int) -> Whole:
    """Returns the place at which a row leaves: at once where it is not stored."""
    side = settings.sides[hand]
    brief = np.zeros(len(rows), bool)
    if side.window == windows.Rows(0) or side.closing is not Closing.NONE:
        brief = (rows.death == rows.place + 1) & ~rows.due
    return np.where(brief, rows.place, rows.death)


def _clock_at(present: Present, places: Whole, now: int) -> Whole:
    """Returns the processing time at places of this step; beyond them it is now."""
    fresh = [
        rows.take(slice(old, None))
        for rows, old in zip(present.rows, present.old, strict=True)
    ]
    known = np.concatenate([rows.place for rows in fresh])
    clock = np.concatenate([rows.hidden(CLOCK) for rows in fresh])
    order = np.argsort(known)
    found = np.searchsorted(known[order], places)
    times: Whole = np.append(np.maximum.accumulate(clock[order]), now)[found]
    return times
