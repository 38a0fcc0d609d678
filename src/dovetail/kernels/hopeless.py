"""Left rows of an `asof` that wait for a right bound, though nobody can be nearest.

A row waits for the bound of rows whose lives later ones may end. Where no right row
that is there or may come is near enough, that end does not matter:

    versions until 10:00, none older that fits      left 10:00, exact times not allowed
    a version of 10:00 may come, but does not fit   so the left row goes out at once
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from dovetail.kernels.admission import Present
from dovetail.kernels.matching import NO_MATCHES, overlaps
from dovetail.kernels.nearest import Nearby, can_improve, near
from dovetail.kernels.pairing import that_hold
from dovetail.kernels.picks import Nearest
from dovetail.kernels.rows import BARRED, NEVER, Mask, Rows, join_rows
from dovetail.kernels.settings import JoinSettings, waits_for
from dovetail.kernels.windows import Preceding, Version, deaths, is_intrinsic


def without_hopeless(settings: JoinSettings, present: Present) -> Present:
    """Returns the rows; left ones that wait for nobody take part and meet nobody."""
    waiting = present.waiting[0]
    if not len(waiting) or not _may_be_hopeless(settings):
        return present
    (nearest,) = settings.picks.nearest
    gone = _is_hopeless(settings, present, nearest)
    if not gone.any():
        return present
    rows = waiting.take(gone)
    if not settings.keeps_places:
        # Who has no place in the order of arrival yet gets the next ones.
        rows = rows.with_arrays(place=present.next_place + np.arange(len(rows)))
    barred = replace(rows, flags=rows.flags | BARRED)
    barred = barred.with_arrays(death=deaths(settings.sides[0].window, rows))
    return replace(
        present,
        rows=(join_rows([present.rows[0], barred]), present.rows[1]),
        waiting=(waiting.take(~gone), present.waiting[1]),
        next_place=present.next_place + len(rows),
    )


def _may_be_hopeless(settings: JoinSettings) -> bool:
    """Tells whether left rows wait for right bounds alone, and only for the nearest."""
    if not settings.event_clock or not settings.picks.nearest or settings.picks.counts:
        return False
    waited_for = waits_for(settings)
    return waited_for[1] and is_intrinsic(settings.sides[0].window)


def _is_hopeless(settings: JoinSettings, present: Present, nearest: Nearest) -> Mask:
    """Tells which left rows that wait no right row can be nearest to."""
    waiting = present.waiting[0]
    bound, right = present.watches[1].bound, _possible(settings, present)
    sides = (waiting, right)
    gone = ~can_improve(nearest, Nearby(sides, NO_MATCHES, bound))
    if bound == NEVER or not gone.any():
        return gone
    left = waiting.with_arrays(death=deaths(settings.sides[0].window, waiting))
    left = left.with_arrays(death=np.where(gone, left.death, left.birth))
    found = that_hold(settings, (left, right), overlaps(left, right))
    gone[near(nearest, sides, found).left] = False
    return gone


def _possible(settings: JoinSettings, present: Present) -> Rows:
    """Returns all right rows with their lives as they are if nobody else comes.

    A life that later rows begin may begin as soon as one can come.
    """
    window = settings.sides[1].window
    rows = join_rows([present.rows[1], present.waiting[1]])
    if not isinstance(window, Preceding | Version):
        return rows
    soonest = np.maximum(rows.moment, present.watches[1].bound)
    birth = np.where(rows.birth == NEVER, soonest, rows.birth)
    ends = np.minimum(rows.death, deaths(window, rows))
    return rows.with_arrays(birth=birth, death=ends)
