"""From the typed tree to a program that the kernels run over Arrow columns.

A program is nested tuples of plain data, so that it can travel to workers that do
not have us and stand in a checkpoint's fingerprint. A call that no operation computes
for whole columns carries the function's evaluation, which kernels call for each row.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, datetime
from decimal import Decimal
from functools import partial

from dovetail.expression.functions import function_of
from dovetail.expression.functions.entry import Program, RowFunction, operation
from dovetail.expression.tree import (
    Call,
    Column,
    Lambda,
    Literal,
    Node,
    Typed,
    Value,
    Variable,
    with_parts,
)
from dovetail.expression.values import EPOCH_DAY, micros

# By side and name; a row that is known makes its columns constants for all others.
Known = Mapping[tuple[str, str], Value]
_NOTHING: Known = {}


def lower(typed: Typed, known: Known = _NOTHING) -> Program:
    """Returns the program of an expression, or raises with what cannot be lowered.

    Columns whose values are `known`, by (side, name), are constants in it.
    """
    return _lowered(_with_values(typed.tree, known))


def _with_values(node: Node, known: Known) -> Node:
    """Returns the tree with the columns that are known as constants."""
    match node:
        case Column(side=side, name=name, type=kind) if (side, name) in known:
            return Literal(known[side, name], kind)
        case _:
            return with_parts(node, partial(_with_values, known=known))


def _lowered(node: Node) -> Program:
    """Returns the program of a node."""
    match node:
        case Literal(value=value, type=kind):
            return ("literal", plain(value), str(kind))
        case Column(side=side, name=name, type=kind):
            return ("column", side, name, str(kind))
        case Variable(number=number, type=kind):
            # by number: one lambda may stand inside another that has its names
            return ("variable", number, str(kind))
        case Lambda(parameters=parameters, body=body):
            numbers = tuple(parameter.number for parameter in parameters)
            return ("lambda", numbers, _lowered(body))
        case Call():
            entry = function_of(node)
            arguments = tuple(map(_lowered, node.arguments))
            whole = entry.columnwise(node, arguments) if entry.columnwise else None
            if whole is not None:
                return whole
            # for each row: the function that the oracle calls
            function = RowFunction(node.function, entry.strict, entry.evaluate(node))
            return operation("by_row", node.type, *arguments, function=function)


def plain(value: Value) -> object:
    """Returns a constant as plain data: decimals as text, times as counts."""
    match value:
        case Decimal():
            return str(value)
        case datetime():
            return micros(value)
        case date():  # behind `datetime`, which is a date to Python
            return value.toordinal() - EPOCH_DAY
        case list():
            return [plain(item) for item in value]
        case dict():
            return {plain(name): plain(item) for name, item in value.items()}
        case _:
            return value
