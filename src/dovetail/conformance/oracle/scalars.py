"""The oracle's door to the room of expressions: text in, a function of rows out."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from dovetail.conformance.oracle.life import Plain
from dovetail.expression import BARE, Expression, Scope, compiled
from dovetail.spec.inputs import Input

Sight = Mapping[str, Plain]
PairScalar = Callable[[Sight], object]
Scalar = Callable[[Plain], object]
_NOTHING: Plain = {}


def pair_scalar(expression: Expression, left: Input, right: Input) -> PairScalar:
    """Returns the function of what a pair's expression sees."""
    return compiled(expression, Scope.pair(left.schema, right.schema))


def own_row_scalar(expression: Expression, source: Input) -> Scalar:
    """Returns the function of a row whose columns an expression names bare."""
    scalar = compiled(expression, Scope.row(source.schema))
    return lambda values: scalar({BARE: values})


def side_scalar(expression: Expression, letter: str, source: Input) -> Scalar:
    """Returns the function of a row that an expression names by its side's letter."""
    scalar = compiled(expression, Scope(((letter, source.schema),)))
    return lambda values: scalar({letter: values})


def sight(left: Plain, right: Plain, bare: Plain = _NOTHING) -> Sight:
    """Returns what an expression sees: `l`, `r`, and the names that stand bare."""
    return {"l": left, "r": right, BARE: bare}
