"""Rows that are held back until none of an earlier row time can come.

    step 1   frontier 10:00    row b of 10:05 is held
    step 2   frontier 10:05    row a of 10:05 comes: a, which stands before b, then b

So a row that is held keeps what decides among rows of one row time.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from dovetail.kernels.arrays.rows import NEVER, Whole, join_batches, take_payload
from dovetail.kernels.arrays.sorting import never_falls, sorted_by
from dovetail.kernels.pairs.leaving import PLACED


def release(
    held: pa.RecordBatch, fresh: tuple[pa.RecordBatch, ...], frontier: int
) -> tuple[tuple[pa.RecordBatch, ...], pa.RecordBatch]:
    """Returns the rows that go out now, in row-time order, and those held back."""
    parts = [part for part in (held, *fresh) if part.num_rows]
    if not parts:
        return (), held
    rows = join_batches(parts)
    times = _moments(rows)
    if len(parts) > 1 or not never_falls(times):
        order = _order(rows, times)
        rows, times = take_payload(rows, order), times[order]
    # What has no row time stands last, and waits for nobody.
    past, timeless = times.searchsorted((frontier, NEVER - 1), "right").tolist()
    out = [rows.slice(0, past), rows.slice(max(past, timeless))]
    return tuple(part for part in out if part.num_rows), rows.slice(
        past, max(0, timeless - past)
    )


def _moments(rows: pa.RecordBatch) -> Whole:
    """Returns the row times; NEVER where there are none."""
    times = rows.column("row_time")
    known = times.fill_null(NEVER) if times.null_count else times
    moments: Whole = known.to_numpy()
    return moments


def _order(rows: pa.RecordBatch, times: Whole) -> Whole:
    """Returns the order by row time, and of equal ones that in which they leave."""
    order = np.argsort(times, kind="stable")
    timed = order[: times.searchsorted(NEVER, sorter=order)]
    when = times[timed]
    if (when[1:] == when[:-1]).any():
        standing = (rows.column(name).to_numpy()[timed] for name in PLACED)
        turns = sorted_by(when, *(one.astype(np.int64) for one in standing))
        order[: len(timed)] = timed[turns]
    return order


def as_told(leaving: pa.RecordBatch) -> pa.RecordBatch:
    """Returns the table with the row times that are shown, no longer as it left."""
    hidden = [name for name in PLACED if name in leaving.schema.names]
    leaving = leaving.drop_columns(hidden) if hidden else leaving
    names = leaving.schema.names
    if "told" not in names:
        return leaving
    told, number = leaving.column("told"), names.index("row_time")
    return leaving.drop_columns(["told"]).set_column(number, "row_time", told)
