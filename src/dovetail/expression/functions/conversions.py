"""CAST and TRY_CAST, whose type is written in the expression, not found by a rule."""

from __future__ import annotations

from collections.abc import Callable

from dovetail.errors import SpecError
from dovetail.expression.casts import converter
from dovetail.expression.coercion import (
    BIGINT,
    BINARY,
    BITS,
    BOOLEAN,
    DATE,
    DOUBLE,
    FLOAT,
    MOMENTS,
    STRING,
    TIMESTAMP,
    is_numeric,
)
from dovetail.expression.functions.function import (
    Arguments,
    Build,
    Entry,
    Function,
    Macro,
    Program,
    Signature,
    operation,
)
from dovetail.expression.tree import Call, Interval, Kind, Node, Value
from dovetail.expression.values import SECOND
from dovetail.schema import DecimalType

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


def _lower(call: Call, arguments: tuple[Program, ...]) -> Program | None:
    """Returns the program of a cast, where Arrow casts as Spark does."""
    source, target = call.arguments[0].type, call.type
    if (source, target) == (TIMESTAMP, BIGINT):
        return operation("units", target, *arguments, size=SECOND)
    return operation("cast", target, *arguments) if _is_arrows(source, target) else None


def _lower_careful(call: Call, arguments: tuple[Program, ...]) -> Program | None:
    """Returns the program of a TRY_CAST of a text."""
    source, target = call.arguments[0].type, call.type
    fits = source == STRING and _is_arrows(source, target)
    return operation(TRY_CAST, target, *arguments) if fits else None


def _is_arrows(source: Kind, target: Kind) -> bool:
    """Tells whether Arrow casts whole columns between two types as Spark does."""
    if isinstance(source, Interval):
        return True
    if source == STRING:
        return target in (BOOLEAN, *BITS, FLOAT, DOUBLE)
    if target == STRING:
        return source in (BOOLEAN, *BITS, DATE) or isinstance(source, DecimalType)
    both = (source, target)
    if all(kind in (DATE, *MOMENTS) for kind in both):
        return True
    from_fraction = source in (FLOAT, DOUBLE) and isinstance(target, DecimalType)
    return not from_fraction and all(
        is_numeric(kind) or kind == BOOLEAN for kind in both
    )


def _named_cast(name: str, kind: Kind) -> Macro:
    """Returns the entry of a cast that is written as a function."""

    def expand(_build: Build, arguments: Arguments) -> Node:
        # also to its own type: a cast number is no longer one that was written
        return checked_cast("cast", arguments[0], kind)

    return Macro(name, expand, ("cast",), takes=1)


FUNCTIONS: tuple[Entry, ...] = (
    Function("cast", _rule, _convert, _lower),
    Function(TRY_CAST, _rule, _convert, _lower_careful),
    *(
        _named_cast(str(kind), kind)
        for kind in (BOOLEAN, *BITS, FLOAT, DOUBLE, STRING, BINARY, DATE, TIMESTAMP)
    ),
    _named_cast("decimal", DecimalType(10, 0)),
)
