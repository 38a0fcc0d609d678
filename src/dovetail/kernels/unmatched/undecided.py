"""Row times of results that what comes may still change, where picks wait.

left row    R1 .... R2        judged when nobody else can meet it
^ until then no row comes out behind this meeting
"""

from __future__ import annotations

import numpy as np

from dovetail.kernels.arrays.rows import NEVER
from dovetail.kernels.arrival.admission import Present
from dovetail.kernels.candidates.emitted import given_pairs, meeting_times
from dovetail.kernels.candidates.picks import (
    Picked,
    by_left_row,
    left_copies,
    waits_for_turn,
)
from dovetail.kernels.lifetimes.births import ends
from dovetail.kernels.pairs.matches import Matches
from dovetail.kernels.settings import UNLIMITED, JoinSettings


def open_times(settings: JoinSettings, present: Present, picked: Picked) -> int:
    """Returns the least row time of what the picks have not decided."""
    times = [NEVER]
    gives_left = settings.gives_pairs or settings.sides[0].once
    for pairs, may_come in (
        (_coming(settings, present, picked), gives_left),
        (picked.held, settings.sides[1].once),
    ):
        if may_come and len(pairs):
            times.append(int(meeting_times(present, pairs).min()))
    waiting = picked.open_over
    if settings.picks.transforms and len(waiting):
        null_rows = ends(settings.sides[0], present.rows[0])
        times.append(int(null_rows[waiting].min()))
    is_sure = waits_for_turn(settings)  # such pairs only wait to be numbered
    if settings.takes_back and not is_sure and len(picked.held):
        times.append(_least_back(settings, present, picked))
    return min(times)


def _coming(settings: JoinSettings, present: Present, picked: Picked) -> Matches:
    """Returns the pairs that come out if nothing more comes, but for rows given once.

    What is skipped by then, or beyond those that are kept, holds nobody back.
    """
    picks, pairs = settings.picks, picked.open_pairs
    is_whole = not picks.skip and picks.keep == UNLIMITED
    if is_whole or not picks.waits or not settings.gives_pairs:
        return pairs
    pairs = by_left_row(settings, present, pairs)
    nothing = np.zeros(len(present.rows[0]), np.int64)
    given = given_pairs(settings, present, pairs, (nothing, nothing)).given
    return Matches(given.left, given.right)


def _least_back(settings: JoinSettings, present: Present, picked: Picked) -> int:
    """Returns the least row time at which a null row may be taken back.

    A left row goes with the first pair that may come or, over its limit, with any; a
    right one with the first that may match it, where none does so before.
    """
    left, right = present.rows
    over = np.zeros(len(left), bool)
    over[picked.over] = True
    over = left_copies(settings, present).any(over & left.null_emitted)
    beyond, when = over[picked.held.left], meeting_times(present, picked.held)
    goes, first = (
        array[picked.held.right]
        for array in (right.null_emitted & ~right.decided, right.met)
    )
    is_first = goes & (when < first)
    may_come = picked.open_pairs.take(left.null_emitted[picked.open_pairs.left])
    least = when[beyond | is_first].min(initial=NEVER)
    return min(int(least), int(meeting_times(present, may_come).min(initial=NEVER)))
