"""A heartbeat: a row now and then, so that batches run while no data comes.

Python's clock only says how often. What time it is stands in the batch: the plan asks
for `current_timestamp()`, which a repeated batch finds in Spark's log again. Where all
that is there shall be read and no more (`availableNow`), the heart does not beat.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
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

from dovetail.bind.travel import register

NAME, TICK = "dovetail_tick", "tick"
SECONDS = 1.0


def ticks(spark: SparkSession, seconds: float = SECONDS) -> DataFrame:
    """Returns a stream of one row for a batch, and a batch every so many seconds."""
    register(spark, Tick)
    return spark.readStream.format(NAME).option("seconds", seconds).load()


class Tick(DataSource):
    """The data source of the heartbeat; `seconds` is how long a beat takes."""

    @classmethod
    def name(cls) -> str:
        """Returns the name of the format."""
        return NAME

    def schema(self) -> str:
        """Returns the only column, the number of the tick."""
        return f"{TICK} bigint"

    def streamReader(  # noqa: N802 - Spark's name
        self,
        schema: StructType,  # noqa: ARG002 - Spark's name
    ) -> TickReader:
        """Returns the reader."""
        return TickReader(float(self.options["seconds"]))


@dataclass
class Beat(InputPartition):
    """One tick."""

    number: int


class TickReader(DataSourceStreamReader, SupportsTriggerAvailableNow):
    """Counts ticks; an offset says how many are over."""

    def __init__(self, seconds: float) -> None:
        """Keeps the length of a tick."""
        self.seconds = seconds
        self.is_still = False

    def initialOffset(self) -> dict[str, int]:  # noqa: N802 - Spark's name
        """Returns the offset before the first tick."""
        return {TICK: 0}

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
        return {TICK: max(start[TICK], over)}

    def partitions(
        self, start: Mapping[str, int], end: Mapping[str, int]
    ) -> list[InputPartition]:
        """Returns one partition if a tick has passed."""
        return [Beat(end[TICK])] if end[TICK] > start[TICK] else []

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """Gives the row of a tick."""
        assert isinstance(partition, Beat)  # noqa: S101 - we made it
        yield pa.RecordBatch.from_pydict(
            {TICK: pa.array([partition.number], pa.int64())}
        )
