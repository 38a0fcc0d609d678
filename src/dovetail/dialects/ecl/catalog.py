"""What stands around a text: its inputs, and the other texts that it may import.

A text that declares an input by itself needs to know only that it is there. One that
just names it takes the columns that the input has.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Protocol

from dovetail import spec
from dovetail.dialects.ecl import trees, types
from dovetail.errors import SchemaError
from dovetail.schema import (
    ArrayType,
    AtomicType,
    DecimalType,
    Schema,
    StructType,
    Type,
)


class Catalog(Protocol):
    """Whoever knows the inputs of a text."""

    def spelled(self, word: str) -> str:
        """Returns the name of an input as it is written, or nothing if there is none.

        `word` is a name in lower case. Raises a SchemaError where it is not clear.
        """

    def file(self, word: str, layout: spec.Layout) -> str:
        """Returns the name of the input that is the file of a name, or nothing."""

    def has_index(self, file: str) -> bool:
        """Tells whether an earlier program has written an index of a name."""

    def schema(self, name: str) -> Schema:
        """Returns the columns that an input has by itself."""

    def names(self) -> Iterable[str]:
        """Returns all names, for hints."""


@dataclass(frozen=True, slots=True)
class Listed:
    """Inputs whose columns are known beforehand."""

    schemas: Mapping[str, Schema]

    def spelled(self, word: str) -> str:
        """Returns the name of an input as it is written, or nothing."""
        return next((name for name in self.schemas if name.lower() == word), "")

    def file(self, word: str, layout: spec.Layout) -> str:  # noqa: ARG002
        """Returns the name of an input; its rows are given, however written."""
        return self.spelled(word)

    def has_index(self, file: str) -> bool:  # noqa: ARG002 - none is kept
        """Tells that no program has written an index."""
        return False

    def schema(self, name: str) -> Schema:
        """Returns the columns of an input."""
        return self.schemas[name]

    def names(self) -> Iterable[str]:
        """Returns all names in lower case."""
        return [name.lower() for name in self.schemas]


Path = tuple[str, ...]
# The standard library, and the name of its older functions, which needs no IMPORT.
LIBRARY, OLDER = "std", "stringlib"


class Modules(Protocol):
    """The texts below a folder; paths are in lower case, `()` is the folder itself."""

    @property
    def home(self) -> Path:
        """Returns the folder of the program itself, which calls it `$`."""

    def texts(self, path: Path) -> Iterator[tuple[str, str]]:
        """Gives the text of a path and the name of its file, if there is one."""

    def has(self, path: Path) -> bool:
        """Tells whether a path is a folder."""

    def names(self, path: Path) -> Iterable[str]:
        """Returns what stands in a folder, in lower case."""


@dataclass(frozen=True, slots=True)
class NoModules:
    """No other text is known."""

    home: Path = ()

    def texts(self, path: Path) -> Iterator[tuple[str, str]]:  # noqa: ARG002
        """Gives nothing."""
        yield from ()

    def has(self, path: Path) -> bool:  # noqa: ARG002 - there is none
        """Tells that there is no folder."""
        return False

    def names(self, path: Path) -> Iterable[str]:  # noqa: ARG002 - there is none
        """Returns no name."""
        return ()


NO_MODULES = NoModules()


def taken(known: dict[str, list[spec.Given]], wanted: spec.Given) -> spec.Given:
    """Returns the step of an input; declared in another way it has another name."""
    # The first way has the name itself, the next ones a number behind it.
    ways = known.setdefault(wanted.name, [])
    for one in ways:
        if replace(one, name=wanted.name, source="") == wanted:
            return one
    name = f"{wanted.name} ({len(ways) + 1})"
    ways.append(replace(wanted, name=name, source=wanted.name) if ways else wanted)
    return ways[-1]


def taken_as(
    known: dict[str, list[spec.Given]], wanted: spec.Given, record: types.RecordType
) -> spec.Step:
    """Returns the rows of an input with the sizes that a record of the text declares.

    Texts are cut at their lengths. A number out of range would be another number:
    whoever reads the rows refuses it.
    """
    # The check stands in the input, not in a filter: it fails the job, and drops none.
    ranges = tuple(
        spec.NumberRange(one.name, *one.type.bounds, str(one.type))
        for one in record.fields
        # The column of any other number has no room for one that is out of range.
        if isinstance(one.type, types.Whole)
        and one.type != types.INTEGER
        # A position is of the file's making, not of its columns.
        and not one.is_position
    )
    given = taken(known, replace(wanted, ranges=ranges))
    columns = [(one.name, _sized(one)) for one in record.fields]
    if all(isinstance(tree, trees.Column) for _, tree in columns):
        return given
    return spec.Projected(given, record.schema, trees.select(columns))


def _sized(one: types.Field) -> trees.Node:
    """Returns a column of an input in the size of its field."""
    tree = trees.column(one.name, types.spark_type(one.type))
    # A whole number is known to be in its range, of anything else the size is not.
    kind = one.type if isinstance(one.type, types.Whole) else types.unsized(one.type)
    found = types.converted(types.Scalar(tree, kind), one.type)
    return found.tree if found else tree


_ATOMS: dict[Type, types.EclType] = {
    AtomicType.BOOLEAN: types.BOOLEAN,
    AtomicType.TINYINT: types.Whole(1),
    AtomicType.SMALLINT: types.Whole(2),
    AtomicType.INT: types.Whole(4),
    AtomicType.BIGINT: types.INTEGER,
    AtomicType.FLOAT: types.Real(4),
    AtomicType.DOUBLE: types.REAL,
    AtomicType.BINARY: types.Bytes(),
    AtomicType.STRING: types.STRING,
}


def of_spark(kind: Type) -> types.EclType:
    """Returns the type that a column of Spark's has in ECL, or raises."""
    match kind:
        # Spark has no unsigned numbers: those of eight bytes need twenty digits.
        case DecimalType(precision=20, scale=0):
            return types.Whole(types.WIDEST, is_signed=False)
        case DecimalType(precision=digits, scale=places):
            return types.Exact(digits, places)
        case ArrayType(element=StructType() as element):
            inner = of_spark(element)
            return types.TableType(
                inner if isinstance(inner, types.RecordType) else types.RecordType(())
            )
        case ArrayType(element=element):
            return types.SetOf(of_spark(element))
        case StructType(fields=fields):
            return types.RecordType(
                tuple(types.Field(name, of_spark(one)) for name, one in fields)
            )
        case AtomicType() if kind in _ATOMS:
            return _ATOMS[kind]
        case _:
            raise SchemaError(
                f"ECL has no type for {kind}",
                "numbers, texts, booleans, bytes, sets or records",
                "cast the column to a text or to a number",
            )


def record_of(schema: Schema) -> types.RecordType:
    """Returns the record of an input's columns."""
    return types.RecordType(
        tuple(
            types.Field(column.name, of_spark(column.type)) for column in schema.columns
        )
    )
