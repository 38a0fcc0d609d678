"""One streaming query for plays of one shape: each play is a scope of it.

The scope is part of where a row goes: every play has buckets of its own, so plays know
nothing of each other, and a batch plays the next cut of all of them.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import pyarrow as pa
from pyspark.errors import StreamingQueryException
from pyspark.sql import DataFrame, SparkSession

from dovetail import spec
from dovetail.conformance.spark_stream.replay import lines_of, record, replay
from dovetail.conformance.spark_stream.script import Script
from dovetail.engines.kernel_settings import stream_manner, stream_settings
from dovetail.engines.spark.rules import RULES
from dovetail.engines.spark_stream.dataflow import lay
from dovetail.engines.spark_stream.failures import is_passing
from dovetail.engines.spark_stream.feeds import Buckets, packings
from dovetail.engines.spark_stream.fingerprint import Identity
from dovetail.engines.spark_stream.labels import balanced_labels
from dovetail.engines.tables import arrow_table
from dovetail.plan.stream import StreamPlan

_MEMORY = Path("/dev/shm")  # noqa: S108 - a folder of our own is made in it
_STATE = "spark.sql.streaming.stateStore"
_CONFS = {
    **RULES,
    f"{_STATE}.providerClass": (
        "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
    ),
    f"{_STATE}.rocksdb.changelogCheckpointing.enabled": "true",
    "spark.sql.execution.arrow.compression.codec": "none",
    # A batch without new lines changes nothing: time is data.
    "spark.sql.streaming.noDataMicroBatches.enabled": "false",
    # A play is small: plans made anew while they run only cost time.
    "spark.sql.adaptive.enabled": "false",
}
_STARTS = 4
Batches = dict[int, pa.Table]
"""The raw results of a query by batch."""


@dataclass(frozen=True, slots=True)
class Shape:
    """What plays that share a query have in common.

    Two buckets a play and two state partitions are enough to be mixed up. Where an
    input stays open (`ends` is false) the definition holds rows back that a later row
    could precede, whatever its key: then all rows of a play are in one bucket. So they
    are where the order of rows is looked at (`is_told`).
    """

    plan: StreamPlan
    stepwise: bool
    ends: bool = True
    is_told: bool = False
    most_buckets: int = 2
    most_partitions: int = 2

    @property
    def by_row_time(self) -> bool:
        """Tells whether rows leave in the order of row time."""
        asked = self.one_by_one or self.plan.settings.order is spec.Order.ROW_TIME
        return (asked or not self.ends) and self.plan.join.clock is spec.Clock.EVENT

    @property
    def one_by_one(self) -> bool:
        """Tells whether rows come out in the order of the definition."""
        return self.stepwise or self.is_told

    @property
    def per_scope(self) -> int:
        """Returns how many buckets a play has."""
        one_order = self.one_by_one or self.by_row_time
        is_wide = self.plan.spread.is_wide and not one_order
        return self.most_buckets if is_wide else 1


def session_of_our_own(spark: SparkSession) -> SparkSession:
    """Returns a session beside a user's, under the plain rules, on the same Spark."""
    own = spark.newSession()
    for name, value in _CONFS.items():
        own.conf.set(name, value)
    return own


def run(spark: SparkSession, shape: Shape, scripts: Sequence[Script]) -> Batches:
    """Returns what comes out of a query that plays all scripts.

    On a busy machine a query may need to be started more than once.
    """
    for _ in range(_STARTS - 1):
        try:
            return _run_once(spark, shape, scripts)
        except StreamingQueryException as error:
            if not is_passing(error):
                raise
    return _run_once(spark, shape, scripts)


def _run_once(spark: SparkSession, shape: Shape, scripts: Sequence[Script]) -> Batches:
    """Returns what comes out of a query that plays all scripts, if it starts."""
    with _folder() as place:
        recording = place / "events.parquet"
        record_scripts(recording, shape, scripts)
        frame = raw_results(spark, shape, recording, len(scripts))
        return _collected(frame, place / "checkpoint")


def raw_results(
    spark: SparkSession, shape: Shape, recording: Path, scopes: int
) -> DataFrame:
    """Returns what comes out of a recording of so many plays, as a stream."""
    count = shape.per_scope * scopes
    partitions = min(count, shape.most_partitions)
    spark.conf.set("spark.sql.shuffle.partitions", str(partitions))
    buckets = Buckets(balanced_labels(count, partitions), shape.per_scope)
    replayed = replay(spark, recording)
    left, right = (lines_of(replayed, one.source.name) for one in shape.plan.sides)
    settings = stream_settings(shape.plan, ordered=shape.by_row_time)
    sides = packings(shape.plan, settings, (left, right), buckets, with_events=True)
    manner = stream_manner(shape.plan, ordered=shape.by_row_time)
    same = Identity.of(shape.plan, sides, manner)
    return lay(sides, replace(settings, fingerprint=same.fingerprint), ())


@contextmanager
def _folder() -> Iterator[Path]:
    """Gives a folder in memory, where there is such a thing, that does not stay."""
    parent = _MEMORY if _MEMORY.is_dir() else None
    # Spark may still be writing a last file when a query has ended.
    with tempfile.TemporaryDirectory(
        prefix="dovetail-", dir=parent, ignore_cleanup_errors=True
    ) as name:
        yield Path(name)


def record_scripts(path: Path, shape: Shape, scripts: Sequence[Script]) -> None:
    """Writes all scripts as one recording, in the order of cuts."""
    inputs = shape.plan.inputs
    lines = sorted(
        (line for one in scripts for line in one.lines), key=lambda line: line.cut
    )
    waiting = {
        (one.scope, name): iter(rows)
        for one in scripts
        for name, rows in one.rows.items()
    }
    rows = {
        name: [
            next(waiting[line.scope, name])
            for line in lines
            if line.has_row and line.input == name
        ]
        for name in inputs
    }
    record(path, lines, {name: _table(inputs[name], rows[name]) for name in inputs})


def _table(source: spec.Input, rows: Sequence[spec.Row]) -> pa.Table:
    """Returns rows as a table; a delete may name the key's columns only."""
    names = source.schema.names
    whole = [{name: row.get(name) for name in names} for row in rows]
    return arrow_table(whole, source.schema)


def _collected(frame: DataFrame, checkpoint: Path) -> Batches:
    """Returns the rows of every batch once the query has ended."""
    batches: Batches = {}

    def take(batch: DataFrame, number: int) -> None:
        batches[number] = batch.toArrow()

    writer = frame.writeStream.foreachBatch(take).trigger(availableNow=True)
    query = writer.option("checkpointLocation", str(checkpoint)).start()
    try:
        query.awaitTermination()
    finally:
        query.stop()
    return batches
