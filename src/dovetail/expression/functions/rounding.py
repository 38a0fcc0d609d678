"""Rounding to a number of digits: ROUND goes half away from zero, BROUND half to even.

FORMAT_STRING writes a number with so many digits, and knows no other form than that.

The digits are written in the expression, because the type of a rounded decimal
depends on them.
"""

from __future__ import annotations

import decimal
import math
import re
from collections.abc import Callable
from decimal import Decimal

from dovetail.errors import UnsupportedError
from dovetail.expression.casts.writing import double_text
from dovetail.expression.coercion import (
    DOUBLE,
    FLOAT,
    INT,
    MOST_DIGITS,
    NULL,
    STRING,
    implicit,
    is_numeric,
)
from dovetail.expression.functions.arithmetic import narrowing
from dovetail.expression.functions.function import (
    Arguments,
    Columnwise,
    Entry,
    Evaluation,
    Function,
    Signature,
    constant,
    written,
)
from dovetail.expression.tree import Call, Kind, Literal, Value
from dovetail.expression.values import WIDE
from dovetail.schema import DecimalType


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


FUNCTIONS: tuple[Entry, ...] = (
    Function("round", _rule, _rounding(decimal.ROUND_HALF_UP), _of_decimals("round")),
    Function(
        "bround", _rule, _rounding(decimal.ROUND_HALF_EVEN), _of_decimals("bround")
    ),
    Function("format_string", _form_rule, _forming, strict=False, takes=2),
)
