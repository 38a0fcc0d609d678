"""Rows of a table that come late on the event clock: stream rows wait for them.

    stream   10:00 (null row) ............ pair
    table                       10:05 [##########

A stream's row that met nobody waits, and meets the first version of the table that
begins after its own life. Which one is first is sure when no earlier one can come. Of
a row in several windows it is the last that waits, of the table's the first that comes.
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
from dovetail.kernels.arrival.news import News
from dovetail.kernels.candidates.copies import Copies, are_first
from dovetail.kernels.candidates.emitted import passes
from dovetail.kernels.candidates.nearest import near
from dovetail.kernels.candidates.picks import Picked, waits_for_turn
from dovetail.kernels.horizon import Horizon, meeting_times
from dovetail.kernels.lifetimes.births import ends
from dovetail.kernels.pairs.formulas import that_hold
from dovetail.kernels.pairs.matches import NO_MATCHES, Matches, join_matches, overlaps
from dovetail.kernels.pairs.results import (
    ABSENT,
    UNMATCHED,
    Leaving,
    Reason,
    Turn,
    alone,
)
from dovetail.kernels.settings import GIVEN_TIME, JoinSettings
from dovetail.kernels.unmatched.outcome import Outcome
from dovetail.spec.inputs import Change, Outlet
from dovetail.spec.windows import Latest


@dataclass(frozen=True, slots=True)
class LateTables:
    """The late pairs of a step, those that may be, and which rows of a hand wait on.

    `unsure` rows of the table may be met by a row that waits, so they stay.
    """

    settings: JoinSettings
    present: Present
    hand: int
    pairs: Matches
    pending: Matches
    waits: Mask
    unsure: Mask

    @property
    def least(self) -> int:
        """Returns the least row time of a late pair that is not sure."""
        return int(meeting_times(self.present, self.pending).min(initial=NEVER))

    def told(self, outcomes: tuple[Outcome, Outcome]) -> tuple[Outcome, Outcome]:
        """Returns the outcomes with late pairs; who waits or is waited for stays."""
        if not len(self.waits):
            return outcomes
        _, theirs = self._ours(self.pending)
        is_pending = np.zeros(len(self.unsure), bool)
        is_pending[theirs] = self.settings.sides[1 - self.hand].preserved
        changed = list(outcomes)
        own, other = outcomes[self.hand], outcomes[1 - self.hand]
        changed[self.hand] = replace(
            own,
            leaving=(*own.leaving, *self._leaving(), *self._back()),
            kept=self._with_met(own.kept | self.waits),
        )
        leaving = tuple(self._without(is_pending, part) for part in other.leaving)
        changed[1 - self.hand] = replace(
            other,
            leaving=leaving,
            kept=other.kept | self.unsure,
            open_rows=other.open_rows | is_pending,
            given=(other.given & ~is_pending) | self._has_left(leaving),
        )
        return self._with_turns(changed)

    def _with_met(self, kept: Mask) -> Mask:
        """Returns who stays: of a row that does also the copies that have met.

        They tell that it has met somebody, in whichever window.
        """
        rows = self.present.rows[self.hand]
        copies = Copies.of(self.settings.sides[self.hand].window, rows)
        has_met = rows.emitted | ((rows.met < NEVER) & ~rows.waits)
        stays: Mask = kept | (copies.any(kept) & has_met)
        return stays

    def picked(self, picked: Picked) -> Picked:
        """Returns what is picked; late pairs are numbered when it is their turn."""
        if not waits_for_turn(self.settings):
            return picked
        return replace(picked, held=join_matches([picked.held, self.pairs]))

    def noted(self, present: Present) -> Present:
        """Returns the rows with who waits, and who has met somebody at last."""
        if not len(self.waits):
            return present
        rows = list(present.rows)
        own, emitted = rows[self.hand], rows[self.hand].emitted
        mine, _ = self._ours(self.pairs)
        emitted[mine] = True
        waits = own.waits | self.waits
        rows[self.hand] = own.with_flags(waits=waits, emitted=emitted)
        return replace(present, rows=(rows[0], rows[1]))

    def _with_turns(self, outcomes: list[Outcome]) -> tuple[Outcome, Outcome]:
        """Returns the outcomes; rows of pairs that have yet to be numbered stay."""
        if waits_for_turn(self.settings):
            for hand, rows in enumerate((self.pairs.left, self.pairs.right)):
                kept = outcomes[hand].kept.copy()
                kept[rows] = True
                outcomes[hand] = replace(outcomes[hand], kept=kept)
        return outcomes[0], outcomes[1]

    def _ours(self, pairs: Matches) -> tuple[Whole, Whole]:
        """Returns the pairs as rows that wait and rows of the table."""
        both = (pairs.left, pairs.right)
        return both[self.hand], both[1 - self.hand]

    def _without(self, is_pending: Mask, part: Leaving) -> Leaving:
        """Returns those of the table's rows that leave alone which nobody waits for.

        What is taken back as its row begins goes, whoever meets it at that time.
        """
        chosen = (part.right, part.left)[self.hand]
        goes = part.change is Change.DELETE
        begun = self.present.rows[1 - self.hand].birth[chosen]
        return part.take(~is_pending[chosen] | (goes & (part.when == begun)))

    def _has_left(self, leaving: tuple[Leaving, ...]) -> Mask:
        """Tells which of the table's rows leave alone, though they may stay."""
        left = np.zeros(len(self.unsure), bool)
        for part in leaving:
            left[(part.right, part.left)[self.hand]] = True
        return left

    def _leaving(self) -> list[Leaving]:
        """Returns the late pairs as they leave, each the first of its row."""
        if waits_for_turn(self.settings):
            return []
        when = meeting_times(self.present, self.pairs)
        part = Leaving(
            Outlet.MATCHED,
            Reason.NONE,
            Turn.LATE_PAIR,
            self.pairs.left,
            self.pairs.right,
            when,
            np.zeros_like(when),
            np.ones_like(when),
            when,
            np.full(len(when), ABSENT),
        )
        return [part.take(passes(self.settings, self.present, part))]

    def _back(self) -> list[Leaving]:
        """Returns the null rows that were given at once and are taken back now."""
        if not self.settings.takes_back:
            return []
        mine, _ = self._ours(self.pairs)
        rows = self.present.rows[self.hand]
        is_early = rows.null_emitted[mine]
        when = meeting_times(self.present, self.pairs)[is_early]
        mine = mine[is_early]
        back = alone(self.hand, mine, when, UNMATCHED[self.hand])
        told = rows.hidden(GIVEN_TIME)[mine]
        return [replace(back, told=told, turn=Turn.DUE, change=Change.DELETE)]


def late_tables(
    horizon: Horizon, present: Present, picked: Picked, news: News
) -> LateTables:
    """Returns the late pairs of a step; only one side's rows can wait."""
    settings = horizon.settings
    for hand, side in enumerate(settings.sides):
        if side.waits:
            return _Search(settings, present, hand, horizon, picked, news).found()
    nobody = np.zeros(0, bool)
    return LateTables(settings, present, 0, NO_MATCHES, NO_MATCHES, nobody, nobody)


@dataclass(frozen=True, slots=True)
class _Search:
    """Rows of one hand that met nobody, and what they may meet at last."""

    settings: JoinSettings
    present: Present
    hand: int
    horizon: Horizon
    picked: Picked
    news: News

    @property
    def rows(self) -> Rows:
        """Returns the rows of the hand that waits."""
        return self.present.rows[self.hand]

    @property
    def table(self) -> Rows:
        """Returns the rows of the table."""
        return self.present.rows[1 - self.hand]

    def found(self) -> LateTables:
        """Returns the late pairs, sure and unsure, and who waits on."""
        least = self.horizon.least[1 - self.hand]
        over = self.horizon.past[self.hand]
        if self.hand == 0 and self.settings.picks.waits:
            over = over | self.picked.closed
        pairs = self._first(self._fitting())
        mine, theirs = self._ours(pairs)
        is_sure = over[mine] & (self.table.birth[theirs] <= least)
        sure, pending = pairs.take(is_sure), pairs.take(~is_sure)
        waits = self._seeks() & over & self._is_awaited(least)
        waits[self._ours(sure)[0]] = False
        waits[self._ours(pending)[0]] |= over[self._ours(pending)[0]]
        alive = (self.table.birth < self.table.death) & ~self.table.removes
        return LateTables(
            self.settings,
            self._marked(sure),
            self.hand,
            sure,
            pending,
            waits,
            alive & (self.table.birth > least),
        )

    def _marked(self, sure: Matches) -> Present:
        """Returns the rows; those of the table that are met at last have a partner."""
        met = self.table.met.copy()
        times = meeting_times(self.present, sure)
        np.minimum.at(met, self._ours(sure)[1], times)
        sides = list(self.present.rows)
        sides[1 - self.hand] = self.table.with_arrays(met=met)
        return replace(self.present, rows=(sides[0], sides[1]))

    def _ours(self, pairs: Matches) -> tuple[Whole, Whole]:
        """Returns the pairs as rows that wait and rows of the table."""
        both = (pairs.left, pairs.right)
        return both[self.hand], both[1 - self.hand]

    def _seeks(self) -> Mask:
        """Tells which rows met nobody in any window, or wait already.

        A left row that had too many candidates takes none that comes later.
        """
        copies = Copies.of(self.settings.sides[self.hand].window, self.rows)
        met = copies.any(self.rows.met < NEVER) & ~copies.any(self.rows.waits)
        has_met = copies.any(self.rows.emitted) | met
        is_last = copies.are_last(self.rows.birth)
        seeks: Mask = is_last & ~has_met & ~self.rows.removes
        return seeks & ~self.picked.crowded if self.hand == 0 else seeks

    def _is_awaited(self, least: int) -> Mask:
        """Tells for which rows a row of the table can still come in time."""
        if self.settings.sides[1 - self.hand].untimed:
            in_time: Mask = self._limits() >= self.present.watches[self.hand].bound
            return in_time
        can_come = self.present.watches[1 - self.hand].bound < NEVER
        awaited: Mask = (self._limits() >= least) & can_come
        return awaited

    def _limits(self) -> Whole:
        """Returns the last moments for which rows wait."""
        end, wait = (
            ends(self.settings.sides[self.hand], self.rows),
            self.settings.sides[self.hand].longest_wait,
        )
        waits_on = (end == NEVER) | (wait == NEVER)
        limits: Whole = np.where(waits_on, NEVER, np.where(waits_on, 0, end) + wait)
        return limits

    def _fitting(self) -> Matches:
        """Returns the pairs of rows that seek with rows of the table behind them."""
        side, table = self.settings.sides[1 - self.hand], self.table
        mine = self.rows.place + 1 if side.untimed else self.rows.death
        theirs = table.place if side.untimed else table.birth
        is_there = (table.birth < table.death) & (theirs < NEVER)
        is_there &= are_first(side.window, table)
        sides = [self.rows.bare(), self.rows.bare()]
        sides[self.hand] = self.rows.bare().with_arrays(
            birth=mine, death=np.where(self._seeks(), NEVER, mine)
        )
        sides[1 - self.hand] = table.bare().with_arrays(
            birth=theirs, death=theirs + is_there
        )
        # Whom an older row may have met as it came, it has been asked about.
        is_settled = side.untimed or isinstance(side.window, Latest)
        old = self.present.old if is_settled else (0, 0)
        found = overlaps(sides[0], sides[1], old)
        if not len(found):
            return found
        found = that_hold(self.settings, self.present.rows, found)
        mine, theirs = self._ours(found)
        found = found.take(self._moments()[theirs] <= self._limits()[mine])
        for nearest in self.settings.picks.nearest:
            found = near(nearest, self.present.rows, found)
        return found

    def _moments(self) -> Whole:
        """Returns when rows of the table come, as rows wait: without a time, by bounds.

        Then it is the bound of the side that waits, as it was when they came.
        """
        if not self.settings.sides[1 - self.hand].untimed:
            return self.table.birth
        return self.news.bounds(self.table.place)[self.hand]

    def _first(self, found: Matches) -> Matches:
        """Returns of each row that waits the first pair."""
        waiter, comer = self._ours(found)
        order = sorted_by(waiter, self.table.birth[comer], self.table.place[comer])
        waiter = waiter[order]
        first = np.ones(len(waiter), bool)
        first[1:] = waiter[1:] != waiter[:-1]
        return found.take(order[first])
