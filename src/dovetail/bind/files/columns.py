"""The columns that a file has by itself, and those that a text declares of it.

A Parquet file says its columns and types. In a file of CSV every column is a text. A
file of JSON is looked into: its first rows tell.

Which column of the file is which is told by names without regard to case, or by places
in a file of CSV without a heading. What is not there is refused before anything runs.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from difflib import get_close_matches
from functools import reduce
from itertools import islice

import pyarrow as pa

from dovetail import spec
from dovetail.bind.files.names import DataFile, Format, Root
from dovetail.bind.files.rows import (
    cells,
    csv_layout,
    heading,
    parquet_schema,
    parquet_size,
)
from dovetail.bind.files.texts import Digits, Reading
from dovetail.errors import SchemaError
from dovetail.schema import (
    ArrayType,
    AtomicType,
    Column,
    DecimalType,
    MapType,
    Schema,
    StructType,
    Type,
    blank,
)

# Rows of a file of JSON that tell its columns: all of them may be more than fit.
LOOKED_AT = 1000
Columns = Mapping[str, Type]
_ATOMS: Mapping[pa.DataType, Type] = {
    pa.bool_(): AtomicType.BOOLEAN,
    pa.int8(): AtomicType.TINYINT,
    pa.int16(): AtomicType.SMALLINT,
    pa.int32(): AtomicType.INT,
    pa.int64(): AtomicType.BIGINT,
    # Spark has no unsigned numbers: the next larger type holds them.
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
_HINTS = {
    Format.PARQUET: "",
    Format.CSV: "its first line has the names, where no CSV(HEADING(0)) of ECL is said",
    Format.JSON: f"one of its first {LOOKED_AT} rows must name it",
}
_OF_SPARK = b"org.apache.spark.sql.parquet.row.metadata"
_SPAN = re.compile(r'"name":"([^"]*)","type":[^}]*?"(interval [^"]*)"')
"""A column of which Spark alone says that its numbers are spans of time."""
_PLAIN = {
    *(AtomicType.BOOLEAN, AtomicType.TINYINT, AtomicType.SMALLINT),
    *(AtomicType.INT, AtomicType.BIGINT),
}


def own_columns(file: DataFile, layout: spec.Layout) -> Columns:
    """Returns the columns of a file, all parts of which have the same."""
    if file.format is Format.JSON:
        kinds: dict[str, Type] = {}
        for row in islice(cells(file, layout, ()), LOOKED_AT):
            for name, value in row.items():
                before = kinds.get(name, AtomicType.NULL)
                kinds[name] = _wider(before, _of_json(value))
        return {name: _sure(kind) for name, kind in kinds.items()}
    found: list[Columns] = []
    for part in file.parts:
        if file.format is Format.PARQUET:
            fields = parquet_schema(part)
            told = (fields.metadata or {}).get(_OF_SPARK, b"").decode()
            if (span := _SPAN.search(told)) is not None:
                raise _unread(f"{part.name}: {span[1]}", span[2])
            of_part = {
                one.name: _of_arrow(one.type, f"{part.name}: {one.name}")
                for one in fields
            }
        else:
            texts = heading(part, csv_layout(layout))
            of_part = dict.fromkeys(texts, AtomicType.STRING)
        found.append(of_part)
        if [*of_part.items()] != [*found[0].items()]:
            raise SchemaError(
                f'the file "{part}" has the columns {_told(of_part)}',
                f"those of its other parts: {_told(found[0])}",
            )
    return found[0]


def own_schema(file: DataFile, layout: spec.Layout) -> Schema:
    """Returns the columns of a file as those of an input that no text declares."""
    found = own_columns(file, layout)
    return Schema(tuple(Column(name, kind) for name, kind in found.items()))


def _told(columns: Columns) -> str:
    """Returns columns in words."""
    return ", ".join(f"{name} {kind}" for name, kind in columns.items()) or "none"


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
    if pa.types.is_map(kind):
        key, item = (_of_arrow(one, where) for one in (kind.key_type, kind.item_type))
        return MapType(key, item)
    # How values are packed changes none of them.
    if pa.types.is_dictionary(kind):
        return _of_arrow(kind.value_type, where)
    if pa.types.is_timestamp(kind):
        return AtomicType.TIMESTAMP if kind.tz else AtomicType.TIMESTAMP_NTZ
    if kind not in _ATOMS:
        raise _unread(where, kind)
    return _ATOMS[kind]


def _unread(where: str, kind: object) -> SchemaError:
    """Returns the error for a column of a type that we do not read."""
    expected = "numbers, texts, bytes, sets or records"
    return SchemaError(f"{where} is of the type {kind}", expected)


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
        # What has nothing in common is kept as it is written.
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


@dataclass(frozen=True, slots=True)
class Own:
    """A column as its file has it."""

    name: str
    type: Type


@dataclass(frozen=True, slots=True)
class Fitted:
    """A file as a program declares it: what the file has for each declared column.

    `count` is the number of all its columns. One that numbers the rows need not be
    there.
    """

    file: DataFile
    given: spec.Given
    owns: Mapping[str, Own]
    count: int

    @property
    def size(self) -> int:
        """Returns the bytes of the declared columns, of texts by their share."""
        # Of Parquet the declared columns are read alone; of texts all, to skip some.
        names = {own.name for own in self.owns.values()}
        if self.file.format is Format.PARQUET:
            return sum(parquet_size(part, names) for part in self.file.parts)
        return self.file.size * len(names) // max(self.count, 1)

    @property
    def schema(self) -> Schema:
        """Returns the columns that come from the file."""
        return Schema(
            tuple(one for one in self.given.schema.columns if one.name in self.owns)
        )

    def rows(self) -> Iterator[spec.Row]:
        """Yields the rows as the program declares them, without Spark."""
        names = tuple(self.owns)
        lines = cells(self.file, self.given.layout, names)
        for number, cell in enumerate(lines, start=1):
            where = f"{self.where}, row {number}"
            found: dict[str, object] = {}
            for column in self.given.schema.columns:
                if column.name in self.owns:
                    value = cell.get(self.owns[column.name].name)
                    of_it = f'{where}: the column "{column.name}"'
                    reading = Reading(of_it, self.given.lack(column.name))
                    found[column.name] = reading.part(value, column.type)
                else:
                    # Only what numbers the rows is null: the place tells it then.
                    is_number = column.name == self.given.position
                    found[column.name] = None if is_number else blank(column.type)
            spec.refuse_beyond(self.given.ranges, found, where)
            yield found

    @property
    def where(self) -> str:
        """Returns the file in words."""
        return f'the file "{self.file.place}"'


def fitted(root: Root, given: spec.Given) -> Fitted:
    """Returns the file of an input with its columns found, or says what is missing."""
    return fitted_file(root.find(given.input, given.layout), given)


def fitted_file(file: DataFile, given: spec.Given) -> Fitted:
    """Returns a file with the columns that a program declares of it."""
    layout = csv_layout(given.layout)
    is_open = layout.heading is spec.Heading.IF_NAMED
    if file.format is Format.CSV and is_open and file.parts:
        # The text leaves it open: a first line that names a column is a heading.
        declared = {name.lower() for name in given.schema.names}
        first = {name.lower() for name in heading(file.parts[0], layout)}
        settled = spec.Heading.NAMES if declared & first else spec.Heading.NONE
        given = replace(given, layout=replace(layout, heading=settled))
    found = own_columns(file, given.layout)
    if file.format is Format.JSON:
        # Each of its values may be of another type: they are read one by one.
        found = dict.fromkeys(found, AtomicType.STRING)
    if file.format is Format.CSV and not csv_layout(given.layout).has_heading:
        # A file that does not name its columns has them by their places.
        wanted = [one for one in given.schema.names if one != given.position]
        if 0 < len(found) < len(wanted):
            raise SchemaError(
                f'the file "{file.place}" has {len(found)} columns',
                f"{len(wanted)}: {', '.join(wanted)}",
            )
        places = {name: Own(name, AtomicType.STRING) for name in wanted}
        return Fitted(file, given, places, len(found))
    where = f'the file "{file.place}"'
    if not found:
        return Fitted(file, given, {}, 0)
    owns = matched(found, given, where, _HINTS[file.format])
    return Fitted(file, given, owns, len(found))


def matched(
    found: Columns, given: spec.Given, where: str, hint: str = ""
) -> Mapping[str, Own]:
    """Returns the declared columns that something has, whatever the case.

    `where` names it in the error for one that is missing, or of a type that no value
    can be read from; `hint` is said of a missing one.
    """
    owns = _by_name(found, given, where)
    for column in given.schema.columns:
        own = owns.get(column.name)
        if own is not None and not _can_be(own.type, column.type):
            raise SchemaError(
                f'{where} has the column "{own.name}" as {own.type}',
                str(column.type),
                "declare it as what it is, or write it anew",
            )
        if own is None and column.name != given.position:
            near = get_close_matches(
                column.name.lower(), [one.lower() for one in found], 1
            )
            hints = [f'did you mean "{near[0]}"?'] if near else []
            raise SchemaError(
                f'{where} has no column "{column.name}"',
                f"it beside {', '.join(found)}",
                "; ".join([*hints, *([hint] if hint else [])]),
            )
    return owns


def _by_name(found: Columns, given: spec.Given, where: str) -> dict[str, Own]:
    """Returns the declared columns by their names, each of which is there once."""
    # Two of a name are a mistake only where one of them is asked for.
    known: dict[str, Own] = {}
    for name, kind in found.items():
        if name in given.schema and name.lower() in known:
            raise SchemaError(
                f'{where} has the columns "{known[name.lower()].name}" and "{name}"',
                "one column of a name, whatever the case",
            )
        known[name.lower()] = Own(name, kind)
    wanted = [one for one in given.schema.names if one.lower() in known]
    return {name: known[name.lower()] for name in wanted}


def _can_be(own: Type, wanted: Type) -> bool:
    """Tells whether values of a type can be read as another; texts are looked at."""
    match own, wanted:
        case AtomicType.STRING, _:
            return True
        case ArrayType(element), ArrayType(item):
            return _can_be(element, item)
        case StructType(fields), StructType(parts):
            have = {name.lower(): kind for name, kind in fields}
            return all(
                name.lower() in have and _can_be(have[name.lower()], kind)
                for name, kind in parts
            )
        case MapType(key, value), MapType(name, item):
            return _can_be(key, name) and _can_be(value, item)
        case (ArrayType() | StructType() | MapType(), _) | (
            _,
            ArrayType() | StructType() | MapType(),
        ):
            return False
        # Their digits as a text would be another text on each engine.
        case (AtomicType.FLOAT | AtomicType.DOUBLE | DecimalType(), _):
            return wanted not in {AtomicType.STRING, AtomicType.BINARY}
        case _:
            return own == wanted or (own in _PLAIN and wanted is not AtomicType.BINARY)
