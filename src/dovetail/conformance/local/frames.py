"""All that comes on one side of a play, as the frame that pack reads, and its packing.

    code  moment    position  event   n  t         one line a row, a bound or an end
    7     10:00:00  0         ROW     1  10:00:00
          10:05:00  3         BOUND

On a stream Spark's SQL makes these columns. Here keys become numbers by one dictionary
for both sides, so that equal keys have equal codes and no hash is ever trusted. The
payload is the row's columns and, first, its number on this side.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from dovetail import expression, spec
from dovetail.conformance.local.hidden_columns import bad_intervals, hidden_columns
from dovetail.engines.kernel_settings import key_of
from dovetail.engines.spark_stream.worker import pack
from dovetail.engines.spark_stream.worker.bucket import Line
from dovetail.engines.tables import arrow_table
from dovetail.expression import questions
from dovetail.kernels.arrays import blobs
from dovetail.kernels.arrays.names import CLOCK, LineKind, reserved
from dovetail.kernels.arrays.rows import (
    BEGINNING,
    MISSING,
    NEVER,
    Rows,
    Whole,
    no_rows,
)
from dovetail.kernels.arrival.time_limits import KEYLESS
from dovetail.kernels.lifetimes.lives import NO_LIVES, Lives
from dovetail.kernels.settings import EARLY_TIME, Closing, JoinSettings, SideSettings
from dovetail.kernels.tables.changelog import KEY
from dovetail.plan import sides
from dovetail.schema import to_microseconds

NUMBER = reserved("row")
"""The column with a row's number on its side."""
CODE, MOMENT, POSITION, EVENT, PARTITION, BARRED = map(
    reserved, ("code", "moment", "position", "event", "partition", "barred")
)
"""The columns that pack reads of every line."""
BEFORE = -1
"""The position of the rows that are there from the start, and of a data set's end."""
LABEL = 0
"""The only bucket: where Spark spreads rows over many, none knows of another."""
_BARE = (LineKind.BOUND, LineKind.FINISH)


@dataclass(frozen=True, slots=True)
class Item:
    """What comes at a position in the play: a row, a delete, a bound or an end.

    `clock` is the processing time, `bound` is told in microseconds; where its side has
    `stopped` nothing more comes.
    """

    kind: LineKind
    position: int
    values: spec.Row
    clock: int = 0
    bound: int | None = None
    stopped: bool = False

    @property
    def is_row(self) -> bool:
        """Tells whether it is a row, not a delete, a bound or an end."""
        return self.kind in (LineKind.ROW, LineKind.INITIAL)


@dataclass(frozen=True, slots=True)
class ParcelNews:
    """What lines cannot say by now: when a side stopped, how long lives last."""

    stopped: int = NEVER
    lives: Lives = NO_LIVES


News = Mapping[int, Lives]
"""What is told of lives by position."""
NO_NEWS: News = {}


@dataclass(frozen=True, slots=True)
class SideFrame:
    """One side's lines in order of arrival, and how they are packed.

    `position` are those of the lines, `place` those of the rows by their numbers.
    `told` stands beside the lines, by position. `lost` are rows of a side outside time
    that lack the time their input has.
    """

    settings: pack.PackSettings
    lines: pa.RecordBatch
    position: Whole
    place: Whole
    told: Mapping[int, ParcelNews]
    lost: tuple[spec.Row, ...]

    @property
    def schema(self) -> pa.Schema:
        """Returns the columns of the payload."""
        columns = [self.lines.schema.field(name) for name in self.settings.payload]
        return pa.schema(columns)

    @property
    def rows(self) -> Rows:
        """Returns all rows that ever come, as the kernels get them."""
        if not len(self.place):
            return no_rows(self.schema)
        # Read back from blobs, as a bucket would get them.
        packed = _packed(self.settings, self.lines)
        return blobs.read_rows(one.blob for one in packed if one.blob)

    def between(self, first: int, past: int, most: int) -> Iterator[Line]:
        """Gives what tasks pack that each read so many lines from between positions."""
        # Lines stand by position: two searches find those between.
        start, stop = np.searchsorted(self.position, (first, past)).tolist()
        for at in range(start, stop, most):
            lines = self.lines.slice(at, min(most, stop - at))
            yield from _packed(self.settings, lines)

    def everything(self) -> Iterator[Line]:
        """Gives what one task packs that reads all lines."""
        return _packed(self.settings, self.lines)


def _packed(settings: pack.PackSettings, batch: pa.RecordBatch) -> Iterator[Line]:
    """Gives what Spark's packer makes of one task's lines, for the only bucket."""
    for *report, rows in pack.Packer(settings, waiting=[batch]).lines():
        # A line without rows is a report alone, as every task sends to every bucket.
        blob = None if rows is None else blobs.write_batch(rows)
        yield Line._make((*report, blob))


def side_frames(
    play: spec.Play,
    join: spec.JoinSpec,
    settings: JoinSettings,
    news: Mapping[spec.Hand, News],
) -> tuple[SideFrame, SideFrame]:
    """Returns the frames of both sides of a play."""
    codes: dict[Hashable, int] = {}
    left, right = (
        _Coming.of(play, join, hand, settings).frame(codes, news.get(hand, NO_NEWS))
        for hand in spec.HANDS
    )
    return left, right


def _items_of(play: spec.Play, source: spec.Input, clock: spec.Clock) -> Iterator[Item]:
    """Gives all that comes on an input: its state, then rows, deletes, bounds, ends.

    In a batch bounds and ends say nothing, and all has come in the end. So it is with
    a data set from the start.
    """
    state = () if source.kind is spec.InputKind.STREAM else source.rows
    for number, values in enumerate(state):
        # State counts up to -1: it stands before event 0.
        yield Item(LineKind.INITIAL, number - len(state), values)
    # In a batch nobody waits for bounds: everything has come once its end has.
    is_batch = clock is spec.Clock.BATCH
    if source.kind is spec.InputKind.DATASET and not is_batch:
        yield Item(LineKind.FINISH, BEFORE, {})
    events = (*play.opening, *play.events)
    for position, event in enumerate(events):
        match event:
            case spec.Arrive(name, values, now) if name == source.name:
                yield Item(LineKind.ROW, position, values, now)
            case spec.Remove(name, values, now) if name == source.name:
                yield Item(LineKind.DELETE, position, values, now)
            case spec.Bound(name, moment) if name == source.name and not is_batch:
                yield Item(LineKind.BOUND, position, {}, bound=moment)
            case spec.Finish(name, now) if name == source.name and not is_batch:
                # In order of arrival an end says nothing of row times.
                ends = clock is spec.Clock.EVENT
                kind = LineKind.FINISH if ends else LineKind.BOUND
                yield Item(kind, position, {}, now, stopped=True, bound=BEGINNING)
            case _:
                pass
    if is_batch:  # behind the last row, if there is any
        yield Item(LineKind.FINISH, len(events) - 1, {})


@dataclass(frozen=True, slots=True)
class _Coming:
    """What comes on a side, and how its keys, partitions and times are found."""

    hand: spec.Hand
    items: tuple[Item, ...]
    source: spec.Input
    side: SideSettings
    reads_clock: bool
    takes_back: bool
    clock: spec.Clock
    keys: tuple[Callable[[spec.Row], Hashable], ...]
    counted: tuple[Callable[[spec.Row], Hashable], ...]
    parts: tuple[Callable[[spec.Row], Hashable], ...]
    own_key: tuple[Callable[[spec.Row], Hashable], ...]
    condition: Callable[[spec.Row], object]

    @classmethod
    def of(
        cls,
        play: spec.Play,
        join: spec.JoinSpec,
        hand: spec.Hand,
        settings: JoinSettings,
    ) -> _Coming:
        """Returns one side of a play."""
        side, at = join.side(hand), spec.HANDS.index(hand)
        sources = [sides.input_of(join, one, play.inputs) for one in spec.HANDS]
        source = sources[at]
        own, bare = expression.Scope.row(source.schema), expression.BARE
        parts, own_key = (
            tuple(
                _seen(questions.value_key(expression.Expression(text), own), bare)
                for text in texts
            )
            for texts in (sides.partition_of(side), key_of(side, source))
        )
        scope = expression.Scope.pair(*(one.schema for one in sources))
        keys, counted = (
            tuple(
                _seen(
                    questions.equality_keys(one.left, one.right, scope)[at], hand.letter
                )
                for one in some
            )
            for some in (sides.candidate_equalities(join), join.counted)
        )
        return cls(
            hand,
            tuple(_items_of(play, source, join.clock)),
            source,
            settings.sides[at],
            settings.reads_clock,
            settings.takes_back,
            join.clock,
            keys,
            counted,
            parts,
            own_key,
            _own_condition(play, join, hand),
        )

    def frame(self, codes: dict[Hashable, int], news: News) -> SideFrame:
        """Returns the side's frame; `codes` are the numbers of the keys so far.

        What is told of lives comes with a line that says nothing else.
        """
        lost = tuple(item.values for item in self.items if self._is_lost(item))
        kept = [item for item in self.items if not self._is_lost(item)]
        rows = [item for item in kept if item.kind not in _BARE]
        bare = [item for item in kept if item.kind in _BARE]
        # A bound that is behind everything moves nothing.
        quiet = [Item(LineKind.BOUND, at, {}, bound=BEGINNING) for at in news]
        # Stable: at one position rows come first, then bounds, then what is told beside
        # them.
        lines = sorted([*rows, *bare, *quiet], key=lambda item: item.position)
        payload = self._payload(rows)
        # On the event clock the bound of its end says when a side has ended.
        is_arrival = self.clock is spec.Clock.ARRIVAL
        ends = (item for item in bare if item.stopped and is_arrival)
        stopped = {item.position: item.clock for item in ends}
        return SideFrame(
            pack.PackSettings(
                hand=spec.HANDS.index(self.hand),
                labels=(LABEL,),
                per_scope=1,
                lateness=self.source.lateness,
                timed=self._looks_at_time(),
                code=CODE,
                moment=MOMENT,
                payload=tuple(payload.schema.names),
                event=EVENT,
                partition=PARTITION if self.side.own_partition else "",
                position=POSITION,
                barred=BARRED,
            ),
            self._table(lines, rows, payload, codes),
            np.array([item.position for item in lines], np.int64),
            np.array([item.position for item in rows], np.int64),
            {
                at: ParcelNews(stopped.get(at, NEVER), news.get(at, NO_LIVES))
                for at in stopped.keys() | news.keys()
            },
            lost,
        )

    def _table(
        self,
        lines: Sequence[Item],
        rows: Sequence[Item],
        payload: pa.RecordBatch,
        codes: dict[Hashable, int],
    ) -> pa.RecordBatch:
        """Returns the lines with what pack reads; a bound and an end have no row."""
        keys = [tuple(key(item.values) for key in self.keys) for item in rows]
        own: dict[str, Sequence[int | None]] = {
            # A null equals nothing; in a batch nobody meets a row without its time.
            CODE: [
                None if None in key else codes.setdefault(key, len(codes))
                for key in keys
            ],
            PARTITION: _numbers(
                tuple(part(item.values) for part in self.parts) for item in rows
            ),
            BARRED: [int(self.condition(item.values) is not True) for item in rows],
        }
        for name, values in own.items():
            payload = payload.append_column(name, pa.array(values, pa.int64()))
        # By identity: two rows may have the same values.
        numbers = {id(item): number for number, item in enumerate(rows)}
        at = pa.array([numbers.get(id(item)) for item in lines], pa.int64())
        table = payload.take(at) if at.null_count else payload
        every: dict[str, Sequence[int | None]] = {
            MOMENT: [self._moment(item) for item in lines],
            POSITION: [item.position for item in lines],
            EVENT: [int(item.kind) for item in lines],
        }
        for name, values in every.items():
            table = table.append_column(name, pa.array(values, pa.int64()))
        return table

    def _is_lost(self, item: Item) -> bool:
        """Tells whether a row of a side outside time lacks the time its input has."""
        if not self.side.static or self.clock is spec.Clock.BATCH:
            return False
        is_timed_row = self.source.is_timed and item.is_row
        return is_timed_row and item.values.get(self.source.time) is None

    def _looks_at_time(self) -> bool:
        """Tells whether row times matter to the side, be it only among versions.

        In a batch the kernels say so, who ask for rows that lack theirs.
        """
        window, closing = self.side.window, self.side.closing
        # Of versions and of ranges the time counts, though the side itself stands
        # outside of time.
        has_age = isinstance(window, spec.Latest) or closing is Closing.ROW_TIME
        asks = self.clock is spec.Clock.BATCH or has_age or not self.side.static
        return self.source.is_timed and asks

    def _moment(self, item: Item) -> int | None:
        """Returns a bound, or a row time that counts."""
        if item.kind in _BARE:
            return item.bound
        value = item.values.get(self.source.time)
        if value is None or not self._looks_at_time():
            return None
        return to_microseconds(value)  # type: ignore[arg-type] # a time column's

    def _payload(self, items: Sequence[Item]) -> pa.RecordBatch:
        """Returns the rows' numbers, then their columns; deletes have few of them.

        Beside them stands what windows look at, and a table's keys as numbers.
        """
        names = self.source.schema.names
        # A delete may bring no more than its key.
        rows = [{name: item.values.get(name) for name in names} for item in items]
        table = arrow_table(rows, self.source.schema).combine_chunks()
        columns = [
            pa.array(np.arange(len(rows))),
            *(
                [
                    column.chunk(0) if column.num_chunks else pa.array([], column.type)
                    for column in table.columns
                ]
            ),
        ]
        shown = pa.RecordBatch.from_arrays(columns, names=[NUMBER, *names])
        more: list[tuple[str, Whole | Sequence[int]]] = [
            *hidden_columns(self.side.window, self.source, shown),
            *bad_intervals(self.source, shown),
        ]
        if self.side.closing is Closing.ROW_TIME:
            more.append(
                (
                    KEYLESS,
                    [
                        int(None in [key(item.values) for key in self.counted])
                        for item in items
                    ],
                )
            )
        if self.reads_clock:
            more.append((CLOCK, [item.clock for item in items]))
        # Room for the row time that an early null row shows, which the step writes in.
        if self.takes_back:
            more.append((EARLY_TIME, [MISSING] * len(rows)))
        if self.source.kind is not spec.InputKind.STREAM:
            more.append((KEY, self._key_numbers(items)))
        for name, numbers in more:
            shown = shown.append_column(name, pa.array(numbers, pa.int64()))
        return shown

    def _key_numbers(self, items: Sequence[Item]) -> Sequence[int]:
        """Returns the numbers of a table's keys; without a key each row has its own."""
        if not self.own_key:
            return range(len(items))
        return _numbers(
            tuple(key(item.values) for key in self.own_key) for item in items
        )


def _own_condition(
    play: spec.Play, join: spec.JoinSpec, hand: spec.Hand
) -> Callable[[spec.Row], object]:
    """Returns the condition on one side's rows alone; only the left may have one."""
    if hand is spec.Hand.RIGHT or join.picks.left_condition == expression.ALWAYS:
        return lambda _row: True
    schema = sides.input_of(join, hand, play.inputs).schema
    condition = expression.compiled(
        join.picks.left_condition, expression.Scope(((hand.letter, schema),))
    )
    return lambda row: condition({hand.letter: row})


def _seen(key: questions.Key, letter: str) -> Callable[[spec.Row], Hashable]:
    """Returns the function of a row that an expression knows by a letter."""
    return lambda row: key({letter: row})


def _numbers(values: Iterable[Hashable]) -> Sequence[int]:
    """Returns a number for each value; equal values have one number."""
    known: dict[Hashable, int] = {}
    # The count is taken before the value is put in: so the first one is 0.
    return [known.setdefault(value, len(known)) for value in values]
