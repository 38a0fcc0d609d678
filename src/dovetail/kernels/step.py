"""One step of a join: rows and bounds in, rows out, what is still alive kept.

A step is a pure function of the state, what arrived and the batch's own time. Any
cut of the same input into steps gives the same rows, because everything is decided
by lifetimes, places and bounds, never by what happened to come together.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa

from dovetail.kernels import demand, inheritance
from dovetail.kernels.arrays.rows import BEGINNING, NEVER, Mask, Rows, join_rows
from dovetail.kernels.arrival import arrival
from dovetail.kernels.arrival.admission import Present, admit
from dovetail.kernels.arrival.causes import let_out_by, with_causes
from dovetail.kernels.candidates import emission
from dovetail.kernels.candidates.judgement import without_hopeless
from dovetail.kernels.candidates.picks import (
    Picked,
    at_turn,
    pick,
    remembered,
    with_counts,
)
from dovetail.kernels.horizon import Horizon, bounds_by_place
from dovetail.kernels.lifetimes.lives import NO_LIVES, Lives
from dovetail.kernels.pairs import memo, results
from dovetail.kernels.pairs.matches import NO_MATCHES
from dovetail.kernels.settings import JoinSettings
from dovetail.kernels.state import JoinState
from dovetail.kernels.tables.changelog import changelog, result_changes
from dovetail.kernels.unmatched.early import (
    behind_taken_back,
    early_null_rows,
    with_early,
    with_early_marks,
)
from dovetail.kernels.unmatched.frontier import frontier
from dovetail.kernels.unmatched.late_tables import late_tables
from dovetail.kernels.unmatched.outcome import (
    Outcome,
    late_rows,
    marked,
    outcome,
    stays,
    without_given,
)
from dovetail.kernels.unmatched.stretches import null_stretches
from dovetail.spec.inputs import Arrival


@dataclass(frozen=True, slots=True)
class Stepped:
    """What a step leaves behind: rows with their outcome, and the rows that go out.

    `present` has the rows that were alive, then the new ones; `kept` marks those
    that are still needed. `pairs` wait, and `due` says when something happens to rows
    and pairs. No row comes out later with a row time below `until`; `lives` tell of
    those that rows which came out hand on.
    So many rows of each side have `met` somebody in this step.
    """

    present: Present
    kept: tuple[Mask, Mask]
    held: pa.RecordBatch
    out: tuple[pa.RecordBatch, ...]
    due: demand.Due
    pairs: Rows
    covers: tuple[memo.Covers, memo.Covers] = (memo.NO_COVERS, memo.NO_COVERS)
    until: int = BEGINNING
    met: tuple[int, int] = (0, 0)
    lives: Lives = NO_LIVES

    def state(self) -> JoinState:
        """Returns what the next step needs to know."""
        left, right = (
            rows.take(kept)
            for rows, kept in zip(self.present.rows, self.kept, strict=True)
        )
        present = self.present
        return JoinState(
            alive=(left, right),
            waiting=present.waiting,
            watches=present.watches,
            held=self.held,
            next_place=present.next_place,
            memo=memo.memo_of_pairs(self.pairs, self.covers),
        )


def step(
    settings: JoinSettings, state: JoinState, parcels: list[arrival.Parcel], now: int
) -> Stepped:
    """Returns the state and the rows that come out once the parcels have been met."""
    # Who has come: rows that are late leave, others wait, or take part from now on.
    arrived, present = let_in(settings, state, parcels, now)
    present = without_hopeless(settings, present)
    late = _late(settings, arrived)
    if settings.changelog:
        return _changed(settings, state, present, late)
    # Null rows that come with their rows are judged by what was there before each.
    bounds = bounds_by_place(settings, state, parcels, arrived)
    early = early_null_rows(settings, state, present, bounds)
    # Who meets whom, which pairs count, and what is noted of their rows.
    horizon, since = Horizon(settings, early.present), state.next_place
    picked = pick(horizon, state.memo)
    present = with_early_marks(settings, early.present, picked, since)
    present = marked(settings, present, picked)
    belated = late_tables(horizon, present, picked, bounds)
    present = belated.present
    # What becomes of rows: each step adds rows that come out by themselves.
    left, right = (outcome(horizon, present, hand, picked) for hand in (0, 1))
    outcomes = with_early(horizon, present, (left, right), picked, since)
    stretches = null_stretches(horizon, state, picked.met)
    outcomes = stretches.added_to(belated.added_to(outcomes))
    picked = belated.picked(picked)
    # What comes out: in row-time order no further than no earlier row can come.
    lives, until = inheritance.told_lives(horizon, state), BEGINNING
    held = inheritance.still_held(state.held, lives)
    if settings.ordered:
        until = frontier(horizon, present, outcomes, picked)
        until = min(until, belated.least, stretches.least)
        picked = at_turn(horizon, picked, until)
    if settings.caused and settings.arrival is Arrival.MERGED:
        until = present.hold
    out = _results(horizon, present, picked, outcomes)
    if settings.ordered:
        out, held = results.release(held, out, until)
    # What is kept, and what must not come out a second time.
    kept = (outcomes[0].kept, outcomes[1].kept)
    covers = stretches.kept(present, outcomes)
    present = belated.noted(without_given(present, outcomes))
    present = with_counts(settings, present, picked)
    shown = (*late, *early.out, *map(results.as_shown, out))
    due = demand.due_times(horizon, present, picked)
    pairs = memo.rows_of_pairs(present.rows, remembered(settings, picked))
    met = picked.count_met(present)
    return Stepped(present, kept, held, shown, due, pairs, covers, until, met, lives)


def _changed(
    settings: JoinSettings,
    state: JoinState,
    present: Present,
    late: tuple[pa.RecordBatch, ...],
) -> Stepped:
    """Returns what changes about the result of two tables, and what they hold."""
    changes = result_changes(settings, present, state.next_place)
    left, right = (stays(settings, present, hand) for hand in (0, 1))
    is_merged = settings.caused and settings.arrival is Arrival.MERGED
    told = changelog(changes, caused=settings.caused)
    if settings.caused:
        told = with_causes(settings, present, told)
    ours, theirs = (
        int(np.count_nonzero(now.partners > before.partners))
        for now, before in zip(changes.rows, present.rows, strict=True)
    )
    return Stepped(
        replace(present, rows=changes.rows),
        (left, right),
        state.held,
        (*told, *late),
        demand.nobody_due(changes.rows),
        memo.rows_of_pairs(changes.rows, NO_MATCHES),
        until=present.hold if is_merged else BEGINNING,
        met=(ours, theirs),
    )


def let_in(
    settings: JoinSettings, state: JoinState, parcels: list[arrival.Parcel], now: int
) -> tuple[tuple[arrival.Arrived, arrival.Arrived], Present]:
    """Returns what came on each hand, and the rows that take part now."""
    left, right = read_sides(settings, state, parcels, now=now)
    watches = arrival.awake((left.watch, right.watch), settings.sides, now)
    return (left, right), admit(settings, state, (left, right), watches, now)


def read_sides(
    settings: JoinSettings, state: JoinState, parcels: list[arrival.Parcel], *, now: int
) -> tuple[arrival.Arrived, arrival.Arrived]:
    """Returns what came on each hand, who is late or bad apart."""
    left, right = (
        arrival.read_side(
            [parcel for parcel in parcels if parcel.report.hand == hand],
            state.waiting[hand],
            settings.sides[hand],
            state.watches[hand],
            arrival.Moment(now, exact=settings.arrival is Arrival.SEQUENCE),
        )
        for hand in (0, 1)
    )
    return left, right


def _results(
    horizon: Horizon,
    present: Present,
    picked: Picked,
    outcomes: tuple[Outcome, Outcome],
) -> tuple[pa.RecordBatch, ...]:
    """Returns the table of pairs, null rows and rows given once, if there are any."""
    settings = horizon.settings
    single = [leaving for one in outcomes for leaving in one.leaving]
    single += emission.over_limit(settings, present, picked.judged_over)
    parts = [emission.not_skipped(settings, present.rows, part) for part in single]
    shape = results.Shape(
        timed=settings.event_clock,
        sorted=settings.shows_order(0),
        numbered=settings.picks.numbered,
        changing=settings.retracts,
        shows_time=settings.takes_back,
        placed=settings.ordered,
        caused=settings.caused,
        sided=settings.inherited or settings.gathers,
        unread=settings.unread,
    )
    pairs = behind_taken_back(settings, present, picked.given)
    parts += emission.let_out(settings, present, pairs)
    leaving = results.leave(parts, present.rows, shape)
    if settings.inherited:
        leaving = tuple(inheritance.handed_on(horizon, one) for one in leaving)
    return with_causes(settings, present, leaving) if settings.caused else leaving


def turned_away(
    arrived: tuple[arrival.Arrived, arrival.Arrived],
    *,
    self_join: bool,
    in_order: bool = False,
) -> tuple[pa.RecordBatch, ...]:
    """Returns the table of rows that came too late or have no row time, if any.

    A row of a self-join came once, so it leaves once. They leave side by side, or in
    the order in which they came.
    """
    if not any(side.others for side in arrived):
        return ()
    parts, sides = [], []
    for hand, side in enumerate(arrived):
        # For the columns, where a side has nobody that is turned away.
        none = side.on_time.take(slice(0, 0))
        sides.append(join_rows([none, *(rows for _, rows in side.others)]))
        offset = 0
        for reason, rows in side.others if not (hand and self_join) else ():
            parts.append(late_rows(rows, hand, reason, offset))
            offset += len(rows)
    shape = results.Shape(timed=True, sorted=False, sided=in_order)
    leaving = results.leave(parts, (sides[0], sides[1]), shape)
    return tuple(map(results.without_places, leaving)) if in_order else leaving


def _late(
    settings: JoinSettings, arrived: tuple[arrival.Arrived, arrival.Arrived]
) -> tuple[pa.RecordBatch, ...]:
    """Returns the rows that take no part, and the null rows that late ones give."""
    gone = turned_away(arrived, self_join=settings.self_join)
    return (*gone, *late_null_rows(settings, arrived))


def late_null_rows(
    settings: JoinSettings, arrived: tuple[arrival.Arrived, arrival.Arrived]
) -> tuple[pa.RecordBatch, ...]:
    """Returns the null rows of late rows, where they give them at once."""
    if not any(side.late_null_rows for side in settings.sides):
        return ()
    parts, sides = [], []
    for hand, (side, came) in enumerate(zip(settings.sides, arrived, strict=True)):
        rows = [came.on_time.take(slice(0, 0))]
        if side.late_null_rows:
            rows += [
                one for reason, one in came.others if reason is results.Reason.LATE
            ]
        sides.append(join_rows(rows))
        number = np.arange(len(sides[hand]))
        nowhen = np.full(len(number), NEVER)
        parts.append(results.one_sided(hand, number, nowhen, results.UNMATCHED[hand]))
    both = sides[0], sides[1]
    parts = [emission.not_skipped(settings, both, part) for part in parts]
    shape = results.Shape(
        timed=settings.event_clock,
        sorted=False,
        numbered=settings.picks.numbered,
        changing=settings.retracts,
    )
    leaving = results.leave(parts, both, shape)
    if not settings.caused:
        return leaving
    # Each is its own cause, as a row that takes part is of the null row it gives.
    at = np.concatenate((parts[0].left, parts[1].right + len(both[0])))
    return tuple(let_out_by(settings, both, one, numbers=at) for one in leaving)
