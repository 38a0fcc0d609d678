"""Functions of a number: signs, roots, rounding, angles, logarithms, forms.

They compute as Java does: no errors, only infinities and NaN; a logarithm out of its
range is null. ROUND goes half away from zero, BROUND half to even; their digits are
written in the expression, because the type of a rounded decimal depends on them.
FORMAT_STRING writes a number with so many digits, and knows no other form than that.
"""

from __future__ import annotations

import decimal
import math
import operator
import re
from collections.abc import Callable
from decimal import ROUND_HALF_EVEN, Decimal

from dovetail.errors import UnsupportedError
from dovetail.expression.coercion import (
    BIGINT,
    BITS,
    DOUBLE,
    FLOAT,
    INT,
    MOST_DIGITS,
    NULL,
    STRING,
    bounded,
    implicit,
    is_integral,
    is_numeric,
)
from dovetail.expression.functions.arithmetic import narrowing, unchanged
from dovetail.expression.functions.casts import double_text
from dovetail.expression.functions.function import (
    Arguments,
    Build,
    Columnwise,
    Entries,
    Entry,
    Evaluation,
    Function,
    Macro,
    Program,
    Signature,
    alias,
    constant,
    expects,
    kernel,
    kinds,
    plain,
    written,
)
from dovetail.expression.tree import Call, Interval, Kind, Literal, Node, Value
from dovetail.expression.values import WIDE, saturated
from dovetail.schema import DecimalType

ENTRIES = Entries()

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


_DOUBLES = expects(DOUBLE, DOUBLE)


@ENTRIES.function("sign", _DOUBLES, columnwise=kernel("sign"))
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
        # only an odd power of a negative number is negative
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


@ENTRIES.function("sqrt", _DOUBLES, columnwise=kernel("sqrt"))
def _root(value: float) -> float:
    """Returns the square root, NaN of a negative number."""
    return math.sqrt(value) if not value < 0 else math.nan


@ENTRIES.function("exp", _DOUBLES, columnwise=kernel("exp"))
def _exponential(value: float) -> float:
    """Returns e to a power, infinity where it is too great."""
    try:
        return math.exp(value)
    except OverflowError:
        return math.inf


@ENTRIES.function("ln", _DOUBLES, columnwise=kernel("ln"))
def _logarithm(value: float) -> float | None:
    """Returns the natural logarithm; null for what is not positive."""
    return None if value <= 0 else math.log(value)


def _digits(arguments: Arguments) -> int | None:
    """Returns the written number of digits, zero where none is, None if not written."""
    match arguments:
        case (_,):
            return 0
        case (_, Literal(value=int(value), type=kind)) if implicit(kind, INT):
            return value
        case _:
            return None


def rounded_type(kind: DecimalType, digits: int) -> DecimalType:
    """Returns the type of a rounded decimal: one whole digit more, less scale."""
    whole = kind.precision - kind.scale + 1
    if digits < 0:
        return DecimalType(min(max(whole, 1 - digits), MOST_DIGITS), 0)
    scale = min(kind.scale, digits)
    return DecimalType(min(whole + scale, MOST_DIGITS), scale)


def _rule(arguments: Arguments) -> Signature | None:
    """Types ROUND and BROUND: numbers keep their type, decimals lose scale."""
    digits = _digits(arguments)
    if digits is None:
        return None
    kind = arguments[0].type
    kind = DOUBLE if kind in (STRING, NULL) else kind
    if not is_numeric(kind):
        return None
    result = rounded_type(kind, digits) if isinstance(kind, DecimalType) else kind
    return Signature((kind, INT)[: len(arguments)], result)


def _exactly(kind: Kind) -> Callable[[Value], Decimal]:
    """Returns the reading of a number as the decimal that Spark rounds."""
    if kind in (DOUBLE, FLOAT):
        return lambda value: Decimal(repr(value))
    return Decimal


def _rounding(mode: str) -> Evaluation:
    """Returns the evaluation of rounding in a mode of Python's decimals."""

    def evaluate(call: Call) -> Callable[..., Value]:
        unit = Decimal(1).scaleb(-(_digits(call.arguments) or 0))
        exactly, narrow = _exactly(call.arguments[0].type), narrowing(call.type)
        back = _back(call.type)

        def rounded(value: Value, _digits: int = 0) -> Value:
            if isinstance(value, float) and not math.isfinite(value):
                return value
            found = exactly(value).quantize(unit, rounding=mode, context=WIDE)
            return narrow(back(found))

        return rounded

    return evaluate


def _back(kind: Kind) -> Callable[[Decimal], Value]:
    """Returns what makes a rounded decimal a value of a type of numbers."""
    if isinstance(kind, DecimalType):
        return lambda value: value
    return float if kind in (DOUBLE, FLOAT) else int


_FORM = re.compile(r"%\.([1-9]\d?)e")


def _places(arguments: Arguments) -> int:
    """Returns the number of digits behind the point that a written form asks for."""
    form = constant(arguments[0])
    found = _FORM.fullmatch(form) if isinstance(form, str) else None
    if found is None:
        raise UnsupportedError(f"FORMAT_STRING of {form!r}", hint="'%.15e' is known")
    return int(found[1])


def _form_rule(arguments: Arguments) -> Signature | None:
    """Types FORMAT_STRING: a written form and a number of floating point."""
    if arguments[1].type not in (DOUBLE, FLOAT) or not _places(arguments):
        return None
    return Signature((STRING, DOUBLE), STRING)


@ENTRIES.typed("format_string", _form_rule, strict=False, takes=2)
def _forming(call: Call) -> Callable[..., Value]:
    """Returns the evaluation of FORMAT_STRING."""
    places = _places(call.arguments)
    # Java cuts the word for nothing as it would cut any other.
    nothing = "null"[:places]
    return lambda _form, value: nothing if value is None else scientific(value, places)


def scientific(value: float, places: int) -> str:
    """Returns a number as one digit, a point, digits and an exponent, half up."""
    if not math.isfinite(value):
        return double_text(value)
    number = Decimal(repr(value))
    if len(number.normalize().as_tuple().digits) == 1:
        # Java writes two digits at least: 4.9E-324.
        number = Decimal(f"{value:.1e}")
    if number:
        unit = Decimal(1).scaleb(number.adjusted() - places)
        number = number.quantize(unit, rounding=decimal.ROUND_HALF_UP, context=WIDE)
    digits = "".join(map(str, number.as_tuple().digits)).ljust(places + 1, "0")
    sign = "-" if number.is_signed() else ""
    exponent = number.adjusted() if number else 0
    return f"{sign}{digits[0]}.{digits[1 : places + 1]}e{exponent:+03}"


def _of_decimals(name: str) -> Columnwise:
    """Returns the program of rounding: of decimals, which Arrow rounds exactly."""
    lower = written(name, digits=0)
    return lambda call, arguments: (
        lower(call, arguments)
        if isinstance(call.arguments[0].type, DecimalType)
        else None
    )


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


def _positive(curve: Curve, above: float) -> Evaluation:
    """Returns the evaluation of a logarithm, null of what is not above a bound."""
    return plain(lambda value: None if value <= above else curve(value))


@ENTRIES.function("log of base", _TWO, columnwise=kernel("log of base"))
def _to_base(base: float, value: float) -> float | None:
    """Returns the logarithm to a base; of base 1 it is infinite or NaN."""
    if base <= 0 or value <= 0:
        return None
    above, below = math.log(value), math.log(base)
    if below == 0:
        return math.copysign(math.inf, above) if above else math.nan
    return math.nan if math.isinf(above) and math.isinf(below) else above / below


@ENTRIES.function("atan2", _TWO, columnwise=kernel("atan2"))
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


@ENTRIES.macro("log", ("ln", "log of base"), takes=1, optional=1)
def _log(build: Build, arguments: Arguments) -> Node:
    """Writes LOG: natural of one number, to the base of the first of two."""
    return build("ln" if len(arguments) == 1 else "log of base", *arguments)


def _constant(name: str, value: Value) -> Macro:
    """Returns the entry of a number with a name."""
    return Macro(name, lambda _build, _none: Literal(value, DOUBLE), (), takes=0)


FUNCTIONS: tuple[Entry, ...] = (
    *ENTRIES.written,
    Function(
        "negative",
        _one_amount,
        _narrowed(operator.neg, SIGNS.minus),
        _signed("negative"),
        takes=1,
    ),
    Function("positive", _one_amount, plain(unchanged), kernel("coalesce"), takes=1),
    Function("abs", _one_amount, _narrowed(abs, _absolute), _signed("abs"), takes=1),
    Function("floor", _whole_rule, _to_whole(math.floor), kernel("floor"), takes=1),
    Function("ceil", _whole_rule, _to_whole(math.ceil), kernel("ceil"), takes=1),
    Function("pow", expects(DOUBLE, DOUBLE, DOUBLE), plain(power), kernel("power")),
    alias("power", "pow"),
    alias("signum", "sign"),
    alias("ceiling", "ceil"),
    Function("round", _rule, _rounding(decimal.ROUND_HALF_UP), _of_decimals("round")),
    Function(
        "bround", _rule, _rounding(decimal.ROUND_HALF_EVEN), _of_decimals("bround")
    ),
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
    Function("log10", _ONE, _positive(math.log10, 0), kernel("log10")),
    Function("log2", _ONE, _positive(math.log2, 0), kernel("log2")),
    Function("log1p", _ONE, _positive(math.log1p, -1), kernel("log1p")),
    Function("hypot", _TWO, plain(math.hypot), kernel("hypot")),
    _constant("pi", math.pi),
    _constant("e", math.e),
)
