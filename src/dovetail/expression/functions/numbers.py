"""Numbers: arithmetic as Java does it, decimals as Spark's rules of digits say.

Whole numbers wrap around, division by zero is null, `/` is never whole, `%` has the
sign of the dividend, and decimals round half up at the scale of the result.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from decimal import Decimal

from dovetail.errors import UnsupportedError
from dovetail.expression.coercion import (
    BIGINT,
    BITS,
    BOOLEAN,
    DOUBLE,
    FLOAT,
    LEAST_SCALE,
    MOST_DIGITS,
    NULL,
    STRING,
    adjusted,
    as_decimal,
    bounded,
    is_fraction,
    is_integral,
    is_numeric,
    tightest,
)
from dovetail.expression.functions.function import (
    KERNELS,
    Arguments,
    Entry,
    Evaluation,
    Function,
    Macro,
    Program,
    Rule,
    Signature,
    expects,
    kernel,
    kinds,
    plain,
    synonym,
)
from dovetail.expression.tree import Call, Interval, Kind, Literal, Node, Value
from dovetail.expression.values import WIDE, fitted, rounded, saturated, single, wrapped
from dovetail.schema import DecimalType

Digits = Callable[[DecimalType, DecimalType], DecimalType]
# Spark rounds quotients and products once at 39 digits, then at the result's scale.
FACTORS = WIDE.copy()
FACTORS.prec = MOST_DIGITS + 1


def sum_digits(left: DecimalType, right: DecimalType) -> DecimalType:
    """Returns the type of a sum: the larger scale, one whole digit more."""
    scale = max(left.scale, right.scale)
    whole = max(left.precision - left.scale, right.precision - right.scale)
    return adjusted(whole + scale + 1, scale)


def product_digits(left: DecimalType, right: DecimalType) -> DecimalType:
    """Returns the type of a product."""
    return adjusted(left.precision + right.precision + 1, left.scale + right.scale)


def quotient_digits(left: DecimalType, right: DecimalType) -> DecimalType:
    """Returns the type of a quotient: at least six digits behind the point."""
    scale = max(LEAST_SCALE, left.scale + right.precision + 1)
    return adjusted(left.precision - left.scale + right.scale + scale, scale)


def remainder_digits(left: DecimalType, right: DecimalType) -> DecimalType:
    """Returns the type of a remainder: the fewer whole digits, the larger scale."""
    scale = max(left.scale, right.scale)
    whole = min(left.precision - left.scale, right.precision - right.scale)
    return adjusted(whole + scale, scale)


def _decimal(node: Node) -> DecimalType:
    """Returns the decimal of an operand; a written number has only its digits."""
    if isinstance(node, Literal) and is_integral(node.type):
        return DecimalType(len(str(abs(node.value))), 0)
    return as_decimal(node.type)


def _operands(arguments: Arguments) -> tuple[Kind, Kind] | None:
    """Returns the types that two numbers are computed in."""
    found = [DOUBLE if kind == STRING else kind for kind in kinds(arguments)]
    if NULL in found:
        found = [max(found, key=lambda kind: kind != NULL)] * 2
    if not all(map(is_numeric, found)):
        return (DOUBLE, DOUBLE) if found == [NULL, NULL] else None
    left, right = found
    if not any(isinstance(kind, DecimalType) for kind in found):
        common = tightest(left, right)
        return None if common is None else (common, common)
    if any(map(is_fraction, found)):
        return DOUBLE, DOUBLE
    if left == right:
        return left, right
    return _decimal(arguments[0]), _decimal(arguments[1])


def arithmetic(digits: Digits) -> Rule:
    """Returns the rule of an operator of two numbers, given its rule of digits."""

    def rule(arguments: Arguments) -> Signature | None:
        operands = _operands(arguments)
        if operands is None:
            return None
        left, right = operands
        if isinstance(left, DecimalType) and isinstance(right, DecimalType):
            return Signature(operands, digits(left, right))
        return Signature(operands, left)

    return rule


def _is_exact(arguments: Arguments, signature: Signature) -> bool:
    """Tells whether a quotient is a decimal; an untyped null is divided as a double."""
    return isinstance(signature.result, DecimalType) and arguments[0].type != NULL


def _quotient_rule(arguments: Arguments) -> Signature | None:
    """Types `/`: decimals stay decimals, all other numbers are divided as doubles."""
    signature = arithmetic(quotient_digits)(arguments)
    if signature is None or _is_exact(arguments, signature):
        return signature
    return Signature((DOUBLE, DOUBLE), DOUBLE)


def _whole_quotient_rule(arguments: Arguments) -> Signature | None:
    """Types DIV: whole numbers or decimals to a bigint."""
    operands = _operands(arguments)
    if kinds(arguments) == (NULL, NULL):
        operands = (BIGINT, BIGINT)
    if operands is None or any(map(is_fraction, operands)):
        return None
    if isinstance(operands[0], DecimalType):
        return Signature(operands, BIGINT)
    return Signature((BIGINT, BIGINT), BIGINT)


def narrowing(kind: Kind) -> Callable[[Value], Value]:
    """Returns what makes a plain result a value of the type: wrap, round or fit."""
    if isinstance(kind, DecimalType):
        return lambda value: fitted(value, kind)
    if kind in BITS:
        bits = BITS[kind]
        return lambda value: wrapped(value, bits)
    return single if kind == FLOAT else lambda value: value


def _operator(
    whole: Callable[[Value, Value], Value], exact: Callable[[Decimal, Decimal], Decimal]
) -> Evaluation:
    """Returns the evaluation of an operator on machine numbers and on decimals."""

    def evaluate(call: Call) -> Callable[..., Value]:
        narrow = narrowing(call.type)
        operation = exact if isinstance(call.arguments[0].type, DecimalType) else whole
        return lambda left, right: narrow(operation(left, right))

    return evaluate


def _unless_zero(evaluate: Evaluation) -> Evaluation:
    """Returns an evaluation that is null where the second argument is zero."""

    def guarded(call: Call) -> Callable[..., Value]:
        function = evaluate(call)
        return lambda left, right: None if right == 0 else function(left, right)

    return guarded


def _quotient(left: Decimal, right: Decimal) -> Decimal:
    """Returns a quotient at 39 digits behind the point."""
    return rounded(WIDE.divide(left, right), MOST_DIGITS + 1)


def _whole_quotient(left: int, right: int) -> int:
    """Returns a quotient cut towards zero."""
    return abs(left) // abs(right) * (1 if (left < 0) == (right < 0) else -1)


def _remainder(left: Value, right: Value) -> Value:
    """Returns a remainder with the sign of the dividend."""
    if isinstance(left, float):
        return math.nan if math.isinf(left) else math.fmod(left, right)
    return abs(left) % abs(right) * (-1 if left < 0 else 1)


def _positive_remainder(call: Call) -> Callable[..., Value]:
    """Returns the evaluation of PMOD: not negative where the divisor is positive."""
    exact = isinstance(call.type, DecimalType)
    remainder = WIDE.remainder if exact else _remainder
    add = WIDE.add if exact else operator.add
    # Java adds in the width of the numbers, so that the sum may wrap or round
    narrow = _unchanged if exact else narrowing(call.type)

    def positive(left: Value, right: Value) -> Value:
        found = remainder(left, right)
        return remainder(narrow(add(found, right)), right) if found < 0 else found

    return lambda left, right: narrowing(call.type)(positive(left, right))


def _lower_positive(call: Call, arguments: tuple[Program, ...]) -> Program:
    """Lowers PMOD of machine numbers to remainders and a choice."""
    kind, (left, right) = str(call.type), arguments
    if isinstance(call.type, DecimalType):
        raise UnsupportedError.not_yet(KERNELS, '"pmod" of decimals')
    found: Program = ("remainder", kind, left, right)
    again: Program = ("remainder", kind, ("add", kind, found, right), right)
    below: Program = ("<", str(BOOLEAN), found, ("literal", 0, kind))
    return ("case", kind, below, again, found)


def _unchanged(value: Value) -> Value:
    """Returns the value itself."""
    return value


def _whole_quotients(call: Call) -> Callable[..., Value]:
    """Returns the evaluation of DIV; decimals that lose digits are null."""
    match call.arguments[0].type, call.arguments[1].type:
        case DecimalType() as left, DecimalType() as right:
            digits = left.precision - left.scale + right.scale
            kind = bounded(max(digits, 1), 0)
            return lambda one, other: _low_bits(
                fitted(WIDE.divide_int(one, other), kind)
            )
        case _:
            return lambda one, other: _low_bits(_whole_quotient(one, other))


def _low_bits(value: Decimal | int | None) -> int | None:
    """Returns the bigint of a whole number."""
    return None if value is None else wrapped(int(value), BITS[BIGINT])


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
        "+ of numbers",
        arithmetic(sum_digits),
        _operator(operator.add, WIDE.add),
        kernel("add"),
        takes=2,
    ),
    Function(
        "- of numbers",
        arithmetic(sum_digits),
        _operator(operator.sub, WIDE.subtract),
        kernel("subtract"),
        takes=2,
    ),
    Function(
        "* of numbers",
        arithmetic(product_digits),
        _operator(operator.mul, FACTORS.multiply),
        kernel("multiply"),
        takes=2,
    ),
    Function(
        "/",
        _quotient_rule,
        _unless_zero(_operator(operator.truediv, _quotient)),
        kernel("divide"),
        takes=2,
    ),
    Function(
        "div",
        _whole_quotient_rule,
        _unless_zero(_whole_quotients),
        kernel("div"),
        takes=2,
    ),
    Function(
        "%",
        arithmetic(remainder_digits),
        _unless_zero(_operator(_remainder, WIDE.remainder)),
        kernel("remainder"),
        takes=2,
    ),
    Function(
        "pmod",
        arithmetic(remainder_digits),
        _unless_zero(_positive_remainder),
        _lower_positive,
        takes=2,
    ),
    Function(
        "negative",
        _one_amount,
        _narrowed(operator.neg, WIDE.minus),
        kernel("negative"),
        takes=1,
    ),
    Function("positive", _one_amount, plain(_unchanged), kernel("coalesce"), takes=1),
    Function("abs", _one_amount, _narrowed(abs, WIDE.abs), kernel("abs"), takes=1),
    Function("sign", _DOUBLES, plain(_sign), kernel("sign")),
    Function("floor", _whole_rule, _to_whole(math.floor), kernel("floor"), takes=1),
    Function("ceil", _whole_rule, _to_whole(math.ceil), kernel("ceil"), takes=1),
    Function("pow", expects(DOUBLE, DOUBLE, DOUBLE), plain(power), kernel("power")),
    Function("sqrt", _DOUBLES, plain(_root), kernel("sqrt")),
    Function("exp", _DOUBLES, plain(_exponential), kernel("exp")),
    Function("ln", _DOUBLES, plain(_logarithm), kernel("ln")),
    Macro("mod", synonym("%")),
    Macro("power", synonym("pow")),
    Macro("signum", synonym("sign")),
    Macro("ceiling", synonym("ceil")),
)
