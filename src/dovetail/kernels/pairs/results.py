"""Rows on their way out: from row numbers to one table with both sides' columns.

    outlet | reason | row_time | left | right | l.<column> ... | r.<column> ... |

`left` and `right` say which sides are there; `row_time` is null on the arrival clock
and for null rows whose lifetime never ends. Where somebody looks at it there is also
`counter`: which of its left row's pairs a pair is.

Rows that are held back until none of an earlier row time can come.

    step 1   frontier 10:00    row b of 10:05 is held
    step 2   frontier 10:05    row a of 10:05 comes: a, which stands before b, then b

So a row that is held keeps what decides among rows of one row time.

Where each row meets many, and nobody asks for an order, the values of both sides are
there once, beside the numbers of whose they are: `with_values` reads such a table.

    outlet | reason | row_time | left | right | l: number in rows | r: number in rows
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from enum import Enum, IntEnum
from operator import attrgetter

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from dovetail.kernels.arrays import sort
from dovetail.kernels.arrays.names import HIDDEN
from dovetail.kernels.arrays.rows import (
    BEGINNING,
    NEVER,
    Mask,
    Rows,
    Whole,
    join_batches,
    take_payload,
)
from dovetail.kernels.lifetimes import lives
from dovetail.kernels.settings import Unread
from dovetail.spec.inputs import Change, Outlet

Small = npt.NDArray[np.int8]

ABSENT = -1
TALL = 8
"""A table of more than so many times the rows of both sides has numbers of them."""
PLACED = ("turn", "later", "earlier")
"""What decides among rows of one row time: their turn, then both rows' places."""

WHEN = "when"
"""The column of the places at which rows leave, where somebody asks who let them out.
"""
LET_OUT = LAST, WHOSE = "last", "whose"
"""The columns of rows that time lets out: their last moments, else null, and the places
of the rows of which they are."""

SHOWN = "shown_time"
"""The column of the row times that rows show, where it stands beside their own."""

_ALL_READ = Unread()
_HEAD = ("outlet", "reason", "row_time", "left", "right")
_SIDES = ("l", "r")
"""How the names of both sides' columns begin."""

UNMATCHED = (Outlet.LEFT_UNMATCHED, Outlet.RIGHT_UNMATCHED)
"""Where a side's rows leave that met nobody, by the side's number."""


class Reason(Enum):
    """Why a row takes no part, or leaves for others: a left row over its limit does."""

    NONE = "none"
    LATE = "late"
    NULL_TIME = "null_time"
    BAD_INTERVAL = "bad_interval"
    OVER_LIMIT = "over_limit"


class Turn(IntEnum):
    """What goes first among rows that leave at one moment."""

    DUE = 0
    PAIR = 1
    LATE_PAIR = 2
    EARLY = 3
    UNMATCHED = 4


OUTLETS, REASONS, CHANGES = tuple(Outlet), tuple(Reason), tuple(Change)
"""What the codes in a table of leaving rows mean, one after the other."""


def code(word: Enum) -> int:
    """Returns the number that stands for a word in a table: its place in its kind."""
    return tuple(type(word)).index(word)


@dataclass(frozen=True, slots=True)
class Leaving:
    """Rows that leave by one outlet for one reason, as row numbers of both sides.

    `reason` says why they are late, or that they stand for rows over their limit.
    `when` is their moment of leaving; among rows of one, `due` decides. `shown_time` is
    the row time that they show, where it is another. Rows stand by the later of their
    own places, or by their `host`: the place of the left row that lets them out.
    """

    outlet: Outlet
    reason: Reason
    turn: Turn
    left: Whole
    right: Whole
    when: Whole
    due: Whole
    counter: Whole
    shown_time: Whole
    host: Whole
    change: Change = Change.INSERT

    def take(self, chosen: Whole | Mask) -> Leaving:
        """Returns the chosen rows."""
        arrays = [array[chosen] for array in _arrays_of(self)]
        fields = (self.outlet, self.reason, self.turn, *arrays, self.change)
        return Leaving(*fields)


_arrays_of = attrgetter("left", "right", "when", "due", "counter", "shown_time", "host")


def one_sided(
    hand: int,
    rows: Whole,
    when: Whole,
    outlet: Outlet,
    reason: Reason = Reason.NONE,
) -> Leaving:
    """Returns rows of one hand that leave without the other side."""
    absent = np.full(len(rows), ABSENT)
    left, right = (rows, absent) if hand == 0 else (absent, rows)
    zeros = np.zeros(len(rows), np.int64)
    others = (left, right, when, zeros, zeros, when, absent)
    return Leaving(outlet, reason, Turn.UNMATCHED, *others)


@dataclass(frozen=True, slots=True)
class Shape:
    """What can be seen of a table of leaving rows.

    `timed`: the rows have row times; `sorted`: they are in their order of leaving;
    `numbered`: pairs say which of their left row's they are; `changing`: rows say
    whether they are given or taken back; `shows_time`: what row times they show;
    `placed`: where they stand among rows of their row time, should they be held back;
    `caused`: at which place they leave; `sided`: at which places their rows stand.
    What is `unread` of all rows of a table is there without its values, unless rows may
    be held back: who reads it then is not known.
    """

    timed: bool
    sorted: bool
    numbered: bool = False
    changing: bool = False
    shows_time: bool = False
    placed: bool = False
    caused: bool = False
    sided: bool = False
    unread: Mapping[Outlet, Unread] = field(default_factory=dict)


def leave(
    parts: list[Leaving], sides: tuple[Rows, Rows], shape: Shape
) -> tuple[pa.RecordBatch, ...]:
    """Returns the table of all parts' rows, if there are any."""
    filled = [part for part in parts if len(part.when)]
    if not filled:
        return ()
    pile = _Pile.of(filled)
    # Nobody can see the order of arrival: so it is not found.
    if not (shape.sorted or shape.sided):
        return (_shaped(pile, sides, shape, {}),)
    places = []
    for name, side in zip(("left", "right"), sides, strict=True):
        index = pile.numbers(name)
        # Of a side without rows all are absent, and there is no row to look at.
        place = side.place[index] if len(side) else index
        is_absent = index == ABSENT
        places.append(np.where(is_absent, ABSENT, place) if is_absent.any() else place)
    left, right = places
    order = _order(pile, (left, right))
    more = {}
    if shape.placed:
        decides = pile.words("turn"), np.maximum(left, right), np.minimum(left, right)
        more = {
            name: pa.array(values[order])
            for name, values in zip(PLACED, decides, strict=True)
        }
    if shape.caused:
        more[WHEN] = pa.array(pile.numbers("when")[order])
        more |= _let_out(pile.take(order), left[order], right[order])
    if shape.sided:
        more |= {lives.LEFT: pa.array(left[order]), lives.RIGHT: pa.array(right[order])}
    return (_shaped(pile.take(order), sides, shape, more),)


def _let_out(pile: _Pile, left: Whole, right: Whole) -> dict[str, pa.Array]:
    """Returns which rows time lets out, and the places of those of which they are."""
    host, is_due = pile.numbers("host"), pile.words("turn") == code(Turn.DUE)
    own = np.where(left > ABSENT, left, right)
    whose = np.where(host > ABSENT, host, own)
    return {
        LAST: pa.array(pile.numbers("due"), mask=~is_due),
        WHOSE: pa.array(whose),
    }


def without_places(leaving: pa.RecordBatch) -> pa.RecordBatch:
    """Returns rows that leave without the places at which their rows stand."""
    return leaving.drop_columns([lives.LEFT, lives.RIGHT])


@dataclass(frozen=True, slots=True)
class _Pile:
    """Rows of several parts as one: for each the number of its part, and which it is.

    `chosen` are rows of all parts, one part after the other.
    """

    parts: list[Leaving]
    part: Whole
    chosen: Whole | slice

    @classmethod
    def of(cls, parts: list[Leaving]) -> _Pile:
        """Returns all rows of the parts."""
        counts = [len(part.when) for part in parts]
        return cls(parts, np.arange(len(parts)).repeat(counts), slice(None))

    def take(self, chosen: Whole) -> _Pile:
        """Returns the chosen ones of all rows."""
        return _Pile(self.parts, self.part[chosen], chosen)

    def numbers(self, name: str) -> Whole:
        """Returns what one array says of the rows."""
        arrays = [getattr(part, name) for part in self.parts]
        values: Whole = arrays[0] if len(arrays) == 1 else np.concatenate(arrays)
        return values[self.chosen]

    def words(self, name: str) -> Small:
        """Returns the codes of what the parts of the rows are."""
        words = np.array([code(getattr(part, name)) for part in self.parts], np.int8)
        of_rows: Small = words[self.part]
        return of_rows


def _shaped(
    pile: _Pile, sides: tuple[Rows, Rows], shape: Shape, last: dict[str, pa.Array]
) -> pa.RecordBatch:
    """Returns the rows with what can be seen of them, then the last columns."""
    outlet, reason = (pa.array(pile.words(name)) for name in ("outlet", "reason"))
    more = {}
    if shape.numbered:
        more["counter"] = pa.array(pile.numbers("counter"))
    if shape.changing:
        more["change"] = pa.array(pile.words("change"))
    if shape.shows_time:
        more[SHOWN] = _times(pile, SHOWN, shape)
    unread = _ALL_READ if shape.placed else _unread(pile.parts, shape)
    # Rows that tell their places are put in order by their times; else, where nobody
    # reads these, they are of no type, and take no room.
    is_timed = shape.sided or not unread.time
    times = _times(pile, "when", shape) if is_timed else pa.nulls(len(pile.part))
    head = [outlet, reason, times]
    chosen = (pile.numbers("left"), pile.numbers("right"))
    in_order = shape.sorted or shape.sided
    is_tall = len(pile.part) > TALL * sum(map(len, sides))
    if in_order or not is_tall:
        return table(head, chosen, sides, more | last, unread=unread)
    leaving = _by_number(head, chosen, sides)
    for name, column in (more | last).items():
        leaving = leaving.append_column(name, column)
    return leaving


def _unread(parts: list[Leaving], shape: Shape) -> Unread:
    """Returns what is unread of the rows of all parts."""
    every = [shape.unread.get(one.outlet, _ALL_READ) for one in parts]
    left, right = (
        frozenset.intersection(*map(attrgetter(side), every))
        for side in ("left", "right")
    )
    return Unread(left, right, all(one.time for one in every))


def _times(pile: _Pile, name: str, shape: Shape) -> pa.Array:
    """Returns moments as they are shown: null where there are none."""
    if not shape.timed:
        return pa.nulls(len(pile.part), pa.int64())
    when = pile.numbers(name)
    return pa.array(when, mask=(when == NEVER) | (when == BEGINNING))


def _order(pile: _Pile, places: tuple[Whole, Whole]) -> Whole:
    """Returns the order of leaving: what is given first, then the order of arrival."""
    later, earlier = np.maximum(*places), np.minimum(*places)
    when, due, host = (pile.numbers(name) for name in ("when", "due", "host"))
    first: tuple[Whole, ...] = (when,)
    # A turn decides nothing where all have one, and each key costs a look at all rows.
    if len({part.turn for part in pile.parts}) > 1 or np.count_nonzero(due):
        first = (when, pile.words("turn").astype(np.int64), due)
    if np.count_nonzero(host > ABSENT):
        goes = pile.words("change") == code(Change.DELETE)
        return _by_host(first, (later, earlier), places, (host, goes))
    # Pairs in order of arrival leave at the place of their later row.
    keys = first if np.array_equal(when, later) else (*first, later)
    return sort.sorted_by(*keys, earlier)


def _by_host(
    first: tuple[Whole, ...],
    own: tuple[Whole, Whole],
    places: tuple[Whole, Whole],
    let_out: tuple[Whole, Mask],
) -> Whole:
    """Returns the order of leaving where left rows let others out.

    First the null rows that are taken back, its own and then those of right rows; then
    their pairs, right rows that have waited, in the order in which they stand, and the
    left row itself.
    """
    host, goes = let_out
    is_let_out = host > ABSENT
    is_right = is_let_out & (places[0] == ABSENT)
    # Null rows that go are -2, of right rows -1; pairs 0, right rows 1; it itself 2.
    turn = np.where(is_let_out, is_right - 2 * goes.astype(np.int64), 2)
    later = np.where(is_let_out, host, own[0])
    stands = np.where(is_right & ~goes, 0, places[1])
    earlier = np.where(is_let_out, stands, own[1])
    return sort.sorted_by(*first, later, turn, earlier)


def table(
    head: list[pa.Array],
    chosen: tuple[Whole, Whole],
    sides: tuple[Rows, Rows],
    more: dict[str, pa.Array],
    *,
    unread: Unread = _ALL_READ,
) -> pa.RecordBatch:
    """Returns the head with both sides' chosen payloads beside it, then the rest.

    Columns that are unread are null, of no type, and take no room.
    """
    names = [*_HEAD]
    there = [index != ABSENT for index in chosen]
    columns = [*head, *map(pa.array, there)]
    nothing = pa.nulls(len(there[0]))
    for letter, index, is_there, side, passed in zip(
        _SIDES, chosen, there, sides, (unread.left, unread.right), strict=True
    ):
        shown = _shown(side.payload)
        names.extend(f"{letter}.{name}" for name in shown.schema.names)
        # Who is there on neither or on every line is common, and needs no mask.
        count = np.count_nonzero(is_there)
        which = pa.array(index, mask=~is_there if count < len(index) else None)
        for name, values in zip(shown.schema.names, shown.columns, strict=True):
            if name in passed:
                columns.append(nothing)
            elif count:
                columns.append(pc.take(values, which, boundscheck=False))
            else:
                columns.append(pa.nulls(len(index), values.type))
    return pa.RecordBatch.from_arrays([*columns, *more.values()], names=[*names, *more])


def _by_number(
    head: list[pa.Array], chosen: tuple[Whole, Whole], sides: tuple[Rows, Rows]
) -> pa.RecordBatch:
    """Returns the head with the numbers of both sides' rows, beside all of these."""
    there = [index != ABSENT for index in chosen]
    columns = [*head, *map(pa.array, there)]
    for index, is_there, side in zip(chosen, there, sides, strict=True):
        numbers = pa.array(index.astype(np.int32), mask=~is_there)
        rows = _shown(side.payload).to_struct_array()
        columns.append(pa.DictionaryArray.from_arrays(numbers, rows))
    return pa.RecordBatch.from_arrays(columns, names=[*_HEAD, *_SIDES])


def has_numbers(leaving: pa.RecordBatch) -> bool:
    """Tells whether a table has numbers of rows in place of their values."""
    return _SIDES[0] in leaving.schema.names


def with_values(
    leaving: pa.RecordBatch, wanted: Collection[str] | None = None
) -> pa.RecordBatch:
    """Returns a table with the values of both sides, whatever it has.

    Of one that has numbers only the columns that are `wanted`, as `l0` or `r1`, have
    values, unless it is all.
    """
    if not has_numbers(leaving):
        return leaving
    columns: dict[str, pa.Array] = {}
    for name, column in zip(leaving.schema.names, leaving.columns, strict=True):
        if name not in _SIDES:
            columns[name] = column
            continue
        rows = column.dictionary
        for at, own in enumerate(rows.type):
            is_wanted = wanted is None or f"{name}{at}" in wanted
            columns[f"{name}.{own.name}"] = (
                rows.field(at).take(column.indices)
                if is_wanted
                else pa.nulls(len(column), own.type)
            )
    return pa.RecordBatch.from_pydict(columns)


def _shown(payload: pa.RecordBatch) -> pa.RecordBatch:
    """Returns the columns that come out: what only matching needs does not."""
    hidden = [name for name in payload.schema.names if name.startswith(HIDDEN)]
    return payload.drop_columns(hidden) if hidden else payload


def release(
    held: pa.RecordBatch, fresh: tuple[pa.RecordBatch, ...], frontier: int
) -> tuple[tuple[pa.RecordBatch, ...], pa.RecordBatch]:
    """Returns the rows that go out now, in row-time order, and those held back."""
    parts = [part for part in (held, *fresh) if part.num_rows]
    if not parts:
        return (), held
    rows = join_batches(parts)
    column = rows.column("row_time")
    known = column.fill_null(NEVER) if column.null_count else column
    times: Whole = known.to_numpy()
    if len(parts) > 1 or not sort.never_falls(times):
        order = np.argsort(times, kind="stable")
        timed = order[: times.searchsorted(NEVER, sorter=order)]
        when = times[timed]
        if (when[1:] == when[:-1]).any():
            standing = (rows.column(name).to_numpy()[timed] for name in PLACED)
            turns = sort.sorted_by(when, *(one.astype(np.int64) for one in standing))
            order[: len(timed)] = timed[turns]
        rows, times = take_payload(rows, order), times[order]
    # What has no row time stands last, and waits for nobody.
    past, timeless = times.searchsorted((frontier, NEVER - 1), "right").tolist()
    out = [rows.slice(0, past), rows.slice(max(past, timeless))]
    return tuple(part for part in out if part.num_rows), rows.slice(
        past, max(0, timeless - past)
    )


def as_shown(leaving: pa.RecordBatch) -> pa.RecordBatch:
    """Returns the table with the row times that are shown, no longer as it left."""
    hidden = [name for name in PLACED if name in leaving.schema.names]
    leaving = leaving.drop_columns(hidden) if hidden else leaving
    names = leaving.schema.names
    if SHOWN not in names:
        return leaving
    shown, number = leaving.column(SHOWN), names.index("row_time")
    return leaving.drop_columns([SHOWN]).set_column(number, "row_time", shown)
