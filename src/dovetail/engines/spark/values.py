"""Values of ours in Spark's columns: moments, truth, and rows that stand for none.

A moment is a whole number of microseconds since 1970. The two ends of the range stand
for always and never; nobody's clock goes there.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from pyspark.sql import Column
from pyspark.sql import functions as F  # noqa: N812 - Spark's own name for it

from dovetail import spec
from dovetail.bind.sinks import JSON

# These go to workers with what writes outlets: the whole room would travel else.
from dovetail.schema import (
    ArrayType,
    MapType,
    Schema,
    StructType,
    Type,
    to_microseconds,
)
from dovetail.spec.facts import absent_row

EARLIEST = -(1 << 63)
LATEST = (1 << 63) - 1


def condition(text: str) -> Column:
    """Returns what a condition says; a word behind it would else be its alias."""
    # On a line of its own: the text may end in a comment.
    return F.expr(f"({text}\n)")


def micros(time: Column) -> Column:
    """Returns the moment of a time column."""
    return F.unix_micros(time.cast("timestamp"))


def output_columns(
    shown: Iterable[tuple[str, str]], picks: spec.Picks, *, exceeds: str
) -> list[Column]:
    """Returns the output columns of a join.

    A left row that `exceeds` its limit, as a column says, may have others for them.
    """
    columns = {name: F.expr(text) for name, text in shown}
    if picks.transforms:
        given = {name: one.text for name, one in picks.stand_in}
        for name, column in columns.items():
            own = F.expr(given.get(name, "NULL"))
            columns[name] = F.when(F.col(exceeds), own).otherwise(column)
    return [column.alias(name) for name, column in columns.items()]


def as_json(row: Column | str) -> Column:
    """Returns a row as a text in JSON, which lacks none of its values."""
    return F.to_json(row, dict(JSON))


def shifted(time: Column, span: spec.Span) -> Column:
    """Returns the moment a span after a time: by the calendar in UTC, then exactly."""
    moved = time.cast("timestamp")
    if span.months:
        moved = F.timestamp_add("MONTH", F.lit(span.months), moved)
    return F.unix_micros(moved) + F.lit(span.microseconds)


def timestamp(moment: Column) -> Column:
    """Returns the timestamp of a moment, null where it is always or never."""
    is_known = ~moment.isin(EARLIEST, LATEST)
    return F.when(is_known, F.timestamp_micros(moment))


def yes() -> Column:
    """Returns the constant true."""
    return F.lit(True)  # noqa: FBT003 - a value, not a switch


def no() -> Column:
    """Returns the constant false."""
    return F.lit(False)  # noqa: FBT003 - a value, not a switch


def is_true(term: Column) -> Column:
    """Returns whether a term is true, neither false nor null."""
    return F.coalesce(term, no())


def absent_struct(absent: spec.Absent, schema: Schema) -> Column:
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
