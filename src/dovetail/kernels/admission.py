"""From rows that came to rows that take part: waiting, numbering, lifetimes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dovetail.kernels.arrival import Arrived, Watch, numbered
from dovetail.kernels.rows import NEVER, Rows, join_rows
from dovetail.kernels.settings import JoinSettings, waits_for
from dovetail.kernels.state import JoinState
from dovetail.kernels.windows import births, deaths, is_intrinsic


@dataclass(frozen=True, slots=True)
class Present:
    """The rows that take part in a step: those alive before, then the new ones."""

    rows: tuple[Rows, Rows]
    old: tuple[int, int]
    waiting: tuple[Rows, Rows]
    watches: tuple[Watch, Watch]
    next_place: int


def admit(
    settings: JoinSettings,
    state: JoinState,
    arrived: tuple[Arrived, Arrived],
    watches: tuple[Watch, Watch],
) -> Present:
    """Returns the rows that take part now; rows that must wait stay in `waiting`.

    Rows get their places in the order of arrival when they take part: under the
    arrival MERGED that is by row time, which only the bounds complete.
    """
    hold = _hold(settings, watches)
    came = [
        join_rows([state.waiting[hand], _born(settings, hand, arrived[hand].on_time)])
        for hand in (0, 1)
    ]
    ready = [_waits_until(settings, rows) < hold for rows in came]
    left, right = (rows.take(pick) for rows, pick in zip(came, ready, strict=True))
    waiting_left, waiting_right = (
        rows.take(~pick) for rows, pick in zip(came, ready, strict=True)
    )
    next_place = state.next_place
    if settings.numbered:
        left, right = numbered((left, right), settings, next_place)
        next_place += len(left) + len(right)
    present = [
        _with_lifetimes(settings, hand, join_rows([state.alive[hand], fresh]))
        for hand, fresh in enumerate((left, right))
    ]
    return Present(
        rows=(present[0], present[1]),
        old=(len(state.alive[0]), len(state.alive[1])),
        waiting=(waiting_left, waiting_right),
        watches=watches,
        next_place=next_place,
    )


def _hold(settings: JoinSettings, watches: tuple[Watch, Watch]) -> int:
    """Returns the bound that rows must be below to take part."""
    bounds = [
        watch.bound
        for watch, waited_for in zip(watches, waits_for(settings), strict=True)
        if waited_for
    ]
    return min(bounds, default=NEVER)


def _waits_until(settings: JoinSettings, rows: Rows) -> np.ndarray:
    """Returns the time that the bound must have passed before a row takes part."""
    return rows.birth if settings.event_clock else rows.moment


def _born(settings: JoinSettings, hand: int, rows: Rows) -> Rows:
    """Returns the rows with their births on the event clock."""
    if not settings.event_clock:
        return rows
    return rows.with_arrays(birth=births(settings.sides[hand].window, rows.moment))


def _with_lifetimes(settings: JoinSettings, hand: int, rows: Rows) -> Rows:
    """Returns the rows with births and deaths; an end once known stays."""
    window = settings.sides[hand].window
    if not settings.event_clock:
        rows = rows.with_arrays(birth=rows.place)
    ends = deaths(window, rows)
    if not is_intrinsic(window):
        ends = np.minimum(ends, rows.death)
    return rows.with_arrays(death=ends)
