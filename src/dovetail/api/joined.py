"""A join that a user holds: its plan in words, its outlets, its way into sinks."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import partial
from os import PathLike
from typing import TYPE_CHECKING, Any, cast

from pyspark.sql import DataFrame
from pyspark.sql.streaming.query import StreamingQuery

from dovetail import spec
from dovetail.api import choices, samples, terms
from dovetail.api.alone import started_alone
from dovetail.bind.failures import refuse_stopped
from dovetail.bind.sinks import Calling, Sink, refuse_in_sources
from dovetail.engines.kernel_settings import reads_all, stream_settings
from dovetail.engines.spark_batch.arrivals import Arrivals
from dovetail.engines.spark_batch.join import join_batch, sample
from dovetail.engines.spark_batch.refusals import refuse_unsteady, words_of_spark
from dovetail.engines.spark_stream.dataflow import Frames, leaves
from dovetail.engines.spark_stream.outlets import AnyOutlet
from dovetail.engines.spark_stream.query import NOW, Start, Streaming, start
from dovetail.errors import SpecError, UnsupportedError
from dovetail.expression import ALWAYS
from dovetail.plan.batch import AnyPlan, plan_batch
from dovetail.plan.lookups import Lookup, without_time
from dovetail.plan.nested import inner_joins
from dovetail.plan.stream import Feed, StreamPlan, plan_stream
from dovetail.plan.words import explained, explained_batch
from dovetail.schema import quoted
from dovetail.spec import arguments
from dovetail.spec.defaults import complete

if TYPE_CHECKING:
    from dovetail.api.streams import Rows
    from dovetail.draw import Picture

_FRAME = "the rows are a DataFrame: joined.matched"
_MOST_PARTITIONS = 10_000
"""Each is a task in every batch, and has several buckets that the driver names."""
SinkLike = Sink | Callable[[DataFrame, int], None]


@dataclass(frozen=True, slots=True)
class Joined:
    """A join of two sides; nothing runs before its rows are asked for."""

    request: spec.JoinSpec
    inputs: spec.Inputs
    frames: Mapping[spec.Hand, DataFrame | Frames]
    feeds: Mapping[spec.Hand, Feed]
    as_rows: Callable[[Joined], Rows]
    settings: spec.Settings = spec.Settings()

    def __repr__(self) -> str:
        """Returns the join in one line: what meets what, by what, and where."""
        sides = " and ".join(
            f"{hand.value} ({', '.join(source.schema.names)})"
            for hand, source in spec.side_inputs(self.request, self.inputs).items()
        )
        where = "streams" if self.is_streaming else "a batch"
        meets = [f"{one.left} = {one.right}" for one in self.request.hard]
        if self.request.soft != ALWAYS:
            meets.append(self.request.soft.text)
        by = f" by {' and '.join(meets)}" if meets else ""
        kind = self.request.kind.value
        return f"{kind} join of {sides}{by}, on {where} of Spark".replace("\n", " ")

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> object:
            """Refuses what only rows, or a DataFrame, can be asked for."""
            raise arguments.missing("joined", name, dir(type(self)), _FRAME)

    @property
    def join(self) -> Callable[..., Joined]:
        """Joins the rows that leave by `matched` with others, as `join` of rows does.

        On streams it is one query, with an operator for each join.
        """
        return self.as_rows(self).join

    @property
    def window(self) -> Callable[..., Rows]:
        """Gives the rows that leave by `matched` a window, as `window` of rows does."""
        return self.as_rows(self).window

    @property
    def is_streaming(self) -> bool:
        """Tells whether rows keep coming."""
        return any(feed.streams for feed in self.feeds.values())

    @property
    def asks(self) -> bool:
        """Tells whether a table is asked by key, which is done row by row."""
        return any(isinstance(feed.lookup, Lookup) for feed in self.feeds.values())

    @property
    def matched(self) -> DataFrame:
        """Returns the rows of the outlet `matched`."""
        return self._outlet(spec.Outlet.MATCHED)

    @property
    def left_unmatched(self) -> DataFrame:
        """Returns the left rows without a partner, as they came in."""
        return self._outlet(spec.Outlet.LEFT_UNMATCHED)

    @property
    def right_unmatched(self) -> DataFrame:
        """Returns the right rows without a partner, as they came in."""
        return self._outlet(spec.Outlet.RIGHT_UNMATCHED)

    @property
    def late(self) -> DataFrame:
        """Returns the rows that came too late: side, reason, and the row itself."""
        return self._outlet(spec.Outlet.LATE)

    @arguments.public
    def pick(
        self,
        *,
        atmost: int = 0,
        counted: Sequence[terms.Key] = (),
        optional: Sequence[terms.Key | tuple[str, str, int]] = (),
        limit: int = 0,
        exceeded: str | Mapping[str, str] = "fail",
        skip_when: str = "",
        left_condition: str = "",
        strategy: str = "",
    ) -> Joined:
        """Returns the join with more said of which pairs count.

        A left row with more than `atmost` candidates has no match. With more than
        `limit` it fails the join, is left out (`exceeded="skip"`), or comes out once
        with columns of its own. `skip_when`: pairs that do not come out though they
        match; `left_condition`: left rows that match at all.
        """
        picks = choices.more_picks(
            self.request.picks,
            choices.at_most_of(atmost, counted, optional),
            choices.limit_of(limit, exceeded),
            strategy,
            skip_when=skip_when,
            left_condition=left_condition,
        )
        return self._checked(request=replace(self.request, picks=picks))

    @arguments.public
    def fill(
        self,
        *,
        left: str | Mapping[str, object] = "",
        right: str | Mapping[str, object] = "",
    ) -> Joined:
        """Returns the join with what stands for a row that is not there.

        That is "null", "blank" (0, "" or false, by type), or values by column, as in
        `fill(right={"name": "nobody"})`.
        """
        request = self.request
        filled = replace(
            request,
            absent_left=choices.absent_of("left", left, request.absent_left),
            absent_right=choices.absent_of("right", right, request.absent_right),
        )
        # A row of its own that a limit gives has no partner, whatever the kind.
        is_limited = request.picks.limit != choices.EVERY
        may_lack = {
            hand.value: is_limited or request.kind.preserves(hand.other)
            for hand in spec.HANDS
        }
        choices.refuse_idle(may_lack, left=left, right=right)
        return self._checked(request=filled)

    @arguments.public
    def emit(
        self,
        *,
        null_rows: str = "",
        retract: bool = False,
        late_table_rows: arguments.Length = "",
        order: str = "",
    ) -> Joined:
        """Returns the join with more said of when its rows come out.

        `null_rows`: those of unmatched rows come at the end of their life ("expiry"),
        at once ("eager"; with `retract` a match takes them back), or for each
        millisecond without a partner ("per_millisecond"). `late_table_rows`: so long,
        or "ever", a row waits for a table's. `order="row_time"`: in that order.
        """
        settings = choices.settings_of(
            self.settings,
            retract=retract,
            null_rows=null_rows,
            late_table_rows=late_table_rows,
            order=order,
        )
        kind = self.request.kind
        sources = spec.side_inputs(self.request, self.inputs).values()
        is_known = {
            "null_rows": any(map(kind.preserves, spec.HANDS)),
            "late_table_rows": any(it.kind is spec.InputKind.TABLE for it in sources),
            "order": self.is_streaming or any(it.is_timed for it in sources),
        }
        choices.refuse_idle(
            is_known, null_rows=null_rows, late_table_rows=late_table_rows, order=order
        )
        return self._checked(settings=settings)

    def _checked(self, **parts: Any) -> Joined:  # noqa: ANN401 - fields of ours
        """Returns the join with other parts, or refuses what breaks a law."""
        other = replace(self, **parts)
        # Windows stand there already; what fits a column of a limit gets its type.
        other = replace(other, request=complete(other.request, other.inputs))
        terms.check(other.request, other.inputs, other.settings)
        return other

    @arguments.public
    def explain(self) -> str:
        """Returns the plan in words: lifetimes, order, when rows come out, state.

        Nothing runs, but Spark is asked all that it is asked at a start.
        """
        if self.is_streaming or self.asks:
            streaming_of(self).lay()
        else:
            self._joined_at_once()
        return self.in_words()

    def in_words(self) -> str:
        """Returns the plan in words; what only Spark can refuse is not refused."""
        if self.is_streaming or self.asks:
            plan = plan_of(self)
            return explained(plan, partial(reads_all, plan))
        return explained_batch(self._batch_plan())

    @arguments.public
    def picture(self, **rows: samples.Sample) -> Picture:
        """Returns a drawing of what becomes of every row; it shows in notebooks.

        `left=` and `right=` take sample rows, as dictionaries. A stream needs them; an
        ordinary DataFrame without them is read, and may then have at most 30 rows.
        """
        for hand in inner_joins(self.request):
            raise UnsupportedError.not_yet(
                "picture",
                f"rows of a join on the {hand.value} side",
                hint="draw each join for itself, before it is a side of the next one",
            )
        given = {samples.hand_named(name): listed for name, listed in rows.items()}
        taken = {
            hand: samples.typed_rows(given[hand], self.inputs[hand.value])
            if hand in given
            else self._collected(hand)
            for hand in spec.HANDS
        }
        # Only what both sides carry places a row among those of the other one.
        sequences = {hand: feed.sequence for hand, feed in self.feeds.items()}
        from dovetail.draw import picture  # noqa: PLC0415 - no job draws

        known = self.request, self.inputs, taken, sequences
        play = samples.sample_play(*known, self.settings)
        return picture(play)

    @arguments.public
    def write(
        self,
        *,
        checkpoint: arguments.AnyPath,
        trigger: Mapping[str, object] | None = None,
        name: str = "",
        finish: bool | None = None,
        partitions: int | None = None,
        **sinks: SinkLike,
    ) -> StreamingQuery:
        """Returns one running query that writes each outlet into its own sink.

        Sinks go by outlet: matched, left_unmatched, right_unmatched, late. After a
        crash each row is in its sink once. Late rows without a sink are counted.

        `finish` says that both streams end with what is there now: once that is read,
        which `write` waits for, the last rows come out in the query that it returns.
        `finish=False` leaves that to a later start, which else cannot say it.

        State lies in so many `partitions`: unsaid, in as many as the session has cores,
        up to what `spark.sql.shuffle.partitions` says. A later start may say another
        number, up to four times the first one.
        """
        if not self.is_streaming:
            raise SpecError(
                "both sides of the join are ordinary DataFrames",
                "a stream on at least one side",
                "use joined.matched.write: a batch join is an ordinary DataFrame",
            )
        how = start_given(
            checkpoint, trigger, name, finish=finish, partitions=partitions
        )
        chosen = {self._named(one): sink_given(one, sinks[one]) for one in sinks}
        # Late rows are no part of the result: unsaid, they are counted.
        for outlet in spec.outlets_of(self.request):
            if outlet not in chosen:
                raise SpecError(
                    f'the outlet "{outlet.value}" has no sink: its rows would be lost',
                    f"write({outlet.value}=...)",
                    f"{outlet.value}=dt.folder(path) keeps them",
                )
        streaming = streaming_of(self)
        if how.finish is not None:
            terms.refuse_finish(streaming.plan)
        return started(streaming, chosen, how)

    def _collected(self, hand: spec.Hand) -> list[spec.Row]:
        """Returns all rows of a side of which none are given, to be drawn."""
        frame = self.frames[hand]
        if isinstance(self.feeds[hand].lookup, Lookup):
            raise SpecError(
                f"the {hand.value} side is a lookup, whose rows are asked for by key",
                "sample rows",
                f"picture({hand.value}=[{{...}}]) draws the rows that you choose",
            )
        if isinstance(frame, tuple) or frame.isStreaming:
            raise SpecError(
                f"the {hand.value} side is a stream, which has no rows before it runs",
                "sample rows",
                f"picture({hand.value}=[{{...}}]) draws the rows that you choose",
            )
        refuse_stopped(frame)
        # One more than is drawn tells whether there are too many.
        schema = self.inputs[hand.value].schema
        rows = sample(frame, schema, samples.MOST_COLLECTED + 1)
        samples.refuse_many(rows, hand)
        return rows

    def _named(self, name: str) -> AnyOutlet:
        """Returns the outlet of a name, or raises where the join has no such outlet."""
        # On streams the joins inside turn rows away too, of which the plan alone knows.
        outlets: tuple[AnyOutlet, ...] = spec.outlets_of(self.request)
        if self.is_streaming:
            outlets = streaming_of(self).outlets.every
        names = {outlet.value: outlet for outlet in outlets}
        if name not in names:
            raise SpecError(
                f'the join has no outlet "{name}"',
                f"one of {', '.join(names)}",
                "rows of ordinary DataFrames are never late: all are there"
                if name == "late"
                else 'how="left" with unmatched="outlet" adds left_unmatched',
            )
        return names[name]

    def _outlet(self, outlet: spec.Outlet) -> DataFrame:
        """Returns one outlet's rows as a DataFrame."""
        self._named(outlet.value)
        if self.is_streaming or self.asks:
            return streaming_of(self).frame(outlet)
        return self._joined_at_once()[outlet]

    def _joined_at_once(self) -> Mapping[spec.Outlet, DataFrame]:
        """Returns the rows of every outlet of a join of ordinary DataFrames."""
        with words_of_spark(self.request, self.inputs):
            arrivals = {}
            for hand, frame in self.frames.items():
                assert isinstance(frame, DataFrame)  # noqa: S101 - no batch has joins
                refuse_stopped(frame)
                # Rows count in the order of the frame, unless another one is given.
                feed = self.feeds[hand]
                order = feed.place if feed.number else ""
                arrivals[hand.value] = Arrivals(frame, order=order)
            return join_batch(self._batch_plan(), arrivals).outlets

    def _batch_plan(self) -> AnyPlan:
        """Returns the plan of ordinary DataFrames, or raises what is not done of it."""
        return plan_batch(self.request, self.inputs, self.settings)


def met_once(
    join: spec.JoinSpec, sources: Mapping[str, Rows]
) -> tuple[spec.JoinSpec, Mapping[str, Rows]]:
    """Returns a join of a text, and its rows, beside a lookup without their times.

    A text names the time of each stream. Where rows meet one by one none is late.
    """
    lookups = {name: one.feed.lookup for name, one in sources.items()}
    streams = {name for name, one in sources.items() if one.feed.streams}
    plain = without_time(join, lookups, streams)
    if plain == join:
        return join, sources
    return plain, {
        name: replace(one, source=replace(one.source, time="", lateness=spec.NO_TIME))
        for name, one in sources.items()
    }


def plan_of(joined: Joined) -> StreamPlan:
    """Returns the plan of a join of streams, or raises what is not done of it."""
    request, inputs, feeds = joined.request, joined.inputs, joined.feeds
    plan = plan_stream(request, inputs, feeds, settings=joined.settings)
    # What Spark joins by itself it also computes: no kernel need read it.
    if not plan.runner.is_native:
        stream_settings(plan)  # the kernels refuse here what they cannot read
    return plan


def streaming_of(joined: Joined) -> Streaming:
    """Returns the plan with its frames, as the streaming engine takes it."""
    left, right = (joined.frames[hand] for hand in spec.HANDS)
    first = next(leaves((left, right)))
    refuse_stopped(first)

    def sides() -> Iterator[DataFrame]:
        for hand, frame in zip(spec.HANDS, (left, right), strict=True):
            if isinstance(frame, tuple):
                # What a join inside gives has columns, and no frame before it is laid.
                source = joined.request.side(hand).source
                columns = spec.input_of(source, joined.inputs, "").schema.columns
                ddl = ", ".join(f"{quoted(one.name)} {one.type}" for one in columns)
                yield first.sparkSession.createDataFrame([], ddl)
            else:
                yield frame

    refuse_unsteady(joined.request, sides)
    return Streaming(plan_of(joined), (left, right))


def started(
    streaming: Streaming, sinks: Mapping[AnyOutlet, Sink], how: Start
) -> StreamingQuery:
    """Returns the running query that alone writes on its checkpoint."""
    refuse_in_sources(sinks.values(), how.checkpoint, leaves(streaming.frames))
    (query,) = started_alone(
        streaming.spark, how.checkpoint, lambda: (start(streaming, sinks, how),)
    )
    return query


def sink_given(name: str, sink: object) -> Sink:
    """Returns what a user gives for an outlet, or a stream, as a sink."""
    # A class is callable too: who gives one forgot to make a sink of it.
    if callable(sink) and not isinstance(sink, type):
        told = "a function of the rows and of the number of their batch"
        example = f"{name}=lambda rows, batch: rows.show()"
        taken = arguments.function(name, sink, takes=2, told=(told, example))
        return Calling(taken)
    # A sink is told by what it does: a user may write one of his own.
    parts = ("place", "reads_once", "prepare", "write")
    if all(hasattr(sink, part) for part in parts) and not isinstance(sink, type):
        found = cast("Sink", sink)
        # Of a Column of Spark any name at all is an attribute, and again a Column.
        if isinstance(found.place, str):
            return found
    is_path = isinstance(sink, str | PathLike)
    place = arguments.told(str(sink)) if is_path else '"out/matched"'
    hint = f"{name}=dt.folder({place}) writes into that folder"
    raise arguments.wrong(name, sink, "a folder or a function", hint)


def start_given(
    checkpoint: arguments.AnyPath,
    trigger: Mapping[str, object] | None,
    name: str,
    *,
    finish: bool | None = None,
    partitions: int | None = None,
) -> Start:
    """Returns how a query is to start, or refuses what Spark would trip over."""
    folder = arguments.path("checkpoint", checkpoint, 'checkpoint="out/checkpoint"')
    how = {} if trigger is None else _trigger(trigger)
    title = arguments.said("name", name, "a text", 'name="orders"')
    hint = "finish=True reads what is there, and then the last rows come out"
    if finish is not None and not isinstance(finish, bool):
        raise arguments.wrong("finish", finish, "True, or False for: not yet", hint)
    # A query that goes on for ever comes to no end of what is there.
    if finish and how not in ({}, NOW):
        expected = f"none beside finish=True, or {NOW}"
        raise arguments.wrong("trigger", trigger, expected, hint)
    wanted = 0 if partitions is None else partitions_given(partitions)
    return Start(folder, how, title, finish, wanted)


def partitions_given(count: object) -> int:
    """Returns in how many partitions state is to lie, or refuses too few or many."""
    wanted = arguments.whole("partitions", count, "partitions=8", least=1)
    if wanted > _MOST_PARTITIONS:
        expected = f"{_MOST_PARTITIONS:,} at most"
        raise arguments.wrong("partitions", count, expected, "one a core")
    return wanted


def _trigger(given: object) -> Mapping[str, object]:
    """Returns when batches are read, in Spark's words but for `continuous`.

    That one has no state.
    """
    example = '{"processingTime": "10 seconds"} or {"availableNow": True}'
    known = arguments.mapping("trigger", given, example)
    if len(known) != 1:
        hint = f"write for example trigger={example}"
        raise arguments.wrong("trigger", given, "one key", hint)
    # Spark's words as they are, so that its own documents hold.
    (key, value), *_ = known.items()
    words = ("processingTime", "availableNow", "once")
    kind = arguments.word("a key of trigger", key, words)
    title = f"trigger[{arguments.told(kind)}]"
    if kind == "processingTime":
        # A month Spark refuses as an error of Java, once all else has begun.
        often = arguments.length(title, value, least=spec.NO_TIME, is_exact=True)
        # Spark reads a text itself, and knows no timedelta.
        return {kind: str(often) if isinstance(value, timedelta) else str(value)}
    # To say no is to say nothing, which Spark does not take.
    if value is not True:
        hint = f"leave trigger out, or write trigger={{{arguments.told(kind)}: True}}"
        raise arguments.wrong(title, value, "True", hint)
    return {kind: True}
