"""Values in columns as the texts that Spark casts them to, each distinct value once."""

from __future__ import annotations

import math
from datetime import datetime
from decimal import ROUND_HALF_UP, Decimal

import numpy as np
import pyarrow as pa

from dovetail.kernels.operations.values import Value, each

_PLAIN_FROM, _PLAIN_TO = 1e-3, 1e7  # Java writes doubles outside with an exponent


def written(kind: pa.DataType, value: Value) -> Value:
    """Returns values as texts."""
    if pa.types.is_float32(value.type):
        return each(kind, _single, value)
    if pa.types.is_float64(value.type):
        return each(kind, lambda number: _java_text(number, repr(number)), value)
    if pa.types.is_timestamp(value.type):
        return each(kind, _moment, value)
    return value.cast(kind)


def _single(value: float) -> str:
    """Returns a single-precision number as Java writes it."""
    return _java_text(value, str(np.float32(value)))


def _java_text(value: float, shortest: str) -> str:
    """Returns the digits of a shortest text in Java's notation, two at least."""
    if not math.isfinite(value):
        return "NaN" if math.isnan(value) else f"{'-' * (value < 0)}Infinity"
    if value == 0:
        return "-0.0" if math.copysign(1, value) < 0 else "0.0"
    number = Decimal(shortest).normalize()
    if len(number.as_tuple().digits) == 1:
        number = Decimal(f"{value:.1e}").normalize()
    if _PLAIN_FROM <= abs(value) < _PLAIN_TO:
        whole = number == number.to_integral_value()
        return f"{number:f}.0" if whole else f"{number:f}"
    digits = "".join(map(str, number.as_tuple().digits))
    sign = "-" * number.is_signed()
    return f"{sign}{digits[0]}.{digits[1:] or '0'}E{number.adjusted()}"


def scientific(kind: pa.DataType, value: Value, *, places: int) -> Value:
    """Returns doubles as one digit, so many behind the point, and an exponent."""
    known = each(kind, lambda number: _scientific(number, places), value)
    return known.fill_null("null"[:places])


def _scientific(value: float, places: int) -> str:
    """Returns a double so, half up."""
    if not math.isfinite(value):
        return _java_text(value, "")
    number = Decimal(repr(value))
    if len(number.normalize().as_tuple().digits) == 1:
        # Java writes two digits at least: 4.9E-324.
        number = Decimal(f"{value:.1e}")
    if number:
        unit = Decimal(1).scaleb(number.adjusted() - places)
        number = number.quantize(unit, ROUND_HALF_UP)
    digits = "".join(map(str, number.as_tuple().digits)).ljust(places + 1, "0")
    sign = "-" * number.is_signed()
    exponent = number.adjusted() if number else 0
    return f"{sign}{digits[0]}.{digits[1 : places + 1]}e{exponent:+03}"


def _moment(value: datetime) -> str:
    """Returns a timestamp without the zeros at the end of its fraction."""
    day = f"{value.year:04}-{value.month:02}-{value.day:02}"
    clock = f"{value.hour:02}:{value.minute:02}:{value.second:02}"
    fraction = f".{value.microsecond:06}".rstrip("0") if value.microsecond else ""
    return f"{day} {clock}{fraction}"
