"""Angles, logarithms and their kin in columns: NaN out of range, never an error."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dovetail.kernels.operations.values import Value, null_where, spread

Curve = Callable[..., np.ndarray]


def curve(function: Curve) -> Callable[..., Value]:
    """Returns the operation of a function of doubles."""

    def operation(kind: pa.DataType, *values: Value) -> Value:
        columns = spread(*values)
        numbers = [np.asarray(column.fill_null(0)) for column in columns]
        with np.errstate(all="ignore"):
            found = pa.array(function(*numbers), kind, from_pandas=False)
        for column in columns:
            found = null_where(pc.is_null(column), found)
        return found

    return operation


def logarithm(function: Curve, above: float) -> Callable[..., Value]:
    """Returns the operation of a logarithm, null of what is not above a bound."""
    computed = curve(function)

    def operation(kind: pa.DataType, *values: Value) -> Value:
        found = computed(kind, *values)
        for value in values:
            found = null_where(pc.less_equal(value, pa.scalar(above)), found)
        return found

    return operation


def to_base(base: np.ndarray, value: np.ndarray) -> np.ndarray:
    """Returns logarithms to a base."""
    return np.asarray(np.log(value) / np.log(base))


def angle(height: np.ndarray, width: np.ndarray) -> np.ndarray:
    """Returns the angles of points; a negative zero is a zero."""
    return np.asarray(np.arctan2(height + 0.0, width + 0.0))
