"""What a program may be given: a folder, or DataFrames and files by their names.

    dt.ecl(text, "data")
    dt.ecl(text, {"people": frame, "hr::pets": "data/pets.csv"})

Names are those that the text has, without regard to case and `~`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from pyspark.sql import DataFrame, SparkSession

from dovetail.bind.files import Root
from dovetail.bind.files.fitting import fitted, fitted_file
from dovetail.bind.files.frames import as_declared, frame
from dovetail.bind.files.logical import file_at, plain_name
from dovetail.bind.files.own import own_schema
from dovetail.errors import SpecError
from dovetail.front.ecl import Catalog
from dovetail.run.spark.rules import plain_rules
from dovetail.run.spark_index.shelf import AnyShelf, NoShelf, Shelf
from dovetail.schema import Schema
from dovetail.session.folder import FolderCatalog
from dovetail.session.programs import givens
from dovetail.spec.layouts import AnyLayout, Layout
from dovetail.spec.program import Given, Program

Path_ = str | Path
Sources = Path_ | Mapping[str, DataFrame | Path_]


class Source(Protocol):
    """Whoever gives the rows of a program's inputs."""

    @property
    def catalog(self) -> Catalog:
        """Returns the inputs as the text finds them."""

    @property
    def shelf(self) -> AnyShelf:
        """Returns where the program keeps its indexes."""

    def frame(self, spark: SparkSession, given: Given) -> DataFrame:
        """Returns the rows of an input as the program declares them."""


@dataclass(frozen=True, slots=True)
class Folder:
    """The files below a folder."""

    root: Root

    @property
    def catalog(self) -> Catalog:
        """Returns the files as inputs."""
        return FolderCatalog(self.root)

    @property
    def shelf(self) -> AnyShelf:
        """Returns the folder: indexes lie beside the files."""
        return Shelf(str(self.root.path.absolute()))

    def frame(self, spark: SparkSession, given: Given) -> DataFrame:
        """Returns the rows of a file."""
        return frame(spark, fitted(self.root, given))


@dataclass(frozen=True, slots=True)
class Named:
    """DataFrames, and paths of files, by the names of inputs."""

    given: Mapping[str, DataFrame | Path_]

    @property
    def catalog(self) -> Catalog:
        """Returns the inputs by themselves: they know their names."""
        return self

    @property
    def shelf(self) -> AnyShelf:
        """Returns that indexes are not kept."""
        return NoShelf()

    def frame(self, spark: SparkSession, given: Given) -> DataFrame:
        """Returns the rows of a DataFrame, or of a file."""
        match self.given[given.input]:
            case str() | Path() as path:
                file = file_at(path, given.input, given.layout)
                return frame(spark, fitted_file(file, given))
            case rows:
                return as_declared(rows, given)

    def spelled(self, word: str) -> str:
        """Returns the name of an input as it is given, or nothing."""
        found = (name for name in self.given if plain_name(name) == plain_name(word))
        return next(found, "")

    def file(self, word: str, layout: Layout) -> str:  # noqa: ARG002
        """Returns the name of an input, however its rows are written."""
        return self.spelled(word)

    def schema(self, name: str) -> Schema:
        """Returns the columns of an input."""
        match self.given[name]:
            case str() | Path() as path:
                return own_schema(file_at(path, name, AnyLayout()), AnyLayout())
            case rows:
                return Schema.of(rows.dtypes)

    def names(self) -> Iterable[str]:
        """Returns all names."""
        return map(plain_name, self.given)


def source_of(sources: Sources) -> Source:
    """Returns the source that a user means."""
    match sources:
        case str() | Path():
            return Folder(Root.of(sources))
        case Mapping():
            plain = [plain_name(name) for name in sources]
            for name in plain:
                if plain.count(name) > 1:
                    raise SpecError(
                        f'two sources are named "{name}"', "one of each, without case"
                    )
            return Named(sources)


def input_frames(
    spark: SparkSession, program: Program, source: Source
) -> dict[str, DataFrame]:
    """Returns the rows of every input of a program, as it declares them."""
    with plain_rules(spark):
        return {one.name: source.frame(spark, one) for one in givens(program)}
