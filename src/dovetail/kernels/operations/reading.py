"""Texts in columns as the values that Spark reads out of them; else null.

Numbers are read by Arrow, whole columns at once; times one by one, each distinct text
once. Whitespace around a text does not count.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta, timezone, tzinfo
from decimal import ROUND_HALF_UP, Context, Decimal
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import pyarrow as pa
import pyarrow.compute as pc

from dovetail.kernels.operations.values import Value, each, null_where

_BLANKS = "".join(map(chr, range(33))) + "\x7f"  # what Spark trims: controls and space
_WHOLE = r"^(?P<sign>[+-]?)(?P<digits>[0-9]*)(?P<rest>\.[0-9]*)?$"
# A decimal may be written in any script's digits, because Java's may.
_NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?")
_FRACTION = (
    r"^[+-]?(?:(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?[dDfF]?|inf|nan)$"
)
_YES, _NO = ["t", "true", "y", "yes", "1"], ["f", "false", "n", "no", "0"]
_WIDE = Context(prec=400, rounding=ROUND_HALF_UP, Emax=9999, Emin=-9999, traps=[])
_DIGITS = 19  # no bigint has more
_DAY = r"([+-]?\d{4,7})(?:-(\d{1,2})(?:-(\d{1,2})"
_DATE = re.compile(_DAY + r"(?:[ T].*)?)?)?", re.ASCII | re.DOTALL)
# A zone may only follow the seconds.
_CLOCK = r"(\d{1,2})(?::(\d{1,2})(?::(\d{1,2})(?:\.(\d*))?\s*(\D.*)?)?)?"
_MOMENT = re.compile(_DAY + rf"(?:[ T]{_CLOCK})?)?)?", re.ASCII)
_OFFSET = re.compile(r"(?:UTC|GMT|UT)?([+-])(\d{1,2})(?::?(\d{1,2}))?(?::?(\d\d))?")
_LEAST = (1, 1, 1, 0, 0, 0)
_MOST_HOURS = 18  # of a zone's distance from UTC


def read(kind: pa.DataType, value: Value, *, careful: bool) -> Value:
    """Returns the values of a type that texts say; the careful want whole numbers."""
    plain = pc.utf8_trim(value, characters=_BLANKS)
    if pa.types.is_integer(kind):
        return _whole(kind, plain, careful=careful)
    if pa.types.is_floating(kind):
        return _fraction(plain).cast(kind, safe=False)
    if pa.types.is_boolean(kind):
        return _truth(plain)
    return each(kind, _reader(kind), plain)


def _reader(kind: pa.DataType) -> Callable[[str], object]:
    """Returns the function that reads one text, its whitespace cut off."""
    if pa.types.is_decimal(kind):
        return _decimal(kind)
    if pa.types.is_date(kind):
        return _date
    return _moment if kind.tz else _local


def _truth(plain: Value) -> Value:
    """Returns what words for yes or no say."""
    word = pc.ascii_lower(plain)
    is_yes, is_no = (pc.is_in(word, value_set=pa.array(words)) for words in (_YES, _NO))
    return null_where(pc.invert(pc.or_(is_yes, is_no)), is_yes)


def _whole(kind: pa.DataType, plain: Value, *, careful: bool) -> Value:
    """Returns whole numbers that fit; only the careful mind digits behind a point."""
    parts = pc.extract_regex(plain, pattern=_WHOLE)
    sign, digits, rest = (pc.struct_field(parts, [place]) for place in range(3))
    wrong = pc.and_(pc.equal(digits, ""), pc.equal(rest, ""))
    wrong = pc.or_(wrong, pc.not_equal(rest, "")) if careful else wrong
    short = pc.utf8_ltrim(digits, characters="0")
    long = pc.greater(pc.utf8_length(short), _DIGITS)
    minus = pc.if_else(pc.equal(sign, "-"), "-", "")
    known = null_where(pc.or_(wrong, long), short)
    text = pc.binary_join_element_wise(minus, "0", known, "")
    number = text.cast(pa.decimal128(_DIGITS + 2, 0))
    most = 1 << (kind.bit_width - 1)
    low, high = (pa.scalar(Decimal(edge), number.type) for edge in (-most, most - 1))
    outside = pc.or_(pc.less(number, low), pc.greater(number, high))
    return null_where(outside, number).cast(kind)


def _fraction(plain: Value) -> Value:
    """Returns doubles; Java's suffixes `d` and `f` are allowed."""
    word = pc.replace_substring(pc.ascii_lower(plain), "infinity", "inf")
    wrong = pc.invert(pc.match_substring_regex(word, pattern=_FRACTION))
    unsigned = pc.replace_substring_regex(word, pattern=r"^\+", replacement="")
    digits = pc.replace_substring_regex(
        unsigned, pattern=r"([0-9.])[df]$", replacement=r"\1"
    )
    return null_where(wrong, digits).cast(pa.float64())


def _decimal(kind: pa.Decimal128Type) -> Callable[[str], Decimal | None]:
    """Returns the reading of decimals, half up, null where they have no room."""
    unit, room = Decimal(1).scaleb(-kind.scale), kind.precision - kind.scale

    def exactly(text: str) -> Decimal | None:
        if not _NUMBER.fullmatch(text):
            return None
        found = _WIDE.create_decimal(text).quantize(unit, context=_WIDE)
        fits = found.is_finite() and (not found or found.adjusted() < room)
        return found if fits else None

    return exactly


def _date(text: str) -> date | None:
    """Returns a date; a missing month or day is the first."""
    found = _DATE.fullmatch(text)
    try:
        parts = found.groups() if found else ("",)
        return date(*(int(part or 1) for part in parts)) if found else None
    except ValueError:
        return None


def _moment(text: str) -> datetime | None:
    """Returns a timestamp in UTC; a missing part is the least."""
    found = _MOMENT.fullmatch(text)
    try:
        local = _clocked(found.groups(), UTC) if found else None
        return local and local.astimezone(UTC)
    except (ValueError, OverflowError, ZoneInfoNotFoundError):
        return None


def _local(text: str) -> datetime | None:
    """Returns a timestamp without a zone; a zone in the text does not count."""
    found = _MOMENT.fullmatch(text)
    try:
        local = _clocked(found.groups(), UTC) if found else None
        return local and local.replace(tzinfo=None)
    except (ValueError, OverflowError, ZoneInfoNotFoundError):
        return None


def _clocked(parts: tuple[str | None, ...], default: tzinfo) -> datetime:
    """Returns the moment of a year, a month and so on, in its own zone."""
    *named, fraction, zone = parts
    pairs = zip(named, _LEAST, strict=True)
    year, month, day, hour, minute, second = (
        int(part or least) for part, least in pairs
    )
    microsecond = int(f"{fraction or '':0<6}"[:6])
    place = _zone(zone.strip(_BLANKS)) if zone else default
    return datetime(year, month, day, hour, minute, second, microsecond, place)


def _zone(text: str) -> tzinfo:
    """Returns the zone that a text names, or raises ValueError."""
    if text in {"Z", "UTC", "GMT", "UT"}:
        return UTC
    offset = _OFFSET.fullmatch(text)
    if not offset:
        return ZoneInfo(text)
    hours, minutes, seconds = (int(part or 0) for part in offset.groups()[1:])
    away = timedelta(hours=hours, minutes=minutes, seconds=seconds)
    if away > timedelta(hours=_MOST_HOURS):
        raise ValueError(text)
    return timezone(-away if offset[1] == "-" else away)
