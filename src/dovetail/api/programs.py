"""A program for the command line: as Spark carries it out, plans it, or as a script.

Spark's plan of every output is told without running anything. Without files the inputs
are frames without rows, of which Spark knows nothing: it plans as for large sides.

A script is the PySpark program that a text becomes, whole: its files, its steps, its
outputs. Without a folder the files are somebody else's: then the text alone says which
inputs there are, and whoever runs the program gives them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass, replace
from io import StringIO
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - Spark's own name for it
from pyspark.sql.types import BinaryType

from dovetail import spec
from dovetail.api.catalogs import FolderCatalog, Unseen
from dovetail.api.outputs import failures_told, first_rows
from dovetail.api.sources import FolderSource, input_frames
from dovetail.bind.files import Format, Root
from dovetail.bind.files.columns import fitted
from dovetail.bind.files.frames import files_function, readings
from dovetail.dialects.ecl import NO_MODULES, Modules, translate
from dovetail.engines import spark_program
from dovetail.engines.spark.explained import readable
from dovetail.engines.spark.rules import RULES, plain_rules
from dovetail.engines.spark_index.shelf import AnyShelf, NoShelf, readings_told
from dovetail.schema import quoted

# What is written is what is read back: no blank is cut, quotes stand twice.
_OPTIONS: Mapping[Format, Mapping[str, str]] = {
    Format.PARQUET: {},
    Format.JSON: {},
    Format.CSV: {
        "header": "true",
        "escape": '"',
        "ignoreLeadingWhiteSpace": "false",
        "ignoreTrailingWhiteSpace": "false",
        "emptyValue": "",
    },
}


@dataclass(frozen=True, slots=True)
class SparkOutcome:
    """A program whose outputs are DataFrames."""

    spark: SparkSession
    program: spec.Program
    frames: Mapping[str, DataFrame]

    def first(self, name: str, count: int) -> Sequence[spec.Row]:
        """Returns the first rows of an output."""
        with plain_rules(self.spark):
            return first_rows(self.frames[name], count)

    def write(self, name: str, place: Path, written: Format) -> Path:
        """Writes an output as a new folder of parts, and returns it."""
        rows = self.frames[name]
        if written is Format.CSV:
            # CSV has texts only: bytes are base64 there.
            fields = rows.schema.fields
            binary = [
                one.name for one in fields if isinstance(one.dataType, BinaryType)
            ]
            texts = {one: F.base64(F.col(quoted(one))) for one in binary}
            rows = rows.withColumns(texts)
        writer = rows.write.format(written.value).options(**_OPTIONS[written])
        with plain_rules(self.spark), failures_told():
            # A path that is not whole begins where we run, not where Spark does.
            writer.save(str(place.absolute()))
        return place

    def done(self) -> tuple[int, int]:
        """Returns how many tasks of the stages at work are done, and how many are."""
        return tasks_done(self.spark)


def tasks_done(spark: SparkSession) -> tuple[int, int]:
    """Returns how many tasks of the stages at work are done, and how many are."""
    tracker = spark.sparkContext.statusTracker()
    stages = [tracker.getStageInfo(one) for one in tracker.getActiveStageIds()]
    # A stage may have ended since it was named: then nothing is told of it.
    known = [one for one in stages if one is not None]
    return (
        sum(one.numCompletedTasks for one in known),
        sum(one.numTasks for one in known),
    )


def on_spark(spark: SparkSession, program: spec.Program, root: Root) -> SparkOutcome:
    """Returns a program on the files of a folder; only its indexes are written yet."""
    source = FolderSource(root)
    shelf, inputs = source.shelf, input_frames(spark, program, source)
    with failures_told():
        found = spark_program.frames(spark, program, inputs, shelf)
    remarks = (*program.remarks, *readings_told(shelf))
    return SparkOutcome(spark, replace(program, remarks=remarks), found)


Plans = Mapping[str, tuple[str, ...]]


def plans_on_files(spark: SparkSession, program: spec.Program, root: Root) -> Plans:
    """Returns the plans of a program on the files of a folder, by outputs, in lines."""
    source = FolderSource(root)
    inputs = input_frames(spark, program, source)
    if any(isinstance(one, spec.Written) for one in spec.steps_of(program)):
        # Only on disk are their rows; what is built now is not written for a plan.
        return _plans(spark, replace(program, builds=()), inputs, source.shelf)
    return _plans(spark, program, inputs, NoShelf())


def plans_on_nothing(spark: SparkSession, program: spec.Program) -> Plans:
    """Returns the plans of a program on inputs that nothing is known of."""
    with plain_rules(spark):
        # Of rows that are known to be none Spark would plan nothing at all.
        empty = spark.sparkContext.emptyRDD()
        inputs = {
            one.name: spark.createDataFrame(empty, one.schema.to_sql())
            for one in spec.givens_of(program)
        }
    return _plans(spark, program, inputs, NoShelf())


def _plans(
    spark: SparkSession,
    program: spec.Program,
    inputs: dict[str, DataFrame],
    shelf: AnyShelf,
) -> Plans:
    """Returns the plan of every output."""
    found = spark_program.frames(spark, program, inputs, shelf)
    return {name: readable(explained_by(found[name])) for name in found}


def explained_by(frame: DataFrame) -> str:
    """Returns what Spark prints of a frame's plan."""
    # Spark cuts paths of files short.
    long = plain_rules(
        frame.sparkSession, **{"spark.sql.maxMetadataStringLength": "10000"}
    )
    with long, redirect_stdout(StringIO()) as printed:
        frame.explain("simple")
    return printed.getvalue()


_MAIN = """\
if __name__ == "__main__":
    from pyspark.sql import SparkSession

    session = SparkSession.builder.getOrCreate()
    for name, rows in program(session, files(session)).items():
        print(name)
        rows.show(truncate=False)
"""
_GIVEN = """\
# program(spark, inputs) gives its outputs by their names, as DataFrames.
# Its inputs: a DataFrame by each of these names{}.
"""


def file_script(text: str, root: Root, modules: Modules = NO_MODULES) -> str:
    """Returns a program of Python that reads files itself and shows its outputs."""
    program = translate(text, FolderCatalog(root), modules)
    found = {
        one.name: [*readings(fitted(root, one))] for one in spec.givens_of(program)
    }
    parts = (spark_program.script(program), files_function(found, RULES), _MAIN)
    return "\n\n".join(parts)


def bare_script(text: str, modules: Modules = NO_MODULES) -> str:
    """Returns a program of Python whose inputs are given by whoever runs it."""
    program = translate(text, Unseen(), modules)
    names = ", ".join(dict.fromkeys(repr(one.name) for one in spec.givens_of(program)))
    told = _GIVEN.format(f": {names}" if names else ", of which there are none")
    return f"{told}\n{spark_program.script(program)}"
