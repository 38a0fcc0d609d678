"""Dates and timestamps: their parts, their epochs, their beginnings. All in UTC."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, datetime, timedelta
from decimal import Decimal

from dovetail.expression.coercion import (
    BIGINT,
    DATE,
    DOUBLE,
    FRACTIONS,
    INT,
    NULL,
    STRING,
    TIMESTAMP,
    is_integral,
    is_numeric,
)
from dovetail.expression.functions.function import (
    Arguments,
    Entry,
    Function,
    Program,
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
from dovetail.expression.functions.spans import months_later
from dovetail.expression.tree import Call, Value
from dovetail.expression.values import SECOND, WIDE, micros, moment

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


def _lower_truncation(call: Call, arguments: tuple[Program, ...]) -> Program | None:
    """Lowers DATE_TRUNC with a written unit."""
    if not is_literal(call.arguments[0]):
        return None
    unit = _UNIT_OF.get(str(constant(call.arguments[0])).lower())
    if unit is None:
        return nothing(call.type)
    return operation("date_trunc", call.type, arguments[1], unit=unit)


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


def _lower_seconds(call: Call, arguments: tuple[Program, ...]) -> Program | None:
    """Lowers TIMESTAMP_SECONDS of whole numbers."""
    if not is_integral(call.arguments[0].type):
        return None
    seconds = operation("cast", BIGINT, *arguments)
    return operation("since", TIMESTAMP, seconds, size=SECOND)


def _first_day(value: date, unit: str) -> date | None:
    """Returns the first day of the unit, which for TRUNC is longer than a day."""
    known = _UNIT_OF.get(unit.lower()) in _DAY_UNITS
    return day_truncated(unit, value) if known else None


def _last_day(value: date) -> date | None:
    """Returns the last day of a month."""
    following = months_later(value.replace(day=1), 1)
    return following and following - timedelta(days=1)


FUNCTIONS: tuple[Entry, ...] = (
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
    Function(
        "timestamp_seconds", _seconds_rule, _from_seconds, _lower_seconds, takes=1
    ),
    _since_epoch("timestamp_millis", MILLISECOND),
    _since_epoch("timestamp_micros", 1),
    Function(
        "date_trunc",
        expects(TIMESTAMP, STRING, TIMESTAMP),
        plain(truncated),
        _lower_truncation,
    ),
    Function(
        "trunc",
        expects(DATE, DATE, STRING),
        plain(_first_day),
        _lower_day_truncation,
    ),
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
    Function("last_day", expects(DATE, DATE), plain(_last_day), kernel("last_day")),
    alias("date_diff", "datediff", takes=2),
    alias("dateadd", "date_add", takes=2),
    alias("dayofmonth", "day", takes=1),
)
