"""Plain rows as Arrow tables, with the types that Spark gives to a schema."""

from __future__ import annotations

from collections.abc import Iterable

import pyarrow as pa

from dovetail import spec
from dovetail.schema import (
    ArrayType,
    AtomicType,
    DecimalType,
    MapType,
    Schema,
    StructType,
    Type,
)

_ATOMS = {
    AtomicType.NULL: pa.null(),
    AtomicType.BOOLEAN: pa.bool_(),
    AtomicType.TINYINT: pa.int8(),
    AtomicType.SMALLINT: pa.int16(),
    AtomicType.INT: pa.int32(),
    AtomicType.BIGINT: pa.int64(),
    AtomicType.FLOAT: pa.float32(),
    AtomicType.DOUBLE: pa.float64(),
    AtomicType.STRING: pa.string(),
    AtomicType.BINARY: pa.binary(),
    AtomicType.DATE: pa.date32(),
    AtomicType.TIMESTAMP: pa.timestamp("us", tz="UTC"),
    AtomicType.TIMESTAMP_NTZ: pa.timestamp("us"),
}


def arrow_type(kind: Type) -> pa.DataType:
    """Returns the Arrow type of a column's type."""
    match kind:
        case DecimalType(precision, scale):
            return pa.decimal128(precision, scale)
        case ArrayType(element):
            return pa.list_(arrow_type(element))
        case MapType(key, value):
            return pa.map_(arrow_type(key), arrow_type(value))
        case StructType(fields):
            return pa.struct([(name, arrow_type(part)) for name, part in fields])
        case AtomicType():
            return _ATOMS[kind]


def arrow_schema(schema: Schema) -> pa.Schema:
    """Returns the Arrow schema of columns; every one may be null."""
    return pa.schema(
        [(column.name, arrow_type(column.type)) for column in schema.columns]
    )


def arrow_table(rows: Iterable[spec.Row], schema: Schema) -> pa.Table:
    """Returns rows of plain values as a table."""
    listed = list(rows)
    arrays = [
        pa.array(
            [_arrow_value(row[column.name], column.type) for row in listed],
            arrow_type(column.type),
        )
        for column in schema.columns
    ]
    return pa.Table.from_arrays(arrays, schema=arrow_schema(schema))


def _arrow_value(value: object, kind: Type) -> object:
    """Returns a plain value as Arrow reads it: a map is a list of pairs."""
    match kind, value:
        case ArrayType(element), list():
            return [_arrow_value(item, element) for item in value]
        case MapType(key, item), dict():
            return [
                (_arrow_value(k, key), _arrow_value(v, item)) for k, v in value.items()
            ]
        case StructType(fields), dict():
            return {name: _arrow_value(value[name], part) for name, part in fields}
        case _:
            return value


def plain_rows(table: pa.Table) -> list[dict[str, object]]:
    """Returns the rows of a table as plain values; its times must be in UTC."""
    rows: list[dict[str, object]] = table.to_pylist(maps_as_pydicts="strict")
    return rows
