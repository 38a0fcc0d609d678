"""How near right rows are to left ones: their times as numbers, and how far they reach.

A reach is the first and the last right time that a left row may have. Times that are
not known, or have no end, are near to nothing.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dovetail.kernels.arrays.rows import Mask, Rows
from dovetail.kernels.lifetimes.calendar import shift
from dovetail.kernels.pairs.formulas import of_every_row
from dovetail.kernels.settings import Nearest
from dovetail.spec.picks import Direction, Unlimited
from dovetail.spec.spans import Span


@dataclass(frozen=True, slots=True)
class Times:
    """The times of a side's rows, and which rows have one."""

    value: np.ndarray
    known: Mask


def times_of(nearest: Nearest, hand: int, rows: Rows) -> Times:
    """Returns the times by which a side's rows are near to each other."""
    formula = (nearest.left, nearest.right)[hand]
    column = of_every_row(formula, hand, rows)
    if pa.types.is_date32(column.type):
        column = column.cast(pa.timestamp("us"))
    if pa.types.is_timestamp(column.type):
        column = column.view(pa.int64())
    if pa.types.is_decimal(column.type):
        column = _unscaled(column)
    known = np.ones(len(column), bool)
    if column.null_count:
        known = column.is_valid().to_numpy(zero_copy_only=False)
        column = pc.fill_null(column, 0)
    value = column.to_numpy(zero_copy_only=False)
    if value.dtype.kind == "f":
        known = known & np.isfinite(value)
        return Times(np.where(known, value, 0.0), known)
    return Times(value.astype(np.int64, copy=False), known)


def _unscaled(column: pa.Array) -> pa.Array:
    """Returns decimals of one scale, of at most 18 digits, as whole numbers."""
    words = np.frombuffer(column.buffers()[1], np.int64).reshape(-1, 2)
    lowest = words[column.offset : column.offset + len(column), 0]
    missing = column.is_null().to_numpy(zero_copy_only=False)
    return pa.array(lowest, mask=missing)


def fits(nearest: Nearest, base: np.ndarray, time: np.ndarray) -> Mask:
    """Tells which right times lie in the direction, within the tolerance."""
    lowest, highest = reach_of(nearest, base)
    near: Mask = (time >= lowest) & (time <= highest)
    return near if nearest.exact else near & (time != base)


def reach_of(nearest: Nearest, base: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Returns the first and the last right time that each left time may have."""
    lowest, highest = _least(base), greatest(base)
    match nearest.tolerance:
        case Unlimited():
            pass
        case Span() as span:
            lowest, highest = shift(base, span.negated()), shift(base, span)
        case width:
            lowest, highest = base - width, base + width
    if nearest.direction is Direction.BACKWARD:
        highest = base
    if nearest.direction is Direction.FORWARD:
        lowest = base
    return lowest, highest


def _least(base: np.ndarray) -> np.ndarray:
    """Returns a time before all others, for each."""
    least = -np.inf if base.dtype.kind == "f" else np.iinfo(np.int64).min
    return np.full(len(base), least, base.dtype)


def greatest(base: np.ndarray) -> np.ndarray:
    """Returns a time behind all others, for each."""
    most = np.inf if base.dtype.kind == "f" else np.iinfo(np.int64).max
    return np.full(len(base), most, base.dtype)


def both_times(nearest: Nearest, sides: tuple[Rows, Rows]) -> tuple[Times, Times]:
    """Returns the times of both sides' rows."""
    return times_of(nearest, 0, sides[0]), times_of(nearest, 1, sides[1])
