"""Rows with what a join must know of them: their time, their order, their window."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from pyspark.sql import DataFrame, SparkSession

from dovetail import spec
from dovetail.api import choices, inputs, sets, terms
from dovetail.api.flows import Flow, JoinedQuery, flow_of
from dovetail.api.joined import Joined, met_once, streaming_of
from dovetail.api.outputs import Outputs
from dovetail.api.sets import Together
from dovetail.bind.failures import is_unsteady, refused_by_spark
from dovetail.bind.files import tuples
from dovetail.bind.files.tuple_sinks import text_sinks
from dovetail.bind.kafka import Topic
from dovetail.bind.schemas import frame_given, refusing_beyond, schema_of
from dovetail.bind.tick import counted
from dovetail.dialects import sql as dialects
from dovetail.dialects.spl import Translation, translate
from dovetail.engines import spark_program
from dovetail.engines.spark.functions import register_functions
from dovetail.engines.spark.rules import pinned, plain_rules
from dovetail.engines.spark_stream.dataflow import Frames
from dovetail.engines.spark_stream.row_time import Inputs, RowTimeQuery, TimedRows
from dovetail.errors import SchemaError, SpecError
from dovetail.expression import Expression
from dovetail.expression.changing import is_for_engine
from dovetail.plan.lookups import NoLookup
from dovetail.plan.nested import renamed, under, unnested
from dovetail.plan.sides import input_of
from dovetail.plan.state import refuse_unbounded
from dovetail.plan.stream import Feed, feed_of_rows
from dovetail.schema import Schema, quoted
from dovetail.spec import arguments
from dovetail.spec.defaults import complete
from dovetail.spec.rules.texts import UNSTEADY

_COUNTED = "place"
_EXPECTED = "rows of dt.stream, dt.table or dt.dataset"
_USUAL = spec.Settings()


@dataclass(frozen=True, slots=True)
class Rows:
    """One side of a join to be: a DataFrame, its time, how it comes, and its window.

    Of rows that another join gives, `given_by`, the frames are those of its two sides.
    """

    frame: DataFrame | Frames
    source: spec.Input
    feed: Feed
    kept: spec.Window = spec.Unstated()
    per: tuple[str, ...] = ()
    leaves: spec.Eviction = spec.KeepPartitions()
    given_by: tuple[Joined, ...] = ()

    def __repr__(self) -> str:
        """Returns the rows in one line: their columns, time and window."""
        parts = [f"{self.source.kind.value} ({', '.join(self.source.schema.names)})"]
        facts = {
            "time": self.source.time,
            "key": ", ".join(self.source.key),
            "order": self.feed.order,
            "sequence": self.feed.sequence,
            "bounds": self.feed.bounds,
            "lookup": self.feed.lookup.in_words(),
            "refresh": ""
            if self.feed.refresh == spec.NO_TIME
            else self.feed.refresh.in_words(),
            "window": "" if self.kept == spec.Unstated() else repr(self.kept),
            "per": ", ".join(self.per),
            "evict": "" if self.leaves == spec.KeepPartitions() else repr(self.leaves),
        }
        parts += [f"{name} {fact}" for name, fact in facts.items() if fact]
        return ", ".join(parts).replace("\n", " ")

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> object:
            """Refuses what only a join, or a DataFrame, can be asked for."""
            hint = "the rows are a DataFrame: rows.frame; a join of them: rows.join(..)"
            raise arguments.missing("rows", name, dir(type(self)), hint)

    @arguments.public
    def window(
        self,
        window: spec.Window,
        *,
        per: str | Sequence[str] = (),
        evict_age: arguments.Length = "",
        evict_partitions: int = 0,
        evict_rows: int = 0,
    ) -> Rows:
        """Returns the same rows, alive as the window says, for each `per` apart.

        A partition, all rows of one `per`, leaves as a whole: without a new row for
        `evict_age`, or where there are more than so many partitions, or rows in all.
        """
        kept, schema = choices.window_given(window), self.source.schema
        if isinstance(kept, spec.Latest):
            arguments.columns("key", kept.key, schema, 'dt.latest("id")')
        # Names as the columns are spelled, whatever the case that a user writes.
        parts = arguments.columns("per", per, schema, 'per="customer"')
        leaves = choices.eviction_of(
            evict_age=evict_age,
            evict_partitions=evict_partitions,
            evict_rows=evict_rows,
        )
        return replace(self, kept=kept, per=parts, leaves=leaves)

    @arguments.public
    def join(
        self,
        other: Rows | Joined,
        *,
        on: str | Sequence[terms.Key] = (),
        where: str = "true",
        how: str = "inner",
        keep: int = 0,
        asof: spec.AsOf | spec.Unlimited = choices.EVERY,
        select: Mapping[str, str] | None = None,
        suffixes: tuple[str, str] = ("", ""),
        unmatched: str = "joined",
        unbounded: bool = False,
        at_end: bool = False,
    ) -> Joined:
        """Returns the join of these rows (`l`) with others (`r`); nothing runs yet.

        `on`: equal columns, or pairs of a left and a right name. `where`: a further
        condition in Spark SQL over `l` and `r`. `keep=3` gives the first three pairs of
        a left row, `asof=dt.asof(..)` the one nearest in time. `unmatched="outlet"`
        lets rows without a partner leave by their own outlet. `unbounded` allows state
        without a bound. `at_end`: streams are joined as DataFrames are, once both have
        ended.
        """
        given = dict(zip(spec.HANDS, (self, _rows_given(other)), strict=True))
        # Keys and conditions ask the kind: a cross join takes neither.
        kind, waits = terms.kind_named(how), arguments.truth("at_end", at_end)
        clock, sides = _on_one_clock(given, kind, waits=waits)
        _refuse_half_a_sequence({f"the {it.value} side": sides[it] for it in sides})
        schemas = {hand: side.source.schema for hand, side in sides.items()}
        keys = terms.keys_of(on, kind, schemas)
        condition = terms.condition_of(where, kind, schemas)
        columns = (
            terms.all_columns(schemas, kind, keys, suffixes)
            if select is None
            else terms.chosen(select, suffixes)
        )
        left, right = (
            spec.Side(
                _origin(side, hand),
                side.kept,
                tuple(Expression(quoted(name)) for name in side.per),
                side.leaves,
            )
            for hand, side in sides.items()
        )
        join = spec.JoinSpec(
            left,
            right,
            kind,
            clock,
            hard=tuple(spec.Equality.of_columns(*terms.pair(it)) for it in keys),
            soft=condition,
            select=columns,
            ports=terms.ports_of(unmatched, kind),
            picks=choices.picks_of(keep, asof),
        )
        return _checked(join, sides, unbounded=unbounded)

    @arguments.public
    def together(
        self,
        *others: Rows,
        on: str | Sequence[str] = (),
        select: Mapping[str, str],
        how: str = "inner",
        least: int = 0,
        most: int = 0,
        where: str = "true",
        having: str = "true",
        skip_when: str = "false",
        order: str | Sequence[str] = (),
    ) -> Together:
        """Returns the join of several sets: of each key the rows that stand together.

        One of these rows stands with one of every other set, if the columns `on` are
        equal; `how`: "inner", "left" or "anti" of these rows, or "some": so many sets
        have the key, at `least` and at `most`. `where`: a condition on neighbours, `l`
        and `r`; `having`: one on all rows, as in "ROWS_COUNT() > 2"; `order`: columns
        that they are sorted by. On streams rows come out once all have ended.
        """
        told = {
            "on": on,
            "select": select,
            "least": least,
            "most": most,
            "where": where,
            "having": having,
            "skip_when": skip_when,
            "order": order,
        }
        given = map(_set_given, (self, *others))
        return sets.joined_sets((*given,), how, told)


def _set_given(other: object) -> Rows:
    """Returns another set that a user gives, or refuses what is none."""
    if isinstance(other, Rows) and isinstance(other.feed.lookup, NoLookup):
        return other
    hint = 'write for example a.together(b, c, on="id", select={"id": "l.id"})'
    raise arguments.wrong("a set", other, _EXPECTED, hint)


def _checked(
    join: spec.JoinSpec,
    sides: Mapping[spec.Hand, Rows],
    *,
    unbounded: bool,
    words: Mapping[str, str] = terms.WORDS,
) -> Joined:
    """Returns a join of two sides with its windows written out, or refuses it."""
    inputs: dict[str, spec.Input] = {}
    for hand, side in sides.items():
        own: spec.Inputs = {hand.value: replace(side.source, name=hand.value)}
        for joined in side.given_by:
            # Rows of a join come from its own inputs, under names that are new here.
            own = under(hand.value, joined.request, joined.inputs)
        inputs |= own
    # Windows are written out first: what is refused below looks at them.
    join = complete(join, inputs)
    terms.refuse_terms(join, inputs)
    terms.check(join, inputs, spec.Settings(), words=words)
    # Of a batch Spark does all by itself; a stream is limited to what kernels can.
    if any(side.feed.streams for side in sides.values()):
        terms.refuse_on_streams(join, inputs)
    elif any(side.feed.refresh != spec.NO_TIME for side in sides.values()):
        raise SpecError(
            "refresh of a table beside no stream",
            "a stream on the other side",
            "ordinary DataFrames are read when the join is: leave refresh out",
        )
    if not arguments.truth("unbounded", unbounded):
        # Rows of a join inside count as those of an input, with a time and a window.
        flat, known = unnested(join, inputs)
        sources = {hand: input_of(flat, hand, known) for hand in spec.HANDS}
        refuse_unbounded(flat, sources)
    frames = {hand: side.frame for hand, side in sides.items()}
    feeds = {hand: side.feed for hand, side in sides.items()}
    return Joined(join, inputs, frames, feeds, rows_of)


def rows_of(joined: Joined) -> Rows:
    """Returns the rows that leave by `matched`; on streams they have a row time."""
    if not joined.is_streaming:
        return dataset(joined.matched)
    if joined.settings != spec.Settings():
        raise SpecError(
            "emit of a join whose rows go on to another one",
            "emit of the last join, whose rows come out",
            "a.join(b, ..).join(c, ..).emit(..)",
        )
    # The name of an input is given where it becomes a side of another join.
    source = spec.input_of(spec.Nested(joined.request, ""), joined.inputs, "")
    left, right = (joined.frames[hand] for hand in spec.HANDS)
    feed = feed_of_rows(joined.feeds, joined.request.clock)
    return Rows((left, right), source, feed, given_by=(joined,))


def _on_one_clock(
    given: Mapping[spec.Hand, Rows], kind: spec.Kind, *, waits: bool
) -> tuple[spec.Clock, Mapping[spec.Hand, Rows]]:
    """Returns the clock of a join of two sides, and these with the rows of joins on it.

    On that of row time rows of joins are planned anew. One that waits for the end of
    both is as a join of DataFrames.

    Beside a data set without a time a stream keeps its own where its rows go on, and
    where rows of the data set come out alone: they do so once the stream has ended, of
    which only the clock of row time knows.
    """
    if waits:
        return spec.Clock.BATCH, given
    timed = {hand: _by_row_time(side) for hand, side in given.items()}
    is_chain = any(side.given_by for side in given.values())
    clock = terms.clock_of(
        [side.kept for side in given.values()],
        timed=all(
            side.source.is_timed
            or (is_chain and _is_whole(side.source, side.feed))
            or (kind.preserves(hand) and not side.feed.streams)
            for hand, side in timed.items()
        ),
        streaming=any(side.feed.streams for side in given.values()),
    )
    return clock, timed if clock is spec.Clock.EVENT else given


def _by_row_time(rows: Rows) -> Rows:
    """Returns the rows of a stream and a data set on the clock of the stream's time."""
    for joined in rows.given_by:
        if joined.request.clock is not spec.Clock.ARRIVAL:
            return rows
        request = replace(joined.request, clock=spec.Clock.EVENT)
        # As if the join were written anew: would it be one in row time?
        windows = [request.side(hand).window for hand in spec.HANDS]
        is_timed = all(
            source.is_timed or _is_whole(source, joined.feeds[hand])
            for hand, source in spec.side_inputs(request, joined.inputs).items()
        )
        on_time = terms.clock_of(windows, timed=is_timed, streaming=True)
        if on_time is spec.Clock.EVENT:
            again = rows_of(replace(joined, request=request))
            return replace(again, kept=rows.kept, per=rows.per, leaves=rows.leaves)
    return rows


def _is_whole(source: spec.Input, feed: Feed) -> bool:
    """Tells whether rows are all there, whenever: a data set that does not stream."""
    return source.kind is spec.InputKind.DATASET and not feed.streams


def _origin(rows: Rows, hand: spec.Hand) -> spec.Named | spec.Nested:
    """Returns where rows come from, as a join names it that has them on a hand."""
    for joined in rows.given_by:
        inner = renamed(joined.request, hand.value)
        return spec.Nested(inner, hand.value, rows.source.key)
    return spec.Named(hand.value)


def _rows_given(other: object) -> Rows:
    """Returns the other side that a user gives, or refuses another thing."""
    if isinstance(other, Rows):
        return other
    if isinstance(other, Joined):
        return rows_of(other)
    hint = 'write for example orders.join(dt.stream(frame, time="paid_at"), on="id")'
    raise arguments.wrong("other", other, _EXPECTED, hint)


def _refuse_half_a_sequence(given: Mapping[str, Rows]) -> None:
    """Refuses a sequence of some streams only: it orders the rows of all."""
    feeds = {name: rows.feed for name, rows in given.items()}
    ordered = [name for name, one in feeds.items() if one.sequence]
    others = [name for name in feeds if feeds[name].streams and name not in ordered]
    if ordered and others:
        raise SpecError(
            f"{', '.join(ordered)} with a sequence, and {', '.join(others)} without",
            "sequence=... on all streams",
            "order=... is for a number that only one of them has",
        )


@arguments.public
def stream(
    frame: DataFrame | Topic,
    *,
    time: str = "",
    lateness: arguments.Length = "0 seconds",
    idle: arguments.Length = "",
    bounds: str = "",
    order: str = "",
    sequence: str = "",
) -> Rows:
    """Returns the rows of a stream, or of a topic, ready for `window` and `join`.

    `time`: the column of the row time. `lateness`: how far a row may come behind the
    newest and still count. `idle`: after how long a silence the stream no longer holds
    the other back. `bounds`: what is true of rows that only say how far the stream is:
    no row before their time comes any more. `order`: a number that tells rows of equal
    time apart; `sequence`: one that orders the rows of both sides.
    """
    rows, schema, riders = _given("frame", frame)
    source, feed = inputs.stream_given(
        schema,
        streams=rows.isStreaming,
        time=time,
        lateness=lateness,
        idle=idle,
        bounds=bounds,
        order=order,
        sequence=sequence,
    )
    _refuse_unreadable(rows, order or sequence)
    return Rows(rows, source, inputs.with_riders(feed, riders))


def _refuse_unreadable(rows: DataFrame, order: str) -> None:
    """Refuses an order that Spark refuses, whether or not a join will ask for it."""
    # Of rows that are only described there is nobody to ask.
    is_known = isinstance(rows, DataFrame)
    if not order or spec.plain_column(Expression(order)) or not is_known:
        return
    refused = refused_by_spark(
        f"Spark refuses the order of rows, {order}",
        "SQL over columns that is a whole number, of each row by itself",
        'order="offset" for example is the column of a number',
    )
    with plain_rules(rows.sparkSession), refused:
        # A condition takes no sums and no windows. Of its columns, which are those of
        # the rows, a client of Connect asks nobody: of none it does.
        _ = rows.where(f"({order}) IS NOT NULL").select().columns
        if is_for_engine(order):
            nothing, (found, *helps) = rows.limit(0).select(), UNSTEADY
            if is_unsteady(order, rows, nothing):
                raise SpecError(f"the order of rows, {order}, {found}", *helps)


def _given(
    name: str, given: DataFrame | Topic
) -> tuple[DataFrame, Schema, Mapping[str, str]]:
    """Returns the rows that a user gives, their columns, and what goes along."""
    if not isinstance(given, Topic):
        rows = pinned(frame_given(name, given))  # its expressions keep their own rules
        return rows, schema_of(rows), {}
    spark = session_at_work("a topic")
    return pinned(given.frame(spark)), given.columns(Schema(())), given.riders


@arguments.public
def table(
    frame: DataFrame | Topic,
    *,
    key: str | Sequence[str],
    time: str = "",
    order: str = "",
    refresh: arguments.Length = "",
) -> Rows:
    """Returns a table's rows: each is the newest version of its key, until the next.

    In a topic a record without a value takes its key out of the table. `refresh` is
    that of `dt.dataset`.
    """
    rows, schema, riders = _given("frame", frame)
    source, feed = inputs.table_given(
        schema,
        streams=rows.isStreaming,
        key=key,
        time=time,
        order=order,
        refresh=refresh,
    )
    kept = spec.Latest(source.key)
    _refuse_unreadable(rows, order)
    return Rows(rows, source, inputs.with_deletes(feed, riders), kept=kept)


@arguments.public
def dataset(
    frame: DataFrame, *, time: str = "", refresh: arguments.Length = ""
) -> Rows:
    """Returns rows that are all there from the start.

    Beside a stream they are copied at the first start; with `refresh` a later start
    copies them anew, so long after the last copy or more.
    """
    # A topic keeps coming: it is a stream, or a table.
    rows = pinned(frame_given("frame", frame))
    schema = schema_of(rows)
    given = inputs.dataset_given(
        schema, streams=rows.isStreaming, time=time, refresh=refresh
    )
    return Rows(rows, *given)


@arguments.public
def spl(
    text: str,
    sources: Mapping[str, Rows],
    *,
    data: arguments.AnyPath = "",
    sequence: str = "",
) -> Flow:
    """Returns the program of streams that a text in SPL is; nothing runs yet.

    `sources`: rows of `dt.stream` for each stream that comes from outside, by its name,
    with columns as the text declares them. What comes out has the names of the text.

    With a folder of `data` other streams are read from the files that each `FileSource`
    of the text names, in the order of its attribute `sequence`; a lone one without any
    is read in the order of its lines. What has a `FileSink` goes into its file there.
    """
    arguments.text("text", text, "a text in SPL", "dt.spl(path.read_text(), {..})")
    example = '{"Quotes": dt.stream(frame)}'
    if sequence and not data:
        expected = "none: it orders what is read from files of data=.."
        raise arguments.wrong("sequence", sequence, expected, 'data="data"')
    if not data or sources != {}:
        # A text whose files are all its own needs none.
        _refuse_sources(sources, example, only=spec.InputKind.STREAM)
    for rows in sources.values():
        assert isinstance(rows.frame, DataFrame)  # noqa: S101 - others are refused
        # The text may name functions that Spark lacks: each session has them lent.
        register_functions(rows.frame.sparkSession)
    place, told = "", None
    own: Mapping[str, Rows] = {}
    if data:
        place = arguments.path("data", data, 'dt.spl(text, {}, data="data")')
        # Without inputs first: the text may name streams that only its files give.
        told = translate(text, {})
        own = _files(told, sources, data=place, sequence=sequence)
        sources = {**sources, **own}
    schemas = {it: one.source.schema for it, one in sources.items()}
    program = translate(text, schemas, {*own}).program
    sources = {**sources, **_counted(program, sources)}
    givens = spec.givens_of(program)
    kept = {one.input: _as_declared(one, sources) for one in givens}
    _refuse_half_a_sequence(kept)
    flow = flow_of(program, {**sources, **kept})
    return replace(flow, files=partial(text_sinks, told, place)) if told else flow


def _counted(program: spec.Program, sources: Mapping[str, Rows]) -> Mapping[str, Rows]:
    """Returns the rows that the program gives itself, in their order."""
    stretches = spec.stretches_of(program)
    if not stretches:
        return {}
    spark = _session(sources, "a Beacon with iterations")
    schemas = {one.input: one.schema for one in spec.givens_of(program)}
    found = {}
    for name, stretch in stretches.items():
        columns = (*schemas[name].names, _COUNTED)
        # Numbered, so that its rows have an order among those of other streams.
        found[name] = stream(counted(spark, stretch, columns), sequence=_COUNTED)
    return found


def _refuse_sources(
    sources: Mapping[str, object], example: str, *, only: spec.InputKind | None = None
) -> None:
    """Refuses what are no rows by their names, of one kind alone, for a text."""
    arguments.mapping("sources", sources, example)
    for name, rows in sources.items():
        arguments.text("a name in sources", name, "a text", example)
        label = f"sources[{arguments.told(name)}]"
        if not isinstance(rows, Rows) or isinstance(rows.frame, tuple):
            raise arguments.wrong(label, rows, "rows of dt.stream", example)
        if only and rows.source.kind is not only:
            expected = "rows of dt.stream, of a streaming DataFrame"
            raise arguments.wrong(label, rows, expected, example)
        # The newest of each key are what a table is anyway.
        newest = spec.Latest(rows.source.key)
        if rows.kept not in (spec.Unstated(), newest):
            hint = "leave window out: the text says how long rows live"
            raise arguments.wrong(label, rows, "rows without a window", hint)


def session_at_work(what: str) -> SparkSession:
    """Returns the session that is at work, or refuses what needs one."""
    spark = SparkSession.getActiveSession()
    if spark is None:
        hint = "SparkSession.builder.getOrCreate() before it"
        raise SpecError(f"{what} without a session of Spark", "one", hint)
    return spark


def _session(sources: Mapping[str, Rows], what: str) -> SparkSession:
    """Returns the session of the rows, or else the one at work."""
    for rows in sources.values():
        if isinstance(rows.frame, DataFrame):
            return rows.frame.sparkSession
    spark = session_at_work(what)
    register_functions(spark)
    return spark


def _files(
    told: Translation, sources: Mapping[str, Rows], *, data: str, sequence: str
) -> Mapping[str, Rows]:
    """Returns the rows of streams that the text reads from files of its own."""
    spark = _session({}, "data=.. of dt.spl")
    found = {}
    for name, one in tuples.text_files(
        told, {*sources}, data=data, sequence=sequence
    ).items():
        with plain_rules(spark):
            frame = tuples.coming_tuples(spark, one.file, one.path)
            found[name] = stream(frame, sequence=one.sequence)
    return found


@arguments.public
def sql(
    text: str, sources: Mapping[str, Rows], *, dialect: str = dialects.USUAL
) -> Joined | Flow | Outputs:
    """Returns the join that a query in SQL of streams is; nothing runs yet.

    `dialect`: "sqlstream", that of s-Server and Kinesis Analytics, or "lenses", that of
    Lenses, whose records have the columns `_key` and `_time`. `sources`: rows of
    `dt.stream` with a time, and of `dt.table` or `dt.dataset`, by the names that the
    query has for them. A text that is more than one join is a flow, from which streams
    come out by their names; that of a query alone is `result`. Of queries of tables
    alone, which no stream meets, the rows are DataFrames by those names.
    """
    found = _read(text, sources, dialect)
    if isinstance(found, spec.Program) and spec.is_exact(found):
        return Outputs(_frames(found, sources), found.remarks)
    return _streamed(found, sources, dialect)


def _frames(
    program: spec.Program, sources: Mapping[str, Rows]
) -> Mapping[str, DataFrame]:
    """Returns what comes out of a program of tables alone, by its names."""
    frames = {}
    for one in spec.givens_of(program):
        rows = sources[one.input]
        if rows.feed.streams or not isinstance(rows.frame, DataFrame):
            told = f'a query of tables alone, of which "{one.input}" changes'
            raise SpecError(told, "rows of dt.dataset, or dt.table of a DataFrame")
        frames[one.name] = rows.frame
    spark = _session(sources, "queries of tables")
    return spark_program.frames(spark, program, frames)


def _made_of_tables(
    program: spec.Program, sources: Mapping[str, Rows]
) -> Mapping[str, Rows]:
    """Returns the data sets that a text of streams makes of others, by its names."""
    if not program.tables:
        return {}
    made = spec.Program(program.tables)
    given = [sources[one.input].frame for one in spec.givens_of(made)]
    # Of rows that stand in the text alone they are made where all others are.
    frames = given or [one.frame for one in sources.values()]
    if all(isinstance(one, DataFrame) for one in frames):
        return {name: dataset(one) for name, one in _frames(made, sources).items()}
    # What is planned before Spark starts has no session to make rows with.
    return {
        one.name: Rows(frames[0], *inputs.dataset_given(one.step.schema, streams=False))
        for one in program.tables
    }


def streamed_sql(
    text: str, sources: Mapping[str, Rows], *, dialect: str
) -> Joined | Flow:
    """Returns what a text in SQL is, or refuses one of tables alone."""
    found = _read(text, sources, dialect)
    if isinstance(found, spec.Program) and spec.is_exact(found):
        told = "a job of queries of tables alone"
        hint = "dt.sql(text, {..}) gives their rows as DataFrames, to be written"
        raise SpecError(told, "a stream among its inputs", hint)
    return _streamed(found, sources, dialect)


def _read(
    text: str, sources: Mapping[str, Rows], dialect: str
) -> spec.JoinSpec | spec.Program:
    """Returns what a text in SQL is over rows."""
    arguments.text("text", text, "a query in SQL", "dt.sql(path.read_text(), {..})")
    arguments.word("dialect", dialect, dialects.SQL_DIALECTS)
    example = '{"Orders": dt.stream(frame, time="ROWTIME")}'
    _refuse_sources(sources, example)
    known = named_inputs(sources)
    # On rows that are all there a query may ask for more: they have an end.
    is_bounded = not any(rows.feed.streams for rows in sources.values())
    return dialects.translator(dialect, is_bounded=is_bounded)(text, known)


def named_inputs(sources: Mapping[str, Rows]) -> spec.Inputs:
    """Returns what is known of rows, by the names that a text has for them."""
    return {name: replace(rows.source, name=name) for name, rows in sources.items()}


def _streamed(
    found: spec.JoinSpec | spec.Program, sources: Mapping[str, Rows], dialect: str
) -> Joined | Flow:
    """Returns a text over streams as a join, or a flow of several."""
    if isinstance(found, spec.JoinSpec):
        names = spec.source_names(found)
        _refuse_half_a_sequence({it: sources[it] for it in names if it in sources})
        return _switched(dialect, *met_once(found, sources))
    sources = {**sources, **_made_of_tables(found, sources)}
    known = named_inputs(sources)
    named = {name: replace(one, source=known[name]) for name, one in sources.items()}
    inputs = Inputs(
        named,
        timed_rows,
        lambda join, rows: streaming_of(_switched(dialect, join, rows)),
    )
    queries = (_result(one, inputs, dialect) for one in found.outputs)
    return Flow(found, tuple(queries), named)


def timed_rows(made: TimedRows) -> Rows:
    """Returns the rows of steps, among which some are bounds; a column says which."""
    frame, streams = made.frame, made.frame.isStreaming
    own = schema_of(made.own)
    source, feed = inputs.stream_given(own, streams=streams, time=made.time)
    if not streams:
        return Rows(frame, source, feed)
    return Rows(frame, replace(source, lateness=made.lateness), made.feed)


def _result(
    output: spec.Output, given: Inputs[Rows], dialect: str
) -> RowTimeQuery | JoinedQuery:
    """Returns the query of one result of a text: a join, or steps in row time."""
    join = spec.whole_join(output.step)
    # Rows that fail beside a join are told among lines alone.
    tries = isinstance(output.step, spec.JoinedInRowTime) and output.step.tried
    if join is None or tries:
        return RowTimeQuery(output.name, output.step, given)
    sources = {**given.sources}
    frames = [one.frame for one in sources.values()]
    is_read = any(isinstance(one, DataFrame) for one in frames)
    for name, none in spec.inline_inputs(output.step).items():
        if is_read:
            sources[name] = given.nothing(none.schema)
            continue
        # What is planned before Spark starts has no session to make rows with.
        told = inputs.stream_given(none.schema, streams=False)
        sources[name] = Rows(frames[0], *told)
    return JoinedQuery(output.name, _switched(dialect, *met_once(join, sources)))


def _switched(dialect: str, join: spec.JoinSpec, sources: Mapping[str, Rows]) -> Joined:
    """Returns a join of a text with the switches that its dialect has."""
    joined = joined_by(join, sources)
    usual = dialects.usual_settings(dialect, joined.request, joined.inputs)
    return replace(joined, settings=usual)


def joined_as_data(
    join: spec.JoinSpec, given: Mapping[str, Rows], settings: spec.Settings
) -> Joined:
    """Returns a join as data of rows that a user gives, by their names."""
    # Rows that are made on the way through a text have numbers of their own.
    _refuse_half_a_sequence(given)
    return joined_by(join, given, settings)


def joined_by(
    join: spec.JoinSpec,
    sources: Mapping[str, Rows],
    settings: spec.Settings = _USUAL,
) -> Joined:
    """Returns a join as data over rows by their names, joins inside it first."""
    sides = {}
    for hand in spec.HANDS:
        match join.side(hand).source:
            case spec.Named(name):
                sides[hand] = sources[name]
            case spec.Nested(inner) as source:
                rows = rows_of(joined_by(inner, sources))
                table = replace(rows.source, key=source.key)
                sides[hand] = replace(rows, source=table)
                if inner.clock is not spec.Clock.BATCH and not sides[hand].given_by:
                    raise SpecError(
                        "joins in a row of ordinary DataFrames as streams",
                        "streaming DataFrames",
                        "spark.readStream reads what a folder has as a stream",
                    )
    whole = join.with_sides(
        lambda hand, side: replace(side, source=_origin(sides[hand], hand))
    )
    joined = _checked(whole, sides, unbounded=False, words=terms.AS_DATA)
    terms.check(joined.request, joined.inputs, settings, words=terms.AS_DATA)
    return replace(joined, settings=settings)


def _as_declared(given: spec.Given, sources: Mapping[str, Rows]) -> Rows:
    """Returns the rows of a stream that a text declares, or refuses other columns."""
    if given.input not in sources:
        expected = f'rows of dt.stream for "{given.input}"'
        hint = "the text takes each stream from outside by its name"
        raise arguments.wrong("sources", [*sources], expected, hint)
    rows = sources[given.input]
    schema = rows.source.schema
    for column in given.schema.columns:
        if schema[column.name].type != column.type:
            raise SchemaError(
                f'"{column.name}" of "{given.input}" is {schema[column.name].type}',
                f"{column.type}, as the text declares it",
                "cast it in the frame",
            )
    assert isinstance(rows.frame, DataFrame)  # noqa: S101 - rows of joins are refused
    # A uint32 is a bigint on Spark: what has no room in it fails when it comes.
    frame = refusing_beyond(rows.frame, given.ranges, given.input)
    return replace(rows, frame=frame)
