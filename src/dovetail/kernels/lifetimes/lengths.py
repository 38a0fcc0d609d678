"""Lengths of time: moments so much earlier or later, months by the calendar."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dovetail.kernels.arrays.rows import BEGINNING, NEVER, Whole

_DAY = 86_400_000_000
_DAYS_AT_AN_END = np.arange(1, 4)
"""How many days further the days are that may be too many for another month."""


@dataclass(frozen=True, slots=True)
class Length:
    """A length of time: calendar months, then microseconds."""

    months: int = 0
    microseconds: int = 0

    @property
    def back(self) -> Length:
        """Returns the same length in the other direction."""
        return Length(-self.months, -self.microseconds)


def shift(moments: Whole, length: Length) -> Whole:
    """Returns the moments so much later; missing and infinite ones stay."""
    if length == Length():
        return moments
    fixed = (moments == NEVER) | (moments <= BEGINNING)
    if not length.months and not fixed.any():
        later: Whole = moments + length.microseconds
        return later
    plain = np.where(fixed, 0, moments)
    if length.months:
        plain = _shift_months(plain, length.months)
    return np.where(fixed, moments, plain + length.microseconds)


def least_shifted(moment: int, length: Length) -> int:
    """Returns the least of a moment and all later ones, each so much later.

    The last days of a month may all come to the last day of a shorter one: there a
    later moment may be an earlier hour. Of each day the first moment is the least.
    """
    moments = np.array([moment])
    if length.months and BEGINNING < moment < NEVER:
        moments = np.append(moments, (moment // _DAY + _DAYS_AT_AN_END) * _DAY)
    return int(shift(moments, length).min())


def _shift_months(moments: Whole, months: int) -> Whole:
    """Returns the same day and time so many months away, or the month's last day."""
    times = moments.view("datetime64[us]")
    days, starts = times.astype("datetime64[D]"), times.astype("datetime64[M]")
    target = starts + np.timedelta64(months, "M")
    first, following = (month.astype("datetime64[D]") for month in (target, target + 1))
    last = following - first - 1
    day = first + np.minimum(days - starts.astype("datetime64[D]"), last)
    shifted: Whole = (day.astype("datetime64[us]") + (times - days)).astype(np.int64)
    return shifted
