"""A program on Spark, on the files of a folder: looked at, written, and watched."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - Spark's own name for it
from pyspark.sql.types import BinaryType

from dovetail import spec
from dovetail.api.outputs import failures_told, first_rows
from dovetail.api.sources import Folder, input_frames
from dovetail.bind.files import Format, Root
from dovetail.engines.spark.rules import plain_rules
from dovetail.engines.spark_index.shelf import readings_told
from dovetail.engines.spark_program import frames
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
            rows = _without_bytes(rows)
        writer = rows.write.format(written.value).options(**_OPTIONS[written])
        with plain_rules(self.spark), failures_told():
            writer.save(str(place.absolute()))
        return place

    def done(self) -> tuple[int, int]:
        """Returns how many tasks of the stages at work are done, and how many are."""
        tracker = self.spark.sparkContext.statusTracker()
        stages = [tracker.getStageInfo(one) for one in tracker.getActiveStageIds()]
        known = [one for one in stages if one is not None]
        return (
            sum(one.numCompletedTasks for one in known),
            sum(one.numTasks for one in known),
        )


def on_spark(spark: SparkSession, program: spec.Program, root: Root) -> SparkOutcome:
    """Returns a program on the files of a folder; only its indexes are written yet."""
    source = Folder(root)
    shelf, inputs = source.shelf, input_frames(spark, program, source)
    with failures_told():
        found = frames(spark, program, inputs, shelf)
    remarks = (*program.remarks, *readings_told(shelf))
    return SparkOutcome(spark, replace(program, remarks=remarks), found)


def _without_bytes(rows: DataFrame) -> DataFrame:
    """Returns rows whose bytes are base64, as CSV has them."""
    names = [one.name for one in rows.schema if isinstance(one.dataType, BinaryType)]
    return rows.withColumns({name: F.base64(F.col(quoted(name))) for name in names})
