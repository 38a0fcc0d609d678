"""Arithmetic with moments and spans: what `+`, `-` and `*` mean beside time.

Spans of time are exact numbers of microseconds, a day being 24 hours in UTC. Months
are not: a month later is the same day, or the last one where the month is shorter.
"""

from __future__ import annotations

import calendar
import operator
from collections.abc import Callable
from datetime import date, timedelta
from decimal import Decimal

from dovetail.expression import kinds
from dovetail.expression.functions import entry
from dovetail.expression.functions.casts import checked_cast
from dovetail.expression.tree import Call, Interval, Kind, Node, Value
from dovetail.expression.values import (
    DAY,
    HOUR,
    MINUTE,
    SECOND,
    WIDE,
    exact,
    micros,
    rounded,
)

ENTRIES = entry.Entries()

_LAST_YEAR = 9999


def _is_span(node: Node) -> bool:
    return isinstance(node.type, Interval)


def _is_time(kind: Kind) -> bool:
    return kind == kinds.DATE or kind in kinds.MOMENTS


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
def _plus(build: entry.Build, left: Node, right: Node) -> Node:
    if _is_span(left) and _is_span(right):
        return build("+ of spans", left, right)
    # a span, or a number of days, may stand on either side of a date
    for one, other in ((left, right), (right, left)):
        if _is_span(other) and (_is_time(one.type) or one.type == kinds.STRING):
            return _shifted(build, one, other)
        if one.type == kinds.DATE and other.type != kinds.STRING:
            return build("date_add", one, other)
    return build("+ of numbers", left, right)


def _shifted(build: entry.Build, moment: Node, span: Node) -> Node:
    """Returns the call that moves a date, a moment, or the text of one, by a span."""
    if span.type == Interval.MONTHS:
        return build("+ of months", moment, span)
    if moment.type == kinds.STRING:
        # Spark writes the sum as a text again
        read = checked_cast("cast", moment, kinds.TIMESTAMP)
        return checked_cast("cast", build("+ of time", read, span), kinds.STRING)
    whole_days = moment.type == kinds.DATE and span.type == Interval.DAYS
    return build("+ of days" if whole_days else "+ of time", moment, span)


_DISTANCES = ("- of spans", "- of moments", "- of dates", "negative")


@ENTRIES.macro("-", ("- of numbers", *_DISTANCES, "date_sub", *_SHIFTS), takes=2)
def _minus(build: entry.Build, left: Node, right: Node) -> Node:
    if _is_span(right):
        if _is_span(left):
            return build("- of spans", left, right)
        if _is_time(left.type) or left.type == kinds.STRING:
            return _shifted(build, left, build("negative", right))
    if left.type in kinds.MOMENTS or right.type in kinds.MOMENTS:
        return build("- of moments", left, right)
    if right.type == kinds.DATE:
        return build("- of dates", left, right)
    if left.type == kinds.DATE and right.type != kinds.STRING:
        return build("date_sub", left, right)
    return build("- of numbers", left, right)


@ENTRIES.macro("*", ("* of numbers", "* of spans"), takes=2)
def _times(build: entry.Build, left: Node, right: Node) -> Node:
    # a span may stand on either side of a number
    if _is_span(right):
        left, right = right, left
    return build("* of spans" if _is_span(left) else "* of numbers", left, right)


def _shift(span: Interval, compute: entry.Compute, columns: str) -> entry.Function:
    """Returns the entry of a moment moved by a span."""

    def rule(arguments: entry.Arguments) -> entry.Signature | None:
        moment, given = entry.types(arguments)
        if not _is_time(moment):
            return None
        # hours behind a date are a moment; whole days leave it a date
        if span == Interval.TIME and moment == kinds.DATE:
            moment = kinds.TIMESTAMP
        return entry.Signature((moment, given), moment)

    name = {Interval.TIME: "time", Interval.DAYS: "days", Interval.MONTHS: "months"}
    return entry.row(f"+ of {name[span]}", rule, compute, columns, takes=2)


def _moments_rule(arguments: entry.Arguments) -> entry.Signature | None:
    """Types the distance of two moments: in time, both of one kind."""
    types = entry.types(arguments)
    if not all(_is_time(kind) or kind in (kinds.STRING, kinds.NULL) for kind in types):
        return None
    # one with a zone makes the other one's clock that of UTC
    is_zoned = kinds.TIMESTAMP in types
    common = kinds.TIMESTAMP if is_zoned else kinds.TIMESTAMP_NTZ
    return entry.Signature((common, common), Interval.TIME)


def _product_rule(arguments: entry.Arguments) -> entry.Signature | None:
    """Types a span times a number: whole, decimal, or double."""
    span, number = entry.types(arguments)
    number = kinds.DOUBLE if number in (kinds.STRING, kinds.NULL) else number
    result = Interval.TIME if span == Interval.DAYS else span
    fits = kinds.is_numeric(number)
    return entry.Signature((span, number), result) if fits else None


def _lower_product(call: Call, arguments: entry.Programs) -> entry.Program | None:
    """Lowers a span times a whole number."""
    if not kinds.is_integral(call.arguments[1].type):
        return None
    span, number = arguments
    factor = entry.operation("cast", kinds.BIGINT, number)
    return entry.operation("multiply", call.type, span, factor)


def _room(kind: Kind) -> int:
    """Returns the first count that a span has no room for: months are ints."""
    bits = kinds.BITS[kinds.INT if kind == Interval.MONTHS else kinds.BIGINT]
    return 1 << (bits - 1)


@ENTRIES.typed("* of spans", _product_rule, _lower_product)
def _product(call: Call) -> entry.Compute:
    most = _room(call.type)

    def product(span: int, number: Value) -> int | None:
        found = WIDE.multiply(exact(number), Decimal(span))
        if not found.is_finite():
            return None
        whole = int(rounded(found, 0))
        return whole if -most <= whole < most else None

    return product


def _within(add: Callable[[int, int], int]) -> entry.Evaluation:
    """Returns the evaluation of a sum of spans; too great a sum is null."""

    def evaluate(call: Call) -> entry.Compute:
        most = _room(call.type)

        def within(left: int, right: int) -> int | None:
            found = add(left, right)
            return found if -most <= found < most else None

        return within

    return evaluate


# days are an int, nothing wider
_DAYS = entry.when(
    lambda _date, days: days in (kinds.TINYINT, kinds.SMALLINT, kinds.INT, kinds.NULL),
    "date, int -> date",
)

_SIZES = (DAY, HOUR, MINUTE, SECOND)


@ENTRIES.row(
    "make_dt_interval", "[int, int, int, decimal(18,6)] -> interval day to second"
)
def _made_time(*parts: Value) -> int:
    found = Decimal(0)
    for part, size in zip(parts, _SIZES, strict=False):
        found += WIDE.multiply(Decimal(part), Decimal(size))
    return int(found)


FUNCTIONS: tuple[entry.Entry, ...] = (
    *ENTRIES.written,
    entry.typed(
        "+ of spans", entry.alike(kinds.tightest), _within(operator.add), "add", takes=2
    ),
    entry.typed(
        "- of spans",
        entry.alike(kinds.tightest),
        _within(operator.sub),
        "subtract",
        takes=2,
    ),
    _shift(Interval.TIME, later, "later"),
    _shift(Interval.DAYS, later, "later"),
    _shift(Interval.MONTHS, months_later, "months_later"),
    entry.row(
        "- of moments",
        _moments_rule,
        lambda left, right: micros(left) - micros(right),
        "distance",
    ),
    entry.row(
        "- of dates",
        "date, date -> interval day",
        lambda left, right: (left - right).days * DAY,
        "distance",
    ),
    entry.row(
        "date_add",
        _DAYS,
        lambda value, days: later(value, days * DAY),
        "days_later",
        takes=2,
    ),
    entry.row(
        "date_sub",
        _DAYS,
        lambda value, days: later(value, -days * DAY),
        "days_earlier",
        takes=2,
    ),
    entry.row(
        "make_ym_interval",
        "[int, int] -> interval year to month",
        lambda years=0, months=0: years * 12 + months,
    ),
)
