"""Runs an expression as a program over Arrow columns: one value for each row.

A program is nested tuples of plain data, written by the room of expressions:

    ("column", side, name, type)          a column of the row `l` or `r`, or a bare name
    ("literal", value, type)              a constant
    (operation, type, ((name, constant), ..), *programs)

Types are texts in Spark SQL's notation. The results are Spark's without ANSI mode:
null where something cannot be computed, three-valued logic, numbers that wrap.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import pyarrow as pa

from dovetail.kernels.operations import OPERATIONS
from dovetail.kernels.operations.values import arrow_type, conformed, constant

Columns = Mapping[Any, pa.Array]
BARE = ""


def run_program(program: tuple[object, ...], columns: Columns, length: int) -> pa.Array:
    """Returns the values of a program: as many as there are rows.

    Columns are found by (side, name), those of bare names also by the name alone.
    """
    value = _value(program, columns)
    if isinstance(value, pa.Scalar):
        return pa.repeat(value, length)
    return value


def _value(program: tuple[Any, ...], columns: Columns) -> pa.Array | pa.Scalar:
    """Returns the values of a part of a program; a constant's value stands once."""
    if program[0] == "column":
        _, side, name, kind = program
        key = name if side == BARE and name in columns else (side, name)
        return conformed(columns[key], kind)
    if program[0] == "literal":
        _, value, kind = program
        return constant(value, kind)
    name, kind, constants, *parts = program
    arguments = [_value(part, columns) for part in parts]
    operation = partial(OPERATIONS[name], arrow_type(kind), **dict(constants))
    if all(isinstance(argument, pa.Scalar) for argument in arguments):
        # some operations are loops over rows: let them see one
        return operation(*(pa.repeat(argument, 1) for argument in arguments))[0]
    return operation(*arguments)
