"""The plain types in a type, and values in SQL made anew where such a one stands.

`array<struct<at:timestamp,n:int>>` has the plain types `timestamp` and `int`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from dovetail.expression.sql import text_of
from dovetail.schema import ArrayType, MapType, StructType, Type, quoted

Making = Callable[[str, Type, str], str]
"""Makes a plain value anew, of its SQL, its type and what stands beside it."""


def plains(kind: Type) -> Iterator[Type]:
    """Yields the plain types that stand in a type, but those of keys."""
    match kind:
        case StructType(fields):
            for _, part in fields:
                yield from plains(part)
        case ArrayType(part) | MapType(_, part):
            yield from plains(part)
        case _:
            yield kind


def mapped(kind: Type, kinds: Mapping[Type, Type]) -> Type:
    """Returns a type in which plain types are others, wherever they stand in it."""
    match kind:
        case StructType(fields):
            return StructType(tuple((it, mapped(one, kinds)) for it, one in fields))
        case ArrayType(element):
            return ArrayType(mapped(element, kinds))
        case MapType(key, value):
            return MapType(key, mapped(value, kinds))
        case _:
            return kinds.get(kind, kind)


def by_part(
    sql: str, kind: Type, make: Making, *, beside: str = "", depth: int = 0
) -> str:
    """Returns a value in SQL whose plain values, wherever they stand, are made anew.

    `make` gets each, its type, and what stands at its place in a value `beside`. Fields
    of records are found by their names: Spark would take them by their places.
    """
    one, key, place = f"it{depth}", f"key{depth}", f"at{depth}"
    match kind:
        case StructType(fields):
            parts = []
            for name, part in fields:
                own, other = (f"{it}.{quoted(name)}" for it in (sql, beside))
                made = by_part(own, part, make, beside=other, depth=depth)
                parts += [text_of(name), made]
            return f"IF({sql} IS NULL, NULL, named_struct({', '.join(parts)}))"
        case ArrayType(element):
            other = f"get({beside}, {place})"
            inner = by_part(one, element, make, beside=other, depth=depth + 1)
            each = f"transform({sql}, ({one}, {place}) -> {inner})"
            return sql if inner == one else each
        case MapType(_, value):
            other = f"try_element_at({beside}, {key})"
            inner = by_part(one, value, make, beside=other, depth=depth + 1)
            each = f"transform_values({sql}, ({key}, {one}) -> {inner})"
            return sql if inner == one else each
        case _:
            return make(sql, kind, beside)
