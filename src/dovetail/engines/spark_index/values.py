"""Key values on their way from Spark to the driver and back into a plan, unchanged.

A moment travels as a count of microseconds and a date as one of days: a time of day
would be read in the zone of whichever machine it comes to, and some dates not at all.
"""

from __future__ import annotations

from decimal import Decimal

from pyspark.sql import Column
from pyspark.sql import functions as F  # noqa: N812 - Spark's own name for it
from pyspark.sql.types import (
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


def literal(value: object, kind: DataType) -> str:
    """Returns a value that has travelled as a constant of its type in Spark SQL.

    Its characters stand as bytes: how a text is read is a setting of the session.
    """
    match value:
        case None:
            return f"CAST(NULL AS {kind.simpleString()})"
        case bytes() | bytearray():
            return _bytes(value)
        case Decimal():
            text = f"{value:f}"
        case _:
            text = str(value)
    as_text = f"CAST({_bytes(text.encode())} AS STRING)"
    match kind:
        case TimestampType():
            return f"timestamp_micros(CAST({as_text} AS BIGINT))"
        case DateType():
            return f"date_from_unix_date(CAST({as_text} AS INT))"
        case _:
            return f"CAST({as_text} AS {kind.simpleString()})"


def _bytes(value: bytes | bytearray) -> str:
    """Returns bytes as a constant."""
    return f"X'{value.hex()}'"
