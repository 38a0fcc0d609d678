"""Functions of one number, and powers: signs, whole numbers, roots, logarithms.

They compute as Java does: no errors, only infinities and NaN.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from decimal import ROUND_HALF_EVEN, Decimal

from dovetail.expression.coercion import (
    BIGINT,
    BITS,
    DOUBLE,
    NULL,
    STRING,
    bounded,
    is_integral,
    is_numeric,
)
from dovetail.expression.functions.arithmetic import narrowing, unchanged
from dovetail.expression.functions.function import (
    Arguments,
    Columnwise,
    Entry,
    Evaluation,
    Function,
    Program,
    Signature,
    alias,
    expects,
    kernel,
    kinds,
    plain,
)
from dovetail.expression.tree import Call, Interval, Value
from dovetail.expression.values import WIDE, saturated
from dovetail.schema import DecimalType

# Scala's decimals keep 34 digits when their sign changes, and so do Spark's.
SIGNS = WIDE.copy()
SIGNS.prec, SIGNS.rounding = 34, ROUND_HALF_EVEN


def _absolute(value: Decimal) -> Decimal:
    """Returns a decimal without its sign; only one that had a sign may lose digits."""
    return SIGNS.minus(value) if value < 0 else value


def _one_number(arguments: Arguments) -> Signature | None:
    """Types a function of one number that keeps its type; texts become doubles."""
    (kind,) = kinds(arguments)
    found = DOUBLE if kind in (STRING, NULL) else kind
    return Signature((found,), found) if is_numeric(found) else None


def _one_amount(arguments: Arguments) -> Signature | None:
    """Types a function of a number or a span of time that keeps its type."""
    (kind,) = kinds(arguments)
    if isinstance(kind, Interval):
        return Signature((kind,), kind)
    return _one_number(arguments)


def _narrowed(
    whole: Callable[[Value], Value], exact: Callable[[Decimal], Decimal]
) -> Evaluation:
    """Returns the evaluation of a function of one number, narrowed to the type."""

    def evaluate(call: Call) -> Callable[..., Value]:
        narrow = narrowing(call.type)
        function = exact if isinstance(call.type, DecimalType) else whole
        return lambda value: narrow(function(value))

    return evaluate


def _signed(name: str) -> Columnwise:
    """Returns the program of a change of sign, unless decimals lose digits by it."""
    lower = kernel(name)

    def keeping(call: Call, arguments: tuple[Program, ...]) -> Program | None:
        kind = call.type
        loses = isinstance(kind, DecimalType) and kind.precision > SIGNS.prec
        return None if loses else lower(call, arguments)

    return keeping


def _whole_rule(arguments: Arguments) -> Signature | None:
    """Types FLOOR and CEIL: a decimal without scale, or a bigint."""
    signature = _one_number(arguments)
    if signature is None:
        return None
    kind = signature.result
    if isinstance(kind, DecimalType):
        whole = kind.precision - kind.scale + (kind.scale > 0)
        return Signature((kind,), bounded(whole, 0))
    return Signature((DOUBLE,) if not is_integral(kind) else (BIGINT,), BIGINT)


def _to_whole(cut: Callable[[Value], int]) -> Evaluation:
    """Returns the evaluation of FLOOR or CEIL."""

    def evaluate(call: Call) -> Callable[..., Value]:
        if isinstance(call.type, DecimalType):
            return lambda value: Decimal(cut(value))
        if call.arguments[0].type == BIGINT:
            return lambda value: value
        return lambda value: saturated(_cut_finite(cut, value), BITS[BIGINT])

    return evaluate


def _cut_finite(cut: Callable[[Value], int], value: float) -> float:
    """Returns the whole number of a double; what is not finite stays."""
    return cut(value) if math.isfinite(value) else value


def _sign(value: float) -> float:
    """Returns 1, 0 or -1; zeros and NaN stay as they are."""
    return value if value == 0 or math.isnan(value) else math.copysign(1.0, value)


def power(base: float, exponent: float) -> float:
    """Returns a power as Java's `Math.pow`: no errors, only infinities and NaN."""
    if math.isinf(exponent) and abs(base) == 1:
        return math.nan
    if base == 1 and math.isnan(exponent):
        return math.nan
    try:
        return math.pow(base, exponent)
    except OverflowError:
        odd = base < 0 and math.fmod(exponent, 2) != 0
        return -math.inf if odd else math.inf
    except ValueError:
        return _pole(base, exponent)


def _pole(base: float, exponent: float) -> float:
    """Returns the power of zero to a negative number; NaN for a negative base."""
    if base != 0:
        return math.nan
    odd = math.fmod(exponent, 2) in (1, -1)
    return math.copysign(math.inf, base) if odd else math.inf


def _root(value: float) -> float:
    """Returns the square root, NaN of a negative number."""
    return math.sqrt(value) if not value < 0 else math.nan


def _exponential(value: float) -> float:
    """Returns e to a power, infinity where it is too great."""
    try:
        return math.exp(value)
    except OverflowError:
        return math.inf


def _logarithm(value: float) -> float | None:
    """Returns the natural logarithm; null for what is not positive."""
    return None if value <= 0 else math.log(value)


_DOUBLES = expects(DOUBLE, DOUBLE)

FUNCTIONS: tuple[Entry, ...] = (
    Function(
        "negative",
        _one_amount,
        _narrowed(operator.neg, SIGNS.minus),
        _signed("negative"),
        takes=1,
    ),
    Function("positive", _one_amount, plain(unchanged), kernel("coalesce"), takes=1),
    Function("abs", _one_amount, _narrowed(abs, _absolute), _signed("abs"), takes=1),
    Function("sign", _DOUBLES, plain(_sign), kernel("sign")),
    Function("floor", _whole_rule, _to_whole(math.floor), kernel("floor"), takes=1),
    Function("ceil", _whole_rule, _to_whole(math.ceil), kernel("ceil"), takes=1),
    Function("pow", expects(DOUBLE, DOUBLE, DOUBLE), plain(power), kernel("power")),
    Function("sqrt", _DOUBLES, plain(_root), kernel("sqrt")),
    Function("exp", _DOUBLES, plain(_exponential), kernel("exp")),
    Function("ln", _DOUBLES, plain(_logarithm), kernel("ln")),
    alias("power", "pow"),
    alias("signum", "sign"),
    alias("ceiling", "ceil"),
)
