"""One streaming query for many plays: of each shape a part, of each play a scope.

    part 0   pack left, pack right --+
    part 1   pack left, pack right --+-> one operator -> blobs -> each part unpacked
    part 2   pack left, pack right --+

The scope is part of where a row goes: every play has buckets of its own, so plays know
nothing of each other, and a batch plays the next cut of all of them. To start a query
and to begin its batches costs more than what plays do in it.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial, reduce
from itertools import islice
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.errors import StreamingQueryException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - Spark's own name for it

from dovetail import spec
from dovetail.bind.failures import is_passing
from dovetail.bind.travel import travel_by_value
from dovetail.conformance.spark_stream import replay, together
from dovetail.conformance.spark_stream.script import Script
from dovetail.engines.kernel_settings import stream_settings
from dovetail.engines.spark.functions import register_functions
from dovetail.engines.spark.rules import RULES
from dovetail.engines.spark_stream import dataflow
from dovetail.engines.spark_stream.feeds import Buckets
from dovetail.engines.spark_stream.firing import rows_alone
from dovetail.engines.spark_stream.labels import balanced_labels
from dovetail.engines.spark_stream.outlets import Results
from dovetail.engines.spark_stream.ways import Riders, gathered
from dovetail.engines.spark_stream.worker import bucket, operator, relay
from dovetail.engines.tables import arrow_table
from dovetail.kernels.arrays.blobs import read_batch
from dovetail.kernels.arrays.names import CLOCK, PLACE, LineKind, is_reserved
from dovetail.kernels.keeping.lines import NOW
from dovetail.plan.flow import TurnQuery
from dovetail.plan.stream import StreamPlan
from dovetail.plan.ways import Onward, Paths
from dovetail.schema import quoted

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
"""What comes out by batch: the raw results of a join, or the lines of all parts."""


@dataclass(frozen=True, slots=True)
class Feeding:
    """How rows of inputs come to the sides of joins, and what comes out behind them."""

    inputs: spec.Inputs
    paths: Paths
    ranks: int
    exits: tuple[Onward, ...]

    def lines(self, replayed: DataFrame, number: int, name: str) -> DataFrame:
        """Returns the lines of a side: those of all ways to it."""
        riders = Riders(replay.RIDING, replay.SEQUENCE, self.ranks)
        every = gathered(
            lambda path: replay.lines_of(replayed, place_of(number, path.input)),
            self.paths[name],
            riders,
        )
        return rows_alone(every)


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
    feeding: Feeding | None = None

    @property
    def inputs(self) -> spec.Inputs:
        """Returns the inputs whose rows come, by their names."""
        if self.feeding:
            return self.feeding.inputs
        return {side.source.name: side.source for side in self.plan.leaves}

    def lines(self, replayed: DataFrame, number: int, name: str) -> DataFrame:
        """Returns the lines of a side of the part of a number, by the side's name."""
        if self.feeding:
            return self.feeding.lines(replayed, number, name)
        return replay.lines_of(replayed, place_of(number, name))

    @property
    def by_row_time(self) -> bool:
        """Tells whether rows leave in the order of row time."""
        asked = self.one_by_one or self.plan.settings.order is spec.Order.ROW_TIME
        return (asked or not self.ends) and self.plan.join.clock is spec.Clock.EVENT

    @property
    def one_by_one(self) -> bool:
        """Tells whether rows come out in the order of the definition."""
        return self.stepwise or self.is_told

    def is_ordered(self, plan: StreamPlan) -> bool:
        """Tells whether rows leave a join by row time; only so its bound is known."""
        return self.by_row_time or plan is not self.plan or plan.onward.keeps_rows

    def buckets_of(self, plan: StreamPlan, *, scopes: int) -> Buckets:
        """Returns the buckets of a join of so many plays."""
        each = self.per_scope(plan)
        own, front = each * scopes, scopes if plan.spread.told else 0
        labels = balanced_labels(own + front, self.partitions(scopes))
        return Buckets(labels[:own], each, labels[own:])

    def partitions(self, scopes: int) -> int:
        """Returns how many state partitions a query of so many plays has."""
        most = max(map(self.per_scope, self.plan.joins))
        return min(most * scopes, self.most_partitions)

    def per_scope(self, plan: StreamPlan) -> int:
        """Returns how many buckets a play has in one of its joins."""
        one_order = self.one_by_one or self.by_row_time
        is_wide = plan.spread.is_wide and not one_order
        return self.most_buckets if is_wide else 1


@dataclass(frozen=True, slots=True)
class Part:
    """Plays of one shape: each script is a scope."""

    shape: Shape
    scripts: Sequence[Script]

    @property
    def counts(self) -> tuple[int, int]:
        """Returns how many buckets the plays have together, and how many in front."""
        each, scopes = self.shape.per_scope(self.shape.plan), len(self.scripts)
        return each * scopes, scopes if self.shape.plan.spread.told else 0

    @property
    def is_chain(self) -> bool:
        """Tells whether joins stand in a row: then the part has a query of its own."""
        return bool(self.shape.plan.inside)


@dataclass(frozen=True, slots=True)
class Query:
    """A query that has not been started: lines of all parts, and how each is read."""

    lines: DataFrame
    parts: Sequence[Results]

    def raw_results(self, spark: SparkSession, found: Batches) -> list[list[Batches]]:
        """Returns the raw results of each part's joins, from lines of all batches."""
        raw: list[list[Batches]] = []
        for number, results in enumerate(self.parts):
            raw.append([])
            for join in range(len(results.readings)):
                # Rows are read from blobs: a line without one brings none.
                is_own = pc.field(together.PART) == number
                is_own &= pc.field(bucket.JOIN) == join
                is_own &= pc.field(bucket.BLOB).is_valid()
                mine = {at: some.filter(is_own) for at, some in sorted(found.items())}
                rows_of = partial(results.whole, number=join)
                raw[-1].append(_read(spark, rows_of, mine))
        return raw


def _read(
    spark: SparkSession, rows_of: Callable[[DataFrame], DataFrame], lines: Batches
) -> Batches:
    """Returns the rows of one join's lines, in their order."""
    # Spark takes a table for empty whose first chunk is.
    whole = pa.concat_tables(lines.values()).combine_chunks()
    rows = rows_of(spark.createDataFrame(whole)).toArrow()
    raw = {}
    for batch, table in lines.items():
        # Spark keeps the order of blobs: a batch has as many rows as its own.
        count = sum(read_batch(one.as_py()).num_rows for one in table[bucket.BLOB])
        raw[batch], rows = rows.slice(0, count), rows.slice(count)
    return raw


def session_of_our_own(spark: SparkSession) -> SparkSession:
    """Returns a session beside a user's, under the plain rules, on the same Spark."""
    own = spark.newSession()
    for name, value in _CONFS.items():
        # On the session alone: the user's own keeps its settings.
        own.conf.set(name, value)
    register_functions(own)
    return own


def run(spark: SparkSession, parts: Sequence[Part]) -> list[list[Batches]]:
    """Returns the raw results of the joins of each part of a query that plays all.

    On a busy machine a query may need to be started more than once.
    """
    for _ in range(_STARTS - 1):
        try:
            return _run_once(spark, parts)
        except StreamingQueryException as error:
            if not is_passing(error):
                raise
    return _run_once(spark, parts)


def _run_once(spark: SparkSession, parts: Sequence[Part]) -> list[list[Batches]]:
    """Returns the raw results of the joins of each part, if the query starts."""
    with folder() as place:
        recording = place / "events.parquet"
        record_parts(recording, parts)
        if parts[0].is_chain:
            # Joins in a row, whose operators feed each other: a query has but one part.
            (part,) = parts
            frames, layout = _in_a_row(spark, part, recording)
            lines, results = dataflow.lay(part.shape.plan, frames, layout)
            head = f"0 AS {together.PART}"
            query = Query(lines.selectExpr(head, bucket.JOIN, bucket.BLOB), [results])
        else:
            query = lay_together(spark, parts, recording)
        return query.raw_results(spark, collected(query.lines, place / "checkpoint"))


def lay_together(spark: SparkSession, parts: Sequence[Part], recording: Path) -> Query:
    """Returns the query that plays a recording of all parts."""
    # The workers of Spark need not have our package.
    travel_by_value()
    buckets = sum(sum(part.counts) for part in parts)
    most = max(part.shape.most_partitions for part in parts)
    partitions = min(buckets, most)
    spark.conf.set("spark.sql.shuffle.partitions", str(partitions))
    # Dealt out part by part, so that no two of them share a bucket.
    labels = iter(balanced_labels(buckets, partitions))
    replayed = replay.replay(spark, recording)
    laid: list[Results] = []
    packed: list[DataFrame] = []
    joins: dict[int, together.Join] = {}
    finding: dict[int, operator.Join] = {}
    for number, part in enumerate(parts):
        plan = part.shape.plan
        left, right = (
            part.shape.lines(replayed, number, one.source.name) for one in plan.sides
        )
        mine, front = (tuple(islice(labels, count)) for count in part.counts)
        own = Buckets(mine, part.shape.per_scope(plan), front)

        def buckets_of(_: StreamPlan, own: Buckets = own) -> Buckets:
            return own

        layout = dataflow.Layout(buckets_of, part.shape.is_ordered, with_events=True)
        sides, settings = dataflow.packed(plan, (left, right), layout)
        schemas = sides[0].schema, sides[1].schema
        told = bucket.told_beside(settings, schemas)
        # Results are read part by part: each has columns of its own.
        laid.append(Results(plan, (dataflow.reading_of(sides, told),)))
        packed += map(dataflow.as_lines, sides)
        join = together.Join(number, settings, schemas)
        joins |= dict.fromkeys(own.labels, join)
        finding |= dict.fromkeys(front, (settings, schemas))
    lines = reduce(DataFrame.unionAll, packed)
    if finding:
        lines = dataflow.by_bucket(
            lines, operator.make_lives_operator(finding), bucket.LINE_DDL
        )
    shared = together.make_shared_operator(joins)
    return Query(dataflow.by_bucket(lines, shared, together.RESULT_DDL), laid)


def rows_behind(spark: SparkSession, part: Part, recording: Path) -> DataFrame:
    """Returns the rows of a last join as operators behind it make them."""
    frames, layout = _in_a_row(spark, part, recording)
    return dataflow.lay_rows(part.shape.plan, frames, layout)


def rows_by_turns(
    spark: SparkSession, query: TurnQuery, replayed: DataFrame
) -> DataFrame:
    """Returns the rows that come out where those of one number go by turns."""
    spark.conf.set("spark.sql.shuffle.partitions", "2")

    # One input tells of each event when it is.
    bounds = replay.lines_of(replayed, min(query.inputs))
    bounds = bounds.where(F.col(relay.EVENT) == int(LineKind.BOUND))
    stands = {PLACE: quoted(replay.SEQUENCE), CLOCK: quoted(NOW)}
    stands[relay.SCOPE] = quoted(relay.SCOPE)
    times = dataflow.times_by_turns(bounds, stands)

    def given(name: str) -> DataFrame:
        rows = replay.lines_of(replayed, name)
        told = {one: quoted(one) for one in (relay.EVENT, relay.MOMENT)} | stands
        own = [one for one in rows.columns if not is_reserved(one)]
        return dataflow.lines_by_turns(rows, own, told)

    rows = dataflow.merged_frames(query, given, times)
    lines = []
    for number, (plan, own) in enumerate(zip(query.plans, rows.frames, strict=True)):
        layout = _by_turns(f"{dataflow.COUNTERS}.{number}")
        lines.append(dataflow.lay_rows(plan, own, layout))
    return rows.lines(lines)


def _by_turns(counters: str) -> dataflow.Layout:
    """Returns how joins are laid out whose rows go on with their turns."""

    # A row goes on with its place, wherever it comes out: two buckets are enough.
    def buckets(plan: StreamPlan) -> Buckets:
        own = 1 + plan.spread.is_wide
        labels = balanced_labels(own + bool(plan.spread.told), 2)
        return Buckets(labels[:own], own, labels[own:])

    return dataflow.Layout(buckets, lambda _: True, counters=counters, with_events=True)


def _in_a_row(
    spark: SparkSession, part: Part, recording: Path
) -> tuple[dataflow.Frames, dataflow.Layout]:
    """Returns the lines of all inputs, and how joins in a row are laid out."""
    shape, scopes = part.shape, len(part.scripts)
    spark.conf.set("spark.sql.shuffle.partitions", str(shape.partitions(scopes)))
    replayed = replay.replay(spark, recording)

    buckets = partial(shape.buckets_of, scopes=scopes)
    # Time passes for all joins, also where no line of a batch is for one of them.
    beats: tuple[DataFrame, ...] = ()
    settings = (
        stream_settings(one, ordered=shape.is_ordered(one)) for one in shape.plan.joins
    )
    if any(one.reads_clock for one in settings):
        beats = (replayed.selectExpr("now", "FALSE AS ended", "scope"),)
    layout = dataflow.Layout(buckets, shape.is_ordered, ticks=beats, with_events=True)
    lines = partial(shape.lines, replayed, 0)
    return dataflow.frames_of(shape.plan, lines), layout


@contextmanager
def folder() -> Iterator[Path]:
    """Gives a folder in memory, where there is such a thing, that does not stay."""
    parent = _MEMORY if _MEMORY.is_dir() else None
    # Spark may still be writing a last file when a query has ended.
    with tempfile.TemporaryDirectory(
        prefix="dovetail-", dir=parent, ignore_cleanup_errors=True
    ) as name:
        yield Path(name)


def record_parts(path: Path, parts: Sequence[Part]) -> None:
    """Writes all scripts as one recording, in the order of cuts.

    Inputs of two parts may have one name: each part's have its number.
    """
    lines: list[replay.Line] = []
    rows: dict[str, pa.Table] = {}
    for number, part in enumerate(parts):
        mine = sorted(
            (line for script in part.scripts for line in script.lines),
            key=lambda line: line.cut,
        )
        for name, source in part.shape.inputs.items():
            # Lines know no rows: the rows of a scope come in the order of its lines.
            waiting = {one.scope: iter(one.rows.get(name, ())) for one in part.scripts}
            brought = [line for line in mine if line.has_row and line.input == name]
            own = [next(waiting[line.scope]) for line in brought]
            rows[place_of(number, name)] = table_of(source, own)
        # From here on all parts are one recording.
        lines += [replace(line, input=place_of(number, line.input)) for line in mine]
    replay.record(path, sorted(lines, key=lambda line: line.cut), rows)


def place_of(number: int, name: str) -> str:
    """Returns the name that an input of a part has in the recording."""
    return f"{number} {name}"


def table_of(source: spec.Input, rows: Sequence[spec.Row]) -> pa.Table:
    """Returns rows as a table; a delete may name the key's columns only."""
    names = source.schema.names
    whole = [{name: row.get(name) for name in names} for row in rows]
    return arrow_table(whole, source.schema)


def collected(frame: DataFrame, checkpoint: Path) -> Batches:
    """Returns the blobs of every batch once the query has ended."""
    batches: Batches = {}

    def take(batch: DataFrame, number: int) -> None:
        # Set, not added: a batch that is tried again takes its own place.
        batches[number] = batch.toArrow()

    writer = frame.writeStream.foreachBatch(take).trigger(availableNow=True)
    query = writer.option("checkpointLocation", str(checkpoint)).start()
    try:
        query.awaitTermination()
    finally:
        query.stop()
    return batches
