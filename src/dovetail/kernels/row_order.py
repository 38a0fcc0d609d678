"""Rows in the order of their row time: each waits until no earlier one can come.

    comes     10:02  10:00  10:05   10:03        an input that is 2 seconds late at most
    bound     10:00  10:00  10:03   10:03        the least over all inputs
    goes on          10:00          10:02 10:03  10:05 waits

Rows of equal time go on as they have come. A row below the bound that its own input had
before it is late, and goes on as a row nowhere: a line says that there was one, and
what it was as it came where somebody asks. Such lines of the steps in front go by.
Where rows have no numbers nobody knows which was before; it is what came in the steps
before. Whoever stands behind hears how far all has come.

An input that has brought no row for long enough holds the others back no more: its
bound is lifted to theirs, and stays there. Beats say what time it is; an input is
silent since the first one behind its newest rows.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dovetail.kernels.arrays.names import LineKind, reserved
from dovetail.kernels.arrays.rows import BEGINNING, NEVER, Mask, Whole
from dovetail.kernels.keeping.lines import KIND, NOW
from dovetail.kernels.lifetimes.calendar import shift
from dovetail.spec.spans import Span

MOMENT, INPUT, NUMBER = reserved("moment"), reserved("input"), reserved("number")
"""Of a bound how far its input has come, of a late row its time; which input a line is
of; and where it stands among all that comes."""
CAME = reserved("came")
"""What a row was as it came, where late ones are asked for."""
GOING_BY = (int(LineKind.LATE), int(LineKind.FAILED))
"""Lines of rows that are none any more, which go on to the end."""
BESIDE = reserved("beside")
"""Such a line in front of a join: its kind, its time and what it was, as one value."""
RIDING = (KIND, MOMENT, INPUT, NUMBER)


@dataclass(frozen=True, slots=True)
class RowOrder:
    """The column of the row time, and by how much each input may be late, by name.

    Rows of equal time stand in the order of the columns `by`, each with whether it
    descends. Inputs that are `told` bring bounds from several tasks, of which the least
    counts, and no rows below them. Some hold others back only until they have been
    silent for longer than their `idle`, in microseconds.
    """

    time: str
    lateness: Mapping[str, Span]
    told: frozenset[str] = frozenset()
    by: tuple[tuple[str, bool], ...] = ()
    # No part of what the order is: it may be another one after a restart.
    idle: Mapping[str, int] = field(default_factory=dict, repr=False)


@dataclass(frozen=True, slots=True)
class Waiting:
    """Rows that are there and may not go on yet, and how far each input has come.

    `silent` says since when an input has brought none, if a beat has come since.
    """

    rows: pa.RecordBatch
    bounds: Mapping[str, int]
    silent: Mapping[str, int] = field(default_factory=dict)

    @property
    def bound(self) -> int:
        """Returns how far all have come: no row below it goes on any more."""
        return min(self.bounds.values())


def begun(order: RowOrder, schema: pa.Schema) -> Waiting:
    """Returns what waits before anything has come."""
    none = pa.RecordBatch.from_pylist([], schema)
    return Waiting(none, dict.fromkeys(order.lateness, BEGINNING))


def in_order(
    order: RowOrder, waiting: Waiting, lines: pa.RecordBatch
) -> tuple[Waiting, pa.RecordBatch]:
    """Returns what waits now, and the rows that go on, each with its time as NOW.

    The last line of those that go on is a bound. Lines stand as they have come.
    """
    kinds = lines.column(KIND).to_numpy()
    is_row: Mask = kinds == LineKind.ROW
    times = _micros(lines.column(order.time), BEGINNING)
    told = _micros(lines.column(MOMENT), BEGINNING)
    beats, was_told = told[kinds == LineKind.BEAT], told
    # Rows that were passed over on the way have shown how late it is all the same.
    is_passed: Mask = kinds == LineKind.PASSED
    seen = np.where(is_row, times, np.where(is_passed, told, BEGINNING))
    is_end: Mask = kinds == LineKind.FINISH
    tells_bound = is_end | (kinds == LineKind.BOUND)
    told = np.where(is_end, NEVER, np.where(tells_bound, told, BEGINNING))
    # What cannot be told apart from the beginning has no time: it is late.
    is_late = is_row & (times == BEGINNING)
    bounds = dict(waiting.bounds)
    inputs = lines.column(INPUT)
    is_numbered = lines.column(NUMBER).is_valid().to_numpy(zero_copy_only=False)
    for name, lateness in order.lateness.items():
        (own,) = np.nonzero(pc.equal(inputs, name).to_numpy(zero_copy_only=False))
        if name in order.told:
            # Each task has told it; one may not have come beyond the beginning.
            tells = told[own][tells_bound[own]]
            least = int(tells.min()) if len(tells) else BEGINNING
            bounds[name] = max(bounds[name], least)
            continue
        moved = np.maximum(shift(seen[own], lateness.negated()), told[own])
        # A bound only rises; a late row does not move it.
        reached = np.maximum.accumulate(np.append(bounds[name], moved))
        # Of several tasks nobody knows which row was first, but by its number.
        since = np.where(is_numbered[own], reached[:-1], bounds[name])
        is_late[own] |= is_row[own] & (times[own] < since)
        bounds[name] = int(reached[-1])
    came = pc.unique(inputs.filter(pa.array(is_row | is_passed))).to_pylist()
    silent = {name: at for name, at in waiting.silent.items() if name not in came}
    if len(beats):
        now = int(beats.max())
        silent = dict.fromkeys(order.idle, now) | silent
        quiet = {it for it, most in order.idle.items() if now - silent[it] > most}
        bounds |= _lifted(bounds, quiet)
    rows = pa.concat_batches([waiting.rows, lines.filter(pa.array(is_row & ~is_late))])
    late = _late(lines, is_late, np.where(is_late, times, was_told))
    return _parted(order, Waiting(rows, bounds, silent), late)


def _lifted(bounds: Mapping[str, int], quiet: Collection[str]) -> dict[str, int]:
    """Returns how far inputs are that are silent: as the least of the others.

    Where all are silent none holds another back.
    """
    others = [at for name, at in bounds.items() if name not in quiet]
    least = min(others) if others else max(bounds.values())
    return {name: max(bounds[name], least) for name in quiet}


def _late(lines: pa.RecordBatch, is_late: Mask, times: Whole) -> pa.RecordBatch:
    """Returns lines of rows that are late, of no input, and of those that were so."""
    # Without what they were nobody is told of those that were late before.
    kinds = lines.column(KIND)
    goes_by = pc.is_in(kinds, pa.array(GOING_BY, pa.int32()))
    is_own = pa.array(is_late)
    told = pc.or_(is_own, goes_by) if CAME in lines.schema.names else is_own
    none = pa.scalar(None, pa.string())
    kept = {
        KIND: pc.if_else(is_own, pa.scalar(int(LineKind.LATE), pa.int32()), kinds),
        MOMENT: pa.array(times, pa.int64(), mask=times == BEGINNING),
        INPUT: pc.if_else(is_own, none, lines.column(INPUT)),
    }
    if CAME in lines.schema.names:
        kept[CAME] = lines.column(CAME)
    columns = [
        kept.get(one.name, pa.nulls(lines.num_rows, one.type)) for one in lines.schema
    ]
    return pa.RecordBatch.from_arrays(columns, schema=lines.schema).filter(told)


def _parted(
    order: RowOrder, now: Waiting, late: pa.RecordBatch
) -> tuple[Waiting, pa.RecordBatch]:
    """Returns what goes on waiting, and what does not wait any longer."""
    # A row at the bound itself goes: one that comes later stands behind it anyway.
    times = _micros(now.rows.column(order.time), BEGINNING)
    goes: Mask = times <= now.bound
    if order.by and now.bound != NEVER:
        # One that is sorted in among its equals must not come behind them.
        goes = times < now.bound
    (places,) = np.nonzero(goes)
    # Stable, the last key first: equal times stay as they have come.
    for name, descends in reversed(order.by):
        keys = now.rows.select([name]).take(pa.array(places))
        how = "descending" if descends else "ascending"
        places = places[pc.sort_indices(keys, [(name, how)]).to_numpy()]
    places = places[np.argsort(times[places], kind="stable")]
    ready = now.rows.take(pa.array(places))
    still = now.rows.filter(pa.array(~goes))
    # Behind the rows that go on stand those who are late, and how far it has come.
    nothing = [pa.nulls(1, kind) for kind in ready.schema.types]
    last = pa.RecordBatch.from_arrays(nothing, schema=ready.schema)
    lines = pa.concat_batches([ready, late, last])
    kinds = [LineKind.ROW] * len(places) + late.column(KIND).to_pylist()
    bound = pa.array([now.bound], pa.int64())
    untold = pa.nulls(len(places), pa.int64())
    clock = np.append(times[places], np.full(late.num_rows + 1, now.bound))
    said = {
        KIND: pa.array(map(int, [*kinds, LineKind.BOUND]), pa.int32()),
        MOMENT: pa.concat_arrays([untold, late.column(MOMENT), bound]),
        NOW: pa.array(clock, pa.int64()),
    }
    beside = [name for name in lines.schema.names if name not in said]
    columns = {name: lines.column(name) for name in beside} | said
    return Waiting(still, now.bounds, now.silent), pa.RecordBatch.from_pydict(columns)


def _micros(column: pa.Array, absent: int) -> Whole:
    """Returns moments in microseconds; one that is not there is `absent`."""
    if pa.types.is_timestamp(column.type):
        column = column.cast(pa.timestamp("us", column.type.tz)).cast(pa.int64())
    found: Whole = pc.fill_null(column, absent).to_numpy(zero_copy_only=False)
    return found
