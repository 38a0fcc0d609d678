"""Columns, their types, and the plain values that stand for them outside Spark."""

from dovetail.schema.columns import Column, Schema
from dovetail.schema.names import QUOTED, quoted, unquoted
from dovetail.schema.types import (
    ArrayType,
    AtomicType,
    CarriedType,
    DecimalType,
    MapType,
    StructType,
    Type,
    parse_type,
)
from dovetail.schema.values import (
    blank,
    cited,
    from_microseconds,
    read_moment,
    read_row,
    read_value,
    shown,
    shown_row,
    to_microseconds,
)

__all__ = [
    "QUOTED",
    "ArrayType",
    "AtomicType",
    "CarriedType",
    "Column",
    "DecimalType",
    "MapType",
    "Schema",
    "StructType",
    "Type",
    "blank",
    "cited",
    "from_microseconds",
    "parse_type",
    "quoted",
    "read_moment",
    "read_row",
    "read_value",
    "shown",
    "shown_row",
    "to_microseconds",
    "unquoted",
]
