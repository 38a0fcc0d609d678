"""One query, several sinks: start a join and keep each outlet's rows exactly once.

Two `writeStream`s on one join would run it twice, with cuts of their own. Here one
`foreachBatch` writes every outlet of a batch; a sink that gets the same batch again,
after a crash between two outlets, must not count it twice.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - Spark's own name for it
from pyspark.sql.streaming.query import StreamingQuery

from dovetail.bind.sinks import Sink, path_exists, refuse_shared
from dovetail.bind.tick import ticks
from dovetail.kernels.settings import Arrival, JoinSettings
from dovetail.run.kernel_picks import candidate_equalities
from dovetail.run.kernel_settings import Manner, kernel_settings
from dovetail.run.spark.rules import plain_rules
from dovetail.run.spark_stream.feeds import BATCH_TIME, Buckets, Feed, Packing, packings
from dovetail.run.spark_stream.fingerprint import NOTHING, Kept, kept_in, refuse_other
from dovetail.run.spark_stream.joining import Laid, lay
from dovetail.run.spark_stream.keys import key_columns, partition_code
from dovetail.run.spark_stream.labels import balanced_labels
from dovetail.run.spark_stream.outlets import Outlets
from dovetail.spec.inputs import Inputs, Outlet
from dovetail.spec.join import HANDS, JoinSpec

STATE = "spark.sql.streaming.stateStore"
STORE = {
    f"{STATE}.providerClass": (
        "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
    ),
    f"{STATE}.rocksdb.changelogCheckpointing.enabled": "true",
    "spark.sql.execution.arrow.compression.codec": "none",
    # Spark's own choice, INT96, ends in 2262 and is read as nanoseconds elsewhere.
    "spark.sql.parquet.outputTimestampType": "TIMESTAMP_MICROS",
}
PER_PARTITION = 8
MOST_PARTITIONS = 8


@dataclass(frozen=True, slots=True)
class Streaming:
    """A join with its sides' frames, ready to be laid out as a streaming plan."""

    join: JoinSpec
    inputs: Inputs
    feeds: tuple[Feed, Feed]
    arrival: Arrival
    idle: tuple[int, int]
    one_bucket: bool

    @property
    def outlets(self) -> Outlets:
        """Returns the outlets of the join."""
        return Outlets(self.join, self.inputs)

    @property
    def spark(self) -> SparkSession:
        """Returns the session of the frames."""
        return self.feeds[0].frame.sparkSession

    def layout(self) -> tuple[int, int]:
        """Returns how many state partitions and buckets a new query gets.

        Few of both: each costs time in every batch.
        """
        asked = int(self.spark.conf.get("spark.sql.shuffle.partitions") or 200)
        partitions = min(asked, MOST_PARTITIONS)
        return partitions, 1 if self.one_bucket else partitions * PER_PARTITION

    def lay(self, kept: Kept = NOTHING, checkpoint: str = "") -> Laid:
        """Returns the raw results of the join, on the state that is kept."""
        partitions, count = self.layout() if kept == NOTHING else kept.layout
        buckets = Buckets(balanced_labels(count, partitions), count)
        columns = [source.schema.names for source in self.inputs.values()]
        with plain_rules(self.spark):
            left, right = (replace(one, tells_now=any(self.idle)) for one in self.feeds)
            sides = packings(
                self.join, self.inputs, (left, right), (columns[0], columns[1]), buckets
            )
            settings = replace(
                self.settings(), layout=(partitions, count), origin=self._origin(sides)
            )
            refuse_other(kept, settings, checkpoint)
            return lay(sides, settings, self._ticks())

    def settings(self) -> JoinSettings:
        """Returns what the kernels know of the join."""
        keys = key_columns(self.join, self.inputs)
        manner = Manner(self.arrival, idle=self.idle, key_columns=len(keys[0].compared))
        return kernel_settings(self.join, self.inputs, manner)

    def frame(self, outlet: Outlet) -> DataFrame:
        """Returns the rows of one outlet as a streaming DataFrame."""
        laid = self.lay()
        with plain_rules(self.spark):
            return self.outlets.frame(laid.raw, outlet)

    def _origin(self, sides: tuple[Packing, Packing]) -> str:
        """Returns what keys, orders and columns of state and results are made of."""
        told = [
            (
                source.time,
                partition_code(self.join, hand),
                feed.position,
                str(side.schema),
            )
            for hand, source, feed, side in zip(
                HANDS, self.inputs.values(), self.feeds, sides, strict=True
            )
        ]
        shown = (self.join.select, self.join.ports)
        return repr((candidate_equalities(self.join), told, shown))

    def _ticks(self) -> tuple[DataFrame, ...]:
        """Returns the heartbeat, where a side may fall idle."""
        if not any(self.idle):
            return ()
        return (ticks(self.spark).select(F.expr(BATCH_TIME).alias("now")),)


@dataclass(frozen=True, slots=True)
class Start:
    """How a query is started: where it keeps its state, how often it runs."""

    checkpoint: str
    trigger: Mapping[str, object] = field(default_factory=dict)
    name: str = ""


def start(
    streaming: Streaming, sinks: Mapping[Outlet, Sink], how: Start
) -> StreamingQuery:
    """Returns the running query that writes every outlet into its sink."""
    refuse_shared(sinks.values())
    spark = streaming.spark
    laid = streaming.lay(kept_in(spark, how.checkpoint), how.checkpoint)
    partitions, _ = streaming.layout()
    confs = {**STORE, "spark.sql.shuffle.partitions": str(partitions)}
    with plain_rules(spark, **confs):
        is_new = not path_exists(spark, f"{how.checkpoint}/offsets/*")
        for outlet, sink in sinks.items():
            sink.prepare(streaming.outlets.frame(laid.raw, outlet), is_new=is_new)
        writer = laid.raw.writeStream.foreachBatch(writing(streaming.outlets, sinks))
        writer = writer.option("checkpointLocation", how.checkpoint)
        if how.trigger:
            writer = writer.trigger(**how.trigger)  # type: ignore[call-overload]
        if how.name:
            writer = writer.queryName(how.name)
        return writer.start()


def writing(
    outlets: Outlets, sinks: Mapping[Outlet, Sink]
) -> Callable[[DataFrame, int], None]:
    """Returns the function that writes one batch: every outlet into its own sink."""

    def write(batch: DataFrame, number: int) -> None:
        batch.persist()
        try:
            # A sink may look at some rows only, but all state must reach its store.
            batch.count()
            for outlet, sink in sinks.items():
                sink.write(outlets.frame(batch, outlet), number)
        finally:
            batch.unpersist()

    return write
