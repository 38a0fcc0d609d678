"""Dates and timestamps: parts, epochs, beginnings, and what lies between. All in UTC.

The calendar is today's even for days before it was made. A part that no day has (a 30th
of February) gives null. `EXTRACT(part FROM value)` is the function that is named like
the part, but for the seconds, which keep their fraction there, and for spans of time,
whose parts have signs.
"""

from __future__ import annotations

import calendar
import math
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from operator import attrgetter

from dovetail import schema
from dovetail.errors import UnsupportedError
from dovetail.expression import kinds
from dovetail.expression.functions import entry
from dovetail.expression.functions.spans import later, months_later
from dovetail.expression.tree import Call, Interval, Kind, Node, Value
from dovetail.expression.values import (
    DAY,
    HOUR,
    LONG,
    MINUTE,
    SECOND,
    exact,
    micros,
    micros_in,
    moment,
)

ENTRIES = entry.Entries()

# Beginnings

MILLISECOND = 1000
_UNITS = {
    "year": ("year", "yyyy", "yy"),
    "quarter": ("quarter",),
    "month": ("month", "mm", "mon"),
    "week": ("week",),
    "day": ("day", "dd"),
    "hour": ("hour",),
    "minute": ("minute",),
    "second": ("second",),
    "millisecond": ("millisecond",),
    "microsecond": ("microsecond",),
}
_UNIT_OF = {name: unit for unit, names in _UNITS.items() for name in names}
_DAY_UNITS = ("year", "quarter", "month", "week")
_CLOCK = ("hour", "minute", "second", "microsecond")


def _lower_date_trunc(kind: Kind, moment: entry.Program, unit: str) -> entry.Program:
    """Lowers DATE_TRUNC with a written unit; of no unit it is null."""
    known = _UNIT_OF.get(unit.lower())
    if known is None:
        return ("literal", None, str(kind))
    return entry.operation("date_trunc", kind, moment, unit=known)


@ENTRIES.row(
    "date_trunc",
    "string, timestamp -> timestamp",
    entry.of_constants(_lower_date_trunc, at=1),
)
def _truncated(unit: str, value: datetime) -> datetime | None:
    name = _UNIT_OF.get(unit.lower())
    if name is None or name == "microsecond":
        return value if name else None
    if name == "millisecond":
        return value.replace(microsecond=value.microsecond // MILLISECOND * MILLISECOND)
    if name in _CLOCK:
        rest = dict.fromkeys(_CLOCK[_CLOCK.index(name) + 1 :], 0)
        return value.replace(**rest)  # type: ignore[arg-type]
    first = _day_truncated(name, value.date())
    midnight = datetime.min.time()
    return None if first is None else datetime.combine(first, midnight, value.tzinfo)


def _day_truncated(unit: str, value: date) -> date | None:
    """Returns the first day of the unit that a day lies in, null of no such unit."""
    match _UNIT_OF.get(unit.lower()):
        case "year":
            return value.replace(month=1, day=1)
        case "quarter":
            return value.replace(month=(value.month - 1) // 3 * 3 + 1, day=1)
        case "month":
            return value.replace(day=1)
        case "week":
            return value - timedelta(days=value.weekday())
        case "day":
            return value
        case _:
            return None


@entry.of_constants
def _lower_trunc(kind: Kind, day: entry.Program, unit: str) -> entry.Program:
    """Lowers TRUNC with a written unit to the truncation of midnight."""
    midnight = entry.operation("cast", kinds.TIMESTAMP, day)
    if _UNIT_OF.get(unit.lower()) not in _DAY_UNITS:
        return ("literal", None, str(kind))
    return entry.operation(
        "cast", kind, _lower_date_trunc(kinds.TIMESTAMP, midnight, unit)
    )


@ENTRIES.row("trunc", "date, string -> date", _lower_trunc)
def _first_day(value: date, unit: str) -> date | None:
    # TRUNC knows only units that are longer than a day
    known = _UNIT_OF.get(unit.lower()) in _DAY_UNITS
    return _day_truncated(unit, value) if known else None


@ENTRIES.row("last_day", "date -> date", "last_day")
def _last_day(value: date) -> date | None:
    following = months_later(value.replace(day=1), 1)
    return following and following - timedelta(days=1)


_DAYS = ("MONDAY", "TUESDAY", "WEDNESDAY", "THURSDAY", "FRIDAY", "SATURDAY", "SUNDAY")
_DAY_OF = {
    name[:size]: place for place, name in enumerate(_DAYS) for size in (2, 3, len(name))
}


@ENTRIES.row("next_day", "date, string -> date")
def _next_day(value: date, name: str) -> date | None:
    place = _DAY_OF.get(name.strip().upper())
    if place is None:
        return None
    # 1 to 7 days on: never the day itself
    return later(value, ((place - value.weekday() - 1) % 7 + 1) * DAY)


# Epochs

# any number; an unknown one counts as a double
_SECONDS = entry.alike(
    lambda kind: (
        kinds.DOUBLE if kind == kinds.NULL else kind if kinds.is_numeric(kind) else None
    ),
    lambda _kind: kinds.TIMESTAMP,
)


@ENTRIES.row(
    "timestamp_seconds",
    _SECONDS,
    # of whole numbers: what is behind a point is cut off, as Java does it
    lambda call, given: (
        entry.operation(
            "since",
            kinds.TIMESTAMP,
            entry.operation("cast", kinds.BIGINT, *given),
            size=SECOND,
        )
        if kinds.is_integral(call.arguments[0].type)
        else None
    ),
    takes=1,
)
def _from_seconds(value: float | Decimal) -> datetime | None:
    seconds = exact(value)
    return moment(micros_in(seconds)) if seconds.is_finite() else None


# a timestamp, nothing that could become one
_EPOCH = entry.when(
    lambda kind: kind in (kinds.TIMESTAMP, kinds.NULL), "timestamp -> bigint"
)
_COUNT = entry.when(
    lambda kind: kinds.is_integral(kind) or kind == kinds.NULL, "bigint -> timestamp"
)


def _epoch(name: str, size: int) -> entry.Function:
    """Returns the entry of the units since 1970, whole ones, rounded down."""
    return entry.row(
        name,
        _EPOCH,
        lambda value: micros(value) // size,
        lambda _, given: entry.operation("units", kinds.BIGINT, *given, size=size),
        takes=1,
    )


def _since_epoch(name: str, size: int) -> entry.Function:
    """Returns the entry of the moment so many units after 1970."""
    return entry.row(
        name,
        _COUNT,
        lambda value: moment(value * size),
        lambda _, given: entry.operation("since", kinds.TIMESTAMP, *given, size=size),
        takes=1,
    )


# Parts

_NAMES = {
    "year": ("y", "years", "yr", "yrs"),
    "yearofweek": (),
    "quarter": ("qtr",),
    "month": ("mon", "mons", "months"),
    "weekofyear": ("week", "w", "weeks"),
    "day": ("d", "days"),
    "dayofweek": ("dow",),
    "dayofweek_iso": ("dow_iso",),
    "dayofyear": ("doy",),
    "hour": ("h", "hours", "hr", "hrs"),
    "minute": ("m", "min", "mins", "minutes"),
    "second": ("s", "sec", "seconds", "secs"),
}
_PART_OF = {name: part for part, names in _NAMES.items() for name in (part, *names)}
_OWN = {"second": "second of moment", "yearofweek": "year of week"}
_OF_MOMENTS = tuple(_OWN.get(part, part) for part in _NAMES)
_OF_SPANS = tuple(f"{part} of span" for part in ("day", "hour", "minute", "second"))


@ENTRIES.macro("date_part", (*_OF_MOMENTS, *_OF_SPANS), takes=2)
def _date_part(build: entry.Build, written: Node, value: Node) -> Node:
    part = _PART_OF.get(str(entry.constant(written)).lower())
    if part is None:
        raise UnsupportedError(f'the part "{entry.constant(written)}"')
    if isinstance(value.type, Interval):
        return build(f"{part} of span", value)
    return build(_OWN.get(part, part), value)


def _of_date(name: str, read: entry.Compute, columns: str = "") -> entry.Function:
    """Returns the entry of a part of a date."""
    return entry.row(name, "date -> int", read, columns or name)


def _of_clock(name: str) -> entry.Function:
    """Returns the entry of a part of a timestamp's clock."""
    return entry.row(name, "timestamp -> int", attrgetter(name), name)


def _seconds(count: int) -> Decimal:
    """Returns microseconds as seconds with their fraction."""
    return Decimal(count).scaleb(-6)


def _of_span(
    part: str, result: schema.Type, read: entry.Compute, *spans: Interval
) -> entry.Function:
    """Returns the entry of a part of a span of these types."""
    rule = entry.kept(lambda span: result if span in spans else None)
    return entry.row(f"{part} of span", rule, read, takes=1)


def _signed(size: int, within: int) -> Callable[[int], int]:
    """Returns the reading of the units in a span that are not in a longer unit."""

    def read(span: int) -> int:
        found = abs(span) % within // size
        return found if span >= 0 else -found

    return read


_second_of_span = _signed(1, MINUTE)


# What lies between

_SIZES = {
    "microsecond": 1,
    "millisecond": MILLISECOND,
    "second": SECOND,
    "minute": MINUTE,
    "hour": HOUR,
    "day": DAY,
    "dayofyear": DAY,
    "week": 7 * DAY,
}
_MONTHS = {"month": 1, "quarter": 3, "year": 12}


def _unit(arguments: entry.Arguments) -> tuple[int, bool]:
    """Returns the size of the unit that is written first, and whether it is of months.

    Months are counted by the calendar, everything else in microseconds.
    """
    name = str(entry.constant(arguments[0])).lower()
    if name not in {*_SIZES, *_MONTHS}:
        raise UnsupportedError(f'the unit "{name}"')
    return (_MONTHS[name], True) if name in _MONTHS else (_SIZES[name], False)


def _cut(value: int, size: int) -> int:
    """Returns a quotient cut towards zero."""
    return value // size if value >= 0 else -(-value // size)


def _counted_rule(arguments: entry.Arguments) -> entry.Signature | None:
    """Types TIMESTAMPDIFF: a unit, then two moments."""
    _unit(arguments)
    return entry.shape("string, timestamp, timestamp -> bigint")(arguments)


def _lower_counted(call: Call, arguments: entry.Programs) -> entry.Program:
    """Lowers TIMESTAMPDIFF to a count of months, or of microseconds."""
    size, of_months = _unit(call.arguments)
    name = "months_between" if of_months else "units_between"
    return entry.operation(name, call.type, *arguments[1:], size=size)


@ENTRIES.typed("timestampdiff", _counted_rule, _lower_counted, takes=3)
def _counted(call: Call) -> entry.Compute:
    size, of_months = _unit(call.arguments)
    if of_months:
        return lambda _unit, first, last: _cut(_whole_months(first, last), size)
    return lambda _unit, first, last: _cut(micros(last) - micros(first), size)


def _whole_months(first: datetime, last: datetime) -> int:
    """Returns the whole months between moments, as Java counts them: days first."""
    start, end = first.date(), last.date()
    # a day that the clock has not made whole does not count, in either direction
    if end > start and last.time() < first.time():
        end -= timedelta(days=1)
    elif end < start and last.time() > first.time():
        end += timedelta(days=1)
    return _cut(_packed(end) - _packed(start), _DAYS_OF_MONTH)


_DAYS_OF_MONTH = 32  # no fewer than any has


def _packed(day: date) -> int:
    """Returns a day as a number in which all months are of one length."""
    return (day.year * 12 + day.month) * _DAYS_OF_MONTH + day.day


def _added_rule(arguments: entry.Arguments) -> entry.Signature | None:
    """Types TIMESTAMPADD: a unit, a whole number, and a moment that keeps its type."""
    _unit(arguments)
    kind = arguments[2].type
    kept = kind if kind in kinds.MOMENTS else kinds.TIMESTAMP
    return entry.shape(f"string, bigint, {kept} -> {kept}")(arguments)


def _lower_added(call: Call, arguments: entry.Programs) -> entry.Program:
    """Lowers TIMESTAMPADD to a moment moved by months, or by microseconds."""
    size, of_months = _unit(call.arguments)
    literal: entry.Program = ("literal", size, str(kinds.BIGINT))
    span = entry.operation("multiply", kinds.BIGINT, arguments[1], literal)
    name = "months_later" if of_months else "later"
    return entry.operation(name, call.type, arguments[2], span)


@ENTRIES.typed("timestampadd", _added_rule, _lower_added, takes=3)
def _added(call: Call) -> entry.Compute:
    size, of_months = _unit(call.arguments)
    move = months_later if of_months else later
    return lambda _unit, count, value: move(value, count * size)


_LONG_MONTH = 31.0 * 86_400  # seconds, what MONTHS_BETWEEN counts a month as
_PLACES = 1e8


@ENTRIES.row("months_between", "timestamp, timestamp[, boolean] -> double")
def _months_between(first: datetime, last: datetime, *is_rounded: bool) -> float:
    months = float((first.year - last.year) * 12 + first.month - last.month)
    # the same day of both months is whole, and so is the last day of both
    if first.day != last.day and not (_is_last(first) and _is_last(last)):
        months += (_of_month(first) - _of_month(last)) / _LONG_MONTH
    if months.is_integer() or is_rounded == (False,):
        return months
    return math.floor(months * _PLACES + 0.5) / _PLACES


def _is_last(value: date) -> bool:
    """Tells whether a day is the last of its month."""
    return value.day == calendar.monthrange(value.year, value.month)[1]


def _of_month(value: datetime) -> int:
    """Returns the seconds since a month began, of which fractions do not count."""
    return ((value.day * 24 + value.hour) * 60 + value.minute) * 60 + value.second


# Made of parts


@ENTRIES.row("make_date", "int, int, int -> date", "make_date", takes=3)
def _made_date(year: int, month: int, day: int) -> date | None:
    try:
        return date(year, month, day)
    except (ValueError, OverflowError):
        return None


@ENTRIES.row(
    "make_timestamp", "int, int, int, int, int, decimal(16,6) -> timestamp", takes=6
)
def _made_moment(*parts: Value) -> datetime | None:
    *whole, seconds = parts
    year, month, day, hour, minute = whole
    count = micros_in(seconds)
    # the second 60 is the next minute
    if not 0 <= count <= MINUTE:
        return None
    try:
        start = datetime(year, month, day, hour, minute, tzinfo=UTC)
        return start + timedelta(microseconds=count)
    except (ValueError, OverflowError):
        return None


FUNCTIONS: tuple[entry.Entry, ...] = (
    *ENTRIES.written,
    _of_date("year", attrgetter("year")),
    _of_date("quarter", lambda value: (value.month + 2) // 3),
    _of_date("month", attrgetter("month")),
    _of_date("day", attrgetter("day")),
    _of_date("dayofweek", lambda value: value.isoweekday() % 7 + 1),  # Sunday is 1
    _of_date("dayofweek_iso", date.isoweekday),
    _of_date("dayofyear", lambda value: value.timetuple().tm_yday),
    _of_date("weekday", date.weekday),
    _of_date("weekofyear", lambda value: value.isocalendar().week),
    _of_date("year of week", lambda value: value.isocalendar().year, "year_of_week"),
    _of_clock("hour"),
    _of_clock("minute"),
    _of_clock("second"),
    entry.row(
        "second of moment",
        "timestamp -> decimal(8,6)",
        lambda value: _seconds(micros(value) % MINUTE),
        "seconds",
    ),
    # no unit is longer than the days of a span
    _of_span("day", kinds.INT, _signed(DAY, 1 << LONG), Interval.TIME, Interval.DAYS),
    _of_span("hour", kinds.TINYINT, _signed(HOUR, DAY), Interval.TIME),
    _of_span("minute", kinds.TINYINT, _signed(MINUTE, HOUR), Interval.TIME),
    _of_span(
        "second",
        schema.DecimalType(8, 6),
        lambda span: _seconds(_second_of_span(span)),
        Interval.TIME,
    ),
    _epoch("unix_seconds", SECOND),
    _epoch("unix_millis", MILLISECOND),
    _epoch("unix_micros", 1),
    _since_epoch("timestamp_millis", MILLISECOND),
    _since_epoch("timestamp_micros", 1),
    entry.row(
        "unix_date",
        "date -> int",
        lambda value: (value - date(1970, 1, 1)).days,
        "unix_date",
    ),
    entry.row(
        "date_from_unix_date",
        "int -> date",
        lambda days: later(date(1970, 1, 1), days * DAY),
        "date_of",
    ),
    entry.row(
        "datediff",
        "date, date -> int",
        lambda last, first: (last - first).days,
        "datediff",
    ),
    entry.row("add_months", "date, int -> date", months_later, "months_later"),
    entry.alias("date_diff", "datediff", takes=2),
    entry.alias("dateadd", "date_add", takes=2),
    entry.alias("dayofmonth", "day", takes=1),
    entry.alias("datepart", "date_part"),
    entry.alias("extract", "date_part"),
)
