"""All rows that ever come on one side of a play, as the kernels' arrays.

Keys become numbers by one dictionary for both sides, so equal keys have equal codes and
no hash is ever trusted. The payload is the row's columns and, first, its number here.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from dovetail import spec
from dovetail.conformance.local.hidden import bad_intervals, hidden_columns
from dovetail.engines.kernel_settings import key_of
from dovetail.engines.tables import arrow_table
from dovetail.expression import ALWAYS, BARE, Expression, Scope, compiled
from dovetail.expression.questions import Key, equality_keys, value_key
from dovetail.kernels.arrays.names import reserved
from dovetail.kernels.arrays.rows import (
    BEGINNING,
    MISSING,
    Flags,
    Rows,
    Whole,
    flags_of,
    make_rows,
)
from dovetail.kernels.arrival.time_limits import CLOCK, KEYLESS
from dovetail.kernels.settings import EARLY_TIME, Closing, JoinSettings, SideSettings
from dovetail.kernels.tables.changelog import KEY
from dovetail.plan.sides import candidate_equalities, input_of, partition_of
from dovetail.schema import to_microseconds
from dovetail.spec.facts import is_state

NUMBER = reserved("row")
BEFORE = -1
"""The position of the rows that are there from the start."""


@dataclass(frozen=True, slots=True)
class Item:
    """A row or a delete, its position in the play, and the time on the clock."""

    values: spec.Row
    position: int
    clock: int = 0
    removes: bool = False
    from_start: bool = False

    @property
    def is_row(self) -> bool:
        """Tells whether it is a row, not a delete."""
        return not self.removes


@dataclass(frozen=True, slots=True)
class Cargo:
    """One side's rows in order of arrival: as they came, and for the kernels.

    `lost` are rows of a side outside time that lack the time their input has.
    """

    values: tuple[spec.Row, ...]
    rows: Rows
    lost: tuple[spec.Row, ...]

    def between(self, first: int, past: int) -> Rows:
        """Returns the rows from one position on, up to another."""
        start, stop = np.searchsorted(self.rows.place, (first, past))
        return self.rows.take(slice(int(start), int(stop)))


def cargo(
    play: spec.Play, join: spec.JoinSpec, settings: JoinSettings
) -> tuple[Cargo, Cargo]:
    """Returns the rows of both sides of a play."""
    codes: dict[Hashable, int] = {}
    left, right = (
        _Seat.of(play, join, hand, settings).cargo(codes) for hand in spec.HANDS
    )
    return left, right


def items_of(play: spec.Play, source: spec.Input) -> list[Item]:
    """Returns all that comes on an input: its state, then rows and deletes."""
    state = () if source.kind is spec.InputKind.STREAM else source.rows
    items = [
        Item(values, number - len(state), from_start=True)
        for number, values in enumerate(state)
    ]
    for position, event in enumerate((*play.opening, *play.events)):
        match event:
            case spec.Arrive(name, values, clock) if name == source.name:
                items.append(Item(values, position, clock))
            case spec.Remove(name, values, clock) if name == source.name:
                items.append(Item(values, position, clock, removes=True))
            case _:
                pass
    return items


@dataclass(frozen=True, slots=True)
class _Seat:
    """One side: what comes, and how its keys, partitions and times are found."""

    items: tuple[Item, ...]
    source: spec.Input
    side: SideSettings
    reads_clock: bool
    takes_back: bool
    windows: tuple[spec.Window, ...]
    is_state: bool
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
    ) -> _Seat:
        """Returns one side of a play."""
        source = input_of(join, hand, play.inputs)
        own = Scope.row(source.schema)
        parts, own_key = (
            tuple(_seen(value_key(Expression(text), own), BARE) for text in texts)
            for texts in (
                partition_of(join.side(hand)),
                key_of(join.side(hand), source),
            )
        )
        keys, counted = (
            tuple(_seen(key, hand.letter) for key in _keys(play, join, hand, some))
            for some in (candidate_equalities(join), join.counted)
        )
        return cls(
            tuple(items_of(play, source)),
            source,
            settings.sides[spec.HANDS.index(hand)],
            settings.reads_clock,
            settings.takes_back,
            _windows_of(play, join, source),
            is_state(join, hand),
            join.clock,
            keys,
            counted,
            parts,
            own_key,
            _own_condition(play, join, hand),
        )

    def cargo(self, codes: dict[Hashable, int]) -> Cargo:
        """Returns the side's rows; `codes` are the numbers of the keys so far."""
        lost = [item for item in self.items if self._is_lost(item)]
        kept = [item for item in self.items if not self._is_lost(item)]
        kept = self._newest(kept) if self.is_state else kept
        values = tuple(item.values for item in kept)
        moment = self._moments(kept)
        keys = [tuple(key(row) for key in self.keys) for row in values]
        rows = make_rows(
            _numbers(keys, codes),
            moment,
            np.array([item.position for item in kept], np.int64),
            self._flags(kept, keys, moment),
            self._payload(kept),
        )
        partition = self._partitions(kept)
        lost_rows = tuple(item.values for item in lost)
        return Cargo(values, rows.with_arrays(partition=partition), lost_rows)

    def _newest(self, items: Sequence[Item]) -> list[Item]:
        """Returns the newest version of each key; what lacks its time replaces none."""
        timeless = [item for item in items if self._lacks_time(item)]
        newest: dict[Hashable, tuple[int, Item]] = {}
        seen = BEGINNING
        for item in items:
            if self._lacks_time(item):
                continue
            time = self._moment(item) if self.source.is_timed else BEGINNING
            # A delete without a time takes the newest time seen.
            time = seen if time == BEGINNING else time
            seen = max(seen, time)
            key = tuple(part(item.values) for part in self.parts)
            if time >= newest.get(key, (BEGINNING, item))[0]:
                newest[key] = (time, item)
        rows = [item for _, item in newest.values() if item.is_row]
        return sorted([*timeless, *rows], key=lambda item: item.position)

    def _is_lost(self, item: Item) -> bool:
        """Tells whether a row of a side outside time lacks the time its input has."""
        is_outside = self.side.static and self.clock is not spec.Clock.BATCH
        return is_outside and self._lacks_time(item)

    def _lacks_time(self, item: Item) -> bool:
        """Tells whether a row lacks the row time that its input has."""
        return (
            self.source.is_timed
            and item.is_row
            and item.values.get(self.source.time) is None
        )

    def _moments(self, items: Sequence[Item]) -> Whole:
        """Returns the row times that count, MISSING where none does.

        A delete without one is given the newest time before it when it is met.
        """
        if not self._looks_at_time():
            return np.full(len(items), MISSING)
        return np.array([self._moment(item) for item in items], np.int64)

    def _looks_at_time(self) -> bool:
        """Tells whether row times matter to the side, be it only among versions."""
        window, closing = self.side.window, self.side.closing
        has_age = isinstance(window, spec.Latest) or closing is Closing.ROW_TIME
        is_everlasting = self.clock is spec.Clock.BATCH and isinstance(
            window, spec.Forever
        )
        stays = self.side.static or is_everlasting
        return self.source.is_timed and (has_age or not stays)

    def _moment(self, item: Item) -> int:
        """Returns one row time."""
        value = item.values.get(self.source.time)
        if value is not None:
            return to_microseconds(value)  # type: ignore[arg-type] # a time column's
        return MISSING if item.is_row else BEGINNING

    def _flags(
        self,
        items: Sequence[Item],
        keys: Sequence[tuple[Hashable, ...]],
        moment: Whole,
    ) -> Flags:
        """Returns the flags of all items; on the clock batch no time is no key."""
        meets = np.array([None not in key for key in keys], bool)
        if self.clock is spec.Clock.BATCH:
            meets &= ~np.array([self._lacks_time(item) for item in items], bool)
        passes = [self.condition(item.values) is True for item in items]
        return flags_of(
            removes=np.array([item.removes for item in items], bool),
            from_start=np.array([item.from_start for item in items], bool),
            barred=~np.array(passes, bool),
            has_key=meets,
            open_time=moment == BEGINNING,
        )

    def _partitions(self, items: Sequence[Item]) -> Whole:
        """Returns the window's partitions; a row no time can place has its own."""
        own = self.clock is spec.Clock.BATCH
        values = [
            (number,)
            if own and self._lacks_time(item)
            else ("", *(part(item.values) for part in self.parts))
            for number, item in enumerate(items)
        ]
        return _numbers(values, {})

    def _payload(self, items: Sequence[Item]) -> pa.RecordBatch:
        """Returns the rows' numbers, then their columns; deletes have few of them.

        Beside them stands what windows look at, and a table's keys as numbers.
        """
        names = self.source.schema.names
        rows = [{name: item.values.get(name) for name in names} for item in items]
        table = arrow_table(rows, self.source.schema).combine_chunks()
        columns = [pa.array(np.arange(len(rows))), *_arrays(table)]
        shown = pa.RecordBatch.from_arrays(columns, names=[NUMBER, *names])
        more = [
            *hidden_columns(self.side.window, self.source, shown),
            *bad_intervals(self.windows, self.source, shown),
        ]
        for name, numbers in more:
            shown = shown.append_column(name, pa.array(numbers))
        if self.side.closing is Closing.ROW_TIME:
            shown = shown.append_column(KEYLESS, pa.array(self._keyless(items)))
        if self.reads_clock:
            clocks = np.array([item.clock for item in items], np.int64)
            shown = shown.append_column(CLOCK, pa.array(clocks))
        if self.takes_back:
            times = np.full(len(rows), MISSING)
            shown = shown.append_column(EARLY_TIME, pa.array(times))
        if self.source.kind is not spec.InputKind.STREAM:
            values = [item.values for item in items]
            shown = shown.append_column(KEY, pa.array(self._key_numbers(values)))
        return shown

    def _keyless(self, items: Sequence[Item]) -> Whole:
        """Returns 1 for each row that a null keeps from being a candidate."""
        nulls = [None in [key(item.values) for key in self.counted] for item in items]
        return np.array(nulls, np.int64)

    def _key_numbers(self, values: Sequence[spec.Row]) -> Whole:
        """Returns the numbers of a table's keys; without a key each row has its own."""
        if not self.own_key:
            return np.arange(len(values))
        return _numbers([tuple(key(row) for key in self.own_key) for row in values], {})


def _windows_of(
    play: spec.Play, join: spec.JoinSpec, source: spec.Input
) -> tuple[spec.Window, ...]:
    """Returns the windows of all sides that an input is on."""
    hands = [hand for hand in spec.HANDS if input_of(join, hand, play.inputs) is source]
    return tuple(join.side(hand).window for hand in hands)


def _keys(
    play: spec.Play,
    join: spec.JoinSpec,
    hand: spec.Hand,
    equalities: Iterable[spec.Equality],
) -> list[Key]:
    """Returns one side's part of equalities."""
    scope = Scope.pair(*(input_of(join, one, play.inputs).schema for one in spec.HANDS))
    return [
        equality_keys(one.left, one.right, scope)[spec.HANDS.index(hand)]
        for one in equalities
    ]


def _own_condition(
    play: spec.Play, join: spec.JoinSpec, hand: spec.Hand
) -> Callable[[spec.Row], object]:
    """Returns the condition on one side's rows alone; only the left may have one."""
    if hand is spec.Hand.RIGHT or join.picks.left_condition == ALWAYS:
        return lambda _row: True
    schema = input_of(join, hand, play.inputs).schema
    condition = compiled(join.picks.left_condition, Scope(((hand.letter, schema),)))
    return lambda row: condition({hand.letter: row})


def _seen(key: Key, letter: str) -> Callable[[spec.Row], Hashable]:
    """Returns the function of a row that an expression knows by a letter."""
    return lambda row: key({letter: row})


def _numbers(values: Iterable[Hashable], known: dict[Hashable, int]) -> Whole:
    """Returns a number for each value; equal values have one number."""
    numbers = [known.setdefault(value, len(known)) for value in values]
    return np.array(numbers, np.int64)


def _arrays(table: pa.Table) -> list[pa.Array]:
    """Returns the columns of a table as plain arrays."""
    return [
        column.chunk(0) if column.num_chunks else pa.array([], column.type)
        for column in table.columns
    ]
