"""A program of streams that a user holds: its plan in words, its streams, its sinks.

A text in SPL is one. A last join stands in one query with all joins in front of it, and
each stream that comes out without a join has a query of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial, reduce
from itertools import chain
from typing import TYPE_CHECKING
from urllib.parse import quote

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - Spark's own name for it
from pyspark.sql.streaming.query import StreamingQuery

from dovetail import spec
from dovetail.api.joined import (
    Joined,
    SinkLike,
    sink_given,
    start_given,
    streaming_of,
)
from dovetail.bind.files.tuple_sinks import AnyFile
from dovetail.bind.sinks import Folder, Sink, refuse_shared
from dovetail.bind.tick import NO_BEAT, SECONDS, ticks
from dovetail.engines.kernel_settings import reads_all, stream_settings
from dovetail.engines.spark.rules import pinned, plain_rules
from dovetail.engines.spark.values import as_json
from dovetail.engines.spark_stream import query as running
from dovetail.engines.spark_stream.checkpoint import NO_CHECKPOINT
from dovetail.engines.spark_stream.dataflow import (
    Frames,
    Merged,
    lines_by_turns,
    numbered_counters,
    times_by_turns,
)
from dovetail.engines.spark_stream.feeds import BATCH_TIME
from dovetail.engines.spark_stream.firing import rows_alone
from dovetail.engines.spark_stream.outlets import AnyOutlet, LateTogether
from dovetail.engines.spark_stream.row_time import (
    Layout,
    RowTimeQuery,
)
from dovetail.engines.spark_stream.ways import Riders, Sql, by_sql, gathered, in_sql
from dovetail.errors import SpecError
from dovetail.kernels.arrays.names import CLOCK, PLACE, TURN, LineKind, reserved
from dovetail.kernels.firing import KIND, NOW
from dovetail.plan import flow as planned
from dovetail.plan import words
from dovetail.plan.features import FlowLimit
from dovetail.plan.nested import TIME
from dovetail.plan.stream import Feed, StreamPlan
from dovetail.plan.ways import Fired, Path
from dovetail.schema import Column, Schema, quoted
from dovetail.spec import arguments

if TYPE_CHECKING:
    from dovetail.api.streams import Rows

_PLACE = reserved("given_place")
_NO_SINKS: Mapping[str, SinkLike] = {}
_ONCE = (
    "each batch's offsets, state and rows are one: after a crash it comes again, and "
    "each row is in its folder once, as in a consistent region; a function is called "
    "with it again"
)
_KEEPING = (
    "operators that keep rows: one task has all that come to each of them, in order"
)
_TURNS = (
    "rows of joins among others, and on several ways: each carries its turn, and a "
    "join whose rows go several ways is run once for each"
)
_BY_NUMBERS = (
    "the rows of a batch meet by the numbers of their streams; a replay repeats the "
    "result, another cut may not: sequence=.. is one order for all"
)
_LINES = (KIND, NOW)
_PLAIN = "stream: by Spark itself, row by row, without state"


_EXAMPLE = '{"Bargain": dt.folder("out/bargain")}'
_LATE, _ERRORS = "late", "error_stream"
"""Sinks of rows that came too late; the second as Kinesis Analytics tells them."""
_MESSAGES = {
    "late": "the row came behind the bound of its input, and takes no part",
    "null_time": "the row has no row time, and takes no part",
    "failed": "a value cannot be cast, and is null",
}


@dataclass(frozen=True, slots=True)
class JoinedQuery:
    """A stream that comes out of a text and is a join of its inputs."""

    name: str
    joined: Joined


AnyQuery = planned.Query | RowTimeQuery | JoinedQuery
_ENDING = RowTimeQuery | JoinedQuery | planned.JoinQuery
"""Queries that hear an end by themselves."""
Files = Callable[[Collection[str]], Mapping[str, AnyFile]]
"""Into which files the text itself puts streams, but those that are bound."""


@dataclass(frozen=True, slots=True)
class Flow:
    """A program of streams; nothing runs before it is written or a frame asked for."""

    program: spec.Program
    queries: tuple[AnyQuery, ...]
    sources: Mapping[str, Rows]
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
        return tuple(map(_names, self.queries))

    @arguments.public
    def explain(self) -> str:
        """Returns the plan of each query in words, and what of the text has no effect.

        Nothing runs, but Spark is asked all that it is asked at a start.
        """
        told = []
        for query in self.queries:
            names = ", ".join(_names(query))
            told_of = self._explained(query)
            told.append(words.paragraphs([("query", f"of {names}")]) + "\n" + told_of)
        remarks = [("remark", one) for one in self.program.remarks]
        told.append(words.paragraphs([("exactly once", _ONCE), *remarks]))
        return "\n\n".join(told)

    def _explained(self, query: AnyQuery) -> str:
        """Returns the plan of a query in words, after Spark has been asked."""
        if isinstance(query, RowTimeQuery):
            return query.explained()
        if isinstance(query, JoinedQuery):
            return query.joined.explain()
        if isinstance(query, planned.TurnQuery):
            self._by_turns(query)
            every = [words.explained(it, _reads_all) for it in query.plans]
            lines = [("beside it", _TURNS)]
            if not self._is_in_sequence(query.inputs):
                lines.append(("their order", _BY_NUMBERS))
            return "\n\n".join([*every, words.paragraphs(lines)])
        if isinstance(query, planned.PlainQuery):
            self._plain(query)
            keeps = any(path.keeps_rows for path in query.paths)
            return words.paragraphs([("engine", _KEEPING if keeps else _PLAIN)])
        keeps = any(one.keeps_rows for each in query.paths.values() for one in each)
        if isinstance(query, planned.TailQuery):
            self._tail(query)
            keeps = True
        else:
            self._streaming(query).lay()
        told = words.explained(query.plan, partial(reads_all, query.plan))
        beside = words.paragraphs([("beside it", _KEEPING)] if keeps else [])
        return "\n".join(filter(None, (told, beside)))

    @arguments.public
    def frame(self, name: str) -> DataFrame:
        """Returns the rows of one of the streams that come out as a DataFrame."""
        with plain_rules(self._spark):
            return pinned(self._frame(name))

    def _frame(self, name: str) -> DataFrame:
        """Returns the rows of a stream that comes out."""
        query = self._query(name)
        match query:
            case RowTimeQuery():
                return query.frame(Layout())
            case JoinedQuery(joined=joined):
                return joined.matched
            case planned.PlainQuery():
                return self._plain(query)
            case planned.TailQuery():
                return self._tail(query)
            case planned.TurnQuery():
                return self._by_turns(query)
            case planned.JoinQuery(exits=exits):
                # Other streams of the query come out of it too, and are not asked for
                # here.
                (out,) = (one for one in exits if one.name == name)
                streaming = self._streaming(query)
                return _leaving(out).rows(streaming.frame(out.outlet))

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
        how = start_given(checkpoint, trigger, name, finish=finish)
        given: Mapping[object, object] = {}
        # A text whose sinks are all its own needs none.
        if sinks != {} or {*self.files(())} != {*self.outputs}:
            given = arguments.mapping("sinks", sinks, _EXAMPLE)
        late = self._late(given)
        for stream in {*given} - {late}:
            self._query(str(stream))
        own = self.files({*map(str, given)})
        for stream in self.outputs:
            if stream not in given and stream not in own:
                found = f'the stream "{stream}" has no sink: its rows would be lost'
                hint = f'{{"{stream}": dt.folder(path)}} keeps them'
                raise SpecError(found, f'a sink for "{stream}"', hint)
        known: dict[str, Sink] = dict(own)
        known |= {str(it): sink_given(str(it), one) for it, one in given.items()}
        # Asked of all at once: the queries know nothing of each other's sinks.
        refuse_shared(known.values(), how.checkpoint)
        wanted = 0
        if partitions is not None:
            wanted = arguments.whole("partitions", partitions, "partitions=8", least=1)
        if told := self.program.anew:
            for names in self.together:
                running.refuse_begun(self._spark, f"{how.checkpoint}/{names[0]}", told)
        return self._all_started(known, how, partitions=wanted, late=late)

    def _all_started(
        self,
        sinks: Mapping[str, Sink],
        how: running.Start,
        *,
        partitions: int,
        late: str,
    ) -> tuple[StreamingQuery, ...]:
        """Returns all queries, running, or none of them."""
        begun: list[StreamingQuery] = []
        try:
            # Connect reads a plan as soon as somebody asks for its schema.
            with plain_rules(self._spark):
                begun += self._started(sinks, how, partitions=partitions, late=late)
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

    def _started(
        self,
        sinks: Mapping[str, Sink],
        how: running.Start,
        *,
        partitions: int,
        late: str,
    ) -> Iterator[StreamingQuery]:
        """Yields each query, started; `late` is the sink of late rows, if any is."""
        for query in self.queries:
            # Another first stream is another query: state of this one does not fit it.
            first, *_ = _names(query)
            place = f"{how.checkpoint}/{first}"
            title = f"{how.name}.{first}" if how.name else ""
            own = replace(how, checkpoint=place, name=title)
            if how.finish is not None:
                _refuse_finish(query)
            if how.finish and not isinstance(query, _ENDING):
                # Nothing waits that the end would let out: what is there is all.
                own = replace(own, trigger=running.NOW)
            match query:
                case RowTimeQuery():
                    yield query.start(self._into(query, sinks, late), own, partitions)
                case JoinedQuery(joined=joined):
                    into = self._into(query, sinks, late)
                    streaming = replace(streaming_of(joined), partitions=partitions)
                    reads = partial(LateTogether, told=partial(_late_of_join, first))
                    yield running.start(streaming, into, own, reads=reads)
                case planned.PlainQuery(name=name, paths=paths):
                    hears = how.finish is not None and _hears_ends(paths)
                    rows = partial(self._plain, query)
                    yield running.start_alone(
                        self._spark, rows, sink=sinks[name], how=own, hears_ends=hears
                    )
                case planned.TurnQuery(name=name):
                    yield self._begun(query, sinks[name], own, partitions=partitions)
                case planned.TailQuery(name=name):
                    behind, shown = sinks[name], partial(_shown, query.schema)
                    streaming = self._streaming(query, partitions)
                    yield running.start_tail(streaming, shown, sink=behind, how=own)
                case planned.JoinQuery(exits=exits):
                    outlets: dict[AnyOutlet, Sink] = {
                        outlet: _Exits(
                            tuple(
                                (_leaving(one), sinks[one.name])
                                for one in exits
                                if one.outlet is outlet
                            )
                        )
                        for outlet in {one.outlet for one in exits}
                    }
                    streaming = self._streaming(query, partitions)
                    yield running.start(streaming, outlets, own)

    def _into(
        self, query: RowTimeQuery | JoinedQuery, sinks: Mapping[str, Sink], late: str
    ) -> dict[AnyOutlet, Sink]:
        """Returns where rows of a stream go, and late ones if they have a sink."""
        name = query.name
        into: dict[AnyOutlet, Sink] = {spec.Outlet.MATCHED: sinks[name]}
        if not late:
            return into
        sink = sinks[late]
        if isinstance(sink, Folder):
            # Read as one table it has the column `stream`, as `batch` in each of them.
            sink = replace(sink, path=f"{sink.path}/stream={quote(name, safe='')}")
        if late == _ERRORS:
            pumps = {one.name: one.pump for one in self.program.outputs}
            sink = _Told(sink, partial(_errors, pumps[name] or name))
        into[spec.Outlet.LATE] = sink
        return into

    @property
    def _spark(self) -> SparkSession:
        """Returns the session that all rows are of, as Spark has it of one query."""
        any_rows = next(iter(self.sources.values()))
        assert isinstance(any_rows.frame, DataFrame)  # noqa: S101 - as they were given
        return any_rows.frame.sparkSession

    def _query(self, name: str) -> AnyQuery:
        """Returns the query from which a stream comes out."""
        for query in self.queries:
            if name in _names(query):
                return query
        raise SpecError(
            f'no stream "{name}" comes out of the text',
            f"one of {', '.join(self.outputs)}",
            "what an operator takes goes no further: FileSink(X) lets X out too",
        )

    def _streaming(
        self, query: planned.JoinQuery | planned.TailQuery, partitions: int = 0
    ) -> running.Streaming:
        """Returns the joins of a query with their frames."""
        # The kernels refuse here what they cannot read.
        for plan in query.plan.joins:
            stream_settings(plan)
        with plain_rules(self._spark):
            frames = self._frames(query, query.plan)
        return running.Streaming(query.plan, frames, partitions)

    def _tail(self, query: planned.TailQuery) -> DataFrame:
        """Returns what comes out behind operators that keep rows of a join."""
        streaming = self._streaming(query)
        rows = streaming.rows()
        with plain_rules(streaming.spark):
            return _shown(query.schema, rows)

    def _by_turns(self, query: planned.TurnQuery) -> DataFrame:
        """Returns what comes out where rows go by turns."""
        with plain_rules(self._spark):
            rows, joins = self._merged(query)
            lines = (it.lines(NO_CHECKPOINT, (), numbered_counters()) for it in joins)
            return _rows_shown(query.schema, rows.lines([own for own, _ in lines]))

    def _begun(
        self,
        query: planned.TurnQuery,
        sink: Sink,
        how: running.Start,
        *,
        partitions: int,
    ) -> StreamingQuery:
        """Returns the running query of what comes out where rows go by turns."""
        with plain_rules(self._spark):
            rows, joins = self._merged(query, partitions)

        def shown(lines: Sequence[DataFrame]) -> DataFrame:
            return _rows_shown(query.schema, rows.lines(lines))

        if not joins:
            return running.start_plain(shown([]), sink, how)
        return running.start_turns(joins, shown, sink=sink, how=how)

    def _merged(
        self, query: planned.TurnQuery, partitions: int = 0
    ) -> tuple[Merged, Sequence[running.Streaming]]:
        """Returns the rows that come out by turns, and the joins that they are of."""
        times = None
        if query.looks_at_time:
            beat = ticks(self._spark, SECONDS)
            times = times_by_turns(beat, {CLOCK: BATCH_TIME})

        def merged(paths: Sequence[Path], plans: Sequence[StreamPlan]) -> Merged:
            return Merged(paths, self._line, tuple(map(frames, plans)), times)

        def frames(plan: StreamPlan) -> Frames:
            left, right = (
                merged(query.sides[side.source.name], plan.merged[side.hand])
                for side in plan.sides
            )
            return left, right

        for plan in query.plans:
            for one in plan.joins:
                stream_settings(one)
        rows = merged(query.paths, query.plans)
        joins = zip(query.plans, rows.frames, strict=True)
        return rows, [running.Streaming(*one, partitions) for one in joins]

    def _line(self, name: str) -> DataFrame:
        """Returns the rows of an input as lines that go by turns."""
        rows = self.sources[name]
        assert isinstance(rows.frame, DataFrame)  # noqa: S101 - as they were given
        (schema,) = {
            one.schema for one in spec.givens_of(self.program) if one.input == name
        }
        number = rows.feed.sequence or rows.feed.order
        told = {PLACE: f"CAST({number} AS BIGINT)", CLOCK: BATCH_TIME}
        if not rows.feed.sequence:
            # Rows of two streams may have one number: the stream then decides.
            told[TURN] = f"X'01{sorted(self.sources).index(name):04X}'"
        return lines_by_turns(rows.frame, schema.names, told)

    def _is_in_sequence(self, inputs: Iterable[str]) -> bool:
        """Tells whether one number orders the rows of all of some inputs."""
        return all(self.sources[name].feed.sequence for name in inputs)

    def _frames(
        self, query: planned.JoinQuery | planned.TailQuery, plan: StreamPlan
    ) -> Frames:
        """Returns the rows of both sides of a join, of one inside those of its own."""
        left, right = (
            self._frames(query, plan.inside[side.hand])
            if side.hand in plan.inside
            else self._gathered(query.paths[side.source.name], query.ranks)
            for side in plan.sides
        )
        return left, right

    def _plain(self, query: planned.PlainQuery, ends: running.Ends = None) -> DataFrame:
        """Returns the rows of a stream that comes out without a join."""
        frame = self.sources[query.paths[0].inputs[0]].frame
        assert isinstance(frame, DataFrame)  # noqa: S101 - as they were given
        with plain_rules(frame.sparkSession):
            rows = self._gathered(query.paths, query.ranks, ends)
            return _shown(query.schema, rows)

    def _gathered(
        self, paths: Sequence[Path], ranks: int, ends: running.Ends = None
    ) -> DataFrame:
        """Returns the rows that come on some ways, with their times and places.

        Where inputs may end operators hear of it, behind all rows.
        """
        rows = [self.sources[name] for path in paths for name in path.inputs]
        columns = _carried(rows)
        place = _PLACE if _PLACE in columns else ""
        if any(path.keeps_rows for path in paths):
            if not place:
                raise FlowLimit.NO_ORDER.refused()
            # Operators that keep rows see lines: what each is, and when it came.
            columns = (*columns, *_LINES)
        riders = Riders(columns, place, ranks)

        def given(path: Path) -> DataFrame:
            rows = self._given(path.input, columns)
            return rows if ends is None else _ending(rows, ranks, ends=ends)

        every = gathered(given, paths, riders)
        # Marks and ends are no rows: they have told operators all that they can.
        alone = rows_alone(every)
        if ends is not None:
            alone = alone.where(F.col(KIND) == int(LineKind.ROW))
        return alone.drop(*_LINES)

    def _given(self, name: str, columns: Sequence[str]) -> DataFrame:
        """Returns the rows of an input, with columns of ours that go along."""
        rows = self.sources[name]
        assert isinstance(rows.frame, DataFrame)  # noqa: S101 - as they were given
        schema = next(
            one.schema for one in spec.givens_of(self.program) if one.input == name
        )
        number = rows.feed.sequence or rows.feed.order
        carried = {
            TIME: quoted(rows.source.time),
            _PLACE: f"CAST({number} AS BIGINT)",
            KIND: f"{int(LineKind.ROW)}",
            NOW: BATCH_TIME,
        }
        # Beside them the user's own columns, which the text does not name, stay behind.
        ours = (F.expr(carried[one]).alias(one) for one in columns)
        return rows.frame.select(*map(quoted, schema.names), *ours)


@dataclass(frozen=True, slots=True)
class _Told:
    """A sink of rows that are told in another way than they come out."""

    sink: Sink
    rows: Callable[[DataFrame], DataFrame]

    @property
    def place(self) -> str:
        """Returns where the rows go, in words."""
        return self.sink.place

    @property
    def reads_once(self) -> bool:
        """Tells whether a write reads all rows once."""
        return self.sink.reads_once

    def prepare(self, rows: DataFrame, *, is_new: bool) -> None:
        """Refuses rows that cannot be written."""
        self.sink.prepare(self.rows(rows), is_new=is_new)

    def write(self, rows: DataFrame, batch: int, *, is_empty: bool) -> None:
        """Writes a batch."""
        self.sink.write(self.rows(rows), batch, is_empty=is_empty)


def late_sinks(flow: Flow) -> tuple[str, ...]:
    """Returns by which names sinks take the rows that are late for streams of a flow.

    Rows that count in the order of arrival are never late.
    """
    if not all(isinstance(it, RowTimeQuery | JoinedQuery) for it in flow.queries):
        return ()
    # A stream of the text that has such a name is that stream.
    return tuple(it for it in (_LATE, _ERRORS) if it not in flow.outputs)


def _late_of_join(name: str, plan: StreamPlan, late: DataFrame) -> DataFrame:
    """Returns late rows of a join as those of steps in row time are told."""
    times, rows = [], []
    for side in plan.sides:
        own = f"{side.hand.value}.{quoted(side.source.time)}"
        # The time of a join's rows is none of their columns.
        has_time = side.source.is_timed and side.hand not in plan.inside
        times.append(F.expr(own if has_time else "NULL"))
        rows.append(
            F.when(F.col(side.hand.value).isNotNull(), as_json(side.hand.value))
        )
    return late.select(
        F.lit(name).alias("stream"),
        "reason",
        F.coalesce(*times).cast("timestamp").alias("row_time"),
        F.coalesce(*rows).alias("row"),
    )


def _errors(pump: str, late: DataFrame) -> DataFrame:
    """Returns late rows as the error stream of Kinesis Analytics tells them."""
    message = F.create_map(*(F.lit(it) for one in _MESSAGES.items() for it in one))
    return late.select(
        F.current_timestamp().alias("ERROR_TIME"),
        F.lit("ERROR").alias("ERROR_LEVEL"),
        F.upper("reason").alias("ERROR_NAME"),
        message[F.col("reason")].alias("MESSAGE"),
        F.col("row_time").alias("DATA_ROWTIME"),
        F.hex(F.encode("row", "utf-8")).alias("DATA_ROW"),
        F.lit(pump).alias("PUMP_NAME"),
    )


def _ending(rows: DataFrame, ranks: int, *, ends: bool) -> DataFrame:
    """Returns the lines of an input, behind which its end stands when all ends."""
    # The greatest place that has room for all ways of a row.
    last = (2**63 - 1) // ranks - 1
    said = {KIND: f"{int(LineKind.FINISH)}", _PLACE: f"{last}L", NOW: BATCH_TIME}
    types = {one.name: one.dataType for one in rows.schema}
    beats = ticks(rows.sparkSession, NO_BEAT, ends=ends)
    values = (
        F.expr(said.get(one, "NULL")).cast(types[one]).alias(one) for one in types
    )
    return rows.unionAll(beats.select(*values))


def _hears_ends(paths: Iterable[Path]) -> bool:
    """Tells whether an operator on some ways does something at the end."""
    changes = (it for path in paths for it in path.every_change)
    return any(isinstance(it, Fired) and it.looks_at_ends for it in changes)


def _refuse_finish(query: AnyQuery) -> None:
    """Refuses an end that operators would have to hear behind joins, or before them."""
    match query:
        case planned.TurnQuery(plans=plans, sides=sides):
            every = [*query.paths, *chain(*sides.values())]
        case planned.JoinQuery(plan=plan) | planned.TailQuery(plan=plan):
            plans, every = (plan,), [*chain(*query.paths.values())]
        case _:
            # What is a join of inputs, or in row time, or no join at all, can end.
            return
    # What becomes of a join's rows is a way too.
    joins = (one for plan in plans for one in plan.joins)
    every += [Path("", one.onward.changes) for one in joins]
    # An operator beside a join hears no end yet: it would keep what nobody lets go.
    if _hears_ends(every):
        raise SpecError(
            f"finish=.. of {_names(query)[0]}, where an operator beside a join waits "
            "for the end",
            "none: it goes on for ever",
            "code that hears the final mark, and a sliding Sort, can end where no join "
            "is before or behind them: give their rows as an input of that name",
        )


def _names(query: AnyQuery) -> tuple[str, ...]:
    """Returns the names of the streams that come out of a query."""
    match query:
        case RowTimeQuery(name=name) | JoinedQuery(name=name):
            return (name,)
        case planned.PlainQuery(name=name) | planned.TailQuery(name=name):
            return (name,)
        case planned.TurnQuery(name=name):
            return (name,)
        case planned.JoinQuery(exits=exits):
            return tuple(one.name for one in exits)


def _carried(rows: Sequence[Rows]) -> tuple[str, ...]:
    """Returns the columns of ours that rows have beside their own: time, and place."""
    # Rows of several inputs are put together by places: all have it, or none.
    found = [TIME] if all(one.source.is_timed for one in rows) else []
    if all(one.feed.sequence for one in rows) or all(one.feed.order for one in rows):
        found.append(_PLACE)
    return tuple(found)


def _shown(schema: Schema, rows: DataFrame) -> DataFrame:
    """Returns rows with the columns that come out."""
    return rows.select(*map(quoted, schema.names))


def _rows_shown(schema: Schema, lines: DataFrame) -> DataFrame:
    """Returns the rows among lines with the columns that come out."""
    return _shown(schema, lines.where(F.col(KIND) == int(LineKind.ROW)))


def _reads_all(plan: StreamPlan) -> str:
    """Returns why a batch reads all that a join keeps whose rows go on."""
    return stream_settings(plan, ordered=True).reads_all


@dataclass(frozen=True, slots=True)
class _Leaving:
    """How the rows of an outlet come out of the program: some ways, as SQL."""

    columns: tuple[str, ...]
    ways: tuple[tuple[Sql, ...], ...]

    def rows(self, outlet: DataFrame) -> DataFrame:
        """Returns the rows of an outlet as they come out."""
        own = [quoted(name) for name in self.columns]
        return reduce(
            DataFrame.unionAll, [by_sql(outlet, one).select(*own) for one in self.ways]
        )


def _leaving(out: planned.Exit) -> _Leaving:
    """Returns how the rows of an outlet come out of the program."""
    ways = tuple(in_sql(one.changes) for one in out.onwards)
    return _Leaving(out.schema.names, ways)


@dataclass(frozen=True, slots=True)
class _Exits:
    """A sink for an outlet from which several streams come out, each into its own."""

    parts: tuple[tuple[_Leaving, Sink], ...]

    @property
    def place(self) -> str:
        """Returns where the rows go, in words."""
        return " and ".join(sink.place for _, sink in self.parts)

    @property
    def reads_once(self) -> bool:
        """Returns that each of the sinks reads the rows."""
        return False

    def prepare(self, rows: DataFrame, *, is_new: bool) -> None:
        """Refuses rows that one of the sinks cannot take."""
        for out, sink in self.parts:
            sink.prepare(out.rows(rows), is_new=is_new)

    def write(self, rows: DataFrame, batch: int, *, is_empty: bool) -> None:
        """Writes a batch into each of the sinks."""
        for out, sink in self.parts:
            sink.write(out.rows(rows), batch, is_empty=is_empty)


def flow_of(program: spec.Program, sources: Mapping[str, Rows]) -> Flow:
    """Returns a program of streams with its rows, or refuses it."""
    for name, rows in sources.items():
        if rows.feed.bounds:
            raise SpecError(
                f"bounds of {name} in a text of operators",
                "rows alone, in order of arrival or by their row time",
                "filter the rows that are bounds, and leave bounds out",
            )

    def leaf(
        name: str, paths: tuple[Path, ...], schema: Schema
    ) -> tuple[spec.Input, Feed]:
        rows = [sources[name] for path in paths for name in path.inputs]
        # What one of the rows lacks none has: they run together on the side.
        columns = _carried(rows)
        is_timed, place = TIME in columns, quoted(_PLACE) if _PLACE in columns else ""
        stamps = [one.source.schema[one.source.time] for one in rows if is_timed]
        time = [Column(TIME, one.type) for one in stamps[:1]]
        source = spec.Input(
            name,
            spec.InputKind.STREAM,
            Schema((*schema.columns, *time)),
            time=TIME if is_timed else "",
            lateness=_longest(rows, lambda one: one.source.lateness),
        )
        idle = _longest(rows, lambda one: one.feed.idle)
        if all(one.feed.sequence for one in rows):
            return source, Feed(sequence=place, idle=idle)
        return source, Feed(order=place, idle=idle)

    return Flow(program, planned.plan_flow(program, leaf), sources)


def _longest(rows: Sequence[Rows], length: Callable[[Rows], spec.Span]) -> spec.Span:
    """Returns the longest of some lengths of time."""
    return max(map(length, rows), key=lambda span: (span.months, span.microseconds))
