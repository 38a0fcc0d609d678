"""Which rows are past: no row that is to come meets them.

Right rows whose lives begin later: they may still come before others.

rows_preceding from the 1st later row     keep 1 of a left row's
right   10:01  x                 [--      its life begins when the next x comes
right   10:02      y  [-------            y meets first, but x stands before it

So it is where a life begins ahead of its row, and the left rows are versions: a right
row waits until the left bound says which versions there are.
"""

from __future__ import annotations

import numpy as np

from dovetail.kernels.arrays.rows import BEGINNING, NEVER, Mask, Rows, Whole, join_rows
from dovetail.kernels.arrival.admission import Present
from dovetail.kernels.arrival.untimed import by_arrival, is_replaced
from dovetail.kernels.candidates.choice import right_order
from dovetail.kernels.candidates.closed import latest_ends, possible
from dovetail.kernels.candidates.nearest import best_of
from dovetail.kernels.candidates.sureness import know_ends
from dovetail.kernels.lifetimes.births import deaths
from dovetail.kernels.pairs.formulas import that_hold, truly_equal
from dovetail.kernels.pairs.matches import Matches, join_matches, overlaps
from dovetail.kernels.settings import JoinSettings, SideSettings, waits_for


def past(
    settings: JoinSettings, present: Present, hand: int, least: tuple[int, int]
) -> Mask:
    """Tells which rows of a hand no row to come meets; `least` births are to come.

    Who lives nowhere, as the older of two versions of one time, waits for nobody.
    """
    rows, other = present.rows[hand], least[1 - hand]
    if not settings.sides[hand].untimed:
        over: Mask = (rows.death <= other) | (rows.death <= rows.birth)
        return over
    gone = is_replaced(rows) | (other == NEVER)
    gone[_wanted(settings, present, hand)] = False
    return gone


def end_is_known(side: SideSettings, present: Present, hand: int) -> Mask:
    """Tells whose end can no longer change; a newest version's can."""
    rows = present.rows[hand]
    if side.is_intrinsic or side.untimed:
        return np.ones(len(rows), bool)
    if side.inherits:
        return know_ends(side, rows, present.watches[hand])
    if present.watches[hand].bound == NEVER:
        return np.ones(len(rows), bool)
    return rows.death < NEVER


def _may_live(settings: JoinSettings, present: Present, hand: int) -> Mask:
    """Tells of which rows that wait a life is left by those that have come by now."""
    side, waiting = settings.sides[hand], present.waiting[hand]
    rows = join_rows([present.rows[hand].bare(), waiting.bare()])
    end = deaths(side, rows)[len(present.rows[hand]) :]
    soonest = waiting.moment
    if side.begins_later:
        soonest = np.maximum(soonest, present.watches[hand].bound)
    may_live: Mask = soonest < end
    return may_live


def _wanted(settings: JoinSettings, present: Present, hand: int) -> Whole:
    """Returns the replaced rows that rows meet which came in time and wait."""
    rows, waiting = present.rows[hand], present.waiting[1 - hand]
    number = np.flatnonzero(is_replaced(rows))
    if not len(number) or not len(waiting):
        return number[:0]
    came = waiting.take(_may_live(settings, present, 1 - hand))
    birth, death = (np.full(len(came), moment) for moment in (BEGINNING, NEVER))
    both = (rows.take(number), came.with_arrays(birth=birth, death=death))
    sides = both if hand == 0 else (both[1], both[0])
    hold = truly_equal if settings.picks.counts else that_hold
    found = hold(settings, sides, overlaps(*by_arrival(settings, sides)))
    wanted: Whole = number[(found.left, found.right)[hand]]
    return wanted


def before_unborn(settings: JoinSettings, present: Present, pairs: Matches) -> Mask:
    """Tells which pairs stand before all that right rows without a life may give."""
    if not _has_unborn(settings, present):
        return np.ones(len(pairs), bool)
    right, found = _possible(settings, present)
    rank = right_order(settings, right)
    least = np.full(len(present.rows[0]), NEVER)
    np.minimum.at(least, found.left, rank[found.right])
    before: Mask = rank[pairs.right] < least[pairs.left]
    return before


def behind_unborn(settings: JoinSettings, present: Present, best: Matches) -> Mask:
    """Tells of which left rows a right row without a life may be nearer than the best.

    Nothing but an `asof` asks.
    """
    is_behind = np.zeros(len(present.rows[0]), bool)
    if not _has_unborn(settings, present):
        return is_behind
    right, found = _possible(settings, present)
    (nearest,) = settings.picks.nearest
    sides, every = (present.rows[0], right), join_matches([best, found])
    nearer = best_of(nearest, sides, every, right_order(settings, right))
    is_behind[nearer.left[nearer.right >= len(present.rows[1])]] = True
    return is_behind


def _has_unborn(settings: JoinSettings, present: Present) -> bool:
    """Tells whether right rows wait that the bound of their own side has passed.

    Their lives begin with later rows, or they wait for the bound of versions.
    """
    waits = settings.sides[1].counts_later or waits_for(settings)[0]
    return waits and len(present.waiting[1]) > 0


def _possible(settings: JoinSettings, present: Present) -> tuple[Rows, Matches]:
    """Returns all right rows, those that wait last, and the pairs that these may be."""
    left, known = present.rows[0], len(present.rows[1])
    left = left.with_arrays(death=latest_ends(settings, present))
    right = join_rows([present.rows[1], present.waiting[1]])
    unborn = possible(settings, present, 1, right).take(slice(known, None))
    found = that_hold(settings, (left, unborn), overlaps(left, unborn))
    return right, Matches(found.left, known + found.right)
