"""A program of streams that a user holds: its plan in words, its streams, its sinks.

A text in SPL is one. A last join stands in one query with all joins in front of it, and
each stream that comes out without a join has a query of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, ClassVar

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from dovetail import spec
from dovetail.api.alone import started_alone
from dovetail.api.joined import (
    Joined,
    SinkLike,
    plan_of,
    sink_given,
    start_given,
    streaming_of,
)
from dovetail.bind.files.tuple_sinks import AnyFile
from dovetail.bind.sinks import Sink, refuse_in_sources
from dovetail.engines.spark.rules import pinned, plain_rules
from dovetail.engines.spark_stream import query as running
from dovetail.engines.spark_stream.flows import FlowQuery, ProgramRows
from dovetail.engines.spark_stream.late import (
    Sinks,
    error_sink,
    late_of_join,
    late_sink,
)
from dovetail.engines.spark_stream.outlets import LateTogether
from dovetail.engines.spark_stream.row_time import Source
from dovetail.errors import SpecError
from dovetail.plan import words
from dovetail.plan.flow import plan_flow
from dovetail.plan.stream import StreamPlan
from dovetail.spec import arguments

_NO_SINKS: Mapping[str, SinkLike] = {}
_ONCE = (
    "each batch's offsets, state and rows are one: after a crash it comes again, and "
    "each row is in its folder once, as in a consistent region; a function is called "
    "with it again"
)
_EXAMPLE = '{"Bargain": dt.folder("out/bargain")}'
_LATE, _ERRORS = "late", "error_stream"
"""Sinks of rows that came too late; the second as Kinesis Analytics tells them."""
Files = Callable[[Collection[str]], Mapping[str, AnyFile]]
"""Into which files the text itself puts streams, but those that are bound."""


@dataclass(frozen=True, slots=True)
class JoinedQuery:
    """A stream that comes out of a text and is a join of its inputs."""

    name: str
    joined: Joined
    tells_late: ClassVar[bool] = True

    @property
    def names(self) -> tuple[str, ...]:
        """Returns the name of the stream."""
        return (self.name,)

    @property
    def plans(self) -> tuple[StreamPlan, ...]:
        """Returns the plan of the join, if it is one of streams."""
        return (plan_of(self.joined),) if self.joined.is_streaming else ()

    @property
    def takes_partitions(self) -> bool:
        """Tells whether it has state: what Spark joins by itself has none."""
        return not all(plan.runner.is_native for plan in self.plans)

    def explained(self) -> str:
        """Returns its plan in words, after Spark has been asked."""
        return self.joined.explain()

    def frame(self, _: str) -> DataFrame:
        """Returns the rows of the stream."""
        return self.joined.matched

    def refuse_finish(self) -> None:
        """Refuses nothing: a join of inputs hears an end."""

    def start(self, sinks: Sinks, how: running.Start) -> StreamingQuery:
        """Returns the running query that writes the stream, and perhaps late rows."""
        streaming = streaming_of(self.joined)
        reads = partial(LateTogether, told=partial(late_of_join, self.name))
        return running.start(streaming, sinks.of(self.name), how, reads=reads)


@dataclass(frozen=True, slots=True)
class Flow:
    """A program of streams; nothing runs before it is written or a frame asked for."""

    program: spec.Program
    queries: tuple[FlowQuery, ...]
    sources: Mapping[str, Source]
    files: Files = lambda _: {}

    def __repr__(self) -> str:
        """Returns what comes out, and of what."""
        taken = ", ".join(one.input for one in spec.givens_of(self.program))
        return f"{', '.join(self.outputs)} of {taken}, on streams of Spark"

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> object:
            """Refuses what only a DataFrame can be asked for."""
            hint = f'a stream is a DataFrame: flow.frame("{self.outputs[0]}")'
            raise arguments.missing("flow", name, dir(type(self)), hint)

    @property
    def outputs(self) -> tuple[str, ...]:
        """Returns the names of the streams that come out."""
        return tuple(one.name for one in self.program.outputs)

    @property
    def together(self) -> tuple[tuple[str, ...], ...]:
        """Returns the names of the streams that come out of each query."""
        return tuple(query.names for query in self.queries)

    @arguments.public
    def explain(self) -> str:
        """Returns the plan of each query in words, and what of the text has no effect.

        Nothing runs, but Spark is asked all that it is asked at a start.
        """
        tables = words.table_lines(self.program)
        told = [words.paragraphs(tables)] if tables else []
        for query in self.queries:
            names = ", ".join(query.names)
            told_of = query.explained()
            told.append(words.paragraphs([("query", f"of {names}")]) + "\n" + told_of)
        remarks = [("remark", one) for one in self.program.remarks]
        told.append(words.paragraphs([("exactly once", _ONCE), *remarks]))
        return "\n\n".join(told)

    @arguments.public
    def frame(self, name: str) -> DataFrame:
        """Returns the rows of one of the streams that come out as a DataFrame."""
        with plain_rules(self._spark):
            return pinned(self._query(name).frame(name))

    @arguments.public
    def write(
        self,
        sinks: Mapping[str, SinkLike] = _NO_SINKS,
        *,
        checkpoint: arguments.AnyPath,
        trigger: Mapping[str, object] | None = None,
        name: str = "",
        finish: bool | None = None,
        partitions: int | None = None,
    ) -> tuple[StreamingQuery, ...]:
        """Returns the running queries that write each stream into its own sink.

        Sinks go by the names of streams, `{"Bargain": dt.folder("out/bargain")}`; of a
        text that has its own folder of `data` a stream without one goes into the file
        of its FileSink. After a crash each row is in its sink once. What is late for a
        stream in row time goes into "late", in a folder for each stream, or into
        "error_stream", as Kinesis Analytics tells it. A query keeps its state in the
        folder of the checkpoint that has the name of its first stream, in so many
        `partitions`. With a `name` each query has it, and that stream's behind a dot.
        `finish`: all streams end with what is there now, so that rows that wait for
        others in the order of their times come out.
        """
        how = start_given(
            checkpoint, trigger, name, finish=finish, partitions=partitions
        )
        # A text whose sinks are all its own needs none.
        needs = sinks != {} or {*self.files(())} != {*self.outputs}
        given = arguments.mapping("sinks", sinks, _EXAMPLE) if needs else _NO_SINKS
        late = self._late(given)
        for stream in {*given} - {late}:
            self._query(str(stream))
        own = self.files({*map(str, given)})
        for stream in self.outputs:
            if stream not in given and stream not in own:
                found = f'the stream "{stream}" has no sink: its rows would be lost'
                hint = f'{{"{stream}": dt.folder(path)}} keeps them'
                raise SpecError(found, f'a sink for "{stream}"', hint)
        said = {str(it): sink_given(str(it), one) for it, one in given.items()}
        known: Mapping[str, Sink] = {**own, **said}
        # The queries know nothing of each other's sinks.
        frames = (one.frame for one in self.sources.values())
        refuse_in_sources(known.values(), how.checkpoint, frames)
        refuse_partitions(self.queries, how.partitions)
        if told := self.program.anew:
            for names in self.together:
                running.refuse_begun(self._spark, f"{how.checkpoint}/{names[0]}", told)
        pumps = {one.name: one.pump for one in self.program.outputs}

        def late_of(name: str) -> Sink:
            sink = late_sink(known[late], name)
            return error_sink(sink, pumps[name] or name) if late == _ERRORS else sink

        into = Sinks(known, late_of if late else None)
        begin = partial(self._all_started, into, how)
        return started_alone(self._spark, how.checkpoint, begin)

    def _all_started(
        self, sinks: Sinks, how: running.Start
    ) -> tuple[StreamingQuery, ...]:
        """Returns all queries, running, or none of them."""
        begun: list[StreamingQuery] = []
        try:
            # Connect reads a plan as soon as somebody asks for its schema.
            with plain_rules(self._spark):
                begun += self._started(sinks, how)
        except Exception:
            # What one query of a program cannot do, no other should do without it.
            for one in begun:
                one.stop()
            raise
        return tuple(begun)

    def _late(self, given: Collection[object]) -> str:
        """Returns which sink is for late rows, or nothing; two are refused."""
        known = late_sinks(self)
        late = [it for it in known if it in given]
        if len(late) > 1:
            told = f'late rows both as "{_LATE}" and as "{_ERRORS}"'
            raise SpecError(told, "one of them", "they are the same rows")
        return "".join(late)

    def unfinished(self, checkpoint: str) -> tuple[FlowQuery, ...]:
        """Returns the queries that `write(finish=True)` starts: not those at an end."""
        places = {f"{checkpoint}/{query.names[0]}": query for query in self.queries}
        return tuple(places[it] for it in running.unfinished(self._spark, [*places]))

    def _started(self, sinks: Sinks, how: running.Start) -> Iterator[StreamingQuery]:
        """Yields each query, started."""
        for query in self.unfinished(how.checkpoint) if how.finish else self.queries:
            # Another first stream is another query: state of this one does not fit it.
            first, *_ = query.names
            place = f"{how.checkpoint}/{first}"
            title = f"{how.name}.{first}" if how.name else ""
            if how.finish is not None:
                query.refuse_finish()
            yield query.start(sinks, replace(how, checkpoint=place, name=title))

    @property
    def _spark(self) -> SparkSession:
        """Returns the session that all rows are of, as Spark has it of one query."""
        any_rows = next(iter(self.sources.values()))
        assert isinstance(any_rows.frame, DataFrame)  # noqa: S101 - as they were given
        return any_rows.frame.sparkSession

    def _query(self, name: str) -> FlowQuery:
        """Returns the query from which a stream comes out."""
        for query in self.queries:
            if name in query.names:
                return query
        raise SpecError(
            f'no stream "{name}" comes out of the text',
            f"one of {', '.join(self.outputs)}",
            "what an operator takes goes no further: FileSink(X) lets X out too",
        )


def late_sinks(flow: Flow) -> tuple[str, ...]:
    """Returns by which names sinks take the rows that are late for streams of a flow.

    Rows that count in the order of arrival are never late.
    """
    if not all(query.tells_late for query in flow.queries):
        return ()
    # A stream of the text that has such a name is that stream.
    return tuple(it for it in (_LATE, _ERRORS) if it not in flow.outputs)


def refuse_partitions(queries: Sequence[FlowQuery], count: int) -> None:
    """Refuses partitions of which no query has a use."""
    if count and not any(query.takes_partitions for query in queries):
        raise SpecError(
            f"partitions={count} of what has no state that could be spread",
            "none",
            "leave partitions out: Spark reads as many parts as its inputs have",
        )


def flow_of(program: spec.Program, sources: Mapping[str, Source]) -> Flow:
    """Returns a program of streams with its rows, or refuses it."""
    for name, rows in sources.items():
        if rows.feed.bounds:
            raise SpecError(
                f"bounds of {name} in a text of operators",
                "rows alone, in order of arrival or by their row time",
                "filter the rows that are bounds, and leave bounds out",
            )
    given = ProgramRows(program, sources)
    queries = map(given.query, plan_flow(program, given.leaf))
    return Flow(program, tuple(queries), sources)
