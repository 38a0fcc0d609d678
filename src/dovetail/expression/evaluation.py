"""The meaning of a tree: its value on plain rows.

A tree is turned into nested closures once; then every row costs only calls. This is
the definition that the kernels' programs and Spark itself are compared with.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from dovetail.expression.functions import function_of
from dovetail.expression.tree import (
    Call,
    Column,
    Lambda,
    Literal,
    Node,
    Value,
    Variable,
    with_parts,
)

# Rows by the letter of their side, bare names under "", lambda parameters by number.
Rows = Mapping[Any, Any]
Closure = Callable[[Rows], Value]


def closure(node: Node) -> Closure:
    """Returns the function of rows that a node means."""
    match node:
        case Literal(value=value):
            return lambda _rows: value
        case Column(side=side, name=name):
            return _column(side, name)
        case Variable(number=number):
            return lambda rows: rows[number]
        case Lambda(parameters=parameters, body=inner):
            body = closure(inner)
            numbers = [parameter.number for parameter in parameters]
            # it may be given more than it asks for: an element's place, say
            return lambda rows: (
                lambda *values: body(
                    {**rows, **dict(zip(numbers, values, strict=False))}
                )
            )
        case Call():
            return _call(node)


def _column(side: str, name: str) -> Closure:
    """Returns the reading of a column; it is null where its row is missing."""

    def read(rows: Rows) -> Value:
        row = rows.get(side)
        if row is None:
            return None
        # names have no case, but most rows have them as they are spelled
        if name in row:
            return row[name]
        found = (value for key, value in row.items() if key.lower() == name.lower())
        return next(found, None)

    return read


def _call(node: Call) -> Closure:
    """Returns the application of a function to the values of its arguments."""
    known = function_of(node)
    function, is_strict = known.evaluate(node), known.strict
    arguments = [closure(argument) for argument in node.arguments]

    def apply(rows: Rows) -> Value:
        values = [argument(rows) for argument in arguments]
        return None if is_strict and None in values else function(*values)

    return apply


def folded(node: Node) -> Node:
    """Returns the tree with every constant call replaced by its value."""
    inner = with_parts(node, folded)
    if isinstance(inner, Call) and all(
        isinstance(argument, Literal) for argument in inner.arguments
    ):
        return Literal(closure(inner)({}), inner.type)
    return inner
