"""The places of a step with the moments between them at which time drives rows out.

A row that time has passed leaves ahead of the row that moved the time. Several that
leave before one place do so one moment after the other, so that it does not matter how
often somebody has looked at the clock:

    place            4               5
    what happens     row 4 comes     rows 2, 1 are past     row 5 comes
    number           0               1       2              3
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dovetail.kernels.arrays.rows import DROPPED, DUE, NEVER, Rows, Whole
from dovetail.kernels.arriving.passing import last_moments
from dovetail.kernels.settings import Closing, JoinSettings, SideSettings
from dovetail.spec import windows


@dataclass(frozen=True, slots=True)
class Line:
    """Both sides' rows with lives in numbers of what happens, and the first new one.

    `places` are the lives as they were.
    """

    rows: tuple[Rows, Rows]
    since: int
    places: tuple[Rows, Rows]

    def restored(self, counted: tuple[Rows, Rows]) -> tuple[Rows, Rows]:
        """Returns rows that have been counted with their lives as they were."""
        left, right = (
            rows.with_arrays(birth=before.birth, death=before.death)
            for rows, before in zip(counted, self.places, strict=True)
        )
        return left, right


def line_of(settings: JoinSettings, sides: tuple[Rows, Rows], since: int) -> Line:
    """Returns the rows of two tables on the line of all that happens in a step."""
    left, right = (
        _stored(side, rows) for side, rows in zip(settings.sides, sides, strict=True)
    )
    if not settings.reads_time:
        return Line((left, right), since, (left, right))
    return _numbered(settings, (left, right), since)


def _stored(side: SideSettings, rows: Rows) -> Rows:
    """Returns the rows as a table has them: one that is never stored has no life."""
    rows = _without_evicted(side, rows)
    if side.window == windows.Rows(0):
        return rows.with_arrays(death=rows.birth)
    if side.closing is Closing.NONE:
        return rows
    # Who does not die when time passes it was past when it came.
    is_past = (rows.death < NEVER) & ~rows.has(DUE) & ~rows.has(DROPPED)
    return rows.with_arrays(death=np.where(is_past, rows.birth, rows.death))


def _without_evicted(side: SideSettings, rows: Rows) -> Rows:
    """Returns the rows; what an insertion makes too many goes with it, not behind."""
    if not isinstance(side.eviction, windows.EvictCount | windows.EvictTuples):
        return rows
    return rows.with_arrays(death=rows.death - rows.has(DROPPED))


def _numbered(settings: JoinSettings, sides: tuple[Rows, Rows], since: int) -> Line:
    """Returns the rows with lives counted in what happens, one after the other."""
    places = np.concatenate([np.append(rows.birth, rows.death) for rows in sides])
    lasts = np.concatenate(
        [
            np.append(np.full(len(rows), NEVER), _last(settings, hand, rows))
            for hand, rows in enumerate(sides)
        ]
    )
    order = np.lexsort((lasts, places))
    is_new = np.ones(len(order), bool)
    is_new[1:] = (np.diff(places[order]) > 0) | (np.diff(lasts[order]) > 0)
    number = np.empty(len(order), np.int64)
    number[order] = np.cumsum(is_new) - 1
    number[places == NEVER] = NEVER
    first = int(np.count_nonzero(is_new & (places[order] < since)))
    told, start = [], 0
    for rows in sides:
        birth, death = np.split(number[start : start + 2 * len(rows)], 2)
        told.append(rows.with_arrays(birth=birth, death=death))
        start += 2 * len(rows)
    return Line((told[0], told[1]), first, sides)


def _last(settings: JoinSettings, hand: int, rows: Rows) -> Whole:
    """Returns when time passes rows, NEVER where that is not what ends them."""
    last = last_moments(settings, hand, rows)
    return np.where(rows.has(DUE) & ~rows.has(DROPPED), last, NEVER)
