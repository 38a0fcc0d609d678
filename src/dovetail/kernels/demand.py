"""What a step asks of the state: rows of the codes that came, and rows that fall due.

    came     code 7, code 9            bound now 10:05, it was 10:02
    kept     7  [10:00 10:08)          has the code: it may meet who came
             8  [09:58 10:04)          falls due: its null row comes out
             8  [10:01 10:20)          neither: nothing can happen to it

Where `JoinSettings.reads_all` says why, the step asks for every row.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce

import numpy as np

from dovetail.kernels.arrays.rows import BEGINNING, NEVER, Rows, Whole
from dovetail.kernels.arrival.admission import Present
from dovetail.kernels.arrival.arrival import Parcel, Watch, awake
from dovetail.kernels.horizon import Horizon
from dovetail.kernels.lifetimes.births import births
from dovetail.kernels.settings import JoinSettings, SideSettings, waits_for
from dovetail.kernels.state import JoinState

NO_LIMIT = BEGINNING
"""The limit before anything has come: nobody is due."""


@dataclass(frozen=True, slots=True)
class Demand:
    """What a step asks of one side: rows of some codes, and rows due up to a limit."""

    codes: Whole
    limit: int


def demands(
    settings: JoinSettings, state: JoinState, parcels: list[Parcel], now: int
) -> tuple[Demand, Demand]:
    """Returns what a step asks of both sides; `state` needs no rows that are alive."""
    watches = awake(_watches(state, parcels, now), settings.sides, now)
    coming: tuple[list[Rows], list[Rows]] = ([state.waiting[0]], [state.waiting[1]])
    for parcel in parcels:
        coming[parcel.report.hand].append(parcel.rows)
    present = Present(state.alive, (0, 0), state.waiting, watches, state.next_place)
    horizon = Horizon(settings, present)
    left, right = (
        Demand(_codes(side, coming, hand), _limit(horizon, coming, hand))
        for hand, side in enumerate(settings.sides)
    )
    return left, right


def _limit(horizon: Horizon, coming: tuple[list[Rows], list[Rows]], hand: int) -> int:
    """Returns the limit up to which rows of a side are due in a step."""
    settings = horizon.settings
    if not settings.event_clock:
        return NO_LIMIT  # who is due leaves with the row that ends it
    # Who is due waits for rows of the other side that wait themselves behind the step.
    waited_for = zip(map(horizon.bound, (0, 1)), waits_for(settings), strict=True)
    hold = min((bound for bound, is_one in waited_for if is_one), default=NEVER)
    limit = horizon.first_birth(1 - hand)
    for rows in coming[1 - hand]:
        birth = births(settings.sides[1 - hand].window, rows)
        limit = min(limit, int(birth[birth >= hold].min(initial=NEVER)))
    # An end that is not known yet is not due, even if nobody comes on the other side.
    side = settings.sides[hand]
    is_open = side.remembers and not side.is_intrinsic and horizon.can_come(hand)
    return min(limit, NEVER - 1) if is_open else limit


def _watches(state: JoinState, parcels: list[Parcel], now: int) -> tuple[Watch, Watch]:
    """Returns what is known of both sides' time once all reports are read."""
    left, right = (
        reduce(
            lambda known, parcel: known.after(parcel, now),
            sorted(
                (parcel for parcel in parcels if parcel.report.hand == hand),
                key=lambda parcel: parcel.report.position,
            ),
            watch,
        )
        for hand, watch in enumerate(state.watches)
    )
    return left, right


def _codes(
    side: SideSettings, coming: tuple[list[Rows], list[Rows]], hand: int
) -> Whole:
    """Returns each code of which a side's rows may meet who comes, or be ended."""
    codes = [rows.code[rows.has_key] for rows in coming[1 - hand]]
    if not side.is_intrinsic:
        codes += [rows.code for rows in coming[hand]]
    return np.unique(np.concatenate(codes))


def leaves_unseen(side: SideSettings) -> bool:
    """Tells whether nothing comes of a row that falls due: it need not be looked at."""
    return side.is_intrinsic and not side.remembers


def due_times(side: SideSettings, rows: Rows) -> Whole:
    """Returns when something happens to rows, whoever comes: the limit is past them.

    A row given once that has met comes out when no earlier meeting can follow.
    """
    if not side.once:
        return rows.death
    is_open = (rows.met < NEVER) & ~rows.emitted
    return np.where(is_open, np.minimum(rows.met, rows.death), rows.death)
