"""The row that stands for an absent side."""

from __future__ import annotations

from typing import assert_never

from dovetail.conformance.oracle.life import Plain
from dovetail.schema import Schema, blank, read_value
from dovetail.spec.join import Absent, BlankRow, GivenRow, NullRow


def absent_row(absent: Absent, schema: Schema) -> Plain:
    """Returns the row that a side's columns show where the side is not there."""
    match absent:
        case NullRow():
            return dict.fromkeys(schema.names)
        case BlankRow():
            return {column.name: blank(column.type) for column in schema.columns}
        case GivenRow(values=values, rest=rest):
            columns = [(schema[name], value) for name, value in values]
            given = {
                column.name: read_value(value, column.type, f'"{column.name}"')
                for column, value in columns
            }
            return {**absent_row(rest, schema), **given}
        case _:
            assert_never(absent)
