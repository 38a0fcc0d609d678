"""A join on the clock batch whose rows come bit by bit: gathered until all have come.

    batch 1   2 rows on the left                 kept
    batch 2   3 on the right, 1 on the left      kept
    batch 3   both inputs have ended             one step over all of them

What stays is the order in which rows have come. What names a bad interval leaves at
once; all else is a question about the whole: which version of a key is its newest, whom
a row meets, in which order results stand.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa

from dovetail.kernels import sets
from dovetail.kernels import step as steps
from dovetail.kernels.arrays.rows import (
    BEGINNING,
    MISSING,
    NEVER,
    Rows,
    Whole,
    join_batches,
    join_rows,
    take_payload,
)
from dovetail.kernels.arrays.sort import sorted_by
from dovetail.kernels.arrival import arrival
from dovetail.kernels.arrival.admission import Present
from dovetail.kernels.demand import nobody_due
from dovetail.kernels.lifetimes import lives as life
from dovetail.kernels.lifetimes.calendar import copies
from dovetail.kernels.pairs.matches import NO_MATCHES
from dovetail.kernels.pairs.memo import rows_of_pairs
from dovetail.kernels.pairs.results import without_places
from dovetail.kernels.settings import JoinSettings, SideSettings
from dovetail.kernels.state import JoinState
from dovetail.spec import windows
from dovetail.spec.inputs import Arrival

_SIDES = (life.LEFT, life.RIGHT)


def gather(
    settings: JoinSettings, state: JoinState, parcels: list[arrival.Parcel], now: int
) -> steps.Stepped:
    """Returns the rows kept, or once both sides have ended all that comes of them."""
    arrived = steps.read_sides(settings, state, parcels, now=now)
    left, right = (one.on_time for one in arrived)
    placed = arrival.numbered((left, right), settings, state.next_place)
    ours, theirs = (join_rows(both) for both in zip(state.waiting, placed, strict=True))
    # Late rows do not wait for the end: nothing that comes changes that they are.
    late = steps.turned_away(arrived, self_join=settings.self_join, in_order=True)
    if not has_ended(arrived):
        return _keeping(state, arrived, (ours, theirs), out=late)
    nobody = ours.take(slice(0)), theirs.take(slice(0))
    if settings.sets:
        out, met = sets.together(settings, (ours, theirs))
        left_over = _keeping(state, arrived, nobody, out=(*late, *out))
        return replace(left_over, until=NEVER, met=met)
    both = zip(settings.sides, (ours, theirs), strict=True)
    ended = [
        arrival.Parcel(
            arrival.Report(hand, 0, NEVER, BEGINNING, seen=False), _found(side, rows)
        )
        for hand, (side, rows) in enumerate(both)
    ]
    # Rows have their places by now, and nothing is held back for what is still to come.
    whole = replace(settings, arrival=Arrival.SEQUENCE, ordered=False)
    beginning = replace(state, alive=nobody, waiting=nobody)
    done = steps.step(whole, beginning, ended, now)
    out = _in_left_order(settings, done.out)
    left_over = _keeping(state, arrived, nobody, out=(*late, *out))
    return replace(left_over, until=NEVER, met=done.met)


def has_ended(arrived: tuple[arrival.Arrived, arrival.Arrived]) -> bool:
    """Tells whether nothing can come any more on either side."""
    return all(one.watch.bound == NEVER for one in arrived)


def _keeping(
    state: JoinState,
    arrived: tuple[arrival.Arrived, arrival.Arrived],
    waiting: tuple[Rows, Rows],
    *,
    out: tuple[pa.RecordBatch, ...],
) -> steps.Stepped:
    """Returns the step that keeps rows back, with those that waited before."""
    left, right = waiting
    nobody = left.take(slice(0)), right.take(slice(0))
    ours, theirs = (
        np.full(len(before), len(rows) > 0)
        for before, rows in zip(state.waiting, waiting, strict=True)
    )
    came = sum(len(one.on_time) for one in arrived)
    present = Present(
        rows=nobody,
        old=(0, 0),
        waiting=waiting,
        watches=(arrived[0].watch, arrived[1].watch),
        next_place=state.next_place + came,
        still=(ours, theirs),
    )
    none = np.empty(0, bool)
    due, pairs = nobody_due(nobody), rows_of_pairs(nobody, NO_MATCHES)
    return steps.Stepped(present, (none, none), state.held, out, due, pairs)


def _found(side: SideSettings, rows: Rows) -> Rows:
    """Returns all rows that came as they are found in the end.

    Who lacks the row time that its input has meets nobody, and as a version it replaces
    nothing.
    """
    # A partition of its own, below all places: as a version it replaces nobody.
    timeless = (rows.moment == MISSING) & side.has_time
    if timeless.any():
        own = np.where(timeless, -1 - rows.place, rows.partition)
        rows = rows.with_arrays(partition=own)
        rows = rows.with_flags(has_key=rows.has_key & ~timeless)
    if side.is_state:
        # Of the versions of a key only the newest counts, of equal times the last; if
        # it is a delete, none does.
        newest = timeless.copy()
        order = sorted_by(rows.partition, rows.moment, rows.place)
        is_last = np.append(np.diff(rows.partition[order]) != 0, True)[: len(order)]
        newest[order[is_last]] = True
        rows = rows.take(newest & ~rows.removes)
    lives_in_time = isinstance(side.window, windows.Latest) or not (
        side.static or isinstance(side.window, windows.Forever)
    )
    if not lives_in_time:
        rows = rows.with_arrays(moment=np.full(len(rows), MISSING))
    return rows


def _in_left_order(
    settings: JoinSettings, out: tuple[pa.RecordBatch, ...]
) -> tuple[pa.RecordBatch, ...]:
    """Returns results in the order of their left rows, then of the right ones.

    Where it is asked for they stand by row time before that. Who has none, or no row on
    a side, stands last.
    """
    if not out:
        return ()
    whole = join_batches(list(out))
    time: Whole = whole.column("row_time").fill_null(NEVER).to_numpy()
    left, right = (
        # In several windows a row is there several times, at places side by side.
        np.where(place < 0, NEVER, place // copies(side.window))
        for side, place in zip(
            settings.sides,
            (whole.column(name).to_numpy() for name in _SIDES),
            strict=True,
        )
    )
    keys = (time, left, right) if settings.ordered else (left, right, time)
    order = sorted_by(*keys)
    return (take_payload(without_places(whole), order),)
