"""Right rows whose lives begin later: they may still come before others.

rows_preceding from the 1st later row     keep 1 of a left row's
right   10:01  x                 [--      its life begins when the next x comes
right   10:02      y  [-------            y meets first, but x stands before it

So it is where a life begins ahead of its row, and the left rows are versions: a right
row waits until the left bound says which versions there are.
"""

from __future__ import annotations

import numpy as np

from dovetail.kernels.arrays.rows import NEVER, Mask, Rows, join_rows
from dovetail.kernels.arriving.admission import Present
from dovetail.kernels.candidates.choosing import right_order
from dovetail.kernels.candidates.closing import latest_ends, possible
from dovetail.kernels.candidates.nearest import best_of
from dovetail.kernels.candidates.pairing import that_hold
from dovetail.kernels.pairs.matching import Matches, join_matches, overlaps
from dovetail.kernels.settings import JoinSettings, waits_for
from dovetail.spec.windows import RowsPreceding


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
    begins_later = isinstance(settings.sides[1].window, RowsPreceding)
    waits = begins_later or waits_for(settings)[0]
    return waits and len(present.waiting[1]) > 0


def _possible(settings: JoinSettings, present: Present) -> tuple[Rows, Matches]:
    """Returns all right rows, those that wait last, and the pairs that these may be."""
    left, known = present.rows[0], len(present.rows[1])
    left = left.with_arrays(death=latest_ends(settings, present))
    right = join_rows([present.rows[1], present.waiting[1]])
    unborn = possible(settings, present, 1, right).take(slice(known, None))
    found = that_hold(settings, (left, unborn), overlaps(left, unborn))
    return right, Matches(found.left, known + found.right)
