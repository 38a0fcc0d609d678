"""What a delta window measures its rows by, as whole numbers that compare.

    measure     what the row's value is among all values, MISSING where it is null
    reach       the greatest measure that does not drive the row out

A later row drives out those whose reach is below its measure. Differences are exact,
of doubles what the subtraction of two doubles gives.
"""

from __future__ import annotations

from decimal import Decimal

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from dovetail.kernels.arrays.names import hidden
from dovetail.kernels.arrays.rows import MISSING, NEVER, Mask, Whole

MEASURE, REACH = hidden("measure"), hidden("reach")
SECOND = 1_000_000
_DIGITS, _SIGN = 18, 63

Doubles = npt.NDArray[np.float64]


def measures(values: pa.Array, width: Decimal) -> tuple[Whole, Whole]:
    """Returns the measures and the reaches; a null drives out nobody and stays."""
    if pa.types.is_floating(values.type):
        return _of_doubles(values, width)
    known = np.asarray(values.is_valid())
    whole, scale = _whole(values)
    measure = np.where(known, whole, MISSING)
    left = min(
        int(width * scale), 2 * NEVER + 1
    )  # that far it is from the least of all to NEVER
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
        # a decimal is a whole number, a small one the low half of its bytes
        halves = np.frombuffer(values.buffers()[1], np.int64)
        low, high = halves.reshape(-1, 2)[values.offset :][: len(values)].T
        # Eighteen digits always fit; of wider ones the high half must be all sign.
        if kind.precision > _DIGITS:
            is_large = high != low >> _SIGN
            is_large &= np.asarray(values.is_valid())
            if is_large.any():
                found = values[int(np.argmax(is_large))].as_py()
                most = Decimal(int(NEVER)).scaleb(-values.type.scale)
                raise OverflowError(f"a delta window goes up to {most}, not to {found}")
        return low, 10**kind.scale
    if pa.types.is_timestamp(kind):
        return _filled(values.view(pa.int64())), SECOND
    return _filled(values.cast(pa.int64())), 1


def _filled(values: pa.Array) -> Whole:
    """Returns whole numbers with 0 for nulls."""
    filled: Whole = values.fill_null(0).to_numpy(zero_copy_only=False)
    return filled


def _of_doubles(values: pa.Array, width: Decimal) -> tuple[Whole, Whole]:
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
