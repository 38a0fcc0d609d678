"""What a delta window measures its rows by, as whole numbers that compare.

    measure     what the row's value is among all values, MISSING where it is null
    reach       the greatest measure that does not drive the row out

A later row drives out those whose reach is below its measure. Differences are exact,
of doubles what the subtraction of two doubles gives.

A wide decimal has 128 bits, of which these numbers are the low half. The high halves
stand in columns of their own; for all rows at once they are told apart by rank.
"""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from fractions import Fraction

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from dovetail.kernels.arrays.names import hidden
from dovetail.kernels.arrays.rows import MISSING, NEVER, Mask, Rows, Whole

MEASURE, REACH = hidden("measure"), hidden("reach")
HIGH_MEASURE, HIGH_REACH = hidden("high_measure"), hidden("high_reach")
NAMES = (MEASURE, REACH, HIGH_MEASURE, HIGH_REACH)
SECOND = 1_000_000
# Of so many digits a number has room in 64 bits; the last of them is its sign.
_DIGITS, _SIGN = 18, 63
_HALF = (1 << 64) - 1
_GREATEST = 10**38 - 1
"""The greatest decimal of all, in units of its last place."""

Doubles = npt.NDArray[np.float64]


def names_of(kind: pa.DataType) -> tuple[str, ...]:
    """Returns the columns that measure values of a type."""
    return NAMES if _is_wide(kind) else (MEASURE, REACH)


def measures(values: pa.Array, width: Decimal) -> Mapping[str, Whole]:
    """Returns what measures values; a null drives out nobody and stays."""
    measured = _of_whole
    if pa.types.is_floating(values.type):
        measured = _of_doubles
    elif _is_wide(values.type):
        measured = _of_wide
    return dict(zip(names_of(values.type), measured(values, width), strict=True))


def compared(rows: Rows, old: int) -> tuple[Whole, Whole]:
    """Returns the measures of the rows behind the first `old`, the reaches of all.

    They compare with each other, and with nothing of other rows.
    """
    measure, reach = rows.hidden(MEASURE)[old:], rows.hidden(REACH)
    if HIGH_MEASURE not in rows.payload.schema.names:
        return measure, reach
    high, far = rows.hidden(HIGH_MEASURE)[old:], rows.hidden(HIGH_REACH)
    if ((high == measure >> _SIGN) | (high == MISSING)).all():
        # Mostly the high halves are all sign: what reaches beyond reaches all there is.
        beyond = np.where(far < 0, MISSING, NEVER)
        return measure, np.where(far == reach >> _SIGN, reach, beyond)
    ranks = _ranks(np.concatenate((high, far)), np.concatenate((measure, reach)))
    return ranks[: len(high)], ranks[len(high) :]


def _ranks(high: Whole, low: Whole) -> Whole:
    """Returns whole numbers in the order of others, given in halves; equals are one."""
    plain = low.view(np.uint64)
    order = np.lexsort((plain, high))
    high, plain = high[order], plain[order]
    rises = (high[1:] != high[:-1]) | (plain[1:] != plain[:-1])
    ranks = np.zeros(len(order), np.int64)
    ranks[order[1:]] = np.cumsum(rises)
    return ranks


def _is_wide(kind: pa.DataType) -> bool:
    """Tells whether 64 bits have no room for all values of a type."""
    return bool(pa.types.is_decimal128(kind)) and kind.precision > _DIGITS


def _of_wide(values: pa.Array, width: Decimal) -> tuple[Whole, ...]:
    """Returns the measures and reaches of wide decimals, their high halves behind."""
    known = np.asarray(values.is_valid())
    low, high = _halves(values)
    # No two decimals are farther apart than from the least to the greatest of all.
    far = min(_units(width, 10**values.type.scale), 2 * _GREATEST)
    last = _GREATEST - far
    is_last = (high == last >> 64) & (low.view(np.uint64) > last & _HALF)
    reaches_all = ~known | (high > last >> 64) | is_last
    # As unsigned ones the halves wrap, and what is carried shows in the sum.
    sum_low = low.view(np.uint64) + np.uint64(far & _HALF)
    carried = (sum_low < np.uint64(far & _HALF)).astype(np.uint64)
    sum_high = high.view(np.uint64) + np.uint64(far >> 64) + carried
    return (
        np.where(known, low, MISSING),
        np.where(reaches_all, NEVER, sum_low.view(np.int64)),
        np.where(known, high, MISSING),
        np.where(reaches_all, NEVER, sum_high.view(np.int64)),
    )


def _halves(values: pa.Array) -> tuple[Whole, Whole]:
    """Returns decimals as whole numbers, of 64 bits each their low and high halves."""
    halves = np.frombuffer(values.buffers()[1], np.int64)
    low, high = halves.reshape(-1, 2)[values.offset :][: len(values)].T.copy()
    return low, high


def _units(width: Decimal, scale: int) -> int:
    """Returns how many whole units a width has; of one beyond all values too few."""
    # As a fraction: a product of decimals would be rounded.
    return int(Fraction(min(width, Decimal(2 * _GREATEST))) * scale)


def _of_whole(values: pa.Array, width: Decimal) -> tuple[Whole, ...]:
    """Returns the measures and reaches of what is a whole number of 64 bits."""
    known = np.asarray(values.is_valid())
    whole, scale = _whole(values)
    measure = np.where(known, whole, MISSING)
    # So far it is from the least of all to NEVER.
    left = min(_units(width, scale), 2 * NEVER + 1)
    while left:
        stride = min(left, NEVER)
        whole = np.where(whole <= NEVER - stride, whole + stride, NEVER)
        left -= stride
    reach = np.where(known, whole, NEVER)
    return measure, reach


def fits(kind: pa.DataType) -> bool:
    """Tells whether values of a type have measures."""
    return any(
        is_kind(kind)
        for is_kind in (
            pa.types.is_decimal128,
            pa.types.is_integer,
            pa.types.is_floating,
            pa.types.is_timestamp,
            pa.types.is_null,
        )
    )


def _whole(values: pa.Array) -> tuple[Whole, int]:
    """Returns exact values as whole numbers, and how many of them are one."""
    kind = values.type
    if pa.types.is_decimal(kind):
        # A decimal is a whole number, a small one the low half of its bytes.
        low, _ = _halves(values)
        return low, 10**kind.scale
    if pa.types.is_timestamp(kind):
        return _filled(values.view(pa.int64())), SECOND
    return _filled(values.cast(pa.int64())), 1


def _filled(values: pa.Array) -> Whole:
    """Returns whole numbers with 0 for nulls."""
    filled: Whole = values.fill_null(0).to_numpy(zero_copy_only=False)
    return filled


def _of_doubles(values: pa.Array, width: Decimal) -> tuple[Whole, ...]:
    """Returns the measures and reaches of doubles; NaN is near to all of them."""
    plain = values.cast(pa.float64()).fill_null(np.nan).to_numpy(zero_copy_only=False)
    most = float(width)
    # The nearest double may be above the width: the one below it is what fits.
    if Decimal(most) > width:
        most = float(np.nextafter(most, -np.inf))
    with np.errstate(over="ignore"):
        reach = _in_order(plain + most)
    # The sum may be rounded: it is right where it is not too far, but the next one is.
    wrong = _is_far(plain, reach, most) | ~_is_far(plain, reach + 1, most)
    reach[wrong] = _searched(plain[wrong], most)
    unordered = np.isnan(plain)
    return (
        np.where(unordered, MISSING, _in_order(plain)),
        np.where(unordered, NEVER, reach),
    )


def _is_far(plain: Doubles, order: Whole, most: float) -> Mask:
    """Tells which doubles, given by their order, are too far above others."""
    with np.errstate(invalid="ignore", over="ignore"):
        double = np.where(order < 0, order ^ NEVER, order).view(np.float64)
        far: Mask = (double - plain) > most
    return far


def _searched(plain: Doubles, most: float) -> Whole:
    """Returns the order of the greatest doubles that are not too far, by bisection."""
    low, high = (
        np.full(len(plain), int(_in_order(np.array([end]))[0]))
        for end in (-np.inf, np.inf)
    )
    while bool((low < high).any()):
        # the mean without overflow, the upper one of two
        middle = (low | high) - ((low ^ high) >> 1)
        far = _is_far(plain, middle, most)
        low, high = np.where(far, low, middle), np.where(far, middle - 1, high)
    return low


def _in_order(plain: Doubles) -> Whole:
    """Returns whole numbers that are in the order of doubles; both zeros are one."""
    # Bits of doubles below 0 count the wrong way round; -0.0 + 0.0 is 0.0.
    bits = (plain + 0.0).view(np.int64)
    return np.where(bits < 0, bits ^ NEVER, bits)
