"""Truth in columns: three-valued logic, comparisons with NaN as greatest, choices."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial, reduce

import pyarrow as pa
import pyarrow.compute as pc

from dovetail.kernels.operations.values import Value, null_where

Comparison = Callable[[pa.DataType, Value, Value], Value]


def conjunction(_kind: pa.DataType, *values: Value) -> Value:
    """Returns false where any is false, else null where any is null."""
    return reduce(pc.and_kleene, values)


def disjunction(_kind: pa.DataType, *values: Value) -> Value:
    """Returns true where any is true, else null where any is null."""
    return reduce(pc.or_kleene, values)


def negation(_kind: pa.DataType, value: Value) -> Value:
    """Returns the opposite truth."""
    return pc.invert(value)


def equal(kind: pa.DataType, left: Value, right: Value) -> Value:
    """Returns whether both are equal; NaN equals itself."""
    if pa.types.is_null(left.type):
        return null_where(pc.is_null(left), pc.is_valid(left))
    if pa.types.is_struct(left.type):
        return _equal_records(kind, left, right)
    found = pc.equal(left, right)
    if not pa.types.is_floating(left.type):
        return found
    return pc.or_(found, pc.and_(pc.is_nan(left), pc.is_nan(right)))


def _equal_records(kind: pa.DataType, left: Value, right: Value) -> Value:
    """Returns whether all fields are equal; within a record null equals null."""
    either_null = pc.or_(pc.is_null(left), pc.is_null(right))
    fields = [
        same(kind, pc.struct_field(left, [place]), pc.struct_field(right, [place]))
        for place in range(left.type.num_fields)
    ]
    return null_where(either_null, reduce(pc.and_, fields, pc.is_valid(left)))


def less(kind: pa.DataType, left: Value, right: Value) -> Value:
    """Returns whether the left is less; NaN is greatest."""
    if pa.types.is_null(left.type):
        return equal(kind, left, right)
    found = pc.less(left, right)
    if not pa.types.is_floating(left.type):
        return found
    return pc.or_(found, pc.and_(pc.invert(pc.is_nan(left)), pc.is_nan(right)))


def greater(kind: pa.DataType, left: Value, right: Value) -> Value:
    """Returns whether the left is greater."""
    return less(kind, right, left)


def at_most(kind: pa.DataType, left: Value, right: Value) -> Value:
    """Returns whether the left is not greater."""
    return pc.invert(less(kind, right, left))


def at_least(kind: pa.DataType, left: Value, right: Value) -> Value:
    """Returns whether the left is not less."""
    return pc.invert(less(kind, left, right))


def same(kind: pa.DataType, left: Value, right: Value) -> Value:
    """Returns whether both are equal or both null, never null itself."""
    both_null = pc.and_(pc.is_null(left), pc.is_null(right))
    return pc.coalesce(equal(kind, left, right), both_null)


def member(kind: pa.DataType, value: Value, *others: Value) -> Value:
    """Returns whether a value is among others; null where only a null could be it."""
    known = all(isinstance(other, pa.Scalar) and other.is_valid for other in others)
    if known and not pa.types.is_floating(value.type):
        wanted = pa.array([other.as_py() for other in others], value.type)
        return null_where(pc.is_null(value), pc.is_in(value, value_set=wanted))
    return disjunction(kind, *(equal(kind, value, other) for other in others))


def case(_kind: pa.DataType, *parts: Value) -> Value:
    """Returns the value behind the first true condition, else the last."""
    found = parts[-1]
    pairs = zip(parts[:-1:2], parts[1::2], strict=True)
    for condition, value in reversed(list(pairs)):
        found = pc.if_else(pc.fill_null(condition, fill_value=False), value, found)
    return found


def first(_kind: pa.DataType, *values: Value) -> Value:
    """Returns the first value that is not null."""
    return pc.coalesce(*values)


def greatest(_kind: pa.DataType, *values: Value) -> Value:
    """Returns the greatest value, nulls passed over."""
    return reduce(partial(_better, less), values)


def least(_kind: pa.DataType, *values: Value) -> Value:
    """Returns the least value, nulls passed over."""
    return reduce(partial(_better, greater), values)


def _better(test: Comparison, found: Value, value: Value) -> Value:
    """Returns the value where it passes the test or nothing has been found."""
    better = pc.coalesce(test(pa.bool_(), found, value), pc.is_null(found))
    return pc.if_else(better, value, found)


def is_null(_kind: pa.DataType, value: Value) -> Value:
    """Returns whether there is no value."""
    return pc.is_null(value)


def is_nan(_kind: pa.DataType, value: Value) -> Value:
    """Returns whether a value is NaN; null is not."""
    return pc.fill_null(pc.is_nan(value), fill_value=False)
