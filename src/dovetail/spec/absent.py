"""The row that stands for a side that is not there, as plain values."""

from __future__ import annotations

from typing import assert_never

from dovetail.schema import Schema, blank, read_value
from dovetail.spec.inputs import Row
from dovetail.spec.join import Absent, BlankRow, GivenRow, NullRow


def absent_row(absent: Absent, schema: Schema) -> Row:
    """Returns the value of every column where the side is not there."""
    match absent:
        case NullRow():
            return dict.fromkeys(schema.names)
        case BlankRow():
            return {column.name: blank(column.type) for column in schema.columns}
        case GivenRow(values, rest):
            given = {schema[name]: value for name, value in values}
            return dict(absent_row(rest, schema)) | {
                column.name: read_value(value, column.type, f'"{column.name}"')
                for column, value in given.items()
            }
        case _ as unknown:
            assert_never(unknown)
