"""Values as the texts that Spark casts them to.

Doubles look as in Java (`1.0E10`), decimals keep their scale, timestamps lose the
zeros behind the last digit of their fraction.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable
from datetime import date, datetime
from decimal import Decimal

from dovetail.expression.coercion import DATE, FLOAT, MOMENTS, STRING
from dovetail.expression.tree import Kind, Value
from dovetail.expression.values import fitted
from dovetail.schema import ArrayType, AtomicType, DecimalType, MapType, StructType

Writer = Callable[[Value], str]
PLAIN_FROM, PLAIN_TO = 1e-3, 1e7  # Java writes doubles outside with an exponent


def writer(kind: Kind) -> Writer:
    """Returns the function that writes values of a type."""
    match kind:
        case DecimalType():
            return lambda value: str(fitted(value, kind))
        case ArrayType(element=element):
            part = _inner(element)
            return lambda items: f"[{', '.join(map(part, items))}]"
        case StructType(fields=fields):
            return _record_writer([(name, _inner(part)) for name, part in fields])
        case MapType(key=key, value=value):
            return _map_writer(_inner(key), _inner(value))
        case _:
            return _ATOMIC.get(kind, str)


def _inner(kind: Kind) -> Writer:
    """Returns the writer of a part, which may be null."""
    write = writer(kind)
    return lambda value: "null" if value is None else write(value)


def _record_writer(fields: list[tuple[str, Writer]]) -> Writer:
    """Returns the writer of records: values in braces, without names."""

    def write(record: Value) -> str:
        parts = [part(record.get(name)) for name, part in fields]
        return f"{{{', '.join(parts)}}}"

    return write


def _map_writer(key: Writer, value: Writer) -> Writer:
    """Returns the writer of maps: arrows in braces."""

    def write(entries: Value) -> str:
        parts = [f"{key(name)} -> {value(item)}" for name, item in entries.items()]
        return f"{{{', '.join(parts)}}}"

    return write


def double_text(value: float) -> str:
    """Returns a double as Java writes it."""
    return _java_text(value, repr(value), f"{value:.1e}")


def float_text(value: float) -> str:
    """Returns a single-precision number as Java writes it."""
    return _java_text(value, _shortest_single(value), f"{value:.1e}")


def _shortest_single(value: float) -> str:
    """Returns the shortest text that reads back as the same single-precision number."""
    packed = struct.pack("f", value)
    texts = (f"{value:.{digits}g}" for digits in range(1, 10))
    return next(text for text in texts if struct.pack("f", float(text)) == packed)


def _java_text(value: float, shortest: str, least: str) -> str:
    """Returns the digits of a shortest text in Java's notation, two at least."""
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "Infinity" if value > 0 else "-Infinity"
    if value == 0:
        return "-0.0" if math.copysign(1, value) < 0 else "0.0"
    number = Decimal(shortest).normalize()
    number = number if len(number.as_tuple().digits) > 1 else Decimal(least).normalize()
    if PLAIN_FROM <= abs(value) < PLAIN_TO:
        return (
            f"{number:f}.0" if number == number.to_integral_value() else f"{number:f}"
        )
    return _exponent_text(number)


def _exponent_text(number: Decimal) -> str:
    """Returns a decimal as one digit, a point, the other digits and an exponent."""
    digits = "".join(map(str, number.as_tuple().digits))
    sign = "-" if number.is_signed() else ""
    return f"{sign}{digits[0]}.{digits[1:] or '0'}E{number.adjusted()}"


def date_text(value: date) -> str:
    """Returns a date as year, month, day."""
    return f"{value.year:04}-{value.month:02}-{value.day:02}"


def moment_text(value: datetime) -> str:
    """Returns a timestamp without the zeros at the end of its fraction."""
    clock = f"{value.hour:02}:{value.minute:02}:{value.second:02}"
    fraction = f".{value.microsecond:06}".rstrip("0") if value.microsecond else ""
    return f"{date_text(value)} {clock}{fraction}"


def bytes_text(value: bytes) -> str:
    """Returns the text whose UTF-8 the bytes are."""
    return value.decode("utf-8", "replace")


_ATOMIC: dict[Kind, Writer] = {
    AtomicType.BOOLEAN: lambda value: "true" if value else "false",
    AtomicType.DOUBLE: double_text,
    AtomicType.BINARY: bytes_text,
    FLOAT: float_text,
    STRING: str,
    DATE: date_text,
    MOMENTS[0]: moment_text,
    MOMENTS[1]: moment_text,
}
