"""Arrow's values for Spark's types: constants, columns, and loops where Arrow has none.

Moments are microseconds in UTC, spans of time are bigints of microseconds or months.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from decimal import Decimal
from typing import Any, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

Value: TypeAlias = pa.Array | pa.Scalar
# A lambda: the row that each element is of, then elements, to a value for each.
OfElements = Callable[..., pa.Array]
Places = npt.NDArray[np.int64]
_DECIMAL = re.compile(r"decimal\((\d+),(\d+)\)")
_NESTED = ("array<", "map<", "struct<")
_NAMED = re.compile(r"(?:`((?:[^`]|``)+)`|([^:`]+)):(.+)", re.DOTALL)
_SPAN = "interval"
_TYPES = {
    "void": pa.null(),
    "boolean": pa.bool_(),
    "tinyint": pa.int8(),
    "smallint": pa.int16(),
    "int": pa.int32(),
    "bigint": pa.int64(),
    "float": pa.float32(),
    "double": pa.float64(),
    "string": pa.string(),
    "binary": pa.binary(),
    "date": pa.date32(),
    "timestamp": pa.timestamp("us", tz="UTC"),
    "timestamp_ntz": pa.timestamp("us"),
}


def arrow_type(text: str) -> pa.DataType:
    """Returns Arrow's type for a type in Spark SQL's notation; spans are bigints."""
    if text.endswith(">"):
        name, inside = text[:-1].split("<", 1)
        parts = _parts(inside)
        if name == "struct":
            named = (_NAMED.findall(part)[0] for part in parts)
            # A quoted name has its own quotes twice.
            fields = ((it.replace("``", "`") or word, of) for it, word, of in named)
            return pa.struct([(name, arrow_type(kind)) for name, kind in fields])
        kinds = [arrow_type(part) for part in parts]
        return pa.list_(*kinds) if name == "array" else pa.map_(*kinds)
    if found := _DECIMAL.fullmatch(text):
        return pa.decimal128(int(found[1]), int(found[2]))
    return pa.int64() if text.startswith(_SPAN) else _TYPES.get(text, pa.null())


def _parts(text: str) -> list[str]:
    """Returns what stands between the commas of a type, outside of its brackets."""
    parts, depth, is_quoted = [""], 0, False
    for letter in text:
        is_quoted ^= letter == "`"
        # Commas inside brackets separate other types; brackets in quotes are letters of
        # a name.
        depth += 0 if is_quoted else (letter in "<(") - (letter in ">)")
        if letter == "," and not depth and not is_quoted:
            parts.append("")
        else:
            parts[-1] += letter
    return [part for part in parts if part]


def constant(value: object, text: str) -> pa.Scalar:
    """Returns a constant; decimals are written as texts, times as counts."""
    kind = arrow_type(text)
    return pa.scalar(arrow_value(value, kind), kind)


def arrow_value(value: Any, kind: pa.DataType) -> Any:  # noqa: ANN401 - of any type
    """Returns a constant's value as Arrow takes it, decimals made of their texts."""
    if value is None:
        return None
    if pa.types.is_decimal(kind):
        return Decimal(str(value))
    if pa.types.is_list(kind):
        return [arrow_value(item, kind.value_type) for item in value]
    if pa.types.is_map(kind):
        return [
            (arrow_value(key, kind.key_type), arrow_value(item, kind.item_type))
            for key, item in value.items()
        ]
    if pa.types.is_struct(kind):
        return {
            field.name: arrow_value(value.get(field.name), field.type) for field in kind
        }
    return value


def conformed(column: pa.Array | pa.ChunkedArray, text: str) -> pa.Array:
    """Returns a column as one array of the type that a program expects."""
    array = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    if text.startswith(_NESTED) or array.type == arrow_type(text):
        return array
    return array.cast(arrow_type(text))


def length_of(*values: Value) -> int:
    """Returns the number of rows of values of which one is no constant."""
    return next(len(value) for value in values if not isinstance(value, pa.Scalar))


def spread(*values: Value) -> list[pa.Array]:
    """Returns values as arrays of one length, constants repeated."""
    length = length_of(*values)
    return [repeated(value, length) for value in values]


def repeated(value: Value, length: int) -> pa.Array:
    """Returns a value for each row where there is one for all of them."""
    if not isinstance(value, pa.Scalar):
        return value
    # Arrow repeats no nested value zero times
    return pa.repeat(value, length) if length else pa.array([], value.type)


def begins_of(whole: pa.Array) -> Places:
    """Returns where the elements of each row begin, and where the last ones end."""
    return np.asarray(whole.offsets).astype(np.int64)


def elements_of(sizes: Places) -> tuple[Places, Places]:
    """Returns the row of each element, and its place in the row from 0."""
    owners = np.repeat(np.arange(len(sizes)), sizes)
    begins = np.cumsum(sizes) - sizes
    return owners, np.arange(len(owners)) - begins[owners]


def null(kind: pa.DataType) -> pa.Scalar:
    """Returns the null of a type."""
    return pa.scalar(None, kind)


def null_where(condition: Value, value: Value) -> Value:
    """Returns values with null wherever the condition is true."""
    return pc.if_else(
        pc.fill_null(condition, fill_value=False), null(value.type), value
    )


class Carried(Protocol):
    """What a program brings along for what no operation does."""

    @property
    def compute(self) -> Callable[..., Any]:
        """Returns the function of plain values."""

    @property
    def strict(self) -> bool:
        """Tells whether it is null where any value is."""


def by_row(kind: pa.DataType, *values: Value, function: Carried) -> pa.Array:
    """Returns what the function that a program carries gives for each row."""
    return each(kind, function.compute, *values, strict=function.strict)


def each(
    kind: pa.DataType,
    function: Callable[..., Any],
    *values: Value,
    strict: bool = True,
) -> pa.Array:
    """Returns what a plain function gives for each row; `strict` ones see no null.

    A loop in Python, for the few things that Arrow computes otherwise than Spark. Over
    one column it sees every distinct value once.
    """
    columns = [value for value in values if not isinstance(value, pa.Scalar)]
    if len(columns) > 1 or pa.types.is_nested(columns[0].type) or not strict:
        return _looped(kind, function, values, strict=strict)
    # each distinct value is computed once; indices put the results back in their rows
    known = columns[0].dictionary_encode()
    distinct = [known.dictionary if value is columns[0] else value for value in values]
    return _looped(kind, function, distinct, strict=True).take(known.indices)


def _looped(
    kind: pa.DataType,
    function: Callable[..., Any],
    values: Sequence[Value],
    *,
    strict: bool,
) -> pa.Array:
    """Returns what a plain function gives for each row."""
    # As the functions of expressions know them: a map is a record.
    columns = (it.to_pylist(maps_as_pydicts="strict") for it in spread(*values))
    rows = zip(*columns, strict=True)
    found = [None if strict and None in row else function(*row) for row in rows]
    # Arrow takes maps as pairs, and a field that a record lacks as null
    if pa.types.is_nested(kind):
        found = [arrow_value(value, kind) for value in found]
    return pa.array(found, kind)
