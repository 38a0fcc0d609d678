"""A table as a stream: its rows come at the pace of their times, or faster.

    rows       10:00:00   10:00:40   10:03:00     the times of the rows
    pace = 60     0.0 s      0.7 s      3.0 s     a minute of theirs takes a second

    clock      {"upto": 10:00:30}  ->  {"upto": 10:01:30}    in Spark's log of offsets
    batch      rows whose time is behind 10:00:30, and not behind 10:01:30

The clock is a source of ours, which gives each batch one row: from when to when. What
of the table lies between is the batch. So each row comes once, a batch that is repeated
has the same rows, and a later run goes on where the clock stood. The table is read anew
for each batch, and must not change meanwhile.

Python's own clock only says how far a batch goes, never which rows there are.
"""

from __future__ import annotations

import math
import time as clocks
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812 - Spark's own name for it
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

from dovetail import schema
from dovetail.bind.failures import OTHER_SOURCE
from dovetail.bind.schemas import schema_of, still_frame_given
from dovetail.bind.travel import register
from dovetail.errors import EngineError, SchemaError
from dovetail.kernels.arrays.names import reserved
from dovetail.spec import arguments

NAME, AFTER, UPTO = "dovetail_replay_clock", "after", "upto"
FAST = "fast"
Pace = float | str
STAMPS = {schema.AtomicType.TIMESTAMP, schema.AtomicType.TIMESTAMP_NTZ}
SECONDS = 1.0
"""How long the clock stands still between two batches, at least."""
_MOMENT = reserved("moment")


@arguments.public
def replay(frame: DataFrame, *, time: str, pace: float | str = 1) -> DataFrame:
    """Returns rows that are all there as a stream, in which each row comes once.

    They come in the order of the column `time`, `pace` times as fast as they once came;
    "fast": all at once. A row without a time comes with the first. `write` with
    `trigger={"availableNow": True}` ends with the last row, at that pace too.
    """
    hint = "a stream comes at its own pace already"
    rows = still_frame_given("frame", frame, hint)
    found = schema_of(rows)
    moment = arguments.text("time", time, "the name of a column", 'time="placed"')
    arguments.columns("time", moment, found, 'time="placed"')
    if found[moment].type not in STAMPS:
        raise SchemaError(
            f'the time "{moment}" of a replay is a column of the type '
            f"{found[moment].type}",
            "one with timestamps",
        )
    often = pace_of(pace)
    text = schema.quoted(moment)
    if found[moment].type is schema.AtomicType.TIMESTAMP_NTZ:
        # Wherever a later run stands: a time without a zone is one of UTC.
        text = f"CAST(concat(CAST({text} AS STRING), 'Z') AS TIMESTAMP)"
    timed = rows.selectExpr("*", f"unix_micros({text}) AS {_MOMENT}")
    # The clock must know where to begin and where it may stop: one job before all.
    first, last = timed.agg(F.min(_MOMENT), F.max(_MOMENT)).first() or (None, None)
    spark = rows.sparkSession
    register(spark, Clock)
    source = spark.readStream.format(NAME).option("pace", str(often))
    # Rows without any time, or none at all: the clock has one tick to go.
    source = source.option("first", first or 0).option("last", last or first or 0)
    past = f"coalesce({_MOMENT}, {first or 0}L)"
    due = F.expr(f"{past} > {AFTER} AND {past} <= {UPTO}")
    # The clock's one row goes to the table: whose rows then keep their order.
    played = timed.join(F.broadcast(source.load()), due)
    return played.drop(_MOMENT, AFTER, UPTO)


def pace_of(given: object) -> float:
    """Returns how much faster rows come than they once came; 0 for all at once."""
    if given == FAST:
        return 0.0
    expected, example = f'a number above 0, or "{FAST}"', "pace=10"
    found = float(arguments.number("pace", given, expected, example))
    if not 0 < found < math.inf:
        raise arguments.wrong("pace", given, expected, f"write for example {example}")
    return found


class Clock(DataSource):
    """The data source of the clock: its options say what `replay` was asked for."""

    @classmethod
    def name(cls) -> str:
        """Returns the name of the format."""
        return NAME

    def schema(self) -> str:
        """Returns the columns, both in microseconds."""
        return f"{AFTER} bigint, {UPTO} bigint"

    def streamReader(  # noqa: N802 - Spark's name
        self,
        schema: StructType,  # noqa: ARG002 - Spark's name
    ) -> ClockReader:
        """Returns the reader."""
        said = self.options
        return ClockReader(
            int(said["first"]), int(said["last"]), pace=float(said["pace"])
        )


@dataclass
class Stretch(InputPartition):
    """The times of a batch: behind the one, and up to the other."""

    after: int
    upto: int


def _upto(offset: Mapping[str, int]) -> int:
    """Returns the time up to which rows have come; refuses what no clock has told."""
    if UPTO not in offset:
        raise EngineError(*OTHER_SOURCE)
    return offset[UPTO]


class ClockReader(DataSourceStreamReader, SupportsTriggerAvailableNow):
    """Tells how far the clock is; an offset is the time up to which rows have come."""

    def __init__(self, first: int, last: int, *, pace: float) -> None:
        """Keeps the times of the first row and the last; nothing has begun."""
        self.first = first
        self.last = last
        self.pace = pace
        self.ends = False
        self.began = self.told = -SECONDS
        self.origin: int | None = None

    def initialOffset(self) -> dict[str, int]:  # noqa: N802 - Spark's name
        """Returns the offset before the first row."""
        return {UPTO: self.first - 1}

    def getDefaultReadLimit(self) -> ReadLimit:  # noqa: N802 - Spark's name
        """Returns no limit: what is due comes."""
        return ReadAllAvailable()

    def prepareForTriggerAvailableNow(self) -> None:  # noqa: N802 - Spark's name
        """Lets the clock be waited for: else the query would end at its first rest."""
        self.ends = True

    def latestOffset(  # noqa: N802 - Spark's name
        self,
        start: Mapping[str, int],
        limit: ReadLimit,  # noqa: ARG002 - Spark's name
    ) -> dict[str, int]:
        """Returns how far the clock is, a second behind the last time or more."""
        reached = _upto(start)
        if reached >= self.last or not self.pace:
            return {UPTO: max(reached, self.last)}
        # Spark asks as often as it can: a tick that brings no row costs a batch.
        rest = self.told + SECONDS - clocks.monotonic()
        if rest > 0 and not self.ends:
            return {UPTO: reached}
        clocks.sleep(max(rest, 0.0) if self.origin is not None else 0.0)
        self.told = clocks.monotonic()
        if self.origin is None:
            # A later run goes on where the one before has stopped, and at its pace.
            self.origin, self.began = reached + 1, self.told
        gone = (self.told - self.began) * self.pace * 1_000_000
        return {UPTO: max(reached, min(self.origin + int(gone), self.last))}

    def partitions(
        self, start: Mapping[str, int], end: Mapping[str, int]
    ) -> list[InputPartition]:
        """Returns one partition if the clock has gone on."""
        found = Stretch(_upto(start), _upto(end))
        return [found] if found.upto > found.after else []

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """Gives the row of a batch."""
        assert isinstance(partition, Stretch)  # noqa: S101 - we made it
        yield pa.RecordBatch.from_pydict(
            {
                AFTER: pa.array([partition.after], pa.int64()),
                UPTO: pa.array([partition.upto], pa.int64()),
            }
        )
