"""What lets a row out that goes on to a join around, in order of arrival.

That join numbers the rows of all buckets by a number, and those of one number by bytes,
their turn.

    let out by    number    turn
    row 7         7         7, its side, its own turn; which of its rows this is
    time alone    FIRST     0, the step; the last moment, whose row; which one this is

Time passes before anything comes that comes with it, in all joins: so what it lets out
stands in front of all rows of a batch, which have one processing time.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dovetail.kernels.arrays import names
from dovetail.kernels.arrays.rows import FIRST, Rows, Whole, join_batches
from dovetail.kernels.arrival.admission import Present
from dovetail.kernels.pairs.results import LAST, LET_OUT, WHEN, WHOSE
from dovetail.kernels.settings import Closing, JoinSettings
from dovetail.spec.inputs import Arrival

CAUSES = pa.schema(
    [(names.PLACE, pa.int64()), (names.TURN, pa.binary()), (names.CLOCK, pa.int64())]
)
"""What stands beside a row that is handed on; the last is when its cause came."""
_SIGN = np.uint64(1 << 63)


def with_causes(
    settings: JoinSettings, present: Present, leaving: Iterable[pa.RecordBatch]
) -> tuple[pa.RecordBatch, ...]:
    """Returns the tables of rows that leave with what is told of their causes."""
    told = (_with_causes(settings, present, one) for one in leaving)
    return tuple(one for one in told if one.num_rows)


def _with_causes(
    settings: JoinSettings, present: Present, leaving: pa.RecordBatch
) -> pa.RecordBatch:
    """Returns rows that leave with what is told of their causes, by time alone first.

    Else it is the last row that came by then, among those that take part since this
    step. What one lets out that was there from the start is no row that comes.
    """
    by_time = np.zeros(leaving.num_rows, bool)
    if any(side.closing is Closing.CLOCK for side in settings.sides):
        by_time = leaving.column(LAST).is_valid().to_numpy(zero_copy_only=False)
    if not by_time.any():
        return _by_rows(settings, present.fresh, leaving)
    timed, others = (leaving.filter(pa.array(some)) for some in (by_time, ~by_time))
    told = [_by_time(settings, present, timed)]
    if others.num_rows:
        told.append(_by_rows(settings, present.fresh, others))
    return join_batches(told)


def _by_rows(
    settings: JoinSettings, fresh: tuple[Rows, Rows], leaving: pa.RecordBatch
) -> pa.RecordBatch:
    """Returns rows that leave with what is told of those that came at their places."""
    left, right = fresh
    place = np.concatenate((left.place, right.place))
    order, when = np.argsort(place), leaving.column(WHEN).to_numpy()
    at = order[np.searchsorted(place[order], when, "right") - 1]
    told = let_out_by(settings, fresh, leaving, numbers=at)
    silent = np.concatenate((left.from_start, right.from_start))[at]
    return told.filter(pa.array(~silent)) if silent.any() else told


def let_out_by(
    settings: JoinSettings,
    sides: tuple[Rows, Rows],
    leaving: pa.RecordBatch,
    *,
    numbers: Whole,
) -> pa.RecordBatch:
    """Returns rows that leave with what is told of the rows that let them out.

    Each is one of both sides' rows, by its number; the right ones stand behind.
    """
    came = _Came.of(settings, sides, numbers)
    # Bytes that sort as (number, side, own turn, order of leaving): one key decides
    # among all rows of one place. Where turns say all they begin as those that they
    # come from, so that rows of other ways stand between them.
    own = [in_order(came.number), came.side, came.turn]
    if settings.by_turns:
        own = [came.turn, came.side]
    clock = np.concatenate([rows.hidden(names.CLOCK) for rows in sides])[numbers]
    return _told(leaving, (came.number, _turns_of(own), clock))


def _by_time(
    settings: JoinSettings, present: Present, leaving: pa.RecordBatch
) -> pa.RecordBatch:
    """Returns rows that time lets out, in the order of their last moments.

    Of one moment they stand as the rows have come of which they are.
    """
    place = np.concatenate([rows.place for rows in present.rows])
    order, whose = np.argsort(place), leaving.column(WHOSE).to_numpy()
    came = _Came.of(settings, present.rows, order[np.searchsorted(place[order], whose)])
    last = in_order(leaving.column(LAST).to_numpy())
    own = [in_order(came.number), came.side, came.turn]
    if settings.by_turns:
        own = [in_order(came.number), came.turn, came.side]
    head = pa.repeat(pa.scalar(turn_of_time(settings.step)), len(whose))
    first, now = (np.full(len(whose), number) for number in (FIRST, present.now))
    return _told(leaving, (first, _turns_of((head, last, *own)), now))


def _told(
    leaving: pa.RecordBatch, causes: tuple[Whole, pa.Array, Whole]
) -> pa.RecordBatch:
    """Returns rows that leave with what is told of their causes, no more beside it."""
    names_of_ours = [name for name in (WHEN, *LET_OUT) if name in leaving.schema.names]
    told = leaving.drop_columns(names_of_ours)
    for name, column in zip(CAUSES.names, causes, strict=True):
        told = told.append_column(name, pa.array(column))
    return told


def _turns_of(parts: Iterable[pa.Array]) -> pa.Array:
    """Returns turns that begin so, and tell rows apart by their order."""
    head = pc.binary_join_element_wise(*parts, b"")
    return pc.binary_join_element_wise(head, in_order(np.arange(len(head))), b"")


def turn_of_time(step: int) -> bytes:
    """Returns how turns of rows begin that time lets out of the join of a step.

    Windows of time in front of joins fire before: their turns begin with two zeros.
    """
    return b"\0\1" + step.to_bytes(4)


@dataclass(frozen=True, slots=True)
class _Came:
    """Where rows stand that have come: by a number, then by side and own turn."""

    number: Whole
    side: pa.Array
    turn: pa.Array

    @classmethod
    def of(cls, settings: JoinSettings, sides: tuple[Rows, Rows], at: Whole) -> _Came:
        """Returns where some rows stand; both sides' are one behind the other."""
        match settings.arrival:
            case Arrival.SEQUENCE:
                numbers = [rows.hidden(names.PLACE) for rows in sides]
            case Arrival.MERGED:
                numbers = [rows.moment for rows in sides]
            case _:
                # As read, the rows of a step have one number: side and position decide.
                numbers = [np.zeros(len(rows), np.int64) for rows in sides]
        turns = pa.concat_arrays([_own_turns(rows) for rows in sides])
        side = pa.array([b"\0", b"\1"]).take(pa.array((at >= len(sides[0])) * 1))
        return cls(np.concatenate(numbers)[at], side, turns.take(pa.array(at)))


def in_order(numbers: Whole) -> pa.Array:
    """Returns whole numbers as bytes that stand in the same order."""
    # The sign bit turned round and the highest byte first: bytes then compare as
    # numbers do.
    raised = (numbers.astype(np.int64).view(np.uint64) ^ _SIGN).astype(">u8")
    ends = np.arange(len(numbers) + 1, dtype=np.int32) * raised.itemsize
    buffers = [None, pa.py_buffer(ends), pa.py_buffer(raised)]
    return pa.Array.from_buffers(pa.binary(), len(numbers), buffers)


def _own_turns(rows: Rows) -> pa.Array:
    """Returns what decides among the rows of one side and number, as bytes."""
    if names.TURN in rows.payload.schema.names:
        return rows.payload.column(names.TURN)
    return in_order(rows.hidden(names.PLACE))
