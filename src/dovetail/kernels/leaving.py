"""Rows on their way out: from row numbers to one table with both sides' columns.

    outlet | reason | row_time | left | right | l.<column> ... | r.<column> ... |

`left` and `right` say which sides are there; `row_time` is null on the arrival clock
and for null rows whose lifetime never ends. Where somebody looks at it there is also
`counter`: which of its left row's pairs a pair is.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import IntEnum

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dovetail.kernels.rows import (
    BEGINNING,
    NEVER,
    Mask,
    Rows,
    Whole,
    join_batches,
    no_rows,
)
from dovetail.kernels.sorting import sorted_by

ABSENT = -1
HIDDEN = "#"
"""Payload columns whose names begin so are for matching and do not come out."""


class Outlet(IntEnum):
    """Where a row leaves."""

    MATCHED = 0
    LEFT_UNMATCHED = 1
    RIGHT_UNMATCHED = 2
    LATE = 3
    OVER_LIMIT = 4


class Reason(IntEnum):
    """Why a row left by the outlet for late rows."""

    NONE = 0
    LATE = 1
    NULL_TIME = 2
    BAD_INTERVAL = 3


class Turn(IntEnum):
    """What goes first among rows that leave at one moment."""

    DUE = 0
    PAIR = 1
    LATE_PAIR = 2
    EARLY = 3
    ALONE = 4


class Change(IntEnum):
    """What happens to a row of the result."""

    NONE = 0
    INSERT = 1
    UPDATE_BEFORE = 2
    UPDATE_AFTER = 3
    DELETE = 4


@dataclass(frozen=True, slots=True)
class Leaving:
    """Rows that leave by one outlet for one reason, as row numbers of both sides.

    `when` is their moment of leaving; among rows of one, `due` decides. `told` is the
    row time that they show, where it is another. Rows stand by the later of their own,
    or by their `host`: the place of the left row that lets them out.
    """

    outlet: Outlet
    reason: Reason
    turn: Turn
    left: Whole
    right: Whole
    when: Whole
    due: Whole
    counter: Whole
    told: Whole
    host: Whole
    change: Change = Change.INSERT

    def take(self, chosen: Whole | Mask) -> Leaving:
        """Returns the chosen rows."""
        arrays = {name: getattr(self, name)[chosen] for name in _ARRAYS}
        return replace(self, **arrays)


_ARRAYS = ("left", "right", "when", "due", "counter", "told", "host")
_WORDS = ("outlet", "reason", "turn", "change")
_UNSEEN = ("turn", "due", "host")  # only the order of leaving looks at them


def alone(hand: int, rows: Whole, when: Whole, outlet: Outlet) -> Leaving:
    """Returns rows of one hand that leave without the other side."""
    absent = np.full(len(rows), ABSENT)
    left, right = (rows, absent) if hand == 0 else (absent, rows)
    zeros = np.zeros(len(rows), np.int64)
    others = (left, right, when, zeros, zeros, when, absent)
    return Leaving(outlet, Reason.NONE, Turn.ALONE, *others)


@dataclass(frozen=True, slots=True)
class Shape:
    """What can be seen of a table of leaving rows.

    `timed`: the rows have row times; `sorted`: they are in their order of leaving;
    `numbered`: pairs say which of their left row's they are; `changing`: rows say
    whether they are given or taken back; `told`: what row times they show.
    """

    timed: bool
    sorted: bool
    numbered: bool = False
    changing: bool = False
    told: bool = False


def leave(
    parts: list[Leaving], sides: tuple[Rows, Rows], shape: Shape
) -> pa.RecordBatch:
    """Returns the table of all parts' rows."""
    filled = [part for part in parts if len(part.when)]
    if not filled:
        return no_leaving(sides)
    counts = [len(part.when) for part in filled]
    found = {
        name: np.concatenate([getattr(part, name) for part in filled])
        for name in _ARRAYS
    } | {
        name: np.repeat([int(getattr(part, name)) for part in filled], counts)
        for name in _WORDS
    }
    if shape.sorted:
        chosen = (found["left"], found["right"])
        first = (found["when"], found["turn"], found["due"])
        order = _order(chosen, sides, first, found["host"])
        same = {
            name
            for name in _WORDS
            if len({getattr(part, name) for part in filled}) == 1
        }
        found = {
            name: array if name in same else array[order]
            for name, array in found.items()
            if name not in _UNSEEN
        }
    return _shaped(found, sides, shape)


def _shaped(
    found: dict[str, Whole], sides: tuple[Rows, Rows], shape: Shape
) -> pa.RecordBatch:
    """Returns the table of rows in their order, with what can be seen of them."""
    head = [
        pa.array(found["outlet"], pa.int8()),
        pa.array(found["reason"], pa.int8()),
        _times(found["when"], shape),
    ]
    leaving = table(head, (found["left"], found["right"]), sides)
    if shape.numbered:
        leaving = leaving.append_column("counter", pa.array(found["counter"]))
    if shape.changing:
        change = pa.array(found["change"], pa.int8())
        leaving = leaving.append_column("change", change)
    if shape.told:
        leaving = leaving.append_column("told", _times(found["told"], shape))
    return leaving


def _times(when: Whole, shape: Shape) -> pa.Array:
    """Returns moments as they are shown: null where there are none."""
    unknown = (when == NEVER) | (when == BEGINNING) | (not shape.timed)
    return pa.array(when, mask=unknown)


def as_told(leaving: pa.RecordBatch) -> pa.RecordBatch:
    """Returns the table with the row times that are shown, no longer as it left."""
    names = leaving.schema.names
    if "told" not in names:
        return leaving
    told, number = leaving.column("told"), names.index("row_time")
    return leaving.drop_columns(["told"]).set_column(number, "row_time", told)


def no_leaving(sides: tuple[Rows, Rows]) -> pa.RecordBatch:
    """Returns the table without a row."""
    none = np.empty(0, np.int64)
    empty = np.empty(0, np.int8)
    left, right = (no_rows(side.payload.schema) for side in sides)
    head = [pa.array(empty), pa.array(empty), pa.array(none)]
    return table(head, (none, none), (left, right))


def _order(
    chosen: tuple[Whole, Whole],
    sides: tuple[Rows, Rows],
    first: tuple[Whole, ...],
    host: Whole,
) -> Whole:
    """Returns the order of leaving: what is given first, then the order of arrival."""
    places = [_places(index, side) for index, side in zip(chosen, sides, strict=True)]
    later, earlier = np.maximum(*places), np.minimum(*places)
    if (host > ABSENT).any():
        return _by_host(first, (later, earlier), places, host)
    # Pairs in order of arrival leave at the place of their later row.
    keys = first if np.array_equal(first[0], later) else (*first, later)
    return sorted_by(*keys, earlier)


def _by_host(
    first: tuple[Whole, ...],
    own: tuple[Whole, Whole],
    places: list[Whole],
    host: Whole,
) -> Whole:
    """Returns the order of leaving where left rows let others out.

    First their pairs, then right rows that have waited, in the order in which they
    stand, then the left row itself.
    """
    is_let_out = host > ABSENT
    is_right = is_let_out & (places[0] == ABSENT)
    turn = np.where(is_let_out, is_right.astype(np.int64), 2)
    later = np.where(is_let_out, host, own[0])
    earlier = np.where(is_let_out, np.where(is_right, 0, places[1]), own[1])
    return sorted_by(*first, later, turn, earlier)


def _places(index: Whole, side: Rows) -> Whole:
    """Returns the places of the rows of these numbers, -1 where absent."""
    if not len(side):
        return np.full(len(index), -1)
    if index.min(initial=0) > ABSENT:
        return side.place[index]
    return np.where(index == ABSENT, -1, side.place[np.maximum(index, 0)])


def table(
    head: list[pa.Array], chosen: tuple[Whole, Whole], sides: tuple[Rows, Rows]
) -> pa.RecordBatch:
    """Returns the head with both sides' chosen payloads beside it."""
    names = ["outlet", "reason", "row_time", "left", "right"]
    columns = [*head, *(pa.array(index != ABSENT) for index in chosen)]
    for letter, index, side in zip("lr", chosen, sides, strict=True):
        shown = _shown(side.payload)
        names.extend(f"{letter}.{name}" for name in shown.schema.names)
        columns.extend(_pick(shown, index))
    return pa.RecordBatch.from_arrays(columns, names=names)


def _shown(payload: pa.RecordBatch) -> pa.RecordBatch:
    """Returns the payload without the columns that only matching needs."""
    hidden = [name for name in payload.schema.names if name.startswith(HIDDEN)]
    return payload.drop_columns(hidden) if hidden else payload


def _pick(payload: pa.RecordBatch, index: Whole) -> list[pa.Array]:
    """Returns the payload's columns at the row numbers; null where absent."""
    absent = index == ABSENT
    if not absent.any():
        return list(payload.take(pa.array(index)).columns)
    if absent.all():
        return [pa.nulls(len(index), kind) for kind in payload.schema.types]
    return list(payload.take(pa.array(index, mask=absent)).columns)


def release(
    held: pa.RecordBatch, fresh: pa.RecordBatch, frontier: int
) -> tuple[pa.RecordBatch, pa.RecordBatch]:
    """Returns the rows that go out now, in row-time order, and those held back."""
    if not held.num_rows and not fresh.num_rows:
        return fresh, held
    rows = join_batches([part for part in (held, fresh) if part.num_rows])
    times = rows.column("row_time").fill_null(NEVER).to_numpy(zero_copy_only=False)
    rows = rows.take(pa.array(np.argsort(times, kind="stable")))
    free = pc.fill_null(
        pc.less_equal(rows.column("row_time"), frontier), fill_value=True
    )
    return rows.filter(free), rows.filter(pc.invert(free))
