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
from dovetail.kernels.candidates.emitted import let_out
from dovetail.kernels.candidates.meetings import Copies
from dovetail.kernels.candidates.picks import Picked
from dovetail.kernels.horizon import Horizon, meeting_times
from dovetail.kernels.lifetimes.births import ends
from dovetail.kernels.pairs.matches import Matches
from dovetail.kernels.pairs.results import (
    ABSENT,
    UNMATCHED,
    Leaving,
    Reason,
    Turn,
    one_sided,
)
from dovetail.kernels.settings import JoinSettings, SideSettings
from dovetail.spec import windows
from dovetail.spec.inputs import Outlet


@dataclass(frozen=True, slots=True)
class Outcome:
    """Of one side's rows: which come out now by themselves, which stay, which may yet.

    `open_rows` may come out by themselves in a later step; `given` have just come out,
    once and for all.
    """

    leaving: tuple[Leaving, ...]
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
    needed = _is_held(rows, (picked.held.left, picked.held.right)[hand])
    if hand == 1:
        done = done | (picked.outdated & ~needed)
    is_row = ~rows.removes
    unmatched = _unmatched(settings, hand, rows)
    lonely = unmatched & done & ~needed & horizon.know_ends(hand)
    # Who is past meets nobody any more, though rows with earlier times may come.
    other = np.where(done, NEVER, horizon.least[1 - hand])
    paired = _once(settings, present, hand, other, picked)
    open_rows = unmatched & ~lonely
    # Who has come out is still a candidate among those that are counted.
    is_out = paired & (hand == 0 or not settings.picks.counts)
    kept = (~done & ~is_out & is_row) | open_rows | needed
    if side.once:
        is_open = is_row & ~paired & ~rows.emitted
        open_rows |= is_open & ~_awaits(settings, present, hand, other, picked)
    by_themselves = _leaving(settings, present, hand, lonely, paired)
    return Outcome(
        leaving=_in_turn(settings, present, picked, by_themselves),
        kept=kept | _still_decides(settings, present, hand),
        open_rows=open_rows & kept,
        given=paired,
    )


def _unmatched(settings: JoinSettings, hand: int, rows: Rows) -> Mask:
    """Tells which rows come out as null rows if they meet nobody."""
    if not settings.sides[hand].preserved or settings.splits_nulls:
        return np.zeros(len(rows), bool)
    gone = rows.removes | rows.dropped
    if settings.event_clock:  # in order of arrival such rows are told apart by `early`
        gone |= rows.null_emitted
    unmatched: Mask = (rows.met == NEVER) & ~rows.decided & ~gone
    return unmatched


def _is_held(rows: Rows, held: Whole) -> Mask:
    """Tells which rows a pair that waits is made of."""
    is_held = np.zeros(len(rows), bool)
    is_held[held] = True
    return is_held


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


def _in_turn(
    settings: JoinSettings, present: Present, picked: Picked, parts: list[Leaving]
) -> tuple[Leaving, ...]:
    """Returns rows that come out by themselves, at the turns of who held them."""
    return tuple(
        part
        for some in parts
        for part in with_host(settings, present, some, picked.judged)
    )


def _leaving(
    settings: JoinSettings, present: Present, hand: int, lonely: Mask, paired: Mask
) -> list[Leaving]:
    """Returns the rows that come out by themselves: null rows and rows given once."""
    side, rows = settings.sides[hand], present.rows[hand]
    if not np.count_nonzero(lonely | paired):
        return []
    single = np.flatnonzero(lonely & ~rows.due)
    met = _earliest(side.window, rows, paired)
    null_rows = one_sided(hand, single, ends(side, rows)[single], UNMATCHED[hand])
    given_once = one_sided(hand, met, rows.met[met], Outlet.MATCHED)
    given_once = replace(
        given_once, turn=Turn.PAIR, counter=np.ones(len(met), np.int64)
    )
    due = np.flatnonzero(lonely & rows.due)
    passed = one_sided(hand, due, rows.death[due], UNMATCHED[hand])
    last = last_moments(settings, hand, rows)[due]
    return [
        null_rows,
        replace(passed, turn=Turn.DUE, due=last),
        *_as_given(settings, present, hand, given_once),
    ]


def _as_given(
    settings: JoinSettings, present: Present, hand: int, part: Leaving
) -> list[Leaving]:
    """Returns rows given once as they leave: a left row that waits when it dies."""
    return let_out(settings, present, part) if hand == 0 else [part]


def _once(
    settings: JoinSettings, present: Present, hand: int, other: Whole, picked: Picked
) -> Mask:
    """Tells which rows given once come out: no earlier meeting can follow.

    `other` is for each row the least birth of a row to come that it may meet.
    """
    rows = present.rows[hand]
    if not settings.sides[hand].once:
        return np.zeros(len(rows), bool)
    copies = Copies.of(settings.sides[hand].window, rows)
    first = copies.least(rows.met)
    is_open = (first < NEVER) & ~copies.any(rows.emitted)
    if settings.picks.waits and hand == 0:
        return is_open & picked.closed
    earliest = np.where(rows.death <= other, NEVER, np.maximum(rows.birth, other))
    if settings.event_clock:
        when = meeting_times(present, picked.held)
        np.minimum.at(earliest, (picked.held.left, picked.held.right)[hand], when)
    return is_open & (first <= copies.least(earliest))


def _awaits(
    settings: JoinSettings, present: Present, hand: int, other: Whole, picked: Picked
) -> Mask:
    """Tells which rows given once wait for a pair that none to come can precede."""
    rows = present.rows[hand]
    if not settings.inherits:
        return np.zeros(len(rows), bool)
    soonest = np.full(len(rows), NEVER)
    when = meeting_times(present, picked.held)
    np.minimum.at(soonest, (picked.held.left, picked.held.right)[hand], when)
    awaits: Mask = soonest <= np.maximum(rows.birth, other)
    return awaits


def _earliest(window: windows.Window, rows: Rows, paired: Mask) -> Whole:
    """Returns the numbers of rows given once, each in the window of its first match."""
    met: Whole = np.flatnonzero(paired)
    copies = Copies.of(window, rows)
    if copies.are_single:
        return met
    met = met[np.argsort(rows.met[met], kind="stable")]
    _, earliest = np.unique(copies.owner[met], return_index=True)
    return met[earliest]


def _still_decides(settings: JoinSettings, present: Present, hand: int) -> Mask:
    """Tells which rows still have a say about the lives of others."""
    side, rows = settings.sides[hand], present.rows[hand]
    if side.counts_later and present.watches[hand].bound == NEVER:
        return np.zeros(len(rows), bool)
    return _still_outdates(settings, present, hand) | _still_counts(side, rows)


def _still_counts(side: SideSettings, rows: Rows) -> Mask:
    """Tells which rows count among the newest, though they are needed no more."""
    counts = side.counts_later or isinstance(side.window, windows.Rows)
    if not side.evicts and not counts:
        return np.zeros(len(rows), bool)
    still: Mask = rows.death == NEVER
    return still


def _still_outdates(settings: JoinSettings, present: Present, hand: int) -> Mask:
    """Tells which newest versions and deletes an older row may still run into."""
    side, rows = settings.sides[hand], present.rows[hand]
    if not side.aged:
        return np.zeros(len(rows), bool)
    newest: Mask = rows.death == NEVER
    return newest & (rows.moment >= present.watches[hand].bound)


def late_rows(present_rows: Rows, hand: int, reason: Reason, offset: int) -> Leaving:
    """Returns rows that leave as late; they stand behind `offset` other rows."""
    numbers = np.arange(offset, offset + len(present_rows))
    return one_sided(hand, numbers, np.full(len(numbers), NEVER), Outlet.LATE, reason)


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
            np.where(is_due, int(Turn.DUE), int(Turn.UNMATCHED)),
            np.where(is_due, last, 0),
            rows.place[chosen],
        )

    @property
    def keys(self) -> tuple[Whole, ...]:
        """Returns the numbers in the order in which they decide."""
        return self.when, self.turn, self.due, self.place


def with_host(
    settings: JoinSettings, present: Present, part: Leaving, judged: Matches
) -> list[Leaving]:
    """Returns rows that leave alone, right ones no sooner than their left rows.

    `judged` are the candidates of left rows that are judged in this step.
    """
    if settings.event_clock or not len(part.when) or not len(judged):
        return [part]
    if part.turn not in (Turn.DUE, Turn.UNMATCHED) or np.count_nonzero(part.left >= 0):
        return [part]
    hosts, own = (
        _Turns.of(settings, hand, present.rows[hand], chosen)
        for hand, chosen in enumerate((judged.left, part.right))
    )
    ranks = _ranks(hosts, own)
    rank, mine = ranks[: len(judged)], ranks[len(judged) :]
    last = _last_of(judged, rank, len(present.rows[1]))[part.right]
    is_hosted = (last > ABSENT) & (rank[last] > mine)
    chosen = np.flatnonzero(is_hosted)
    chosen = chosen[np.argsort(mine[chosen])]
    return [part.take(~is_hosted), *_let_out(part.take(chosen), hosts, last[chosen])]


def at_first_host(
    settings: JoinSettings, present: Present, part: Leaving, met: Matches
) -> list[Leaving]:
    """Returns right rows that leave alone with the first left row that they met."""
    hosts = _Turns.of(settings, 0, present.rows[0], met.left)
    order = sorted_by(*hosts.keys)[::-1]
    first = np.full(len(present.rows[1]), ABSENT)
    first[met.right[order]] = order
    return _let_out(part, hosts, first[part.right])


def _ranks(hosts: _Turns, own: _Turns) -> Whole:
    """Returns which leaves when, those of both as one row of numbers."""
    pairs = zip(hosts.keys, own.keys, strict=True)
    order = sorted_by(*(np.concatenate(both) for both in pairs))
    ranks = np.empty(len(order), np.int64)
    ranks[order] = np.arange(len(order))
    return ranks


def _last_of(judged: Matches, rank: Whole, size: int) -> Whole:
    """Returns for each right row the candidate whose left row leaves last, or none."""
    order = np.argsort(rank)
    last = np.full(size, ABSENT)
    last[judged.right[order]] = order
    return last


def _let_out(part: Leaving, hosts: _Turns, host: Whole) -> list[Leaving]:
    """Returns right rows at the turns of their left rows."""
    moved = replace(part, when=hosts.when[host], due=hosts.due[host])
    moved = replace(moved, host=hosts.place[host])
    is_due = hosts.turn[host] == int(Turn.DUE)
    return [
        replace(moved.take(is_due), turn=Turn.DUE),
        replace(moved.take(~is_due), turn=Turn.UNMATCHED),
    ]
