"""Moments as whole microseconds since 1970 in Spark's columns.

The two ends of the range stand for always and never; nobody's clock goes there.
"""

from __future__ import annotations

from pyspark.sql import Column
from pyspark.sql import functions as F  # noqa: N812 - Spark's own name for it

from dovetail.spec.spans import Span

EARLIEST = -(1 << 63)
LATEST = (1 << 63) - 1


def micros(time: Column) -> Column:
    """Returns the moment of a time column."""
    return F.unix_micros(time.cast("timestamp"))


def shifted(time: Column, span: Span) -> Column:
    """Returns the moment a span after a time: by the calendar in UTC, then exactly."""
    moved = time.cast("timestamp")
    if span.months:
        moved = F.timestamp_add("MONTH", F.lit(span.months), moved)
    return F.unix_micros(moved) + F.lit(span.microseconds)


def timestamp(moment: Column) -> Column:
    """Returns the timestamp of a moment, null where it is always or never."""
    is_known = ~moment.isin(EARLIEST, LATEST)
    return F.when(is_known, F.timestamp_micros(moment))
