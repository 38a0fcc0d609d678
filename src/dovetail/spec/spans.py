"""Lengths of time: calendar months and exact microseconds, kept apart.

A month has no length until it is laid on a date, so `1 month` after 31 January is
the last day of February. All arithmetic is in UTC.
"""

from __future__ import annotations

import calendar
import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal

from dovetail.errors import SpecError

SECOND = 1_000_000
_UNITS = {
    "microsecond": (0, 1),
    "millisecond": (0, 1000),
    "second": (0, SECOND),
    "minute": (0, 60 * SECOND),
    "hour": (0, 3600 * SECOND),
    "day": (0, 86_400 * SECOND),
    "week": (0, 7 * 86_400 * SECOND),
    "month": (1, 0),
    "year": (12, 0),
}
_NAMES = [f"{unit}s" for unit in _UNITS]
WHAT_FITS = f"a length of time in {', '.join(_NAMES[:-1])} or {_NAMES[-1]}"
"""What is expected where a length of time stands."""
_PART = re.compile(r"\s*([+-]?\d+(?:\.\d+)?)\s*([a-zA-Z]+)\s*")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
# Every 400 years the calendar is the same again.
_CYCLE = 146_097 * 86_400 * SECOND
_MONTHS_OF_A_CYCLE = 400 * 12


@dataclass(frozen=True, slots=True)
class Span:
    """A length of time, possibly negative."""

    months: int = 0
    microseconds: int = 0

    @property
    def is_exact(self) -> bool:
        """Tells whether the span has the same length on every date."""
        return self.months == 0

    @property
    def is_negative(self) -> bool:
        """Tells whether a part of it goes back."""
        return min(self.months, self.microseconds) < 0

    def negated(self) -> Span:
        """Returns the same length in the other direction."""
        return Span(-self.months, -self.microseconds)

    def after(self, moment: int) -> int:
        """Returns the moment this span later, in microseconds since 1970, UTC."""
        if not self.months:
            return moment + self.microseconds
        # The same day and time of day, or that month's last day. Counted from January
        # of the year 0: a month is the rest of twelve.
        cycle, then = _date(moment)
        cycles, months = divmod(self.months, _MONTHS_OF_A_CYCLE)
        year, month = divmod(then.year * 12 + then.month - 1 + months, 12)
        day = min(then.day, calendar.monthrange(year, month + 1)[1])
        shifted = then.replace(year=year, month=month + 1, day=day)
        return (cycle + cycles) * _CYCLE + _moment(shifted) + self.microseconds

    def least_after(self, moment: int) -> int:
        """Returns the least moment this span after a moment or any later one.

        A month after the last days of January is one day: there a later moment may
        come to an earlier hour of it.
        """
        # 28 January 12:00 --1 month--> 28 February 12:00
        # 29 January 00:00 --1 month--> 28 February 00:00, later and yet less
        moments = [moment]
        if self.months:
            cycle, then = _date(moment)
            midnight = then.replace(hour=0, minute=0, second=0, microsecond=0)
            last = calendar.monthrange(then.year, then.month)[1]
            days = range(then.day + 1, last + 1)
            moments += [
                cycle * _CYCLE + _moment(midnight.replace(day=day)) for day in days
            ]
        return min(map(self.after, moments))

    def in_words(self) -> str:
        """Returns the span as people say it: `1 hour 30 minutes`."""
        parts, rest = [(self.months, "month")], self.microseconds
        for unit, (_, size) in reversed(_UNITS.items()):
            # Ten days are told as days, not as a week and three.
            if size and unit != "week":
                # Towards zero: the parts of a negative length are negative.
                count = int(rest / size)
                parts.append((count, unit))
                rest -= count * size
        told = [
            f"{count} {unit}{'s' * (abs(count) != 1)}" for count, unit in parts if count
        ]
        return " ".join(told) or "0 seconds"

    def __repr__(self) -> str:
        """Returns the span as a user writes it."""
        return f'Span("{self}")'

    def __str__(self) -> str:
        """Returns the span as a text that `parse_span` reads."""
        # In the units that are exact: 90 minutes stay one number, not an hour and 30.
        if self.months and self.microseconds:
            return f"{self.months} months {Span(0, self.microseconds)}"
        if self.months:
            return f"{self.months} months"
        if self.microseconds % SECOND == 0:
            return f"{self.microseconds // SECOND} seconds"
        return f"{self.microseconds} microseconds"


NO_TIME, INSTANT = Span(), Span(0, 1)
# Longer than all that dates can be apart, and short enough to be added to any of them.
_LONGEST = Span(10_000 * 12, 10_000 * 366 * 86_400 * SECOND)


def parse_span(text: str) -> Span:
    """Returns the span that a text such as `10 minutes` or `1 day 2 hours` names."""
    months = microseconds = Decimal(0)
    place = 0
    while part := _PART.match(text, place):
        # One letter is no unit, so `s` is not made an empty one.
        unit = part[2].lower().removesuffix("s") if len(part[2]) > 1 else part[2]
        if unit not in _UNITS:
            break
        amount, size = Decimal(part[1]), _UNITS[unit]
        months += amount * size[0]
        microseconds += amount * size[1]
        place = part.end()
    if place == 0 or place != len(text):
        raise _no_span(f'"{text}" is not a length of time', WHAT_FITS)
    return whole_span(text, months, microseconds)


def whole_span(text: str, months: Decimal, microseconds: Decimal) -> Span:
    """Returns the span of so many months and microseconds, which a text names."""
    if abs(months) > _LONGEST.months or abs(microseconds) > _LONGEST.microseconds:
        raise _no_span(f'"{text}" is too long', "at most 10,000 years")
    # Half an hour is exact; half a month, or half a microsecond, is no length.
    if months % 1 or microseconds % 1:
        raise _no_span(f'"{text}" ends between two microseconds', "whole ones")
    return Span(int(months), int(microseconds))


def _no_span(found: str, expected: str) -> SpecError:
    """Returns the error for a text that names no length of time."""
    hint = 'write for example "10 minutes" or "1 day 2 hours"'
    return SpecError(found, expected, hint, rule="span")


def _date(moment: int) -> tuple[int, datetime]:
    """Returns how many cycles after 1970 a moment lies, and its date in the first one.

    Whatever the year, so is one of the 400 that Python surely knows.
    """
    cycle, within = divmod(moment, _CYCLE)
    return cycle, _EPOCH + timedelta(microseconds=within)


def _moment(date: datetime) -> int:
    """Returns a date and time in microseconds since 1970."""
    return (date - _EPOCH) // timedelta(microseconds=1)
