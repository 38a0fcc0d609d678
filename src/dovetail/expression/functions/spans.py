"""Arithmetic with moments and spans: what `+`, `-` and `*` mean beside time.

Spans of time are exact numbers of microseconds, a day being 24 hours in UTC. Months
are not: a month later is the same day, or the last one where the month is shorter.
"""

from __future__ import annotations

import calendar
import operator
from collections.abc import Callable
from datetime import date, datetime, timedelta
from decimal import Decimal

from dovetail.expression.coercion import (
    BIGINT,
    BITS,
    DATE,
    DOUBLE,
    INT,
    MOMENTS,
    NULL,
    SMALLINT,
    STRING,
    TIMESTAMP,
    TINYINT,
    is_numeric,
    tightest,
)
from dovetail.expression.functions.casts import checked_cast
from dovetail.expression.functions.function import (
    Arguments,
    Build,
    Entries,
    Entry,
    Evaluation,
    Function,
    Program,
    Rule,
    Signature,
    expects,
    kernel,
    kinds,
    operation,
    plain,
)
from dovetail.expression.tree import Call, Interval, Kind, Node, Value
from dovetail.expression.values import DAY, WIDE, micros, rounded
from dovetail.schema import DecimalType

ENTRIES = Entries()

_LAST_YEAR = 9999


def _is_span(kind: Kind) -> bool:
    """Tells whether a type is a span of time."""
    return isinstance(kind, Interval)


def _is_time(kind: Kind) -> bool:
    """Tells whether a type is a date or a moment."""
    return kind == DATE or kind in MOMENTS


def later(value: date, count: int) -> date | None:
    """Returns a date or a moment so many microseconds later, null beyond the years."""
    try:
        return value + timedelta(microseconds=count)
    except OverflowError:
        return None


def months_later(value: date, months: int) -> date | None:
    """Returns the same day so many months later, or the last of a shorter month."""
    year, month = divmod(value.year * 12 + value.month - 1 + months, 12)
    if not 0 < year <= _LAST_YEAR:
        return None
    last = calendar.monthrange(year, month + 1)[1]
    return value.replace(year=year, month=month + 1, day=min(value.day, last))


_SHIFTS = ("+ of time", "+ of days", "+ of months", "cast")


@ENTRIES.macro("+", ("+ of numbers", "+ of spans", "date_add", *_SHIFTS), takes=2)
def _plus(build: Build, arguments: Arguments) -> Node:
    """Writes `+` by what stands beside it."""
    left, right = arguments
    if _is_span(left.type) and _is_span(right.type):
        return build("+ of spans", left, right)
    for one, other in ((left, right), (right, left)):
        if _is_span(other.type) and (_is_time(one.type) or one.type == STRING):
            return _shifted(build, one, other)
        if one.type == DATE and other.type != STRING:
            return build("date_add", one, other)
    return build("+ of numbers", left, right)


def _shifted(build: Build, moment: Node, span: Node) -> Node:
    """Returns the call that moves a date, a moment, or the text of one, by a span."""
    if moment.type == STRING and span.type != Interval.MONTHS:
        read = checked_cast("cast", moment, TIMESTAMP)
        return checked_cast("cast", build("+ of time", read, span), STRING)
    if span.type == Interval.MONTHS:
        return build("+ of months", moment, span)
    if moment.type == DATE and span.type == Interval.DAYS:
        return build("+ of days", moment, span)
    return build("+ of time", moment, span)


_DISTANCES = ("- of spans", "- of moments", "- of dates", "negative")


@ENTRIES.macro("-", ("- of numbers", *_DISTANCES, "date_sub", *_SHIFTS), takes=2)
def _minus(build: Build, arguments: Arguments) -> Node:
    """Writes `-` by what stands beside it."""
    left, right = arguments
    if _is_span(right.type):
        if _is_span(left.type):
            return build("- of spans", left, right)
        if _is_time(left.type) or left.type == STRING:
            return _shifted(build, left, build("negative", right))
    if left.type in MOMENTS or right.type in MOMENTS:
        return build("- of moments", left, right)
    if right.type == DATE:
        return build("- of dates", left, right)
    if left.type == DATE and right.type != STRING:
        return build("date_sub", left, right)
    return build("- of numbers", left, right)


@ENTRIES.macro("*", ("* of numbers", "* of spans"), takes=2)
def _times(build: Build, arguments: Arguments) -> Node:
    """Writes `*`: a span may stand on either side of a number."""
    left, right = arguments
    if _is_span(right.type):
        left, right = right, left
    name = "* of spans" if _is_span(left.type) else "* of numbers"
    return build(name, left, right)


def _spans_rule(arguments: Arguments) -> Signature | None:
    """Types the sum of spans: both of months, or both of days and time."""
    left, right = kinds(arguments)
    common = tightest(left, right)
    return Signature((common, common), common) if common is not None else None


def _shift_rule(span: Interval, result: Kind | None = None) -> Rule:
    """Returns the rule of a moment moved by a span."""

    def rule(arguments: Arguments) -> Signature | None:
        moment = arguments[0].type
        if not _is_time(moment):
            return None
        if span == Interval.TIME and moment == DATE:
            moment = TIMESTAMP
        return Signature((moment, arguments[1].type), result or moment)

    return rule


def _moments_rule(arguments: Arguments) -> Signature | None:
    """Types the distance of two moments: in time, both of one kind."""
    found = {kind for kind in kinds(arguments) if kind in MOMENTS}
    common = TIMESTAMP if TIMESTAMP in found else MOMENTS[1]
    fits = all(_is_time(kind) or kind in (STRING, NULL) for kind in kinds(arguments))
    return Signature((common, common), Interval.TIME) if fits else None


def _product_rule(arguments: Arguments) -> Signature | None:
    """Types a span times a number: whole, decimal, or double."""
    span, number = kinds(arguments)
    number = DOUBLE if number in (STRING, NULL) else number
    result = Interval.TIME if span == Interval.DAYS else span
    return Signature((span, number), result) if is_numeric(number) else None


def _lower_product(call: Call, arguments: tuple[Program, ...]) -> Program | None:
    """Lowers a span times a whole number."""
    if call.arguments[1].type not in BITS:
        return None
    span, number = arguments
    return operation("multiply", call.type, span, operation("cast", BIGINT, number))


@ENTRIES.typed("* of spans", _product_rule, columnwise=_lower_product)
def _product(call: Call) -> Callable[..., Value]:
    """Returns the evaluation of a span times a number, half up, null if huge."""
    most = 1 << (BITS[INT if call.type == Interval.MONTHS else BIGINT] - 1)
    exact: Callable[[Value], Decimal] = (
        Decimal
        if isinstance(call.arguments[1].type, DecimalType)
        or call.arguments[1].type in BITS
        else (lambda value: Decimal(repr(value)))
    )

    def product(span: int, number: Value) -> int | None:
        found = WIDE.multiply(exact(number), Decimal(span))
        if not found.is_finite():
            return None
        whole = int(rounded(found, 0))
        return whole if -most <= whole < most else None

    return product


def _within(operation: Callable[[int, int], int]) -> Evaluation:
    """Returns the evaluation of a sum of spans; too great a sum is null."""

    def evaluate(call: Call) -> Callable[..., Value]:
        most = 1 << (BITS[INT if call.type == Interval.MONTHS else BIGINT] - 1)

        def within(left: int, right: int) -> int | None:
            found = operation(left, right)
            return found if -most <= found < most else None

        return within

    return evaluate


@ENTRIES.function("- of moments", _moments_rule, columnwise=kernel("distance"))
def _distance(left: datetime, right: datetime) -> int:
    """Returns the microseconds between two moments."""
    return micros(left) - micros(right)


_DATES = expects(Interval.DAYS, DATE, DATE)


@ENTRIES.function("- of dates", _DATES, columnwise=kernel("distance"))
def _days_apart(left: date, right: date) -> int:
    """Returns the days between two dates, as a span."""
    return (left - right).days * DAY


def _days_later(value: date, days: int) -> date | None:
    """Returns a date so many days later, null beyond the years."""
    return later(value, days * DAY)


def _shifted_date_rule(arguments: Arguments) -> Signature | None:
    """Types DATE_ADD and DATE_SUB: an int of days, nothing wider."""
    fits = arguments[1].type in (TINYINT, SMALLINT, INT, NULL)
    return expects(DATE, DATE, INT)(arguments) if fits else None


@ENTRIES.function("date_sub", _shifted_date_rule, columnwise=kernel("days_earlier"))
def _days_earlier(value: date, days: int) -> date | None:
    """Returns a date so many days earlier, null beyond the years."""
    return _days_later(value, -days)


_SECONDS = DecimalType(18, 6)


@ENTRIES.function(
    "make_dt_interval", expects(Interval.TIME, INT, INT, INT, _SECONDS, optional=4)
)
def _made_time(*parts: Value) -> int:
    """Returns the span of days, hours, minutes and seconds, as many as are given."""
    found = Decimal(0)
    for part, size in zip(parts, _SIZES, strict=False):
        found += WIDE.multiply(Decimal(part), Decimal(size))
    return int(found)


@ENTRIES.function("make_ym_interval", expects(Interval.MONTHS, INT, INT, optional=2))
def _made_months(*parts: int) -> int:
    """Returns the span of years and months, as many as are given."""
    return sum(part * size for part, size in zip(parts, (12, 1), strict=False))


_SIZES = (DAY, DAY // 24, DAY // 1440, DAY // 86_400)


FUNCTIONS: tuple[Entry, ...] = (
    *ENTRIES.written,
    Function("+ of spans", _spans_rule, _within(operator.add), kernel("add")),
    Function("- of spans", _spans_rule, _within(operator.sub), kernel("subtract")),
    Function("+ of time", _shift_rule(Interval.TIME), plain(later), kernel("later")),
    Function("+ of days", _shift_rule(Interval.DAYS), plain(later), kernel("later")),
    Function(
        "+ of months",
        _shift_rule(Interval.MONTHS),
        plain(months_later),
        kernel("months_later"),
    ),
    Function("date_add", _shifted_date_rule, plain(_days_later), kernel("days_later")),
)
