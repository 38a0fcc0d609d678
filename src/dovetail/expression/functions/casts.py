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
from collections.abc import Callable, Iterable
from datetime import UTC, date, datetime, timedelta, timezone, tzinfo
from decimal import Decimal
from functools import partial
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from dovetail import schema
from dovetail.errors import SpecError
from dovetail.expression import kinds
from dovetail.expression.functions import entry
from dovetail.expression.tree import Call, Interval, Kind, Node, Value
from dovetail.expression.values import (
    LONG,
    SECOND,
    WIDE,
    exact,
    fitted,
    micros,
    micros_in,
    moment,
    saturated,
    single,
    wrapped,
)

Writer = Callable[[Value], str]
Conversion = Callable[[Value], Value]

# Values as texts

PLAIN_FROM, PLAIN_TO = 1e-3, 1e7  # Java writes doubles outside with an exponent


def writer(kind: Kind) -> Writer:
    """Returns the function that writes values of a type."""
    match kind:
        case schema.DecimalType():
            return lambda value: str(fitted(value, kind))
        case schema.ArrayType(element=element):
            part = _part_writer(element)
            return lambda items: f"[{', '.join(map(part, items))}]"
        case schema.StructType(fields=fields):
            parts = [(name, _part_writer(inner)) for name, inner in fields]
            return lambda record: _in_braces(
                part(record.get(name)) for name, part in parts
            )
        case schema.MapType():
            key, value = _part_writer(kind.key), _part_writer(kind.value)
            return lambda entries: _in_braces(
                f"{key(name)} -> {value(item)}" for name, item in entries.items()
            )
        case _:
            return _WRITERS.get(kind, str)


def _part_writer(kind: Kind) -> Writer:
    """Returns the writer of a part, which may be null."""
    write = writer(kind)
    return lambda value: "null" if value is None else write(value)


def _in_braces(parts: Iterable[str]) -> str:
    return f"{{{', '.join(parts)}}}"


def double_text(value: float) -> str:
    """Returns a double as Java writes it."""
    return _java_text(value, repr(value))


def float_text(value: float) -> str:
    """Returns a single-precision number as Java writes it."""
    # the shortest text that reads back as the same single-precision number
    packed = struct.pack("f", value)
    texts = (f"{value:.{digits}g}" for digits in range(1, 10))
    found = (text for text in texts if struct.pack("f", float(text)) == packed)
    return _java_text(value, next(found))


def _java_text(value: float, shortest: str) -> str:
    """Returns the digits of a shortest text in Java's notation, two at least."""
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "Infinity" if value > 0 else "-Infinity"
    if value == 0:
        return "-0.0" if math.copysign(1, value) < 0 else "0.0"
    number = Decimal(shortest).normalize()
    if len(number.as_tuple().digits) == 1:
        # the nearest of two digits may be nearer than the one: 4.9E-324
        number = Decimal(f"{value:.1e}").normalize()
    if PLAIN_FROM <= abs(value) < PLAIN_TO:
        is_whole = number == number.to_integral_value()
        return f"{number:f}.0" if is_whole else f"{number:f}"
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


_WRITERS: dict[Kind, Writer] = {
    kinds.BOOLEAN: lambda value: "true" if value else "false",
    kinds.DOUBLE: double_text,
    kinds.BINARY: lambda value: value.decode("utf-8", "replace"),
    kinds.FLOAT: float_text,
    kinds.STRING: str,
    kinds.DATE: date_text,
    kinds.TIMESTAMP: moment_text,
    kinds.TIMESTAMP_NTZ: moment_text,
}

# Texts as values

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
_LEAST = (1, 1, 1, 0, 0, 0)  # the parts of a moment that a text leaves out
_OFFSET = re.compile(r"(?:UTC|GMT|UT)?([+-])(\d{1,2})(?::?(\d{1,2}))?(?::?(\d\d))?")
# In any case, with a sign or without.
_WORDS = {"inf": math.inf, "infinity": math.inf, "nan": math.nan}
_SIGNS = frozenset("+-")
_TRUTHS = dict.fromkeys(("t", "true", "y", "yes", "1"), True) | dict.fromkeys(
    ("f", "false", "n", "no", "0"), False
)
_MOST_HOURS = 18  # of a zone's distance from UTC


def _read_whole(text: str, bits: int, *, careful: bool = False) -> int | None:
    """Returns a whole number that fits; only the careful mind digits behind a point."""
    found = _WHOLE.fullmatch(text.strip(_BLANKS))
    if not found or not (found[2] or found[3] is not None):
        return None
    if careful and found[3] is not None:
        return None
    value = int(found[1] + (found[2] or "0"))
    return value if -(1 << (bits - 1)) <= value < 1 << (bits - 1) else None


def _read_double(text: str) -> float | None:
    plain = text.strip(_BLANKS)
    sign, unsigned = (plain[:1], plain[1:]) if plain[:1] in _SIGNS else ("", plain)
    word = _WORDS.get(unsigned.lower())
    if word is not None:
        return -word if sign == "-" else word
    # Java allows its suffixes
    plain = plain[:-1] if plain[-1:] in {"d", "D", "f", "F"} else plain
    return float(plain) if _NUMBER.fullmatch(plain) else None


def _read_date(text: str) -> date | None:
    found = _DATE.fullmatch(text.strip(_BLANKS))
    if not found:
        return None
    try:
        return date(int(found[1]), int(found[2] or 1), int(found[3] or 1))
    except ValueError:
        return None


def _read_moment(text: str, default: tzinfo | None) -> datetime | None:
    """Returns the moment that a text names; without a default, zones do not count."""
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


_READERS: dict[Kind, Conversion] = {
    kinds.BOOLEAN: lambda text: _TRUTHS.get(text.strip(_BLANKS).lower()),
    kinds.FLOAT: lambda text: (
        None if (value := _read_double(text)) is None else single(value)
    ),
    kinds.DOUBLE: _read_double,
    kinds.DATE: _read_date,
    kinds.TIMESTAMP: partial(_read_moment, default=UTC),
    kinds.TIMESTAMP_NTZ: partial(_read_moment, default=None),
    kinds.BINARY: str.encode,
}

# Conversions


def converter(
    source: Kind, target: Kind, *, careful: bool = False
) -> Conversion | None:
    """Returns the function of a value that is not null, or None if there is no cast."""
    if careful and _refuses(source, target):
        return None
    if source == target or {source, target} == {Interval.DAYS, Interval.TIME}:
        return lambda value: value
    if source == kinds.NULL or (source == kinds.DATE and _never_a_date(target)):
        return lambda _value: None
    if isinstance(source, Interval) or isinstance(target, Interval):
        return None
    if target == kinds.STRING:
        # TRY_CAST writes decimals without an exponent
        if careful and isinstance(source, schema.DecimalType):
            return lambda value: f"{value:f}"
        return writer(source)
    nested = _nested(source, target, careful=careful)
    return nested or _atomic(source, target, careful=careful)


def _refuses(source: Kind, target: Kind) -> bool:
    """Tells whether TRY_CAST refuses a cast that CAST only does for old times' sake."""
    if source == kinds.DATE:
        return _never_a_date(target)
    if target == kinds.BINARY:
        return source != kinds.STRING
    return {source, target} == {kinds.BOOLEAN, kinds.TIMESTAMP}


def _never_a_date(target: Kind) -> bool:
    """Tells whether Spark casts dates to a type although all of them become null."""
    return target == kinds.BOOLEAN or kinds.is_numeric(target)


def _atomic(source: Kind, target: Kind, *, careful: bool) -> Conversion | None:
    """Returns the conversion to a type without parts."""
    if source == kinds.STRING:
        if target in kinds.BITS:
            return partial(_read_whole, bits=kinds.BITS[target], careful=careful)
        if isinstance(target, schema.DecimalType):
            return lambda text: (
                fitted(WIDE.create_decimal(plain), target)
                if _EXACT.fullmatch(plain := text.strip(_BLANKS))
                else None
            )
        return _READERS.get(target)
    if target == kinds.BOOLEAN:
        if kinds.is_numeric(source):
            return lambda value: value != 0
        # a timestamp is false at the very beginning of 1970
        at_begin = source == kinds.TIMESTAMP
        return (lambda value: micros(value) != 0) if at_begin else None
    if target in kinds.BITS:
        return _to_whole(source, kinds.BITS[target], careful=careful)
    if target in kinds.FRACTIONS or isinstance(target, schema.DecimalType):
        return _to_inexact(source, target)
    if target == kinds.BINARY and source in kinds.BITS:
        size = kinds.BITS[source] // 8
        return lambda value: value.to_bytes(size, "big", signed=True)
    return _to_time(source, target)


def _is_number(kind: Kind) -> bool:
    """Tells whether values of a type can be counted with; truths are 1 and 0."""
    return kinds.is_numeric(kind) or kind == kinds.BOOLEAN


def _to_whole(source: Kind, bits: int, *, careful: bool) -> Conversion | None:
    """Returns the conversion to a machine number of so many bits."""
    if kinds.is_fraction(source):
        # Java cuts a double to an int or a long first, at their edges
        wide = max(bits, kinds.BITS[kinds.INT])
        if careful:
            return lambda value: (
                _narrowed(math.trunc(value), bits, careful=True)
                if math.isfinite(value)
                else None
            )
        return lambda value: wrapped(saturated(value, wide), bits)
    if source == kinds.TIMESTAMP:
        return lambda value: _narrowed(micros(value) // SECOND, bits, careful=True)
    if _is_number(source):
        return lambda value: _narrowed(int(value), bits, careful=careful)
    return None


def _narrowed(value: int, bits: int, *, careful: bool) -> int | None:
    """Returns the low bits; a careful conversion is null where others are lost."""
    low = wrapped(value, bits)
    return None if careful and low != value else low


def _to_inexact(source: Kind, target: Kind) -> Conversion | None:
    """Returns the conversion to floating point, or half up to a decimal.

    A timestamp becomes its seconds since 1970.
    """
    if not _is_number(source) and source != kinds.TIMESTAMP:
        return None
    if isinstance(target, schema.DecimalType):
        if source == kinds.TIMESTAMP:
            return lambda value: fitted(Decimal(micros(value)) / SECOND, target)
        return lambda value: fitted(exact(value), target)
    narrow = single if target == kinds.FLOAT else float
    if source == kinds.TIMESTAMP:
        return lambda value: narrow(micros(value) / SECOND)
    return lambda value: narrow(float(value))


def _to_time(source: Kind, target: Kind) -> Conversion | None:
    """Returns the conversion between dates and timestamps, or from seconds."""
    if target == kinds.TIMESTAMP and kinds.is_numeric(source):
        return _from_seconds
    if target == kinds.TIMESTAMP and source == kinds.BOOLEAN:
        return lambda value: moment(int(value))  # Spark counts a truth in microseconds
    if source not in kinds.DATES or target not in kinds.DATES:
        return None
    if target == kinds.DATE:
        return datetime.date
    zone = UTC if target == kinds.TIMESTAMP else None
    if source == kinds.DATE:
        return lambda value: datetime.combine(value, datetime.min.time(), zone)
    return lambda value: value.replace(tzinfo=zone)


def _from_seconds(value: Value) -> datetime | None:
    """Returns the moment so many seconds after 1970, cut to microseconds."""
    if not isinstance(value, float):
        return moment(micros_in(Decimal(value)))
    return moment(saturated(value * SECOND, LONG)) if math.isfinite(value) else None


def _nested(source: Kind, target: Kind, *, careful: bool) -> Conversion | None:
    """Returns the conversion part by part, or None where there are no parts."""

    def part(one: Kind, other: Kind) -> Conversion | None:
        inner = converter(one, other, careful=careful)
        return inner and (lambda value: None if value is None else inner(value))

    match source, target:
        case schema.ArrayType(element=one), schema.ArrayType(element=other):
            inner = part(one, other)
            return inner and (lambda items: [inner(item) for item in items])
        case schema.MapType(), schema.MapType():
            key, value = part(source.key, target.key), part(source.value, target.value)
            if key is None or value is None:
                return None
            return lambda entries: {
                key(name): value(item) for name, item in entries.items()
            }
        case schema.StructType(), schema.StructType():
            if len(source.fields) != len(target.fields):
                return None
            fields = [
                (old, new, part(one, other))
                for (old, one), (new, other) in zip(
                    source.fields, target.fields, strict=True
                )
            ]
            known = [(old, new, inner) for old, new, inner in fields if inner]
            if len(known) < len(fields):
                return None
            return lambda record: {
                new: inner(record.get(old)) for old, new, inner in known
            }
        case _:
            return None


# Casts in the tree, and their programs

TRY_CAST = "try_cast"


def cast(node: Node, kind: Kind) -> Node:
    """Returns the node itself where it has the type, else its cast."""
    return node if node.type == kind else checked_cast("cast", node, kind)


def checked_cast(name: str, node: Node, kind: Kind) -> Node:
    """Returns a CAST or TRY_CAST, or raises where Spark has no such cast."""
    if converter(node.type, kind, careful=name == TRY_CAST) is None:
        raise SpecError(f"no cast from {node.type} to {kind}")
    return Call(name, (node,), kind)


def _convert(call: Call) -> entry.Compute:
    """Returns the evaluation of a cast."""
    careful = call.function == TRY_CAST
    found = converter(call.arguments[0].type, call.type, careful=careful)
    return found or (lambda _value: None)


def _lower(call: Call, arguments: entry.Programs) -> entry.Program | None:
    """Returns the program of a cast, where Arrow casts as Spark does."""
    source, target = call.arguments[0].type, call.type
    # kernels are careful with texts alone
    if call.function == TRY_CAST and source != kinds.STRING:
        return None
    if (source, target) == (kinds.TIMESTAMP, kinds.BIGINT):
        return entry.operation("units", target, *arguments, size=SECOND)
    if not _is_arrows(source, target):
        return None
    return entry.operation(call.function, target, *arguments)


def _is_arrows(source: Kind, target: Kind) -> bool:
    """Tells whether Arrow casts whole columns between two types as Spark does."""
    if isinstance(source, Interval):
        return True
    if source == kinds.STRING:
        return target in (kinds.BOOLEAN, *kinds.BITS, *kinds.FRACTIONS)
    if target == kinds.STRING:
        # doubles and moments are written otherwise by Arrow
        is_exact = isinstance(source, schema.DecimalType)
        return is_exact or source in (kinds.BOOLEAN, *kinds.BITS, kinds.DATE)
    if source in kinds.DATES and target in kinds.DATES:
        return True
    # Spark takes the decimal that a double is written as, Arrow the one that it is
    is_decimal = isinstance(target, schema.DecimalType)
    if kinds.is_fraction(source) and is_decimal:
        return False
    return _is_number(source) and _is_number(target)


def _named(name: str, kind: schema.Type) -> entry.Macro:
    """Returns the entry of a cast that is written as a function."""
    # also to its own type: a cast number is no longer one that was written
    return entry.Macro(
        name,
        ("cast",),
        lambda _build, value: checked_cast("cast", value, kind),
        takes=1,
    )


def _no_rule(_arguments: entry.Arguments) -> None:
    """Types nothing: a cast is never called by its name alone."""


FUNCTIONS: tuple[entry.Entry, ...] = (
    entry.typed("cast", _no_rule, _convert, _lower),
    entry.typed(TRY_CAST, _no_rule, _convert, _lower),
    *(
        _named(str(kind), kind)
        for kind in (
            *(kinds.BOOLEAN, *kinds.BITS, *kinds.FRACTIONS),
            *(kinds.STRING, kinds.BINARY, kinds.DATE, kinds.TIMESTAMP),
        )
    ),
    _named("decimal", schema.DecimalType(10, 0)),
)
