"""A join that a user holds: its plan in words, its outlets, its way into sinks."""

from __future__ import annotations

import re
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
from dovetail.engines.spark_batch.arrivals import Arrivals
from dovetail.engines.spark_batch.join import join_batch, sample
from dovetail.engines.spark_stream.feeds import Feed
from dovetail.engines.spark_stream.writing import Streaming, start
from dovetail.errors import SpecError
from dovetail.expression import ALWAYS
from dovetail.plan.compared import compared
from dovetail.plan.manner import (
    Facts,
    SideFacts,
    arrival_of,
    refuse_static,
    unbounded_sides,
)
from dovetail.plan.stream import refuse, spread
from dovetail.plan.words import Told, explained
from dovetail.schema import quoted
from dovetail.spec.arguments import AnyPath, told, wrong
from dovetail.spec.calls import missing, public
from dovetail.spec.inputs import Arrival, Input, Inputs, Outlet, Row, Settings
from dovetail.spec.join import HANDS, Hand, JoinSpec
from dovetail.spec.play import Play
from dovetail.spec.results import own_outlets
from dovetail.spec.spans import Span

_FRAME = "the rows are a DataFrame: joined.matched"
_AGAIN = 'its rows are those of a stream: dt.stream(joined.matched, time="..")'
_HINTS = {"join": _AGAIN, "window": _AGAIN}
if TYPE_CHECKING:
    from dovetail.draw import Picture

SinkLike = Sink | Callable[[DataFrame, int], None]


@dataclass(frozen=True, slots=True)
class Seat:
    """Where one side's rows come from, and what their order is made of."""

    frame: DataFrame
    order: str
    sequence: str
    idle: Span


@dataclass(frozen=True, slots=True)
class Joined:
    """A join of two sides; nothing runs before its rows are asked for."""

    spec: JoinSpec
    inputs: Inputs
    seats: Mapping[Hand, Seat]

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
        return any(seat.frame.isStreaming for seat in self.seats.values())

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
        sides = {hand: self._input(hand) for hand in HANDS}
        return explained(self.spec, sides, self._told())

    @public
    def picture(self, **rows: Sample) -> Picture:
        """Returns a drawing of what becomes of every row; it shows in notebooks.

        `left=` and `right=` take sample rows, as dictionaries. A stream needs them; an
        ordinary DataFrame without them is read, and may then have at most 30 rows.
        """
        given = {hand_named(name): listed for name, listed in rows.items()}
        taken = {hand: self._sample(hand, given) for hand in HANDS}
        sequences = {hand: seat.sequence for hand, seat in self.seats.items()}
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

    def refuse_unbounded(self) -> None:
        """Raises a SpecError where state would grow for ever."""
        sides = {hand: self._input(hand) for hand in HANDS}
        endless = unbounded_sides(self.spec, sides)
        if endless:
            names = " and ".join(hand.value for hand in endless)
            raise SpecError(
                f"the {names} side keeps every row for ever, without a bound on state",
                "a window such as range, rows or latest",
                "unbounded=True allows it",
                rule="bounded_state",
            )

    def _sample(self, hand: Hand, given: Mapping[Hand, Sample]) -> list[Row]:
        """Returns the rows of a side that are drawn: those given, or all there are."""
        source, frame = self._input(hand), self.seats[hand].frame
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
            frames = {hand.value: _arrivals(seat) for hand, seat in self.seats.items()}
            return join_batch(self.spec, self.inputs, frames).outlets

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

    def _facts(self) -> Facts:
        """Returns what the plan must know of each side."""
        return {
            hand: SideFacts(self._input(hand), bool(seat.order), bool(seat.sequence))
            for hand, seat in self.seats.items()
        }

    def _arrival(self) -> Arrival:
        """Returns the order of arrival, or refuses what cannot be run."""
        facts = self._facts()
        refuse_static(
            facts, {hand: seat.frame.isStreaming for hand, seat in self.seats.items()}
        )
        arrival = arrival_of(self.spec, facts)
        refuse(Play(self.spec, self.inputs), arrival)
        return arrival

    def _streaming(self) -> Streaming:
        """Returns the join as the streaming engine takes it."""
        arrival = self._arrival()
        feeds = [_feed(self.seats[hand], arrival) for hand in HANDS]
        idle = [self.seats[hand].idle.microseconds for hand in HANDS]
        streaming = Streaming(
            join=self.spec,
            inputs=self.inputs,
            feeds=(feeds[0], feeds[1]),
            arrival=arrival,
            idle=(idle[0], idle[1]),
            one_bucket=not spread(self.spec, Settings()).is_wide,
        )
        streaming.settings()  # the kernels refuse here what they cannot read
        return streaming

    def _told(self) -> Told:
        """Returns what the engine adds to the plan's words."""
        if not self.is_streaming:
            how = f"one native Spark plan{compared(self.spec, self.inputs)}"
            return Told("batch", f"both sides are finite: {how}")
        return Told(
            "stream",
            "a stateful operator of ours: Arrow chunks in Spark's state store",
            self._arrival(),
            spread(self.spec, Settings()).reason,
            {hand: seat.idle for hand, seat in self.seats.items()},
            _warnings(self.seats),
        )


def _sink(name: str, sink: object) -> Sink:
    """Returns what a user gives for an outlet as a sink."""
    if callable(sink) and not isinstance(sink, type):
        return Calling(sink)
    if callable(getattr(sink, "prepare", None)) and not isinstance(sink, type):
        return cast("Sink", sink)
    place = told(str(sink)) if isinstance(sink, str | PathLike) else '"out/matched"'
    hint = f"{name}=dt.folder({place}) writes into that folder"
    raise wrong(name, sink, "a folder or a function", hint)


def _arrivals(seat: Seat) -> Arrivals:
    """Returns a batch's rows, in their order where one is given: so they count."""
    order = seat.sequence or seat.order
    if not order:
        return Arrivals(seat.frame)
    return Arrivals(seat.frame.orderBy(F.expr(f"CAST({order} AS BIGINT)")))


def _feed(seat: Seat, arrival: Arrival) -> Feed:
    """Returns a side's rows with their positions.

    Without a number of its own a row is told from others of its time by all it holds.
    """
    if arrival is Arrival.SEQUENCE:
        return Feed(seat.frame, f"CAST({seat.sequence} AS BIGINT)")
    if seat.order:
        return Feed(seat.frame, f"CAST({seat.order} AS BIGINT)")
    _refuse_unhashed(seat.frame)
    columns = ", ".join(quoted(name) for name in seat.frame.columns)
    return Feed(seat.frame, f"xxhash64({columns})")


def _refuse_unhashed(frame: DataFrame) -> None:
    """Refuses what Spark does not hash where rows are told apart by all they hold."""
    for column in frame.schema:
        kind = column.dataType.simpleString()
        if held := [name for name in ("map", "variant") if _holds(kind, name)]:
            raise SpecError(
                f'the column "{column.name}" holds a {held[0]}, by which rows of equal '
                "time are not told apart",
                "order=... of its side, a whole number",
                'write for example dt.stream(frame, order="offset")',
            )


def _holds(kind: str, name: str) -> bool:
    """Tells whether the text of a type names a type; a field's name ends in a colon."""
    return re.search(rf"\b{name}\b(?!:)", kind) is not None


def _warnings(seats: Mapping[Hand, Seat]) -> tuple[str, ...]:
    """Returns what the user should know of the way rows arrive."""
    loose = [
        hand.value for hand, seat in seats.items() if not (seat.order or seat.sequence)
    ]
    if not loose:
        return ()
    sides = " and ".join(loose)
    told = f"{sides} rows of equal time meet in the order of their contents; "
    return (told + "order=... says another",)
