"""Left rows that get no more candidates, though their lives may still grow shorter.

    version     10:02 [--------------) 10:14     until 10:10 others may come between
    right bound 10:17                            no right row meets it, whatever comes

A life ends where the next row by now says, or sooner. So a row is past as soon as no
right row to come is born before that, and none that waits could be its candidate.
"""

from __future__ import annotations

import numpy as np

from dovetail.kernels.arrays.rows import NEVER, Mask, Rows, Whole, join_rows
from dovetail.kernels.arrival.admission import Present
from dovetail.kernels.candidates.choice import right_order
from dovetail.kernels.candidates.nearest import best_of
from dovetail.kernels.lifetimes.births import deaths, least_birth
from dovetail.kernels.pairs.formulas import that_hold, truly_equal
from dovetail.kernels.pairs.matches import Matches, join_matches, overlaps
from dovetail.kernels.settings import JoinSettings


def over_by_now(
    settings: JoinSettings, present: Present, best: Matches, over: Mask
) -> Mask:
    """Tells which left rows no right row to come meets; of `over` it is known.

    `best` are the pairs that are chosen by now.
    """
    side, bound = settings.sides[1], present.watches[1].bound
    is_timed = not (side.untimed or settings.sides[0].untimed)
    if not settings.event_clock or not is_timed or over.all():
        return over
    least = NEVER if bound == NEVER else least_birth(side.window, bound)
    latest = latest_ends(settings, present)
    gone = ~over & (latest <= least)
    if gone.any() and len(present.waiting[1]):
        left = present.rows[0]
        left = left.with_arrays(death=np.where(gone, latest, left.birth))
        gone[_waited_for(settings, present, left, best)] = False
    return over | gone


def latest_ends(settings: JoinSettings, present: Present) -> Whole:
    """Returns when left rows die if nobody else comes: they live no longer."""
    side, rows = settings.sides[0], present.rows[0]
    if not side.ends_with_later:
        return rows.death
    every = join_rows([rows.bare(), present.waiting[0].bare()])
    return np.minimum(rows.death, deaths(side, every)[: len(rows)])


def possible(settings: JoinSettings, present: Present, hand: int, rows: Rows) -> Rows:
    """Returns rows of a side with their lives as they are if nobody else comes.

    A life that later rows begin may begin as soon as one can come.
    """
    side = settings.sides[hand]
    if not side.ends_with_later:
        return rows.with_arrays(death=deaths(side, rows))
    soonest = np.maximum(rows.moment, present.watches[hand].bound)
    birth = np.where(rows.birth == NEVER, soonest, rows.birth)
    ends = np.minimum(rows.death, deaths(side, rows))
    return rows.with_arrays(birth=birth, death=ends)


def _waited_for(
    settings: JoinSettings, present: Present, left: Rows, best: Matches
) -> Whole:
    """Returns the left rows with a right row that waits and may be their candidate."""
    known = len(present.rows[1])
    right = join_rows([present.rows[1], present.waiting[1]])
    lives = possible(settings, present, 1, right)
    both = overlaps(left, lives.take(slice(known, None)))
    found = Matches(both.left, both.right + known)
    hold = truly_equal if settings.picks.counts else that_hold
    found = hold(settings, (left, lives), found)
    if settings.picks.counts or not len(found):
        return found.left
    (nearest,) = settings.picks.nearest
    every = join_matches([best, found])
    nearer = best_of(nearest, (left, lives), every, right_order(settings, lives))
    return nearer.left[nearer.right >= known]
