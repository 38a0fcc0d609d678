"""What a program may be given: a folder, or DataFrames and files by their names.

    dt.ecl(text, "data")
    dt.ecl(text, {"people": frame, "hr::pets": "data/pets.csv"})

Names are those that the text has, without regard to case and `~`.

A right side of LOOKUP or ALL goes to every task whole, and must not be too large. That
is judged before anything runs, by what is known: the bytes of the declared columns in
the files, or what Spark's own statistics say of a DataFrame, where nothing between them
and the join makes rows fewer. What turns out too large while it runs Spark refuses.

    spark.conf.set("spark.dovetail.broadcastLimit", "4g")
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from pyspark.sql import DataFrame, SparkSession

from dovetail import spec
from dovetail.api.catalogs import FolderCatalog
from dovetail.bind.files import Root
from dovetail.bind.files.columns import fitted, fitted_file, own_schema
from dovetail.bind.files.frames import as_declared, frame
from dovetail.bind.files.names import file_at, plain_name
from dovetail.bind.schemas import frame_given, schema_of
from dovetail.dialects.ecl import Catalog
from dovetail.engines.spark.rules import pinned, plain_rules
from dovetail.engines.spark.sizes import broadcast_limit, shown_size, told_limit
from dovetail.engines.spark_index.layout import Build, newest
from dovetail.engines.spark_index.shelf import AnyShelf, NoShelf, Shelf
from dovetail.errors import EngineError, SpecError
from dovetail.plan.words import BROADCAST
from dovetail.schema import Schema
from dovetail.spec import arguments

Place = str | Path
Sources = Place | Mapping[str, DataFrame | Place]
# What joins, filters and sums leave Spark only guesses, and rows that came from
# elsewhere (LogicalRDD) it takes for endless.
_GUESSED = re.compile(
    r"\b(Join|Filter|Aggregate|Generate|LogicalRDD|Limit|Sample|Expand)\b"
)


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
class FolderSource:
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
class NamedSource:
    """DataFrames, and paths of files, by the names of inputs."""

    given: Mapping[str, DataFrame | Place]

    @property
    def catalog(self) -> Catalog:
        """Returns the inputs by themselves: they know their names."""
        return self

    @property
    def shelf(self) -> AnyShelf:
        """Returns the shelf that keeps no indexes."""
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
        """Returns the bytes of a file, 0 where of a DataFrame Spark knows none."""
        match self.given[given.input]:
            case str() | Path() as path:
                return fitted_file(file_at(path, given.input, given.layout), given).size
            case rows:
                # Spark Connect has no plan to be asked.
                plan = getattr(rows, "_jdf", None)
                if plan is None:
                    return 0
                found = plan.queryExecution().optimizedPlan()
                if _GUESSED.search(found.toString()):
                    return 0
                return int(str(found.stats().sizeInBytes()))

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
class IndexedCatalog:
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
            place = arguments.path("sources", sources, 'dt.ecl(text, "data")')
            return FolderSource(Root.of(place))
        case Mapping():
            example = 'sources={"people": frame}'
            found = dict[str, DataFrame | Place]()
            for name, given in sources.items():
                arguments.text("a name in sources", name, "a text", example)
                label = f"sources[{arguments.told(name)}]"
                is_file = isinstance(given, str | Path)
                # What the user has computed keeps the user's rules.
                found[name] = given if is_file else pinned(frame_given(label, given))
            plain = [plain_name(name) for name in sources]
            for name in plain:
                if plain.count(name) > 1:
                    raise SpecError(
                        f'two sources are named "{name}"',
                        "one of each, without case",
                        "~ and the case of letters make no other name",
                    )
            return NamedSource(found)
        case _:
            hint = (
                'write for example dt.ecl(text, "data") or dt.ecl(text, {"a": frame})'
            )
            expected = "a folder, or a dict of DataFrames and files by their names"
            raise arguments.wrong("sources", sources, expected, hint)


def session_of(source: Source) -> SparkSession:
    """Returns the session of the sources, or the one that is there."""
    if isinstance(source, NamedSource):
        for rows in source.given.values():
            if isinstance(rows, DataFrame):
                return rows.sparkSession
    return SparkSession.getActiveSession() or SparkSession.builder.getOrCreate()


def catalog_of(source: Source, spark: SparkSession, shelf: AnyShelf) -> Catalog:
    """Returns the inputs of a source, and the indexes on a shelf beside them."""
    match shelf:
        case Shelf():
            return IndexedCatalog(source.catalog, spark, shelf)
        case NoShelf():
            return source.catalog


def input_frames(
    spark: SparkSession, program: spec.Program, source: Source
) -> dict[str, DataFrame]:
    """Returns the rows of every input of a program, as it declares them.

    A right side that is known not to fit into memory is refused.
    """
    sizes = {one.name: source.size(one) for one in spec.givens_of(program)}
    refuse_too_large(spark, program, sizes)
    with plain_rules(spark):
        return {
            one.name: pinned(source.frame(spark, one))
            for one in spec.givens_of(program)
        }


def refuse_too_large(
    spark: SparkSession, program: spec.Program, sizes: Mapping[str, int]
) -> None:
    """Raises for a right side that does not fit; `sizes` are those of inputs known."""
    limit = broadcast_limit(spark)
    for step in spec.steps_of(program):
        match step:
            case spec.Joined(right=right) if step.join.picks.strategy in BROADCAST:
                size = sizes.get(_whole_input(right), 0)
            case _:
                continue
        if size > limit:
            raise EngineError(
                f"the right side of {step.told.title} has {shown_size(size)}, too much "
                "to be broadcast",
                told_limit(limit),
                "SMART in place of LOOKUP lets Spark shuffle a large side; an equality "
                "does the same for ALL",
            )


def _whole_input(step: spec.Step) -> str:
    """Returns the input all of whose rows a step has, if it has those of one."""
    match step:
        case spec.Given(name):
            return name
        case (
            spec.Ordered(source)
            | spec.Grouped(source)
            | spec.Numbered(source)
            | spec.Indexed(source)
        ):
            return _whole_input(source)
        # Sizes that a text declares: the same columns of the same rows.
        case spec.Projected(spec.Given() as source, schema) if schema == source.schema:
            return source.name
        case _:
            return ""
