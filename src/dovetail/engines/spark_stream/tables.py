"""A table beside a stream: its copy, which every batch reads, a repeated one too.

    checkpoint/tables/right/from-0    the right rows, as they were at first
    checkpoint/tables/right/from-7    and as they were when batch 7 was to begin
    checkpoint/tables/join            who joins, Spark or our operator, and what

Read anew in every batch, the table might have changed when a batch comes again. Spark
joins with the rows that stand in it; our operator reads them as lines, a stream that is
over after its first batch:

    columns of the table | @position | @event
    1, 'Ada'             |         0 | INITIAL
    null, null           |      null | FINISH
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from pyspark.sql import DataFrame, SparkSession, Window
from pyspark.sql import functions as F  # noqa: N812 - Spark's own name for it

from dovetail.bind.failures import cause
from dovetail.bind.sinks import files_in, path_exists, pattern_of
from dovetail.engines.spark.sizes import broadcast_limit, shown_size, told_limit
from dovetail.engines.spark_stream.dataflow import Frames
from dovetail.engines.spark_stream.feeds import POSITION
from dovetail.engines.spark_stream.worker.relay import EVENT
from dovetail.errors import EngineError
from dovetail.kernels.arrays.names import LineKind
from dovetail.plan.stream import StreamPlan, StreamSide
from dovetail.schema import quoted
from dovetail.spec.inputs import Clock
from dovetail.spec.join import HANDS
from dovetail.spec.spans import NO_TIME
from dovetail.spec.windows import Latest

FIRST = "from-0"


@dataclass(frozen=True, slots=True)
class Pin:
    """Who joins a stream with a table, and which join it is, since the first start."""

    is_native: bool
    format: int
    identity: str

    def keep(self, spark: SparkSession, checkpoint: str) -> None:
        """Writes it beside the checkpoint."""
        told = json.dumps([self.is_native, self.format, self.identity])
        # One file, which is read back as one line.
        line = spark.createDataFrame([(told,)], "value string").coalesce(1)
        line.write.mode("overwrite").text(f"{checkpoint}/tables/join")


def read_pin(spark: SparkSession, checkpoint: str) -> Pin | None:
    """Returns what the first start has kept; nothing where no table is beside."""
    place = f"{checkpoint}/tables/join"
    if not path_exists(spark, place):
        return None
    (line,) = spark.read.text(pattern_of(place)).collect()
    return Pin(*json.loads(line.value))


def tables(plan: StreamPlan, frames: Frames, inside: str = "") -> Iterator[Table]:
    """Gives the tables beside the streams of a join, and of the joins inside it."""
    for side, frame in zip(plan.sides, frames, strict=True):
        name = f"{inside}{side.hand.value}"
        if isinstance(frame, tuple):
            yield from tables(plan.inside[side.hand], frame, f"{name}.")
        elif side in plan.tables and isinstance(frame, DataFrame):
            yield Table(plan, side, frame, name)


def with_tables(
    plan: StreamPlan, frames: Frames, read: Callable[[Table], DataFrame]
) -> Frames:
    """Returns frames in which each table is what is read of it."""
    found = {table.name: read(table) for table in tables(plan, frames)}

    def chosen(frames: Frames, inside: str = "") -> Frames:
        left, right = (
            chosen(frame, f"{inside}{hand.value}.")
            if isinstance(frame, tuple)
            else found.get(f"{inside}{hand.value}", frame)
            for hand, frame in zip(HANDS, frames, strict=True)
        )
        return left, right

    return chosen(frames)


@dataclass(frozen=True, slots=True)
class Table:
    """The side of a plan that does not stream, with the rows as a user gives them.

    Its `name` says where it stands: `right`, or `left.right` in a join on the left.
    """

    plan: StreamPlan
    side: StreamSide
    frame: DataFrame
    name: str

    def rows(self) -> DataFrame:
        """Returns what is joined: the rows that stand, or the operator's lines.

        Those are the rows with their places, and behind them that this is all.
        """
        if self.plan.runner.is_native:
            # Spark numbers no rows beside a stream, so only where somebody asks.
            return self._standing().drop(POSITION) if self.versions else self.frame
        # A row that was there from the start is never late, and comes before others.
        event = F.lit(int(LineKind.INITIAL))
        rows = self._standing().withColumn(EVENT, event)
        # A union goes by places: the last line has all columns, null but for the event.
        kinds = {one.name: one.dataType for one in rows.schema}
        nothing = [F.lit(None).cast(kind).alias(name) for name, kind in kinds.items()]
        end = F.lit(int(LineKind.FINISH)).alias(EVENT)
        last = rows.sparkSession.range(1).select(*nothing[:-1], end)
        return rows.unionAll(last)

    def copy(self, checkpoint: str, version: str = FIRST) -> None:
        """Writes the rows as they are now beside a checkpoint."""
        rows = self.rows()
        self._refuse_untimed(rows)
        if pattern_of(checkpoint) != checkpoint:
            # Of n files of a batch that look like patterns Spark reads each n times.
            rows = rows.coalesce(1)
        try:
            rows.write.mode("overwrite").parquet(self._place(checkpoint, version))
        except Exception as error:
            raise EngineError(
                f"the {self.side.hand.value} side, a table, is not copied into "
                f'"{checkpoint}/tables": {cause(error)}'
            ) from error
        # Only of what is written the size is known.
        self._refuse_too_large(checkpoint)

    def is_due(self, checkpoint: str) -> bool:
        """Tells whether the newest copy is so old that a start makes another one."""
        after = self.side.feed.refresh
        if after == NO_TIME:
            return False
        written = self.copied(checkpoint).select("_metadata.file_modification_time")
        lasts = f"INTERVAL {after.months} MONTHS + INTERVAL {after.microseconds}"
        # Of a copy without a row nobody knows when it was made.
        until = f"max(file_modification_time) + {lasts} MICROSECONDS"
        asked = F.expr(f"coalesce({until} <= current_timestamp(), TRUE)")
        ((is_due,),) = written.agg(asked).collect()
        return bool(is_due)

    def newest(self, checkpoint: str) -> str:
        """Returns the last version that is whole; an operator has read the first."""
        spark, root = self.frame.sparkSession, self._place(checkpoint, "")
        files = files_in(spark, root) if self.plan.runner.is_native else []
        versions = {file.rpartition("/from-")[2].partition("/")[0] for file in files}
        for number in sorted(map(int, filter(str.isdigit, versions)), reverse=True):
            if path_exists(spark, f"{root}from-{number}/_SUCCESS"):
                return f"from-{number}"
        return FIRST

    def copied(self, checkpoint: str) -> DataFrame:
        """Returns the rows of the newest copy, for the operator as a stream."""
        spark = self.frame.sparkSession
        place = self._place(checkpoint, self.newest(checkpoint))
        if not path_exists(spark, f"{place}/_SUCCESS"):
            raise EngineError(
                f'the checkpoint "{checkpoint}" lacks the copy of its table: there is '
                f'no "{place}"',
                "a folder as a query left it",
                "put back what was deleted, or start anew: new folders for state and "
                "for rows",
            )
        # Files that a stream has read once it does not read again, after restarts too.
        is_native = self.plan.runner.is_native
        reader = spark.read if is_native else spark.readStream
        return reader.schema(self.rows().schema).parquet(pattern_of(place))

    def _place(self, checkpoint: str, version: str) -> str:
        """Returns the folder of a copy."""
        return f"{checkpoint}/tables/{self.name}/{version}"

    def _numbered(self) -> DataFrame:
        """Returns the rows with their places in the order of the table."""
        place = self.side.place
        ordered = self.frame.orderBy(F.expr(place)) if place else self.frame
        # The numbers have gaps, but rise in the order of the rows: only that counts.
        return ordered.withColumn(POSITION, F.monotonically_increasing_id())

    @property
    def versions(self) -> tuple[str, ...]:
        """Returns the key of which the newest row alone stands; by row time all do."""
        match self.plan.join.side(self.side.hand).window:
            case Latest(key) if self.plan.join.clock is Clock.ARRIVAL:
                return key
            case _:
                return ()

    def _standing(self) -> DataFrame:
        """Returns the numbered rows that stand when the stream begins."""
        if not self.versions:
            return self._numbered()
        key = (F.col(quoted(name)) for name in self.versions)
        time = self.side.source.time
        newest = [F.desc_nulls_first(quoted(time))] if time else []
        # Of equal times the row that stands last in the table is the newest.
        order = Window.partitionBy(*key).orderBy(*newest, F.desc(quoted(POSITION)))
        rows = self._numbered().withColumn(EVENT, F.row_number().over(order))
        return rows.where(F.col(quoted(EVENT)) == 1).drop(EVENT)

    def _refuse_too_large(self, checkpoint: str) -> None:
        """Refuses a copy that every task would need whole, and that is too large."""
        if not self.plan.runner.is_native or self.plan.join.hard:
            return
        # Parquet is denser than rows in memory: what is refused has no chance.
        files = self.copied(checkpoint).select(
            "_metadata.file_path", "_metadata.file_size"
        )
        (found,) = files.distinct().agg(F.sum("file_size").alias("bytes")).collect()
        limit = broadcast_limit(files.sparkSession)
        if (found.bytes or 0) > limit:
            raise EngineError(
                f"the {self.side.hand.value} side, a table, has "
                f"{shown_size(found.bytes)}, too much to be broadcast",
                told_limit(limit),
                'an equality, as in on="id", lets Spark shuffle a large table',
            )

    def _refuse_untimed(self, rows: DataFrame) -> None:
        """Refuses rows without the time that the side names: they could not leave."""
        time = self.side.source.time
        if not time:
            return
        is_row = F.col(quoted(EVENT)) == int(LineKind.INITIAL)
        count = rows.where(is_row & F.col(quoted(time)).isNull()).count()
        if count:
            raise EngineError(
                f"the {self.side.hand.value} side, a table, has {count} rows without "
                f'the time "{time}"',
                "a time in every row",
                f'take them out before: frame.where("{time} IS NOT NULL")',
            )
