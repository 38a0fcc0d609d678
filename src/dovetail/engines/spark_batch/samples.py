"""A few rows of a DataFrame as plain values."""

from __future__ import annotations

from pyspark.sql import DataFrame

from dovetail.engines.tables import arrow_schema, plain_rows
from dovetail.schema import Schema
from dovetail.spec.inputs import Row


def sample(frame: DataFrame, schema: Schema, most: int) -> list[Row]:
    """Returns at most so many rows, with times in UTC whatever the session says."""
    table = frame.limit(most).toArrow().cast(arrow_schema(schema))
    return [*plain_rows(table)]
