"""Key values on their way from Spark to the driver and back into a plan, unchanged.

A moment travels as a count of microseconds and a date as one of days: a time of day
would be read in the zone of whichever machine it comes to, and some dates not at all.
"""

from __future__ import annotations

from pyspark.sql import Column
from pyspark.sql import functions as F  # noqa: N812 - Spark's own name for it
from pyspark.sql.types import (
    BinaryType,
    DataType,
    DateType,
    TimestampNTZType,
    TimestampType,
)


def carried(value: Column, kind: DataType) -> Column:
    """Returns a value as it travels."""
    match kind:
        case TimestampType():
            return F.unix_micros(value)
        case TimestampNTZType():
            return value.cast("string")
        case DateType():
            return F.unix_date(value)
        case _:
            return value


def literal(value: object, kind: DataType) -> Column:
    """Returns a value that has travelled as a constant of its type."""
    match kind:
        case TimestampType():
            return F.timestamp_micros(F.lit(value))
        case DateType():
            return F.date_from_unix_date(F.lit(value))
        case BinaryType() if isinstance(value, bytearray):
            return F.lit(bytes(value))
        case _:
            return F.lit(value).cast(kind)
