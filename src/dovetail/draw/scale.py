"""From moments to places on the page, and what part of time it shows.

The axis is marked at round moments, not too many, with words.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime

from dovetail import schema
from dovetail.conformance.oracle import Axis, Trace, TracedRow

# How far beyond rows their lives are shown, in lengths of the time between rows: the
# fewer rows, the more room there is for it.
LEAST_REACH = 1.25
FEW = 60
BORDER = 0.02  # of the length of the axis, at both ends
SECOND = 1_000_000


@dataclass(frozen=True, slots=True)
class Scale:
    """The moments from `first` to `last` lie between two places on the page."""

    first: float
    last: float
    start: float
    stop: float

    def place(self, moment: float) -> float:
        """Returns the place of a moment, at the edge where the page does not reach."""
        inside = min(max(moment, self.first), self.last)
        part = (inside - self.first) / (self.last - self.first)
        return self.start + part * (self.stop - self.start)

    def shows(self, moment: float) -> bool:
        """Tells whether the page reaches a moment."""
        return self.first <= moment <= self.last


def scale_of(trace: Trace, start: float, stop: float) -> Scale:
    """Returns the scale on which all rows stand, with as much of their lives as fits.

    Lives far longer than the time between rows go on beyond the edge; else all rows
    would be drawn at one place. A few rows may be: they need little room.
    """
    places = _finite(row.at for row in trace.rows)
    births = _finite(row.birth for row in trace.rows if row.has_life)
    deaths = _finite(row.death for row in trace.rows if row.has_life)
    bounds = _finite(bound for _, bound in trace.bounds if trace.axis is Axis.ROW_TIME)
    # Rows stand by their own times; where none has one, by what is known of lives.
    inner = places or [*births, *deaths, *bounds] or [0.0]
    times = max(FEW / max(len(trace.rows), 1), LEAST_REACH)
    # Of rows of one moment nothing says how much of a life is long.
    reach = times * (max(inner) - min(inner)) or math.inf
    first, last = min(inner) - reach, max(inner) + reach
    seen = [
        *inner,
        *(one for one in [*births, *deaths, *bounds] if first <= one <= last),
    ]
    first, last = min(seen), max(seen)
    if trace.axis is Axis.ARRIVAL:
        # A step where rows are counted; what was there before them needs one, too.
        has_state = any(math.isinf(row.at) and row.has_life for row in trace.rows)
        return Scale(first - (1 if has_state else 0.5), last + 1, start, stop)
    # Rows of one moment would else have an axis without length.
    room = BORDER * (last - first) or (SECOND if trace.axis.is_time else 1)
    return Scale(first - room, last + room, start, stop)


def _finite(moments: Iterable[float]) -> list[float]:
    """Returns the moments that have a place in time."""
    return [moment for moment in moments if math.isfinite(moment)]


def is_simply_there(row: TracedRow) -> bool:
    """Tells whether a row has no beginning and no end but a place of its own."""
    is_endless = math.isinf(row.birth) and math.isinf(row.death)
    return is_endless and math.isfinite(row.at)


MINUTE, HOUR, DAY = 60 * SECOND, 3600 * SECOND, 86_400 * SECOND
MONTHS = (1, 2, 3, 6, 12, 24, 60, 120, 240, 600, 1200, 2400, 6000, 12000)
ROUND = (
    *(digit * 10**power for power in range(6) for digit in (1, 2, 5)),
    *(count * SECOND for count in (1, 2, 5, 10, 15, 30)),
    *(count * MINUTE for count in (1, 2, 5, 10, 15, 30)),
    *(count * HOUR for count in (1, 2, 3, 6, 12)),
    *(count * DAY for count in (1, 2, 7, 14)),
)
MOST = 9
EARLIEST, LATEST = (
    schema.to_microseconds(edge)
    for edge in (datetime(1, 1, 1, tzinfo=UTC), datetime(9999, 12, 31, tzinfo=UTC))
)


@dataclass(frozen=True, slots=True)
class Tick:
    """One mark: its moment, its words, and the date where a new one begins."""

    moment: float
    words: str
    date: str = ""


def ticks(axis: Axis, scale: Scale) -> list[Tick]:
    """Returns the marks of an axis."""
    if axis is Axis.PROCESSING_TIME:
        return list(_of_numbers(scale, SECOND))
    if axis.is_time:
        return list(_dated(_round_moments(scale)))
    return list(_of_numbers(scale, 1, is_whole=axis is Axis.ARRIVAL))


def moment_words(axis: Axis, moment: float) -> str:
    """Returns a moment of an axis as a person writes it; a time in ISO form."""
    if math.isinf(moment):
        return "always" if moment < 0 else "never"
    if axis is Axis.PROCESSING_TIME:
        return f"{moment / SECOND:g} s"
    if not axis.is_time:
        return f"{moment:g}"
    if EARLIEST <= moment <= LATEST:
        return str(schema.shown(schema.from_microseconds(int(moment))))
    return "out of the calendar"


def _round_moments(scale: Scale) -> list[int]:
    """Returns the round moments of a scale: fixed steps, or months where it is long."""
    for step in ROUND:
        if (scale.last - scale.first) / step <= MOST:
            first = math.ceil(scale.first / step) * step
            return list(range(first, math.floor(scale.last) + 1, step))
    edges = (
        schema.from_microseconds(int(min(max(moment, EARLIEST), LATEST)))
        for moment in (scale.first, scale.last)
    )
    # Counted from year 0, so that steps of a year, or of ten, begin in January.
    start, stop = (one.year * 12 + one.month - 1 for one in edges)
    step = next((one for one in MONTHS if (stop - start) / one <= MOST), MONTHS[-1])
    begun = range(start + (-start) % step, stop + 1, step)
    dates = [datetime(one // 12, one % 12 + 1, 1, tzinfo=UTC) for one in begun]
    moments = [schema.to_microseconds(date) for date in dates]
    return [moment for moment in moments if scale.shows(moment)]


def _dated(moments: list[int]) -> Iterator[Tick]:
    """Yields the marks of times; the date stands below where it is a new one."""
    known = ""
    times = [schema.from_microseconds(moment) for moment in moments]
    are_days = all(time.timetz() == times[0].timetz() for time in times[1:])
    # All marks of an axis have as many digits as one of them needs.
    digits = next(size for size in range(7) if not _beyond(moments, 10 ** (6 - size)))
    form = "%H:%M:%S" if _beyond(moments, MINUTE) else "%H:%M"
    form, cut = ("%H:%M:%S.%f", digits - 6 or None) if digits else (form, None)
    for moment, time in zip(moments, times, strict=True):
        date = time.date().isoformat()
        if are_days and len(times) > 1:
            yield Tick(moment, date)
        else:
            words = time.strftime(form)[:cut]
            yield Tick(moment, words, date if date != known else "")
        known = date


def _beyond(moments: list[int], size: int) -> bool:
    """Tells whether a moment is no whole number of some length."""
    return any(moment % size for moment in moments)


def _of_numbers(scale: Scale, unit: int, *, is_whole: bool = False) -> Iterator[Tick]:
    """Yields the marks of numbers."""
    span = (scale.last - scale.first) / unit
    # The first of 1, 2 and 5 times a power of ten that gives few enough marks.
    power = 10.0 ** math.floor(math.log10(span / MOST))
    step = next(one * power for one in (1, 2, 5, 10) if span / (one * power) <= MOST)
    step = max(step, 1) if is_whole else step
    first, last = (edge / unit / step for edge in (scale.first, scale.last))
    for count in range(math.ceil(first), math.floor(last) + 1):
        yield Tick(count * step * unit, f"{count * step:g}")
