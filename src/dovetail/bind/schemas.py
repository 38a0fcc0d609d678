"""What Spark says of a frame's columns, as columns of ours.

Spark's short text of a type writes the names of a struct without backticks, so that
`struct<a,b:int>` may be one field or a mistake: types are taken part by part instead.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import types as spark

from dovetail.schema import (
    ArrayType,
    Column,
    MapType,
    Schema,
    StructType,
    Type,
    parse_type,
)

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def schema_of(frame: DataFrame) -> Schema:
    """Returns the columns of a frame."""
    fields = frame.schema.fields
    return Schema(tuple(Column(one.name, type_of(one.dataType)) for one in fields))


def type_of(kind: spark.DataType) -> Type:
    """Returns a type of Spark's as one of ours, or raises a SchemaError."""
    match kind:
        case spark.ArrayType(elementType=element):
            return ArrayType(type_of(element))
        case spark.MapType(keyType=key, valueType=value):
            return MapType(type_of(key), type_of(value))
        case spark.StructType(fields=fields):
            parts = ((one.name, type_of(one.dataType)) for one in fields)
            return StructType(tuple(parts))
        case _:
            return parse_type(kind.simpleString())
