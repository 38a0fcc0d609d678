"""From rows that came to rows that take part: waiting, numbering, lifetimes.

    came     10:02   10:04   10:09        the bounds of versions stand at 10:05
             takes part      waits        its life may still be another

On the event clock a row takes part once the bound has passed its birth; where rows are
merged by time, once none can come that stands before it. Then it has its place in the
order of arrival, and its life as far as it is known.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dovetail.kernels.arrays.rows import NEVER, Mask, Rows, join_rows
from dovetail.kernels.arrival.arrival import Arrived, Watch, numbered
from dovetail.kernels.arrival.eviction import evicted
from dovetail.kernels.arrival.time_limits import Edge, closed, highest_of
from dovetail.kernels.arrival.untimed import replaced
from dovetail.kernels.lifetimes.births import births, deaths, known_lives, unfolded
from dovetail.kernels.lifetimes.lives import KNOWN_END, shortened
from dovetail.kernels.settings import JoinSettings, waits_for
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
    born = [_born(settings, hand, came) for hand, came in enumerate(new)]
    sides = [
        _Side(state.alive[hand], join_rows([state.waiting[hand], came]))
        .with_lives(settings, hand, arrived[hand])
        .with_ends(settings, hand, watches[hand].bound)
        for hand, came in enumerate(born)
    ]
    waited_for = zip(watches, waits_for(settings), strict=True)
    hold = min((watch.bound for watch, is_one in waited_for if is_one), default=NEVER)
    parted = [
        rows.came.parted(rows.are_ready(settings, NEVER if side.untimed else hold))
        for rows, side in zip(sides, settings.sides, strict=True)
    ]
    fresh = [ready for ready, _ in parted]
    if not in_sequence and not settings.keeps_places:
        fresh, next_place = _numbered(settings, fresh, next_place)
    living = [
        _with_lifetimes(settings, hand, rows.alive, came)
        for hand, (rows, came) in enumerate(zip(sides, fresh, strict=True))
    ]
    if settings.reads_time:
        edge = Edge(highest_of(state.watches), next_place, now)
        living = closed(settings, living, fresh, edge, watches)
    # Who leaves with its partition must have its own end by then: the earlier counts.
    left, right = (
        evicted(side, rows, len(alive))
        for side, rows, alive in zip(settings.sides, living, state.alive, strict=True)
    )
    return Present(
        rows=(left, right),
        old=(len(state.alive[0]), len(state.alive[1])),
        waiting=(parted[0][1], parted[1][1]),
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


@dataclass(frozen=True, slots=True)
class _Side:
    """The rows of one side: those that are alive, those that came or wait."""

    alive: Rows
    came: Rows

    def with_lives(self, settings: JoinSettings, hand: int, arrived: Arrived) -> _Side:
        """Returns the rows with the ends that they are told, where they inherit."""
        if not settings.sides[hand].inherits:
            return self
        lives = arrived.lives
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
        came, old = self.came, len(self.alive)
        has_place = settings.keeps_places or any(one.untimed for one in settings.sides)
        if not has_place and len(came):
            # Who came has no place yet: it stands behind all that are alive.
            first = self.alive.place.max(initial=0) + 1
            came = came.with_arrays(place=came.place - came.place.min() + first)
        rows = join_rows([self.alive.bare(), came.bare()])
        known = replaced(rows) if side.untimed else known_lives(side, rows, bound)
        return _Side(
            self.alive.with_arrays(birth=known.birth[:old], death=known.death[:old]),
            self.came.with_arrays(birth=known.birth[old:], death=known.death[old:]),
        )

    def are_ready(self, settings: JoinSettings, hold: int) -> Mask:
        """Tells who takes part: the bound has passed it, or it lives at no moment."""
        rows = self.came
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
        # Left places are even, right ones odd: at one position left stands first.
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
    if settings.event_clock:
        # Lives that others end were found as the rows came: see `with_ends`.
        return rows.with_arrays(death=deaths(side, rows)) if side.is_intrinsic else rows
    rows = rows.with_arrays(birth=rows.place)
    ends = deaths(side, rows, len(alive))
    return rows.with_arrays(death=np.minimum(ends, rows.death))
