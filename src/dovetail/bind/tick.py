"""A heartbeat: a row now and then, so that batches run while no data comes.

Python's clock only says how often. What time it is stands in the batch: the plan asks
for `current_timestamp()`, which a repeated batch finds in Spark's log again. Where all
that is there shall be read and no more (`availableNow`), the heart does not beat.

The last beat says that the streams have ended. It stands in Spark's log too, so a
batch that is repeated is the last one again:

    {"tick": 0, "ended": 0}    before the first beat, or where none is wanted
    {"tick": 0, "ended": 1}    behind the last one
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.datasource import (
    DataSource,
    DataSourceStreamReader,
    InputPartition,
)
from pyspark.sql.streaming.datasource import (
    ReadAllAvailable,
    ReadLimit,
    SupportsTriggerAvailableNow,
)
from pyspark.sql.types import StructType

from dovetail import schema, spec
from dovetail.bind.travel import register

NAME, TICK, ENDED = "dovetail_tick", "tick", "ended"
SECONDS, NO_BEAT = 1.0, 0.0


def ticks(spark: SparkSession, seconds: float, *, ends: bool = False) -> DataFrame:
    """Returns a stream of one row for a batch, and a batch every so many seconds.

    With NO_BEAT it has no row, but for the one that `ends` asks for.
    """
    register(spark, Tick)
    source = spark.readStream.format(NAME).option("seconds", seconds)
    return source.option("ends", ends).load()


_BLOCK = 10_000


def counted(
    spark: SparkSession, stretch: spec.Stretch, names: Sequence[str]
) -> DataFrame:
    """Returns a stream of numbers from 0, which is there once, and their places.

    Whoever goes on from a checkpoint does not hear of them again.
    """
    number, place = map(schema.quoted, names)
    last = stretch.count - 1
    once = ticks(spark, NO_BEAT, ends=True).where(f"{last} >= 0")
    # Block by block: no list of all numbers is ever there.
    blocks = once.selectExpr(
        f"explode(sequence(0L, {max(last, 0) // _BLOCK}L)) AS block"
    )
    end = f"least(block * {_BLOCK} + {_BLOCK - 1}, {last}L)"
    rows = blocks.selectExpr(f"explode(sequence(block * {_BLOCK}, {end})) AS {number}")
    at = f"{number} * {stretch.step}L + ({stretch.first}L)"
    return rows.selectExpr(number, f"{at} AS {place}")


class Tick(DataSource):
    """The data source of the heartbeat: its options say what `ticks` was asked for."""

    @classmethod
    def name(cls) -> str:
        """Returns the name of the format."""
        return NAME

    def schema(self) -> str:
        """Returns the columns: the number of the tick, whether it is the last."""
        return f"{TICK} bigint, {ENDED} boolean"

    def streamReader(  # noqa: N802 - Spark's name
        self,
        schema: StructType,  # noqa: ARG002 - Spark's name
    ) -> TickReader:
        """Returns the reader."""
        ends = self.options["ends"].lower() == "true"
        return TickReader(float(self.options["seconds"]), ends=ends)


@dataclass
class Beat(InputPartition):
    """One tick."""

    number: int
    ended: bool


class TickReader(DataSourceStreamReader, SupportsTriggerAvailableNow):
    """Counts ticks; an offset says how many are over."""

    def __init__(self, seconds: float, *, ends: bool) -> None:
        """Keeps the length of a tick, and whether the next one is the last."""
        self.seconds = seconds
        self.ends = ends
        self.is_still = seconds == NO_BEAT

    def initialOffset(self) -> dict[str, int]:  # noqa: N802 - Spark's name
        """Returns the offset before the first tick."""
        return {TICK: 0, ENDED: 0}

    def getDefaultReadLimit(self) -> ReadLimit:  # noqa: N802 - Spark's name
        """Returns no limit: ticks that were slept through are one."""
        return ReadAllAvailable()

    def prepareForTriggerAvailableNow(self) -> None:  # noqa: N802 - Spark's name
        """Stops the heart: what is there now needs no time to pass."""
        self.is_still = True

    def latestOffset(  # noqa: N802 - Spark's name
        self,
        start: Mapping[str, int],
        limit: ReadLimit,  # noqa: ARG002 - Spark's name
    ) -> dict[str, int]:
        """Returns the offset behind the ticks so far."""
        over = 0 if self.is_still else int(time.time() / self.seconds)
        # Never back: the clock of a machine may be set back, an offset must not.
        ended = max(start.get(ENDED, 0), int(self.ends))
        return {TICK: max(start[TICK], over), ENDED: ended}

    def partitions(
        self, start: Mapping[str, int], end: Mapping[str, int]
    ) -> list[InputPartition]:
        """Returns one partition if a tick has passed."""
        # An offset may say nothing of an end: then none has come.
        beat = Beat(end[TICK], end.get(ENDED, 0) > start.get(ENDED, 0))
        return [beat] if end[TICK] > start[TICK] or beat.ended else []

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """Gives the row of a tick."""
        assert isinstance(partition, Beat)  # noqa: S101 - we made it
        yield pa.RecordBatch.from_pydict(
            {
                TICK: pa.array([partition.number], pa.int64()),
                ENDED: pa.array([partition.ended], pa.bool_()),
            }
        )
