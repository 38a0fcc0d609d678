"""Parts of dates, moments and spans by their name: EXTRACT and DATE_PART.

`EXTRACT(part FROM value)` is the function that is named like the part, but for the
seconds, which keep their fraction here, and for spans of time, whose parts have signs.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, datetime
from decimal import Decimal

from dovetail.errors import UnsupportedError
from dovetail.expression.coercion import DATE, INT, TIMESTAMP, TINYINT
from dovetail.expression.functions.function import (
    Arguments,
    Build,
    Entry,
    Function,
    Macro,
    Rule,
    Signature,
    alias,
    constant,
    expects,
    kernel,
    kinds,
    plain,
)
from dovetail.expression.tree import Interval, Kind, Node, Value
from dovetail.expression.values import DAY, SECOND, micros
from dovetail.schema import DecimalType

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


def _part(build: Build, arguments: Arguments) -> Node:
    """Writes DATE_PART as the function of the part that is named first."""
    written, value = arguments
    part = _PART_OF.get(str(constant(written)).lower())
    if part is None:
        raise UnsupportedError(f'the part "{constant(written)}"')
    if isinstance(value.type, Interval):
        return build(f"{part} of span", value)
    return build(_OWN.get(part, part), value)


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


_OF_MOMENTS = tuple(_OWN.get(part, part) for part in _NAMES)
_OF_SPANS = tuple(f"{part} of span" for part in ("day", "hour", "minute", "second"))
_LONGEST = 1 << 64

FUNCTIONS: tuple[Entry, ...] = (
    Function(
        "second of moment",
        expects(FRACTION, TIMESTAMP),
        plain(_seconds),
        kernel("seconds"),
    ),
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
    Macro("date_part", _part, (*_OF_MOMENTS, *_OF_SPANS), takes=2),
    alias("datepart", "date_part"),
    alias("extract", "date_part"),
)
