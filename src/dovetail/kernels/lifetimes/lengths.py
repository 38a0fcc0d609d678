"""Lengths of time: moments so much earlier or later, months by the calendar."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dovetail.kernels.arrays.rows import BEGINNING, NEVER, Whole


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
