"""Where the axis is marked, and with which words: round moments, not too many."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime

from dovetail.conformance.oracle import Axis
from dovetail.draw.scale import SECOND, Scale
from dovetail.schema import from_microseconds, shown, to_microseconds

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
    to_microseconds(edge)
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
        return str(shown(from_microseconds(int(moment))))
    return "out of the calendar"


def _round_moments(scale: Scale) -> list[int]:
    """Returns the round moments of a scale: fixed steps, or months where it is long."""
    for step in ROUND:
        if (scale.last - scale.first) / step <= MOST:
            first = math.ceil(scale.first / step) * step
            return list(range(first, math.floor(scale.last) + 1, step))
    return _months(scale)


def _months(scale: Scale) -> list[int]:
    """Returns the beginnings of months or years."""
    first, last = (
        from_microseconds(int(min(max(moment, EARLIEST), LATEST)))
        for moment in (scale.first, scale.last)
    )
    start, stop = (one.year * 12 + one.month - 1 for one in (first, last))
    step = next((one for one in MONTHS if (stop - start) / one <= MOST), MONTHS[-1])
    begun = range(start + (-start) % step, stop + 1, step)
    dates = [datetime(one // 12, one % 12 + 1, 1, tzinfo=UTC) for one in begun]
    moments = [to_microseconds(date) for date in dates]
    return [moment for moment in moments if scale.shows(moment)]


def _dated(moments: list[int]) -> Iterator[Tick]:
    """Yields the marks of times; the date stands below where it is a new one."""
    known = ""
    times = [from_microseconds(moment) for moment in moments]
    are_days = all(time.timetz() == times[0].timetz() for time in times[1:])
    for moment, time in zip(moments, times, strict=True):
        date = time.date().isoformat()
        if are_days and len(times) > 1:
            yield Tick(moment, date)
        else:
            yield Tick(moment, _of_day(time, moments), date if date != known else "")
        known = date


def _of_day(time: datetime, moments: list[int]) -> str:
    """Returns a time of day with as many digits as the marks need."""
    digits = next(size for size in range(7) if not _beyond(moments, 10 ** (6 - size)))
    if digits:
        return time.strftime("%H:%M:%S.%f")[: digits - 6 or None]
    return time.strftime("%H:%M:%S" if _beyond(moments, MINUTE) else "%H:%M")


def _beyond(moments: list[int], size: int) -> bool:
    """Tells whether a moment is no whole number of some length."""
    return any(moment % size for moment in moments)


def _of_numbers(scale: Scale, unit: int, *, is_whole: bool = False) -> Iterator[Tick]:
    """Yields the marks of numbers."""
    span = (scale.last - scale.first) / unit
    power = 10.0 ** math.floor(math.log10(span / MOST))
    step = next(one * power for one in (1, 2, 5, 10) if span / (one * power) <= MOST)
    step = max(step, 1) if is_whole else step
    first, last = (edge / unit / step for edge in (scale.first, scale.last))
    for count in range(math.ceil(first), math.floor(last) + 1):
        yield Tick(count * step * unit, f"{count * step:g}")
