"""Moments and dates in columns: shifted by exact spans, taken apart, cut to units."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dovetail.kernels.operations.values import Value, null, spread

DAY = 86_400_000_000  # microseconds
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


def day_of_week(kind: pa.DataType, value: Value) -> Value:
    """Returns the numbers of weekdays, Sunday being 1."""
    sunday = {"count_from_zero": False, "week_start": 7}
    return pc.day_of_week(value, **sunday).cast(kind)


def truncated(_kind: pa.DataType, value: Value, *, unit: str) -> Value:
    """Returns the beginnings of the units that moments lie in; weeks begin Monday."""
    return pc.floor_temporal(value, unit=unit)
