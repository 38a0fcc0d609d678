"""The matches among all candidates of left rows, where they decide about each other.

candidates -> too many? -> condition -> nearest
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from dovetail.kernels.arrays.rows import Mask, Rows, Whole, can_meet
from dovetail.kernels.arrays.sort import sorted_by
from dovetail.kernels.arrival.admission import Present
from dovetail.kernels.candidates.copies import Pairs
from dovetail.kernels.candidates.limit import fail, fail_at_first, within_limit
from dovetail.kernels.candidates.nearest import best_of
from dovetail.kernels.candidates.new_pairs import live_together
from dovetail.kernels.candidates.walks import Test, nearest_pairs
from dovetail.kernels.pairs.formulas import matches, that_hold
from dovetail.kernels.pairs.matches import NO_MATCHES, Matches
from dovetail.kernels.settings import JoinSettings, Nearest
from dovetail.spec.picks import Limit, OnExceed
from dovetail.spec.windows import Forever


@dataclass(frozen=True, slots=True)
class Choice:
    """The matches of left rows, and the candidates of those over their limit.

    `crowd` are candidates of left rows that have too many and so no match at all.
    """

    matches: Matches
    beyond: Matches
    crowd: Matches = NO_MATCHES


def choose(settings: JoinSettings, present: Present, found: Matches) -> Choice:
    """Returns what the picks choose of all candidates of left rows.

    Two rows that meet more than once are one candidate, and all their meetings stay.
    """
    if not settings.copies_rows:
        return _choose(settings, present, found)
    pairs = Pairs.of(settings, present.rows, found)
    choice = _choose(settings, present, pairs.once)
    width = len(present.rows[1]) + 1
    chosen, beyond, crowd = (
        found.take(pairs.among(some, width))
        for some in (choice.matches, choice.beyond, choice.crowd)
    )
    return Choice(chosen, beyond, crowd)


def _choose(settings: JoinSettings, present: Present, found: Matches) -> Choice:
    """Returns what the picks choose of candidates that meet once each."""
    counted = _counted(settings, present, found)
    met = matches(settings, present.rows, counted.matches)
    for nearest in settings.picks.nearest:
        rank = right_order(settings, present.rows[1])
        met = best_of(nearest, present.rows, met, rank)
    return replace(counted, matches=met)


def without_failing(settings: JoinSettings) -> JoinSettings:
    """Returns the settings with which too many candidates are no error."""
    match settings.picks.limit:
        case Limit(count, OnExceed.FAIL):
            skipping = Limit(count, OnExceed.SKIP)
            return replace(settings, picks=replace(settings.picks, limit=skipping))
        case _:
            return settings


def choose_nearest(
    settings: JoinSettings, present: Present, nearest: Nearest, wanted: Mask
) -> Choice:
    """Returns the nearest right rows of the left rows that want one."""
    sides = present.rows
    found = _nearest(
        settings, sides, nearest, wanted, lambda pairs: _passes(settings, sides, pairs)
    )
    return Choice(found, NO_MATCHES)


def nearest_before(
    settings: JoinSettings, present: Present, nearest: Nearest, wanted: Mask
) -> Matches:
    """Returns the nearest right rows of those that came before the left ones."""
    left, right = sides = present.rows

    def came_before(pairs: Matches) -> Mask:
        """Tells which pairs pass whose right rows were there."""
        was_there: Mask = right.place[pairs.right] < left.place[pairs.left]
        return was_there & _passes(settings, sides, pairs)

    return _nearest(settings, sides, nearest, wanted, came_before)


def _nearest(
    settings: JoinSettings,
    sides: tuple[Rows, Rows],
    nearest: Nearest,
    wanted: Mask,
    test: Test,
) -> Matches:
    """Returns the nearest right rows that pass, of the left rows that want one."""
    left, right = sides
    able = (can_meet(left) & wanted, can_meet(right))
    return nearest_pairs(nearest, sides, able, right_order(settings, right), test)


def right_order(settings: JoinSettings, rows: Rows) -> Whole:
    """Returns for each right row its rank among those of one left row."""
    if not settings.picks.by_time:
        return rows.place
    rank = np.empty(len(rows), np.int64)
    rank[sorted_by(row_times(settings, rows), rows.place)] = np.arange(len(rows))
    return rank


def row_times(settings: JoinSettings, rows: Rows) -> Whole:
    """Returns the row times of right rows, 0 where there is none."""
    times = rows.payload.column(settings.picks.time).view("int64")
    known = times.fill_null(0) if times.null_count else times
    counts: Whole = known.to_numpy(zero_copy_only=False)
    return counts


def _passes(settings: JoinSettings, sides: tuple[Rows, Rows], found: Matches) -> Mask:
    """Tells which pairs of equal codes live together and hold."""
    stays = np.ones(len(found), bool)
    if any(side.untimed or side.window != Forever() for side in settings.sides):
        stays = live_together(settings, sides, found)
    if not settings.soft and not settings.key_columns:
        return stays
    number = np.flatnonzero(stays)
    pairs = found.take(number)
    # What holds keeps its order, so that a pair is known by both its numbers.
    holding = that_hold(settings, sides, pairs)
    width = len(sides[1]) + 1
    held = np.isin(
        pairs.left * width + pairs.right,
        holding.left * width + holding.right,
        assume_unique=True,
    )
    stays[number] = held
    return stays


def _counted(settings: JoinSettings, present: Present, found: Matches) -> Choice:
    """Returns the candidates that stay, and those of left rows with too many."""
    picks = settings.picks
    if not picks.counts or not len(found):
        return Choice(found, NO_MATCHES)
    stay, over = within_limit(picks, present.rows, found)
    if picks.unmatches:
        has_some = np.isin(found.left, found.left[stay])
        return Choice(found.take(stay), NO_MATCHES, found.take(~has_some))
    if picks.fails and over.any():
        if not settings.event_clock:
            fail_at_first(picks, present.rows, found)
        fail(present.rows[0], found, over)
    return Choice(found.take(stay), found.take(over))
