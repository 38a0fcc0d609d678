"""The row that stands for an absent side, as a struct of literals."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import assert_never

from pyspark.sql import Column
from pyspark.sql import functions as F  # noqa: N812 - Spark's own name for it

from dovetail.schema import (
    ArrayType,
    MapType,
    Schema,
    StructType,
    Type,
    blank,
    read_value,
    to_microseconds,
)
from dovetail.spec.join import Absent, BlankRow, GivenRow, NullRow


def absent_struct(absent: Absent, schema: Schema) -> Column:
    """Returns the struct that a side's row is where the side is not there."""
    values = absent_values(absent, schema)
    fields = [
        literal(values[column.name], column.type).alias(column.name)
        for column in schema.columns
    ]
    return F.struct(*fields)


def absent_values(absent: Absent, schema: Schema) -> Mapping[str, object]:
    """Returns the plain value of every column where the side is not there."""
    match absent:
        case NullRow():
            return dict.fromkeys(schema.names)
        case BlankRow():
            return {column.name: blank(column.type) for column in schema.columns}
        case GivenRow(values, rest):
            given = {schema[name]: value for name, value in values}
            return dict(absent_values(rest, schema)) | {
                column.name: read_value(value, column.type, f'"{column.name}"')
                for column, value in given.items()
            }
        case _ as unknown:
            assert_never(unknown)


def literal(value: object, kind: Type) -> Column:
    """Returns a plain value as a column of its type."""
    match value, kind:
        case list(), ArrayType(element):
            column = F.array(*(literal(item, element) for item in value))
        case dict(), MapType(key, item):
            pairs = ((literal(k, key), literal(v, item)) for k, v in value.items())
            column = F.create_map(*(part for pair in pairs for part in pair))
        case dict(), StructType(fields):
            parts = (literal(value[name], part).alias(name) for name, part in fields)
            column = F.struct(*parts)
        case datetime(tzinfo=zone), _ if zone is not None:
            # Spark would read a Python datetime in the zone of the machine.
            column = F.timestamp_micros(F.lit(to_microseconds(value)))
        case _:
            column = F.lit(value)
    return column.cast(str(kind))
