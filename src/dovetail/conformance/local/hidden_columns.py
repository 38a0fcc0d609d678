"""Columns that only windows look at, beside the columns of a row.

A delta window measures its rows; what they measure, and what drives them out, goes
with each row as whole numbers. So do the two moments between which a row lives.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping
from decimal import Decimal

import numpy as np
import pyarrow as pa

from dovetail import expression, spec
from dovetail.kernels.arrays import names
from dovetail.kernels.arrays.program import run_program
from dovetail.kernels.arrays.rows import BEGINNING, MISSING, NEVER, Mask, Whole
from dovetail.kernels.lifetimes.measures import MEASURE, REACH, fits, measures
from dovetail.schema import Schema

Hidden = tuple[str, Whole]


def hidden_columns(
    window: spec.Window, source: spec.Input, columns: pa.RecordBatch
) -> Iterator[Hidden]:
    """Gives the columns that a side's window looks at."""
    schema = source.schema
    if window.interval:
        moments = [_times(one, schema, columns) for one in window.interval]
        # One that lacks its row time meets nobody for that alone: its interval must not
        # turn it away a second time.
        is_placed = ~_lacks_time(source, columns)
        yield names.START, np.where(is_placed, moments[0], BEGINNING)
        yield names.END, np.where(is_placed, moments[1], NEVER)
    elif isinstance(window, spec.Delta):
        values = _values(window.by, schema, columns)
        # What has no exact numbers is ranked among all rows, which a stream cannot do.
        measured = measures if fits(values.type) else _ranked
        yield from measured(values, window.width).items()


def bad_intervals(source: spec.Input, columns: pa.RecordBatch) -> Iterator[Hidden]:
    """Gives which rows name a bad interval, if one could.

    It has no start or end, runs backward, or starts before the row's own time.
    """
    bad = np.zeros(columns.num_rows, bool)
    for interval in source.intervals:
        start, end = (_times(one, source.schema, columns) for one in interval)
        bad |= (start == MISSING) | (end == MISSING) | (end < start)
        if source.is_timed:
            bad |= start < _moments(columns.column(source.time))
    if source.intervals:
        yield names.BAD, (bad & ~_lacks_time(source, columns)).astype(np.int64)


def _times(
    text: expression.Expression, schema: Schema, columns: pa.RecordBatch
) -> Whole:
    """Returns the moments of an expression, MISSING where there is none."""
    return _moments(_values(text, schema, columns))


def _moments(values: pa.Array) -> Whole:
    """Returns times in microseconds; what is null or no time is MISSING."""
    if not pa.types.is_timestamp(values.type):
        return np.full(len(values), MISSING)
    numbers = values.cast(pa.timestamp("us", values.type.tz)).view(pa.int64())
    moments: Whole = numbers.fill_null(MISSING).to_numpy(zero_copy_only=False)
    return moments


def _lacks_time(source: spec.Input, columns: pa.RecordBatch) -> Mask:
    """Tells which rows lack the row time that their input has."""
    if not source.is_timed:
        return np.zeros(columns.num_rows, bool)
    lacking: Mask = _moments(columns.column(source.time)) == MISSING
    return lacking


def _values(
    by: expression.Expression, schema: Schema, columns: pa.RecordBatch
) -> pa.Array:
    """Returns an expression's value of every row."""
    program = expression.lower(expression.parse(by, expression.Scope.row(schema)))
    named = dict(zip(columns.schema.names, columns.columns, strict=True))
    return run_program(program, named, columns.num_rows)


def _ranked(values: pa.Array, width: Decimal) -> Mapping[str, Whole]:
    """Returns as measures the ranks among all rows that ever come, whatever the type.

    That is only to be had where all of them are known.
    """
    plain = values.to_pylist()
    known = sorted({value for value in plain if value is not None})
    ranks = {value: rank for rank, value in enumerate(known)}
    # The rank of the greatest value that is not too far above.
    reach = {value: bisect_right(known, value + width) - 1 for value in known}
    return {
        MEASURE: np.array([ranks.get(value, MISSING) for value in plain], np.int64),
        REACH: np.array([reach.get(value, NEVER) for value in plain], np.int64),
    }
