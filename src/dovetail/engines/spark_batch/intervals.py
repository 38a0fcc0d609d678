"""Intervals that a row names itself: its life, or why it has none.

A row whose interval starts before the row's own time, runs backward, or has no start
or end takes no part: it is late with the reason `bad_interval`.
"""

from __future__ import annotations

from pyspark.sql import Column
from pyspark.sql import functions as F  # noqa: N812 - Spark's own name for it

from dovetail.engines.spark.moments import micros
from dovetail.engines.spark_batch.truth import is_true
from dovetail.spec.windows import Between


def interval(window: Between) -> tuple[Column, Column]:
    """Returns both ends of the interval in microseconds; null where there is none."""
    start, end = (F.expr(text.text) for text in (window.start, window.end))
    return micros(start), micros(end)


def is_bad_interval(window: Between, time: Column) -> Column:
    """Tells whether a row cannot live in the interval that it names."""
    start, end = interval(window)
    is_missing = start.isNull() | end.isNull()
    # A row without a time of its own starts before nothing.
    is_early = is_true(start < time)
    return is_missing | (end < start) | is_early
