"""Arrays, maps and structs in columns: made, measured, looked into.

An array column is one long column of elements with the places where rows begin; all
here is arithmetic with those places.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dovetail.kernels.operations.truths import equal
from dovetail.kernels.operations.values import (
    OfElements,
    Places,
    Value,
    begins_of,
    elements_of,
    length_of,
    null,
    spread,
)

NO_SIZE = -1  # the size of null, outside ANSI mode


def taken(_kind: pa.DataType, whole: Value, *, field: str) -> Value:
    """Returns a field of structs, null where the struct is."""
    return pc.struct_field(whole, field)


def record(kind: pa.StructType, *values: Value) -> pa.Array:
    """Returns structs of the values of their fields."""
    return pa.StructArray.from_arrays(spread(*values), fields=list(kind))


def array(kind: pa.ListType, *values: Value) -> pa.Array:
    """Returns arrays of the values of their elements."""
    length = length_of(*values)
    long = pa.concat_arrays(spread(*values))
    by_row = np.arange(length)[:, None] + length * np.arange(len(values))
    begins = np.arange(length + 1, dtype=np.int32) * len(values)
    # `long` has all first elements, then all second ones; `by_row` goes across
    found = pa.ListArray.from_arrays(pa.array(begins), long.take(by_row.ravel()))
    return found.cast(kind)


def size(kind: pa.DataType, whole: pa.Array) -> Value:
    """Returns the number of elements; null counts -1."""
    found = pa.array(_sizes(whole), pa.int32()).cast(kind)
    return pc.if_else(pc.is_null(whole), pa.scalar(NO_SIZE, kind), found)


def item(kind: pa.DataType, whole: Value, index: Value) -> pa.Array:
    """Returns the elements at places from 0, or the values of keys; null if absent."""
    wholes, places = spread(whole, index)
    if pa.types.is_map(wholes.type):
        return _value_of(kind, wholes, places)
    return _picked(wholes, places, _numbers(places))


def element(kind: pa.DataType, whole: Value, index: Value) -> pa.Array:
    """Returns the elements at places from 1, or from the end; or the values of keys."""
    wholes, places = spread(whole, index)
    if pa.types.is_map(wholes.type):
        return _value_of(kind, wholes, places)
    numbers, begins = _numbers(places), begins_of(wholes)
    sizes = begins[1:] - begins[:-1]
    # Place 0 is no element in Spark: it becomes -1, which is outside.
    behind = np.where(numbers < 0, sizes + numbers, -1)
    return _picked(wholes, places, np.where(numbers > 0, numbers - 1, behind))


def contains(kind: pa.DataType, whole: Value, value: Value) -> pa.Array:
    """Returns whether a value is an element; null where only a null could be it."""
    wholes, wanted = spread(whole, value)
    found = equal(kind, _inside(wholes), wanted.take(_owners(wholes)))
    unknown = pc.or_(pc.is_null(wholes), pc.is_null(wanted))
    return _some(kind, wholes, found, unknown)


def transformed(kind: pa.ListType, whole: pa.Array, function: OfElements) -> pa.Array:
    """Returns arrays of what a function gives for their elements."""
    return _grouped(kind, whole, _sizes(whole), _given(whole, function))


def kept(kind: pa.ListType, whole: pa.Array, test: OfElements) -> pa.Array:
    """Returns arrays of the elements that pass a test."""
    # Null is not true: such an element does not stay.
    passes = _given(whole, test).cast(pa.bool_()).fill_null(fill_value=False)
    sizes = np.bincount(_owners(whole)[np.asarray(passes)], minlength=len(whole))
    return _grouped(kind, whole, sizes, _inside(whole).filter(passes))


def some(kind: pa.DataType, whole: pa.Array, test: OfElements) -> pa.Array:
    """Returns whether any element passes; null where only an unknown could."""
    return _some(kind, whole, _given(whole, test).cast(kind), pc.is_null(whole))


def every(kind: pa.DataType, whole: pa.Array, test: OfElements) -> pa.Array:
    """Returns whether no element fails; null where only an unknown could."""
    # The question of `some`, asked of the opposite.
    fails = pc.invert(_given(whole, test).cast(kind))
    return pc.invert(_some(kind, whole, fails, pc.is_null(whole)))


def folded(
    kind: pa.DataType,
    whole: pa.Array,
    start: pa.Array,
    merge: OfElements,
    finish: OfElements | None = None,
) -> pa.Array:
    """Returns the elements merged one by one into a start; null of a null array.

    Rows go on together, each until its elements end.
    """
    sizes, begins = _sizes(whole), begins_of(whole)
    rows, so_far, place = np.arange(len(whole)), start, 0
    ended, found = [rows[:0]], [start[:0]]
    while len(rows):
        goes_on = sizes[rows] > place
        ended.append(rows[~goes_on])
        found.append(so_far.filter(pa.array(~goes_on)))
        rows, so_far = rows[goes_on], so_far.filter(pa.array(goes_on))
        elements = whole.values.take(pa.array(begins[rows] + place))
        so_far, place = merge(rows, so_far, elements), place + 1
    # rows ended in order of their sizes: put them back in theirs
    result = pa.concat_arrays(found).take(np.argsort(np.concatenate(ended)))
    if finish is not None:
        result = finish(np.arange(len(whole)), result)
    return pc.if_else(pc.is_null(whole), null(kind), result)


def _value_of(kind: pa.DataType, wholes: pa.MapArray, wanted: pa.Array) -> pa.Array:
    """Returns the values of keys in maps."""
    owners, begins = _owners(wholes), begins_of(wholes)
    keys = wholes.keys.slice(begins[0], begins[-1] - begins[0])
    found = equal(kind, keys, wanted.take(owners))
    hits = np.flatnonzero(np.asarray(found.fill_null(fill_value=False)))
    places = np.full(len(wholes), -1)
    # A slice of a column has other rows' entries in front of its own.
    places[owners[hits]] = hits + begins[0]
    known = (places >= 0) & np.asarray(pc.is_valid(wholes))
    return wholes.items.take(pa.array(places, mask=~known))


def _picked(wholes: pa.ListArray, index: pa.Array, places: Places) -> pa.Array:
    """Returns the elements at places from 0; null where there are none."""
    begins = begins_of(wholes)
    inside = (places >= 0) & (places < begins[1:] - begins[:-1])
    known = np.asarray(pc.and_(pc.is_valid(wholes), pc.is_valid(index)))
    return wholes.values.take(pa.array(begins[:-1] + places, mask=~(inside & known)))


def _inside(whole: pa.ListArray) -> pa.Array:
    """Returns the elements of all rows."""
    begins = begins_of(whole)
    # Of a slice only those of its own rows.
    return whole.values.slice(begins[0], begins[-1] - begins[0])


def _given(whole: pa.ListArray, function: OfElements) -> pa.Array:
    """Returns what a function gives for the elements of all rows and their places."""
    owners, places = elements_of(_sizes(whole))
    return function(owners, _inside(whole), pa.array(places, pa.int32()))


def _grouped(
    kind: pa.ListType, whole: pa.ListArray, sizes: Places, elements: pa.Array
) -> pa.Array:
    """Returns arrays of so many elements each, null where the whole ones are."""
    begins = np.concatenate(([0], np.cumsum(sizes))).astype(np.int32)
    found = pa.ListArray.from_arrays(pa.array(begins), elements, mask=pc.is_null(whole))
    return found.cast(kind)


def _sizes(whole: pa.Array) -> Places:
    """Returns the number of elements of each row; of null it means nothing."""
    return np.diff(begins_of(whole))


def _owners(whole: pa.Array) -> Places:
    """Returns the row of each element."""
    return np.repeat(np.arange(len(whole)), _sizes(whole))


def _some(
    kind: pa.DataType, whole: pa.ListArray, truths: pa.Array, unknown: pa.Array
) -> pa.Array:
    """Returns whether something is true of any element, by what is known of each."""
    owners = _owners(whole)
    is_found = _any(truths.fill_null(fill_value=False), owners, len(whole))
    # What is found is there, whatever else is unknown.
    is_open = _any(truths.is_null(), owners, len(whole)) & ~is_found
    return pa.array(is_found, kind, mask=np.asarray(unknown) | is_open)


def _any(truths: pa.Array, owners: Places, length: int) -> np.ndarray:
    """Returns the rows with an element for which something is true."""
    hits = owners[np.asarray(truths)]
    return np.bincount(hits, minlength=length).astype(bool)


def _numbers(places: pa.Array) -> Places:
    """Returns places for numpy; what stands for null is masked afterwards."""
    return np.asarray(places.cast(pa.int64()).fill_null(0))
