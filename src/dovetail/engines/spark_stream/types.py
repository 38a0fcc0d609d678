"""The types of Spark's columns on their way through the packer and back.

Arrow itself carries variants, spans of days and time, collated texts and types of
users. Spans of months have no place in it: they travel as a count of months.
"""

from __future__ import annotations

import pyarrow as pa
from pyspark.sql import types as spark

from dovetail.bind.schemas import type_of
from dovetail.engines.tables import arrow_type

_VARIANT = pa.struct(
    [
        pa.field("value", pa.binary()),
        # By this mark Spark tells a variant from a struct.
        pa.field("metadata", pa.binary(), metadata={"variant": "true"}),
    ]
)
_MONTHS = (
    "extract(YEAR FROM CAST({0} AS INTERVAL YEAR TO MONTH)) * 12 "
    "+ extract(MONTH FROM CAST({0} AS INTERVAL YEAR TO MONTH))"
)


def packed(column: str, kind: spark.DataType) -> str:
    """Returns the SQL of a column as it goes into the packer."""
    is_months = isinstance(kind, spark.YearMonthIntervalType)
    return _MONTHS.format(column) if is_months else column


def unpacked(column: str, kind: spark.DataType) -> str:
    """Returns the SQL of a column as it came, of one that has been packed."""
    if not isinstance(kind, spark.YearMonthIntervalType):
        return column
    return f"CAST(make_ym_interval(0, {column}) AS {kind.simpleString()})"


def arrow_of(kind: spark.DataType) -> pa.DataType:
    """Returns the Arrow type in which Spark hands a column to the packer."""
    match kind:
        case spark.ArrayType(elementType=element):
            return pa.list_(arrow_of(element))
        case spark.MapType(keyType=key, valueType=value):
            return pa.map_(arrow_of(key), arrow_of(value))
        case spark.StructType(fields=fields):
            return pa.struct([(one.name, arrow_of(one.dataType)) for one in fields])
        case spark.UserDefinedType():
            return arrow_of(kind.sqlType())
        case spark.VariantType():
            return _VARIANT
        case spark.DayTimeIntervalType():
            return pa.duration("us")
        # Of a collation Arrow knows nothing: Spark gives the text as it is.
        case spark.StringType():
            return pa.string()
        case _:
            return arrow_type(type_of(kind))


def as_nullable(kind: spark.DataType) -> spark.DataType:
    """Returns a type all of whose parts may be null."""
    match kind:
        case spark.ArrayType(elementType=element):
            return spark.ArrayType(as_nullable(element))
        case spark.MapType(keyType=key, valueType=value):
            return spark.MapType(as_nullable(key), as_nullable(value))
        case spark.StructType(fields=fields):
            parts = [spark.StructField(o.name, as_nullable(o.dataType)) for o in fields]
            return spark.StructType(parts)
        case _:
            return kind
