"""Columns that only windows look at, beside the columns of a row.

A delta window measures its rows; what they measure, and what drives them out, goes
with each row as whole numbers.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from decimal import Decimal

import numpy as np
import pyarrow as pa

from dovetail.expression import Expression, Scope, lower, parse
from dovetail.kernels.measures import MEASURE, REACH, fits, measures
from dovetail.kernels.program import run_program
from dovetail.kernels.rows import MISSING, NEVER, Whole
from dovetail.schema import Schema
from dovetail.spec.windows import Delta, Window

Hidden = tuple[str, Whole]


def hidden_columns(
    window: Window, schema: Schema, columns: pa.RecordBatch
) -> Iterator[Hidden]:
    """Gives the columns that a side's window looks at."""
    match window:
        case Delta(by, width):
            values = _values(by, schema, columns)
            measured = measures if fits(values.type) else _ranked
            yield from zip((MEASURE, REACH), measured(values, width), strict=True)
        case _:
            pass


def _values(by: Expression, schema: Schema, columns: pa.RecordBatch) -> pa.Array:
    """Returns an expression's value of every row."""
    program = lower(parse(by, Scope.row(schema)))
    named = dict(zip(columns.schema.names, columns.columns, strict=True))
    return run_program(program, named, columns.num_rows)


def _ranked(values: pa.Array, width: Decimal) -> tuple[Whole, Whole]:
    """Returns as measures the ranks among all rows that ever come, whatever the type.

    That is only to be had where all of them are known.
    """
    plain = values.to_pylist()
    known = sorted({value for value in plain if value is not None})
    ranks = {value: rank for rank, value in enumerate(known)}
    reach = {value: bisect_right(known, value + width) - 1 for value in known}
    return (
        np.array([ranks.get(value, MISSING) for value in plain], np.int64),
        np.array([reach.get(value, NEVER) for value in plain], np.int64),
    )
