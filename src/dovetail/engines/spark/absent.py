"""The row that stands for an absent side, as a struct of literals."""

from __future__ import annotations

from datetime import datetime

from pyspark.sql import Column
from pyspark.sql import functions as F  # noqa: N812 - Spark's own name for it

from dovetail.schema import (
    ArrayType,
    MapType,
    Schema,
    StructType,
    Type,
    to_microseconds,
)
from dovetail.spec.absent import absent_row
from dovetail.spec.join import Absent


def absent_struct(absent: Absent, schema: Schema) -> Column:
    """Returns the struct that a side's row is where the side is not there."""
    values = absent_row(absent, schema)
    fields = [
        literal(values[column.name], column.type).alias(column.name)
        for column in schema.columns
    ]
    return F.struct(*fields)


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
