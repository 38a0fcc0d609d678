"""One query, several sinks: start a join and keep each outlet's rows exactly once.

Two `writeStream`s on one join would run it twice, with cuts of their own. Here one
`foreachBatch` writes every outlet of a batch; a sink that gets the same batch again,
after a crash between two outlets, must not count it twice.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - Spark's own name for it
from pyspark.sql.streaming.query import StreamingQuery

from dovetail.bind.sinks import Sink
from dovetail.kernels.settings import Arrival
from dovetail.run.kernel_settings import Manner, kernel_settings
from dovetail.run.spark.rules import plain_rules
from dovetail.run.spark_stream.feeds import Buckets, Feed, packings
from dovetail.run.spark_stream.joining import Laid, lay
from dovetail.run.spark_stream.keys import key_columns
from dovetail.run.spark_stream.labels import balanced_labels
from dovetail.run.spark_stream.outlets import Outlets
from dovetail.spec.inputs import Inputs, Outlet
from dovetail.spec.join import JoinSpec

STATE = "spark.sql.streaming.stateStore"
STORE = {
    f"{STATE}.providerClass": (
        "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
    ),
    f"{STATE}.rocksdb.changelogCheckpointing.enabled": "true",
    "spark.sql.execution.arrow.compression.codec": "none",
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

    def partitions(self) -> int:
        """Returns how many state partitions a query gets; few, each costs a batch."""
        asked = int(self.spark.conf.get("spark.sql.shuffle.partitions", "200") or 200)
        return min(asked, MOST_PARTITIONS)

    def lay(self) -> Laid:
        """Returns the raw results of the join."""
        partitions = self.partitions()
        count = 1 if self.one_bucket else partitions * PER_PARTITION
        buckets = Buckets(balanced_labels(count, partitions), count)
        keys = key_columns(self.join, self.inputs)
        manner = Manner(self.arrival, idle=self.idle, key_columns=len(keys[0].compared))
        columns = [source.schema.names for source in self.inputs.values()]
        with plain_rules(self.spark):
            sides = packings(
                self.join, self.inputs, self.feeds, (columns[0], columns[1]), buckets
            )
            settings = kernel_settings(self.join, self.inputs, manner)
            return lay(sides, settings, self._ticks())

    def frame(self, outlet: Outlet) -> DataFrame:
        """Returns the rows of one outlet as a streaming DataFrame."""
        laid = self.lay()
        with plain_rules(self.spark):
            return self.outlets.frame(laid.raw, outlet)

    def _ticks(self) -> tuple[DataFrame, ...]:
        """Returns the heartbeat, where a side may fall idle."""
        if not any(self.idle):
            return ()
        rate = self.spark.readStream.format("rate").option("rowsPerSecond", 1).load()
        now = F.expr("unix_micros(current_timestamp())")
        return (rate.select(now.alias("now")),)


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
    laid = streaming.lay()
    confs = {**STORE, "spark.sql.shuffle.partitions": str(streaming.partitions())}
    with plain_rules(streaming.spark, **confs):
        writer = laid.raw.writeStream.foreachBatch(_writing(streaming.outlets, sinks))
        writer = writer.option("checkpointLocation", how.checkpoint)
        if how.trigger:
            writer = writer.trigger(**how.trigger)  # type: ignore[call-overload]
        if how.name:
            writer = writer.queryName(how.name)
        return writer.start()


def _writing(
    outlets: Outlets, sinks: Mapping[Outlet, Sink]
) -> Callable[[DataFrame, int], None]:
    """Returns the function that writes one batch: every outlet into its own sink."""

    def write(batch: DataFrame, number: int) -> None:
        batch.persist()
        try:
            for outlet, sink in sinks.items():
                sink.write(outlets.frame(batch, outlet), number)
        finally:
            batch.unpersist()

    return write
