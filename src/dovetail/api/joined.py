"""A join that a user holds: its plan in words, its outlets, its way into sinks."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from os import PathLike
from typing import TYPE_CHECKING, cast

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812 - Spark's own name for it
from pyspark.sql.streaming.query import StreamingQuery

from dovetail.api.samples import (
    MOST_COLLECTED,
    Sample,
    hand_named,
    refuse_many,
    sample_play,
    typed_rows,
)
from dovetail.api.start import start_given
from dovetail.api.wording import words_of_spark
from dovetail.bind.sinks import Calling, Sink
from dovetail.engines.kernel_settings import stream_settings
from dovetail.engines.spark_batch.arrivals import Arrivals
from dovetail.engines.spark_batch.join import join_batch, sample
from dovetail.engines.spark_stream.writing import Streaming, start
from dovetail.errors import SpecError
from dovetail.expression import ALWAYS
from dovetail.plan.batch import plan_batch
from dovetail.plan.stream import Feed, StreamPlan, plan_stream
from dovetail.plan.words import explained, explained_batch
from dovetail.spec.arguments import AnyPath, told, wrong
from dovetail.spec.calls import missing, public
from dovetail.spec.inputs import Input, Inputs, Outlet, Row
from dovetail.spec.join import HANDS, Hand, JoinSpec
from dovetail.spec.results import own_outlets

_FRAME = "the rows are a DataFrame: joined.matched"
_AGAIN = 'its rows are those of a stream: dt.stream(joined.matched, time="..")'
_HINTS = {"join": _AGAIN, "window": _AGAIN}
if TYPE_CHECKING:
    from dovetail.draw import Picture

SinkLike = Sink | Callable[[DataFrame, int], None]


@dataclass(frozen=True, slots=True)
class Joined:
    """A join of two sides; nothing runs before its rows are asked for."""

    spec: JoinSpec
    inputs: Inputs
    frames: Mapping[Hand, DataFrame]
    feeds: Mapping[Hand, Feed]

    def __repr__(self) -> str:
        """Returns the join in one line: what meets what, by what, and where."""
        sides = " and ".join(
            f"{hand.value} ({', '.join(self._input(hand).schema.names)})"
            for hand in HANDS
        )
        kind, where = (
            self.spec.kind.value,
            "streams" if self.is_streaming else "a batch",
        )
        terms = [f"{one.left} = {one.right}" for one in self.spec.hard]
        if self.spec.soft != ALWAYS:
            terms.append(self.spec.soft.text)
        by = f" by {' and '.join(terms)}" if terms else ""
        return f"{kind} join of {sides}{by}, on {where} of Spark".replace("\n", " ")

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> object:
            """Refuses what only rows, or a DataFrame, can be asked for."""
            raise missing("joined", name, dir(type(self)), _HINTS.get(name, _FRAME))

    @property
    def is_streaming(self) -> bool:
        """Tells whether rows keep coming."""
        return any(feed.streams for feed in self.feeds.values())

    @property
    def matched(self) -> DataFrame:
        """Returns the rows of the outlet `matched`."""
        return self._outlet(Outlet.MATCHED)

    @property
    def left_unmatched(self) -> DataFrame:
        """Returns the left rows without a partner, as they came in."""
        return self._outlet(Outlet.LEFT_UNMATCHED)

    @property
    def right_unmatched(self) -> DataFrame:
        """Returns the right rows without a partner, as they came in."""
        return self._outlet(Outlet.RIGHT_UNMATCHED)

    @property
    def late(self) -> DataFrame:
        """Returns the rows that came too late: side, reason, and the row itself."""
        return self._outlet(Outlet.LATE)

    @public
    def explain(self) -> str:
        """Returns the plan in words: lifetimes, order, when rows come out, state.

        Nothing runs, but Spark is asked all that it is asked at a start.
        """
        if self.is_streaming:
            self._streaming().lay()
        else:
            self._joined_at_once()
        return self.in_words()

    def in_words(self) -> str:
        """Returns the plan in words; what only Spark can refuse is not refused."""
        if self.is_streaming:
            return explained(self._plan())
        sources = {hand: self._input(hand) for hand in HANDS}
        return explained_batch(plan_batch(self.spec, self.inputs), sources)

    @public
    def picture(self, **rows: Sample) -> Picture:
        """Returns a drawing of what becomes of every row; it shows in notebooks.

        `left=` and `right=` take sample rows, as dictionaries. A stream needs them; an
        ordinary DataFrame without them is read, and may then have at most 30 rows.
        """
        given = {hand_named(name): listed for name, listed in rows.items()}
        taken = {hand: self._sample(hand, given) for hand in HANDS}
        sequences = {hand: feed.sequence for hand, feed in self.feeds.items()}
        from dovetail.draw import picture  # noqa: PLC0415 - no job draws

        return picture(sample_play(self.spec, self.inputs, taken, sequences))

    @public
    def write(
        self,
        *,
        checkpoint: AnyPath,
        trigger: Mapping[str, object] | None = None,
        name: str = "",
        finish: bool | None = None,
        **sinks: SinkLike,
    ) -> StreamingQuery:
        """Returns one running query that writes each outlet into its own sink.

        Sinks go by outlet: matched, left_unmatched, right_unmatched, late. After a
        crash each row is in its sink once. Late rows without a sink are counted.

        `finish` says that both streams end with what is there now: once that is read,
        which `write` waits for, the last rows come out in the query that it returns.
        `finish=False` leaves that to a later start, which else cannot say it.
        """
        if not self.is_streaming:
            raise SpecError(
                "both sides of the join are ordinary DataFrames",
                "a stream on at least one side",
                "use joined.matched.write: a batch join is an ordinary DataFrame",
            )
        how = start_given(checkpoint, trigger, name, finish=finish)
        chosen = self._sinks(sinks)
        return start(self._streaming(), chosen, how)

    def _sample(self, hand: Hand, given: Mapping[Hand, Sample]) -> list[Row]:
        """Returns the rows of a side that are drawn: those given, or all there are."""
        source, frame = self._input(hand), self.frames[hand]
        if hand in given:
            return typed_rows(given[hand], source)
        if frame.isStreaming:
            raise SpecError(
                f"the {hand.value} side is a stream, which has no rows before it runs",
                "sample rows",
                f"picture({hand.value}=[{{...}}]) draws the rows that you choose",
            )
        rows = sample(frame, source.schema, MOST_COLLECTED + 1)
        refuse_many(rows, hand)
        return rows

    def _input(self, hand: Hand) -> Input:
        """Returns a side's input."""
        return self.inputs[hand.value]

    def _outlet(self, outlet: Outlet) -> DataFrame:
        """Returns one outlet's rows as a DataFrame."""
        self._known(outlet.value)
        if self.is_streaming:
            return self._streaming().frame(outlet)
        return self._joined_at_once()[outlet]

    def _joined_at_once(self) -> Mapping[Outlet, DataFrame]:
        """Returns the rows of every outlet of a join of ordinary DataFrames."""
        with words_of_spark(self.spec):
            frames = {
                hand.value: _arrivals(self.frames[hand], feed)
                for hand, feed in self.feeds.items()
            }
            return join_batch(plan_batch(self.spec, self.inputs), frames).outlets

    def _known(self, name: str) -> Outlet:
        """Returns the outlet of a name, or raises where the join has no such outlet."""
        late = [Outlet.LATE] if self.is_streaming else []
        names = {outlet.value: outlet for outlet in (*self._filled(), *late)}
        if name not in names:
            raise SpecError(
                f'the join has no outlet "{name}"',
                f"one of {', '.join(names)}",
                'how="left" with unmatched="outlet" adds left_unmatched',
            )
        return names[name]

    def _filled(self) -> tuple[Outlet, ...]:
        """Returns the outlets whose rows are part of the result."""
        return (Outlet.MATCHED, *own_outlets(self.spec).values())

    def _sinks(self, sinks: Mapping[str, SinkLike]) -> Mapping[Outlet, Sink]:
        """Returns the sinks by outlet; every outlet but `late` must have one."""
        chosen = {self._known(name): _sink(name, sinks[name]) for name in sinks}
        for outlet in self._filled():
            if outlet not in chosen:
                raise SpecError(
                    f'the outlet "{outlet.value}" has no sink: its rows would be lost',
                    f"write({outlet.value}=...)",
                    f"{outlet.value}=dt.folder(path) keeps them",
                )
        return chosen

    def _plan(self) -> StreamPlan:
        """Returns the plan of streams, or raises what cannot be done of it yet."""
        plan = plan_stream(self.spec, self.inputs, self.feeds)
        stream_settings(plan)  # the kernels refuse here what they cannot read
        return plan

    def _streaming(self) -> Streaming:
        """Returns the plan with its frames, as the streaming engine takes it."""
        return Streaming(self._plan(), (self.frames[HANDS[0]], self.frames[HANDS[1]]))


def _sink(name: str, sink: object) -> Sink:
    """Returns what a user gives for an outlet as a sink."""
    if callable(sink) and not isinstance(sink, type):
        return Calling(sink)
    if callable(getattr(sink, "prepare", None)) and not isinstance(sink, type):
        return cast("Sink", sink)
    place = told(str(sink)) if isinstance(sink, str | PathLike) else '"out/matched"'
    hint = f"{name}=dt.folder({place}) writes into that folder"
    raise wrong(name, sink, "a folder or a function", hint)


def _arrivals(frame: DataFrame, feed: Feed) -> Arrivals:
    """Returns a batch's rows, in their order where one is given: so they count."""
    order = feed.sequence or feed.order
    if not order:
        return Arrivals(frame)
    return Arrivals(frame.orderBy(F.expr(f"CAST({order} AS BIGINT)")))
