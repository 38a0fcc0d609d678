"""Rows of a table that come late: stream rows that met nobody wait for them.

    stream   10:00 [##) null row ..... waits ..... pair, once
    table                                    10:05 [##########

A stream's row that met nobody in its life waits, and meets the first row of the table
that comes behind it and fits. Both clocks ask the same, each on its own line:

    clock      a row waits from     for rows of the table by    so long, counted from
    event      its death on         their birth                 its end
    arrival    its death on         their place                 the clock as it left

On the event clock the pair is sure when no earlier row of the table can come; until
then it is pending, and both rows stay. In order of arrival all that comes is sure. Of a
row in several windows it is the last that waits, of the table's the first that comes.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from dovetail.kernels.arrays.names import CLOCK
from dovetail.kernels.arrays.rows import NEVER, Mask, Whole
from dovetail.kernels.arrays.sort import sorted_by
from dovetail.kernels.arrival.admission import Present
from dovetail.kernels.arrival.time_limits import last_moments
from dovetail.kernels.candidates import meetings
from dovetail.kernels.candidates.emission import passes
from dovetail.kernels.candidates.nearest import near
from dovetail.kernels.candidates.picks import Picked, waits_for_turn
from dovetail.kernels.horizon import BoundsByPlace, Horizon, meeting_times
from dovetail.kernels.lifetimes.births import ends
from dovetail.kernels.lifetimes.successors import starts_of
from dovetail.kernels.pairs import results
from dovetail.kernels.pairs.formulas import that_hold
from dovetail.kernels.pairs.matches import NO_MATCHES, Matches, join_matches, overlaps
from dovetail.kernels.settings import EARLY_TIME, Closing, JoinSettings
from dovetail.kernels.unmatched.outcome import Outcome
from dovetail.spec import windows
from dovetail.spec.inputs import Change, Outlet


@dataclass(frozen=True, slots=True)
class LateTables:
    """The late pairs of a step, and which rows of a hand wait on.

    `sure` pairs come out now, `pending` ones may. `unsure` rows of the table may be
    met by a row that waits, so they stay. `since` says in order of arrival from when
    on rows wait.
    """

    settings: JoinSettings
    present: Present
    hand: int
    sure: Matches
    pending: Matches
    waits: Mask
    since: Whole
    unsure: Mask
    leaving: tuple[results.Leaving, ...] = ()

    @property
    def least(self) -> int:
        """Returns the least row time of a late pair that is not sure."""
        return int(meeting_times(self.present, self.pending).min(initial=NEVER))

    def picked(self, picked: Picked) -> Picked:
        """Returns what is picked; late pairs count among those of their left rows."""
        if waits_for_turn(self.settings):
            return replace(picked, held=join_matches([picked.held, self.sure]))
        if self.settings.event_clock or self.hand == 0 or not len(self.sure):
            return picked
        # A left row of the table has late pairs behind those that it met as it came,
        # and before all that come after it.
        left, right = self.present.rows
        late = np.bincount(self.sure.left, minlength=len(left))
        part, (partners, given) = picked.given, picked.counts
        is_behind = right.place[part.right] > left.place[part.left]
        counter = part.counter + np.where(is_behind, late[part.left], 0)
        return replace(
            picked,
            given=replace(part, counter=counter),
            counts=(partners + late, given),
        )

    def added_to(self, outcomes: tuple[Outcome, Outcome]) -> tuple[Outcome, Outcome]:
        """Returns the outcomes with late pairs; who waits or is waited for stays."""
        if not len(self.waits):
            return outcomes
        changed, own = list(outcomes), outcomes[self.hand]
        kept = own.kept | self.waits
        # Of a row that stays also the copies that have met somebody, in any window.
        mine = self.present.rows[self.hand]
        copies = meetings.Copies.of(self.settings.sides[self.hand].window, mine)
        has_met = mine.emitted | ((mine.met < NEVER) & ~mine.waits)
        kept |= copies.any(kept) & has_met
        leaving = (*own.leaving, *self.leaving)
        changed[self.hand] = replace(own, leaving=leaving, kept=kept)
        if self.settings.event_clock:
            changed[1 - self.hand] = self._of_table(outcomes[1 - self.hand])
        if waits_for_turn(self.settings):  # rows of pairs yet to be numbered stay
            for hand, rows in enumerate((self.sure.left, self.sure.right)):
                kept = changed[hand].kept.copy()
                kept[rows] = True
                changed[hand] = replace(changed[hand], kept=kept)
        return changed[0], changed[1]

    def _of_table(self, other: Outcome) -> Outcome:
        """Returns the outcome of the table; nobody leaves alone who may be met yet."""
        is_pending = np.zeros(len(self.unsure), bool)
        theirs = (self.pending.right, self.pending.left)[self.hand]
        is_pending[theirs] = self.settings.sides[1 - self.hand].preserved
        begun = self.present.rows[1 - self.hand].birth
        leaving, has_left = [], np.zeros(len(self.unsure), bool)
        for part in other.leaving:
            chosen = (part.right, part.left)[self.hand]
            # What is taken back as its row begins goes, whoever meets it then.
            goes = (part.change is Change.DELETE) & (part.when == begun[chosen])
            stays = ~is_pending[chosen] | goes
            leaving.append(part.take(stays))
            has_left[chosen[stays]] = True
        return replace(
            other,
            leaving=tuple(leaving),
            kept=other.kept | self.unsure,
            open_rows=other.open_rows | is_pending,
            given=(other.given & ~is_pending) | has_left,
        )

    def noted(self, present: Present) -> Present:
        """Returns the rows, marked: which wait and since when, which have met."""
        if not len(self.waits):
            return present
        rows, own = list(present.rows), present.rows[self.hand]
        emitted = own.emitted
        emitted[(self.sure.left, self.sure.right)[self.hand]] = True
        own = own.with_flags(waits=own.waits | self.waits, emitted=emitted)
        if not self.settings.event_clock:
            since = np.where(self.waits, self.since, own.waits_since)
            own = own.with_arrays(waits_since=since)
        rows[self.hand] = own
        return replace(present, rows=(rows[0], rows[1]))


def late_tables(
    horizon: Horizon, present: Present, picked: Picked, bounds: BoundsByPlace
) -> LateTables:
    """Returns the late pairs of a step; only one side's rows can wait."""
    settings = horizon.settings
    for hand, side in enumerate(settings.sides):
        if side.waits:
            clock = _event_clock if settings.event_clock else _arrival_clock
            line = clock(horizon, present, hand, bounds)
            return _Search(horizon, present, hand, picked, line).found()
    none, nobody = np.empty(0, np.int64), np.empty(0, bool)
    return LateTables(
        settings, present, 0, NO_MATCHES, NO_MATCHES, nobody, none, nobody
    )


@dataclass(frozen=True, slots=True)
class _Line:
    """Where on a clock's line rows begin to wait, and where the table's rows come.

    A row waits from the moment `since` on, a row of the table comes at its `moment`;
    of those yet to come none does before `now`, if there are `more`.
    """

    waits: Whole
    comes: Whole
    since: Whole
    moment: Whole
    now: int
    more: bool = True


def _event_clock(
    horizon: Horizon, present: Present, hand: int, bounds: BoundsByPlace
) -> _Line:
    """Returns the line of row times, or of places where the table has no times.

    Then its rows come at the bound that the side which waits had as they came.
    """
    side, rows, table = (
        horizon.settings.sides[hand],
        present.rows[hand],
        present.rows[1 - hand],
    )
    since = ends(side, rows)
    if horizon.settings.sides[1 - hand].untimed:
        moment = bounds.behind(table.place)[hand]
        places = (rows.place + 1, table.place)
        return _Line(*places, since, moment, horizon.bound(hand))
    now, more = horizon.least[1 - hand], horizon.can_come(1 - hand)
    # Behind a row that was never born, and so has no end, nobody comes.
    death = np.where(since == NEVER, NEVER, rows.death)
    return _Line(death, table.birth, since, table.birth, now, more)


def _arrival_clock(
    horizon: Horizon, present: Present, hand: int, _: BoundsByPlace
) -> _Line:
    """Returns the line of places; how long rows have waited the clock says."""
    side, rows = horizon.settings.sides[hand], present.rows[hand]
    left = rows.death
    if side.window == windows.Rows(0) or side.closing is not Closing.NONE:
        # One that is not stored, or past as it comes, has left at its own place.
        is_brief = (rows.death == rows.place + 1) & ~rows.due
        left = np.where(is_brief, rows.place, rows.death)
    fresh = [
        some.take(slice(old, None))
        for some, old in zip(present.rows, present.old, strict=True)
    ]
    place = np.concatenate([some.place for some in fresh])
    clock = np.concatenate([some.hidden(CLOCK) for some in fresh])
    order = np.argsort(place)
    # The clock never goes back; behind the last row that has come it is now.
    course = np.append(np.maximum.accumulate(clock[order]), present.now)
    at_left, moment = (
        course[np.searchsorted(place[order], places)]
        for places in (left, present.rows[1 - hand].place)
    )
    if side.closing is Closing.CLOCK:
        # Time has ended them at their last moments, whenever somebody looked.
        at_left = np.minimum(at_left, last_moments(horizon.settings, hand, rows))
    since = np.where(rows.waits, rows.waits_since, at_left)
    return _Line(left, present.rows[1 - hand].place, since, moment, present.now)


@dataclass(frozen=True, slots=True)
class _Search:
    """Rows of one hand that met nobody, and what they may meet at last."""

    horizon: Horizon
    present: Present
    hand: int
    picked: Picked
    line: _Line

    def found(self) -> LateTables:
        """Returns the late pairs, sure and pending, and who waits on."""
        settings, table = self.horizon.settings, self.present.rows[1 - self.hand]
        least, seeks = self.horizon.least[1 - self.hand], self._seeks()
        # Only whose life is over for good can wait: before that it may still meet
        # somebody.
        over = self.horizon.past[self.hand]
        if self.hand == 0 and settings.event_clock and settings.picks.waits:
            over = over | self.picked.closed
        found = self._fitting(seeks)
        waiter, comer = self._ours(found)
        # Of each row the first of the table by the clock; of one moment the first that
        # came.
        order = sorted_by(waiter, table.birth[comer], table.place[comer])
        pairs = found.take(order[starts_of(waiter[order])])
        mine, theirs = self._ours(pairs)
        is_sure = over[mine] & (table.birth[theirs] <= least)
        sure, pending = pairs.take(is_sure), pairs.take(~is_sure)
        is_awaited = (self._limits() >= self.line.now) & self.line.more
        waits = seeks & over & is_awaited
        waits[mine[is_sure]] = False
        # The pair may still be another, so the row waits on beside it.
        waits[mine[~is_sure]] |= over[mine[~is_sure]]
        alive = (table.birth < table.death) & ~table.removes
        return LateTables(
            settings,
            self._marked(sure),
            self.hand,
            sure,
            pending,
            waits,
            self.line.since,
            alive & (table.birth > least),
            tuple(self._leaving(sure)),
        )

    def _ours(self, pairs: Matches) -> tuple[Whole, Whole]:
        """Returns the pairs as rows that wait and rows of the table."""
        both = (pairs.left, pairs.right)
        return both[self.hand], both[1 - self.hand]

    def _seeks(self) -> Mask:
        """Tells which rows met nobody in any window, or wait already.

        A left row that had too many candidates takes none that comes later.
        """
        rows = self.present.rows[self.hand]
        copies = meetings.Copies.of(self.horizon.settings.sides[self.hand].window, rows)
        has_met = copies.any(rows.met < NEVER) & ~copies.any(rows.waits)
        has_met |= copies.any(rows.emitted)
        seeks: Mask = copies.are_last(rows.birth) & ~has_met
        seeks &= ~rows.removes & ~rows.dropped
        return seeks & ~self.picked.crowded if self.hand == 0 else seeks

    def _limits(self) -> Whole:
        """Returns the last moments for which rows wait."""
        since = self.line.since
        wait = self.horizon.settings.sides[self.hand].longest_wait
        waits_on = (since == NEVER) | (wait == NEVER)
        limits: Whole = np.where(waits_on, NEVER, np.where(waits_on, 0, since) + wait)
        return limits

    def _fitting(self, seeks: Mask) -> Matches:
        """Returns the pairs of rows that seek with rows of the table behind them."""
        settings, line = self.horizon.settings, self.line
        side, table = settings.sides[1 - self.hand], self.present.rows[1 - self.hand]
        is_there = (table.birth < table.death) & (line.comes < NEVER)
        is_there &= meetings.are_first(side.window, table)
        rows = self.present.rows[self.hand].bare()
        sides = [rows, rows]
        sides[self.hand] = rows.with_arrays(
            birth=line.waits, death=np.where(seeks, NEVER, line.waits)
        )
        # A row of the table is met where it comes: it lives there for one moment.
        sides[1 - self.hand] = table.bare().with_arrays(
            birth=line.comes, death=line.comes + is_there
        )
        # Whom an older row may have met as it came, it has been asked about.
        is_settled = (
            not settings.event_clock
            or side.untimed
            or isinstance(side.window, windows.Latest)
        )
        old = self.present.old if is_settled else (0, 0)
        found = overlaps(sides[0], sides[1], old)
        if not len(found):
            return found
        found = that_hold(settings, self.present.rows, found)
        mine, theirs = self._ours(found)
        found = found.take(line.moment[theirs] <= self._limits()[mine])
        for nearest in settings.picks.nearest:
            found = near(nearest, self.present.rows, found)
        return found

    def _marked(self, sure: Matches) -> Present:
        """Returns the rows; those of the table that are met at last have a partner.

        So in order of arrival they give no null row as they come.
        """
        sides, theirs = list(self.present.rows), self._ours(sure)[1]
        table = sides[1 - self.hand]
        met = table.met.copy()
        np.minimum.at(met, theirs, meeting_times(self.present, sure))
        table = table.with_arrays(met=met)
        settings = self.horizon.settings
        if settings.marks_early and not settings.event_clock:
            null_emitted = table.null_emitted
            null_emitted[theirs] = False
            table = table.with_flags(null_emitted=null_emitted)
        sides[1 - self.hand] = table
        return replace(self.present, rows=(sides[0], sides[1]))

    def _leaving(self, sure: Matches) -> list[results.Leaving]:
        """Returns the late pairs in their order, before each what it takes back."""
        settings = self.horizon.settings
        rows, (mine, _) = self.present.rows[self.hand], self._ours(sure)
        when = meeting_times(self.present, sure)
        back = results.one_sided(self.hand, mine, when, results.UNMATCHED[self.hand])
        back = replace(back, turn=results.Turn.DUE, change=Change.DELETE)
        due, counter = np.zeros_like(when), np.ones_like(when)
        if not settings.event_clock:
            last = last_moments(settings, self.hand, rows)
            order = np.lexsort((rows.place, last, rows.death, self.line.since))
            ranks = np.empty(len(order), np.int64)
            ranks[order] = np.arange(len(order))
            # Those that waited longest go first: in the order in which they left.
            rank = ranks[mine]
            due, counter = 2 * rank + 1, self._counters(sure, rank)
            back = replace(back, turn=results.Turn.LATE_PAIR, due=2 * rank)
        absent = np.full(len(when), results.ABSENT)
        late = results.Leaving(
            *(
                Outlet.MATCHED,
                results.Reason.NONE,
                results.Turn.LATE_PAIR,
                sure.left,
                sure.right,
            ),
            *(when, due, counter, when, absent),
        )
        late = late.take(passes(settings, self.present, late))
        pairs = [] if waits_for_turn(settings) else [late]
        if not settings.retracts:
            return pairs
        if settings.event_clock:
            back = replace(back, shown_time=rows.hidden(EARLY_TIME)[mine])
        if settings.marks_early:
            back = back.take(rows.null_emitted[mine])
        return [*pairs, back]

    def _counters(self, sure: Matches, rank: Whole) -> Whole:
        """Returns which pair of its left row each late pair is.

        One of the table's has the pairs that it met as it came before them.
        """
        if self.hand == 0:
            return np.ones(len(sure), np.int64)
        left, right = self.present.rows
        met = self.picked.met
        at_once = met.left[right.place[met.right] < left.place[met.left]]
        before = np.bincount(at_once, minlength=len(left))
        order = sorted_by(sure.left, rank)
        owner = sure.left[order]
        number = np.empty(len(order), np.int64)
        number[order] = np.arange(1, len(order) + 1) - np.searchsorted(owner, owner)
        counters: Whole = number + before[sure.left]
        return counters
