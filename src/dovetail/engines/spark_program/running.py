"""Runs the lines of a program: one DataFrame after the other, none of them computed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import assert_never

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - Spark's own name for it

from dovetail.engines.spark.rules import pinned, plain_rules
from dovetail.engines.spark_index.shelf import AnyShelf, NoShelf
from dovetail.engines.spark_program.indexing import indexes_of, shape_of
from dovetail.engines.spark_program.lines import (
    Argument,
    Call,
    Changed,
    Downwards,
    Kept,
    Line,
    Made,
    Met,
    Named,
    OnDisk,
    Pointed,
    Put,
    Sought,
    Sql,
    Taken,
    Unpointed,
)
from dovetail.engines.spark_program.lowering import Shelved, Unkept, lowered
from dovetail.engines.spark_program.meeting import met
from dovetail.engines.spark_program.on_disk import Disk
from dovetail.errors import SpecError
from dovetail.spec.program import Program

Frames = Mapping[str, DataFrame]
_NO_SHELF = NoShelf()


def frames(
    spark: SparkSession, program: Program, inputs: Frames, shelf: AnyShelf = _NO_SHELF
) -> dict[str, DataFrame]:
    """Returns the rows of every output by its name; nothing runs before they are asked.

    `inputs`: a DataFrame for each input that the program names. Its rows are in the
    order in which it has them. With a `shelf` indexes are written and read on disk: for
    these alone Spark runs at once.
    """
    known = {name: _columns(frame) for name, frame in inputs.items()}
    # What the user computed before keeps the user's rules.
    own = {name: pinned(frame) for name, frame in inputs.items()}
    disk = shelf if isinstance(shelf, NoShelf) else Disk(spark, shelf)
    runner = _Runner(spark, own, disk)
    with plain_rules(spark):
        for line in lowered(program, known, _shelved(spark, program, shelf)):
            runner.run(line)
        return {name: pinned(frame) for name, frame in runner.outputs.items()}


def _shelved(spark: SparkSession, program: Program, shelf: AnyShelf) -> Shelved:
    """Returns the indexes that lie on disk and are not written anew, by their files."""
    if isinstance(shelf, NoShelf):
        return Unkept.UNKEPT
    built = {one.index.file for one in program.builds}
    shapes = {one.file: shape_of(one) for one in indexes_of(program)}
    return {
        file: shape
        for file, shape in shapes.items()
        if file not in built and shelf.has(spark, file, shape)
    }


def _columns(frame: DataFrame) -> frozenset[str]:
    """Returns the names of columns, in lower case."""
    return frozenset(name.lower() for name in frame.columns)


@dataclass(slots=True)
class _Runner:
    """The frames so far by their names, and those that come out."""

    spark: SparkSession
    inputs: Frames
    disk: Disk | NoShelf
    frames: dict[str, DataFrame] = field(default_factory=dict)
    outputs: dict[str, DataFrame] = field(default_factory=dict)

    def run(self, line: Line) -> None:
        """Makes the frame of a line."""
        match line:
            case Taken(name, source):
                self.frames[name] = self._input(source)
            case Made(name, columns, rows):
                self.frames[name] = self.spark.createDataFrame([*rows], columns)
            case Changed(name, source, calls):
                found = self.frames[source]
                for call in calls:
                    found = self._called(found, call)
                self.frames[name] = found
            case Met(name, join, sides, stops):
                taken = {side: self.frames[frame] for side, frame in sides}
                self.frames[name] = met(join, taken, stops)
            case Put(output, frame):
                self.outputs[output] = self.frames[frame]
            case Kept() | Sought() | Pointed() | Unpointed():
                self._on_disk(line)
            case _:
                assert_never(line)

    def _on_disk(self, line: OnDisk) -> None:
        """Writes an index, or reads what is needed of one; without a shelf nothing."""
        if isinstance(self.disk, Disk):
            self.frames.update(self.disk.done(line, self.frames))

    def _input(self, name: str) -> DataFrame:
        """Returns the frame of an input."""
        if name in self.inputs:
            return self.inputs[name]
        known = ", ".join(sorted(self.inputs)) or "none"
        raise SpecError(
            f'no rows are given for the input "{name}"',
            f"a DataFrame of that name; there are: {known}",
            rule="program_inputs",
        )

    def _called(self, frame: DataFrame, call: Call) -> DataFrame:
        """Returns what a method makes of a frame."""
        method = getattr(frame, call.method.value)
        found: DataFrame = method(*map(self._argument, call.arguments))
        return found

    def _argument(self, argument: Argument) -> str | int | Column | DataFrame:
        """Returns an argument as Spark takes it."""
        match argument:
            case Sql(text):
                return F.expr(text)
            case Downwards(column):
                return F.desc(column)
            case Named(frame):
                return self.frames[frame]
            case _:
                return argument
