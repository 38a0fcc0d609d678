"""Arrays of moments on the calendar, in UTC: shifted by a span, up to a unit's end.

one month      31 January and 30 January -> 28 February, as `Span.after` has it
hour           10:20 [############) 11:00
size 10,       00:07 falls into [00:00, 00:10) and [00:05, 00:15): the row is there
every 5              once for each, and lives at its end
"""

from __future__ import annotations

from typing import Literal, assert_never

import numpy as np

from dovetail.kernels.arrays.rows import BEGINNING, NEVER, Rows, Whole
from dovetail.spec.spans import NO_TIME, Span
from dovetail.spec.windows import HopSize, HopUnitName, Window

_SECOND = 1_000_000
_DAY = 86_400 * _SECOND
_MONDAY = 3  # 1970-01-01 was a Thursday
_DAYS_AT_AN_END = range(1, 4)
"""How many days further the days are that may be too many for another month."""


def shift(moments: Whole, span: Span) -> Whole:
    """Returns the moments so much later; missing and infinite ones stay."""
    if span == NO_TIME:
        return moments
    # Ends that mean something are no dates: shifted they would wrap round.
    fixed = (moments == NEVER) | (moments <= BEGINNING)
    if not span.months and not fixed.any():
        later: Whole = moments + span.microseconds
        return later
    plain = np.where(fixed, 0, moments)
    if span.months:
        times = plain.view("datetime64[us]")
        days, starts = times.astype("datetime64[D]"), times.astype("datetime64[M]")
        target = starts + np.timedelta64(span.months, "M")
        # A day that the month has not is its last one.
        first, following = (
            month.astype("datetime64[D]") for month in (target, target + 1)
        )
        last = following - first - 1
        day = first + np.minimum(days - starts.astype("datetime64[D]"), last)
        plain = (day.astype("datetime64[us]") + (times - days)).astype(np.int64)
    return np.where(fixed, moments, plain + span.microseconds)


def least_shifted(moments: Whole, span: Span) -> Whole:
    """Returns of each moment and all later ones the least one, so much later.

    The last days of a month may all come to the last day of a shorter one: there a
    later moment may be an earlier hour. Of each day the first moment is the least.
    """
    least = shift(moments, span)
    if not span.months:
        return least
    fixed = (moments == NEVER) | (moments <= BEGINNING)
    days = np.where(fixed, 0, moments) // _DAY
    for ahead in _DAYS_AT_AN_END:
        later = shift((days + ahead) * _DAY, span)
        least = np.where(fixed, least, np.minimum(least, later))
    return least


def unit_ends(unit: HopUnitName | Span, moments: Whole) -> Whole:
    """Returns the ends of the units in which moments stand; infinite ones stay."""
    fixed = (moments == NEVER) | (moments <= BEGINNING)
    plain = np.where(fixed, 0, moments)
    return np.where(fixed, moments, _ends(unit, plain))


def _ends(unit: HopUnitName | Span, moments: Whole) -> Whole:
    """Returns the first moment of the unit after that of each moment, in UTC."""
    match unit:
        case Span(microseconds=length):
            return _after(moments, length)
        case "second":
            return _after(moments, _SECOND)
        case "minute":
            return _after(moments, 60 * _SECOND)
        case "hour":
            return _after(moments, 3600 * _SECOND)
        case "day":
            return _after(moments, _DAY)
        case "week":
            # Weeks are counted from a Monday: three days before the first day of all.
            return _after(moments + _MONDAY * _DAY, 7 * _DAY) - _MONDAY * _DAY
        case "month":
            return _first_after(moments, "M")
        case "year":
            return _first_after(moments, "Y")
        case _:
            assert_never(unit)


def _after(moments: Whole, length: int) -> Whole:
    """Returns the next multiple of a length above each moment."""
    return moments - moments % length + length


def _first_after(moments: Whole, unit: Literal["M", "Y"]) -> Whole:
    """Returns the first day of the next month or year."""
    following = moments.view("datetime64[us]").astype(f"datetime64[{unit}]") + 1
    first: Whole = following.astype("datetime64[us]").astype(np.int64)
    return first


def copies(window: Window) -> int:
    """Returns how many windows a row falls into at most."""
    if not isinstance(window, HopSize):
        return 1
    return -(-window.size.microseconds // window.every.microseconds)


def hopped(rows: Rows, window: HopSize) -> Rows:
    """Returns each row once for each window that it falls into, timed at its end.

    A row without a time is there once, one between two windows not at all. Copies have
    places beside each other, so that each is known by its own.
    """
    size, every = window.size.microseconds, window.every.microseconds
    timed = rows.moment > BEGINNING
    moment = np.where(timed, rows.moment, 0)
    # Windows end every so often: the last one that holds the row, and how many before
    # it end behind the row too (negated floor division rounds up).
    newest = moment - moment % every + size
    counts = np.where(timed, np.maximum(-((moment - newest) // every), 0), 1)
    found = rows.take(np.repeat(np.arange(len(rows)), counts))
    firsts = np.cumsum(counts) - counts
    turn = np.arange(len(found)) - np.repeat(firsts, counts)  # 0, 1, .. of each row
    back = (np.repeat(counts, counts) - 1 - turn) * every
    ends = np.repeat(newest, counts) - back
    return found.with_arrays(
        moment=np.where(found.moment > BEGINNING, ends, found.moment),
        place=found.place * copies(window) + turn,
    )


def first_ends(bounds: Whole, window: HopSize) -> Whole:
    """Returns the ends of the first windows to end after bounds."""
    size, every = window.size.microseconds, window.every.microseconds
    ends: Whole = bounds - (bounds - size) % every + every
    return ends
