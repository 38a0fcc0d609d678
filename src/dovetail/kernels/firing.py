"""Windows that fire, over lines of rows in the order in which they come.

    kept     a b c             a table of rows; the windows know places in it
    lines    d . e M f         rows, time alone (.), marks (M), the end
    windows  {x: a c e, y: b d f}

What a window gives is places again: so columns are taken once for all of a batch, and
no value is looked at but those of partitions, groups, deltas and sort keys.
"""

from __future__ import annotations

from bisect import insort_right
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import total_ordering
from itertools import chain, islice, takewhile
from operator import itemgetter
from typing import Any, NamedTuple, Protocol

import numpy as np
import pyarrow as pa

from dovetail.kernels.arrays.names import LineKind, reserved
from dovetail.kernels.arrays.rows import BEGINNING, NEVER, Whole
from dovetail.spec.firing import (
    Arranged,
    ByCalendar,
    ByCount,
    ByDelta,
    ByMark,
    ByTime,
    FiringWindow,
    FromFirst,
    FromLast,
    Gives,
    Lists,
    Policy,
    Sliding,
    Tumbling,
)
from dovetail.spec.spans import SECOND
from dovetail.spec.windows import (
    EvictAge,
    EvictCount,
    Eviction,
    EvictTuples,
    KeepPartitions,
)

KIND, NOW, CAUSE = reserved("event"), reserved("now"), reserved("cause")
"""What a line is, and when it comes; of a result the place of its line in the batch."""
ORDER = reserved("order")
"""Where a result stands among all of its line, also those that go elsewhere."""
Key = tuple[Any, ...]
_Saved = Any
"""What is known of rows that stay, as plain values: it goes into a checkpoint."""
_OVER = 1 << 62
"""What time it is behind the end of a stream: nothing comes any more, and no timer
goes on."""


@dataclass(frozen=True, slots=True)
class Windows:
    """What is known of the windows of an operator before a row comes."""

    window: FiringWindow
    gives: Gives
    by: tuple[str, ...] = ()
    drops: Eviction = KeepPartitions()
    fires_dropped: bool = False
    has_marks: bool = True
    """Whether somebody hears that a window has fired."""


@dataclass(frozen=True, slots=True)
class Queues:
    """Rows of several ports that wait for one of each other port."""

    port: str
    parts: tuple[str, ...]
    by: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Memory:
    """What tells rows that repeat others: see `Recognized`, whose words it has."""

    column: str
    by: tuple[str, ...]
    within: Policy
    renews: bool
    forgets: bool


class Found(NamedTuple):
    """What a line lets out: a mark, or a result made of the rows of some places.

    `counts` are those of all groups of a window, which fires at a `moment`: none where
    nobody asks.
    """

    rows: Sequence[int] = ()
    counts: Sequence[int] = ()
    moment: int | None = None

    @property
    def is_mark(self) -> bool:
        """Tells whether it is a mark: a result is made of something."""
        # By what it is, and not by which: code that has travelled has objects anew.
        return not self.rows


class Keeper(Protocol):
    """What remembers rows: it is told of each line, and gives what comes out then."""

    def come(self, kind: int, now: int, place: int) -> Iterator[Found]:
        """Yields what comes out when a line comes, which may be a row's."""

    def kept(self) -> list[int]:
        """Returns the places of the rows that stay."""

    def saved(self, numbers: Mapping[int, int]) -> _Saved:
        """Returns what is known, of rows by the places that they get."""

    def columns(self, found: Sequence[Found]) -> dict[str, pa.Array]:
        """Returns the columns of what comes out, null for a mark."""


@dataclass(frozen=True, slots=True)
class Kept:
    """The rows that stay from one step to the next, and what is known of them."""

    rows: pa.RecordBatch
    saved: _Saved = None


def advance(
    known: Windows | Queues | Memory, kept: Kept, lines: pa.RecordBatch
) -> tuple[Kept, pa.RecordBatch]:
    """Returns what is kept after some lines, and what comes out of them.

    Behind the columns of results stand what each is, and the place of its line.
    """
    table = pa.concat_batches([kept.rows, lines.drop_columns([KIND, NOW])])
    keeper: Keeper
    match known:
        case Windows():
            keeper = _Windows.over(known, table, kept.saved)
        case Queues():
            keeper = _Queues.over(known, table, kept.saved)
        case Memory():
            keeper = _Memory.over(known, table, kept.saved)
    told = zip(*(lines.column(name).to_pylist() for name in (KIND, NOW)), strict=True)
    causes: list[int] = []
    found: list[Found] = []
    for number, (kind, now) in enumerate(told):
        for one in keeper.come(kind, now, kept.rows.num_rows + number):
            causes.append(number)
            found.append(one)
    # Their order is that in which they came: places only ever get smaller.
    stay = sorted(keeper.kept())
    numbers = {old: new for new, old in enumerate(stay)}
    kinds = [int(LineKind.MARK if one.is_mark else LineKind.ROW) for one in found]
    columns = keeper.columns(found) | {
        KIND: pa.array(kinds, pa.int32()),
        CAUSE: pa.array(causes, pa.int64()),
    }
    rows = table.take(pa.array(stay, pa.int64()))
    return Kept(rows, keeper.saved(numbers)), pa.RecordBatch.from_pydict(columns)


def _tuples(table: pa.RecordBatch, names: Sequence[str]) -> list[Key]:
    """Returns the values of columns, row by row."""
    if not names:
        return [()] * table.num_rows
    return [*zip(*(_values(table.column(name)) for name in names), strict=True)]


def _values(column: pa.Array) -> Sequence[Any]:
    """Returns the values of a column as parts of keys."""
    # Times are told apart by their numbers: to make one of Python's takes longest.
    if pa.types.is_timestamp(column.type):
        column = column.cast(pa.int64())
    values: list[Any] = column.to_pylist()
    return [*map(_plain, values)] if pa.types.is_nested(column.type) else values


def _plain(value: Any) -> Any:  # noqa: ANN401 - whatever a column holds
    """Returns a value that can be a key: a list as a tuple, and so on inside it."""
    if isinstance(value, list):
        return tuple(map(_plain, value))
    if isinstance(value, dict):
        return tuple((name, _plain(part)) for name, part in value.items())
    return value


def _taken(
    table: pa.RecordBatch, names: Sequence[str], places: Sequence[int | None] | Whole
) -> dict[str, pa.Array]:
    """Returns the values of columns at some places."""
    numbers = pa.array(places, pa.int64())
    return {name: table.column(name).take(numbers) for name in names}


@dataclass(slots=True)
class _Queues:
    """Rows that wait, by port, for each key."""

    known: Queues
    table: pa.RecordBatch
    keys: Sequence[Key]
    ports: Sequence[int]
    waiting: dict[Key, list[deque[int]]] = field(default_factory=dict)

    @classmethod
    def over(cls, known: Queues, table: pa.RecordBatch, saved: _Saved) -> _Queues:
        """Returns the queues of what is kept and comes."""
        ports = table.column(known.port).to_pylist()
        queues = cls(known, table, _tuples(table, known.by), ports)
        for key, places in saved or ():
            queues.waiting[key] = [*map(deque, places)]
        return queues

    def come(self, kind: int, _: int, place: int) -> Iterator[Found]:
        """Yields the row of which the last part has come."""
        if kind != LineKind.ROW:
            return
        key, count = self.keys[place], len(self.known.parts)
        queues = self.waiting.setdefault(key, [deque() for _ in range(count)])
        queues[self.ports[place]].append(place)
        if all(queues):
            yield Found([queue.popleft() for queue in queues])
            if not any(queues):
                del self.waiting[key]

    def kept(self) -> list[int]:
        """Returns the places of the rows that wait."""
        every = (queue for queues in self.waiting.values() for queue in queues)
        return [place for queue in every for place in queue]

    def saved(self, numbers: Mapping[int, int]) -> _Saved:
        """Returns who waits for whom."""
        return [
            (key, [[numbers[place] for place in queue] for queue in queues])
            for key, queues in self.waiting.items()
        ]

    def columns(self, found: Sequence[Found]) -> dict[str, pa.Array]:
        """Returns what is shown of each port's rows."""
        columns: dict[str, pa.Array] = {}
        for port, name in enumerate(self.known.parts):
            columns |= _taken(self.table, [name], [one.rows[port] for one in found])
        return columns


@dataclass(slots=True)
class _Memory:
    """The keys of rows that have come, the one touched last at the end.

    Beside each stands where its row stood: its number, its value, or when it came.
    """

    known: Memory
    table: pa.RecordBatch
    keys: Sequence[Key]
    width: Any
    values: Sequence[Any]
    seen: dict[Key, Any] = field(default_factory=dict)
    count: int = 0

    @classmethod
    def over(cls, known: Memory, table: pa.RecordBatch, saved: _Saved) -> _Memory:
        """Returns what is remembered, with the keys of what comes."""
        width, values = _limit(known.within, table)
        memory = cls(known, table, _tuples(table, known.by), width, values)
        if saved is not None:
            pairs, memory.count = saved
            memory.seen = dict(pairs)
        return memory

    def come(self, kind: int, now: int, place: int) -> Iterator[Found]:
        """Yields each row with whether it repeats one, and marks as they come."""
        match kind:
            case LineKind.ROW:
                yield Found([place], [int(self._repeats(place, now))])
            case LineKind.MARK:
                if self.known.forgets:
                    self.seen.clear()
                yield Found()

    def _repeats(self, place: int, now: int) -> bool:
        """Returns whether a row repeats another one, and remembers it."""
        self.count += 1
        key, here = self.keys[place], self._stands(place, now)
        # What holds NaN equals nothing, itself neither.
        if not _equals_itself(key):
            return False
        # A place that is no number, NaN, is above none, and drives all out.
        found = key in self.seen and not here - self.seen[key] > self.width
        if not found or self.known.renews:
            # A dict keeps the order in which keys were put in.
            self.seen.pop(key, None)
            self.seen[key] = here
        while self.seen:
            first = next(iter(self.seen))
            if here - self.seen[first] <= self.width:
                break
            del self.seen[first]
        return found

    def _stands(self, place: int, now: int) -> Any:  # noqa: ANN401 - as measured
        """Returns where a row stands."""
        match self.known.within:
            case ByCount():
                return self.count
            case ByDelta():
                return self.values[place]
            case _:
                return now

    def kept(self) -> list[int]:
        """Returns no place: what is remembered are keys."""
        return []

    def saved(self, _: Mapping[int, int]) -> _Saved:
        """Returns what is remembered, in its order."""
        return [*self.seen.items()], self.count

    def columns(self, found: Sequence[Found]) -> dict[str, pa.Array]:
        """Returns the rows themselves, with whether each repeats one."""
        places = [one.rows[0] if one.rows else None for one in found]
        rows = _taken(self.table, self.table.schema.names, places)
        told = [bool(one.counts[0]) if one.rows else None for one in found]
        return rows | {self.known.column: pa.array(told, pa.bool_())}


def _limit(within: Policy, table: pa.RecordBatch) -> tuple[Any, Sequence[Any]]:
    """Returns how far a row may be above one that it repeats, and by which values."""
    match within:
        case ByCount(count):
            return count, ()
        case ByTime(length):
            return length.microseconds, ()
        case _:
            measure = _Measure.of(within, table)
            assert measure is not None  # noqa: S101 - other policies remember nothing
            return measure.width, measure.values


def _equals_itself(value: Any) -> bool:  # noqa: ANN401 - a part of a key
    """Tells whether nothing in a key is NaN."""
    if isinstance(value, tuple):
        return all(map(_equals_itself, value))
    return bool(value == value)  # noqa: PLR0124 - NaN alone is not


@total_ordering
@dataclass(frozen=True, slots=True)
class _Descending:
    """A value that stands in front of lower ones."""

    value: Any

    def __lt__(self, other: _Descending) -> bool:
        """Tells whether this one stands in front."""
        return bool(self.value > other.value)


@dataclass(frozen=True, slots=True)
class _Measure:
    """How far rows are above others, by a column."""

    values: Sequence[Any]
    width: Any

    @classmethod
    def of(cls, policy: Policy, table: pa.RecordBatch) -> _Measure | None:
        """Returns the measure of a policy; None if it measures nothing."""
        if not isinstance(policy, ByDelta):
            return None
        column, width = table.column(policy.column), policy.width
        if pa.types.is_floating(column.type):
            return cls(column.to_pylist(), float(width))
        # Whole numbers are compared sooner than decimals.
        is_whole = width == int(width)
        return cls(column.to_pylist(), int(width) if is_whole else width)

    def is_over(self, place: int, earlier: Any) -> bool:  # noqa: ANN401 - its value
        """Tells whether a row is too far above an earlier value."""
        return bool(self.values[place] - earlier > self.width)


@dataclass(slots=True)
class _Window:
    """The rows of one partition, and what is remembered beside them.

    When a row came stands beside its place. `since` counts the rows since it fired,
    `triggered` is the value at which it did; `rises` while no value is below another.
    """

    rows: deque[tuple[int, int]] = field(default_factory=deque)
    used: int = 0
    since: int = 0
    triggered: Any = None
    has_been_full: bool = False
    rises: bool = True


@dataclass(slots=True)
class _Windows:
    """The windows of all partitions, the one longest unused first."""

    known: Windows
    table: pa.RecordBatch
    keys: Sequence[Key]
    groups: Sequence[Key]
    ranks: Sequence[Key]
    evicts: _Measure | None
    triggers: _Measure | None
    parts: dict[Key, _Window] = field(default_factory=dict)
    clock: int | None = None
    count: int = 0
    now: int | None = None
    quiet: int = BEGINNING
    """Before this moment no window is due by time alone."""

    @classmethod
    def over(cls, known: Windows, table: pa.RecordBatch, saved: _Saved) -> _Windows:
        """Returns the windows of what is kept and comes."""
        window, gives = known.window, known.gives
        ranks = []
        for name, descends in gives.by if isinstance(gives, Arranged) else ():
            column = table.column(name).to_pylist()
            ranks.append([*map(_Descending, column)] if descends else column)
        windows = cls(
            known,
            table,
            _tuples(table, known.by),
            _tuples(table, gives.groups if isinstance(gives, Lists) else ()),
            [*zip(*ranks, strict=True)],
            _Measure.of(window.keeps, table),
            _Measure.of(window.fires, table),
        )
        if saved is not None:
            windows.clock, parts = saved
            for key, rows, *rest in parts:
                windows.parts[key] = _Window(deque(rows), *rest)
                windows.count += len(rows)
        return windows

    def kept(self) -> list[int]:
        """Returns the places of the rows in windows."""
        if self.clock is not None:
            self._outlive(self.clock)
        return [place for one in self.parts.values() for place, _ in one.rows]

    def saved(self, numbers: Mapping[int, int]) -> _Saved:
        """Returns what is known of each window."""
        parts = [
            (
                *(key, [(numbers[place], when) for place, when in one.rows], one.used),
                *(one.since, one.triggered, one.has_been_full, one.rises),
            )
            for key, one in self.parts.items()
        ]
        return self.clock, parts

    def columns(self, found: Sequence[Found]) -> dict[str, pa.Array]:
        """Returns lists of the values of each group, or the rows themselves."""
        gives = self.known.gives
        if isinstance(gives, Arranged):
            places = [one.rows[0] if one.rows else None for one in found]
            return _taken(self.table, self.table.schema.names, places)
        # One take for all windows of a batch: a list is a stretch of it.
        lengths = np.fromiter((len(one.rows) for one in found), np.int64, len(found))
        every = np.fromiter(
            chain.from_iterable(one.rows for one in found), np.int64, lengths.sum()
        )
        ended = pa.array(np.concatenate(([0], np.cumsum(lengths))), pa.int32())
        is_mark = pa.array(lengths == 0)
        lists = {
            name: pa.ListArray.from_arrays(ended, values, mask=is_mark)
            for name, values in _taken(self.table, gives.columns, every).items()
        }
        counts = {}
        if gives.counts:
            sizes = [one.counts for one in found]
            counts = {gives.counts: pa.array(sizes, pa.list_(pa.int32()))}
        latest = [one.rows[-1] if one.rows else None for one in found]
        last = _taken(self.table, gives.last, latest)
        moments = {}
        if gives.moment:
            micros = pa.array([one.moment for one in found], pa.int64())
            moments = {gives.moment: micros.cast(pa.timestamp("us", "UTC"))}
        return lists | counts | last | moments

    def come(self, kind: int, now: int, place: int) -> Iterator[Found]:
        """Yields what comes of time that has passed, and then of what has come."""
        if self.clock == _OVER:
            return
        if now < self.quiet:
            self.clock = now
        else:
            yield from self._passed(now)
        window = self.known.window
        # A row lets nothing of another partition out: old rows there may go later.
        is_alone = isinstance(self.known.drops, KeepPartitions)
        is_own = is_alone and kind == LineKind.ROW
        self._outlive(now, self.keys[place] if is_own else None)
        match kind:
            case LineKind.ROW:
                yield from self._row(place, now)
            case LineKind.MARK if window == Tumbling(ByMark()):
                yield from self._all()
            case LineKind.FINISH:
                if isinstance(window, Sliding) and self.ranks:
                    for one in self.parts.values():
                        yield from self._arranged(one)
                self.parts.clear()
                self.clock = _OVER

    # Time.

    def _passed(self, now: int) -> Iterator[Found]:
        """Yields what windows give as time passes, at each multiple of their length."""
        before, self.clock = self.clock, now
        window = self.known.window
        if isinstance(window.fires, ByTime | ByCalendar) and before is not None:
            ticks = window.fires.ticks(before, now)
            # The first one empties a tumbling window: of the others come marks alone.
            if isinstance(window, Tumbling) and not self.known.has_marks:
                ticks = islice(ticks, 1)
            for tick in ticks:
                # Of a sliding window nothing is left some time after the last row.
                if isinstance(window, Sliding) and not self.parts:
                    break
                self.now = tick
                self._outlive(tick)
                if isinstance(window, Tumbling):
                    yield from self._all()
                else:
                    for one in self.parts.values():
                        yield from self._fire(one)
        if isinstance(window.fires, FromFirst | FromLast):
            yield from self._closed(now - window.fires.length.microseconds)
        self.quiet = self._next(now)

    def _next(self, now: int) -> int:
        """Returns before when no window is due by time alone, as far as is known."""
        match self.known.window.fires:
            case ByTime() as fires:
                return fires.after(now)
            case ByCalendar() | FromFirst() | FromLast():
                return BEGINNING
            case _:
                return NEVER

    def _closed(self, last: int) -> Iterator[Found]:
        """Yields what windows give whose first row came at a moment or before it.

        Of those that go on with each row it is the last one, and before it.
        """
        if isinstance(self.known.window.fires, FromLast):
            # The one longest unused is in front: behind the first that stays all do.
            every = ((one.used, key) for key, one in self.parts.items())
            due = [*takewhile(lambda window: window[0] < last, every)]
        else:
            # A window is at the place of its last row: its first one says when.
            due = [(one.rows[0][1], key) for key, one in self.parts.items()]
        for _, key in sorted((it for it in due if it[0] <= last), key=itemgetter(0)):
            one = self.parts.pop(key)
            self.count -= len(one.rows)
            yield from self._fire(one)

    def _outlive(self, now: int, key: Key | None = None) -> None:
        """Drops rows that are too old for a window of time, of a partition or all."""
        window = self.known.window
        # A tumbling one of time gives all its rows with the next tick.
        if not isinstance(window, Sliding):
            return
        if isinstance(window.keeps, ByTime):
            length = window.keeps.length.microseconds
            every = self.parts if key is None else {key} & self.parts.keys()
            for one_key in [*every]:
                one = self.parts[one_key]
                while one.rows and now - one.rows[0][1] > length:
                    one.rows.popleft()
                    self.count -= 1
                if not one.rows:
                    del self.parts[one_key]

    def _all(self) -> Iterator[Found]:
        """Yields what all windows give, which begin anew."""
        if self.known.has_marks and not self.parts:
            yield Found()
        for one in self.parts.values():
            yield from self._fire(one)
        self.parts.clear()
        self.count = 0

    # A row.

    def _row(self, place: int, now: int) -> Iterator[Found]:
        """Yields what comes of a row."""
        if isinstance(self.known.drops, EvictAge):
            yield from self._drop_old(self.known.drops, now)
        key = self.keys[place]
        # Taken out and put back it is the one used last.
        one = self.parts.pop(key, None) or _Window()
        yield from self._before(one, place)
        # A row goes behind those that are equal, as IBM's operator has it.
        if self.ranks and isinstance(self.known.window, Sliding):
            insort_right(one.rows, (place, now), key=lambda one: self.ranks[one[0]])
        else:
            one.rows.append((place, now))
        self.count += 1
        one.used = now
        self.parts[key] = one
        match self.known.drops:
            case EvictCount(most):
                while len(self.parts) > most:
                    yield from self._drop(next(iter(self.parts)))
            case EvictTuples(most) if self.count > most:
                yield from self._drop(next(iter(self.parts)))
        # With too many rows of all partitions its own may be the one that goes.
        if key in self.parts:
            yield from self._behind(key, one)

    def _before(self, one: _Window, place: int) -> Iterator[Found]:
        """Yields what comes before a row is in its window, and makes room for it."""
        window, evicts = self.known.window, self.evicts
        if isinstance(window, Tumbling):
            oldest = one.rows[0][0] if one.rows else place
            if evicts and evicts.is_over(place, evicts.values[oldest]):
                yield from self._fire(one)
                self.count -= len(one.rows)
                one.rows.clear()
            return
        # What is measured fires without the row that lets it, counted with it.
        if self.triggers:
            value = self.triggers.values[place]
            one.triggered = value if one.triggered is None else one.triggered
            if self.triggers.is_over(place, one.triggered):
                yield from self._fire(one)
                one.triggered = value
        if evicts:
            self._make_room(one, evicts, place)
        most = window.keeps.count if isinstance(window.keeps, ByCount) else 0
        if 0 < most <= len(one.rows):
            first, _ = one.rows.popleft()
            self.count -= 1
            if self.ranks:
                yield Found([first])

    def _make_room(self, one: _Window, evicts: _Measure, place: int) -> None:
        """Drops the rows that are too far below one that comes."""
        before, values = len(one.rows), evicts.values
        if one.rows and values[place] < values[one.rows[-1][0]]:
            one.rises = False
        # While values rise the old ones are the low ones, and stand in front.
        if one.rises:
            while one.rows and evicts.is_over(place, values[one.rows[0][0]]):
                one.rows.popleft()
        else:
            stay = (it for it in one.rows if not evicts.is_over(place, values[it[0]]))
            one.rows = deque(stay)
        one.has_been_full |= len(one.rows) < before
        self.count -= before - len(one.rows)

    def _behind(self, key: Key, one: _Window) -> Iterator[Found]:
        """Yields what comes of a window that has one more row."""
        match self.known.window:
            case Tumbling(ByCount(count)) if len(one.rows) == count:
                yield from self._fire(one)
                self.count -= count
                del self.parts[key]
            case Sliding(keeps, fires):
                if isinstance(keeps, ByCount):
                    one.has_been_full |= len(one.rows) == keeps.count
                one.has_been_full |= isinstance(keeps, ByTime)
                one.since += 1
                if isinstance(fires, ByCount) and one.since == fires.count:
                    one.since = 0
                    yield from self._fire(one)

    # What comes out.

    def _fire(self, one: _Window) -> Iterator[Found]:
        """Yields what a window gives when it fires, and the mark behind it."""
        window = self.known.window
        if isinstance(window, Sliding) and (
            self.ranks or not (window.eager or one.has_been_full)
        ):
            return
        if isinstance(self.known.gives, Lists):
            groups: dict[Key, list[int]] = {}
            if not self.known.gives.groups and one.rows:
                groups[()] = [place for place, _ in one.rows]
            else:
                for place, _ in one.rows:
                    groups.setdefault(self.groups[place], []).append(place)
            counts = [*map(len, groups.values())] if self.known.gives.counts else []
            for group in groups.values():
                yield Found(group, counts, self.now)
        else:
            yield from self._arranged(one)
        if self.known.has_marks:
            yield Found()

    def _arranged(self, one: _Window) -> Iterator[Found]:
        """Yields the rows of a window in their order."""
        for place in sorted((it for it, _ in one.rows), key=self.ranks.__getitem__):
            yield Found([place])

    # Partitions that are dropped.

    def _drop_old(self, drops: EvictAge, now: int) -> Iterator[Found]:
        """Yields what partitions give that are dropped for their age.

        In whole seconds: none goes before the oldest is older, then all of that age.
        """
        limit = (now - drops.age.microseconds) // SECOND
        oldest = next(iter(self.parts.values()), None)
        if oldest is not None and oldest.used // SECOND < limit:
            for key, one in [*self.parts.items()]:
                if one.used // SECOND > limit:
                    break
                yield from self._drop(key)

    def _drop(self, key: Key) -> Iterator[Found]:
        """Yields what a partition gives that is dropped, if it fires then."""
        one = self.parts.pop(key)
        self.count -= len(one.rows)
        if self.known.fires_dropped:
            yield from self._fire(one)
