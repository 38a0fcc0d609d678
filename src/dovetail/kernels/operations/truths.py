"""Truth in columns: three-valued logic, comparisons with NaN as greatest, choices."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial, reduce

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from dovetail.kernels.operations.values import (
    Value,
    begins_of,
    elements_of,
    null_where,
    spread,
)

Comparison = Callable[[pa.DataType, Value, Value], Value]
Signs = npt.NDArray[np.int8]


def conjunction(_kind: pa.DataType, *values: Value) -> Value:
    """Returns false where any is false, else null where any is null."""
    return reduce(pc.and_kleene, values)


def disjunction(_kind: pa.DataType, *values: Value) -> Value:
    """Returns true where any is true, else null where any is null."""
    return reduce(pc.or_kleene, values)


def negation(_kind: pa.DataType, value: Value) -> Value:
    """Returns the opposite truth."""
    return pc.invert(value)


def equal(_kind: pa.DataType, left: Value, right: Value) -> Value:
    """Returns whether both are equal; NaN equals itself."""
    if pa.types.is_null(left.type):
        return null_where(pc.is_null(left), pc.is_valid(left))
    if pa.types.is_nested(left.type):
        return _by_signs(np.equal, left, right)
    found = pc.equal(left, right)
    if not pa.types.is_floating(left.type):
        return found
    return pc.or_(found, pc.and_(pc.is_nan(left), pc.is_nan(right)))


def less(kind: pa.DataType, left: Value, right: Value) -> Value:
    """Returns whether the left is less; NaN is greatest."""
    if pa.types.is_null(left.type):
        return equal(kind, left, right)
    if pa.types.is_nested(left.type):
        return _by_signs(np.less, left, right)
    found = pc.less(left, right)
    if not pa.types.is_floating(left.type):
        return found
    return pc.or_(found, pc.and_(pc.invert(pc.is_nan(left)), pc.is_nan(right)))


def _by_signs(test: np.ufunc, left: Value, right: Value) -> pa.Array:
    """Returns a test of arrays or structs; null where one of them is."""
    sides = spread(left, right)
    unknown = [np.asarray(pc.is_null(side)) for side in sides]
    return pa.array(test(_signs(*sides), 0), mask=unknown[0] | unknown[1])


def _signs(left: pa.Array, right: pa.Array) -> Signs:
    """Returns -1 where the left is less, 1 where greater; null is least."""
    known = [np.asarray(pc.is_valid(side)).astype(np.int8) for side in (left, right)]
    both = (known[0] & known[1]).astype(bool)
    return np.where(both, _signs_of_known(left, right), known[0] - known[1])


def _signs_of_known(left: pa.Array, right: pa.Array) -> Signs:
    """Returns the signs of values; what it says of nulls means nothing."""
    if pa.types.is_null(left.type):
        return np.zeros(len(left), np.int8)
    if pa.types.is_struct(left.type):
        # Of structs the first fields that differ decide.
        so_far = np.zeros(len(left), np.int8)
        for place in range(left.type.num_fields):
            parts = (pc.struct_field(side, [place]) for side in (left, right))
            so_far = np.where(so_far == 0, _signs(*parts), so_far)
        return so_far
    if pa.types.is_nested(left.type):
        return _signs_of_lists(left, right)
    # By `less` both ways: to it NaN is the greatest, as Arrow does not have it.
    sides = ((right, left), (left, right))
    falls, rises = (
        np.asarray(less(pa.bool_(), *pair).fill_null(fill_value=False)).astype(np.int8)
        for pair in sides
    )
    found: Signs = falls - rises
    return found


def _signs_of_lists(left: pa.ListArray, right: pa.ListArray) -> Signs:
    """Returns the signs of arrays: of the first elements that differ, or the sizes."""
    begins = [begins_of(side) for side in (left, right)]
    sizes = [np.diff(begin) for begin in begins]
    shared = np.minimum(*sizes)
    owners, places = elements_of(shared)
    inner = _signs(
        *(
            side.values.take(begin[owners] + places)
            for side, begin in zip((left, right), begins, strict=True)
        )
    )
    # the first differing element decides; `unique` tells where each row's first is
    differing = np.flatnonzero(inner)
    rows, first = np.unique(owners[differing], return_index=True)
    found: Signs = np.sign(sizes[0] - sizes[1]).astype(np.int8)
    found[rows] = inner[differing][first]
    return found


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
    # With a null among them Arrow's own search would say false, not unknown.
    known = all(isinstance(other, pa.Scalar) and other.is_valid for other in others)
    is_plain = not (pa.types.is_floating(value.type) or pa.types.is_nested(value.type))
    if known and is_plain:
        wanted = pa.array([other.as_py() for other in others], value.type)
        return null_where(pc.is_null(value), pc.is_in(value, value_set=wanted))
    if pa.types.is_nested(value.type):
        # Two constants among them are compared as the columns that they stand beside.
        value, *others = spread(value, *others)  # type: ignore[assignment]
    return disjunction(kind, *(equal(kind, value, other) for other in others))


def case(_kind: pa.DataType, *parts: Value) -> Value:
    """Returns the value behind the first true condition, else the last."""
    found = parts[-1]
    # From the last to the first: so the first condition that is true decides.
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
    # The test is null where either is: then the one that is there counts.
    better = pc.coalesce(test(pa.bool_(), found, value), pc.is_null(found))
    return pc.if_else(better, value, found)


def is_null(_kind: pa.DataType, value: Value) -> Value:
    """Returns whether there is no value."""
    return pc.is_null(value)


def is_nan(_kind: pa.DataType, value: Value) -> Value:
    """Returns whether a value is NaN; null is not."""
    return pc.fill_null(pc.is_nan(value), fill_value=False)
