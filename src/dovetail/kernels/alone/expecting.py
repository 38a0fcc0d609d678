"""Rows that wait and will be given once: some know by now whom they meet first.

    version   10:00 [-------------- ?       its bound is 10:05
    row              10:07 [####            waits, but nobody meets it before 10:07

What may come at 10:05 cannot be the row's first partner, so it is not asked for.
"""

from __future__ import annotations

import numpy as np

from dovetail.kernels.arrays.rows import REMOVES, join_rows
from dovetail.kernels.arriving.admission import Present
from dovetail.kernels.candidates.closing import possible
from dovetail.kernels.candidates.pairing import that_hold
from dovetail.kernels.pairs.matching import overlaps
from dovetail.kernels.settings import JoinSettings


def want_partners(settings: JoinSettings, present: Present, hand: int) -> bool:
    """Tells whether a row that waits may come out with a partner that is to come.

    One that is given once does not where a row that has come is alive at its birth.
    """
    waiting = present.waiting[hand]
    waiting = waiting.take(~waiting.has(REMOVES))
    if not len(waiting) or not settings.sides[hand].once:
        return len(waiting) > 0
    both = (join_rows([present.rows[one], present.waiting[one]]) for one in (0, 1))
    sides = [possible(settings, present, one, rows) for one, rows in enumerate(both)]
    first, asking = len(present.rows[hand]), sides[hand]
    asking = asking.take(slice(first, None))
    asking = asking.take((asking.birth < asking.death) & ~asking.has(REMOVES))
    sides[hand] = asking.with_arrays(death=asking.birth + 1)
    left, right = sides
    found = that_hold(settings, (left, right), overlaps(left, right))
    has_met = np.zeros(len(asking), bool)
    has_met[(found.left, found.right)[hand]] = True
    return not has_met.all()
