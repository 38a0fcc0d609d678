"""Runs the lines of a program: one DataFrame after the other, none of them computed.

Only indexes on disk are written, and read as joins need them, at once: each in small
jobs of Spark.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import assert_never

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - Spark's own name for it

from dovetail import spec
from dovetail.bind.schemas import schema_of
from dovetail.engines.spark import rules
from dovetail.engines.spark_batch.arrivals import Arrivals
from dovetail.engines.spark_batch.join import join_batch
from dovetail.engines.spark_index import layout, reads, shelf
from dovetail.engines.spark_program import indexes, lines
from dovetail.engines.spark_program.program import Shelved, lowered
from dovetail.errors import SpecError
from dovetail.plan.batch import plan_batch
from dovetail.schema import quoted
from dovetail.spec.rules import checked

Frames = Mapping[str, DataFrame]
_NO_SHELF = shelf.NoShelf()
_NO_STOPS = spec.Stops()


def frames(
    spark: SparkSession,
    program: spec.Program,
    inputs: Frames,
    kept: shelf.AnyShelf = _NO_SHELF,
) -> dict[str, DataFrame]:
    """Returns the rows of every output by its name; nothing runs before they are asked.

    `inputs`: a DataFrame for each input that the program names. Its rows are in the
    order in which it has them. With a shelf, `kept`, indexes are written and read on
    disk: for these alone Spark runs at once.
    """
    known = {
        # Names have no case, neither in ECL nor in Spark.
        name: frozenset(column.lower() for column in frame.columns)
        for name, frame in inputs.items()
    }
    disk = kept if isinstance(kept, shelf.NoShelf) else _Disk(spark, kept)
    runner = _Runner(spark, inputs, disk)
    shelved: Shelved = shelf.NoShelf()
    with rules.plain_rules(spark):
        if isinstance(kept, shelf.Shelf):
            # The indexes that lie on disk and are not written anew, by their files.
            built = {one.index.file for one in program.builds}
            shapes = {
                one.file: indexes.shape_of(one) for one in indexes.indexes_of(program)
            }
            shelved = {
                file: shape
                for file, shape in shapes.items()
                if file not in built and kept.has(spark, file, shape)
            }
        for line in lowered(program, known, shelved):
            runner.run(line)
        return {name: rules.pinned(frame) for name, frame in runner.outputs.items()}


def met(
    join: spec.JoinSpec | spec.SetJoinSpec,
    frames: Frames,
    stops: spec.Stops = _NO_STOPS,
) -> DataFrame:
    """Returns the rows of a join given as data; `stops` says when its job fails.

    The rows of each frame count in the order in which it has them.
    """
    inputs = {
        name: spec.Input(name, spec.InputKind.DATASET, schema_of(frame))
        for name, frame in frames.items()
    }
    play = checked(spec.Play(join, inputs))
    arrivals = {name: Arrivals(frame) for name, frame in frames.items()}
    rows = join_batch(plan_batch(play.join, play.inputs), arrivals, stops=stops)
    return rows.outlets[spec.Outlet.MATCHED]


@dataclass(slots=True)
class _Runner:
    """The frames so far by their names, and those that come out."""

    spark: SparkSession
    inputs: Frames
    disk: _Disk | shelf.NoShelf
    frames: dict[str, DataFrame] = field(default_factory=dict)
    outputs: dict[str, DataFrame] = field(default_factory=dict)

    def run(self, line: lines.Line) -> None:
        """Makes the frame of a line."""
        match line:
            case lines.Taken(name, source):
                if source not in self.inputs:
                    known = ", ".join(sorted(self.inputs)) or "none"
                    raise SpecError(
                        f'no rows are given for the input "{source}"',
                        f"a DataFrame of that name; there are: {known}",
                        rule="program_inputs",
                    )
                self.frames[name] = self.inputs[source]
            case lines.Made(name, columns, rows):
                self.frames[name] = self.spark.createDataFrame([*rows], columns)
            case lines.Changed(name, source, calls):
                found = self.frames[source]
                for call in calls:
                    # A line can name no method but those of `Method`.
                    method = getattr(found, call.method.value)
                    found = method(*map(self._argument, call.arguments))
                self.frames[name] = found
            case lines.Met(name, join, sides, stops):
                taken = {side: self.frames[frame] for side, frame in sides}
                self.frames[name] = met(join, taken, stops)
            case lines.Put(output, frame):
                self.outputs[output] = self.frames[frame]
            case lines.Kept() | lines.Sought() | lines.Pointed() | lines.Unpointed():
                # Without a shelf no such line is written, and none would be run.
                if isinstance(self.disk, _Disk):
                    self.frames.update(self.disk.done(line, self.frames))
            case _:
                assert_never(line)

    def _argument(self, argument: lines.Argument) -> str | int | Column | DataFrame:
        """Returns an argument as Spark takes it."""
        match argument:
            case lines.Sql(text):
                return F.expr(text)
            case lines.Downwards(column):
                return F.desc(column)
            case lines.FrameName(frame):
                return self.frames[frame]
            case _:
                return argument


@dataclass(slots=True)
class _Disk:
    """The indexes of a program; what is read of one is of one build all the time."""

    spark: SparkSession
    kept: shelf.Shelf
    builds: dict[str, layout.Build] = field(default_factory=dict)

    def done(self, line: lines.OnDisk, frames: Frames) -> dict[str, DataFrame]:
        """Returns the frames that a line makes, by their names."""
        match line:
            case lines.Kept(points=points):
                origin = layout.Origin()
                if points.file:
                    # One that points to rows remembers their build.
                    build = self._opened(points.file)
                    origin = layout.Origin(build.name, points.keys, points.position)
                rows = layout.Sorted(
                    frames[line.frame], line.keys, (line.place,), origin
                )
                self.builds[line.file] = layout.write_index(
                    rows,
                    self.kept.place(line.file),
                    sizes=self.kept.sizes,
                    replaces=line.replaces,
                )
                return {}
            case lines.Sought(asked=("", _)):
                build = self._opened(line.file)
                read = reads.read_whole(self.spark, build, "nothing narrows them")
                return {line.name: self._read(line, read)}
            case lines.Sought(asked=asked):
                build = self._opened(line.file)
                read = reads.read_by_keys(*_left(frames, *asked), build)
                return {line.name: self._read(line, read)}
            case lines.Pointed(rows=rows):
                index, file = self._opened(line.index), self._opened(rows.file)
                left, terms = _left(frames, *line.asked)
                read, *before = reads.read_by_pointer(left, terms, index, file)
                # What is read of the index is told before what is read by it.
                for one in before:
                    told = shelf.Reading(rows.note, line.index, one)
                    self.kept.readings.append(told)
                return {rows.name: self._read(rows, read)}
            case lines.Unpointed(note, why):
                self.kept.readings.append(shelf.Unaided(note, why))
                return {}
            case _:
                assert_never(line)

    def _opened(self, file: str) -> layout.Build:
        """Returns the build of a file, the same one each time."""
        if file not in self.builds:
            self.builds[file] = layout.opened(self.spark, self.kept.place(file))
        return self.builds[file]

    def _read(self, line: lines.Sought, read: reads.Read) -> DataFrame:
        """Returns what is read as the columns of a line, and remembers the reading."""
        told = shelf.Reading(line.note, line.file, read, line.kind)
        self.kept.readings.append(told)
        names = [F.col(quoted(one)) for one in line.columns]
        return read.frame.select(*names, F.col(layout.ROW).alias(line.place))


def _left(
    frames: Frames, left: str, terms: tuple[tuple[str, str], ...]
) -> tuple[DataFrame, list[reads.Term]]:
    """Returns the left rows, and what of them must be equal to which key."""
    asked = [reads.Term(key, F.expr(text)) for key, text in terms]
    return frames[left].alias(spec.Hand.LEFT.letter), asked
