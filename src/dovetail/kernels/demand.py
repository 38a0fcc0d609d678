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
    limits = Horizon(settings, present).least[::-1]
    codes = (_codes(state, parcels, 1), _codes(state, parcels, 0))
    left, right = map(Demand, codes, limits)
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


def _codes(state: JoinState, parcels: list[Parcel], hand: int) -> Whole:
    """Returns the codes of a side's rows that may take part now, each once."""
    came = [parcel.rows for parcel in parcels if parcel.report.hand == hand]
    rows = [*came, state.waiting[hand]]
    return np.unique(np.concatenate([one.code[one.has_key] for one in rows]))


def leaves_unseen(side: SideSettings) -> bool:
    """Tells whether nothing comes of a row that falls due: it need not be looked at."""
    return not side.remembers


def due_times(side: SideSettings, rows: Rows) -> Whole:
    """Returns when something happens to rows, whoever comes: the limit is past them.

    A row given once that has met comes out when no earlier meeting can follow.
    """
    if not side.once:
        return rows.death
    is_open = (rows.met < NEVER) & ~rows.emitted
    return np.where(is_open, np.minimum(rows.met, rows.death), rows.death)


NO_LIMIT = BEGINNING
"""The limit before anything has come: nobody is due."""
