"""What of a program happens on disk: indexes are written, and read as joins need them.

Unlike other lines these run at once, each in small jobs of Spark.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import assert_never

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - Spark's own name for it

from dovetail.engines.spark_index.keyed import (
    Read,
    read_by_keys,
    read_by_pointer,
    read_whole,
)
from dovetail.engines.spark_index.layout import ROW, Build, Origin
from dovetail.engines.spark_index.manifest import opened
from dovetail.engines.spark_index.needs import Term
from dovetail.engines.spark_index.shelf import Reading, Shelf, Unaided
from dovetail.engines.spark_index.writing import Sorted, write_index
from dovetail.engines.spark_program.lines import (
    Kept,
    OnDisk,
    Pointed,
    Points,
    Sought,
    Unpointed,
)
from dovetail.schema import quoted
from dovetail.spec.join import Hand

Frames = Mapping[str, DataFrame]


@dataclass(slots=True)
class Disk:
    """The indexes of a program; what is read of one is of one build all the time."""

    spark: SparkSession
    shelf: Shelf
    builds: dict[str, Build] = field(default_factory=dict)

    def done(self, line: OnDisk, frames: Frames) -> dict[str, DataFrame]:
        """Returns the frames that a line makes, by their names."""
        match line:
            case Kept():
                self._keep(line, frames[line.frame])
                return {}
            case Sought(asked=(left, terms)):
                build = self._opened(line.file)
                read = self._asked(frames, left, terms, build)
                return {line.name: self._read(line, read)}
            case Pointed(rows=rows):
                return {rows.name: self._pointed(line, frames)}
            case Unpointed(note, why):
                self.shelf.readings.append(Unaided(note, why))
                return {}
            case _:
                assert_never(line)

    def _keep(self, line: Kept, frame: DataFrame) -> None:
        """Writes an index."""
        origin = self._origin(line.points)
        rows = Sorted(frame, line.keys, (line.place,), origin)
        folder, sizes = self.shelf.place(line.file), self.shelf.sizes
        build = write_index(rows, folder, sizes=sizes, replaces=line.replaces)
        self.builds[line.file] = build

    def _origin(self, points: Points) -> Origin:
        """Returns the build to whose rows an index points."""
        if not points.file:
            return Origin()
        return Origin(self._opened(points.file).name, points.keys, points.position)

    def _opened(self, file: str) -> Build:
        """Returns the build of a file, the same one each time."""
        if file not in self.builds:
            self.builds[file] = opened(self.spark, self.shelf.place(file))
        return self.builds[file]

    def _asked(
        self,
        frames: Frames,
        left: str,
        terms: Iterable[tuple[str, str]],
        build: Build,
    ) -> Read:
        """Returns what the rows of a frame need of an index; without one all."""
        if not left:
            return read_whole(self.spark, build, "nothing narrows them")
        return read_by_keys(*_left(frames, left, terms), build)

    def _pointed(self, line: Pointed, frames: Frames) -> DataFrame:
        """Returns the rows of a file to which an index points for some left rows."""
        index, file = self._opened(line.index), self._opened(line.rows.file)
        asked = _left(frames, *line.asked)
        read, *before = read_by_pointer(*asked, index, file)
        for one in before:
            self.shelf.readings.append(Reading(line.rows.note, line.index, one))
        return self._read(line.rows, read)

    def _read(self, line: Sought, read: Read) -> DataFrame:
        """Returns what is read as the columns of a line, and remembers the reading."""
        self.shelf.readings.append(Reading(line.note, line.file, read, line.kind))
        names = [F.col(quoted(one)) for one in line.columns]
        return read.frame.select(*names, F.col(ROW).alias(line.place))


def _left(
    frames: Frames, left: str, terms: Iterable[tuple[str, str]]
) -> tuple[DataFrame, list[Term]]:
    """Returns the left rows, and what of them must be equal to which key."""
    asked = [Term(key, F.expr(text)) for key, text in terms]
    return frames[left].alias(Hand.LEFT.letter), asked
