"""The queries of a program of streams that counts rows in the order of arrival.

    inputs -> ways --------------------------------> rows    PlainStreaming
    inputs -> ways -> joins -> outlets -> ways ----> rows    JoinStreaming
    inputs -> ways -> joins -> operators ----------> rows    TailStreaming
    inputs -> ways -> joins, with others by turns -> rows    TurnStreaming

Each is a query of the plan with the rows of its inputs. As one in row time it says what
comes out of it, how it is run, in words, and it starts; so whoever holds a program need
not know which kinds of queries there are.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial, reduce
from itertools import chain
from typing import ClassVar, Protocol

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - Spark's own name for it
from pyspark.sql.streaming.query import StreamingQuery

from dovetail import spec
from dovetail.bind.sinks import Sink, prepare
from dovetail.bind.tick import NO_BEAT, SECONDS, ticks
from dovetail.engines.kernel_settings import reads_all, stream_settings
from dovetail.engines.spark.rules import plain_rules
from dovetail.engines.spark_stream import query as running
from dovetail.engines.spark_stream.checkpoint import NO_CHECKPOINT
from dovetail.engines.spark_stream.dataflow import (
    Merged,
    frames_of,
    lines_by_turns,
    merged_frames,
    numbered_counters,
    times_by_turns,
)
from dovetail.engines.spark_stream.feeds import BATCH_TIME
from dovetail.engines.spark_stream.firing import rows_alone
from dovetail.engines.spark_stream.late import Sinks
from dovetail.engines.spark_stream.outlets import AnyOutlet
from dovetail.engines.spark_stream.row_time import ROW_BY_ROW, Source
from dovetail.engines.spark_stream.ways import (
    GIVEN_PLACE,
    Riders,
    Sql,
    by_sql,
    gathered,
    in_sql,
)
from dovetail.errors import SpecError
from dovetail.kernels.arrays.names import CLOCK, PLACE, TURN, LineKind
from dovetail.kernels.keeping.lines import KIND, NOW
from dovetail.plan import flow as planned
from dovetail.plan import words
from dovetail.plan.features import FlowLimit
from dovetail.plan.nested import TIME
from dovetail.plan.stream import Feed, StreamPlan
from dovetail.plan.ways import Fired, Path
from dovetail.schema import Column, Schema, quoted

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


class FlowQuery(Protocol):
    """A query of a program: the streams that come out of it, its plan, its start."""

    tells_late: ClassVar[bool]
    """Whether rows can be late for its streams, and have a sink then."""

    @property
    def takes_partitions(self) -> bool:
        """Tells whether it has state, of which partitions can be asked for."""

    @property
    def names(self) -> tuple[str, ...]:
        """Returns the names of the streams that come out of it."""

    @property
    def plans(self) -> tuple[StreamPlan, ...]:
        """Returns the plans of its joins, but those that only rows tell."""

    def explained(self) -> str:
        """Returns its plan in words, after Spark has been asked."""

    def frame(self, name: str, /) -> DataFrame:
        """Returns the rows of one of its streams."""

    def refuse_finish(self) -> None:
        """Refuses an end that operators would have to hear where they cannot."""

    def start(self, sinks: Sinks, how: running.Start, /) -> StreamingQuery:
        """Returns the running query that writes its streams."""


@dataclass(frozen=True, slots=True)
class ProgramRows:
    """The rows of a program's inputs, and how they come to joins and to what comes out.

    Rows go along with their times and places, and lines by turns with their turns too.
    """

    program: spec.Program
    sources: Mapping[str, Source]

    @property
    def spark(self) -> SparkSession:
        """Returns the session that all rows are of, as Spark has it of one query."""
        return self.frame(next(iter(self.sources))).sparkSession

    def query(self, query: planned.Query) -> FlowQuery:
        """Returns a query of the plan with its rows."""
        match query:
            case planned.PlainQuery():
                return PlainStreaming(query, self)
            case planned.TurnQuery():
                return TurnStreaming(query, self)
            case planned.TailQuery():
                return TailStreaming(query, self)
            case planned.JoinQuery():
                return JoinStreaming(query, self)

    def leaf(
        self, name: str, paths: tuple[Path, ...], schema: Schema
    ) -> tuple[spec.Input, Feed]:
        """Returns the rows of a side as an input of a name, and how they come."""
        rows = [self.sources[name] for path in paths for name in path.inputs]
        # What one of the rows lacks none has: they run together on the side.
        columns = _carried(rows)
        is_timed = TIME in columns
        place = quoted(GIVEN_PLACE) if GIVEN_PLACE in columns else ""
        stamps = [one.source.schema[one.source.time] for one in rows if is_timed]
        time = [Column(TIME, one.type) for one in stamps[:1]]
        source = spec.Input(
            name,
            spec.InputKind.STREAM,
            Schema((*schema.columns, *time)),
            time=TIME if is_timed else "",
            lateness=_longest(one.source.lateness for one in rows),
        )
        idle = _longest(one.feed.idle for one in rows)
        if all(one.feed.sequence for one in rows):
            return source, Feed(sequence=place, idle=idle)
        return source, Feed(order=place, idle=idle)

    def streaming(self, query: planned.JoinQuery) -> running.Streaming:
        """Returns the joins of a query with their frames."""
        # The kernels refuse here what they cannot read.
        stream_settings(query.plan)
        with plain_rules(self.spark):
            frames = frames_of(
                query.plan,
                lambda name: self.gathered(query.paths[name], query.ranks),
            )
        return running.Streaming(query.plan, frames)

    def gathered(
        self, paths: Sequence[Path], ranks: int, ends: running.Ends = None
    ) -> DataFrame:
        """Returns the rows that come on some ways, with their times and places.

        Where inputs may end operators hear of it, behind all rows.
        """
        rows = [self.sources[name] for path in paths for name in path.inputs]
        columns = _carried(rows)
        place = GIVEN_PLACE if GIVEN_PLACE in columns else ""
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

    def line(self, name: str) -> DataFrame:
        """Returns the rows of an input as lines that go by turns."""
        feed = self.sources[name].feed
        told = {PLACE: feed.place, CLOCK: BATCH_TIME}
        if not feed.sequence:
            # Rows of two streams may have one number: the stream then decides.
            told[TURN] = f"X'01{sorted(self.sources).index(name):04X}'"
        return lines_by_turns(self.frame(name), self._columns(name), told)

    def _given(self, name: str, columns: Sequence[str]) -> DataFrame:
        """Returns the rows of an input, with columns of ours that go along."""
        rows = self.sources[name]
        carried = {
            TIME: quoted(rows.source.time),
            GIVEN_PLACE: rows.feed.place,
            KIND: f"{int(LineKind.ROW)}",
            NOW: BATCH_TIME,
        }
        # Beside them the user's own columns, which the text does not name, stay behind.
        ours = (F.expr(carried[one]).alias(one) for one in columns)
        return self.frame(name).select(*map(quoted, self._columns(name)), *ours)

    def frame(self, name: str) -> DataFrame:
        """Returns the rows of an input as they were given."""
        frame = self.sources[name].frame
        assert isinstance(frame, DataFrame)  # noqa: S101 - as they were given
        return frame

    def _columns(self, name: str) -> tuple[str, ...]:
        """Returns the columns of an input that the text names."""
        givens = spec.givens_of(self.program)
        return next(one.schema for one in givens if one.input == name).names


@dataclass(frozen=True, slots=True)
class PlainStreaming:
    """A stream that comes out without a join."""

    query: planned.PlainQuery
    rows: ProgramRows
    tells_late: ClassVar[bool] = False
    takes_partitions: ClassVar[bool] = False
    plans: ClassVar[tuple[StreamPlan, ...]] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """Returns the name of the stream."""
        return (self.query.name,)

    def explained(self) -> str:
        """Returns its plan in words, after Spark has been asked."""
        self._shown()
        keeps = any(path.keeps_rows for path in self.query.paths)
        return words.paragraphs([("engine", _KEEPING if keeps else ROW_BY_ROW)])

    def frame(self, _: str) -> DataFrame:
        """Returns the rows of the stream."""
        return self._shown()

    def refuse_finish(self) -> None:
        """Refuses nothing: what is no join can end."""

    def start(self, sinks: Sinks, how: running.Start) -> StreamingQuery:
        """Returns the running query that writes the stream."""
        return running.start_alone(
            self.rows.spark,
            self._shown,
            sink=sinks.rows[self.query.name],
            how=how.ending_by_itself,
            hears_ends=how.finish is not None and _hears_ends(self.query.paths),
        )

    def _shown(self, ends: running.Ends = None) -> DataFrame:
        """Returns the rows of the stream."""
        first = self.query.paths[0].inputs[0]
        with plain_rules(self.rows.frame(first).sparkSession):
            rows = self.rows.gathered(self.query.paths, self.query.ranks, ends)
            return _shown(self.query.schema, rows)


@dataclass(frozen=True, slots=True)
class TurnStreaming:
    """A stream whose rows go by turns: of joins, and of inputs."""

    query: planned.TurnQuery
    rows: ProgramRows
    tells_late: ClassVar[bool] = False

    @property
    def names(self) -> tuple[str, ...]:
        """Returns the name of the stream."""
        return (self.query.name,)

    @property
    def plans(self) -> tuple[StreamPlan, ...]:
        """Returns the plans of the joins."""
        return self.query.plans

    @property
    def takes_partitions(self) -> bool:
        """Tells whether one of its ways is a join."""
        return bool(self.plans)

    def explained(self) -> str:
        """Returns its plan in words, after Spark has been asked."""
        self.frame(self.query.name)
        every = [words.explained(it, _reads_all) for it in self.query.plans]
        lines = [("beside it", _TURNS)]
        sources = self.rows.sources
        if not all(sources[name].feed.sequence for name in self.query.inputs):
            lines.append(("their order", _BY_NUMBERS))
        return "\n\n".join([*every, words.paragraphs(lines)])

    def frame(self, _: str) -> DataFrame:
        """Returns the rows of the stream."""
        with plain_rules(self.rows.spark):
            rows, joins = self._merged()
            lines = (it.lines(NO_CHECKPOINT, (), numbered_counters()) for it in joins)
            return self._shown(rows, [own for own, _ in lines])

    def refuse_finish(self) -> None:
        """Refuses an end that an operator beside a join would have to hear."""
        ways = chain(self.query.paths, *self.query.sides.values())
        _refuse_finish(self.query.name, self.plans, ways)

    def start(self, sinks: Sinks, how: running.Start) -> StreamingQuery:
        """Returns the running query that writes the stream."""
        with plain_rules(self.rows.spark):
            rows, joins = self._merged()
        sink, shown = sinks.rows[self.query.name], partial(self._shown, rows)
        if not joins:
            return running.start_plain(shown([]), sink, how.ending_by_itself)
        return running.start_turns(joins, shown, sink=sink, how=how.ending_by_itself)

    def _merged(self) -> tuple[Merged, Sequence[running.Streaming]]:
        """Returns the rows that come out by turns, and the joins that they are of."""
        times = None
        if self.query.looks_at_time:
            beat = ticks(self.rows.spark, SECONDS)
            times = times_by_turns(beat, {CLOCK: BATCH_TIME})
        for plan in self.query.plans:
            stream_settings(plan)
        rows = merged_frames(self.query, self.rows.line, times)
        joins = zip(self.query.plans, rows.frames, strict=True)
        return rows, [running.Streaming(*one) for one in joins]

    def _shown(self, rows: Merged, joins: Sequence[DataFrame]) -> DataFrame:
        """Returns the rows among the lines of all ways, of what joins hand on."""
        lines = rows.lines(joins).where(F.col(KIND) == int(LineKind.ROW))
        return _shown(self.query.schema, lines)


@dataclass(frozen=True, slots=True)
class TailStreaming:
    """A stream that comes out behind operators that keep rows of a join."""

    query: planned.TailQuery
    rows: ProgramRows
    tells_late: ClassVar[bool] = False
    takes_partitions: ClassVar[bool] = True

    @property
    def names(self) -> tuple[str, ...]:
        """Returns the name of the stream."""
        return (self.query.name,)

    @property
    def plans(self) -> tuple[StreamPlan, ...]:
        """Returns the plan of the last join."""
        return (self.query.joins.plan,)

    def explained(self) -> str:
        """Returns its plan in words, after Spark has been asked."""
        self.frame(self.query.name)
        return _explained(self.query.joins.plan, keeps_rows=True)

    def frame(self, _: str) -> DataFrame:
        """Returns the rows of the stream."""
        streaming = self.rows.streaming(self.query.joins)
        rows = streaming.rows()
        with plain_rules(streaming.spark):
            return _shown(self.query.schema, rows)

    def refuse_finish(self) -> None:
        """Refuses an end that an operator beside a join would have to hear."""
        ways = chain(*self.query.joins.paths.values())
        _refuse_finish(self.query.name, self.plans, ways)

    def start(self, sinks: Sinks, how: running.Start) -> StreamingQuery:
        """Returns the running query that writes the stream."""
        return running.start_tail(
            self.rows.streaming(self.query.joins),
            partial(_shown, self.query.schema),
            sink=sinks.rows[self.query.name],
            how=how.ending_by_itself,
        )


@dataclass(frozen=True, slots=True)
class JoinStreaming:
    """The streams that come out of a last join by its outlets."""

    query: planned.JoinQuery
    rows: ProgramRows
    tells_late: ClassVar[bool] = False
    takes_partitions: ClassVar[bool] = True

    @property
    def names(self) -> tuple[str, ...]:
        """Returns the names of the streams."""
        return tuple(one.name for one in self.query.exits)

    @property
    def plans(self) -> tuple[StreamPlan, ...]:
        """Returns the plan of the last join."""
        return (self.query.plan,)

    def explained(self) -> str:
        """Returns its plan in words, after Spark has been asked."""
        self.rows.streaming(self.query).lay()
        ways = chain(*self.query.paths.values())
        keeps = any(one.keeps_rows for one in ways)
        return _explained(self.query.plan, keeps_rows=keeps)

    def frame(self, name: str) -> DataFrame:
        """Returns the rows of one of the streams."""
        # Other streams of the query come out of it too, and are not asked for here.
        (out,) = (one for one in self.query.exits if one.name == name)
        outlet = self.rows.streaming(self.query).frame(out.outlet)
        return _leaving(out).rows(outlet)

    def refuse_finish(self) -> None:
        """Refuses an end that an operator beside a join would have to hear."""
        ways = chain(*self.query.paths.values())
        _refuse_finish(self.names[0], self.plans, ways)

    def start(self, sinks: Sinks, how: running.Start) -> StreamingQuery:
        """Returns the running query that writes the streams."""
        exits = self.query.exits
        outlets: dict[AnyOutlet, Sink] = {
            outlet: _Exits(
                tuple(
                    (_leaving(one), sinks.rows[one.name])
                    for one in exits
                    if one.outlet is outlet
                )
            )
            for outlet in {one.outlet for one in exits}
        }
        return running.start(self.rows.streaming(self.query), outlets, how)


def _explained(plan: StreamPlan, *, keeps_rows: bool) -> str:
    """Returns a plan in words, beside which operators may keep rows."""
    told = words.explained(plan, partial(reads_all, plan))
    beside = words.paragraphs([("beside it", _KEEPING)] if keeps_rows else [])
    return "\n".join(filter(None, (told, beside)))


def _reads_all(plan: StreamPlan) -> str:
    """Returns why a batch reads all that a join keeps whose rows go on."""
    return stream_settings(plan, ordered=True).reads_all


def _hears_ends(paths: Iterable[Path]) -> bool:
    """Tells whether an operator on some ways does something at the end."""
    changes = (it for path in paths for it in path.every_change)
    return any(isinstance(it, Fired) and it.looks_at_ends for it in changes)


def _refuse_finish(
    name: str, plans: Iterable[StreamPlan], paths: Iterable[Path]
) -> None:
    """Refuses an end that operators would have to hear behind joins, or before them."""
    # What becomes of a join's rows is a way too.
    joins = (one for plan in plans for one in plan.joins)
    onwards = (Path("", one.onward.changes) for one in joins)
    # An operator beside a join hears no end yet: it would keep what nobody lets go.
    if _hears_ends(chain(paths, onwards)):
        raise SpecError(
            f"finish=.. of {name}, where an operator beside a join waits for the end",
            "none: it goes on for ever",
            "code that hears the final mark, and a sliding Sort, can end where no join "
            "is before or behind them: give their rows as an input of that name",
        )


def _ending(rows: DataFrame, ranks: int, *, ends: bool) -> DataFrame:
    """Returns the lines of an input, behind which its end stands when all ends."""
    # The greatest place that has room for all ways of a row.
    last = (2**63 - 1) // ranks - 1
    said = {KIND: f"{int(LineKind.FINISH)}", GIVEN_PLACE: f"{last}L", NOW: BATCH_TIME}
    types = {one.name: one.dataType for one in rows.schema}
    beats = ticks(rows.sparkSession, NO_BEAT, ends=ends)
    values = (
        F.expr(said.get(one, "NULL")).cast(types[one]).alias(one) for one in types
    )
    return rows.unionAll(beats.select(*values))


def _carried(rows: Sequence[Source]) -> tuple[str, ...]:
    """Returns the columns of ours that rows have beside their own: time, and place."""
    # Rows of several inputs are put together by places: all have it, or none.
    found = [TIME] if all(one.source.is_timed for one in rows) else []
    if all(one.feed.sequence for one in rows) or all(one.feed.order for one in rows):
        found.append(GIVEN_PLACE)
    return tuple(found)


def _longest(lengths: Iterable[spec.Span]) -> spec.Span:
    """Returns the longest of some lengths of time."""
    return max(lengths, key=lambda span: (span.months, span.microseconds))


def _shown(schema: Schema, rows: DataFrame) -> DataFrame:
    """Returns rows with the columns that come out."""
    return rows.select(*map(quoted, schema.names))


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
            prepare(sink, out.rows(rows), is_new=is_new)

    def write(self, rows: DataFrame, batch: int, *, is_empty: bool) -> None:
        """Writes a batch into each of the sinks."""
        for out, sink in self.parts:
            sink.write(out.rows(rows), batch, is_empty=is_empty)
