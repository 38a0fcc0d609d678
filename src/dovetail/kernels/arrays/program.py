"""Runs an expression as a program over Arrow columns: one value for each row.

A program is nested tuples of plain data, written by the room of expressions:

    ("column", side, name, type)          a column of the row `l` or `r`, or a bare name
    ("literal", value, type)              a constant
    ("variable", number, type)            a parameter of a lambda
    ("lambda", numbers, program)          a function of elements, by its parameters
    (operation, type, ((name, constant), ..), *programs)

Types are texts in Spark SQL's notation. The results are Spark's without ANSI mode:
null where something cannot be computed, three-valued logic, numbers that wrap.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any, TypeAlias

import pyarrow as pa

from dovetail.kernels.operations import OPERATIONS
from dovetail.kernels.operations.values import (
    OfElements,
    Places,
    Value,
    arrow_type,
    conformed,
    constant,
    repeated,
)

Columns = Mapping[Any, pa.Array]
Program = tuple[Any, ...]
Argument: TypeAlias = Value | OfElements
BARE = ""


def run_program(program: Program, columns: Columns, length: int) -> pa.Array:
    """Returns the values of a program: as many as there are rows.

    Columns are found by (side, name), those of bare names also by the name alone, and
    parameters of lambdas by their number.
    """
    return repeated(_value(program, columns, length), length)


def _value(program: Program, columns: Columns, length: int) -> Argument:
    """Returns the values of a part of a program; a constant's value stands once."""
    match program:
        case ("column" | "variable", *_, kind):
            return conformed(columns[_key(program, columns)], kind)
        case ("literal", value, kind):
            return constant(value, kind)
        case ("lambda", numbers, body):
            return _function(numbers, body, columns)
    name, kind, constants, *parts = program
    arguments = [_value(part, columns, length) for part in parts]
    operation = partial(OPERATIONS[name], arrow_type(kind), **dict(constants))
    # Lambdas see the elements of whole columns, so constants are repeated beside them.
    if any(callable(argument) for argument in arguments):
        return operation(*(repeated(argument, length) for argument in arguments))
    if all(isinstance(argument, pa.Scalar) for argument in arguments):
        # some operations are loops over rows: let them see one
        return operation(*(pa.repeat(argument, 1) for argument in arguments))[0]
    return operation(*arguments)


def _function(numbers: tuple[int, ...], body: Program, columns: Columns) -> OfElements:
    """Returns what a lambda gives for elements, of which the row of each is told.

    It may be given more than it asks for: the elements' places, say.
    """
    # Of the columns around it a lambda reads few: only those are taken for each
    # element.
    outer = {key for key in _keys(body, columns) if key in columns}

    def give(owners: Places, *values: pa.Array) -> pa.Array:
        taken = pa.array(owners)
        around = {key: columns[key].take(taken) for key in outer}
        given = dict(zip(numbers, values, strict=False))
        return run_program(body, around | given, len(owners))

    return give


def _keys(program: Program, columns: Columns) -> Iterator[object]:
    """Gives the keys of the columns and parameters that a program reads."""
    match program:
        case ("column" | "variable", *_):
            yield _key(program, columns)
        case ("lambda", _, body):
            yield from _keys(body, columns)
        case (_, _, tuple(), *parts):
            for part in parts:
                yield from _keys(part, columns)


def _key(program: Program, columns: Columns) -> object:
    """Returns what a column or a parameter is found by."""
    if program[0] == "variable":
        return program[1]
    _, side, name, _ = program
    return name if side == BARE and name in columns else (side, name)
