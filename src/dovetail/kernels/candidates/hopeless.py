"""Left rows of an `asof` that wait for a right bound, though nobody can be nearest.

A row waits for the bound of rows whose lives later ones may end. Where no right row
that is there or may come is near enough, that end does not matter:

    versions until 10:00, none older that fits      left 10:00, exact times not allowed
    a version of 10:00 may come, but does not fit   so the left row goes out at once
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from dovetail.kernels.arrays.rows import (
    NEVER,
    Mask,
    Rows,
    Whole,
    join_rows,
)
from dovetail.kernels.arrival.admission import Present
from dovetail.kernels.candidates.closed import possible
from dovetail.kernels.candidates.nearest import Nearby, can_improve, near
from dovetail.kernels.lifetimes.births import deaths
from dovetail.kernels.pairs.formulas import that_hold
from dovetail.kernels.pairs.matches import NO_MATCHES, overlaps
from dovetail.kernels.settings import JoinSettings, Nearest, waits_for
from dovetail.spec.inputs import Arrival


def without_hopeless(settings: JoinSettings, present: Present) -> Present:
    """Returns the rows; left ones that wait for nobody take part and meet nobody."""
    waiting = present.waiting[0]
    if not len(waiting) or not _may_be_hopeless(settings):
        return present
    (nearest,) = settings.picks.nearest
    gone = _is_hopeless(settings, present, nearest)
    if not gone.any():
        return present
    rows, next_place = waiting.take(gone), present.next_place
    if not settings.keeps_places and settings.arrival is not Arrival.SEQUENCE:
        # Who has no place in the order of arrival yet gets the next ones.
        rows = rows.with_arrays(place=next_place + np.arange(len(rows)))
        next_place += len(rows)
    barred = rows.with_flags(barred=np.ones(len(rows), bool))
    barred = barred.with_arrays(death=_ends(settings, rows))
    return replace(
        present,
        rows=(join_rows([present.rows[0], barred]), present.rows[1]),
        waiting=(waiting.take(~gone), present.waiting[1]),
        next_place=next_place,
    )


def _may_be_hopeless(settings: JoinSettings) -> bool:
    """Tells whether left rows wait for right bounds, and only for the nearest."""
    if not settings.event_clock or not settings.picks.nearest or settings.picks.counts:
        return False
    return waits_for(settings)[1]


def _has_known_life(settings: JoinSettings, present: Present) -> Mask:
    """Tells of which left rows that wait no row to come changes the life."""
    rows, bound = present.waiting[0], present.watches[0].bound
    if settings.sides[0].is_intrinsic:
        return np.ones(len(rows), bool)
    known: Mask = (rows.birth < NEVER) & ((rows.death < NEVER) | (bound == NEVER))
    return known & ~rows.removes


def _ends(settings: JoinSettings, rows: Rows) -> Whole:
    """Returns when left rows die whose lives are known."""
    side = settings.sides[0]
    return deaths(side, rows) if side.is_intrinsic else rows.death


def _is_hopeless(settings: JoinSettings, present: Present, nearest: Nearest) -> Mask:
    """Tells which left rows that wait no right row can be nearest to."""
    waiting = present.waiting[0]
    bound = present.watches[1].bound
    every = join_rows([present.rows[1], present.waiting[1]])
    right = possible(settings, present, 1, every)
    sides = (waiting, right)
    gone = ~can_improve(nearest, Nearby(sides, NO_MATCHES, bound))
    gone &= _has_known_life(settings, present)
    if bound == NEVER or not gone.any():
        return gone
    ends = _ends(settings, waiting)
    left = waiting.with_arrays(death=np.where(gone, ends, waiting.birth))
    found = that_hold(settings, (left, right), overlaps(left, right))
    gone[near(nearest, sides, found).left] = False
    return gone
