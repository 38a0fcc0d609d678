"""Windows that fire, row by row, as plain lists: what the definition says of them.

Whoever plays a stream gives what arrives at an operator, in order, and is told of each
thing that comes out during which of the arrivals it does.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from enum import Enum
from functools import cmp_to_key
from operator import itemgetter
from typing import Any

from dovetail import schema, spec
from dovetail.conformance.oracle.sides import same
from dovetail.conformance.oracle.totals import folded
from dovetail.spec import firing


class Sign(Enum):
    """What goes along a stream beside its rows."""

    MARK = "a window punctuation"
    END = "the stream is finished"


class Passing(Enum):
    """Nothing comes, but time has passed."""

    TIME = "time passes"


Content = spec.Row | Sign
Given = tuple[int, Content | Passing]
"""When something comes, in microseconds, and what."""


def fired(
    step: spec.Windowed, given: Sequence[Given], *, has_marks: bool
) -> Iterator[tuple[int, Content]]:
    """Yields what a window gives, each with the number of what has come just then.

    Without marks nobody hears of a moment at which a window fires that has no rows.
    """
    windows = _Windows(step, has_marks)
    for number, (clock, content) in enumerate(given):
        for found in windows.come(clock, content):
            yield number, found
        # No timer goes on behind the end of a stream.
        if content is Sign.END:
            return


@dataclass(slots=True)
class _Window:
    """The rows of one partition, each with when it came; `used`: when the last did."""

    used: int
    rows: list[tuple[spec.Row, int]] = field(default_factory=list)
    since: int = 0
    triggered: Any = None
    has_been_full: bool = False


@dataclass(slots=True)
class _Windows:
    """The windows of all partitions, the one longest unused first."""

    step: spec.Windowed
    has_marks: bool
    clock: int | None = None
    now: int = field(init=False)
    parts: dict[tuple[object, ...], _Window] = field(default_factory=dict)

    def come(self, clock: int, content: Content | Passing) -> Iterator[Content]:
        """Yields what comes of time that has passed, and then of what has come."""
        yield from self._passed(clock)
        match content:
            case Sign.MARK if self.step.window == firing.Tumbling(firing.ByMark()):
                # Who waits for marks behind an operator gets one for each that came.
                if not self.parts:
                    yield Sign.MARK
                for one in self.parts.values():
                    yield from self._fire(one)
                self.parts.clear()
            case Passing.TIME | Sign.MARK:
                pass
            case Sign.END:
                # Rows that leave in order come out to the last; lists that are not
                # full are lost.
                is_sliding = isinstance(self.step.window, firing.Sliding)
                if is_sliding and isinstance(self.step.gives, firing.Arranged):
                    for one in self.parts.values():
                        yield from self._arranged(one)
                yield Sign.END
            case _:
                yield from self._row(content, clock)

    def _passed(self, clock: int) -> Iterator[Content]:
        """Yields what windows give as time passes.

        Those of a time at each multiple of their length; others one by one, when so
        long has passed since their first row came, or more than that since their last.
        """
        before, self.clock = self.clock, clock
        over: list[tuple[int, tuple[object, ...]]] = []
        match self.step.window.fires:
            case (firing.ByTime() | firing.ByCalendar()) as own if before is not None:
                # All that passes between two events passes before the second one comes.
                is_heard = self.has_marks and isinstance(
                    self.step.window, firing.Tumbling
                )
                for tick in own.ticks(before, clock):
                    # A window of a microsecond fires often: without rows, for nobody.
                    if not self.parts and not is_heard:
                        break
                    yield from self._tick(tick)
            case firing.FromFirst(length):
                last = clock - length.microseconds
                began = [(one.rows[0][1], key) for key, one in self.parts.items()]
                over = [it for it in began if it[0] <= last]
            case firing.FromLast(length):
                last = clock - length.microseconds
                used = [(one.used, key) for key, one in self.parts.items()]
                over = [it for it in used if it[0] < last]
        # The one that is over first fires first, however late somebody looks.
        for _, key in sorted(over, key=itemgetter(0)):
            yield from self._fire(self.parts.pop(key))
        self._outlive(clock)

    def _tick(self, now: int) -> Iterator[Content]:
        """Yields what all windows give at a moment."""
        self.now = now
        self._outlive(now)
        if not self.parts and isinstance(self.step.window, firing.Tumbling):
            yield Sign.MARK
        for key in [*self.parts]:
            yield from self._fire(self.parts[key])
            if isinstance(self.step.window, firing.Tumbling):
                del self.parts[key]

    def _outlive(self, now: int) -> None:
        """Drops the rows that are too old for a window of time."""
        keeps = self.step.window.keeps
        if isinstance(keeps, firing.ByTime):
            length = keeps.length.microseconds
            for key, one in [*self.parts.items()]:
                one.rows = [it for it in one.rows if now - it[1] <= length]
                if not one.rows:
                    del self.parts[key]

    def _row(self, row: spec.Row, clock: int) -> Iterator[Content]:
        """Yields what comes of a row."""
        yield from self._drop_old(clock)
        key = _key(row, self.step.by)
        one = self.parts.setdefault(key, _Window(clock))
        yield from self._before(one, row)
        one.rows.append((row, clock))
        one.used = clock
        # It is the one used last: a dict keeps the order in which keys were put in.
        self.parts[key] = self.parts.pop(key)
        # Too many now? The one longest unused goes, which may be its own.
        match self.step.drops:
            case spec.EvictCount(most):
                while len(self.parts) > most:
                    yield from self._drop(next(iter(self.parts)))
            case spec.EvictTuples(most):
                if sum(len(some.rows) for some in self.parts.values()) > most:
                    yield from self._drop(next(iter(self.parts)))
        if key in self.parts:
            yield from self._behind(key, one)

    def _before(self, one: _Window, row: spec.Row) -> Iterator[Content]:
        """Yields what comes before a row is in its window, and makes room for it."""
        match self.step.window:
            case firing.Tumbling(firing.ByDelta() as until):
                if one.rows and _is_over(until, row, one.rows[0][0]):
                    yield from self._fire(one)
                    one.rows = []
            case firing.Sliding(keeps, fires):
                if isinstance(fires, firing.ByDelta):
                    one.triggered = one.triggered or row
                    if _is_over(fires, row, one.triggered):
                        yield from self._fire(one)
                        one.triggered = row
                yield from self._make_room(one, row, keeps)

    def _make_room(
        self, one: _Window, row: spec.Row, keeps: object
    ) -> Iterator[Content]:
        """Yields the row that leaves where rows leave in order, and drops it."""
        match keeps:
            case firing.ByCount(count) if len(one.rows) >= count:
                if isinstance(self.step.gives, firing.Arranged):
                    first = next(self._arranged(one))
                    at = next(n for n, it in enumerate(one.rows) if it[0] is first)
                    del one.rows[at]
                    yield first
                else:
                    del one.rows[0]
            case firing.ByDelta():
                kept = [it for it in one.rows if not _is_over(keeps, row, it[0])]
                one.has_been_full |= len(kept) < len(one.rows)
                one.rows = kept

    def _behind(self, key: tuple[object, ...], one: _Window) -> Iterator[Content]:
        """Yields what comes of a window that has one more row."""
        match self.step.window:
            case firing.Tumbling(firing.ByCount(count)):
                if len(one.rows) == count:
                    yield from self._fire(one)
                    del self.parts[key]
            case firing.Sliding(keeps, fires):
                if isinstance(keeps, firing.ByCount):
                    one.has_been_full |= len(one.rows) == keeps.count
                one.has_been_full |= isinstance(keeps, firing.ByTime)
                one.since += 1
                if isinstance(fires, firing.ByCount) and one.since == fires.count:
                    one.since = 0
                    yield from self._fire(one)

    def _fire(self, one: _Window) -> Iterator[Content]:
        """Yields what a window gives when it fires, and the mark behind it."""
        window = self.step.window
        if isinstance(window, firing.Sliding) and (
            isinstance(self.step.gives, firing.Arranged)
            or not (window.eager or one.has_been_full)
        ):
            return
        match self.step.gives:
            case firing.Groups() as gives:
                yield from self._grouped(one, gives)
            case firing.Arranged():
                yield from self._arranged(one)
        yield Sign.MARK

    def _grouped(self, one: _Window, gives: firing.Groups) -> Iterator[spec.Row]:
        """Yields a row for each group of the rows of a window."""
        groups: dict[tuple[object, ...], list[spec.Row]] = {}
        last: dict[tuple[object, ...], spec.Row] = {}
        for number, (row, when) in enumerate(one.rows):
            key = _key(row, gives.by)
            last[key] = row
            group = groups.setdefault(key, [])
            if not self._is_skipped(len(one.rows) - number, when):
                group.append(row)
        # Each row that comes out, one a group, knows the sizes of all groups.
        counts = [len(group) for group in groups.values()]
        for key, group in groups.items():
            found: dict[str, Any] = {
                it.name: [row[it.column] for row in group] for it in gives.lists
            }
            found |= {name: last[key][name] for name in gives.last}
            found |= self._totals(gives, group)
            if gives.counts:
                found[gives.counts] = counts
            if gives.moment:
                found[gives.moment] = schema.from_microseconds(self.now)
            yield found

    def _is_skipped(self, back: int, when: int) -> bool:
        """Tells whether a row is too new, which stands so far from the end."""
        match self.step.window:
            case firing.Sliding(skips=firing.ByCount(count)):
                return back <= count  # 1 is the last one
            case firing.Sliding(skips=firing.ByTime(length)):
                assert self.clock is not None  # noqa: S101 - a row has come
                return self.clock - when < length.microseconds
            case _:
                return False

    def _totals(
        self, gives: firing.Groups, group: Sequence[spec.Row]
    ) -> dict[str, Any]:
        """Returns what becomes of the values of a group, and of single rows of it."""
        known = self.step.source.schema
        found: dict[str, Any] = {}
        for total in gives.totals:
            values = [row[total.column] for row in group]
            some = [it for it in values if it is not None]
            if total.distinct:
                some = [*{same(it): it for it in some}.values()]
            kind = firing.type_of(total.fold, known[total.column].type)
            found[total.name] = folded(total.fold, some, kind)
        for one in gives.placed:
            # From the front rows count from 1, from the end on from -1.
            at = one.number - 1 if one.number > 0 else len(group) + one.number
            is_there = 0 <= at < len(group)
            found[one.name] = group[at][one.column] if is_there else None
        return found

    def _arranged(self, one: _Window) -> Iterator[spec.Row]:
        """Yields the rows of a window in their order."""
        assert isinstance(self.step.gives, firing.Arranged)  # noqa: S101 - as asked
        by = self.step.gives.by

        def compared(left: spec.Row, right: spec.Row) -> int:
            for name, descends in by:
                first, second = left[name], right[name]
                if first != second:
                    is_below = first < second  # type: ignore[operator]
                    return -1 if is_below is not descends else 1
            return 0

        yield from sorted((row for row, _ in one.rows), key=cmp_to_key(compared))

    def _drop_old(self, clock: int) -> Iterator[Content]:
        """Yields what partitions give that are dropped for their age."""
        if not isinstance(self.step.drops, spec.EvictAge) or not self.parts:
            return
        # In whole seconds: none goes before the oldest is older, then all of that age.
        limit = (clock - self.step.drops.age.microseconds) // spec.SECOND
        used = {key: one.used // spec.SECOND for key, one in self.parts.items()}
        if next(iter(used.values())) < limit:
            for key in [key for key, last in used.items() if last <= limit]:
                yield from self._drop(key)

    def _drop(self, key: tuple[object, ...]) -> Iterator[Content]:
        """Yields what a partition gives that is dropped, if it fires then."""
        one = self.parts.pop(key)
        if self.step.fires_dropped:
            yield from self._fire(one)


def _is_over(policy: firing.ByDelta, later: spec.Row, earlier: spec.Row) -> bool:
    """Tells whether a row is too far above an earlier one."""
    high, low = later[policy.column], earlier[policy.column]
    if isinstance(high, float):
        return high - low > float(policy.width)  # type: ignore[operator]
    return high - low > policy.width  # type: ignore[operator, no-any-return]


def aligned(
    step: spec.Aligned, given: Sequence[Given]
) -> Iterator[tuple[int, Content]]:
    """Yields a row where one of each port is waiting, with the number of the last."""
    queues: dict[tuple[object, ...], list[list[spec.Row]]] = {}
    for number, (_, content) in enumerate(given):
        if isinstance(content, Passing) or content is Sign.MARK:
            continue
        if content is Sign.END:
            yield number, content
            continue
        key = _key(content, step.by)
        waiting = queues.setdefault(key, [[] for _ in step.parts])
        port = content[step.port]
        assert isinstance(port, int)  # noqa: S101 - the column of ports
        waiting[port].append(content)
        if all(waiting):
            firsts = zip(step.parts, waiting, strict=True)
            yield number, {name: queue.pop(0)[name] for name, queue in firsts}


def _key(row: spec.Row, names: Sequence[str]) -> tuple[object, ...]:
    """Returns the values of columns, as what can be looked up."""
    return tuple(same(row[name]) for name in names)
