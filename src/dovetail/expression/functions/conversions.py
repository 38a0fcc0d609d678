"""CAST and TRY_CAST, whose type is written in the expression, not found by a rule."""

from __future__ import annotations

from collections.abc import Callable

from dovetail.errors import SpecError
from dovetail.expression.casts import converter
from dovetail.expression.functions.function import (
    Arguments,
    Entry,
    Function,
    Program,
    Signature,
)
from dovetail.expression.tree import Call, Kind, Node, Value

TRY_CAST = "try_cast"


def cast(node: Node, kind: Kind) -> Node:
    """Returns the node itself where it has the type, else its cast."""
    return node if node.type == kind else checked_cast("cast", node, kind)


def checked_cast(name: str, node: Node, kind: Kind) -> Node:
    """Returns a CAST or TRY_CAST, or raises where Spark has no such cast."""
    if converter(node.type, kind, careful=name == TRY_CAST) is None:
        raise SpecError(f"no cast from {node.type} to {kind}")
    return Call(name, (node,), kind)


def _rule(_arguments: Arguments) -> Signature | None:
    """Types nothing: a cast is never called by its name alone."""
    return None


def _convert(call: Call) -> Callable[..., Value]:
    """Returns the evaluation of a cast."""
    careful = call.function == TRY_CAST
    found = converter(call.arguments[0].type, call.type, careful=careful)
    return found or (lambda _value: None)


def _lower(call: Call, arguments: tuple[Program, ...]) -> Program:
    """Returns the program of a cast, told both types."""
    return ("cast", str(call.type), str(call.arguments[0].type), *arguments)


FUNCTIONS: tuple[Entry, ...] = (
    Function("cast", _rule, _convert, _lower),
    Function(TRY_CAST, _rule, _convert),
)
