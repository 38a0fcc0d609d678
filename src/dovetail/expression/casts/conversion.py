"""Which values a cast makes of which, by Spark's rules without ANSI mode.

What cannot be converted is null; whole numbers that are too great lose their high
bits. A `careful` conversion (TRY_CAST) is null there too.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from datetime import UTC, date, datetime
from decimal import Decimal
from functools import partial

from dovetail.expression.casts import reading
from dovetail.expression.casts.writing import writer
from dovetail.expression.coercion import (
    BIGINT,
    BINARY,
    BITS,
    BOOLEAN,
    DATE,
    DOUBLE,
    FLOAT,
    INT,
    MOMENTS,
    NULL,
    STRING,
    TIMESTAMP,
    TIMESTAMP_NTZ,
    is_numeric,
)
from dovetail.expression.tree import Interval, Kind, Value
from dovetail.expression.values import (
    SECOND,
    WIDE,
    fitted,
    micros,
    moment,
    saturated,
    single,
    wrapped,
)
from dovetail.schema import ArrayType, DecimalType, MapType, StructType

Conversion = Callable[[Value], Value]


def converter(
    source: Kind, target: Kind, *, careful: bool = False
) -> Conversion | None:
    """Returns the function of a value that is not null, or None if there is no cast."""
    if careful and _refuses(source, target):
        return None
    if source == target or {source, target} == {Interval.DAYS, Interval.TIME}:
        return lambda value: value
    if source == NULL or (source == DATE and _never_a_date(target)):
        return lambda _value: None
    if isinstance(source, Interval) or isinstance(target, Interval):
        return None
    if target == STRING:
        exact = careful and isinstance(source, DecimalType)
        return (lambda value: f"{value:f}") if exact else writer(source)
    nested = _nested(source, target, careful=careful)
    return nested or _atomic(source, target, careful=careful)


def _refuses(source: Kind, target: Kind) -> bool:
    """Tells whether TRY_CAST refuses a cast that CAST only does for old times' sake."""
    if source == DATE:
        return _never_a_date(target)
    if target == BINARY:
        return source != STRING
    return {source, target} == {BOOLEAN, TIMESTAMP}


def _never_a_date(target: Kind) -> bool:
    """Tells whether Spark casts dates to a type although all of them become null."""
    return target == BOOLEAN or is_numeric(target)


def _atomic(source: Kind, target: Kind, *, careful: bool) -> Conversion | None:
    """Returns the conversion to a type without parts."""
    if source == STRING:
        return _from_text(target, careful=careful)
    if target == BOOLEAN:
        return _to_boolean(source)
    if target in BITS:
        return _to_whole(source, BITS[target], careful=careful)
    if target in (FLOAT, DOUBLE):
        return _to_fraction(source, single if target == FLOAT else float)
    if isinstance(target, DecimalType):
        return _to_decimal(source, target)
    if target == BINARY:
        return _to_bytes(source)
    return _to_time(source, target)


def _to_bytes(source: Kind) -> Conversion | None:
    """Returns the conversion of a whole number to its bytes, the highest first."""
    if source not in BITS:
        return None
    size = BITS[source] // 8
    return lambda value: value.to_bytes(size, "big", signed=True)


def _from_text(target: Kind, *, careful: bool) -> Conversion | None:
    """Returns the conversion that reads a text."""
    if target in BITS:
        return partial(reading.read_whole, bits=BITS[target], careful=careful)
    if isinstance(target, DecimalType):
        return partial(reading.read_decimal, kind=target)
    readers: dict[Kind, Conversion] = {
        BOOLEAN: reading.read_boolean,
        FLOAT: reading.read_float,
        DOUBLE: reading.read_double,
        DATE: reading.read_date,
        TIMESTAMP: reading.read_moment,
        TIMESTAMP_NTZ: reading.read_local,
        BINARY: str.encode,
    }
    return readers.get(target)


def _to_boolean(source: Kind) -> Conversion | None:
    """Returns the conversion to true where a number is not zero."""
    if is_numeric(source):
        return lambda value: value != 0
    return (lambda value: micros(value) != 0) if source == TIMESTAMP else None


def _to_whole(source: Kind, bits: int, *, careful: bool) -> Conversion | None:
    """Returns the conversion to a machine number of so many bits."""
    if source in (FLOAT, DOUBLE):
        return _careful_cut(bits) if careful else _java_cut(bits)
    if source == TIMESTAMP:
        return lambda value: _narrowed(micros(value) // SECOND, bits, careful=True)
    if is_numeric(source) or source == BOOLEAN:
        return lambda value: _narrowed(int(value), bits, careful=careful)
    return None


def _narrowed(value: int, bits: int, *, careful: bool) -> int | None:
    """Returns the low bits; a careful conversion is null where others are lost."""
    low = wrapped(value, bits)
    return None if careful and low != value else low


def _java_cut(bits: int) -> Conversion:
    """Returns Java's cut of a double: to int or long at the edges, then low bits."""
    least = max(bits, BITS[INT])
    return lambda value: wrapped(saturated(value, least), bits)


def _careful_cut(bits: int) -> Conversion:
    """Returns the cut of a double that is null where it does not fit."""

    def cut(value: float) -> int | None:
        if not math.isfinite(value):
            return None
        return _narrowed(math.trunc(value), bits, careful=True)

    return cut


def _to_fraction(source: Kind, narrow: Callable[[float], float]) -> Conversion | None:
    """Returns the conversion to floating point; a timestamp becomes seconds."""
    if source == TIMESTAMP:
        return lambda value: narrow(micros(value) / SECOND)
    if is_numeric(source) or source == BOOLEAN:
        return lambda value: narrow(float(value))
    return None


def _to_decimal(source: Kind, target: DecimalType) -> Conversion | None:
    """Returns the conversion to a decimal, half up."""
    if source in (FLOAT, DOUBLE):
        return lambda value: fitted(Decimal(repr(value)), target)
    if source == TIMESTAMP:
        return lambda value: fitted(Decimal(micros(value)) / SECOND, target)
    if is_numeric(source) or source == BOOLEAN:
        return lambda value: fitted(Decimal(value), target)
    return None


def _to_time(source: Kind, target: Kind) -> Conversion | None:
    """Returns the conversion between dates and timestamps, or from seconds."""
    if target == TIMESTAMP and is_numeric(source):
        return _from_seconds
    if target == TIMESTAMP and source == BOOLEAN:
        return lambda value: moment(int(value))  # Spark counts a truth in microseconds
    if source not in (DATE, *MOMENTS) or target not in (DATE, *MOMENTS):
        return None
    if target == DATE:
        return datetime.date
    zone = UTC if target == TIMESTAMP else None
    if source == DATE:
        return lambda value: _midnight(value).replace(tzinfo=zone)
    return lambda value: value.replace(tzinfo=zone)


def _midnight(value: date) -> datetime:
    """Returns the first moment of a date."""
    return datetime.combine(value, datetime.min.time())


def _from_seconds(value: Value) -> datetime | None:
    """Returns the moment so many seconds after 1970, cut to microseconds."""
    if isinstance(value, float):
        return (
            moment(saturated(value * SECOND, BITS[BIGINT]))
            if math.isfinite(value)
            else None
        )
    return moment(int(WIDE.multiply(Decimal(value), Decimal(SECOND))))


def _nested(source: Kind, target: Kind, *, careful: bool) -> Conversion | None:
    """Returns the conversion part by part, or None where there are no parts."""
    match source, target:
        case ArrayType(element=one), ArrayType(element=other):
            inner = _optional(one, other, careful=careful)
            return inner and (lambda items: [inner(item) for item in items])
        case MapType(), MapType():
            key = _optional(source.key, target.key, careful=careful)
            value = _optional(source.value, target.value, careful=careful)
            return key and value and partial(_map, key=key, value=value)
        case StructType(), StructType():
            return _record(source, target, careful=careful)
        case _:
            return None


def _optional(source: Kind, target: Kind, *, careful: bool) -> Conversion | None:
    """Returns the conversion of a part, which may be null."""
    inner = converter(source, target, careful=careful)
    return inner and (lambda value: None if value is None else inner(value))


def _map(entries: Value, key: Conversion, value: Conversion) -> Value:
    """Returns the map of converted keys and values."""
    return {key(name): value(item) for name, item in entries.items()}


def _record(
    source: StructType, target: StructType, *, careful: bool
) -> Conversion | None:
    """Returns the conversion of records, field by field in order."""
    if len(source.fields) != len(target.fields):
        return None
    parts = []
    for one, other in zip(source.fields, target.fields, strict=True):
        inner = _optional(one[1], other[1], careful=careful)
        if inner is None:
            return None
        parts.append((one[0], other[0], inner))
    return lambda record: {new: part(record.get(old)) for old, new, part in parts}
