"""Moments and dates in columns: shifted by exact spans, taken apart, cut to units."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dovetail.kernels.operations.values import Value, null, spread

DAY = 86_400_000_000  # microseconds
MINUTE = 60_000_000
MICRO = Decimal("0.000001")
LAST_YEAR, MONTHS, MOST_DAYS = 9999, 12, 32
COUNT, DAYS = pa.int64(), pa.int32()


def later(kind: pa.DataType, value: Value, span: Value) -> Value:
    """Returns moments, or dates, so many microseconds later."""
    if pa.types.is_date(kind):
        return pc.add(value.cast(DAYS), whole_days(span)).cast(kind)
    return pc.add(value.cast(COUNT), span).cast(kind)


def whole_days(span: Value) -> Value:
    """Returns the days of spans that are whole days."""
    return pc.divide(span, pa.scalar(DAY)).cast(DAYS)


def months_later(kind: pa.DataType, value: Value, months: Value) -> Value:
    """Returns the same day so many months later, or the last of a shorter month."""
    moments, counts = spread(value, months)
    instants = (
        moments.cast(pa.timestamp("us")).fill_null(0).to_numpy(zero_copy_only=False)
    )
    days = instants.astype("M8[D]")
    # numpy counts months exactly, so the calendar is in the casts: M8[M] and back
    first = days.astype("M8[M]")
    target = first + counts.fill_null(0).to_numpy(zero_copy_only=False)
    last = (target + 1).astype("M8[D]") - target.astype("M8[D]") - 1
    day = np.minimum(days - first.astype("M8[D]"), last)
    found = target.astype("M8[D]") + day + (instants - days)
    known = pc.and_(pc.is_valid(moments), pc.is_valid(counts))
    return pc.if_else(known, pa.array(found).cast(kind), null(kind))


def days_later(kind: pa.DataType, value: Value, days: Value) -> Value:
    """Returns dates so many days later."""
    return pc.add(value.cast(DAYS), days).cast(kind)


def days_earlier(kind: pa.DataType, value: Value, days: Value) -> Value:
    """Returns dates so many days earlier."""
    return pc.subtract(value.cast(DAYS), days).cast(kind)


def distance(_kind: pa.DataType, left: Value, right: Value) -> Value:
    """Returns the microseconds between two moments, or two dates."""
    found = pc.subtract(_counted(left), _counted(right))
    if pa.types.is_date(left.type):
        return pc.multiply(found, pa.scalar(DAY))
    return found


def days_apart(kind: pa.DataType, left: Value, right: Value) -> Value:
    """Returns the days between two dates."""
    return pc.subtract(_counted(left), _counted(right)).cast(kind)


def _counted(value: Value) -> Value:
    """Returns moments as microseconds, dates as days."""
    whole = value.cast(DAYS) if pa.types.is_date(value.type) else value
    return whole.cast(COUNT)


def units(kind: pa.DataType, value: Value, *, size: int) -> Value:
    """Returns the whole units since 1970, rounded down."""
    count, step = value.cast(COUNT), pa.scalar(size, COUNT)
    # Arrow cuts towards zero: before 1970 that is one too many
    cut = pc.divide(count, step)
    below = pc.less(count, pc.multiply(cut, step))
    return pc.subtract(cut, below.cast(COUNT)).cast(kind)


def since(kind: pa.DataType, value: Value, *, size: int) -> Value:
    """Returns the moments so many units after 1970."""
    return pc.multiply(value, pa.scalar(size, COUNT)).cast(kind)


def part(name: str) -> Callable[[pa.DataType, Value], Value]:
    """Returns the operation that takes a part of dates or moments."""
    take = getattr(pc, name)
    return lambda kind, value: take(value).cast(kind)


def days_since(kind: pa.DataType, value: Value) -> Value:
    """Returns the days since 1970."""
    return value.cast(kind)


def day_after(kind: pa.DataType, days: Value) -> Value:
    """Returns the dates so many days after 1970."""
    return days.cast(kind)


def seconds(kind: pa.DataType, value: Value) -> Value:
    """Returns the seconds of a moment's minute with their fraction."""
    count = value.cast(COUNT)
    minute = pa.scalar(MINUTE, COUNT)
    cut = pc.multiply(pc.divide(count, minute), minute)
    within = pc.subtract(count, cut)
    # Before 1970 the remainder is negative: a minute is added to it.
    below = pc.less(within, pa.scalar(0, COUNT))
    whole = pc.if_else(below, pc.add(within, minute), within)
    units = whole.cast(pa.decimal128(19, 0))
    return pc.multiply(units, pa.scalar(MICRO, pa.decimal128(7, 6))).cast(kind)


def year_of_week(kind: pa.DataType, value: Value) -> Value:
    """Returns the years that the weeks of days belong to."""
    return pc.iso_year(value).cast(kind)


def units_between(kind: pa.DataType, first: Value, last: Value, *, size: int) -> Value:
    """Returns the whole units from one moment to another, cut towards zero."""
    apart = pc.subtract(last.cast(COUNT), first.cast(COUNT))
    return pc.divide(apart, pa.scalar(size, COUNT)).cast(kind)


def months_between(kind: pa.DataType, first: Value, last: Value, *, size: int) -> Value:
    """Returns the whole spans of so many months between moments, as Java counts them.

    First a day that is not over is taken away, then months of one length are counted.
    """
    begin, finish = (
        value.cast(pa.timestamp("us")).fill_null(0).to_numpy(zero_copy_only=False)
        for value in spread(first, last)
    )
    # Days and what their clocks show are compared each for itself.
    start, end = begin.astype("M8[D]"), finish.astype("M8[D]")
    begun, ended = begin - start, finish - end
    past, early = end > start, ended < begun
    before, late = end < start, ended > begun
    end = end - (past & early).astype(np.int64) + (before & late).astype(np.int64)
    apart = _packed(end) - _packed(start)
    months = np.sign(apart) * (np.abs(apart) // MOST_DAYS)
    found = np.sign(months) * (np.abs(months) // size)
    known = pc.and_(*(pc.is_valid(value) for value in spread(first, last)))
    return pc.if_else(known, pa.array(found).cast(kind), null(kind))


def _packed(days: np.ndarray) -> np.ndarray:
    """Returns days as numbers in which all months are of one length."""
    months = days.astype("M8[M]")
    of_month = (days - months.astype("M8[D]")).astype(np.int64)
    return np.asarray(months.astype(np.int64) * MOST_DAYS + of_month)


def iso_day_of_week(kind: pa.DataType, value: Value) -> Value:
    """Returns the numbers of weekdays, Monday being 1."""
    return pc.day_of_week(value, count_from_zero=False).cast(kind)


def last_day(kind: pa.DataType, value: Value) -> Value:
    """Returns the last days of months."""
    after = pc.ceil_temporal(value, unit="month", ceil_is_strictly_greater=True)
    return pc.subtract(after.cast(DAYS), pa.scalar(1, DAYS)).cast(kind)


def day_of(kind: pa.DataType, year: Value, month: Value, day: Value) -> Value:
    """Returns the days of years, months and days, null where there are none."""
    years, months, days = (
        part.fill_null(1).to_numpy(zero_copy_only=False).astype(np.int64)
        for part in spread(year, month, day)
    )
    fits = (years >= 1) & (years <= LAST_YEAR) & (months >= 1) & (months <= MONTHS)
    # Months are counted through the years; a month that does not exist stays 1970.
    begin = np.where(fits, (years - 1970) * MONTHS + months - 1, 0).astype("M8[M]")
    found = begin.astype("M8[D]") + np.where(fits, days - 1, 0)
    fits &= (days >= 1) & (found.astype("M8[M]") == begin)
    for part in spread(year, month, day):
        fits &= np.asarray(part.is_valid())
    return pc.if_else(pa.array(fits), pa.array(found).cast(kind), null(kind))


def day_of_week(kind: pa.DataType, value: Value) -> Value:
    """Returns the numbers of weekdays, Sunday being 1."""
    sunday = {"count_from_zero": False, "week_start": 7}
    return pc.day_of_week(value, **sunday).cast(kind)


def truncated(_kind: pa.DataType, value: Value, *, unit: str) -> Value:
    """Returns the beginnings of the units that moments lie in; weeks begin Monday."""
    return pc.floor_temporal(value, unit=unit)
