"""What a program may be given: a folder, or DataFrames and files by their names.

    dt.ecl(text, "data")
    dt.ecl(text, {"people": frame, "hr::pets": "data/pets.csv"})

Names are those that the text has, without regard to case and `~`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from pyspark.sql import DataFrame, SparkSession

from dovetail import spec
from dovetail.api.folder import FolderCatalog
from dovetail.api.memory import refuse_too_large
from dovetail.bind.files import Root
from dovetail.bind.files.columns import fitted, fitted_file, own_schema
from dovetail.bind.files.frames import as_declared, frame
from dovetail.bind.files.names import file_at, plain_name
from dovetail.bind.schemas import frame_given, schema_of
from dovetail.dialects.ecl import Catalog
from dovetail.engines.spark.rules import plain_rules
from dovetail.engines.spark_index.builds import newest
from dovetail.engines.spark_index.layout import Build
from dovetail.engines.spark_index.shelf import AnyShelf, NoShelf, Shelf
from dovetail.errors import SpecError
from dovetail.schema import Schema
from dovetail.spec import arguments

Place = str | Path
_GUESSED = re.compile(
    r"\b(Join|Filter|Aggregate|Generate|LogicalRDD|Limit|Sample|Expand)\b"
)
Sources = Place | Mapping[str, DataFrame | Place]


class Source(Protocol):
    """Whoever gives the rows of a program's inputs."""

    @property
    def catalog(self) -> Catalog:
        """Returns the inputs as the text finds them."""

    @property
    def shelf(self) -> AnyShelf:
        """Returns where the program keeps its indexes."""

    def frame(self, spark: SparkSession, given: spec.Given) -> DataFrame:
        """Returns the rows of an input as the program declares them."""

    def size(self, given: spec.Given) -> int:
        """Returns the bytes of an input, 0 where they are not known for sure."""


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

    def frame(self, spark: SparkSession, given: spec.Given) -> DataFrame:
        """Returns the rows of a file."""
        return frame(spark, fitted(self.root, given))

    def size(self, given: spec.Given) -> int:
        """Returns the bytes of what the program declares of a file."""
        return fitted(self.root, given).size


@dataclass(frozen=True, slots=True)
class Named:
    """DataFrames, and paths of files, by the names of inputs."""

    given: Mapping[str, DataFrame | Place]

    @property
    def catalog(self) -> Catalog:
        """Returns the inputs by themselves: they know their names."""
        return self

    @property
    def shelf(self) -> AnyShelf:
        """Returns that indexes are not kept."""
        return NoShelf()

    def frame(self, spark: SparkSession, given: spec.Given) -> DataFrame:
        """Returns the rows of a DataFrame, or of a file."""
        match self.given[given.input]:
            case str() | Path() as path:
                file = file_at(path, given.input, given.layout)
                return frame(spark, fitted_file(file, given))
            case rows:
                return as_declared(rows, given)

    def size(self, given: spec.Given) -> int:
        """Returns the bytes of a file, or what Spark knows of a DataFrame."""
        match self.given[given.input]:
            case str() | Path() as path:
                return fitted_file(file_at(path, given.input, given.layout), given).size
            case rows:
                return known_size(rows)

    def spelled(self, word: str) -> str:
        """Returns the name of an input as it is given, or nothing."""
        found = (name for name in self.given if plain_name(name) == plain_name(word))
        return next(found, "")

    def file(self, word: str, layout: spec.Layout) -> str:  # noqa: ARG002
        """Returns the name of an input, however its rows are written."""
        return self.spelled(word)

    def has_index(self, file: str) -> bool:  # noqa: ARG002 - none is kept
        """Tells that there is no index beside the inputs."""
        return False

    def schema(self, name: str) -> Schema:
        """Returns the columns of an input."""
        match self.given[name]:
            case str() | Path() as path:
                return own_schema(
                    file_at(path, name, spec.AnyLayout()), spec.AnyLayout()
                )
            case rows:
                return schema_of(rows)

    def names(self) -> Iterable[str]:
        """Returns all names."""
        return map(plain_name, self.given)


@dataclass(frozen=True, slots=True)
class Indexed:
    """Inputs beside which a shelf has indexes."""

    inputs: Catalog
    spark: SparkSession
    shelf: Shelf

    def has_index(self, file: str) -> bool:
        """Tells whether the shelf has an index of a name."""
        return isinstance(newest(self.spark, self.shelf.place(file)), Build)

    def spelled(self, word: str) -> str:
        """Returns the name of an input as it is given, or nothing."""
        return self.inputs.spelled(word)

    def file(self, word: str, layout: spec.Layout) -> str:
        """Returns the name of the input that is the file of a name, or nothing."""
        return self.inputs.file(word, layout)

    def schema(self, name: str) -> Schema:
        """Returns the columns of an input."""
        return self.inputs.schema(name)

    def names(self) -> Iterable[str]:
        """Returns all names."""
        return self.inputs.names()


def source_of(sources: object) -> Source:
    """Returns the source that a user means."""
    match sources:
        case str() | Path():
            return Folder(
                Root.of(arguments.path("sources", sources, 'dt.ecl(text, "data")'))
            )
        case Mapping():
            for name, given in sources.items():
                arguments.text(
                    "a name in sources", name, "a text", 'sources={"people": frame}'
                )
                if not isinstance(given, str | Path):
                    frame_given(f"sources[{arguments.told(name)}]", given)
            plain = [plain_name(name) for name in sources]
            for name in plain:
                if plain.count(name) > 1:
                    raise SpecError(
                        f'two sources are named "{name}"',
                        "one of each, without case",
                        "~ and the case of letters make no other name",
                    )
            return Named(sources)
        case _:
            hint = (
                'write for example dt.ecl(text, "data") or dt.ecl(text, {"a": frame})'
            )
            expected = "a folder, or a dict of DataFrames and files by their names"
            raise arguments.wrong("sources", sources, expected, hint)


def input_frames(
    spark: SparkSession, program: spec.Program, source: Source
) -> dict[str, DataFrame]:
    """Returns the rows of every input of a program, as it declares them.

    A right side that is known not to fit into memory is refused.
    """
    sizes = {one.name: source.size(one) for one in spec.givens_of(program)}
    refuse_too_large(spark, program, sizes)
    with plain_rules(spark):
        return {one.name: source.frame(spark, one) for one in spec.givens_of(program)}


def known_size(rows: DataFrame) -> int:
    """Returns the bytes of a DataFrame by Spark's statistics, where it has any.

    Spark Connect has none. What joins, filters and sums leave Spark only guesses, and
    rows that came from elsewhere it takes for endless: neither is known.
    """
    plan = getattr(rows, "_jdf", None)
    if plan is None:
        return 0
    found = plan.queryExecution().optimizedPlan()
    if _GUESSED.search(found.toString()):
        return 0
    return int(str(found.stats().sizeInBytes()))
