"""Whole numbers in columns, bit by bit; shifts go round at the width of the type."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dovetail.kernels.operations.values import Value, null_where, spread

BYTE = 8
_COUNTS = np.array([value.bit_count() for value in range(1 << BYTE)], np.int32)


def conjunction(_kind: pa.DataType, left: Value, right: Value) -> Value:
    """Returns the bits that both have."""
    return pc.bit_wise_and(left, right)


def disjunction(_kind: pa.DataType, left: Value, right: Value) -> Value:
    """Returns the bits that either has."""
    return pc.bit_wise_or(left, right)


def difference(_kind: pa.DataType, left: Value, right: Value) -> Value:
    """Returns the bits that one of both has."""
    return pc.bit_wise_xor(left, right)


def negation(_kind: pa.DataType, value: Value) -> Value:
    """Returns the bits that a number lacks."""
    return pc.bit_wise_not(value)


def _shift(
    move: Callable[[np.ndarray, np.ndarray], np.ndarray],
) -> Callable[..., Value]:
    """Returns the operation of a shift."""

    def shifted(kind: pa.DataType, value: Value, places: Value) -> Value:
        numbers, counts = spread(value, places)
        known = pc.and_(pc.is_valid(numbers), pc.is_valid(counts))
        width = np.dtype(kind.to_pandas_dtype())
        moved = move(_plain(numbers), _plain(counts).astype(width) % kind.bit_width)
        return null_where(pc.invert(known), pa.array(moved.astype(width), kind))

    return shifted


def _plain(value: pa.Array) -> np.ndarray:
    """Returns numbers for numpy; what stands for null is masked afterwards."""
    return np.asarray(value.fill_null(0).to_numpy(zero_copy_only=False))


def _unsigned(numbers: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Returns bits moved right, with zeros behind them."""
    width = np.dtype(f"u{numbers.itemsize}")
    moved = np.right_shift(numbers.view(width), counts.astype(width))
    return np.asarray(moved.view(numbers.dtype))


left = _shift(np.left_shift)
right = _shift(np.right_shift)
right_unsigned = _shift(_unsigned)


def count(kind: pa.DataType, value: Value) -> Value:
    """Returns the number of ones; a narrow number counts as the bigint it is."""
    numbers = _plain(
        value.cast(pa.int8()) if pa.types.is_boolean(value.type) else value
    )
    parts = np.ascontiguousarray(numbers.astype(np.int64)).view(np.uint8)
    found = _COUNTS[parts].reshape(len(numbers), BYTE).sum(axis=1)
    return null_where(pc.is_null(value), pa.array(found.astype(np.int32), kind))
