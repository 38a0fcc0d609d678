"""CAST and TRY_CAST, whose type is written in the expression, not found by a rule."""

from __future__ import annotations

from collections.abc import Callable

from dovetail.errors import SpecError, UnsupportedError
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
    KERNELS,
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


def _lower(call: Call, arguments: tuple[Program, ...]) -> Program:
    """Returns the program of a cast, where Arrow casts as Spark does."""
    source, target = call.arguments[0].type, call.type
    if (source, target) == (TIMESTAMP, BIGINT):
        return operation("units", target, *arguments, size=SECOND)
    if not _is_lowered(source, target):
        what = f"a cast from {source} to {target}"
        raise UnsupportedError.not_yet(KERNELS, what)
    return operation("cast", target, *arguments)


def _lower_careful(call: Call, arguments: tuple[Program, ...]) -> Program:
    """Returns the program of a TRY_CAST of a text."""
    source, target = call.arguments[0].type, call.type
    if source != STRING or not _is_lowered(source, target):
        what = f"a try_cast from {source} to {target}"
        raise UnsupportedError.not_yet(KERNELS, what)
    return operation(TRY_CAST, target, *arguments)


def _is_lowered(source: Kind, target: Kind) -> bool:
    """Tells whether the kernels cast between two types."""
    if STRING in (source, target):
        other = target if source == STRING else source
        return is_numeric(other) or other in (BOOLEAN, DATE, *MOMENTS)
    if isinstance(source, Interval):
        return True
    both = (source, target)
    times = all(kind in (DATE, *MOMENTS) for kind in both)
    return times or all(is_numeric(kind) or kind == BOOLEAN for kind in both)


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
