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

Lasting parts of an input, as the partitions of a topic are, come at their own pace. How
far the input is says the one that is furthest behind, of those that are not silent.

Where many tasks put rows in order, each those of its own keys, the tasks in front of
them tell all of them how far the inputs have come: `parted` from what they are told.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dovetail.kernels.arrays.names import LineKind, reserved
from dovetail.kernels.arrays.rows import BEGINNING, NEVER, Mask, Whole, take_payload
from dovetail.kernels.keeping.lines import KIND, NOW
from dovetail.kernels.lifetimes.calendar import shift
from dovetail.spec.spans import Span

MOMENT, INPUT, NUMBER = reserved("moment"), reserved("input"), reserved("number")
"""Of a bound how far its input has come, of a late row its time; which input a line is
of, and which part of it; and where it stands among all that comes."""
PART = "\x1f"
"""Between the name of an input and the number of a part of it."""
CAME = reserved("came")
"""What a row was as it came, where late ones are asked for."""
GOING_BY = (int(LineKind.LATE), int(LineKind.FAILED))
"""Lines of rows that are none any more, which go on to the end."""
_FOR_ALL = LineKind.ROW, LineKind.PASSED, LineKind.BOUND, LineKind.FINISH, LineKind.BEAT
"""Lines that say of the time what all tasks must know."""
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


def _input_of(source: str) -> str:
    """Returns the name of the input that lines are of, or a part of it."""
    return source.partition(PART)[0]


@dataclass(frozen=True, slots=True)
class Waiting:
    """Rows that are there and may not go on yet, and how far each input has come.

    Parts of inputs have bounds of their own beside those of the inputs. `silent` says
    since when an input, or a part of it, has brought none, if a beat has come since.
    """

    rows: pa.RecordBatch
    bounds: Mapping[str, int]
    silent: Mapping[str, int] = field(default_factory=dict)

    @property
    def bound(self) -> int:
        """Returns how far all have come: no row below it goes on any more."""
        return min(at for name, at in self.bounds.items() if PART not in name)


def begun(order: RowOrder, schema: pa.Schema) -> Waiting:
    """Returns what waits before anything has come."""
    none = pa.RecordBatch.from_pylist([], schema)
    return Waiting(none, dict.fromkeys(order.lateness, BEGINNING))


@dataclass(frozen=True, slots=True)
class _Told:
    """What lines say of the time, in microseconds; BEGINNING where they say none.

    Rows have their own `times`, bounds say how far their input has come. `seen` is of
    rows, also of those that were passed over on the way: they have shown how late it
    is all the same.
    """

    kinds: Whole
    times: Whole
    seen: Whole
    bounds: Whole
    moments: Whole

    @classmethod
    def by(cls, order: RowOrder, lines: pa.RecordBatch) -> _Told:
        """Returns what lines say."""
        kinds = lines.column(KIND).to_numpy()
        times = _micros(lines.column(order.time), BEGINNING)
        moments = _micros(lines.column(MOMENT), BEGINNING)
        is_passed = kinds == LineKind.PASSED
        seen = np.where(kinds == LineKind.ROW, times, BEGINNING)
        bounds = np.where(kinds == LineKind.BOUND, moments, BEGINNING)
        return cls(
            kinds,
            times,
            np.where(is_passed, moments, seen),
            np.where(kinds == LineKind.FINISH, NEVER, bounds),
            moments,
        )

    def of(self, *kinds: int) -> Mask:
        """Tells which lines are of some kinds."""
        return np.isin(self.kinds, kinds)


def in_order(
    order: RowOrder, waiting: Waiting, lines: pa.RecordBatch
) -> tuple[Waiting, pa.RecordBatch]:
    """Returns what waits now, and the rows that go on, each with its time as NOW.

    The last line of those that go on is a bound. Lines stand as they have come.
    """
    told = _Told.by(order, lines)
    is_late, reached = _judged(order, told, lines, known=waiting.bounds)
    bounds = {**waiting.bounds, **reached}
    is_new = pa.array(told.of(LineKind.ROW, LineKind.PASSED))
    came = pc.unique(lines.column(INPUT).filter(is_new)).to_pylist()
    silent = {name: at for name, at in waiting.silent.items() if name not in came}
    quiet = set[str]()
    beats = told.moments[told.of(LineKind.BEAT)]
    if len(beats):
        now, idle = int(beats.max()), order.idle
        heard = {name for name in bounds if _input_of(name) in idle}
        # An input with parts is as silent as they are.
        heard -= {_input_of(name) for name in heard if PART in name}
        silent = dict.fromkeys(heard, now) | silent
        quiet = {it for it in heard if now - silent[it] > idle[_input_of(it)]}
    bounds |= _furthest_behind(order, bounds, quiet)
    stays = take_payload(lines, told.of(LineKind.ROW) & ~is_late)
    rows = pa.concat_batches([waiting.rows, stays])
    return _parted(order, Waiting(rows, bounds, silent), _late(lines, told, is_late))


def between_tasks(
    order: RowOrder, lines: pa.RecordBatch
) -> tuple[pa.RecordBatch, pa.RecordBatch, pa.RecordBatch]:
    """Returns the rows of a task in front, those that are late, and what all are told.

    Numbered rows are late by what the task has seen itself. All are told of each input,
    and each part of one, how far it has come, behind the last row of the task.
    """
    if lines.column(NUMBER).null_count < lines.num_rows:
        lines = lines.take(pc.sort_indices(lines, [(NUMBER, "ascending")]))
    told = _Told.by(order, lines)
    is_late, _ = _judged(order, told, lines, known={})
    rows = take_payload(lines, told.of(LineKind.ROW) & ~is_late)
    says = told.of(*_FOR_ALL)
    moments = np.where(told.of(LineKind.ROW), told.times, told.moments)
    kinds = np.where(told.of(LineKind.ROW), int(LineKind.PASSED), told.kinds)
    every = pa.table(
        {
            INPUT: lines.column(INPUT),
            KIND: pa.array(kinds, pa.int32()),
            MOMENT: pa.array(moments, pa.int64(), mask=moments == BEGINNING),
            NUMBER: lines.column(NUMBER),
        }
    ).filter(pa.array(says))
    asked = [(MOMENT, "max"), (MOMENT, "min"), (NUMBER, "max")]
    found = every.group_by([INPUT, KIND]).aggregate(asked)
    # Of what several tasks tell the least counts.
    is_least = pc.is_in(found[INPUT], pa.array(sorted(order.told), pa.string()))
    least, most = found[f"{MOMENT}_min"], found[f"{MOMENT}_max"]
    said = {
        INPUT: found[INPUT],
        KIND: found[KIND],
        MOMENT: pc.if_else(is_least, least, most),
        NUMBER: found[f"{NUMBER}_max"],
    }
    bare = [
        said[one.name].combine_chunks()
        if one.name in said
        else pa.nulls(found.num_rows, one.type)
        for one in lines.schema
    ]
    for_all = pa.RecordBatch.from_arrays(bare, schema=lines.schema)
    return rows, _late(lines, told, is_late), for_all


def _judged(
    order: RowOrder, told: _Told, lines: pa.RecordBatch, *, known: Mapping[str, int]
) -> tuple[Mask, dict[str, int]]:
    """Returns which lines are late rows, and how far those who brought lines are.

    They are inputs, and parts of inputs: `known` says how far they were before.
    """
    is_row = told.of(LineKind.ROW)
    # What cannot be told apart from the beginning has no time: it is late.
    is_late = is_row & (told.times == BEGINNING)
    inputs = lines.column(INPUT)
    is_numbered = ~_is_null(lines.column(NUMBER))
    reached = dict[str, int]()
    for source in pc.unique(inputs).to_pylist():
        # Rows that were late before are lines of the step that has found them so.
        name = _input_of(source or "")
        if name not in order.lateness:
            continue
        (own,) = np.nonzero(pc.equal(inputs, source).to_numpy(zero_copy_only=False))
        # A part is no further behind than all of its input.
        before = max(known.get(one, BEGINNING) for one in (name, source))
        bounds = told.bounds[own]
        if name in order.told:
            # Each task has told it; one may not have come beyond the beginning.
            tells = bounds[told.of(LineKind.BOUND, LineKind.FINISH)[own]]
            least = int(tells.min()) if len(tells) else BEGINNING
            reached[source] = max(before, least)
            continue
        late = order.lateness[name].negated()
        moved = np.maximum(shift(told.seen[own], late), bounds)
        # A bound only rises; a late row does not move it.
        risen = np.maximum.accumulate(np.append(before, moved))
        # Of several tasks nobody knows which row was first, but by its number.
        since = np.where(is_numbered[own], risen[:-1], before)
        is_late[own] |= is_row[own] & (told.times[own] < since)
        reached[source] = int(risen[-1])
    return is_late, reached


def _furthest_behind(
    order: RowOrder, bounds: Mapping[str, int], quiet: Collection[str]
) -> dict[str, int]:
    """Returns how far all inputs are, of which some, or parts of them, are silent.

    One is as far as the part of it that is furthest behind and not silent, and a silent
    one as the least of the others. Where all are silent none holds another back.
    """
    found, silent = dict[str, int](), set[str]()
    for name in order.lateness:
        parts = {it: at for it, at in bounds.items() if it.startswith(name + PART)}
        awake = [at for it, at in parts.items() if it not in quiet]
        if name in quiet or (parts and not awake):
            silent.add(name)
        least = min(awake) if awake else max(parts.values(), default=BEGINNING)
        found[name] = max(bounds[name], least)
    others = [at for name, at in found.items() if name not in silent]
    least = min(others) if others else max(found.values())
    return found | {name: max(found[name], least) for name in silent}


def _late(lines: pa.RecordBatch, told: _Told, is_late: Mask) -> pa.RecordBatch:
    """Returns lines of rows that are late, of no input, and of those that were so."""
    # The task in front of this one may have found out that a row is late.
    goes_by = told.of(*GOING_BY)
    is_own = is_late | (goes_by & _is_null(lines.column(INPUT)))
    # Without what they were nobody is told of those that were late before.
    asked = is_own | goes_by if CAME in lines.schema.names else is_own
    found, is_late = take_payload(lines, asked), is_late[asked]
    times = np.where(is_late, told.times[asked], told.moments[asked])
    kinds = np.where(is_late, int(LineKind.LATE), told.kinds[asked])
    none = pa.scalar(None, pa.string())
    kept = {
        KIND: pa.array(kinds, pa.int32()),
        MOMENT: pa.array(times, pa.int64(), mask=times == BEGINNING),
        INPUT: pc.if_else(pa.array(is_late), none, found.column(INPUT)),
    }
    if CAME in lines.schema.names:
        kept[CAME] = found.column(CAME)
    columns = [
        kept.get(one.name, pa.nulls(found.num_rows, one.type)) for one in lines.schema
    ]
    return pa.RecordBatch.from_arrays(columns, schema=lines.schema)


def _is_null(column: pa.Array) -> Mask:
    """Tells which values are not there."""
    found: Mask = column.is_null().to_numpy(zero_copy_only=False)
    return found


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
    ready, still = take_payload(now.rows, places), take_payload(now.rows, ~goes)
    # Behind the rows that go on stand those who are late, and how far it has come.
    nothing = [pa.nulls(1, kind) for kind in ready.schema.types]
    last = pa.RecordBatch.from_arrays(nothing, schema=ready.schema)
    lines = pa.concat_batches([ready, late, last])
    rows = np.full(len(places), int(LineKind.ROW), np.int32)
    kinds = np.concatenate((rows, late.column(KIND), [int(LineKind.BOUND)]))
    bound = pa.array([now.bound], pa.int64())
    untold = pa.nulls(len(places), pa.int64())
    clock = np.append(times[places], np.full(late.num_rows + 1, now.bound))
    said = {
        KIND: pa.array(kinds, pa.int32()),
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
