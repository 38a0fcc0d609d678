"""Columns, their types, and the plain values that stand for them outside Spark."""

from dovetail.schema.columns import Column, Schema
from dovetail.schema.types import (
    ArrayType,
    AtomicType,
    DecimalType,
    MapType,
    StructType,
    Type,
    parse_type,
)
from dovetail.schema.values import (
    blank,
    from_microseconds,
    quoted,
    read_moment,
    read_row,
    read_value,
    shown,
    shown_row,
    to_microseconds,
)

__all__ = [
    "ArrayType",
    "AtomicType",
    "Column",
    "DecimalType",
    "MapType",
    "Schema",
    "StructType",
    "Type",
    "blank",
    "from_microseconds",
    "parse_type",
    "quoted",
    "read_moment",
    "read_row",
    "read_value",
    "shown",
    "shown_row",
    "to_microseconds",
]
