"""From rows that came to rows that take part: waiting, numbering, lifetimes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dovetail.kernels.arrays.rows import NEVER, Mask, Rows, join_rows
from dovetail.kernels.arrival.arrival import Arrived, Watch, numbered
from dovetail.kernels.arrival.eviction import evicted
from dovetail.kernels.arrival.time_limits import (
    Course,
    Edge,
    closed,
    course_of,
    highest_of,
)
from dovetail.kernels.arrival.untimed import replaced
from dovetail.kernels.lifetimes.births import births, deaths, known_lives, unfolded
from dovetail.kernels.lifetimes.lives import KNOWN_END, Lives, shortened
from dovetail.kernels.settings import Closing, JoinSettings, SideSettings, waits_for
from dovetail.kernels.state import JoinState
from dovetail.spec.inputs import Arrival


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
    now: int,
) -> Present:
    """Returns the rows that take part now; rows that must wait stay in `waiting`.

    Rows get their places in the order of arrival: in a SEQUENCE when they come, else
    when they take part. Under the arrival MERGED that is by row time, which only the
    bounds complete.
    """
    in_sequence = settings.arrival is Arrival.SEQUENCE
    new, next_place = [one.on_time for one in arrived], state.next_place
    if in_sequence:
        new, next_place = _numbered(settings, new, next_place)
    sides = [
        _side(settings, state, hand, came)
        .with_lives(settings.sides[hand], arrived[hand].lives)
        .with_ends(settings, hand, watches[hand].bound)
        for hand, came in enumerate(new)
    ]
    fresh, waiting = _parted(settings, sides, _hold(settings, watches))
    if not in_sequence and not settings.keeps_places:
        fresh, next_place = _numbered(settings, fresh, next_place)
    present = _living(settings, sides, fresh)
    if settings.reads_time:
        edge = Edge(highest_of(state.watches), next_place, now)
        present = _closed(settings, present, watches, _course(settings, fresh, edge))
    return Present(
        rows=_without_evicted(settings, state, present),
        old=(len(state.alive[0]), len(state.alive[1])),
        waiting=(waiting[0], waiting[1]),
        watches=watches,
        next_place=next_place,
    )


def _numbered(
    settings: JoinSettings, rows: list[Rows], start: int
) -> tuple[list[Rows], int]:
    """Returns the rows with their places, where those can be seen, and the next one."""
    if not settings.numbered:
        return rows, start
    left, right = rows
    past = start + len(left) + len(right)
    return list(numbered((left, right), settings, start)), past


def _living(
    settings: JoinSettings, sides: list[_Side], fresh: list[Rows]
) -> list[Rows]:
    """Returns both sides' rows that take part, with births and deaths."""
    return [
        _with_lifetimes(settings, hand, side.alive, came)
        for hand, (side, came) in enumerate(zip(sides, fresh, strict=True))
    ]


def _course(settings: JoinSettings, fresh: list[Rows], edge: Edge) -> Course:
    """Returns the course of time over the rows that a step lets in."""
    left, right = fresh
    return course_of(settings, (left, right), edge)


def _parted(
    settings: JoinSettings, sides: list[_Side], hold: int
) -> tuple[list[Rows], list[Rows]]:
    """Returns both sides' rows that take part now, and those that wait."""
    parted = [
        side.came.parted(_is_ready(settings, side.came, NEVER if one.untimed else hold))
        for one, side in zip(settings.sides, sides, strict=True)
    ]
    return [ready for ready, _ in parted], [waiting for _, waiting in parted]


def _without_evicted(
    settings: JoinSettings, state: JoinState, sides: list[Rows]
) -> tuple[Rows, Rows]:
    """Returns both sides' rows; those that leave with their partition have an end."""
    left, right = (
        evicted(side, rows, len(alive))
        for side, rows, alive in zip(settings.sides, sides, state.alive, strict=True)
    )
    return left, right


def _closed(
    settings: JoinSettings,
    sides: list[Rows],
    watches: tuple[Watch, Watch],
    course: Course,
) -> list[Rows]:
    """Returns both sides' rows with the deaths that time gives them."""
    return [
        rows
        if settings.sides[hand].closing is Closing.NONE
        else closed(settings, hand, rows, course, watch)
        for hand, (rows, watch) in enumerate(zip(sides, watches, strict=True))
    ]


@dataclass(frozen=True, slots=True)
class _Side:
    """The rows of one side: those that are alive, those that came or wait."""

    alive: Rows
    came: Rows

    def with_lives(self, side: SideSettings, lives: Lives) -> _Side:
        """Returns the rows with the ends that they are told, where they inherit."""
        if not side.inherits:
            return self
        return _Side(shortened(self.alive, lives), shortened(self.came, lives))

    def with_ends(self, settings: JoinSettings, hand: int, bound: int) -> _Side:
        """Returns the rows with the ends that no row to come can change.

        On the event clock a version ends where the next one is born, even if that one
        still waits; one that was outdated from the start may come out at once.
        """
        side = settings.sides[hand]
        if not settings.event_clock or not side.ends_with_later:
            return self
        if not side.counts_later and not len(self.came):
            return self
        rows = join_rows([self.alive.bare(), self._later(settings).bare()])
        old = len(self.alive)
        known = replaced(rows) if side.untimed else known_lives(side, rows, bound)
        return _Side(
            self.alive.with_arrays(birth=known.birth[:old], death=known.death[:old]),
            self.came.with_arrays(birth=known.birth[old:], death=known.death[old:]),
        )

    def _later(self, settings: JoinSettings) -> Rows:
        """Returns the rows that came, with places behind those that are alive."""
        has_place = any(side.untimed for side in settings.sides)
        if settings.keeps_places or has_place or not len(self.came):
            return self.came
        first = self.alive.place.max(initial=0) + 1
        return self.came.with_arrays(
            place=self.came.place - self.came.place.min() + first
        )


def _side(settings: JoinSettings, state: JoinState, hand: int, new: Rows) -> _Side:
    """Returns one side's rows as they are when a step begins."""
    came = join_rows([state.waiting[hand], _born(settings, hand, new)])
    return _Side(state.alive[hand], came)


def _hold(settings: JoinSettings, watches: tuple[Watch, Watch]) -> int:
    """Returns the bound that rows must be below to take part."""
    bounds = [
        watch.bound
        for watch, waited_for in zip(watches, waits_for(settings), strict=True)
        if waited_for
    ]
    return min(bounds, default=NEVER)


def _is_ready(settings: JoinSettings, rows: Rows, hold: int) -> Mask:
    """Tells which rows take part: the bound has passed them, or they never live."""
    if not settings.event_clock:
        return rows.moment < hold
    is_empty = (rows.death <= rows.birth) & (rows.death < NEVER)
    return (rows.birth < hold) | is_empty


def _born(settings: JoinSettings, hand: int, rows: Rows) -> Rows:
    """Returns the rows in time with their births on the event clock."""
    if not settings.event_clock:
        return rows
    side = settings.sides[hand]
    if settings.arrival is not Arrival.SEQUENCE and settings.keeps_places:
        rows = rows.with_arrays(place=2 * rows.place + hand)
    rows = unfolded(side.window, rows)
    if side.inherits:
        rows = rows.with_arrays(death=rows.hidden(KNOWN_END))
    return rows.with_arrays(birth=births(side.window, rows))


def _with_lifetimes(
    settings: JoinSettings, hand: int, alive: Rows, fresh: Rows
) -> Rows:
    """Returns the rows with births and deaths; an end once known stays."""
    side, rows = settings.sides[hand], join_rows([alive, fresh])
    if side.is_intrinsic:
        if settings.event_clock:
            return rows.with_arrays(death=deaths(side, rows))
    elif settings.event_clock:
        return rows
    rows = rows.with_arrays(birth=rows.place)
    ends = deaths(side, rows, len(alive))
    return rows.with_arrays(death=np.minimum(ends, rows.death))
