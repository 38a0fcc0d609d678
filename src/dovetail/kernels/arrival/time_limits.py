"""Windows that time closes in order of arrival, whichever row it comes with.

Each row carries the last moment at which it can still meet another. It dies at the
place in the order of arrival where time is first past that moment:

    place                  4    5    6    7    next
    time                   10   12   17   17   30
    last moment 15                   dies at 6, before the row that came there
    last moment 20                             dies by time alone

`Seconds` reads the processing time, `Range` the highest row time seen on either side.

The places of a step with the moments between them at which time drives rows out.

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

from dovetail.kernels.arrays import names
from dovetail.kernels.arrays.rows import BEGINNING, NEVER, Rows, Whole
from dovetail.kernels.arrival.arrival import Watch
from dovetail.kernels.lifetimes.calendar import shift
from dovetail.kernels.settings import Closing, JoinSettings
from dovetail.spec import windows
from dovetail.spec.spans import NO_TIME
from dovetail.spec.windows import Range, Seconds

KEYLESS = names.hidden("keyless")
"""The payload column that is 1 where any part of a row's key is null, 0 elsewhere.

It stands where candidates may be found by some parts only.
"""


@dataclass(frozen=True, slots=True)
class Edge:
    """Where a step stands between others: highest time before, next place, its time."""

    highest: int
    next_place: int
    now: int


@dataclass(frozen=True, slots=True)
class _Course:
    """How far time was at each place of a step; the last place is the next row's."""

    places: Whole
    clock: Whole
    highest: Whole

    @classmethod
    def of(cls, settings: JoinSettings, fresh: list[Rows], edge: Edge) -> _Course:
        """Returns the course of time over the rows that a step lets in."""
        places = np.concatenate([rows.place for rows in fresh])
        order = np.argsort(places)
        moments = np.concatenate([rows.moment for rows in fresh])[order]
        clock = np.zeros(len(places), np.int64)
        if settings.reads_clock:
            clock = np.concatenate([rows.hidden(names.CLOCK) for rows in fresh])[order]
        # A row itself moves the highest time; at the next row's place none has yet.
        highest = np.maximum.accumulate(np.append(edge.highest, moments))
        return cls(
            np.append(places[order], edge.next_place),
            np.maximum.accumulate(np.append(clock, edge.now)),
            np.append(highest[1:], highest[-1]),
        )


def closed(
    settings: JoinSettings,
    sides: list[Rows],
    fresh: list[Rows],
    edge: Edge,
    watches: tuple[Watch, Watch],
) -> list[Rows]:
    """Returns both sides' rows with the deaths that time gives them.

    One that is past already when it comes, or that can meet nobody by its key, still
    has its own moment. The clock of a side that has ended stands still.
    """
    course, ended = _Course.of(settings, fresh, edge), list(sides)
    for hand, (side, rows) in enumerate(zip(settings.sides, sides, strict=True)):
        if side.closing is Closing.NONE or side.told:
            continue
        is_range = side.closing is Closing.ROW_TIME
        # A side that has ended sees no time pass: its rows stay as at the end.
        clock = np.minimum(course.clock, watches[hand].stopped)
        time = course.highest if is_range else clock
        # Time never goes back: the first place past a moment is one search.
        passed = np.searchsorted(time, last_moments(settings, hand, rows), "right")
        death = np.append(course.places, NEVER)[passed]
        brief = death <= rows.place
        if is_range:
            # `has_key` asks for the parts of a key that find candidates, not for all.
            keyless = KEYLESS in rows.payload.schema.names
            brief |= rows.hidden(KEYLESS) == 1 if keyless else ~rows.has_key
        # Once due, always due: a later step must not ask again what moved the time.
        due = rows.due | (~brief & (death < NEVER))
        death = np.minimum(np.where(brief, rows.place + 1, death), rows.death)
        ended[hand] = rows.with_flags(due=due).with_arrays(death=death)
    return ended


def last_moments(settings: JoinSettings, hand: int, rows: Rows) -> Whole:
    """Returns the last moments at which rows of a side can still meet others.

    A range is met until the highest row time is past its end, the other side's look
    ahead, and the larger lateness: a row of either side may still come so late.
    """
    side, other = settings.sides[hand], settings.sides[1 - hand]
    match side.window:
        case Seconds(span):
            return rows.hidden(names.CLOCK) + span.microseconds
        case Range(preceding) if side.closing is Closing.ROW_TIME:
            ahead = (
                other.window.following if isinstance(other.window, Range) else NO_TIME
            )
            end = shift(shift(rows.moment, preceding), ahead)
            # The larger lateness: a row of either side may still come so far behind.
            return np.maximum(*(shift(end, one.lateness) for one in settings.sides))
        case _:
            return np.full(len(rows), NEVER)


def highest_of(watches: tuple[Watch, Watch]) -> int:
    """Returns the highest row time seen on either side."""
    return max(BEGINNING, *(watch.newest for watch in watches))


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
    stored = []
    for side, rows in zip(settings.sides, sides, strict=True):
        death = rows.death
        if isinstance(side.eviction, windows.EvictCount | windows.EvictTuples):
            # What an insertion makes too many goes with it, not behind it.
            death = death - rows.dropped
        if side.window == windows.Rows(0):
            # One that is never stored has no life in the table.
            death = rows.birth
        elif side.closing is not Closing.NONE:
            # Who does not die when time passes it was past when it came.
            is_past = (death < NEVER) & ~rows.due & ~rows.dropped
            death = np.where(is_past, rows.birth, death)
        stored.append(rows.with_arrays(death=death))
    left, right = stored
    if not settings.reads_time:
        return Line((left, right), since, (left, right))
    return _numbered(settings, (left, right), since)


def _numbered(settings: JoinSettings, sides: tuple[Rows, Rows], since: int) -> Line:
    """Returns the rows with lives counted in what happens, one after the other."""
    moments = []
    for hand, rows in enumerate(sides):
        # Of one place, time passes some rows before the row comes that ends others.
        last = last_moments(settings, hand, rows)
        last = np.where(rows.due & ~rows.dropped, last, NEVER)
        moments += [(rows.birth, np.full(len(rows), NEVER)), (rows.death, last)]
    places, lasts = (np.concatenate(some) for some in zip(*moments, strict=True))
    order = np.lexsort((lasts, places))
    is_new = np.ones(len(order), bool)
    is_new[1:] = (np.diff(places[order]) > 0) | (np.diff(lasts[order]) > 0)
    number = np.empty(len(order), np.int64)
    number[order] = np.cumsum(is_new) - 1
    number[places == NEVER] = NEVER
    first = int(np.count_nonzero(is_new & (places[order] < since)))
    numbered, start = [], 0
    for rows in sides:
        birth, death = np.split(number[start : start + 2 * len(rows)], 2)
        numbered.append(rows.with_arrays(birth=birth, death=death))
        start += 2 * len(rows)
    return Line((numbered[0], numbered[1]), first, sides)
