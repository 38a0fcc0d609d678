"""Windows that time closes in order of arrival, whichever row it comes with.

Each row carries the last moment at which it can still meet another. It dies at the
place in the order of arrival where time is first past that moment:

    place                  4    5    6    7    next
    time                   10   12   17   17   30
    last moment 15                   dies at 6, before the row that came there
    last moment 20                             dies by time alone

`Seconds` reads the processing time, `Range` the highest row time seen on either side.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from dovetail.kernels.arrays.names import hidden
from dovetail.kernels.arrays.rows import (
    BEGINNING,
    DUE,
    HAS_KEY,
    NEVER,
    Mask,
    Rows,
    Whole,
    flagged,
)
from dovetail.kernels.arriving.arrival import Watch
from dovetail.kernels.lifetimes.calendar import shift
from dovetail.kernels.settings import Closing, JoinSettings
from dovetail.spec.spans import NO_TIME
from dovetail.spec.windows import Range, Seconds

CLOCK = hidden("clock")
"""The payload column with the processing time at which a row came."""
KEYLESS = hidden("keyless")
"""The payload column that is 1 where any part of a row's key is null, 0 elsewhere.

It stands where candidates may be found by some parts only.
"""


@dataclass(frozen=True, slots=True)
class Course:
    """How far time was at each place of a step; the last place is the next row's."""

    places: Whole
    clock: Whole
    highest: Whole


@dataclass(frozen=True, slots=True)
class Edge:
    """Where a step stands between others: highest time before, next place, its time."""

    highest: int
    next_place: int
    now: int


def course_of(settings: JoinSettings, fresh: tuple[Rows, Rows], edge: Edge) -> Course:
    """Returns the course of time over the rows that a step lets in."""
    places = np.concatenate([rows.place for rows in fresh])
    order = np.argsort(places)
    moments = np.concatenate([rows.moment for rows in fresh])[order]
    clock = np.zeros(len(places), np.int64)
    if settings.reads_clock:
        clock = np.concatenate([rows.hidden(CLOCK) for rows in fresh])[order]
    highest = np.maximum.accumulate(np.append(edge.highest, moments))
    return Course(
        np.append(places[order], edge.next_place),
        np.maximum.accumulate(np.append(clock, edge.now)),
        np.append(highest[1:], highest[-1]),
    )


def closed(
    settings: JoinSettings, hand: int, rows: Rows, course: Course, watch: Watch
) -> Rows:
    """Returns the rows with the deaths that time gives them.

    One that is past already when it comes, or that can meet nobody by its key, still
    has its own moment. The clock of a side that has ended stands still.
    """
    last = last_moments(settings, hand, rows)
    time, is_range = np.minimum(course.clock, watch.stopped), False
    if settings.sides[hand].closing is Closing.ROW_TIME:
        time, is_range = course.highest, True
    passed = np.searchsorted(time, last, "right")
    death = np.append(course.places, NEVER)[passed]
    brief = death <= rows.place
    if is_range:
        brief |= _without_key(rows)
    due = flagged(~brief & (death < NEVER), DUE)
    ended = replace(rows, flags=rows.flags | due)
    death = np.where(brief, rows.place + 1, death)
    return ended.with_arrays(death=np.minimum(death, rows.death))


def _without_key(rows: Rows) -> Mask:
    """Tells which rows have a null in their key, though no candidate may ask for it."""
    if KEYLESS in rows.payload.schema.names:
        keyless: Mask = rows.hidden(KEYLESS) == 1
        return keyless
    return ~rows.has(HAS_KEY)


def last_moments(settings: JoinSettings, hand: int, rows: Rows) -> Whole:
    """Returns the last moments at which rows of a side can still meet others.

    A range is met until the highest row time is past its end, the other side's look
    ahead, and the larger lateness: a row of either side may still come so late.
    """
    side, other = settings.sides[hand], settings.sides[1 - hand]
    match side.window:
        case Seconds(span):
            return rows.hidden(CLOCK) + span.microseconds
        case Range(preceding) if side.closing is Closing.ROW_TIME:
            ahead = (
                other.window.following if isinstance(other.window, Range) else NO_TIME
            )
            end = shift(shift(rows.moment, preceding), ahead)
            return np.maximum(*(shift(end, one.lateness) for one in settings.sides))
        case _:
            return np.full(len(rows), NEVER)


def highest_of(watches: tuple[Watch, Watch]) -> int:
    """Returns the highest row time seen on either side."""
    return max(BEGINNING, *(watch.newest for watch in watches))
