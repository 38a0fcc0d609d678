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

__all__ = [
    "ArrayType",
    "AtomicType",
    "Column",
    "DecimalType",
    "MapType",
    "Schema",
    "StructType",
    "Type",
    "parse_type",
]
