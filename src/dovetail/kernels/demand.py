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
from dovetail.kernels.settings import JoinSettings, SideSettings
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
    present = Present(state.alive, (0, 0), state.waiting, watches, state.next_place)
    horizon = Horizon(settings, present)
    left, right = (
        Demand(
            _codes(settings.sides[hand], state, parcels, hand),
            # What waits now may hold others back: these are looked at again and again.
            horizon.first_birth(1 - hand) if settings.event_clock else NO_LIMIT,
        )
        for hand in (0, 1)
    )
    return left, right


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
    side: SideSettings, state: JoinState, parcels: list[Parcel], hand: int
) -> Whole:
    """Returns each code of which a side's rows may meet who comes, or be ended."""
    coming: tuple[list[Rows], list[Rows]] = ([state.waiting[0]], [state.waiting[1]])
    for parcel in parcels:
        coming[parcel.report.hand].append(parcel.rows)
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
