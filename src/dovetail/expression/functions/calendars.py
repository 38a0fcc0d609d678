"""Dates and moments made of parts, taken apart, and counted between, by the calendar.

Everything is in UTC, by today's calendar even for days before it was made. A part that
no day has (a 30th of February) gives null.
"""

from __future__ import annotations

import calendar
import math
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal

from dovetail.errors import UnsupportedError
from dovetail.expression.coercion import (
    BIGINT,
    BOOLEAN,
    DATE,
    DOUBLE,
    INT,
    MOMENTS,
    STRING,
    TIMESTAMP,
)
from dovetail.expression.functions.function import (
    Arguments,
    Entry,
    Function,
    Program,
    Signature,
    constant,
    expects,
    kernel,
    operation,
    plain,
)
from dovetail.expression.functions.spans import later, months_later
from dovetail.expression.tree import Call, Value
from dovetail.expression.values import DAY, SECOND, WIDE, micros
from dovetail.schema import DecimalType

SECONDS = DecimalType(16, 6)
_MINUTE, _HOUR = 60 * SECOND, 3600 * SECOND
_UNITS = {
    "microsecond": 1,
    "millisecond": 1000,
    "second": SECOND,
    "minute": _MINUTE,
    "hour": _HOUR,
    "day": DAY,
    "dayofyear": DAY,
    "week": 7 * DAY,
}
_MONTHS = {"month": 1, "quarter": 3, "year": 12}
UNITS = frozenset({*_UNITS, *_MONTHS})
_DAYS = ("MONDAY", "TUESDAY", "WEDNESDAY", "THURSDAY", "FRIDAY", "SATURDAY", "SUNDAY")
_DAY_OF = {
    name[:size]: place for place, name in enumerate(_DAYS) for size in (2, 3, len(name))
}
_DAYS_OF_MONTH = 32  # no fewer than any has
_LONG_MONTH = 31.0 * 86_400  # seconds, what MONTHS_BETWEEN counts a month as
_PLACES = 1e8


def _made_date(year: int, month: int, day: int) -> date | None:
    """Returns the day of a year, a month and a day, null where there is none."""
    try:
        return date(year, month, day)
    except (ValueError, OverflowError):
        return None


def _made_moment(kind: Value) -> Callable[..., Value]:
    """Returns the making of a moment of parts; the second 60 is the next minute."""
    zone = UTC if kind == TIMESTAMP else None

    def made(*parts: Value) -> datetime | None:
        *whole, seconds = parts
        year, month, day, hour, minute = whole
        count = int(WIDE.multiply(seconds, Decimal(SECOND)))
        if not 0 <= count <= _MINUTE:
            return None
        try:
            start = datetime(year, month, day, hour, minute, tzinfo=zone)
            return start + timedelta(microseconds=count)
        except (ValueError, OverflowError):
            return None

    return made


def _making(name: str, kind: Value) -> Function:
    """Returns the entry of the making of a moment."""
    rule = expects(kind, *(INT,) * 5, SECONDS)
    return Function(name, rule, plain(_made_moment(kind)), takes=6)


def _unit(arguments: Arguments) -> str:
    """Returns the unit that is written before its arguments."""
    name = str(constant(arguments[0])).lower()
    if name not in UNITS:
        raise UnsupportedError(f'the unit "{name}"')
    return name


def _counted_rule(arguments: Arguments) -> Signature | None:
    """Types TIMESTAMPDIFF: a unit, then two moments."""
    _unit(arguments)
    return expects(BIGINT, STRING, TIMESTAMP, TIMESTAMP)(arguments)


def _added_rule(arguments: Arguments) -> Signature | None:
    """Types TIMESTAMPADD: a unit, a whole number, and a moment that keeps its type."""
    _unit(arguments)
    kind = arguments[2].type if arguments[2].type in MOMENTS else TIMESTAMP
    return expects(kind, STRING, BIGINT, kind)(arguments)


def _counted(call: Call) -> Callable[..., Value]:
    """Returns the evaluation of TIMESTAMPDIFF: whole units, cut towards zero."""
    unit = _unit(call.arguments)
    if unit in _MONTHS:
        size = _MONTHS[unit]
        return lambda _unit, first, last: _cut(whole_months(first, last), size)
    size = _UNITS[unit]
    return lambda _unit, first, last: _cut(micros(last) - micros(first), size)


def _cut(value: int, size: int) -> int:
    """Returns a quotient cut towards zero."""
    return value // size if value >= 0 else -(-value // size)


def whole_months(first: datetime, last: datetime) -> int:
    """Returns the whole months between moments, as Java counts them: days first."""
    start, end = first.date(), last.date()
    if end > start and last.time() < first.time():
        end -= timedelta(days=1)
    elif end < start and last.time() > first.time():
        end += timedelta(days=1)
    return _cut(_packed(end) - _packed(start), _DAYS_OF_MONTH)


def _packed(day: date) -> int:
    """Returns a day as a number in which all months are of one length."""
    return (day.year * 12 + day.month) * _DAYS_OF_MONTH + day.day


def _added(call: Call) -> Callable[..., Value]:
    """Returns the evaluation of TIMESTAMPADD."""
    unit = _unit(call.arguments)
    if unit in _MONTHS:
        size = _MONTHS[unit]
        return lambda _unit, count, value: months_later(value, count * size)
    size = _UNITS[unit]
    return lambda _unit, count, value: later(value, count * size)


def _lower_counted(call: Call, arguments: tuple[Program, ...]) -> Program:
    """Lowers TIMESTAMPDIFF to a count of months, or of microseconds."""
    unit = _unit(call.arguments)
    name, size = (
        ("months_between", _MONTHS[unit])
        if unit in _MONTHS
        else ("units_between", _UNITS[unit])
    )
    return operation(name, call.type, *arguments[1:], size=size)


def _lower_added(call: Call, arguments: tuple[Program, ...]) -> Program:
    """Lowers TIMESTAMPADD to a moment moved by months, or by microseconds."""
    unit = _unit(call.arguments)
    name = "months_later" if unit in _MONTHS else "later"
    size: Program = ("literal", _MONTHS.get(unit) or _UNITS[unit], str(BIGINT))
    span = operation("multiply", BIGINT, arguments[1], size)
    return operation(name, call.type, arguments[2], span)


def _months_apart(first: datetime, last: datetime) -> float:
    """Returns the months between two moments; the same day of both is whole."""
    months = float((first.year - last.year) * 12 + first.month - last.month)
    if first.day == last.day or (_is_last(first) and _is_last(last)):
        return months
    return months + (_of_month(first) - _of_month(last)) / _LONG_MONTH


def _is_last(value: date) -> bool:
    """Tells whether a day is the last of its month."""
    return value.day == calendar.monthrange(value.year, value.month)[1]


def _of_month(value: datetime) -> int:
    """Returns the seconds since a month began, of which fractions do not count."""
    return ((value.day * 24 + value.hour) * 60 + value.minute) * 60 + value.second


def _months_between(first: datetime, last: datetime, *is_rounded: bool) -> float:
    """Returns the months between two moments, to 8 places unless told not to."""
    found = _months_apart(first, last)
    if found.is_integer() or is_rounded == (False,):
        return found
    return math.floor(found * _PLACES + 0.5) / _PLACES


def _next_day(value: date, name: str) -> date | None:
    """Returns the first day of that name behind a date, null where the name is none."""
    place = _DAY_OF.get(name.strip().upper())
    if place is None:
        return None
    return later(value, ((place - value.weekday() - 1) % 7 + 1) * DAY)


def _from_days(days: int) -> date | None:
    """Returns the date so many days after 1970."""
    return later(date(1970, 1, 1), days * DAY)


def _days(value: date) -> int:
    """Returns the days since 1970."""
    return (value - date(1970, 1, 1)).days


_DIFFERENCE = expects(DOUBLE, TIMESTAMP, TIMESTAMP, BOOLEAN, optional=1)

FUNCTIONS: tuple[Entry, ...] = (
    Function(
        "make_date",
        expects(DATE, INT, INT, INT),
        plain(_made_date),
        kernel("make_date"),
        takes=3,
    ),
    _making("make_timestamp", TIMESTAMP),
    Function("timestampdiff", _counted_rule, _counted, _lower_counted, takes=3),
    Function("timestampadd", _added_rule, _added, _lower_added, takes=3),
    Function("months_between", _DIFFERENCE, plain(_months_between)),
    Function("next_day", expects(DATE, DATE, STRING), plain(_next_day)),
    Function("unix_date", expects(INT, DATE), plain(_days), kernel("unix_date")),
    Function(
        "date_from_unix_date", expects(DATE, INT), plain(_from_days), kernel("date_of")
    ),
)
