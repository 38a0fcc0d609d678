"""The columns that a file has by itself, and their types.

A Parquet file says both. In a file of CSV every column is a text. A file of JSON is
looked into: its first rows tell.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import reduce
from itertools import islice
from pathlib import Path

import pyarrow as pa

from dovetail.bind.files.logical import DataFile, Format
from dovetail.bind.files.reading import cells, csv_layout, heading, parquet_schema
from dovetail.bind.files.texts import Digits
from dovetail.errors import SchemaError
from dovetail.schema import (
    ArrayType,
    AtomicType,
    Column,
    DecimalType,
    Schema,
    StructType,
    Type,
)
from dovetail.spec.layouts import Layout

LOOKED_AT = 1000
Columns = Mapping[str, Type]
_ATOMS: Mapping[pa.DataType, Type] = {
    pa.bool_(): AtomicType.BOOLEAN,
    pa.int8(): AtomicType.TINYINT,
    pa.int16(): AtomicType.SMALLINT,
    pa.int32(): AtomicType.INT,
    pa.int64(): AtomicType.BIGINT,
    pa.uint8(): AtomicType.SMALLINT,
    pa.uint16(): AtomicType.INT,
    pa.uint32(): AtomicType.BIGINT,
    pa.uint64(): DecimalType(20, 0),
    pa.float32(): AtomicType.FLOAT,
    pa.float64(): AtomicType.DOUBLE,
    pa.string(): AtomicType.STRING,
    pa.large_string(): AtomicType.STRING,
    pa.binary(): AtomicType.BINARY,
    pa.large_binary(): AtomicType.BINARY,
    pa.date32(): AtomicType.DATE,
}


def own_columns(file: DataFile, layout: Layout) -> Columns:
    """Returns the columns of a file, all parts of which have the same."""
    if file.format is Format.JSON:
        return _json(islice(cells(file, layout, ()), LOOKED_AT))
    found = [_of_part(file.format, part, layout) for part in file.parts]
    for part, one in zip(file.parts, found, strict=True):
        if list(one.items()) != list(found[0].items()):
            raise SchemaError(
                f'the file "{part}" has the columns {_told(one)}',
                f"those of its other parts: {_told(found[0])}",
            )
    return found[0]


def _of_part(written: Format, part: Path, layout: Layout) -> Columns:
    """Returns the columns of one part."""
    if written is Format.PARQUET:
        return _parquet(parquet_schema(part), part.name)
    return dict.fromkeys(heading(part, csv_layout(layout)), AtomicType.STRING)


def own_schema(file: DataFile, layout: Layout) -> Schema:
    """Returns the columns of a file as those of an input that no text declares."""
    found = own_columns(file, layout)
    return Schema(tuple(Column(name, kind) for name, kind in found.items()))


def _told(columns: Columns) -> str:
    """Returns columns in words."""
    return ", ".join(f"{name} {kind}" for name, kind in columns.items()) or "none"


def _parquet(schema: pa.Schema, part: str) -> Columns:
    """Returns the columns of a Parquet file."""
    return {one.name: _of_arrow(one.type, f"{part}: {one.name}") for one in schema}


def _of_arrow(kind: pa.DataType, where: str) -> Type:
    """Returns the type that Spark reads a column of Arrow's as."""
    if pa.types.is_decimal(kind):
        return DecimalType(kind.precision, kind.scale)
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        return ArrayType(_of_arrow(kind.value_type, where))
    if pa.types.is_struct(kind):
        return StructType(
            tuple((one.name, _of_arrow(one.type, where)) for one in kind.fields)
        )
    if pa.types.is_dictionary(kind):
        return _of_arrow(kind.value_type, where)
    if pa.types.is_timestamp(kind):
        return AtomicType.TIMESTAMP if kind.tz else AtomicType.TIMESTAMP_NTZ
    if kind not in _ATOMS:
        raise SchemaError(
            f"{where} is of the type {kind}", "numbers, texts, bytes, sets or records"
        )
    return _ATOMS[kind]


def _json(rows: Iterable[Mapping[str, object]]) -> Columns:
    """Returns the columns of rows of JSON."""
    found: dict[str, Type] = {}
    for row in rows:
        for name, value in row.items():
            found[name] = _wider(found.get(name, AtomicType.NULL), _of_json(value))
    return {name: _sure(kind) for name, kind in found.items()}


def _of_json(value: object) -> Type:
    """Returns the type of a value of JSON."""
    match value:
        case None:
            return AtomicType.NULL
        case bool():
            return AtomicType.BOOLEAN
        case Digits():
            return AtomicType.BIGINT if value.is_whole else AtomicType.DOUBLE
        case list():
            nothing: Type = AtomicType.NULL
            return ArrayType(reduce(_wider, map(_of_json, value), nothing))
        case dict():
            return StructType(
                tuple((name, _of_json(item)) for name, item in value.items())
            )
        case _:
            return AtomicType.STRING


def _wider(one: Type, other: Type) -> Type:
    """Returns the type that holds values of both."""
    if one == other or other is AtomicType.NULL:
        return one
    match one, other:
        case AtomicType.NULL, _:
            return other
        case (AtomicType.BIGINT, AtomicType.DOUBLE) | (
            AtomicType.DOUBLE,
            AtomicType.BIGINT,
        ):
            return AtomicType.DOUBLE
        case ArrayType(element), ArrayType(item):
            return ArrayType(_wider(element, item))
        case StructType(fields), StructType(parts):
            both = dict(fields)
            for name, kind in parts:
                both[name] = _wider(both.get(name, AtomicType.NULL), kind)
            return StructType(tuple(both.items()))
        case _:
            return AtomicType.STRING


def _sure(kind: Type) -> Type:
    """Returns a type without what no row has told: that is a text."""
    match kind:
        case AtomicType.NULL:
            return AtomicType.STRING
        case ArrayType(element):
            return ArrayType(_sure(element))
        case StructType(fields):
            return StructType(tuple((name, _sure(part)) for name, part in fields))
        case _:
            return kind
