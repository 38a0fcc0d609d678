"""Maps: made of keys and values, and looked into."""

from __future__ import annotations

from dovetail.expression.coercion import BOOLEAN, columnar, tightest, widest
from dovetail.expression.functions.function import (
    Arguments,
    Entry,
    Function,
    Signature,
    kinds,
    plain,
)
from dovetail.expression.tree import Value
from dovetail.schema import ArrayType, MapType, StructType


def _map_rule(arguments: Arguments) -> Signature | None:
    """Types MAP: keys and values in turn, each in their wider type."""
    if len(arguments) % 2 or not arguments:
        return None
    key, value = (widest(kinds(arguments[start::2])) for start in (0, 1))
    if key is None or value is None or isinstance(key, MapType):
        return None
    result = MapType(columnar(key), columnar(value))
    return Signature((key, value) * (len(arguments) // 2), result)


def _map(*parts: Value) -> Value:
    """Returns the map of keys and values; Spark fails where a key is null or twice."""
    keys = parts[::2]
    if None in keys or len(set(keys)) < len(keys):
        return None
    return dict(zip(keys, parts[1::2], strict=True))


def _zipped_rule(arguments: Arguments) -> Signature | None:
    """Types MAP_FROM_ARRAYS: an array of keys and one of values."""
    keys, values = kinds(arguments)
    if not isinstance(keys, ArrayType) or not isinstance(values, ArrayType):
        return None
    return Signature((keys, values), MapType(keys.element, values.element))


def _zipped(keys: list[Value], values: list[Value]) -> Value:
    """Returns the map of keys and values; Spark fails where there are not as many."""
    if len(keys) != len(values):
        return None
    return _map(*(part for pair in zip(keys, values, strict=True) for part in pair))


def _has_rule(arguments: Arguments) -> Signature | None:
    """Types MAP_CONTAINS_KEY: a map, and a key in the wider type of both."""
    whole, wanted = kinds(arguments)
    if not isinstance(whole, MapType):
        return None
    key = tightest(whole.key, wanted)
    if key is None:
        return None
    return Signature((MapType(columnar(key), whole.value), key), BOOLEAN)


def _entries_rule(arguments: Arguments) -> Signature | None:
    """Types MAP_ENTRIES: an array of records of key and value."""
    (whole,) = kinds(arguments)
    if not isinstance(whole, MapType):
        return None
    record = StructType((("key", whole.key), ("value", whole.value)))
    return Signature((whole,), ArrayType(record))


def _entries(whole: dict[Value, Value]) -> list[Value]:
    """Returns the entries of a map."""
    return [{"key": key, "value": value} for key, value in whole.items()]


FUNCTIONS: tuple[Entry, ...] = (
    Function("map", _map_rule, plain(_map), strict=False),
    Function(
        "map_contains_key", _has_rule, plain(lambda whole, key: key in whole), takes=2
    ),
    Function("map_from_arrays", _zipped_rule, plain(_zipped), takes=2),
    Function("map_entries", _entries_rule, plain(_entries), takes=1),
)
