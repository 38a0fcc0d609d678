"""A job at work: its queries on Spark, what is told of them, how they are stopped.

A job of files alone reads what is there and ends; one with a source that never ends
goes on until it is stopped, and a later run goes on from there.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from tempfile import TemporaryDirectory
from threading import Event

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from dovetail import schema, spec
from dovetail.api import jobs, outputs, places, programs, progress
from dovetail.api.flows import Flow
from dovetail.api.joined import Joined
from dovetail.bind import schemas, sinks
from dovetail.bind.files import frames
from dovetail.bind.sinks import Sink
from dovetail.engines.spark_stream.checkpoint import read_log
from dovetail.plan import words

_PAUSE = 0.2
_PATIENCE = 10.0
"""Seconds that a batch gets to end when its query is stopped."""
Told = Callable[[str, progress.Seen], None]
"""Is told of each batch of a query, by the names of what it puts out."""


@dataclass(frozen=True, slots=True)
class JobOutcome:
    """A job on Spark: `run` reads what there is, or goes on until it is stopped."""

    prepared: jobs.Prepared
    made: Joined | Flow
    sinks: Mapping[str, Sink]
    named: Mapping[str, Sink]
    """Those that the job, or the text, has said."""
    checkpoint: str
    spark: SparkSession

    @property
    def is_streaming(self) -> bool:
        """Tells whether it runs in batches, between which it can be stopped."""
        return not isinstance(self.made, Joined) or self.made.is_streaming

    def run(self, told: Told, stop: Event) -> None:
        """Writes into the sinks until all is there, or somebody asks to stop."""
        places.refuse_silent(self.prepared.job)
        with places.told_in_job(self.prepared.job, self.sinks), frames.misfits_told():
            if self.is_streaming:
                # To finish hears nobody: rows are read before, and it can be stopped.
                if self.prepared.finish and not self._has_begun_to_end:
                    self._follow(self._started(finish=False), told, stop)
                if not stop.is_set():
                    self._follow(self._started(), told, stop)
                return
            # Joins of data sets have no batches: each outlet is written as one.
            assert isinstance(self.made, Joined)  # noqa: S101 - flows stream
            for name, sink in self.sinks.items():
                sinks.write_once(sink, getattr(self.made, name), name)

    @property
    def _has_begun_to_end(self) -> bool:
        """Tells whether the last batch of a query has begun, before this run."""
        flows = self.made.together if isinstance(self.made, Flow) else ()
        kept = [f"{self.checkpoint}/{it[0]}" for it in flows] or [self.checkpoint]
        return any(read_log(self.spark, it).is_last for it in kept)

    def _started(self, **more: bool) -> tuple[tuple[str, StreamingQuery], ...]:
        """Returns the queries with their names, started; `more` is said otherwise."""
        job = self.prepared.job
        how = {"checkpoint": self.checkpoint, **self.prepared.how, **more}
        match self.made:
            case Flow():
                left = self.made.unfinished(self.checkpoint) if how["finish"] else ()
                begun = self.made.write(self.sinks, **how)  # type: ignore[arg-type]
                names = (", ".join(it.names) for it in left or self.made.queries)
                return tuple(zip(names, begun, strict=True))
            case joined:
                query = joined.write(**self.sinks, **how)  # type: ignore[arg-type]
                return ((job.name or "join", query),)

    def _follow(
        self, begun: Sequence[tuple[str, StreamingQuery]], told: Told, stop: Event
    ) -> None:
        """Waits for the end of all queries; one that fails ends the others."""
        followers = [(name, progress.Follower(query)) for name, query in begun]
        try:
            is_active = True
            while is_active and not stop.is_set():
                # Asked before the batches are read: the last one must not be missed.
                is_active = any(query.isActive for _, query in begun)
                for name, one in followers:
                    for seen in one.fresh():
                        told(name, seen)
                    if not one.query.isActive:
                        one.refuse_failed()
                if is_active:
                    stop.wait(_PAUSE)
        finally:
            # One that fails must not leave the others behind, still at work.
            for _, query in begun:
                _stop(query)

    def first(self, name: str, count: int) -> tuple[schema.Schema, Sequence[spec.Row]]:
        """Returns the columns and first rows of what came out without a sink."""
        sink = self.sinks[name]
        assert isinstance(sink, sinks.Folder)  # noqa: S101 - as outcome_of makes it
        if not sinks.path_exists(self.spark, sink.path, f"/{sinks.BATCH}=*"):
            return schema.Schema(()), ()
        # By the sink's own format; the folders of all batches are read as one.
        reader = self.spark.read.format(sink.format)
        if isinstance(self.made, Flow):
            # Of files without a row only the program knows the columns.
            known = spec.schema_of(self.made.program, name)
            reader = reader.schema(known.to_sql())
        rows = reader.load(f"{sinks.pattern_of(sink.path)}/*")
        return schemas.schema_of(rows), outputs.first_rows(rows, count)

    @property
    def remarks(self) -> tuple[str, ...]:
        """Returns what of a text has no effect."""
        return self.made.program.remarks if isinstance(self.made, Flow) else ()

    def explained(self) -> str:
        """Returns the plan in words, how the job runs, and what its sinks hold."""
        run = "reads what is there, and ends"
        if self.prepared.goes_on:
            said = self.prepared.job.trigger
            often = f"every {said}" if said else "as soon as the one before has ended"
            run = f"goes on until it is stopped, a batch {often}"
        kept = self.prepared.job.checkpoint
        told = [
            ("run", run),
            ("state", kept or "none is kept: a later run begins anew"),
            *(
                (f"sink {name}", f"{sink.place}, {sinks.how_often(sink)}")
                for name, sink in self.prepared.job.sinks.items()
            ),
        ]
        return f"{self.made.explain()}\n\n{words.paragraphs(told)}"

    def done(self) -> tuple[int, int]:
        """Returns how many tasks of the stages at work are done, and how many are."""
        return programs.tasks_done(self.spark)


@dataclass(frozen=True, slots=True)
class Shown:
    """How the rows of a batch are shown: by whom, and how many of them."""

    show: Callable[[str, schema.Schema, Sequence[spec.Row]], None]
    most: int

    def sink(self, name: str) -> Callable[[DataFrame, int], None]:
        """Returns what shows the rows of each batch of an output that has any."""

        def show(rows: DataFrame, batch: int) -> None:
            # One more than is shown tells whether there are more.
            found = outputs.first_rows(rows, self.most + 1)
            if found:
                columns = schemas.schema_of(rows)
                self.show(f"{name}, batch {batch}", columns, found)

        return show


def _stop(query: StreamingQuery) -> None:
    """Stops a query, if it can between two batches: then none is written twice."""
    # Spark stops at once: what a sink of a topic has by then it would get again.
    until = time.monotonic() + _PATIENCE
    while (
        query.isActive
        and query.status["isTriggerActive"]
        and query.status["isDataAvailable"]
        and time.monotonic() < until
    ):
        time.sleep(_PAUSE / 10)
    query.stop()


@contextmanager
def outcome_of(
    spark: SparkSession, found: jobs.Prepared, printed: Shown | None = None
) -> Iterator[JobOutcome]:
    """Gives a job on Spark; what has no sink is `printed`, or lasts as long as the job.

    Then it is told by `first`.
    """
    made = jobs.opened(found, spark)
    otherwise: dict[str, Sink] = {}
    if printed is not None:
        otherwise = {it: sinks.Calling(printed.sink(it)) for it in found.outputs}
    with TemporaryDirectory(prefix="dovetail-run-") as scratch:
        # What has no sink is written all the same: its rows are shown from there.
        into = {name: sinks.folder(f"{scratch}/out/{name}") for name in found.outputs}
        place = found.job.checkpoint or f"{scratch}/checkpoint"
        own: Mapping[str, Sink] = {}
        if isinstance(made, Flow):
            own = made.files({*found.job.sinks})
        named = {**own, **found.job.sinks}
        # From the least to the most that was said of an output: the last one counts.
        every = {**into, **otherwise, **named}
        yield JobOutcome(found, made, every, named, place, spark)
