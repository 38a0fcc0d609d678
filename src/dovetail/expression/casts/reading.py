"""Texts as the values that Spark reads out of them; what cannot be read is null.

Whitespace around a text does not count. Dates may end after the year or the month,
timestamps anywhere, and behind its seconds one may carry a zone; else it is UTC.
"""

from __future__ import annotations

import math
import re
from datetime import UTC, date, datetime, timedelta, timezone, tzinfo
from decimal import Decimal
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from dovetail.expression.values import WIDE, fitted, single
from dovetail.schema import DecimalType

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


def read_decimal(text: str, kind: DecimalType) -> Decimal | None:
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
