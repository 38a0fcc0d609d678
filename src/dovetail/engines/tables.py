"""Plain rows as Arrow tables, with the types that Spark gives to a schema."""

from __future__ import annotations

from collections.abc import Iterable

import pyarrow as pa

from dovetail import schema, spec

_ATOMS = {
    schema.AtomicType.NULL: pa.null(),
    schema.AtomicType.BOOLEAN: pa.bool_(),
    schema.AtomicType.TINYINT: pa.int8(),
    schema.AtomicType.SMALLINT: pa.int16(),
    schema.AtomicType.INT: pa.int32(),
    schema.AtomicType.BIGINT: pa.int64(),
    schema.AtomicType.FLOAT: pa.float32(),
    schema.AtomicType.DOUBLE: pa.float64(),
    schema.AtomicType.STRING: pa.string(),
    schema.AtomicType.BINARY: pa.binary(),
    schema.AtomicType.DATE: pa.date32(),
    schema.AtomicType.TIMESTAMP: pa.timestamp("us", tz="UTC"),
    schema.AtomicType.TIMESTAMP_NTZ: pa.timestamp("us"),
}


def arrow_type(kind: schema.Type) -> pa.DataType:
    """Returns the Arrow type of a column's type."""
    match kind:
        case schema.DecimalType(precision, scale):
            return pa.decimal128(precision, scale)
        case schema.ArrayType(element):
            return pa.list_(arrow_type(element))
        case schema.MapType(key, value):
            return pa.map_(arrow_type(key), arrow_type(value))
        case schema.StructType(fields):
            return pa.struct([(name, arrow_type(part)) for name, part in fields])
        case schema.AtomicType():
            return _ATOMS[kind]


def arrow_schema(columns: schema.Schema) -> pa.Schema:
    """Returns the Arrow schema of columns; every one may be null."""
    return pa.schema(
        [(column.name, arrow_type(column.type)) for column in columns.columns]
    )


def arrow_table(rows: Iterable[spec.Row], columns: schema.Schema) -> pa.Table:
    """Returns rows of plain values as a table."""
    listed = list(rows)
    arrays = [
        pa.array(
            [_arrow_value(row[column.name], column.type) for row in listed],
            arrow_type(column.type),
        )
        for column in columns.columns
    ]
    return pa.Table.from_arrays(arrays, schema=arrow_schema(columns))


def _arrow_value(value: object, kind: schema.Type) -> object:
    """Returns a plain value as Arrow reads it: a map is a list of pairs."""
    match kind, value:
        case schema.ArrayType(element), list():
            return [_arrow_value(item, element) for item in value]
        case schema.MapType(key, item), dict():
            return [
                (_arrow_value(k, key), _arrow_value(v, item)) for k, v in value.items()
            ]
        case schema.StructType(fields), dict():
            return {name: _arrow_value(value[name], part) for name, part in fields}
        case _:
            return value


def plain_rows(table: pa.Table) -> list[dict[str, object]]:
    """Returns the rows of a table as plain values; its times must be in UTC."""
    rows: list[dict[str, object]] = table.to_pylist(maps_as_pydicts="strict")
    return rows
