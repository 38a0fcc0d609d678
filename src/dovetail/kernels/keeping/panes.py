"""Windows that fire with the clock, of which totals of groups alone are asked.

    rows      a a b | a c | b      a window that empties as it fires is one pane
    panes     a2 b1 | a1 c1 | b1
    windows   [a3 b1 c1]           those that slide share panes with one another
                     [a1 c1 b1]

Of each group a pane keeps its totals and the last row. Nothing else depends on where in
its pane a row stands: so a batch is sorted by panes and groups, and each total goes
over a whole column.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from math import gcd

import numpy as np
import pyarrow as pa

from dovetail.kernels.arrays.names import LineKind
from dovetail.kernels.arrays.rows import NEVER, Whole
from dovetail.kernels.keeping.folds import (
    Folding,
    Grouping,
    folded,
    have_codes,
    is_foldable,
)
from dovetail.kernels.keeping.lines import CAUSE, KIND, RowLines, Saved
from dovetail.kernels.keeping.windows import OVER, Windows, columns_of
from dovetail.spec.firing import ByCalendar, ByCount, ByTime, Groups, Sliding, Tumbling
from dovetail.spec.spans import Span
from dovetail.spec.windows import KeepPartitions


def is_in_panes(known: Windows, schema: pa.Schema) -> bool:
    """Tells whether windows fire with the clock, and totals alone are asked."""
    window, gives = known.window, known.gives
    if not isinstance(gives, Groups):
        return False
    match window:
        case Tumbling(ByTime() | ByCalendar()):
            by_time = True
        case Sliding(ByTime(), ByTime(), skips=ByCount(0)):
            by_time = True
        case _:
            by_time = False
    is_one = not known.by and isinstance(known.drops, KeepPartitions)
    asks = gives.lists or gives.placed or known.has_marks
    totals = all(
        is_foldable(it, schema.field(it.column).type) and not it.distinct
        for it in gives.totals
    )
    return by_time and is_one and totals and not asks and have_codes(schema, gives.by)


@dataclass(frozen=True, slots=True)
class _Panes:
    """Groups of panes in the order of these, those of a pane in that of first rows.

    Of each group the moment at which its pane `ends`, its last row, how many rows it
    has, and its totals.
    """

    ends: Whole
    last: pa.RecordBatch
    sizes: Whole
    totals: Sequence[Folding]

    def take(self, chosen: Whole) -> _Panes:
        """Returns some of them."""
        totals = [one.take(chosen) for one in self.totals]
        last = self.last.take(pa.array(chosen))
        return _Panes(self.ends[chosen], last, self.sizes[chosen], totals)

    def grouped(self, by: Sequence[str], ends: Whole) -> _Panes:
        """Returns the groups of panes, which end at these moments."""
        rows = Grouping.by(self.last, by, ends)
        totals = [one.of(rows) for one in self.totals]
        last = self.last.take(pa.array(rows.lasts))
        return _Panes(ends[rows.firsts], last, rows.sums(self.sizes), totals)


def fold(
    known: Windows, kept: pa.RecordBatch, lines: pa.RecordBatch, *, saved: Saved
) -> tuple[pa.RecordBatch, Saved, pa.RecordBatch]:
    """Returns the rows that stay after some lines, what is known, and what fires.

    Known are the clock of the last line, if there was one, and of the groups of panes
    that are still of a window to come when these end, their sizes and their totals.
    """
    window, gives = known.window, known.gives
    assert isinstance(gives, Groups)  # noqa: S101 - see `is_in_panes`
    none = np.zeros(0, np.int64)
    clock, ends, sizes, totals = saved or (None, none, none, ())
    # Behind the end nothing comes any more.
    come = RowLines.by(lines if clock != OVER else lines.slice(0, 0))
    # Groups that go on stand in front of new rows, one row each.
    every = [
        folded(total, come.rows.column(total.column), was)
        for total, was in zip_longest(gives.totals, totals)
    ]
    sizes = np.append(sizes, np.ones(len(come.at), np.int64))
    panes = _Panes(none, pa.concat_batches([kept, come.rows]), sizes, every)
    own = _ends(_pane(window), come.times)
    panes = panes.grouped(gives.by, np.append(ends, own))
    fired = [panes.take(none)]
    if len(come.nows):
        first = int(come.nows[0]) if clock is None else clock
        clock = int(come.nows[-1])
        fired += _fired(window, gives.by, panes, first=first, now=clock)
        clock = OVER if come.ends else clock
        panes = panes.take(np.flatnonzero(_lasts(window, panes.ends) > clock))
    given = [_windows(gives, one, come.nows) for one in fired]
    saved = clock, panes.ends, panes.sizes, [one.known for one in panes.totals]
    return panes.last, saved, pa.concat_batches(given)


def _windows(gives: Groups, windows: _Panes, nows: Whole) -> pa.RecordBatch:
    """Returns the groups of windows as results: the first line behind lets them out."""
    ends, counts = windows.ends, list[list[int]]()
    if gives.counts:
        every = defaultdict[int, list[int]](list)
        for end, size in zip(ends.tolist(), windows.sizes.tolist(), strict=True):
            every[end].append(size)
        counts = [every[end] for end in ends.tolist()]
    return results(
        gives,
        windows.last,
        windows.totals,
        last=np.arange(len(ends)),
        counts=counts,
        moments=ends,
        causes=np.searchsorted(nows, ends),
    )


def results(
    gives: Groups,
    table: pa.RecordBatch,
    totals: Sequence[Folding],
    *,
    last: Whole,
    counts: Sequence[Sequence[int]],
    moments: Sequence[int | None] | Whole,
    causes: Whole,
) -> pa.RecordBatch:
    """Returns groups of rows of a table as lines, each with the line that causes it."""
    columns = columns_of(gives, table, last, counts=counts, moments=moments)
    for total, one in zip(gives.totals, totals, strict=True):
        columns[total.name] = one.column()
    columns[KIND] = pa.array(np.full(len(last), LineKind.ROW), pa.int32())
    columns[CAUSE] = pa.array(causes)
    return pa.RecordBatch.from_pydict(columns)


def _pane(window: Tumbling | Sliding) -> ByTime | ByCalendar:
    """Returns how long a pane is: windows begin and end where some of them do."""
    match window:
        case Sliding(ByTime(keeps), ByTime(fires)):
            return ByTime(Span(0, gcd(keeps.microseconds, fires.microseconds)))
        case Tumbling(ByTime() | ByCalendar() as until):
            return until
        case _:
            raise AssertionError(window)


def _ends(pane: ByTime | ByCalendar, moments: Whole) -> Whole:
    """Returns when the panes of moments end, of which none is before the last one."""
    if isinstance(pane, ByTime):
        every = pane.length.microseconds
        return (moments // every + 1) * every
    ends, count = list[int](), 0
    while count < len(moments):
        # Behind the year 9999 there is no other.
        ends.append(next(pane.ticks(int(moments[count]), NEVER), NEVER))
        count = int(np.searchsorted(moments, ends[-1]))
    return np.array(ends, np.int64)[np.searchsorted(ends, moments, side="right")]


def _lasts(window: Tumbling | Sliding, ends: Whole) -> Whole:
    """Returns when the last windows fire that have the panes which end at moments."""
    match window:
        case Sliding(ByTime(keeps), ByTime(fires)):
            size, every = keeps.microseconds, fires.microseconds
            return (ends - gcd(size, every) + size) // every * every
        case _:
            return ends


def _fired(
    window: Tumbling | Sliding,
    by: Sequence[str],
    panes: _Panes,
    *,
    first: int,
    now: int,
) -> Iterator[_Panes]:
    """Yields the groups of windows that fire behind a moment, until another one."""
    ends = panes.ends
    if not isinstance(window, Sliding):
        yield panes.take(np.flatnonzero(ends <= now))
        return
    assert isinstance(window.keeps, ByTime)  # noqa: S101 - see `is_in_panes`
    assert isinstance(window.fires, ByTime)  # noqa: S101 - likewise
    size, hop = window.keeps.length.microseconds, window.fires
    moment = hop.after(first)
    last = min(now, int(_lasts(window, ends).max(initial=first)))
    while moment <= last:
        start, stop = np.searchsorted(ends, (moment - size, moment), side="right")
        if start < stop:
            own = panes.take(np.arange(start, stop))
            yield own.grouped(by, np.full(stop - start, moment))
            moment = hop.after(moment)
        else:
            # Nothing fires before the first pane behind it has ended.
            moment = hop.after(int(ends[start]) - 1)
