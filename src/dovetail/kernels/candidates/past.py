"""Which rows are past: no row that is to come meets them."""

from __future__ import annotations

import numpy as np

from dovetail.kernels.arrays.rows import BEGINNING, NEVER, Mask, Whole, join_rows
from dovetail.kernels.arriving.admission import Present
from dovetail.kernels.arriving.untimed import by_arrival, is_replaced
from dovetail.kernels.candidates.pairing import that_hold, truly_equal
from dovetail.kernels.candidates.sureness import know_ends
from dovetail.kernels.lifetimes.births import deaths
from dovetail.kernels.pairs.matching import overlaps
from dovetail.kernels.settings import JoinSettings, SideSettings
from dovetail.spec.windows import Inherited, RowsPreceding


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
    if isinstance(side.window, Inherited):
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
    if isinstance(side.window, RowsPreceding) and side.window.last:
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
