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
        case Lambda():
            return _lambda(node)
        case Call():
            return _call(node)


def _column(side: str, name: str) -> Closure:
    """Returns the reading of a column; it is null where its row is missing."""

    def read(rows: Rows) -> Value:
        row = rows.get(side)
        if row is None:
            return None
        return row[name] if name in row else _any_case(row, name)

    return read


def _any_case(row: Mapping[str, Value], name: str) -> Value:
    """Returns the value of a name whose case differs, null where there is none."""
    found = (value for key, value in row.items() if key.lower() == name.lower())
    return next(found, None)


def _lambda(node: Lambda) -> Closure:
    """Returns the function that a lambda is, once the rows around it are known.

    It may be given more than it asks for: an element's place, say.
    """
    body = closure(node.body)
    numbers = [parameter.number for parameter in node.parameters]

    def make(rows: Rows) -> Callable[..., Value]:
        return lambda *values: body(
            {**rows, **dict(zip(numbers, values, strict=False))}
        )

    return make


def _call(node: Call) -> Closure:
    """Returns the application of a function to the values of its arguments."""
    entry = function_of(node)
    function = entry.evaluate(node)
    arguments = [closure(argument) for argument in node.arguments]
    strict = entry.strict

    def apply(rows: Rows) -> Value:
        values = [argument(rows) for argument in arguments]
        return None if strict and None in values else function(*values)

    return apply


def folded(node: Node) -> Node:
    """Returns the tree with every constant call replaced by its value."""
    inner = with_parts(node, folded)
    return value_of(inner) if _is_constant(inner) else inner


def _is_constant(node: Node) -> bool:
    """Tells whether a node is a call that has only literals to work on."""
    return isinstance(node, Call) and all(
        isinstance(argument, Literal) for argument in node.arguments
    )


def value_of(node: Node) -> Literal:
    """Returns the literal that a constant tree computes to."""
    return Literal(closure(node)({}), node.type)
