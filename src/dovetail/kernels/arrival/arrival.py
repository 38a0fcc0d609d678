"""Who has come, in which order, and who is late.

    task 1 of a side   p=0 t=5 | p=1 t=9 | p=2 t=4 (late in its task: 4 < 9 - lateness)
    task 2 of a side   p=3 t=6 (late by what task 1 saw) | p=4 t=12

Every task reports what it has seen to every bucket, so each bucket knows the bound
that stood before each of its rows, whatever the cut.

    part 0 of a source   t=50 | t=60     the side's bound is that of part 1, the least;
    part 1 of a source   t=12            where that is idle, of part 0 alone
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dovetail.kernels.arrays import names
from dovetail.kernels.arrays.rows import (
    BEGINNING,
    FIRST,
    MISSING,
    NEVER,
    Mask,
    Rows,
    Whole,
    join_rows,
)
from dovetail.kernels.arrays.sort import sorted_by
from dovetail.kernels.lifetimes.lives import (
    NO_LIVES,
    NOTHING_TOLD,
    Lives,
    Told,
    join_lives,
)
from dovetail.kernels.pairs import results
from dovetail.kernels.settings import JoinSettings, SideSettings
from dovetail.spec.inputs import Arrival

WHOLE = -1
"""What stands for the part of a source that has none."""
Part = tuple[int, int, int]
"""A part of a source: its number, its bound, when it was last active."""


@dataclass(frozen=True, slots=True)
class Report:
    """What one task saw of one side: from which position on, and how far it got.

    `bound` is the bound of the side after the task, `newest` the newest row time,
    both BEGINNING where it saw none; `seen` says whether it saw any row, `stopped` at
    which processing time the side ended. `part` is the lasting part of the source, such
    as a partition of Kafka, that was seen; WHOLE where it has none.
    """

    hand: int
    position: int
    bound: int
    newest: int
    seen: bool
    stopped: int = NEVER
    part: int = WHOLE


@dataclass(frozen=True, slots=True)
class Parcel:
    """A task's report with the rows that it sent to this bucket.

    `lives` tells when rows end that inherit a life, `told` of all lives of a side that
    are found elsewhere.
    """

    report: Report
    rows: Rows
    lives: Lives = NO_LIVES
    told: Told = NOTHING_TOLD


@dataclass(frozen=True, slots=True)
class Watch:
    """What a bucket knows of a side's time: its bound, newest time, last activity.

    `stopped` is the processing time at which the side ended, NEVER before that;
    `holds` say until when inherited lives are sure, `parts` how far each part is of a
    source that has some.
    """

    bound: int = BEGINNING
    newest: int = BEGINNING
    active: int = MISSING
    stopped: int = NEVER
    holds: tuple[int, ...] = ()
    parts: tuple[Part, ...] = ()

    def after(self, parcel: Parcel, now: int) -> Watch:
        """Returns the watch once the report of a parcel has been read.

        Where the newest row of a task is late, all its rows are, and move no time.
        """
        report = parcel.report
        # A side that has yet to say anything is quiet from its first report on.
        fresh = report.seen or self.active == MISSING
        # A row behind the bound is late; it must not move the newest time either.
        newest = report.newest if report.newest >= self.bound else self.newest
        parts, bound = self.parts, report.bound
        if report.part != WHOLE:
            known = {number: (bound, active) for number, bound, active in parts}
            before, _ = known.get(report.part, (BEGINNING, now))
            # Two tasks may read of one part: the further one counts.
            known[report.part] = (max(before, bound), now)
            parts = tuple((number, *one) for number, one in sorted(known.items()))
            # Of the whole only so much is sure as its slowest part has come.
            bound = BEGINNING
        return Watch(
            max(self.bound, bound),
            max(self.newest, newest),
            now if fresh else self.active,
            min(self.stopped, report.stopped),
            parcel.lives.holds or self.holds,
            parts,
        )

    def reached(self, idle: int, now: int) -> int:
        """Returns the bound, where there are parts the least of those not idle.

        The bound of a whole that has been told never goes back.
        """
        bounds = [
            bound for _, bound, active in self.parts if not 0 < idle < now - active
        ]
        return max(self.bound, min(bounds, default=BEGINNING))


@dataclass(frozen=True, slots=True)
class Arrived:
    """The rows of one side that came in a batch: in time, and others with the reason.

    They are late, without a time, or name an interval in which nothing lives.
    """

    on_time: Rows
    others: tuple[tuple[results.Reason, Rows], ...]
    watch: Watch
    lives: Lives = NO_LIVES
    told: Told = NOTHING_TOLD


@dataclass(frozen=True, slots=True)
class Moment:
    """A batch's own time, and whether its rows have an exact order.

    Where they have none, a row is judged by the bound before the batch.
    """

    now: int
    exact: bool


def read_side(
    parcels: list[Parcel],
    waiting: Rows,
    side: SideSettings,
    watch: Watch,
    moment: Moment,
) -> Arrived:
    """Returns one side's rows, judged by the bound that stood before each."""
    judged: list[Rows] = []
    others: dict[results.Reason, list[Rows]] = {}
    # Without an exact order nobody knows which rows of this batch came first: all are
    # judged by what stood before it.
    before = watch.bound
    for parcel in sorted(parcels, key=lambda parcel: parcel.report.position):
        rows = parcel.rows
        # A row that lacks its time is as new as anything that came before it.
        if rows.open_time.any():
            newest = np.maximum(rows.moment, watch.newest)
            moments = np.where(rows.open_time, newest, rows.moment)
            rows = rows.with_arrays(moment=moments)
        bound = watch.bound if moment.exact else before
        good = np.ones(len(rows), bool)
        for reason, found in _faults(rows, side, bound, exact=moment.exact):
            turned_away = found & good
            if reason is results.Reason.LATE:
                turned_away &= ~rows.removes  # a late delete leaves no trace
            others.setdefault(reason, []).append(rows.take(turned_away))
            # The first reason counts, so whoever has one is asked for no other.
            good &= ~found
        judged.append(rows.take(good))
        watch = watch.after(parcel, moment.now)
    return Arrived(
        join_rows(judged or [waiting.take(slice(0))]),
        tuple(
            (reason, join_rows(others[reason]))
            for reason in sorted(others, key=results.code)
        ),
        watch,
        join_lives(parcel.lives for parcel in parcels),
        next((one.told for one in parcels if len(one.told)), NOTHING_TOLD),
    )


def _faults(
    rows: Rows, side: SideSettings, bound: int, *, exact: bool
) -> Iterator[tuple[results.Reason, Mask]]:
    """Gives which rows take no part, if any, and why: the first reason counts."""
    found = [(results.Reason.BAD_INTERVAL, bad_intervals(rows))]
    if side.timed:
        # Only an exact order says what a task had seen before its own row.
        behind = (rows.moment < bound) | (rows.late & exact)
        # What time alone lets out of a join inside stands nowhere in row time.
        late = behind & ~rows.from_start & (rows.moment != FIRST)
        missing = rows.moment == MISSING
        found = [
            (results.Reason.NULL_TIME, missing),
            (results.Reason.LATE, late),
            *found,
        ]
    for reason, faulty in found:
        if np.count_nonzero(faulty):
            yield reason, faulty


def bad_intervals(rows: Rows) -> Mask:
    """Tells which rows name an interval in which nothing lives."""
    if names.BAD not in rows.payload.schema.names:
        return np.zeros(len(rows), bool)
    bad: Mask = rows.hidden(names.BAD) == 1
    return bad


def awake(
    watches: tuple[Watch, Watch], sides: tuple[SideSettings, SideSettings], now: int
) -> tuple[Watch, Watch]:
    """Returns the watches to go by: an idle side's bound is lifted to the other's.

    The lifted bound stays, so that a row which comes back behind it is late.
    """
    reached = [
        watch.reached(side.idle, now)
        for watch, side in zip(watches, sides, strict=True)
    ]
    lifted: list[Watch] = []
    for hand, (watch, side) in enumerate(zip(watches, sides, strict=True)):
        active = now if watch.active == MISSING else watch.active
        # Idle only once it has been quiet longer than that: a side without rows holds
        # others up no further.
        quiet = side.idle > 0 and now - active > side.idle
        other = reached[1 - hand] if quiet else BEGINNING
        bound = NEVER if side.static else max(reached[hand], other)
        lifted.append(replace(watch, bound=bound, active=active))
    return lifted[0], lifted[1]


def numbered(
    rows: tuple[Rows, Rows], settings: JoinSettings, start: int
) -> tuple[Rows, Rows]:
    """Returns the rows with their places in the order of arrival, from `start` on."""
    left, right = rows
    if len(left) and not settings.shows_order(0):
        # Nobody sees where left rows stand: they stand in front, and take no sort.
        next_place = start + len(left)
        _, placed = numbered((left.take(slice(0)), right), settings, next_place)
        return left.with_arrays(place=np.arange(start, next_place)), placed
    position = np.concatenate((left.place, right.place))
    has_turns = any(names.TURN in rows.payload.schema.names for rows in (left, right))
    turn = [np.concatenate((_turns(left), _turns(right)))] if has_turns else []
    hand = np.repeat([0, 1], [len(left), len(right)])
    if settings.by_turns:
        # Of one number they go by turns over both sides; where one row comes to both,
        # the left is first.
        both = [rows.payload.column(names.TURN) for rows in (left, right)]
        hand, turn = _ranked(pa.concat_arrays(both)), [hand]
    moment = np.concatenate((left.moment, right.moment))
    decides = {
        Arrival.SEQUENCE: (position, hand, *turn),
        Arrival.MERGED: (moment, hand, *turn, position),
        Arrival.AS_READ: (hand, *turn, position),
    }
    keys = decides[settings.arrival]
    there = np.concatenate((left.from_start, right.from_start))
    # What was there from the start has come before all that streams.
    order = sorted_by(*keys) if not there.any() else sorted_by(~there * 1, *keys)
    places = np.empty(len(order), np.int64)
    places[order] = np.arange(start, start + len(order))
    return (
        left.with_arrays(place=places[: len(left)]),
        right.with_arrays(place=places[len(left) :]),
    )


def _turns(rows: Rows) -> Whole:
    """Returns which of the rows of a join, of one number and side, goes first."""
    if names.TURN not in rows.payload.schema.names:
        return np.zeros(len(rows), np.int64)
    return _ranked(rows.payload.column(names.TURN))


def _ranked(turns: pa.Array) -> Whole:
    """Returns numbers in the order of turns, the same for those that are equal."""
    ranked = pc.rank(turns, tiebreaker="dense")
    ranks: Whole = ranked.to_numpy(zero_copy_only=False).astype(np.int64)
    return ranks
