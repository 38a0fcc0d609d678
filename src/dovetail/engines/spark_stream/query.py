"""One query, several sinks: start a join and keep each outlet's rows exactly once.

Two `writeStream`s on one join would run it twice, with cuts of their own. Here one
`foreachBatch` writes every outlet of a batch; a sink that gets the same batch again,
after a crash between two outlets, must not count it twice.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial

from pyspark.errors import AnalysisException, StreamingQueryException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - Spark's own name for it
from pyspark.sql.streaming.query import StreamingQuery

from dovetail.bind.failures import cause, sentence
from dovetail.bind.sinks import Sink, path_exists, place_of, prepare, write_line
from dovetail.bind.tick import ENDED, NO_BEAT, SECONDS, ticks
from dovetail.bind.travel import travel_by_value
from dovetail.engines.kernel_settings import stream_settings
from dovetail.engines.spark.rules import pinned, plain_rules
from dovetail.engines.spark_session import cores
from dovetail.engines.spark_stream.checkpoint import (
    BEGUN,
    NO_CHECKPOINT,
    Checkpoint,
    read_checkpoint,
    read_log,
)
from dovetail.engines.spark_stream.dataflow import (
    COUNTERS,
    Frames,
    Layout,
    lay,
    lay_rows,
    leaves,
    numbered_counters,
)
from dovetail.engines.spark_stream.feeds import BATCH_TIME, Buckets
from dovetail.engines.spark_stream.labels import balanced_labels
from dovetail.engines.spark_stream.native import native_identity, native_results
from dovetail.engines.spark_stream.outlets import AnyOutlet, Outlets, Results
from dovetail.engines.spark_stream.settings import (
    PARTITIONS,
    STORE,
    refuse_other_store,
    settings_of_query,
)
from dovetail.engines.spark_stream.tables import Pin, Table, tables, with_tables
from dovetail.engines.spark_stream.writing import (
    Batches,
    RowsOfOne,
    Writing,
    not_written,
)
from dovetail.errors import EngineError
from dovetail.kernels.arrays.names import LineKind
from dovetail.kernels.keeping.lines import KIND
from dovetail.kernels.settings import FORMAT
from dovetail.plan.stream import StreamPlan
from dovetail.spec.inputs import Outlet
from dovetail.spec.spans import NO_TIME

PER_PARTITION = 4
"""Buckets of a state partition: each is woken in every batch, and so many times as wide
can the state be spread later."""


@dataclass(frozen=True, slots=True)
class Streaming:
    """A plan with the frames of both sides, ready to be laid out on Spark.

    Its state gets so many `partitions`; 0: what the session has room for.
    """

    plan: StreamPlan
    frames: Frames
    partitions: int = 0

    @property
    def outlets(self) -> Outlets:
        """Returns the outlets of the join."""
        return Outlets(self.plan)

    @property
    def spark(self) -> SparkSession:
        """Returns the session of the frames."""
        return next(leaves(self.frames)).sparkSession

    @property
    def is_wide(self) -> bool:
        """Tells whether keys of any of the joins can be spread."""
        return any(one.spread.is_wide for one in self.plan.joins)

    @property
    def beats(self) -> bool:
        """Tells whether time goes on for the join while no row comes."""
        if self.plan.runner.is_native:
            return False
        settings = map(stream_settings, self.plan.joins)
        return self.plan.heeds_silence or any(one.reads_clock for one in settings)

    def state_partitions(self) -> int:
        """Returns how many partitions the state of a new query gets.

        So many tasks run at once; more would only cost time in every batch.
        """
        if not self.is_wide:
            if self.partitions > 1:
                raise EngineError(
                    f"partitions={self.partitions} of a join that is in one bucket",
                    "an equality by which its keys can be spread",
                    "leave partitions out: one core does it all",
                )
            return 1
        return self.partitions or _most_at_once(self.spark)

    def buckets(self, checkpoint: Checkpoint) -> int:
        """Returns over how many buckets keys are spread, in state that is kept or new.

        Of any number of partitions that divides theirs each has as many of them. Where
        many would have to be told when rows end, a single partition is one bucket.
        """
        # Beside wide joins of the same query one without an equality stays one bucket.
        if not self.is_wide:
            return 1
        partitions = self.state_partitions()
        if not checkpoint.buckets and self.plan.spread.told and partitions == 1:
            return 1
        return buckets_of(self.spark, checkpoint, partitions)

    def of(self, pin: Pin | None) -> Streaming:
        """Returns the join as its first start has said that it is run."""
        if pin is None or pin.is_native == self.plan.runner.is_native:
            return self
        runner = replace(self.plan.runner, is_native=pin.is_native)
        return replace(self, plan=self.plan.run_by(runner))

    @property
    def tables(self) -> tuple[Table, ...]:
        """Returns the sides of all joins that do not stream."""
        return tuple(tables(self.plan, self.frames))

    def copied(self, checkpoint: str) -> Frames:
        """Returns the frames that are joined: of a table the copy, if there is one."""
        return with_tables(
            self.plan,
            self.frames,
            lambda table: table.copied(checkpoint) if checkpoint else table.rows(),
        )

    def lay(
        self,
        checkpoint: Checkpoint = NO_CHECKPOINT,
        ticks: tuple[DataFrame, ...] = (),
        counters: str = COUNTERS,
    ) -> tuple[DataFrame, Results]:
        """Returns the results of the join on the state that is kept: how they are read.

        Refuses what Spark cannot read: whoever explains a join asks as a start does.
        """
        with plain_rules(self.spark):
            frames = self.copied(checkpoint.path)
            if self.plan.runner.is_native:
                checkpoint.refuse_other(native_identity(self.plan, frames).text)
                rows = native_results(self.plan, frames, ticks, counters)
                results = Results(self.plan)
                results.refuse_select(rows)
                return rows, results
            whole, how = self._layout(checkpoint, ticks, counters)
            lines, results = lay(whole, frames, how)
            # What joins are is known only once they are laid out: their columns count.
            checkpoint.refuse_other(*(how.identities[id(one)] for one in whole.joins))
            results.refuse_select(lines)
            return lines, results

    def rows(self, checkpoint: Checkpoint = NO_CHECKPOINT) -> DataFrame:
        """Returns the rows that go on to operators that keep some of them."""
        # Whoever follows a query that is written looks for counters of this name.
        counters = COUNTERS if checkpoint.path else numbered_counters()
        rows, identities = self.lines(checkpoint, (), counters)
        checkpoint.refuse_other(*identities)
        return rows.where(F.col(KIND) == int(LineKind.ROW))

    def lines(
        self,
        checkpoint: Checkpoint,
        ticks: tuple[DataFrame, ...],
        counters: str,
        *,
        tells_late: bool = False,
    ) -> tuple[DataFrame, tuple[str, ...]]:
        """Returns the rows with how far the join has come, and what all joins are.

        Late rows are lines among them where somebody `tells_late` ones.
        """
        with plain_rules(self.spark):
            frames = self.copied(checkpoint.path)
            whole, how = self._layout(checkpoint, ticks, counters, goes_on=True)
            rows = lay_rows(whole, frames, replace(how, tells_late=tells_late))
        return rows, tuple(how.identities[id(one)] for one in whole.joins)

    def _layout(
        self,
        checkpoint: Checkpoint,
        ticks: tuple[DataFrame, ...],
        counters: str,
        *,
        goes_on: bool = False,
    ) -> tuple[StreamPlan, Layout]:
        """Returns the plan, and how it is laid out.

        How far a join has come whoever takes its rows must be told: those of one inside
        another go on, or of all.
        """
        count = self.buckets(checkpoint)
        whole = replace(self.plan, spread=self.plan.spread.over(count))

        def buckets(plan: StreamPlan) -> Buckets:
            own = count if plan.spread.is_wide else 1
            # One more in front of all, where lives are found that the others are told
            # of.
            front = bool(plan.spread.told)
            labels = balanced_labels(own + front, own)
            return Buckets(labels[:own], own, labels[own:])

        def ordered(plan: StreamPlan) -> bool:
            return goes_on or plan is not whole

        how = Layout(buckets, ordered, count, ticks=ticks, counters=counters)
        return whole, how

    def frame(self, outlet: Outlet) -> DataFrame:
        """Returns the rows of one outlet as a streaming DataFrame."""
        if not self.plan.runner.is_native:
            # The user's own query will run it, with the settings of its session.
            refuse_other_store(self.spark)
        for table in self.tables:
            is_kept = table.versions or table.side.feed.refresh != NO_TIME
            if self.plan.runner.is_native and not is_kept:
                continue
            newest = "the newest row of each key, or refresh, is of the copy"
            raise EngineError(
                f"the {table.side.hand.value} side is a table, and an outlet taken as "
                "a DataFrame has no folder for its copy",
                "joined.write(checkpoint=..), which keeps it there",
                f"Spark does not join by itself: {self.plan.runner.reason or newest}",
            )
        ticks = self.ticks() if self.beats else ()
        frame, results = self.lay(ticks=ticks, counters=numbered_counters())
        with plain_rules(self.spark):
            return pinned(results.frame(frame, outlet))

    def ticks(self, *, ends: bool = False) -> tuple[DataFrame, ...]:
        """Returns the heartbeat; it beats where a side may fall idle."""
        # Without a beat it says the end, and no time.
        beat = SECONDS if self.beats else NO_BEAT
        now = F.expr(BATCH_TIME).alias("now")
        return (ticks(self.spark, beat, ends=ends).select(now, ENDED),)


@dataclass(frozen=True, slots=True)
class Start:
    """How a query is started: where it keeps its state, how often it runs.

    With `finish` it reads what there is, and lets the last rows come out; where that
    is false it may be finished by a later start, where it is None never. Its state gets
    so many `partitions`; 0: what the session has room for.
    """

    checkpoint: str
    trigger: Mapping[str, object] = field(default_factory=dict)
    name: str = ""
    finish: bool | None = None
    partitions: int = 0

    @property
    def ending_by_itself(self) -> Start:
        """Returns how a query is started of which nothing waits for the end.

        To finish is then to read what is there: that is all.
        """
        return replace(self, trigger=NOW) if self.finish else self


NOW = {"availableNow": True}
AT_ONCE = {"once": True}
"""All that is there in one batch, or the batch that was begun and no other."""


def start(
    streaming: Streaming,
    sinks: Mapping[AnyOutlet, Sink],
    how: Start,
    *,
    reads: Callable[[Results], Batches] = lambda results: results,
) -> StreamingQuery:
    """Returns the running query that writes every outlet into its sink.

    `reads` says what outlets are of the results of its joins: unsaid, each by itself.
    """
    checkpoint = _opened(streaming.spark, how)
    # The first start has decided who joins: state, or none, lies there by it.
    streaming = replace(streaming, partitions=how.partitions).of(checkpoint.pin)
    # A table is read anew by starts alone: a query that goes on would never do it.
    ends = how.finish or how.trigger in (NOW, AT_ONCE)
    for table in streaming.tables:
        if table.side.feed.refresh != NO_TIME and not ends:
            raise EngineError(
                f"refresh of the {table.side.hand.value} side, a table, in a query "
                "that goes on: only a start reads it anew",
                f"trigger={NOW}, and a start from time to time",
                "a table that changes while a query runs is dt.table of a streaming "
                "DataFrame",
            )
    # What Spark joins by itself has no state that could lie anywhere, or be moved.
    if streaming.plan.runner.is_native and streaming.partitions:
        raise EngineError(
            f"partitions={streaming.partitions} of a join that keeps no state: Spark "
            "joins each batch with all of the table",
            "none",
            f"leave partitions out; {PARTITIONS} says how Spark shuffles",
        )
    if not streaming.plan.runner.is_native:
        checkpoint = _spread(streaming.spark, checkpoint, how)
    begin = partial(_started, streaming, sinks, reads=reads)
    return _to_the_end(begin, checkpoint, how, spark=streaming.spark)


def _opened(spark: SparkSession, how: Start) -> Checkpoint:
    """Returns what a checkpoint says, or refuses that of streams that have ended."""
    checkpoint = read_checkpoint(spark, how.checkpoint)
    if not (how.finish and checkpoint.is_ending):
        checkpoint.refuse_ended()
    return checkpoint


def unfinished(spark: SparkSession, paths: Sequence[str]) -> Sequence[str]:
    """Returns those of checkpoints whose queries have not ended, if some still can.

    So a program goes on that has broken when only some of its queries had ended.
    """
    known = [read_log(spark, path) for path in paths]
    left = [one for one in known if not (one.is_last and one.is_through)]
    # One that hears no end has none: it is through whenever its last batch is.
    can_end = any(one.is_new or one.has_heartbeat or not one.is_through for one in left)
    return [one.path for one in left] if can_end else paths


def _spread(spark: SparkSession, checkpoint: Checkpoint, how: Start) -> Checkpoint:
    """Returns a checkpoint with its state in as many partitions as are asked for."""
    with plain_rules(spark, **STORE):
        return checkpoint.spread(spark, how.partitions)


def _most_at_once(spark: SparkSession) -> int:
    """Returns how many tasks of a query run at once: more would only cost time."""
    # 200 is Spark's own default.
    return min(int(spark.conf.get(PARTITIONS) or 200), cores(spark))


def buckets_of(spark: SparkSession, checkpoint: Checkpoint, partitions: int) -> int:
    """Returns over how many buckets keys are spread, in state that is kept or new.

    That is in so many partitions; 0: what the session has room for.
    """
    return checkpoint.buckets or PER_PARTITION * (partitions or _most_at_once(spark))


@contextmanager
def _starting(spark: SparkSession, how: Start, partitions: int) -> Iterator[bool]:
    """Lets a query start with settings of its own; gives whether nothing has begun."""
    travel_by_value()
    confs = {**settings_of_query(spark, how.checkpoint), PARTITIONS: str(partitions)}
    with plain_rules(spark, **confs):
        checkpoint = read_log(spark, how.checkpoint)
        checkpoint.refuse_moved()
        yield checkpoint.is_new


Begin = Callable[[Checkpoint, Start], StreamingQuery]
"""Starts a query on what a checkpoint says."""


def _to_the_end(
    begin: Begin, checkpoint: Checkpoint, how: Start, *, spark: SparkSession
) -> StreamingQuery:
    """Returns a query that goes on, or one that ends when all has come out."""
    if not how.finish:
        return begin(checkpoint, how)
    if not checkpoint.is_ending:
        query = begin(checkpoint, replace(how, trigger=NOW, finish=False))
        try:
            query.awaitTermination()
        except StreamingQueryException as error:
            raise sentence(error) from error
        finally:
            query.stop()
        # The last batch goes on from where this query has left off.
        checkpoint = read_checkpoint(spark, how.checkpoint)
    return begin(checkpoint, replace(how, trigger=AT_ONCE))


Ends = bool | None
"""Whether inputs end in the batch that comes; None where they never do."""


def start_in_row_time(
    spark: SparkSession,
    rows: Callable[[Checkpoint, Ends], DataFrame],
    *,
    batches: Batches,
    sinks: Mapping[AnyOutlet, Sink],
    how: Start,
    beats: bool = False,
) -> StreamingQuery:
    """Returns the running query of a stream in row time, which can end.

    `batches` are what outlets are read of; `beats`: time goes on for it while no row
    comes.
    """
    checkpoint = _spread(spark, _opened(spark, how), how)

    def begin(known: Checkpoint, how: Start) -> StreamingQuery:
        if beats or how.finish is not None:
            known.refuse_without_heartbeat()
        # Spark lets no source be taken away later, whether it is asked any more or not.
        can_end = beats or how.finish is not None or known.has_heartbeat
        # The number of the first start: state is where it was.
        count = known.partitions or how.partitions or _most_at_once(spark)
        frame = rows(known, bool(how.finish) if can_end else None)
        return start_outlets(frame, batches, sinks, how=how, partitions=count)

    return _to_the_end(begin, checkpoint, how, spark=spark)


def start_tail(
    streaming: Streaming,
    rows_of: Callable[[DataFrame], DataFrame],
    *,
    sink: Sink,
    how: Start,
) -> StreamingQuery:
    """Returns the running query of what comes out behind all joins, as one stream."""
    spark = streaming.spark
    checkpoint = _spread(spark, _opened(spark, how), how)
    streaming = replace(streaming, partitions=how.partitions)
    partitions = checkpoint.partitions or streaming.state_partitions()
    # A stream has one sink here: outlets, and what looks at them, are the join's.
    rows = rows_of(streaming.rows(checkpoint))
    return start_plain(rows, sink, how, partitions=partitions)


def start_turns(
    joins: Sequence[Streaming],
    rows_of: Callable[[Sequence[DataFrame]], DataFrame],
    *,
    sink: Sink,
    how: Start,
) -> StreamingQuery:
    """Returns the running query of rows of several joins, and of others among them."""
    spark = joins[0].spark
    checkpoint = _spread(spark, _opened(spark, how), how)
    joins = [replace(one, partitions=how.partitions) for one in joins]
    # One that is in a single bucket needs no more of them, whatever others have.
    widest = max(joins, key=lambda one: one.is_wide)
    most = widest.state_partitions()
    known = [one.lines(checkpoint, (), numbered_counters()) for one in joins]
    checkpoint.refuse_other(*(it for _, own in known for it in own))
    rows = rows_of([lines for lines, _ in known])
    partitions = checkpoint.partitions or most
    return start_plain(rows, sink, how, partitions=partitions)


def refuse_begun(spark: SparkSession, path: str, told: str) -> None:
    """Refuses to go on where the text has said that a restart knows nothing."""
    if path_exists(spark, f"{path}/offsets"):
        raise EngineError(
            f'{told}, and the checkpoint "{path}" has the state of a run before',
            "a new checkpoint folder, in which nothing is known",
            "checkpoint : periodic(10.0) goes on where the run before has stopped",
        )


def start_alone(
    spark: SparkSession,
    rows: Callable[[Ends], DataFrame],
    *,
    sink: Sink,
    how: Start,
    hears_ends: bool,
) -> StreamingQuery:
    """Returns the running query of rows of inputs; somebody may listen to their end."""
    if not hears_ends:
        return start_plain(rows(None), sink, how)
    checkpoint = _opened(spark, how)

    def begin(known: Checkpoint, how: Start) -> StreamingQuery:
        known.refuse_without_heartbeat()
        return start_plain(rows(bool(how.finish)), sink, how)

    return _to_the_end(begin, checkpoint, how, spark=spark)


def start_plain(
    frame: DataFrame, sink: Sink, how: Start, *, partitions: int = 1
) -> StreamingQuery:
    """Returns the running query that writes the rows of a stream as they are.

    What keeps rows has its state in so many partitions.
    """
    with _starting(frame.sparkSession, how, partitions) as is_new:
        prepare(sink, frame, is_new=is_new)

        def write(batch: DataFrame, number: int) -> None:
            try:
                sink.write(batch, number, is_empty=False)
            except Exception as error:
                where = f"{sink.place} failed in batch {number}"
                raise not_written("rows are", where, error) from error

        return _begun(frame, write, how)


def start_outlets(
    frame: DataFrame,
    batches: Batches,
    sinks: Mapping[AnyOutlet, Sink],
    *,
    how: Start,
    partitions: int = 1,
) -> StreamingQuery:
    """Returns the running query that writes outlets, which are read of its batches."""
    if len(sinks) == 1:
        ((outlet, sink),) = sinks.items()
        rows = batches.frame(frame, outlet)
        return start_plain(rows, sink, how, partitions=partitions)
    with _starting(frame.sparkSession, how, partitions) as is_new:
        for outlet, sink in sinks.items():
            prepare(sink, batches.frame(frame, outlet), is_new=is_new)
        write = Writing(batches, sinks).write
        return _begun(frame, write, how)


def _begun(
    frame: DataFrame, write: Callable[[DataFrame, int], None], how: Start
) -> StreamingQuery:
    """Returns a query that begins as it is said, and writes batch after batch."""
    mark = f"{how.checkpoint}/{BEGUN}"

    # A function: Spark takes no other object that can be called.
    def marked(batch: DataFrame, number: int) -> None:
        if number == 0:
            spark = batch.sparkSession
            write_line(spark, place_of(spark, how.checkpoint), mark)
        write(batch, number)

    writer = frame.writeStream.foreachBatch(marked)
    writer = writer.option("checkpointLocation", how.checkpoint)
    if how.trigger:
        writer = writer.trigger(**how.trigger)  # type: ignore[call-overload]
    if how.name:
        writer = writer.queryName(how.name)
    try:
        return writer.start()
    except Exception as error:
        told = cause(error)
        expected = "a folder of this query alone, in which files can be written"
        hint = 'write for example checkpoint="out/checkpoint"'
        if how.name and f"with name {how.name} as" in told:
            expected, hint = "a name that no running query has", "stop that one first"
        elif isinstance(error, AnalysisException):
            expected = "streams of rows as Spark can have them"
            hint = "it stands in a DataFrame that the join was given"
        raise EngineError(
            f'the query on the checkpoint "{how.checkpoint}" does not start: {told}',
            expected,
            hint,
        ) from error


def _started(
    streaming: Streaming,
    sinks: Mapping[AnyOutlet, Sink],
    checkpoint: Checkpoint,
    how: Start,
    *,
    reads: Callable[[Results], Batches],
) -> StreamingQuery:
    """Returns a query that goes on from a checkpoint; to finish is one batch."""
    spark = streaming.spark
    has_heartbeat = streaming.beats or how.finish is not None
    if has_heartbeat:
        checkpoint.refuse_without_heartbeat()
    # A lookup has nothing to be copied, but who joins is kept all the same.
    if checkpoint.is_new and (streaming.tables or streaming.plan.runner.is_native):
        checkpoint = _with_table(streaming, checkpoint)
    elif checkpoint.is_through:
        _refresh(streaming, checkpoint)
    has_heartbeat |= checkpoint.has_heartbeat
    ticks = streaming.ticks(ends=bool(how.finish)) if has_heartbeat else ()
    frame, results = streaming.lay(checkpoint, ticks)
    confs = settings_of_query(spark, how.checkpoint)
    # Without state the session's own number holds: Spark may shuffle a large table.
    if not streaming.plan.runner.is_native:
        partitions = checkpoint.partitions or streaming.state_partitions()
        confs[PARTITIONS] = str(partitions)
    with plain_rules(spark, **confs):
        batches = reads(results)
        for outlet, sink in sinks.items():
            rows = batches.frame(frame, outlet)
            prepare(sink, rows, is_new=checkpoint.is_new)
            if len(sinks) == 1:
                # Its plan is made once, and no line is kept for who else reads it.
                frame, batches = rows, RowsOfOne(outlet)
        write = Writing(batches, sinks).write
        return _begun(frame, write, how)


def _with_table(streaming: Streaming, checkpoint: Checkpoint) -> Checkpoint:
    """Returns a new checkpoint, beside which the table has been copied.

    What is refused is refused before.
    """
    # The copy of a large table takes its time, and would be for nothing.
    streaming.lay()
    path = checkpoint.path
    with plain_rules(streaming.spark, **STORE):
        for table in streaming.tables:
            table.copy(path)
        same = native_identity(streaming.plan, streaming.copied(path)).text
        pin = Pin(streaming.plan.runner.is_native, FORMAT, same)
        pin.keep(streaming.spark, path)
    return replace(checkpoint, pin=pin)


def _refresh(streaming: Streaming, checkpoint: Checkpoint) -> None:
    """Copies tables anew whose copies are old, for the batches that are to come.

    A batch that has begun comes again with the copy that it has seen.
    """
    path = checkpoint.path
    with plain_rules(streaming.spark, **STORE):
        due = [table for table in streaming.tables if table.is_due(path)]
        if due:
            same = native_identity(streaming.plan, streaming.copied(""))
            checkpoint.refuse_other(same.text)
        for table in due:
            table.copy(path, f"from-{checkpoint.batch + 1}")
