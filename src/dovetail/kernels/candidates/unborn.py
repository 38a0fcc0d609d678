"""Right rows whose lives begin with a later row: they may still come before others.

rows_preceding from the 1st later row     keep 1 of a left row's
right   10:01  x                 [--      its life begins when the next x comes
right   10:02      y  [-------            y meets first, but x stands before it
"""

from __future__ import annotations

import numpy as np

from dovetail.kernels.arrays.rows import NEVER, Mask, Rows, join_rows
from dovetail.kernels.arriving.admission import Present
from dovetail.kernels.candidates.choosing import right_order
from dovetail.kernels.candidates.nearest import best_of
from dovetail.kernels.candidates.pairing import that_hold
from dovetail.kernels.lifetimes.births import deaths
from dovetail.kernels.lifetimes.windows import Preceding
from dovetail.kernels.pairs.matching import Matches, join_matches, overlaps
from dovetail.kernels.settings import JoinSettings


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
    """Tells whether right rows wait whose lives may not begin at their own times."""
    window = settings.sides[1].window
    return isinstance(window, Preceding) and len(present.waiting[1]) > 0


def _possible(settings: JoinSettings, present: Present) -> tuple[Rows, Matches]:
    """Returns all right rows, those that wait last, and the pairs that these may be."""
    window, waiting = settings.sides[1].window, present.waiting[1]
    left, right = present.rows[0], join_rows([present.rows[1], waiting])
    known = len(present.rows[1])
    soonest = np.maximum(waiting.moment, present.watches[1].bound)
    end = deaths(window, right.bare())[known:]
    # One that waits for the left bound may have been born.
    birth = np.where(waiting.birth == NEVER, soonest, waiting.birth)
    unborn = waiting.with_arrays(birth=birth, death=end)
    found = that_hold(settings, (left, unborn), overlaps(left, unborn))
    return right, Matches(found.left, known + found.right)
