"""Angles, logarithms and their kin: functions of doubles, computed as Java does.

No argument is an error: outside its range a function is NaN, a logarithm null.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from dovetail.expression.coercion import DOUBLE
from dovetail.expression.functions.function import (
    Arguments,
    Build,
    Entry,
    Evaluation,
    Function,
    Macro,
    expects,
    kernel,
    plain,
)
from dovetail.expression.tree import Literal, Node, Value

Curve = Callable[[float], float]
_ONE, _TWO = expects(DOUBLE, DOUBLE), expects(DOUBLE, DOUBLE, DOUBLE)


def _java(curve: Curve) -> Evaluation:
    """Returns the evaluation of a curve: NaN out of range, infinite if too great."""

    def computed(value: float) -> float:
        try:
            return curve(value)
        except ValueError:
            return math.nan
        except OverflowError:
            return math.copysign(math.inf, value)

    return plain(computed)


def _logarithm(curve: Curve, above: float) -> Evaluation:
    """Returns the evaluation of a logarithm, null of what is not above a bound."""
    return plain(lambda value: None if value <= above else curve(value))


def _to_base(base: float, value: float) -> float | None:
    """Returns the logarithm to a base; of base 1 it is infinite or NaN."""
    if base <= 0 or value <= 0:
        return None
    above, below = math.log(value), math.log(base)
    if below == 0:
        return math.copysign(math.inf, above) if above else math.nan
    return math.nan if math.isinf(above) and math.isinf(below) else above / below


def _angle(height: float, width: float) -> float:
    """Returns the angle of a point; a negative zero is a zero."""
    return math.atan2(height + 0.0, width + 0.0)


def _whole(value: float) -> float:
    """Returns the nearest whole double, halves to the even neighbour."""
    return math.copysign(round(value), value) if math.isfinite(value) else value


def _catenary(value: float) -> float:
    """Returns the hyperbolic cosine, which is positive on both sides."""
    try:
        return math.cosh(value)
    except OverflowError:
        return math.inf


def _curve(name: str, curve: Curve) -> Function:
    """Returns the entry of a function of one double."""
    return Function(name, _ONE, _java(curve), kernel(name))


def _log(build: Build, arguments: Arguments) -> Node:
    """Writes LOG: natural of one number, to the base of the first of two."""
    return build("ln" if len(arguments) == 1 else "log of base", *arguments)


def _constant(name: str, value: Value) -> Macro:
    """Returns the entry of a number with a name."""
    return Macro(name, lambda _build, _none: Literal(value, DOUBLE), (), takes=0)


FUNCTIONS: tuple[Entry, ...] = (
    _curve("sin", math.sin),
    _curve("cos", math.cos),
    _curve("tan", math.tan),
    _curve("asin", math.asin),
    _curve("acos", math.acos),
    _curve("atan", math.atan),
    _curve("sinh", math.sinh),
    _curve("cosh", _catenary),
    _curve("tanh", math.tanh),
    _curve("degrees", math.degrees),
    _curve("radians", math.radians),
    _curve("cbrt", math.cbrt),
    _curve("expm1", math.expm1),
    _curve("rint", _whole),
    Function("log10", _ONE, _logarithm(math.log10, 0), kernel("log10")),
    Function("log2", _ONE, _logarithm(math.log2, 0), kernel("log2")),
    Function("log1p", _ONE, _logarithm(math.log1p, -1), kernel("log1p")),
    Function("log of base", _TWO, plain(_to_base), kernel("log of base")),
    Function("atan2", _TWO, plain(_angle), kernel("atan2")),
    Function("hypot", _TWO, plain(math.hypot), kernel("hypot")),
    Macro("log", _log, ("ln", "log of base"), takes=1, optional=1),
    _constant("pi", math.pi),
    _constant("e", math.e),
)
