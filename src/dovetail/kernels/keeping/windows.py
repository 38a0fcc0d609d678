"""Windows that fire, over lines of rows in the order in which they come.

    lines    a x . b y M       rows, time alone (.), marks (M)
    windows  {1: a b, 2: x y}  a window of each partition

Where all that is asked for are totals they go on from row to row: a window that empties
as it fires keeps no row but the last one of each group, and one that slides gives what
it does at the same price however long it is.

Totals alone, of windows that fire with the clock or slide over a length of time, are
worth whole columns: see `panes` and `sliding`.
"""

from __future__ import annotations

from bisect import insort_right
from collections import defaultdict, deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import total_ordering
from itertools import chain, islice, takewhile
from operator import itemgetter
from typing import Any

import numpy as np
import pyarrow as pa

from dovetail.kernels.arrays.names import LineKind
from dovetail.kernels.arrays.rows import BEGINNING, NEVER, Whole
from dovetail.kernels.keeping.lines import (
    Found,
    Key,
    Measure,
    Saved,
    keys_of,
    taken,
)
from dovetail.kernels.keeping.totals import Group, Totals
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
    Groups,
    Listed,
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

_NONE = ByCount(0)
OVER = 1 << 62
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


@total_ordering
@dataclass(frozen=True, slots=True)
class _Descending:
    """A value that stands in front of lower ones."""

    value: Any

    def __lt__(self, other: _Descending) -> bool:
        """Tells whether this one stands in front."""
        return bool(self.value > other.value)


@dataclass(slots=True)
class _Window:
    """The rows of one partition, and what is remembered beside them.

    When a row came stands beside its place. `since` counts the rows since it fired,
    `triggered` is the value at which it did; `rises` while no value is below another.
    The first row `began` it. Groups stand here where totals go on from row to row, and
    rows that it skips yet are its `young` ones.
    """

    rows: deque[tuple[int, int]] = field(default_factory=deque)
    used: int = 0
    since: int = 0
    triggered: Any = None
    has_been_full: bool = False
    rises: bool = True
    size: int = 0
    began: int = 0
    groups: dict[Key, Group] = field(default_factory=dict)
    young: deque[tuple[int, int]] = field(default_factory=deque)


def columns_of(
    gives: Groups,
    table: pa.RecordBatch,
    last: Sequence[int | None] | Whole,
    *,
    counts: Sequence[Sequence[int]],
    moments: Sequence[int | None] | Whole,
) -> dict[str, pa.Array]:
    """Returns the columns of groups of rows of a table, but for what is made of them.

    Of each the place of its `last` row, how many rows each group of its window has, and
    when that fires.
    """
    columns = taken(table, gives.last, last)
    if gives.counts:
        columns[gives.counts] = pa.array(counts, pa.list_(pa.int32()))
    if gives.moment:
        micros = pa.array(moments, pa.int64())
        columns[gives.moment] = micros.cast(pa.timestamp("us", "UTC"))
    return columns


def groups_of(
    gives: Groups, totals: Totals, table: pa.RecordBatch, *, found: Sequence[Found]
) -> dict[str, pa.Array]:
    """Returns the columns of groups of rows of a table, but for lists and places."""
    columns = columns_of(
        gives,
        table,
        [one.last for one in found],
        counts=[one.counts for one in found],
        moments=[one.moment for one in found],
    )
    return columns | totals.columns([one.totals for one in found])


@dataclass(slots=True)
class Windowed:
    """The windows of all partitions, the one longest unused first."""

    known: Windows
    table: pa.RecordBatch
    keys: Sequence[Key]
    groups: Sequence[Key]
    ranks: Sequence[Key]
    evicts: Measure | None
    triggers: Measure | None
    totals: Totals
    parts: dict[Key, _Window] = field(default_factory=dict)
    clock: int | None = None
    count: int = 0
    now: int | None = None
    quiet: int = BEGINNING
    """Before this moment no window is due by time alone."""
    keeps_rows: bool = True
    """Whether anything is asked of rows beside the totals and last rows of groups."""
    goes_on: bool = False
    """Whether totals go on from row to row; else they are of a window as it fires."""
    skips: ByCount | ByTime = _NONE

    @classmethod
    def over(cls, known: Windows, table: pa.RecordBatch, saved: Saved) -> Windowed:
        """Returns the windows of what is kept and comes."""
        window, gives = known.window, known.gives
        ranks = []
        for name, descends in gives.by if isinstance(gives, Arranged) else ():
            column = table.column(name).to_pylist()
            ranks.append([*map(_Descending, column)] if descends else column)
        windows = cls(
            known,
            table,
            keys_of(table, known.by),
            keys_of(table, gives.by if isinstance(gives, Groups) else ()),
            [*zip(*ranks, strict=True)],
            Measure.of(window.keeps, table),
            Measure.of(window.fires, table),
            Totals.over(
                gives.totals if isinstance(gives, Groups) else (),
                table,
                drops=isinstance(window, Sliding),
            ),
        )
        windows._look_ahead()
        if saved is not None:
            windows.clock, parts = saved
            for key, rows, young, groups, *rest in parts:
                one = windows.parts[key] = _Window(deque(rows), *rest)
                one.young = deque(young)
                windows.count += one.size
                for own, totals, size, last in groups:
                    one.groups[own] = Group((), size, last, (), totals)
        return windows

    def _look_ahead(self) -> None:
        """Finds out what must be kept of rows."""
        window, gives = self.known.window, self.known.gives
        if not isinstance(gives, Groups):
            return
        if isinstance(window, Tumbling):
            # The first value says there when the window is over.
            looks_back = isinstance(window.until, ByDelta)
            self.keeps_rows = bool(gives.lists or gives.placed or looks_back)
            self.goes_on = not self.keeps_rows
        else:
            self.goes_on = isinstance(window.fires, ByCount) and not gives.by
            self.skips = window.skips

    def kept(self) -> list[int]:
        """Returns the places of the rows in windows."""
        if self.clock is not None:
            self._outlive(self.clock)
        every = self.parts.values()
        if not self.keeps_rows:
            return [group.last for one in every for group in one.groups.values()]
        return [place for one in every for place, _ in chain(one.rows, one.young)]

    def saved(self, numbers: Mapping[int, int]) -> Saved:
        """Returns what is known of each window."""
        parts = []
        for key, one in self.parts.items():
            rows, young = (
                [(numbers[place], when) for place, when in some]
                for some in (one.rows, one.young)
            )
            groups = [
                (own, it.known(), it.size, numbers[it.last])
                for own, it in one.groups.items()
            ]
            known = one.used, one.since, one.triggered, one.has_been_full, one.rises
            parts.append((key, rows, young, groups, *known, one.size, one.began))
        return self.clock, parts

    def columns(self, found: Sequence[Found]) -> dict[str, pa.Array]:
        """Returns lists of the values of each group, or the rows themselves."""
        gives = self.known.gives
        if isinstance(gives, Arranged):
            places = [one.last for one in found]
            return taken(self.table, self.table.schema.names, places)
        lists = self._lists(gives.lists, found) if gives.lists else {}
        placed = {}
        for number, it in enumerate(gives.placed):
            places = [None if one.is_mark else one.placed[number] for one in found]
            placed[it.name] = taken(self.table, [it.column], places)[it.column]
        return groups_of(gives, self.totals, self.table, found=found) | lists | placed

    def _lists(
        self, asked: Sequence[Listed], found: Sequence[Found]
    ) -> dict[str, pa.Array]:
        """Returns columns of lists, with all values of a group."""
        # One take for all windows of a batch: a list is a stretch of it.
        lengths = np.fromiter((len(one.rows) for one in found), np.int64, len(found))
        every = np.fromiter(
            chain.from_iterable(one.rows for one in found), np.int64, lengths.sum()
        )
        ended = pa.array(np.concatenate(([0], np.cumsum(lengths))), pa.int32())
        is_mark = pa.array([one.is_mark for one in found], pa.bool_())
        columns = taken(self.table, {it.column for it in asked}, every)
        return {
            it.name: pa.ListArray.from_arrays(ended, columns[it.column], mask=is_mark)
            for it in asked
        }

    def come(self, kind: int, now: int, place: int) -> Iterator[Found]:
        """Yields what comes of time that has passed, and then of what has come."""
        if self.clock == OVER:
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
                self.clock = OVER

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
            due = [(one.began, key) for key, one in self.parts.items()]
        for _, key in sorted((it for it in due if it[0] <= last), key=itemgetter(0)):
            one = self.parts.pop(key)
            self.count -= one.size
            yield from self._fire(one)

    def _outlive(self, now: int, key: Key | None = None) -> None:
        """Drops rows that are too old for a window of time, of a partition or all."""
        window = self.known.window
        # A tumbling one of time gives all its rows with the next tick.
        if not isinstance(window, Sliding):
            return
        if isinstance(window.keeps, ByTime):
            length = window.keeps.length.microseconds
            for one_key in [*self.parts] if key is None else (key,):
                one = self.parts.get(one_key)
                if one is None:
                    continue
                while one.rows and now - one.rows[0][1] > length:
                    self._leave(one)
                while one.young and now - one.young[0][1] > length:
                    one.young.popleft()
                if not one.rows and not one.young:
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
        one.used = now
        if self.skips == _NONE:
            self._enter(one, place, now)
        else:
            one.young.append((place, now))
            self._grow(one, now)
            # It gives something even where there is no row at which it looks.
            one.groups.setdefault((), self.totals.begun()).last = place
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
            values = evicts.values if evicts else ()
            # By a width below 0 even an equal row is too far above, but not above none.
            if evicts and one.rows and evicts.is_over(place, values[one.rows[0][0]]):
                yield from self._fire(one)
                self.count -= one.size
                one.size = 0
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
        if 0 < most <= one.size + len(one.young) and one.rows:
            first = self._leave(one)
            if self.ranks:
                yield Found(first)

    def _grow(self, one: _Window, now: int) -> None:
        """Takes rows into a window that it has skipped until now."""
        skips = self.skips
        while one.young and (
            len(one.young) > skips.count
            if isinstance(skips, ByCount)
            else now - one.young[0][1] >= skips.length.microseconds
        ):
            self._enter(one, *one.young.popleft())

    def _enter(self, one: _Window, place: int, now: int) -> None:
        """Takes a row into a window, which came at a moment."""
        one.began = one.began if one.size else now
        one.size += 1
        self.count += 1
        # A row goes behind those that are equal, as IBM's operator has it.
        if self.ranks and isinstance(self.known.window, Sliding):
            insort_right(one.rows, (place, now), key=lambda one: self.ranks[one[0]])
        elif self.keeps_rows:
            one.rows.append((place, now))
        if self.goes_on:
            self._add(one.groups, place)

    def _leave(self, one: _Window) -> int:
        """Drops the first row of a window, and returns its place."""
        place, _ = one.rows.popleft()
        one.size -= 1
        self.count -= 1
        if self.goes_on:
            self.totals.drop(one.groups[()], place)
        return place

    def _add(self, groups: dict[Key, Group], place: int) -> None:
        """Adds a row to its group."""
        key = self.groups[place]
        group = groups.get(key)
        if group is None:
            group = groups[key] = self.totals.begun()
        self.totals.add(group, place)

    def _make_room(self, one: _Window, evicts: Measure, place: int) -> None:
        """Drops the rows that are too far below one that comes."""
        before, values = one.size, evicts.values
        if one.rows and values[place] < values[one.rows[-1][0]]:
            one.rises = False
        # While values rise the old ones are the low ones, and stand in front.
        if one.rises:
            while one.rows and evicts.is_over(place, values[one.rows[0][0]]):
                self._leave(one)
        else:
            stay = (it for it in one.rows if not evicts.is_over(place, values[it[0]]))
            one.rows = deque(stay)
            self.count -= one.size - len(one.rows)
            one.size = len(one.rows)
            # Who leaves may stand anywhere: who stays is added anew.
            one.groups.clear()
            for stays, _ in one.rows if self.goes_on else ():
                self._add(one.groups, stays)
        one.has_been_full |= one.size < before

    def _behind(self, key: Key, one: _Window) -> Iterator[Found]:
        """Yields what comes of a window that has one more row."""
        match self.known.window:
            case Tumbling(ByCount(count)) if one.size == count:
                yield from self._fire(one)
                self.count -= count
                del self.parts[key]
            case Sliding(keeps, fires):
                if isinstance(keeps, ByCount):
                    one.has_been_full |= one.size == keeps.count
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
        gives = self.known.gives
        if isinstance(gives, Groups):
            groups = one.groups if self.goes_on else self._grouped(one)
            counts = [it.size for it in groups.values()] if gives.counts else []
            for group in groups.values():
                rows = group.places
                # Where totals go on rows stand in the window alone, if anywhere.
                if self.goes_on and gives.lists:
                    rows = [place for place, _ in one.rows]
                totals = self.totals.results(group)
                placed: list[int | None] = []
                for it in gives.placed:
                    at = it.number - 1 if it.number > 0 else it.number
                    if not -group.size <= at < group.size:
                        placed.append(None)
                    elif self.goes_on:
                        placed.append(one.rows[at][0])
                    else:
                        placed.append(group.places[at])
                yield Found(group.last, rows, counts, self.now, totals, placed)
        else:
            yield from self._arranged(one)
        if self.known.has_marks:
            yield Found()

    def _grouped(self, one: _Window) -> dict[Key, Group]:
        """Returns the groups of the rows of a window."""
        groups: dict[Key, Group] = {}
        places = defaultdict[Key, list[int]](list)
        for place, _ in one.rows:
            self._add(groups, place)
            places[self.groups[place]].append(place)
        for key, group in groups.items():
            group.places = places[key]
        return groups

    def _arranged(self, one: _Window) -> Iterator[Found]:
        """Yields the rows of a window in their order."""
        for place in sorted((it for it, _ in one.rows), key=self.ranks.__getitem__):
            yield Found(place)

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
        self.count -= one.size
        if self.known.fires_dropped:
            yield from self._fire(one)
