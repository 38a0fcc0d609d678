"""CAST and TRY_CAST: what becomes of a value in another type, and what texts say.

The rules are Spark's without ANSI mode: what cannot be converted is null; whole numbers
that are too great lose their high bits. A `careful` conversion (TRY_CAST) is null there
too. Doubles are written as in Java (`1.0E10`), decimals keep their scale, timestamps
lose the zeros behind the last digit of their fraction. Whitespace around a text does
not count when it is read; dates may end after the year or the month, timestamps
anywhere, and behind its seconds one may carry a zone; else it is UTC.
"""

from __future__ import annotations

import math
import re
import struct
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta, timezone, tzinfo
from decimal import Decimal
from functools import partial
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from dovetail import schema
from dovetail.errors import SpecError
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
from dovetail.expression.functions.function import (
    Arguments,
    Build,
    Entry,
    Function,
    Macro,
    Program,
    Signature,
    operation,
)
from dovetail.expression.tree import Call, Interval, Kind, Node, Value
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

Writer = Callable[[Value], str]
PLAIN_FROM, PLAIN_TO = 1e-3, 1e7  # Java writes doubles outside with an exponent


def writer(kind: Kind) -> Writer:
    """Returns the function that writes values of a type."""
    match kind:
        case schema.DecimalType():
            return lambda value: str(fitted(value, kind))
        case schema.ArrayType(element=element):
            part = _inner(element)
            return lambda items: f"[{', '.join(map(part, items))}]"
        case schema.StructType(fields=fields):
            return _record_writer([(name, _inner(part)) for name, part in fields])
        case schema.MapType(key=key, value=value):
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
    schema.AtomicType.BOOLEAN: lambda value: "true" if value else "false",
    schema.AtomicType.DOUBLE: double_text,
    schema.AtomicType.BINARY: bytes_text,
    FLOAT: float_text,
    STRING: str,
    DATE: date_text,
    MOMENTS[0]: moment_text,
    MOMENTS[1]: moment_text,
}

_BLANKS = "".join(map(chr, range(33))) + "\x7f"  # what Spark trims: controls and space
_WHOLE = re.compile(r"([+-]?)(\d*)(?:\.(\d*))?", re.ASCII)
_NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?", re.ASCII)
# A decimal may be written in any script's digits, because Java's may.
_EXACT = re.compile(_NUMBER.pattern)
_DAY = r"([+-]?\d{4,7})(?:-(\d{1,2})(?:-(\d{1,2})"
_DATE = re.compile(_DAY + r"(?:[ T].*)?)?)?", re.ASCII | re.DOTALL)
# A zone may only follow the seconds.
_CLOCK = r"(\d{1,2})(?::(\d{1,2})(?::(\d{1,2})(?:\.(\d*))?\s*(\D.*)?)?)?"
_MOMENT = re.compile(_DAY + rf"(?:[ T]{_CLOCK})?)?)?", re.ASCII)
_OFFSET = re.compile(r"(?:UTC|GMT|UT)?([+-])(\d{1,2})(?::?(\d{1,2}))?(?::?(\d\d))?")
_WORDS = {"inf": math.inf, "infinity": math.inf, "nan": math.nan}
_SIGNS = frozenset("+-")
_YES, _NO = {"t", "true", "y", "yes", "1"}, {"f", "false", "n", "no", "0"}
_MOST_HOURS = 18  # of a zone's distance from UTC


def read_boolean(text: str) -> bool | None:
    """Returns what a word for yes or no says."""
    word = text.strip(_BLANKS).lower()
    return True if word in _YES else False if word in _NO else None


def read_whole(text: str, bits: int, *, careful: bool = False) -> int | None:
    """Returns a whole number that fits; only the careful mind digits behind a point."""
    found = _WHOLE.fullmatch(text.strip(_BLANKS))
    if not found or not (found[2] or found[3] is not None):
        return None
    if careful and found[3] is not None:
        return None
    value = int(found[1] + (found[2] or "0"))
    return value if -(1 << (bits - 1)) <= value < 1 << (bits - 1) else None


def read_double(text: str) -> float | None:
    """Returns a double; Java's suffixes `d` and `f` are allowed."""
    plain = text.strip(_BLANKS)
    sign, unsigned = (plain[:1], plain[1:]) if plain[:1] in _SIGNS else ("", plain)
    word = _WORDS.get(unsigned.lower())
    if word is not None:
        return -word if sign == "-" else word
    plain = plain[:-1] if plain[-1:] in {"d", "D", "f", "F"} else plain
    return float(plain) if _NUMBER.fullmatch(plain) else None


def read_float(text: str) -> float | None:
    """Returns a single-precision number."""
    value = read_double(text)
    return None if value is None else single(value)


def read_decimal(text: str, kind: schema.DecimalType) -> Decimal | None:
    """Returns a decimal at the type's scale, or None where it has no room."""
    plain = text.strip(_BLANKS)
    if not _EXACT.fullmatch(plain):
        return None
    return fitted(WIDE.create_decimal(plain), kind)


def read_date(text: str) -> date | None:
    """Returns a date; a missing month or day is the first."""
    found = _DATE.fullmatch(text.strip(_BLANKS))
    if not found:
        return None
    try:
        return date(int(found[1]), int(found[2] or 1), int(found[3] or 1))
    except ValueError:
        return None


def read_moment(text: str) -> datetime | None:
    """Returns a timestamp in UTC; a missing part is the least."""
    return _moment(text, UTC)


def read_local(text: str) -> datetime | None:
    """Returns a timestamp without a zone; a zone in the text does not count."""
    return _moment(text, None)


def _moment(text: str, default: tzinfo | None) -> datetime | None:
    """Returns the moment that a text names, in UTC where zones count."""
    found = _MOMENT.fullmatch(text.strip(_BLANKS))
    if not found:
        return None
    try:
        zone = _zone(found[8]) if found[8] else default
        fraction = f"{found[7] or '':0<6}"[:6]
        parts = zip(found.groups()[:6], _LEAST, strict=True)
        year, month, day, *clock = (int(part or least) for part, least in parts)
        midnight = datetime(year, month, day, tzinfo=zone if default else None)
        hour, minute, second = clock
        moment = midnight.replace(
            hour=hour, minute=minute, second=second, microsecond=int(fraction)
        )
        return moment.astimezone(UTC) if default else moment
    except (ValueError, OverflowError, ZoneInfoNotFoundError):
        return None


_LEAST = (1, 1, 1, 0, 0, 0)


def _zone(text: str) -> tzinfo:
    """Returns the zone that a text names, or raises ValueError."""
    plain = text.strip(_BLANKS)
    if plain in {"Z", "UTC", "GMT", "UT"}:
        return UTC
    offset = _OFFSET.fullmatch(plain)
    if not offset:
        return ZoneInfo(plain)
    hours, minutes, seconds = (int(part or 0) for part in offset.groups()[1:])
    away = timedelta(hours=hours, minutes=minutes, seconds=seconds)
    if away > timedelta(hours=_MOST_HOURS):
        raise ValueError(plain)
    return timezone(-away if offset[1] == "-" else away)


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
        exact = careful and isinstance(source, schema.DecimalType)
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
    if isinstance(target, schema.DecimalType):
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
        return partial(read_whole, bits=BITS[target], careful=careful)
    if isinstance(target, schema.DecimalType):
        return partial(read_decimal, kind=target)
    readers: dict[Kind, Conversion] = {
        BOOLEAN: read_boolean,
        FLOAT: read_float,
        DOUBLE: read_double,
        DATE: read_date,
        TIMESTAMP: read_moment,
        TIMESTAMP_NTZ: read_local,
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


def _to_decimal(source: Kind, target: schema.DecimalType) -> Conversion | None:
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
        case schema.ArrayType(element=one), schema.ArrayType(element=other):
            inner = _optional(one, other, careful=careful)
            return inner and (lambda items: [inner(item) for item in items])
        case schema.MapType(), schema.MapType():
            key = _optional(source.key, target.key, careful=careful)
            value = _optional(source.value, target.value, careful=careful)
            return key and value and partial(_map, key=key, value=value)
        case schema.StructType(), schema.StructType():
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
    source: schema.StructType, target: schema.StructType, *, careful: bool
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


TRY_CAST = "try_cast"


def cast(node: Node, kind: Kind) -> Node:
    """Returns the node itself where it has the type, else its cast."""
    return node if node.type == kind else checked_cast("cast", node, kind)


def checked_cast(name: str, node: Node, kind: Kind) -> Node:
    """Returns a CAST or TRY_CAST, or raises where Spark has no such cast."""
    if converter(node.type, kind, careful=name == TRY_CAST) is None:
        raise SpecError(f"no cast from {node.type} to {kind}")
    return Call(name, (node,), kind)


def _rule(_arguments: Arguments) -> Signature | None:
    """Types nothing: a cast is never called by its name alone."""
    return None


def _convert(call: Call) -> Callable[..., Value]:
    """Returns the evaluation of a cast."""
    careful = call.function == TRY_CAST
    found = converter(call.arguments[0].type, call.type, careful=careful)
    return found or (lambda _value: None)


def _lower(call: Call, arguments: tuple[Program, ...]) -> Program | None:
    """Returns the program of a cast, where Arrow casts as Spark does."""
    source, target = call.arguments[0].type, call.type
    if (source, target) == (TIMESTAMP, BIGINT):
        return operation("units", target, *arguments, size=SECOND)
    return operation("cast", target, *arguments) if _is_arrows(source, target) else None


def _lower_careful(call: Call, arguments: tuple[Program, ...]) -> Program | None:
    """Returns the program of a TRY_CAST of a text."""
    source, target = call.arguments[0].type, call.type
    fits = source == STRING and _is_arrows(source, target)
    return operation(TRY_CAST, target, *arguments) if fits else None


def _is_arrows(source: Kind, target: Kind) -> bool:
    """Tells whether Arrow casts whole columns between two types as Spark does."""
    if isinstance(source, Interval):
        return True
    if source == STRING:
        return target in (BOOLEAN, *BITS, FLOAT, DOUBLE)
    if target == STRING:
        return source in (BOOLEAN, *BITS, DATE) or isinstance(
            source, schema.DecimalType
        )
    both = (source, target)
    if all(kind in (DATE, *MOMENTS) for kind in both):
        return True
    from_fraction = source in (FLOAT, DOUBLE) and isinstance(target, schema.DecimalType)
    return not from_fraction and all(
        is_numeric(kind) or kind == BOOLEAN for kind in both
    )


def _named_cast(name: str, kind: Kind) -> Macro:
    """Returns the entry of a cast that is written as a function."""

    def expand(_build: Build, arguments: Arguments) -> Node:
        # also to its own type: a cast number is no longer one that was written
        return checked_cast("cast", arguments[0], kind)

    return Macro(name, expand, ("cast",), takes=1)


FUNCTIONS: tuple[Entry, ...] = (
    Function("cast", _rule, _convert, _lower),
    Function(TRY_CAST, _rule, _convert, _lower_careful),
    *(
        _named_cast(str(kind), kind)
        for kind in (BOOLEAN, *BITS, FLOAT, DOUBLE, STRING, BINARY, DATE, TIMESTAMP)
    ),
    _named_cast("decimal", schema.DecimalType(10, 0)),
)
