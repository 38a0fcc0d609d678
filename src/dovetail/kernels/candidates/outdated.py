"""Right rows that no left row of an `asof` can take any more.

    right of one key   9:57  9:58  9:59       10:01
    left rows to come                   10:00 ....     only 9:59 and 10:01 are needed

Looking back, of the right rows before all left times to come only the best of each key
can still be taken. That is known where times are row times and keys are all that is
asked; elsewhere right rows stay as long as their windows say.
"""

from __future__ import annotations

import numpy as np

from dovetail.kernels.arrays.rows import BEGINNING, NEVER, Mask, Whole
from dovetail.kernels.arrays.sorting import sorted_by
from dovetail.kernels.arriving.admission import Present
from dovetail.kernels.candidates.nearness import times_of
from dovetail.kernels.settings import JoinSettings, Nearest
from dovetail.spec.picks import Direction
from dovetail.spec.windows import Forever


def outdated(
    settings: JoinSettings, present: Present, closed: Mask, rank: Whole
) -> Mask:
    """Tells which right rows are not needed; `closed` left rows take none."""
    right = present.rows[1]
    useless = np.zeros(len(right), bool)
    for nearest in settings.picks.nearest:
        least = _least_time(nearest, present, closed)
        if not _is_known(settings, nearest) or least <= BEGINNING:
            continue
        times = times_of(nearest, 1, right)
        past = times.known & (times.value < least + nearest.exact)
        number = np.flatnonzero(past)
        place = rank[number] if nearest.takes_last else -rank[number]
        order = number[sorted_by(right.code[number], times.value[number], place)]
        is_best = np.append(np.diff(right.code[order]) != 0, values=True)
        useless = past
        useless[order[is_best[: len(order)]]] = False
    return useless


def _is_known(settings: JoinSettings, nearest: Nearest) -> bool:
    """Tells whether row times and keys alone say who is taken."""
    endless = all(side.window == Forever() for side in settings.sides)
    is_timed = nearest.is_row_time and nearest.is_left_row_time
    is_plain = not settings.soft and not settings.key_columns
    looks_back = nearest.direction is Direction.BACKWARD and not settings.picks.counts
    return settings.event_clock and endless and is_timed and is_plain and looks_back


def _least_time(nearest: Nearest, present: Present, closed: Mask) -> int:
    """Returns the least time of a left row that is open or still to come."""
    bound = present.watches[0].bound
    ours = times_of(nearest, 0, present.rows[0])
    waiting = ours.value[ours.known & ~closed]
    return min(bound, int(waiting.min()) if len(waiting) else NEVER - 1)
