"""Streams in row time as lines: rows, and how far their time has come.

    input  --> lines --> filtered, projected --> in row time, windows --> lines --> rows
    joins  --> lines ----^

A line has the columns of its step and four of ours: what it is, a moment, of which
input it is, and where it stands. So each step takes and gives the same, and only what
comes out, or is a side of a join, is rows alone.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial, reduce
from itertools import count
from typing import Any, ClassVar, Generic, Protocol, TypeVar

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - Spark's own name for it
from pyspark.sql.streaming.query import StreamingQuery

from dovetail import spec
from dovetail.bind.tick import ENDED, NO_BEAT, SECONDS, ticks
from dovetail.engines.kernel_settings import reads_all
from dovetail.engines.spark.rules import plain_rules
from dovetail.engines.spark.values import as_json
from dovetail.engines.spark_stream.checkpoint import NO_CHECKPOINT, Checkpoint
from dovetail.engines.spark_stream.dataflow import COUNTERS
from dovetail.engines.spark_stream.feeds import SOURCE_PART, kind_of
from dovetail.engines.spark_stream.firing import Riding, fired_in_time
from dovetail.engines.spark_stream.late import Sinks
from dovetail.engines.spark_stream.outlets import AnyOutlet
from dovetail.engines.spark_stream.query import (
    Ends,
    Start,
    Streaming,
    buckets_of,
    start_in_row_time,
    start_outlets,
)
from dovetail.engines.spark_stream.ways import changed
from dovetail.errors import UnsupportedError
from dovetail.kernels.arrays.names import LineKind, reserved
from dovetail.kernels.arrays.rows import BEGINNING, NEVER
from dovetail.kernels.keeping.lines import KIND
from dovetail.kernels.row_order import (
    BESIDE,
    CAME,
    GOING_BY,
    INPUT,
    MOMENT,
    NUMBER,
    PART,
    RIDING,
    RowOrder,
)
from dovetail.plan import words
from dovetail.plan.stream import Feed, StreamPlan, within
from dovetail.plan.ways import Fired, Onward, RowChange, change_of
from dovetail.schema import Schema, quoted

# Single nodes: what comes out is read on a Connect server, and modules go along whole.
from dovetail.spec.inputs import Outlet

ROW_BY_ROW = "stream: by Spark itself, row by row, without state"
"""How a stream is made of which nothing is kept, in words."""
_IN_ORDER = (
    "in front of windows and unions rows wait until no earlier one can come: one task "
    "has all that come to it; late rows are counted as dovetail.join.late"
)
_BY_KEYS = (
    "but the last windows, or groups, have several tasks: each has some of their "
    "partitions or groups; what is due at once comes out in any order"
)
LATE = f"{COUNTERS}.late"
"""The name under which Spark observes how many rows were late, a number behind it."""


_AS_THEY_COME = Feed()
_BY_TIME = Feed(sequence=MOMENT)
"""How rows come that stand in row time already, whatever the name of their time."""


@dataclass(frozen=True, slots=True)
class TimedRows:
    """Rows of a step as a side of a join: their time, how they come and how late."""

    frame: DataFrame
    time: str
    feed: Feed = _AS_THEY_COME
    lateness: spec.Span = spec.NO_TIME

    @property
    def own(self) -> DataFrame:
        """Returns the rows without columns of ours."""
        return self.frame.drop(KIND, NUMBER, BESIDE, SOURCE_PART)


@dataclass(frozen=True, slots=True)
class Lines:
    """Lines of a step, and by how much each of the inputs among them may be late.

    How far those that are `told` have come several tasks tell. Some hold others back
    only until they have been silent for longer than their `idle`. Rows that a step has
    looked at alone still come as their input says, by the `feed`, and from lasting
    `parts` of it. Some have no order among those of a batch: `unordered`.
    """

    frame: DataFrame
    lateness: Mapping[str, spec.Span]
    told: frozenset[str] = frozenset()
    idle: Mapping[str, int] = field(default_factory=dict)
    feed: Feed = _AS_THEY_COME
    unordered: bool = False
    parts: bool = False

    def timed(self, time: str, *, tells_late: bool = False) -> TimedRows:
        """Returns the rows with the bounds among them, and what is known of them.

        What several tasks tell is no bound of all: then it is rows alone. Where
        somebody `tells_late` rows, those of the steps so far go by beside them.
        """
        is_numbered = not self.told and self.feed not in (_AS_THEY_COME, _BY_TIME)
        number = (NUMBER,) if is_numbered else ()
        own = [it for it in self.frame.columns if it not in {*RIDING, CAME}]
        kind, moment = F.col(KIND), F.col(MOMENT)
        is_row, beside = kind == int(LineKind.ROW), list[Column]()
        if tells_late:
            goes_by = kind.isin(*GOING_BY)
            beside = [F.when(goes_by, F.struct(KIND, MOMENT, CAME)).alias(BESIDE)]
            is_row |= goes_by
        if self.told or not time:
            rows = self.frame.where(is_row)
            feed = self.feed if number else _AS_THEY_COME
            own_columns = map(quoted, (*own, *number))
            return TimedRows(rows.select(*own_columns, *beside), time, feed)
        is_bound = (kind == int(LineKind.BOUND)) & (moment > int(BEGINNING))
        lateness = max(
            self.lateness.values(), key=lambda span: (span.months, span.microseconds)
        )
        is_passed = (kind == int(LineKind.PASSED)) & moment.isNotNull()
        lines = self.frame.where(is_row | is_bound | is_passed)
        # A row that a filter leaves out has been seen all the same.
        ago = f"INTERVAL {lateness.months} MONTHS - INTERVAL {lateness.microseconds}"
        reached = F.expr(f"timestamp_micros({MOMENT}) - {ago} MICROSECONDS")
        told = F.timestamp_micros(moment)
        at = F.when(is_row, F.col(quoted(time))).otherwise(
            F.when(is_passed, reached).otherwise(told).cast(lines.schema[time].dataType)
        )
        known = F.when(is_row, kind).otherwise(int(LineKind.BOUND)).alias(KIND)
        columns = (at.alias(it) if it == time else F.col(quoted(it)) for it in own)
        feed = replace(self.feed, bounds=f"{KIND} = {int(LineKind.BOUND)}")
        if self.feed == _BY_TIME:
            # As of rows of a join in row time, whose place beside others nobody asks.
            feed = replace(feed, sequence=f"unix_micros({quoted(time)})")
        if self.parts:
            feed = replace(feed, part=SOURCE_PART)
            part = F.substring_index(INPUT, PART, -1).cast("bigint")
            beside.append(part.alias(SOURCE_PART))
        seen = lines.select(*columns, known, *number, *beside)
        return TimedRows(seen, time, feed, lateness)


@dataclass(slots=True)
class StepLayout:
    """How the steps of one query are laid out, and what joins there are among them.

    Where inputs can end they have a source more, which says when they do. Where
    somebody `tells_late` rows each goes with what it was as it came, and late ones are
    lines too. Of the operator `spread` the keys are spread over buckets. State gets so
    many `partitions`; 0: what there is room for.
    """

    checkpoint: Checkpoint = NO_CHECKPOINT
    ends: Ends = None
    joins: list[str] = field(default_factory=list)
    tables: int = 0
    numbers: count[int] = field(default_factory=count)
    tells_late: bool = False
    spread: spec.Windowed | spec.Coded | None = None
    partitions: int = 0
    beside: list[Lines] = field(default_factory=list)
    """Of which steps beside the stream failed rows are told with those of it."""

    @property
    def riding(self) -> tuple[str, ...]:
        """Returns the columns of ours that lines have."""
        return (*RIDING, CAME) if self.tells_late else RIDING

    def given(self, source: spec.Input, feed: Feed, frame: DataFrame) -> Lines:
        """Returns the rows of an input as lines."""
        time = f"unix_micros({quoted(source.time)})" if source.is_timed else "NULL"
        kind = kind_of("", feed.bounds) if feed.bounds else f"{int(LineKind.ROW)}"
        name = F.lit(source.name)
        if feed.part:
            name = F.concat(name, F.lit(PART), F.expr(feed.part).cast("string"))
        said = {
            KIND: F.expr(kind),
            MOMENT: F.expr(f"CAST({time} AS BIGINT)"),
            INPUT: name,
            NUMBER: F.expr(feed.place),
        }
        own = source.schema.names
        if self.tells_late:
            said[CAME] = as_json(F.struct(*map(quoted, own)))
        with plain_rules(frame.sparkSession):
            lines = frame.select(*map(quoted, own), *_named(said))
            beat = NO_BEAT if feed.idle == spec.NO_TIME else SECONDS
            if self.ends is not None or beat:
                lines = lines.unionAll(self._beaten(lines, source.name, beat))
        idle = {source.name: feed.idle.microseconds} if beat else {}
        comes = _AS_THEY_COME
        if feed.number:
            comes = Feed(sequence=NUMBER) if feed.sequence else Feed(order=NUMBER)
        late = {source.name: source.lateness}
        return Lines(lines, late, idle=idle, feed=comes, parts=bool(feed.part))

    def changed(
        self, lines: Lines, step: spec.Filtered | spec.Projected | spec.Tried
    ) -> Lines:
        """Returns lines as a step makes them that looks at each row alone."""
        if isinstance(step, spec.Tried):
            return self.tried(lines, step)
        with plain_rules(lines.frame.sparkSession):
            riding = Riding(self.riding, (NUMBER,), passes_on=True)
            frame = changed(lines.frame, [change_of(step)], riding)
        return replace(lines, frame=frame)

    def unfolded(self, lines: Lines, step: spec.Unfolded) -> Lines:
        """Returns a line for each item of the lists of rows; without one it goes by."""
        item = reserved("item")
        with plain_rules(lines.frame.sparkSession):
            # Outer: else a line without a list would be lost, and with it how far time
            # is.
            every = lines.frame.withColumn(
                item, F.explode_outer(F.col(quoted(step.column)))
            )
            is_row = F.col(KIND) == int(LineKind.ROW)
            passed = F.lit(int(LineKind.PASSED))
            kind = F.when(is_row & F.col(item).isNull(), passed).otherwise(F.col(KIND))
            own = [F.col(item).getField(name).alias(name) for name in step.schema.names]
            beside = [F.col(name) for name in self.riding if name != KIND]
            frame = every.select(*own, kind.alias(KIND), *beside)
        return replace(lines, frame=frame)

    def appended(self, parts: Sequence[Lines]) -> Lines:
        """Returns the lines of several steps together."""
        lateness = {name: it for part in parts for name, it in part.lateness.items()}
        frames = (part.frame for part in parts)
        told = frozenset[str]().union(*(part.told for part in parts))
        idle = {name: it for part in parts for name, it in part.idle.items()}
        return Lines(reduce(DataFrame.unionAll, frames), lateness, told, idle)

    def tried(self, lines: Lines, step: spec.Tried) -> Lines:
        """Returns the same lines, and beside rows that have failed that they have."""
        if not self.tells_late:
            return lines
        row, failed = int(LineKind.ROW), int(LineKind.FAILED)
        fails = F.coalesce(F.expr(step.failed.text), F.lit(0) == 1)
        both = F.array(F.lit(row), F.lit(failed))
        kinds = F.when((F.col(KIND) == row) & fails, both).otherwise(F.array(KIND))
        own = step.schema.names
        with plain_rules(lines.frame.sparkSession):
            seen = lines.frame.alias("l")
            every = seen.select(
                *map(quoted, own),
                F.explode(kinds).alias(KIND),
                *(name for name in RIDING if name != KIND),
                F.coalesce(CAME, as_json(F.struct(*map(quoted, own)))).alias(CAME),
            )
        return replace(lines, frame=every)

    def retimed(self, lines: Lines, step: spec.Retimed) -> Lines:
        """Returns the rows of a step; of the time they had only its end is left."""
        name = f"step {next(self.numbers)}"
        kind, moment = F.col(KIND), F.col(MOMENT)
        is_end = (kind == int(LineKind.FINISH)) | (
            (kind == int(LineKind.BOUND)) & (moment == int(NEVER))
        )
        own = step.schema.names
        with plain_rules(lines.frame.sparkSession):
            stays = kind.isin(int(LineKind.ROW), *GOING_BY)
            frame = lines.frame.where(stays | is_end)
            said = {
                KIND: F.when(is_end, int(LineKind.FINISH)).otherwise(kind),
                INPUT: F.lit(name),
            }
            if step.number and not lines.unordered:
                said[NUMBER] = F.col(quoted(step.number))
            if self.tells_late:
                # What windows have made comes as it is here.
                made = as_json(F.struct(*map(quoted, own)))
                said[CAME] = F.coalesce(CAME, made)
            frame = frame.withColumns(said)
            # A join in the order of arrival says of no bound when it has ended.
            if step.number and self.ends is not None:
                frame = frame.unionAll(self._beaten(frame, name, NO_BEAT))
        return Lines(frame, {name: step.lateness})

    def _beaten(self, lines: DataFrame, name: str, beat: float) -> DataFrame:
        """Returns the lines that say of an input what time it is, and that it ends.

        It does in the last batch. Without a beat nothing says what time it is.
        """
        types = {one.name: one.dataType for one in lines.schema}
        said: dict[str, Column] = dict.fromkeys(types, F.lit(None))
        kind = F.when(F.col(ENDED), int(LineKind.FINISH)).otherwise(int(LineKind.BEAT))
        # A batch that comes again has the time that it had.
        now = F.when(~F.col(ENDED), F.unix_micros(F.current_timestamp()))
        said |= {KIND: kind, MOMENT: now, INPUT: F.lit(name)}
        # A source of its own: Spark takes no new one later, when all ends.
        beats = ticks(lines.sparkSession, beat, ends=bool(self.ends))
        values = (said[one].cast(types[one]).alias(one) for one in types)
        return beats.select(*values)

    def in_row_time(
        self,
        lines: Lines,
        order: spec.InRowTime,
        step: spec.Windowed | spec.Coded | None = None,
    ) -> Lines:
        """Returns lines in the order of row time, or what windows give of them."""
        number = next(self.numbers)
        name = f"step {number}"
        rows = RowOrder(order.time, lines.lateness, lines.told, order.by, lines.idle)
        buckets, spark = 1, lines.frame.sparkSession
        if step is not None and step is self.spread:
            buckets = buckets_of(spark, self.checkpoint, self.partitions)
        with plain_rules(spark):
            frame = fired_in_time(lines.frame, rows, step, name=name, buckets=buckets)
            is_late = F.col(KIND) == int(LineKind.LATE)
            if self.tells_late and step is not None:
                # A row that comes out of a window has not come as any.
                goes_by = F.col(KIND).isin(*GOING_BY)
                frame = frame.withColumn(CAME, F.when(goes_by, F.col(CAME)))
            # `follow` counts what a side has lost: all rows are on the left here.
            own = is_late & (F.col(INPUT) == name)
            late = F.count_if(own & F.col(MOMENT).isNotNull()).alias("left_late")
            failed = F.count_if(own & F.col(MOMENT).isNull()).alias("left_failed")
            # Numbered: in one query Spark wants a name of its own for each.
            frame = frame.observe(f"{LATE}{number}", late, failed)
        # Of several tasks each tells how far it has come.
        told = frozenset({name} if buckets > 1 else ())
        return Lines(frame, {name: spec.NO_TIME}, told, feed=_BY_TIME)

    def joined(
        self, streaming: Streaming, names: Sequence[str], ours: Collection[str] = ()
    ) -> Lines:
        """Returns the rows of a join with these columns, and how far it has come.

        What is `ours` of the columns no row has come with.
        """
        if streaming.is_wide:
            streaming = replace(streaming, partitions=self.partitions)
        place = self._copy_tables(streaming)
        number = next(self.numbers)
        # A source for the time, and for the end, where one of them is asked for.
        beats: tuple[DataFrame, ...] = ()
        if self.ends is not None or streaming.beats:
            beats = streaming.ticks(ends=bool(self.ends))
        # The first join has the name for which `follow` looks.
        counters = f"{COUNTERS}.{number}" if self.joins else COUNTERS
        rows, joins = streaming.lines(
            place, beats, counters, tells_late=self.tells_late
        )
        self.joins += joins
        name = f"join {number}"
        said = {
            KIND: F.col(KIND),
            MOMENT: F.col(MOMENT),
            INPUT: F.lit(name),
            NUMBER: F.lit(None).cast("bigint"),
        }
        # What the join passes on for others has no columns of its own.
        kinds = int(LineKind.ROW), int(LineKind.BOUND)
        frame = rows.where(F.col(KIND).isin(*kinds, *GOING_BY))
        if self.tells_late:
            shown = (quoted(it) for it in names if it not in ours)
            made = as_json(F.struct(*shown))
            is_row = F.col(KIND) == int(LineKind.ROW)
            said[CAME] = F.when(is_row, made).otherwise(F.col(CAME))
        frame = frame.select(*map(quoted, names), *_named(said))
        unordered = not streaming.plan.has_order
        told = frozenset({name})
        return Lines(frame, {name: spec.NO_TIME}, told, unordered=unordered)

    def _copy_tables(self, streaming: Streaming) -> Checkpoint:
        """Copies the tables of a join at the first start; returns where they lie.

        It is the checkpoint, or of further joins a folder in it.
        """
        found = streaming.tables
        if any(it.side.feed.refresh != spec.NO_TIME for it in found):
            told = "refresh of a table in a text of several steps"
            raise UnsupportedError.not_yet("stream", told)
        self.tables += bool(found)
        place = self.checkpoint
        if self.tables > 1 and place.path:
            place = replace(place, path=f"{place.path}/joins/{self.tables}")
        # A start that was cut off before its first batch copies them again.
        if place.path and place.is_new:
            for table in found:
                table.copy(place.path)
        return place


class Source(Protocol):
    """Rows of an input: their frame, what is known of them, and how they come."""

    @property
    def frame(self) -> Any:  # noqa: ANN401 - of rows that a join gives its sides'
        """Returns the rows."""

    @property
    def source(self) -> spec.Input:
        """Returns what is known of them."""

    @property
    def feed(self) -> Feed:
        """Returns how they come."""


AnySource = TypeVar("AnySource", bound=Source)


@dataclass(frozen=True, slots=True)
class Inputs(Generic[AnySource]):
    """The rows of a text's inputs, and how rows and joins are made of frames."""

    sources: Mapping[str, AnySource]
    rows: Callable[[TimedRows], AnySource]
    join: Callable[[spec.JoinSpec, Mapping[str, AnySource]], Streaming]

    @property
    def spark(self) -> SparkSession:
        """Returns the session of the rows."""
        frames = (one.frame for one in self.sources.values())
        return next(one.sparkSession for one in frames if isinstance(one, DataFrame))

    def lines(self, step: spec.Step, layout: StepLayout) -> Lines:
        """Returns the lines of a step."""
        match step:
            case spec.Given():
                one = self.sources[step.input]
                return layout.given(one.source, one.feed, one.frame)
            case (
                spec.Filtered(source=source)
                | spec.Projected(source=source)
                | spec.Tried(source)
            ):
                return layout.changed(self.lines(source, layout), step)
            case spec.Unfolded(source):
                return layout.unfolded(self.lines(source, layout), step)
            case spec.Appended(sources):
                return layout.appended([self.lines(one, layout) for one in sources])
            case spec.Retimed(source):
                return layout.retimed(self.lines(source, layout), step)
            case spec.InRowTime(source):
                return layout.in_row_time(self.lines(source, layout), step)
            case (
                spec.Windowed(source=spec.InRowTime(source) as order)
                | spec.Coded(source=spec.InRowTime(source) as order)
            ):
                return layout.in_row_time(self.lines(source, layout), order, step)
            case spec.Coded():
                return self.in_order_of_arrival(step, layout)
            case spec.JoinedInRowTime(schema=schema):
                return layout.joined(self.joined(step, layout), schema.names)
            case _:
                raise TypeError(step)

    def in_order_of_arrival(self, step: spec.Coded, layout: StepLayout) -> Lines:
        """Returns what code hands on of the rows of a join, in the order of arrival.

        It is an operator on the way on of the join's rows, which know their order.
        """
        first: spec.Step = step.source
        changes: list[RowChange] = [Fired(step)]
        while isinstance(first, spec.Filtered | spec.Projected):
            changes.insert(0, change_of(first))
            first = first.source
        assert isinstance(first, spec.JoinedInRowTime)  # noqa: S101 - as texts have it
        streaming = self.joined(first, layout)
        onward = Onward(changes=tuple(changes), told=first.change)
        plan = within(streaming.plan, onward)
        own = replace(streaming, plan=plan)
        return layout.joined(own, step.schema.names, step.code.variables.names)

    def joined(self, step: spec.JoinedInRowTime, layout: StepLayout) -> Streaming:
        """Returns a join whose inputs are steps; joins of tables are inside of it."""
        if layout.tells_late:
            layout.beside += [self.lines(one, layout) for one in step.tried]
        whole = spec.whole_join(step)
        if whole is None:
            sides = {one.name: self._side(one, layout) for one in step.inputs}
            return self.join(step.join, sides)
        return self.join(whole, self._leaves(step))

    def _leaves(self, step: spec.JoinedInRowTime) -> dict[str, AnySource]:
        """Returns the rows of all inputs of a join, and of the joins inside of it."""
        found = dict[str, AnySource]()
        for one in step.inputs:
            match one.step:
                case spec.Given(name):
                    found[one.name] = self.sources[name]
                case spec.Inline(schema):
                    found[one.name] = self.nothing(schema)
                case spec.JoinedInRowTime() as inner:
                    found |= self._leaves(inner)
                case other:
                    raise TypeError(other)
        return found

    def _side(self, one: spec.TimedInput, layout: StepLayout) -> AnySource:
        """Returns the rows of an input of a join."""
        match one.step:
            case spec.Given():
                return self.sources[one.step.input]
            case spec.Inline(schema):
                return self.nothing(schema)
            case step:
                keeps = spec.InRowTime | spec.JoinedInRowTime | spec.Coded | spec.Tried
                some = any(isinstance(it, keeps) for it in _steps(step))
                lines = self.lines(step, layout)
                tells_late = layout.tells_late and some
                return self.rows(lines.timed(one.time, tells_late=tells_late))

    def nothing(self, schema: Schema) -> AnySource:
        """Returns a data set without rows."""
        columns = (f"{quoted(it.name)} {it.type}" for it in schema.columns)
        nobody = self.spark.createDataFrame([], ", ".join(columns))
        return self.rows(TimedRows(nobody, ""))


@dataclass(frozen=True, slots=True)
class RowTimeQuery:
    """A stream in row time that comes out of a text, as a query of its own.

    A step of which two streams are made is in the query of each, with a state in each.
    """

    name: str
    step: spec.Step
    inputs: Inputs[Any]
    tells_late: ClassVar[bool] = True
    plans: ClassVar[tuple[StreamPlan, ...]] = ()
    """None: those of joins in row time are made of the frames of both sides."""

    @property
    def names(self) -> tuple[str, ...]:
        """Returns the name of the stream."""
        return (self.name,)

    def frame(self, _: str) -> DataFrame:
        """Returns the rows of the stream."""
        lines = self._lines(StepLayout(spread=self._spread))
        return self._outlets.frame(lines, Outlet.MATCHED)

    def refuse_finish(self) -> None:
        """Refuses nothing: all that keeps rows in row time hears an end."""

    @property
    def _spread(self) -> spec.Windowed | spec.Coded | None:
        """Returns the operator whose keys may be spread, if any.

        Behind it each row goes out by itself: nobody looks at the order of rows.
        """
        step = self.step
        while isinstance(step, spec.Filtered | spec.Projected):
            step = step.source
        match step:
            case (
                spec.Windowed(source=spec.InRowTime())
                | spec.Coded(source=spec.InRowTime())
            ) if step.apart:
                return step
            case _:
                return None

    @property
    def takes_partitions(self) -> bool:
        """Tells whether it keeps rows: else each goes by itself."""
        keeps = spec.InRowTime | spec.JoinedInRowTime | spec.Coded
        return any(isinstance(it, keeps) for it in _steps(self.step))

    @property
    def is_in_one_bucket(self) -> bool:
        """Tells whether it keeps rows, and no number of partitions spreads them."""
        steps = [*_steps(self.step)]
        if any(isinstance(it, spec.JoinedInRowTime) for it in steps):
            return False
        keeps = any(isinstance(it, spec.InRowTime | spec.Coded) for it in steps)
        return keeps and self._spread is None

    @property
    def _outlets(self) -> _Outlets:
        """Returns what comes out among the lines."""
        return _Outlets(self.name, self.step.schema.names)

    def _lines(self, layout: StepLayout) -> DataFrame:
        """Returns the lines of the stream."""
        # Connect reads a plan as soon as somebody asks for its schema.
        with plain_rules(self.inputs.spark):
            frame = self.inputs.lines(self.step, layout).frame
            layout.checkpoint.refuse_other(*layout.joins)
            types = {one.name: one.dataType for one in frame.schema}
            for failed in (one.frame for one in layout.beside):
                # Of their own columns nobody asks, but what they were as they came.
                only = failed.where(F.col(KIND) == int(LineKind.FAILED))
                columns = (
                    F.col(name) if name in layout.riding else F.lit(None).cast(kind)
                    for name, kind in types.items()
                )
                named = zip(types, columns, strict=True)
                told = only.select(*(it.alias(name) for name, it in named))
                frame = frame.unionAll(told)
            return frame

    def start(self, sinks: Sinks, how: Start) -> StreamingQuery:
        """Returns the running query that writes the stream, and perhaps late rows."""
        into = sinks.of(self.name)
        tells_late = Outlet.LATE in into
        # What keeps rows knows which of them are late.
        if not self.takes_partitions:
            # Row by row: nothing waits for an end, and casts alone can have failed.
            lines = self._lines(StepLayout(tells_late=tells_late))
            now = how.ending_by_itself
            return start_outlets(lines, self._outlets, into, how=now)

        def rows(checkpoint: Checkpoint, ends: Ends) -> DataFrame:
            layout = StepLayout(checkpoint, ends, tells_late=tells_late)
            layout.spread, layout.partitions = self._spread, how.partitions
            return self._lines(layout)

        givens = (it.input for it in _steps(self.step) if isinstance(it, spec.Given))
        feeds = (self.inputs.sources[name].feed for name in givens)
        return start_in_row_time(
            self.inputs.spark,
            rows,
            batches=self._outlets,
            sinks=into,
            how=how,
            beats=any(feed.idle != spec.NO_TIME for feed in feeds),
        )

    def explained(self) -> str:
        """Returns the plan of the stream in words, after Spark has been asked."""
        self.frame(self.name)
        # By identity: a step that two others take is told once.
        steps = [*{id(one): one for one in _steps(self.step)}.values()]
        told = []
        for one in steps:
            if isinstance(one, spec.JoinedInRowTime):
                plan = self.inputs.joined(one, StepLayout()).plan
                told.append(words.explained(plan, partial(reads_all, plan)))
        if any(isinstance(one, spec.InRowTime) for one in steps):
            lines = [("row time", _IN_ORDER)]
            if self._spread:
                lines.append(("keys", _BY_KEYS))
            told.append(words.paragraphs(lines))
        return "\n".join(told or [words.paragraphs([("engine", ROW_BY_ROW)])])


@dataclass(frozen=True, slots=True)
class _Outlets:
    """The rows of a stream, and those that were late for it, among its lines."""

    name: str
    columns: tuple[str, ...]

    @property
    def every(self) -> tuple[AnyOutlet, ...]:
        """Returns both outlets."""
        return (Outlet.MATCHED, Outlet.LATE)

    def frame(self, results: DataFrame, outlet: AnyOutlet) -> DataFrame:
        """Returns the rows of one of them."""
        with plain_rules(results.sparkSession):
            if outlet is not Outlet.LATE:
                rows = results.where(F.col(KIND) == int(LineKind.ROW))
                return rows.select(*map(quoted, self.columns))
            reason = F.when(F.col(KIND) == int(LineKind.FAILED), "failed")
            reason = reason.when(F.col(MOMENT).isNull(), "null_time").otherwise("late")
            late = results.where(F.col(KIND).isin(*GOING_BY))
            return late.select(
                F.lit(self.name).alias("stream"),
                reason.alias("reason"),
                F.timestamp_micros(MOMENT).alias("row_time"),
                F.col(CAME).alias("row"),
            )

    def has_rows(self) -> list[str]:
        """Returns whether there are rows of each."""
        kinds = (int(LineKind.ROW),), GOING_BY
        every = (", ".join(map(str, some)) for some in kinds)
        return [f"count_if({KIND} IN ({some})) > 0" for some in every]


def _steps(step: spec.Step) -> Iterator[spec.Step]:
    """Yields a step and all in front of it."""
    for source in spec.sources_of(step):
        yield from _steps(source)
    yield step


def _named(columns: Mapping[str, Column]) -> list[Column]:
    """Returns columns under their names."""
    return [column.alias(name) for name, column in columns.items()]
