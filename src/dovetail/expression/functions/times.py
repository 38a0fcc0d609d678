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

from dovetail.errors import UnsupportedError
from dovetail.expression.coercion import (
    BIGINT,
    BOOLEAN,
    DATE,
    DOUBLE,
    FRACTIONS,
    INT,
    MOMENTS,
    NULL,
    STRING,
    TIMESTAMP,
    TINYINT,
    is_integral,
    is_numeric,
)
from dovetail.expression.functions.function import (
    Arguments,
    Build,
    Entries,
    Entry,
    Function,
    Program,
    Rule,
    Signature,
    alias,
    constant,
    expects,
    is_literal,
    kernel,
    kinds,
    nothing,
    operation,
    plain,
)
from dovetail.expression.functions.spans import later, months_later
from dovetail.expression.tree import Call, Interval, Kind, Node, Value
from dovetail.expression.values import DAY, SECOND, WIDE, micros, moment
from dovetail.schema import DecimalType

ENTRIES = Entries()

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


def _lower_truncation(call: Call, arguments: tuple[Program, ...]) -> Program | None:
    """Lowers DATE_TRUNC with a written unit."""
    if not is_literal(call.arguments[0]):
        return None
    unit = _UNIT_OF.get(str(constant(call.arguments[0])).lower())
    if unit is None:
        return nothing(call.type)
    return operation("date_trunc", call.type, arguments[1], unit=unit)


@ENTRIES.function(
    "date_trunc", expects(TIMESTAMP, STRING, TIMESTAMP), columnwise=_lower_truncation
)
def truncated(unit: str, value: datetime) -> datetime | None:
    """Returns the beginning of the unit that a moment lies in, null of no unit."""
    name = _UNIT_OF.get(unit.lower())
    if name is None or name == "microsecond":
        return value if name else None
    if name == "millisecond":
        return value.replace(microsecond=value.microsecond // MILLISECOND * MILLISECOND)
    if name in _CLOCK:
        rest = dict.fromkeys(_CLOCK[_CLOCK.index(name) + 1 :], 0)
        return value.replace(**rest)  # type: ignore[arg-type]
    first = day_truncated(name, value.date())
    midnight = datetime.min.time()
    return None if first is None else datetime.combine(first, midnight, value.tzinfo)


def day_truncated(unit: str, value: date) -> date | None:
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


def _seconds_rule(arguments: Arguments) -> Signature | None:
    """Types TIMESTAMP_SECONDS: any number."""
    (kind,) = kinds(arguments)
    kind = DOUBLE if kind == NULL else kind
    return Signature((kind,), TIMESTAMP) if is_numeric(kind) else None


def _moment_rule(arguments: Arguments) -> Signature | None:
    """Types UNIX_SECONDS and the like: a timestamp, nothing that could become one."""
    (kind,) = kinds(arguments)
    return Signature((TIMESTAMP,), BIGINT) if kind in (TIMESTAMP, NULL) else None


def _whole_rule(arguments: Arguments) -> Signature | None:
    """Types TIMESTAMP_MILLIS and TIMESTAMP_MICROS: whole numbers."""
    (kind,) = kinds(arguments)
    fits = is_integral(kind) or kind == NULL
    return Signature((BIGINT,), TIMESTAMP) if fits else None


def _lower_seconds(call: Call, arguments: tuple[Program, ...]) -> Program | None:
    """Lowers TIMESTAMP_SECONDS of whole numbers."""
    if not is_integral(call.arguments[0].type):
        return None
    seconds = operation("cast", BIGINT, *arguments)
    return operation("since", TIMESTAMP, seconds, size=SECOND)


@ENTRIES.typed("timestamp_seconds", _seconds_rule, columnwise=_lower_seconds, takes=1)
def _from_seconds(call: Call) -> Callable[..., Value]:
    """Returns the evaluation of TIMESTAMP_SECONDS, parts of a microsecond cut."""
    if call.arguments[0].type in FRACTIONS:
        return lambda value: _from_micros(Decimal(repr(value)))
    return lambda value: _from_micros(Decimal(value))


def _from_micros(seconds: Decimal) -> datetime | None:
    """Returns the moment so many seconds after 1970."""
    if not seconds.is_finite():
        return None
    return moment(int(WIDE.multiply(seconds, Decimal(SECOND))))


def _part(name: str) -> Callable[[date], int]:
    """Returns the reading of a part of a date or a moment."""
    return lambda value: int(getattr(value, name))


def _date_part(name: str, read: Callable[[date], int]) -> Function:
    """Returns the entry of a part of a date."""
    return Function(name, expects(INT, DATE), plain(read), kernel(name))


def _clock_part(name: str) -> Function:
    """Returns the entry of a part of a timestamp's clock."""
    return Function(name, expects(INT, TIMESTAMP), plain(_part(name)), kernel(name))


def _epoch(name: str, size: int) -> Function:
    """Returns the entry of the units since 1970, whole ones, rounded down."""

    def lower(_call: Call, arguments: tuple[Program, ...]) -> Program:
        return operation("units", BIGINT, *arguments, size=size)

    count = plain(lambda value: micros(value) // size)
    return Function(name, _moment_rule, count, lower, takes=1)


def _since_epoch(name: str, size: int) -> Function:
    """Returns the entry of the moment so many units after 1970."""

    def lower(_call: Call, arguments: tuple[Program, ...]) -> Program:
        return operation("since", TIMESTAMP, *arguments, size=size)

    since = plain(lambda value: moment(value * size))
    return Function(name, _whole_rule, since, lower, takes=1)


def _weekday(value: date) -> int:
    """Returns the number of a weekday, Sunday being 1."""
    return value.isoweekday() % 7 + 1


def _lower_day_truncation(call: Call, arguments: tuple[Program, ...]) -> Program | None:
    """Lowers TRUNC with a written unit to the truncation of midnight."""
    if not is_literal(call.arguments[1]):
        return None
    unit = _UNIT_OF.get(str(constant(call.arguments[1])).lower())
    if unit is None or unit not in _DAY_UNITS:
        return nothing(call.type)
    midnight = operation("cast", TIMESTAMP, arguments[0])
    cut = operation("date_trunc", TIMESTAMP, midnight, unit=unit)
    return operation("cast", DATE, cut)


@ENTRIES.function(
    "trunc", expects(DATE, DATE, STRING), columnwise=_lower_day_truncation
)
def _first_day(value: date, unit: str) -> date | None:
    """Returns the first day of the unit, which for TRUNC is longer than a day."""
    known = _UNIT_OF.get(unit.lower()) in _DAY_UNITS
    return day_truncated(unit, value) if known else None


@ENTRIES.function("last_day", expects(DATE, DATE), columnwise=kernel("last_day"))
def _last_day(value: date) -> date | None:
    """Returns the last day of a month."""
    following = months_later(value.replace(day=1), 1)
    return following and following - timedelta(days=1)


FRACTION = DecimalType(8, 6)
_MINUTE, _HOUR = 60 * SECOND, 3600 * SECOND
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
def _date_part_of(build: Build, arguments: Arguments) -> Node:
    """Writes DATE_PART as the function of the part that is named first."""
    written, value = arguments
    part = _PART_OF.get(str(constant(written)).lower())
    if part is None:
        raise UnsupportedError(f'the part "{constant(written)}"')
    if isinstance(value.type, Interval):
        return build(f"{part} of span", value)
    return build(_OWN.get(part, part), value)


@ENTRIES.function(
    "second of moment", expects(FRACTION, TIMESTAMP), columnwise=kernel("seconds")
)
def _seconds(value: datetime) -> Decimal:
    """Returns the seconds of a moment's minute with their fraction."""
    return _fraction(micros(value) % _MINUTE)


def _fraction(count: int) -> Decimal:
    """Returns microseconds as seconds."""
    return Decimal(count).scaleb(-6)


def _signed(size: int, within: int) -> Callable[[int], int]:
    """Returns the reading of the units in a span that are not in a longer unit."""

    def read(span: int) -> int:
        found = abs(span) % within // size
        return found if span >= 0 else -found

    return read


def _span_rule(result: Kind, *spans: Interval) -> Rule:
    """Returns the rule of a part of a span of certain types."""

    def rule(arguments: Arguments) -> Signature | None:
        return (
            Signature(kinds(arguments), result)
            if kinds(arguments)[0] in spans
            else None
        )

    return rule


def _of_span(part: str, result: Kind, read: Callable[[int], Value]) -> Function:
    """Returns the entry of a part of a span."""
    spans = (Interval.TIME, Interval.DAYS) if part == "day" else (Interval.TIME,)
    rule = _span_rule(result, *spans)
    return Function(f"{part} of span", rule, plain(read), takes=1)


_LONGEST = 1 << 64

SECONDS = DecimalType(16, 6)
_SIZES = {
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
UNITS = frozenset({*_SIZES, *_MONTHS})
_DAYS = ("MONDAY", "TUESDAY", "WEDNESDAY", "THURSDAY", "FRIDAY", "SATURDAY", "SUNDAY")
_DAY_OF = {
    name[:size]: place for place, name in enumerate(_DAYS) for size in (2, 3, len(name))
}
_DAYS_OF_MONTH = 32  # no fewer than any has
_LONG_MONTH = 31.0 * 86_400  # seconds, what MONTHS_BETWEEN counts a month as
_PLACES = 1e8


@ENTRIES.function(
    "make_date", expects(DATE, INT, INT, INT), columnwise=kernel("make_date"), takes=3
)
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


def _lower_counted(call: Call, arguments: tuple[Program, ...]) -> Program:
    """Lowers TIMESTAMPDIFF to a count of months, or of microseconds."""
    unit = _unit(call.arguments)
    name, size = (
        ("months_between", _MONTHS[unit])
        if unit in _MONTHS
        else ("units_between", _SIZES[unit])
    )
    return operation(name, call.type, *arguments[1:], size=size)


@ENTRIES.typed("timestampdiff", _counted_rule, columnwise=_lower_counted, takes=3)
def _counted(call: Call) -> Callable[..., Value]:
    """Returns the evaluation of TIMESTAMPDIFF: whole units, cut towards zero."""
    unit = _unit(call.arguments)
    if unit in _MONTHS:
        size = _MONTHS[unit]
        return lambda _unit, first, last: _cut(whole_months(first, last), size)
    size = _SIZES[unit]
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


def _lower_added(call: Call, arguments: tuple[Program, ...]) -> Program:
    """Lowers TIMESTAMPADD to a moment moved by months, or by microseconds."""
    unit = _unit(call.arguments)
    name = "months_later" if unit in _MONTHS else "later"
    size: Program = ("literal", _MONTHS.get(unit) or _SIZES[unit], str(BIGINT))
    span = operation("multiply", BIGINT, arguments[1], size)
    return operation(name, call.type, arguments[2], span)


@ENTRIES.typed("timestampadd", _added_rule, columnwise=_lower_added, takes=3)
def _added(call: Call) -> Callable[..., Value]:
    """Returns the evaluation of TIMESTAMPADD."""
    unit = _unit(call.arguments)
    if unit in _MONTHS:
        size = _MONTHS[unit]
        return lambda _unit, count, value: months_later(value, count * size)
    size = _SIZES[unit]
    return lambda _unit, count, value: later(value, count * size)


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


_DIFFERENCE = expects(DOUBLE, TIMESTAMP, TIMESTAMP, BOOLEAN, optional=1)


@ENTRIES.function("months_between", _DIFFERENCE)
def _months_between(first: datetime, last: datetime, *is_rounded: bool) -> float:
    """Returns the months between two moments, to 8 places unless told not to."""
    found = _months_apart(first, last)
    if found.is_integer() or is_rounded == (False,):
        return found
    return math.floor(found * _PLACES + 0.5) / _PLACES


@ENTRIES.function("next_day", expects(DATE, DATE, STRING))
def _next_day(value: date, name: str) -> date | None:
    """Returns the first day of that name behind a date, null where the name is none."""
    place = _DAY_OF.get(name.strip().upper())
    if place is None:
        return None
    return later(value, ((place - value.weekday() - 1) % 7 + 1) * DAY)


@ENTRIES.function(
    "date_from_unix_date", expects(DATE, INT), columnwise=kernel("date_of")
)
def _from_days(days: int) -> date | None:
    """Returns the date so many days after 1970."""
    return later(date(1970, 1, 1), days * DAY)


@ENTRIES.function("unix_date", expects(INT, DATE), columnwise=kernel("unix_date"))
def _days(value: date) -> int:
    """Returns the days since 1970."""
    return (value - date(1970, 1, 1)).days


FUNCTIONS: tuple[Entry, ...] = (
    *ENTRIES.written,
    _date_part("year", _part("year")),
    _date_part("quarter", lambda value: (value.month + 2) // 3),
    _date_part("month", _part("month")),
    _date_part("day", _part("day")),
    _date_part("dayofweek", _weekday),
    _date_part("dayofyear", lambda value: value.timetuple().tm_yday),
    _date_part("weekday", date.weekday),
    _date_part("weekofyear", lambda value: value.isocalendar().week),
    _clock_part("hour"),
    _clock_part("minute"),
    _clock_part("second"),
    _epoch("unix_seconds", SECOND),
    _epoch("unix_millis", MILLISECOND),
    _epoch("unix_micros", 1),
    _since_epoch("timestamp_millis", MILLISECOND),
    _since_epoch("timestamp_micros", 1),
    Function(
        "datediff",
        expects(INT, DATE, DATE),
        plain(lambda last, first: (last - first).days),
        kernel("datediff"),
    ),
    Function(
        "add_months",
        expects(DATE, DATE, INT),
        plain(months_later),
        kernel("months_later"),
    ),
    alias("date_diff", "datediff", takes=2),
    alias("dateadd", "date_add", takes=2),
    alias("dayofmonth", "day", takes=1),
    Function(
        "year of week",
        expects(INT, DATE),
        plain(lambda day: day.isocalendar().year),
        kernel("year_of_week"),
    ),
    Function(
        "dayofweek_iso",
        expects(INT, DATE),
        plain(date.isoweekday),
        kernel("dayofweek_iso"),
    ),
    _of_span("day", INT, _signed(DAY, _LONGEST)),
    _of_span("hour", TINYINT, _signed(_HOUR, DAY)),
    _of_span("minute", TINYINT, _signed(_MINUTE, _HOUR)),
    _of_span("second", FRACTION, lambda span: _fraction(_signed(1, _MINUTE)(span))),
    alias("datepart", "date_part"),
    alias("extract", "date_part"),
    _making("make_timestamp", TIMESTAMP),
)
