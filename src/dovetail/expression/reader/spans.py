"""Spans of time as they are written: `INTERVAL 10 MINUTES`, `INTERVAL '1' DAY`.

A span is a number of months, of whole days, or of microseconds; days and time mix,
months mix with neither, because no number of days is a month.
"""

from __future__ import annotations

import re
from decimal import Decimal

from sqlglot import exp

from dovetail.errors import SpecError, UnsupportedError
from dovetail.expression.tree import Interval, Literal
from dovetail.expression.values import DAY, SECOND

_MINUTE, _HOUR = 60 * SECOND, 3600 * SECOND
_UNITS = {
    "year": (Interval.MONTHS, 12),
    "quarter": (Interval.MONTHS, 3),
    "month": (Interval.MONTHS, 1),
    "week": (Interval.DAYS, 7 * DAY),
    "day": (Interval.DAYS, DAY),
    "hour": (Interval.TIME, _HOUR),
    "minute": (Interval.TIME, _MINUTE),
    "second": (Interval.TIME, SECOND),
    "millisecond": (Interval.TIME, 1000),
    "microsecond": (Interval.TIME, 1),
}
_NUMBER = re.compile(r"\s*([+-]?\s*\d*\.?\d+)\s*")
_YEARS = re.compile(r"\s*([+-]?)(\d+)-(\d+)\s*")
_FIELDS = ("day", "hour", "minute", "second")
_PARTS = r"\s*([+-]?)\s*{}(?:\.(\d{{1,9}}))?\s*"


def span(node: exp.Expr) -> Literal:
    """Returns the literal of a written span of time."""
    value, unit = node.this, node.args.get("unit")
    if isinstance(value, exp.Neg):
        inner = span(exp.Interval(this=value.this, unit=unit))
        return Literal(-inner.value, inner.type)
    if not isinstance(value, exp.Literal):
        raise UnsupportedError("an interval that is no literal with its unit")
    if unit is None:
        return _several(value.this)
    if isinstance(unit, exp.IntervalSpan):
        return _from_to(
            value.this, unit.this.name.lower(), unit.expression.name.lower()
        )
    return _single(value.this, unit.name.lower())


def _single(text: str, unit: str) -> Literal:
    """Returns the span of a number of one unit."""
    found, known = _NUMBER.fullmatch(text), _UNITS.get(unit.removesuffix("s"))
    if not found or not known:
        raise _no_span(text, unit)
    kind, size = known
    count = Decimal(found[1].replace(" ", ""))
    if count != int(count) and size != SECOND:
        raise _no_span(text, unit)
    return Literal(int(count * size), kind)


def _several(text: str) -> Literal:
    """Returns the span of a text with units in it: `1 day 3 hours`."""
    words = text.split()
    pairs = zip(words[::2], words[1::2], strict=False)
    spans = [_single(number, unit.lower()) for number, unit in pairs]
    kinds = {span.type for span in spans}
    months = Interval.MONTHS in kinds
    if not spans or len(words) % 2 or (months and len(kinds) > 1):
        raise _no_span(text, "")
    kind = spans[0].type if len(kinds) == 1 else Interval.TIME
    return Literal(sum(span.value for span in spans), kind)


def _from_to(text: str, first: str, last: str) -> Literal:
    """Returns the span of a text with several fields."""
    if (first, last) == ("year", "month"):
        found = _YEARS.fullmatch(text)
        if not found:
            raise _no_span(text, "year to month")
        months = int(found[2]) * 12 + int(found[3])
        return Literal(-months if found[1] == "-" else months, Interval.MONTHS)
    if first not in _FIELDS or last not in _FIELDS:
        raise _no_span(text, f"{first} to {last}")
    return _clock(text, _FIELDS[_FIELDS.index(first) : _FIELDS.index(last) + 1])


def _clock(text: str, fields: tuple[str, ...]) -> Literal:
    """Returns the span of days, hours, minutes and seconds, as many as are named."""
    days = r"(\d+)\s+" if fields[0] == "day" else ""
    clock = ":".join([r"(\d+)"] * (len(fields) - bool(days)))
    found = re.fullmatch(_PARTS.format(days + clock), text)
    if not found:
        raise _no_span(text, f"{fields[0]} to {fields[-1]}")
    sign, *parts, fraction = found.groups()
    sizes = (_UNITS[field][1] for field in fields)
    total = sum(int(part) * size for part, size in zip(parts, sizes, strict=True))
    total += int(f"{fraction or '':0<6}"[:6])
    return Literal(-total if sign == "-" else total, Interval.TIME)


def _no_span(text: str, unit: str) -> SpecError:
    """Returns the error for a text that is no span of its units."""
    return SpecError(f"INTERVAL '{text}' {unit.upper()} is no span of time")
