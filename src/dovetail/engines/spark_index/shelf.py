"""The indexes of a program: in folders below one, each under its logical name.

~hr::by_name    ->    FOLDER/hr/by_name
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from pyspark.sql import SparkSession

from dovetail.engines.spark_index import layout
from dovetail.engines.spark_index.reads import Read
from dovetail.errors import EngineError
from dovetail.schema import Column


@dataclass(frozen=True, slots=True)
class Reading:
    """What a join, or whatever is named here, reads of an index or a file."""

    title: str
    file: str
    read: Read
    kind: str = "index"

    def told(self) -> str:
        """Returns the reading in words."""
        return f"{self.title}: of the {self.kind} {self.file} {self.read.told()}"


@dataclass(frozen=True, slots=True)
class Unaided:
    """Why the index of a join does not help to read its data set."""

    title: str
    why: str

    def told(self) -> str:
        """Returns it in words."""
        return f"{self.title}: all of the data set is read: {self.why}"


@dataclass(slots=True)
class Shelf:
    """A folder with indexes; `readings` are what programs have read of them."""

    folder: str
    sizes: layout.Sizes = layout.Sizes()
    readings: list[Reading | Unaided] = field(default_factory=list)

    def place(self, file: str) -> str:
        """Returns the folder of an index."""
        return "/".join([self.folder, *file.split("::")])

    def has(self, spark: SparkSession, file: str, shape: Shape) -> bool:
        """Tells whether an index is there; one of another shape is refused."""
        found = layout.newest(spark, self.place(file))
        if not isinstance(found, layout.Build):
            return False
        fields = ((one.name, one.dataType.simpleString()) for one in found.schema)
        there = Shape.named(found.keys, fields)
        if there != shape:
            raise EngineError(
                f'the index "{file}" is there with {there}',
                f"{shape}",
                "BUILD with OVERWRITE writes it anew",
            )
        return True


@dataclass(frozen=True, slots=True)
class NoShelf:
    """No indexes are kept: BUILD writes nothing, an INDEX has the rows of its text."""


AnyShelf = Shelf | NoShelf


def readings_told(shelf: AnyShelf) -> tuple[str, ...]:
    """Returns what has been read of indexes, in words."""
    match shelf:
        case Shelf(readings=readings):
            return tuple(dict.fromkeys(one.told() for one in readings))
        case NoShelf():
            return ()


@dataclass(frozen=True, slots=True)
class Shape:
    """The keys of an index and its columns with their types; names have no case."""

    keys: tuple[str, ...]
    columns: tuple[tuple[str, str], ...]

    @classmethod
    def of(cls, keys: tuple[str, ...], columns: Iterable[Column]) -> Shape:
        """Returns the shape of an index that has these columns."""
        return cls.named(keys, [(one.name, str(one.type)) for one in columns])

    @classmethod
    def named(cls, keys: Iterable[str], columns: Iterable[tuple[str, str]]) -> Shape:
        """Returns the shape of keys and columns by their names, in lower case."""
        known = tuple((name.lower(), kind) for name, kind in columns)
        return cls(tuple(name.lower() for name in keys), known)

    def __str__(self) -> str:
        """Returns the shape in words."""
        columns = ", ".join(f"{name} {kind}" for name, kind in self.columns)
        return f"the keys {', '.join(self.keys)} and the columns {columns}"
