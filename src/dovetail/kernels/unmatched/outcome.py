"""What becomes of rows: which have met somebody, which come out, which stay.

Right rows in order of arrival that leave late, because a left row held their pair.

    right row leaves its window ... its left row leaves, without a match: null row

A pair that is held may still match its right row, so the null row of that one waits for
the last left row that is judged, and stands behind what comes of this.
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
from dovetail.kernels.arrival.time_limits import last_moments
from dovetail.kernels.candidates.emission import let_out
from dovetail.kernels.candidates.meetings import Copies
from dovetail.kernels.candidates.picks import Picked
from dovetail.kernels.horizon import Horizon, meeting_times
from dovetail.kernels.lifetimes.births import ends
from dovetail.kernels.lifetimes.lives import are_open
from dovetail.kernels.pairs import results
from dovetail.kernels.pairs.matches import Matches
from dovetail.kernels.settings import JoinSettings
from dovetail.spec import windows
from dovetail.spec.inputs import Outlet


@dataclass(frozen=True, slots=True)
class Outcome:
    """Of one side's rows: which come out now by themselves, which stay, which may yet.

    `open_rows` may come out by themselves in a later step; `given` have just come out,
    once and for all.
    """

    leaving: tuple[results.Leaving, ...]
    kept: Mask
    open_rows: Mask
    given: Mask


def marked(settings: JoinSettings, present: Present, picked: Picked) -> Present:
    """Returns the rows with their earliest meeting noted where it matters later.

    A left row over its limit gives nothing more of its own.
    """
    sides = list(present.rows)
    remembering = [hand for hand in (0, 1) if settings.sides[hand].remembers]
    if remembering and len(picked.met):
        when = meeting_times(present, picked.met)
        for hand in remembering:
            chosen = (picked.met.left, picked.met.right)[hand]
            met = sides[hand].met.copy()
            np.minimum.at(met, chosen, when)
            sides[hand] = sides[hand].with_arrays(met=met)
    if len(picked.over):
        emitted = sides[0].emitted
        emitted[picked.over] = True
        sides[0] = sides[0].with_flags(emitted=emitted)
    return replace(present, rows=(sides[0], sides[1]))


def outcome(horizon: Horizon, present: Present, hand: int, picked: Picked) -> Outcome:
    """Returns what becomes of one side's rows; `present` are those marked by now."""
    settings = horizon.settings
    side, rows = settings.sides[hand], present.rows[hand]
    done = horizon.past[hand]
    if hand == 0 and settings.event_clock:
        # A row in several windows is judged for all of them at once.
        is_judged = settings.copies_rows and settings.picks.waits
        done = picked.closed | (done & (not is_judged))
    needed = np.zeros(len(rows), bool)
    needed[(picked.held.left, picked.held.right)[hand]] = True
    unmatched = _unmatched(settings, hand, rows)
    if hand == 1:
        done = done | (picked.are_outdated(horizon) & ~needed)
        unmatched &= ~_of_exceeded(present, picked)
    lonely = unmatched & done & ~needed & horizon.know_ends(hand)
    paired = _once(horizon, present, hand, done, picked)
    open_rows = unmatched & ~lonely
    # Who has come out is still a candidate among those that are counted.
    is_out = paired & (hand == 0 or not settings.picks.counts)
    kept = (~done & ~is_out & ~rows.removes) | open_rows | needed
    if side.once:
        is_open = ~rows.removes & ~paired & ~rows.emitted
        if settings.inherits:
            # Nobody to come can precede the pair for which such a row waits.
            soonest = np.full(len(rows), NEVER)
            when = meeting_times(present, picked.held)
            np.minimum.at(soonest, (picked.held.left, picked.held.right)[hand], when)
            other = _least_to_come(horizon, hand, done)
            is_open &= soonest > np.maximum(rows.birth, other)
        open_rows |= is_open
    return Outcome(
        leaving=tuple(
            part
            for some in _leaving(settings, present, hand, (lonely, paired), picked.met)
            for part in with_host(settings, present, some, picked.judged)
        ),
        kept=kept | _still_decides(settings, present, hand),
        open_rows=open_rows & kept,
        given=paired,
    )


def _unmatched(settings: JoinSettings, hand: int, rows: Rows) -> Mask:
    """Tells which rows come out as null rows if they meet nobody."""
    side = settings.sides[hand]
    if not side.preserved or settings.splits_nulls:
        return np.zeros(len(rows), bool)
    gone = rows.removes | rows.dropped
    if side.aged and side.is_table:
        # An older version than is known is as if it had never come.
        gone |= rows.death <= rows.birth
    if settings.event_clock:  # in order of arrival `early` tells such rows apart
        gone |= rows.null_emitted
    unmatched: Mask = (rows.met == NEVER) & ~rows.decided & ~gone
    return unmatched


def _of_exceeded(present: Present, picked: Picked) -> Mask:
    """Tells which right rows wait for a left row that is over its limit by now.

    They have matched, whoever else comes, though the left row is not closed.
    """
    is_match = np.zeros(len(present.rows[1]), bool)
    if len(picked.over):
        is_over = np.zeros(len(present.rows[0]), bool)
        is_over[picked.over] = True
        is_match[picked.held.right[is_over[picked.held.left]]] = True
    return is_match


def stays(settings: JoinSettings, present: Present, hand: int) -> Mask:
    """Tells which rows of a table stay: what is in it, and what decides about more."""
    rows = present.rows[hand]
    is_there = (rows.death == NEVER) & ~rows.removes
    stay: Mask = is_there | _still_decides(settings, present, hand)
    return stay


def without_given(present: Present, outcomes: tuple[Outcome, Outcome]) -> Present:
    """Returns the rows with those noted that must not be given a second time."""
    if not any(np.count_nonzero(outcome.given) for outcome in outcomes):
        return present
    left, right = (
        rows.with_flags(emitted=rows.emitted | outcome.given)
        for rows, outcome in zip(present.rows, outcomes, strict=True)
    )
    return replace(present, rows=(left, right))


def _leaving(
    settings: JoinSettings,
    present: Present,
    hand: int,
    alone: tuple[Mask, Mask],
    met: Matches,
) -> list[results.Leaving]:
    """Returns the rows that come out alone: unmatched ones, and those given once."""
    side, rows = settings.sides[hand], present.rows[hand]
    lonely, paired = alone
    if not np.count_nonzero(lonely | paired):
        return []
    single = np.flatnonzero(lonely & ~rows.due)
    null_rows = results.one_sided(
        hand, single, ends(side, rows)[single], results.UNMATCHED[hand]
    )
    due = np.flatnonzero(lonely & rows.due)
    passed = results.one_sided(hand, due, rows.death[due], results.UNMATCHED[hand])
    last = last_moments(settings, hand, rows)[due]
    passed = replace(passed, turn=results.Turn.DUE, due=last)
    given, copies = np.flatnonzero(paired), Copies.of(side.window, rows)
    if not copies.are_single:
        given = given[np.argsort(rows.met[given], kind="stable")]
        # Once in all of its windows. `unique` gives the first of equals: of each row's
        # copies the one that met first.
        _, earliest = np.unique(copies.owner[given], return_index=True)
        given = given[earliest]
    once = results.one_sided(hand, given, rows.met[given], Outlet.MATCHED)
    once = replace(once, turn=results.Turn.PAIR, counter=np.ones(len(given), np.int64))
    # A left row that waits leaves when it dies, a right one with the first of those.
    if hand and settings.pairs_wait and len(given):
        return [null_rows, passed, *at_first_host(settings, present, once, met)]
    return [null_rows, passed, *let_out(settings, present, once)]


def _least_to_come(horizon: Horizon, hand: int, done: Mask) -> Whole:
    """Returns for each row the least birth of a row to come that it may meet.

    Who is past meets nobody any more, though rows with earlier times may come.
    """
    return np.where(done, NEVER, horizon.least[1 - hand])


def _once(
    horizon: Horizon, present: Present, hand: int, done: Mask, picked: Picked
) -> Mask:
    """Tells which rows given once come out: no earlier meeting can follow."""
    settings, rows = horizon.settings, present.rows[hand]
    if not settings.sides[hand].once:
        return np.zeros(len(rows), bool)
    other = _least_to_come(horizon, hand, done)
    copies = Copies.of(settings.sides[hand].window, rows)
    # Of a row in several windows all copies are one: its first meeting in any of them.
    first = copies.least(rows.met)
    is_open = (first < NEVER) & ~copies.any(rows.emitted)
    if settings.picks.waits and hand == 0:
        return is_open & picked.closed
    earliest = np.where(rows.death <= other, NEVER, np.maximum(rows.birth, other))
    if settings.event_clock:
        when = meeting_times(present, picked.held)
        np.minimum.at(earliest, (picked.held.left, picked.held.right)[hand], when)
    return is_open & (first <= copies.least(earliest))


def _still_decides(settings: JoinSettings, present: Present, hand: int) -> Mask:
    """Tells which rows still have a say about the lives of others.

    They count among the newest though they are needed no more, or are newest versions
    and deletes that an older row may still run into. So does who has handed on a life
    to a row that went to the join around.
    """
    side, rows = settings.sides[hand], present.rows[hand]
    bound = present.watches[hand].bound
    if settings.inherited and side.inherits:
        return are_open(rows, present.watches[hand].holds)
    if settings.inherited and side.groups > 1:
        hands_on: Mask = (rows.death == NEVER) & ~rows.removes & (bound < NEVER)
        return hands_on
    counts = side.counts_later or isinstance(side.window, windows.Rows) or side.evicts
    is_over = side.told or (side.counts_later and bound == NEVER)
    if is_over or not (counts or side.aged):
        return np.zeros(len(rows), bool)
    outdates = (rows.moment >= bound) & side.aged
    decides: Mask = (rows.death == NEVER) & (outdates | counts)
    return decides


def late_rows(
    present_rows: Rows, hand: int, reason: results.Reason, offset: int
) -> results.Leaving:
    """Returns rows that leave as late; they stand behind `offset` other rows."""
    numbers = np.arange(offset, offset + len(present_rows))
    return results.one_sided(
        hand, numbers, np.full(len(numbers), NEVER), Outlet.LATE, reason
    )


@dataclass(frozen=True, slots=True)
class _Turns:
    """When rows leave: the first number decides, then the next."""

    when: Whole
    turn: Whole
    due: Whole
    place: Whole

    @classmethod
    def of(cls, settings: JoinSettings, hand: int, rows: Rows, chosen: Whole) -> _Turns:
        """Returns the turns of the chosen rows, as they leave their windows."""
        is_due = rows.due[chosen]
        last = last_moments(settings, hand, rows)[chosen]
        end = ends(settings.sides[hand], rows)[chosen]
        return cls(
            np.where(is_due, rows.death[chosen], end),
            np.where(is_due, int(results.Turn.DUE), int(results.Turn.UNMATCHED)),
            np.where(is_due, last, 0),
            rows.place[chosen],
        )

    @property
    def keys(self) -> tuple[Whole, ...]:
        """Returns the numbers in the order in which they decide."""
        return self.when, self.turn, self.due, self.place


def with_host(
    settings: JoinSettings, present: Present, part: results.Leaving, judged: Matches
) -> list[results.Leaving]:
    """Returns rows that leave alone, right ones no sooner than their left rows.

    `judged` are the candidates of left rows that are judged in this step.
    """
    if settings.event_clock or not len(part.when) or not len(judged):
        return [part]
    if part.turn not in (results.Turn.DUE, results.Turn.UNMATCHED) or np.count_nonzero(
        part.left >= 0
    ):
        return [part]
    hosts, own = (
        _Turns.of(settings, hand, present.rows[hand], chosen)
        for hand, chosen in enumerate((judged.left, part.right))
    )
    pairs = zip(hosts.keys, own.keys, strict=True)
    order = sorted_by(*(np.concatenate(both) for both in pairs))
    ranks = np.empty(len(order), np.int64)
    ranks[order] = np.arange(len(order))
    rank, mine = ranks[: len(judged)], ranks[len(judged) :]
    # Of a right row's candidates the one whose left row leaves last is written last.
    last = np.full(len(present.rows[1]), results.ABSENT)
    by_rank = np.argsort(rank)
    last[judged.right[by_rank]] = by_rank
    last = last[part.right]
    is_hosted = (last > results.ABSENT) & (rank[last] > mine)
    chosen = np.flatnonzero(is_hosted)
    chosen = chosen[np.argsort(mine[chosen])]
    return [part.take(~is_hosted), *_let_out(part.take(chosen), hosts, last[chosen])]


def at_first_host(
    settings: JoinSettings, present: Present, part: results.Leaving, met: Matches
) -> list[results.Leaving]:
    """Returns right rows that leave alone with the first left row that they met."""
    hosts = _Turns.of(settings, 0, present.rows[0], met.left)
    order = sorted_by(*hosts.keys)[::-1]
    # Written from the last to leave to the first, so that the first one stays.
    first = np.full(len(present.rows[1]), results.ABSENT)
    first[met.right[order]] = order
    return _let_out(part, hosts, first[part.right])


def _let_out(
    part: results.Leaving, hosts: _Turns, host: Whole
) -> list[results.Leaving]:
    """Returns right rows at the turns of their left rows."""
    moved = replace(part, when=hosts.when[host], due=hosts.due[host])
    moved = replace(moved, host=hosts.place[host])
    is_due = hosts.turn[host] == int(results.Turn.DUE)
    return [
        replace(moved.take(is_due), turn=results.Turn.DUE),
        replace(moved.take(~is_due), turn=results.Turn.UNMATCHED),
    ]
