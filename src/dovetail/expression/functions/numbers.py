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
from decimal import Decimal

from dovetail import schema
from dovetail.errors import UnsupportedError
from dovetail.expression import kinds
from dovetail.expression.functions import entry
from dovetail.expression.functions.arithmetic import narrowing, unchanged
from dovetail.expression.functions.casts import double_text
from dovetail.expression.tree import Call, Interval, Kind, Literal, Node, Value
from dovetail.expression.values import LONG, WIDE, exact, saturated

ENTRIES = entry.Entries()

# Scala's decimals keep 34 digits when their sign changes, and so do Spark's.
SIGNS = WIDE.copy()
SIGNS.prec, SIGNS.rounding = 34, decimal.ROUND_HALF_EVEN

# Signs and whole numbers


def _number(kind: Kind) -> Kind | None:
    """Returns the type that a number is computed in; texts become doubles."""
    found = kinds.DOUBLE if kind in (kinds.STRING, kinds.NULL) else kind
    return found if kinds.is_numeric(found) else None


# a number, or a span of time
_AMOUNT = entry.alike(
    lambda kind: kind if isinstance(kind, Interval) else _number(kind)
)


def _signed(
    name: str, whole: Callable[[Value], Value], exactly: Callable[[Decimal], Decimal]
) -> entry.Function:
    """Returns the entry of a change of sign, narrowed to the type."""
    lower = entry.kernel(name)

    def evaluate(call: Call) -> entry.Compute:
        narrow = narrowing(call.type)
        change = exactly if isinstance(call.type, schema.DecimalType) else whole
        return lambda value: narrow(change(value))

    def keeping(call: Call, arguments: entry.Programs) -> entry.Program | None:
        match call.type:
            # Arrow's decimals would keep the digits that Spark's lose
            case schema.DecimalType(precision=digits) if digits > SIGNS.prec:
                return None
        return lower(call, arguments)

    return entry.typed(name, _AMOUNT, evaluate, keeping, takes=1)


def _to_whole(name: str, cut: Callable[[Value], int]) -> entry.Function:
    """Returns the entry of FLOOR or CEIL: a decimal without scale, or a bigint."""

    def rule(arguments: entry.Arguments) -> entry.Signature | None:
        kind = _number(arguments[0].type)
        if kind is None:
            return None
        if isinstance(kind, schema.DecimalType):
            # one digit more where a fraction may be rounded up
            whole = kind.precision - kind.scale + (kind.scale > 0)
            return entry.Signature((kind,), kinds.bounded(whole, 0))
        wanted = kinds.BIGINT if kinds.is_integral(kind) else kinds.DOUBLE
        return entry.Signature((wanted,), kinds.BIGINT)

    def cut_double(value: float) -> int:
        return saturated(cut(value) if math.isfinite(value) else value, LONG)

    def evaluate(call: Call) -> entry.Compute:
        if isinstance(call.type, schema.DecimalType):
            return lambda value: Decimal(cut(value))
        return unchanged if call.arguments[0].type == kinds.BIGINT else cut_double

    return entry.typed(name, rule, evaluate, name, takes=1)


# Rounding


def _digits(arguments: entry.Arguments) -> int | None:
    """Returns the written number of digits, zero where none is, None if not written."""
    match arguments:
        case (_,):
            return 0
        case (_, Literal(value=int(value), type=kind)) if kinds.implicit(
            kind, kinds.INT
        ):
            return value
        case _:
            return None


def _rounding_rule(arguments: entry.Arguments) -> entry.Signature | None:
    """Types ROUND and BROUND: numbers keep their type, decimals lose scale."""
    digits = _digits(arguments)
    kind = None if digits is None else _number(arguments[0].type)
    if kind is None or digits is None:
        return None
    result = kind
    if isinstance(kind, schema.DecimalType):
        # one whole digit more, for what is rounded up
        whole, scale = kind.precision - kind.scale + 1, min(kind.scale, digits)
        result = kinds.bounded(whole + scale, scale)
        if digits < 0:
            result = kinds.bounded(max(whole, 1 - digits), 0)
    return entry.Signature((kind, kinds.INT)[: len(arguments)], result)


def _rounding(name: str, mode: str) -> entry.Function:
    """Returns the entry of rounding in a mode of Python's decimals."""

    def lower(
        kind: Kind, value: entry.Program, digits: int = 0
    ) -> entry.Program | None:
        # Arrow rounds decimals exactly, doubles only nearly
        if not isinstance(kind, schema.DecimalType):
            return None
        return entry.operation(name, kind, value, digits=digits)

    def evaluate(call: Call) -> entry.Compute:
        unit = Decimal(1).scaleb(-(_digits(call.arguments) or 0))
        narrow = narrowing(call.type)
        back: Callable[[Decimal], Value] = (
            float if kinds.is_fraction(call.type) else int
        )
        if isinstance(call.type, schema.DecimalType):
            back = unchanged

        def rounded(value: Value, _digits: int = 0) -> Value:
            if isinstance(value, float) and not math.isfinite(value):
                return value
            found = exact(value).quantize(unit, rounding=mode, context=WIDE)
            return narrow(back(found))

        return rounded

    return entry.typed(name, _rounding_rule, evaluate, entry.of_constants(lower))


# Forms

_FORM = re.compile(r"%\.([1-9]\d?)e")


def _places(arguments: entry.Arguments) -> int:
    """Returns the number of digits behind the point that a written form asks for."""
    form = entry.constant(arguments[0])
    found = _FORM.fullmatch(form) if isinstance(form, str) else None
    if found is None:
        raise UnsupportedError(f"FORMAT_STRING of {form!r}", hint="'%.15e' is known")
    return int(found[1])


def _form_rule(arguments: entry.Arguments) -> entry.Signature | None:
    """Types FORMAT_STRING: a written form and a number of floating point."""
    if not kinds.is_fraction(arguments[1].type) or not _places(arguments):
        return None
    return entry.Signature((kinds.STRING, kinds.DOUBLE), kinds.STRING)


@ENTRIES.typed("format_string", _form_rule, strict=False, takes=2)
def _forming(call: Call) -> entry.Compute:
    places = _places(call.arguments)
    # Java cuts the word for nothing as it would cut any other.
    nothing = "null"[:places]
    return lambda _form, value: nothing if value is None else _scientific(value, places)


def _scientific(value: float, places: int) -> str:
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


# Curves: Python raises where Java gives an infinity or NaN


@ENTRIES.row("cosh", "double -> double", "cosh")
def _catenary(value: float) -> float:
    # unlike the other curves, it is positive on both sides
    try:
        return math.cosh(value)
    except OverflowError:
        return math.inf


@ENTRIES.row("pow", "double, double -> double", "power")
def _power(base: float, exponent: float) -> float:
    # Python gives 1 for these
    if abs(base) == 1 and math.isinf(exponent):
        return math.nan
    if base == 1 and math.isnan(exponent):
        return math.nan
    # only an odd power of a negative number is negative
    is_odd = math.isfinite(exponent) and math.fmod(exponent, 2) in (1, -1)
    try:
        return math.pow(base, exponent)
    except OverflowError:
        return -math.inf if base < 0 and is_odd else math.inf
    except ValueError:
        if base != 0:
            return math.nan
        return math.copysign(math.inf, base) if is_odd else math.inf


@ENTRIES.row("exp", "double -> double", "exp")
def _exponential(value: float) -> float:
    try:
        return math.exp(value)
    except OverflowError:
        return math.inf


@ENTRIES.row("sign", "double -> double", "sign")
def _sign(value: float) -> float:
    # zeros keep their sign
    return value if value == 0 or math.isnan(value) else math.copysign(1.0, value)


def _curve(name: str, curve: Callable[[float], float]) -> entry.Function:
    """Returns the entry of a function of one double: NaN where Python has no value."""

    def computed(value: float) -> float:
        try:
            return curve(value)
        except ValueError:
            return math.nan
        except OverflowError:
            return math.copysign(math.inf, value)

    return entry.row(name, "double -> double", computed, name)


def _logarithm(
    name: str, curve: Callable[[float], float], above: float = 0
) -> entry.Function:
    """Returns the entry of a logarithm, null of what is not above a bound."""
    return entry.row(
        name,
        "double -> double",
        lambda value: None if value <= above else curve(value),
        name,
    )


@ENTRIES.row("log of base", "double, double -> double", "log of base")
def _to_base(base: float, value: float) -> float | None:
    if base <= 0 or value <= 0:
        return None
    above, below = math.log(value), math.log(base)
    if below == 0:
        return math.copysign(math.inf, above) if above else math.nan
    return math.nan if math.isinf(above) and math.isinf(below) else above / below


@ENTRIES.macro("log", ("ln", "log of base"), takes=1, optional=1)
def _log(build: entry.Build, *given: Node) -> Node:
    return build("ln" if len(given) == 1 else "log of base", *given)


FUNCTIONS: tuple[entry.Entry, ...] = (
    *ENTRIES.written,
    _signed("negative", operator.neg, SIGNS.minus),
    # a decimal that has no sign loses no digits either
    _signed("abs", abs, lambda value: SIGNS.minus(value) if value < 0 else value),
    entry.row("positive", _AMOUNT, unchanged, "coalesce", takes=1),
    _to_whole("floor", math.floor),
    _to_whole("ceil", math.ceil),
    _rounding("round", decimal.ROUND_HALF_UP),
    _rounding("bround", decimal.ROUND_HALF_EVEN),
    entry.row(
        "sqrt",
        "double -> double",
        lambda value: math.nan if value < 0 else math.sqrt(value),
        "sqrt",
    ),
    entry.row("hypot", "double, double -> double", math.hypot, "hypot"),
    # a negative zero is a zero to Spark
    entry.row(
        "atan2",
        "double, double -> double",
        lambda height, width: math.atan2(height + 0.0, width + 0.0),
        "atan2",
    ),
    _curve("sin", math.sin),
    _curve("cos", math.cos),
    _curve("tan", math.tan),
    _curve("asin", math.asin),
    _curve("acos", math.acos),
    _curve("atan", math.atan),
    _curve("sinh", math.sinh),
    _curve("tanh", math.tanh),
    _curve("degrees", math.degrees),
    _curve("radians", math.radians),
    _curve("cbrt", math.cbrt),
    _curve("expm1", math.expm1),
    # `round` loses the sign of what becomes zero
    _curve(
        "rint",
        lambda value: (
            math.copysign(round(value), value) if math.isfinite(value) else value
        ),
    ),
    _logarithm("ln", math.log),
    _logarithm("log10", math.log10),
    _logarithm("log2", math.log2),
    _logarithm("log1p", math.log1p, above=-1),
    entry.Macro("pi", (), lambda _build: Literal(math.pi, kinds.DOUBLE), takes=0),
    entry.Macro("e", (), lambda _build: Literal(math.e, kinds.DOUBLE), takes=0),
    entry.alias("power", "pow"),
    entry.alias("signum", "sign"),
    entry.alias("ceiling", "ceil"),
)
