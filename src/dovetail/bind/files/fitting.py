"""The columns that a text declares, in the file that it names.

Which column of the file is which is told by names without regard to case, or by places
in a file of CSV without a heading. What is not there is refused before anything runs.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from difflib import get_close_matches

from dovetail.bind.files.logical import DataFile, Format, Root
from dovetail.bind.files.own import LOOKED_AT, Columns, own_columns
from dovetail.bind.files.reading import cells, csv_layout, heading, parquet_size
from dovetail.bind.files.texts import read_part
from dovetail.errors import SchemaError
from dovetail.schema import (
    ArrayType,
    AtomicType,
    DecimalType,
    Schema,
    StructType,
    Type,
    blank,
)
from dovetail.spec.inputs import Row
from dovetail.spec.layouts import Heading, Layout
from dovetail.spec.program import Given
from dovetail.spec.ranges import refuse_beyond


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
    given: Given
    owns: Mapping[str, Own]
    count: int

    @property
    def size(self) -> int:
        """Returns the bytes of the declared columns, of texts by their share."""
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

    @property
    def heading(self) -> tuple[str, ...]:
        """Returns the columns of a file without a heading, in their places."""
        return tuple(self.owns)

    def rows(self) -> Iterator[Row]:
        """Yields the rows as the program declares them, without Spark."""
        for number, cell in enumerate(
            cells(self.file, self.given.layout, self.heading), start=1
        ):
            yield self._row(cell, number)

    def _row(self, cell: Mapping[str, object], number: int) -> Row:
        """Returns a row of the file with the declared columns; none is null."""
        found: dict[str, object] = {}
        for column in self.given.schema.columns:
            where = f'{self.where}, row {number}: the column "{column.name}"'
            if column.name in self.owns:
                value = cell.get(self.owns[column.name].name)
                found[column.name] = read_part(value, column.type, where)
            else:
                is_number = column.name == self.given.position
                found[column.name] = None if is_number else blank(column.type)
        refuse_beyond(self.given.ranges, found, f"{self.where}, row {number}")
        return found

    @property
    def where(self) -> str:
        """Returns the file in words."""
        return f'the file "{self.file.place}"'


def fitted(root: Root, given: Given) -> Fitted:
    """Returns the file of an input with its columns found, or says what is missing."""
    return fitted_file(root.find(given.input, given.layout), given)


def _settled(file: DataFile, given: Given) -> Layout:
    """Returns the layout of a file, of CSV whether its first line is a heading."""
    layout = csv_layout(given.layout)
    is_said = layout.heading is not Heading.IF_NAMED
    if file.format is not Format.CSV or is_said or not file.parts:
        return given.layout
    declared = {name.lower() for name in given.schema.names}
    first = {name.lower() for name in heading(file.parts[0], layout)}
    found = Heading.NAMES if declared & first else Heading.NONE
    return replace(layout, heading=found)


def fitted_file(file: DataFile, given: Given) -> Fitted:
    """Returns a file with the columns that a program declares of it."""
    given = replace(given, layout=_settled(file, given))
    found = own_columns(file, given.layout)
    if file.format is Format.JSON:
        # Each of its values may be of another type: they are read one by one.
        found = dict.fromkeys(found, AtomicType.STRING)
    if file.format is Format.CSV and not csv_layout(given.layout).has_heading:
        places = _by_place(file, given, len(found))
        return Fitted(file, given, places, len(found))
    where = f'the file "{file.place}"'
    if not found:
        return Fitted(file, given, {}, 0)
    owns = matched(found, given, where, _HINTS[file.format])
    return Fitted(file, given, owns, len(found))


def matched(
    found: Columns, given: Given, where: str, hint: str = ""
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
            raise _missing(where, column.name, tuple(found), hint)
    return owns


def _by_name(found: Columns, given: Given, where: str) -> dict[str, Own]:
    """Returns the declared columns by their names, each of which is there once."""
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


def _by_place(file: DataFile, given: Given, count: int) -> dict[str, Own]:
    """Returns the columns of a file that does not name them: by their places."""
    wanted = [one for one in given.schema.names if one != given.position]
    if 0 < count < len(wanted):
        raise SchemaError(
            f'the file "{file.place}" has {count} columns',
            f"{len(wanted)}: {', '.join(wanted)}",
        )
    return {name: Own(name, AtomicType.STRING) for name in wanted}


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
        case (ArrayType() | StructType(), _) | (_, ArrayType() | StructType()):
            return False
        case (AtomicType.FLOAT | AtomicType.DOUBLE | DecimalType(), _):
            return wanted not in {AtomicType.STRING, AtomicType.BINARY}
        case _:
            return own == wanted or (own in _PLAIN and wanted is not AtomicType.BINARY)


def _missing(where: str, name: str, found: tuple[str, ...], hint: str) -> SchemaError:
    """Returns the error for a declared column that is not there."""
    near = get_close_matches(name.lower(), [one.lower() for one in found], 1)
    hints = [f'did you mean "{near[0]}"?'] if near else []
    return SchemaError(
        f'{where} has no column "{name}"',
        f"it beside {', '.join(found)}",
        "; ".join([*hints, *([hint] if hint else [])]),
    )


_HINTS = {
    Format.PARQUET: "",
    Format.CSV: "CSV(HEADING(0)) if its first line is a row",
    Format.JSON: f"one of its first {LOOKED_AT} rows must name it",
}
_PLAIN = {
    *(AtomicType.BOOLEAN, AtomicType.TINYINT, AtomicType.SMALLINT),
    *(AtomicType.INT, AtomicType.BIGINT),
}
