"""What a fold makes of the values of a group, all at once: what the definition says."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import reduce
from math import inf, isfinite, isinf, isnan, nan
from typing import Any

from dovetail.expression.values import LONG, WIDE, fitted, wrapped
from dovetail.schema import WHOLE, DecimalType, Type
from dovetail.spec.firing import Fold


def folded(fold: Fold, values: Sequence[Any], kind: Type) -> object:
    """Returns what a fold makes of values, none of which is null."""
    if fold is Fold.COUNT:
        return len(values)
    if not values:
        return None
    match fold:
        case Fold.SUM if isinstance(kind, DecimalType):
            return fitted(reduce(WIDE.add, values), kind)
        case Fold.SUM if kind in WHOLE:
            return wrapped(sum(values), LONG)
        case Fold.SUM:
            return _rounded(values)
        case Fold.SQUARES:
            return _squares([*map(float, values)])
        case Fold.LEAST:
            return min(values, key=_place)
        case Fold.GREATEST:
            return max(values, key=_place)
        case _:
            return values[0 if fold is Fold.FIRST else -1]


def _rounded(values: Sequence[float]) -> float:
    """Returns the sum of doubles, rounded once."""
    endless = {it for it in values if isinf(it)}
    if any(map(isnan, values)) or len(endless) > 1:
        return nan
    if endless:
        return endless.pop()
    return _double(sum(map(Fraction, values), Fraction()))


def _squares(values: Sequence[float]) -> float:
    """Returns the sum of the squares of how far doubles are from their mean."""
    if not all(map(isfinite, values)):
        return nan
    exact = [*map(Fraction, values)]
    mean = sum(exact, Fraction()) / len(exact)
    return _double(sum(((it - mean) ** 2 for it in exact), Fraction()))


def _double(value: Fraction) -> float:
    """Returns a number as a double, without an end where it is too great for one."""
    try:
        return float(value)
    except OverflowError:
        return inf if value > 0 else -inf


def _place(value: Any) -> tuple[bool, Any]:  # noqa: ANN401 - whatever has an order
    """Returns where a value stands: NaN, which does not equal itself, behind all."""
    is_nan = value != value  # noqa: PLR0124 - that is the test
    return is_nan, 0 if is_nan else value
