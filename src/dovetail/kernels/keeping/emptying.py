"""Windows that empty as time passes, of which totals of groups alone are asked.

    groups   {a: 3 rows, b: 1 row}   of the window that has not fired yet
    lines    b a | a c | d           a window ends where the first line behind it comes

Nothing depends on where in its window a row stands but for the last row of a group: so
a batch is sorted by windows and groups, and each total goes over a whole column.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import zip_longest

import numpy as np
import pyarrow as pa

from dovetail.kernels.arrays.names import LineKind
from dovetail.kernels.arrays.rows import Whole
from dovetail.kernels.keeping.folds import Grouping, folded, is_foldable
from dovetail.kernels.keeping.lines import CAUSE, KIND, NOW, Saved
from dovetail.kernels.keeping.windows import OVER, Windows, columns_of
from dovetail.spec.firing import ByCalendar, ByTime, Groups, Tumbling
from dovetail.spec.windows import KeepPartitions


def is_emptying(known: Windows, schema: pa.Schema) -> bool:
    """Tells whether windows empty by time, and nobody asks for more than totals."""
    window, gives = known.window, known.gives
    if not isinstance(gives, Groups) or not isinstance(window, Tumbling):
        return False
    by_time = isinstance(window.until, ByTime | ByCalendar)
    is_one = not known.by and isinstance(known.drops, KeepPartitions)
    asks = gives.lists or gives.placed or known.has_marks
    # Which doubles are one key Arrow and Python do not say alike.
    odd = pa.types.is_floating, pa.types.is_nested
    keys = any(is_odd(schema.field(name).type) for name in gives.by for is_odd in odd)
    totals = all(is_foldable(it, schema.field(it.column).type) for it in gives.totals)
    return by_time and is_one and totals and not asks and not keys


@dataclass(frozen=True, slots=True)
class _Come:
    """What comes: rows, and the windows of which they are.

    The window that has not fired yet has number 0. Each ends with the line `causes`,
    and fires at the moment `fired`: but for the last one, which goes on. At the end of
    all lines the clock is `OVER`.
    """

    rows: pa.RecordBatch
    windows: Whole
    causes: Whole
    fired: Whole
    clock: int | None

    @classmethod
    def by(
        cls, length: ByTime | ByCalendar, clock: int | None, lines: pa.RecordBatch
    ) -> _Come:
        """Returns what comes in lines, behind the clock of those before."""
        kinds = lines.column(KIND).to_numpy()
        (ends,) = np.nonzero(kinds == LineKind.FINISH)
        # Behind the end nothing comes any more.
        count = ends[0] + 1 if len(ends) else 0 if clock == OVER else len(kinds)
        nows: Whole = lines.column(NOW).to_numpy()[:count]
        causes, fired = list[int](), list[int]()
        if count:
            now, clock = nows[0] if clock is None else clock, int(nows[-1])
            # The first multiple of the length empties a window: others find nothing.
            while (moment := next(length.ticks(int(now), clock), None)) is not None:
                causes.append(int(np.searchsorted(nows, moment)))
                fired.append(moment)
                now = nows[causes[-1]]
        (at,) = np.nonzero(kinds[:count] == LineKind.ROW)
        return cls(
            lines.drop_columns([KIND, NOW]).take(pa.array(at)),
            np.searchsorted(causes, at, side="right"),
            np.array(causes, np.int64),
            np.array(fired, np.int64),
            OVER if len(ends) else clock,
        )


def fold(
    known: Windows, kept: pa.RecordBatch, lines: pa.RecordBatch, *, saved: Saved
) -> tuple[pa.RecordBatch, Saved, pa.RecordBatch]:
    """Returns the rows that stay after some lines, what is known, and what fires.

    Known are the clock of the last line, if there was one, and of each group of the
    window that has not fired yet the size and what its totals know. They stand in the
    order of their first rows; of each the last row stays.
    """
    gives, length = known.gives, known.window.fires
    assert isinstance(gives, Groups)  # noqa: S101 - see `is_emptying`
    assert isinstance(length, ByTime | ByCalendar)  # noqa: S101 - likewise
    clock, sizes, before = saved or (None, np.zeros(0, np.int64), ())
    come = _Come.by(length, clock, lines)
    table = pa.concat_batches([kept, come.rows])
    # Groups that go on stand in front, one row each.
    windows = np.append(sizes * 0, come.windows)
    rows = _grouped(table, gives.by, windows)
    sizes = rows.sums(np.append(sizes, come.windows * 0 + 1))
    totals = [
        folded(total, come.rows.column(total.column), was).of(rows)
        for total, was in zip_longest(gives.totals, before)
    ]
    last, window = rows.lasts, windows[rows.firsts]
    (fires,) = np.nonzero(window < len(come.causes))
    window = window[fires]
    counts = _counts(sizes[fires], window) if gives.counts else []
    moments = come.fired[window]
    columns = columns_of(gives, table, last[fires], counts=counts, moments=moments)
    for total, one in zip(gives.totals, totals, strict=True):
        columns[total.name] = one.take(fires).column()
    columns[KIND] = pa.array(np.full(len(fires), LineKind.ROW), pa.int32())
    columns[CAUSE] = pa.array(come.causes[window])
    stays = np.arange(len(fires), len(fires) if come.clock == OVER else len(last))
    saved = come.clock, sizes[stays], [one.take(stays).known for one in totals]
    return table.take(pa.array(last[stays])), saved, pa.RecordBatch.from_pydict(columns)


def _grouped(table: pa.RecordBatch, by: Sequence[str], windows: Whole) -> Grouping:
    """Returns rows by window and group, groups in the order of their first rows."""
    codes = windows
    for name in by:
        keys = table.column(name).dictionary_encode("encode").indices.to_numpy()
        codes = codes * (keys.max(initial=0) + 1) + keys
        # Small numbers again, in the order in which they come.
        codes = pa.array(codes).dictionary_encode().indices.to_numpy().astype(np.int64)
    places = np.argsort(codes, kind="stable")
    edges = np.diff(codes[places], prepend=-1)
    return Grouping(places, np.flatnonzero(edges))


def _counts(sizes: Whole, window: Whole) -> list[list[int]]:
    """Returns for each group the sizes of all groups of its window."""
    every = defaultdict[int, list[int]](list)
    for one, size in zip(window.tolist(), sizes.tolist(), strict=True):
        every[one].append(size)
    return [every[one] for one in window.tolist()]
