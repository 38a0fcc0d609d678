"""From rows that came to rows that take part: waiting, numbering, lifetimes.

    came     10:02   10:04   10:09        the bounds of versions stand at 10:05
             takes part      waits        its life may still be another

On the event clock a row takes part once the bound has passed its birth; where rows are
merged by time, once none can come that stands before it. Then it has its place in the
order of arrival, and its life as far as it is known.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import compress

import numpy as np

from dovetail.kernels.arrays.rows import BEGINNING, NEVER, Mask, Rows, join_rows
from dovetail.kernels.arrival import arrival, time_limits
from dovetail.kernels.arrival.eviction import evicted
from dovetail.kernels.arrival.untimed import replaced
from dovetail.kernels.lifetimes.births import births, deaths, known_lives, unfolded
from dovetail.kernels.lifetimes.lives import KNOWN_END, Told, shortened
from dovetail.kernels.settings import JoinSettings, waits_for
from dovetail.kernels.state import JoinState
from dovetail.spec.inputs import Arrival


@dataclass(frozen=True, slots=True)
class Present:
    """The rows that take part in a step: those alive before, then the new ones.

    Whoever takes part later is not before `hold`: born, or merged, at no time below it.
    `still` tells which rows that waited before the step still do; they are the first
    of those that wait. Of others, which are not here, the least births are `behind`.
    The processing time is `now`.
    """

    rows: tuple[Rows, Rows]
    old: tuple[int, int]
    waiting: tuple[Rows, Rows]
    watches: tuple[arrival.Watch, arrival.Watch]
    next_place: int
    still: tuple[Mask, Mask]
    hold: int = BEGINNING
    behind: tuple[int, int] = (NEVER, NEVER)
    now: int = BEGINNING

    @property
    def fresh(self) -> tuple[Rows, Rows]:
        """Returns the new rows."""
        left, right = (
            rows.take(slice(old, None))
            for rows, old in zip(self.rows, self.old, strict=True)
        )
        return left, right


def admit(
    settings: JoinSettings,
    state: JoinState,
    arrived: tuple[arrival.Arrived, arrival.Arrived],
    watches: tuple[arrival.Watch, arrival.Watch],
    now: int,
) -> Present:
    """Returns the rows that take part now; rows that must wait stay in `waiting`.

    Rows get their places in the order of arrival: in a SEQUENCE when they come, else
    when they take part. Under the arrival MERGED that is by row time, which only the
    bounds complete.
    """
    # A SEQUENCE says at once who stands where; else only those have places that no row
    # to come can stand before.
    in_sequence = settings.arrival is Arrival.SEQUENCE
    new, was = [one.on_time for one in arrived], state.waiting
    next_place = state.next_place
    if in_sequence:
        new, next_place = _numbered(settings, new, next_place, arrived)
    born = [_born(settings, hand, came) for hand, came in enumerate(new)]
    sides = [
        _Side(state.alive[hand], join_rows([was[hand], came]))
        .with_lives(settings, hand, arrived[hand])
        .with_ends(settings, hand, watches[hand].bound)
        for hand, came in enumerate(born)
    ]
    # Below the hold nothing can come any more that takes part earlier.
    hold = hold_of(settings, watches)
    waits = [~rows.are_ready(settings, hand, hold) for hand, rows in enumerate(sides)]
    parted = [rows.came.parted(some) for rows, some in zip(sides, waits, strict=True)]
    fresh = [ready for _, ready in parted]
    if not in_sequence and not settings.keeps_places:
        fresh, next_place = _numbered(settings, fresh, next_place, arrived)
    living = [
        _with_lifetimes(settings, hand, (rows.alive, came), arrived[hand].told)
        for hand, (rows, came) in enumerate(zip(sides, fresh, strict=True))
    ]
    if settings.reads_time:
        edge = time_limits.Edge(time_limits.highest_of(state.watches), next_place, now)
        living = time_limits.closed(settings, living, fresh, edge, watches)
    # Who leaves with its partition must have its own end by then: the earlier counts.
    left, right = (
        evicted(side, rows, len(alive))
        for side, rows, alive in zip(settings.sides, living, state.alive, strict=True)
    )
    old = (len(state.alive[0]), len(state.alive[1]))
    waiting = (parted[0][0], parted[1][0])
    still = (waits[0][: len(was[0])], waits[1][: len(was[1])])
    known = (watches, next_place, still, hold, state.behind, now)
    return Present((left, right), old, waiting, *known)


def hold_of(
    settings: JoinSettings, watches: tuple[arrival.Watch, arrival.Watch]
) -> int:
    """Returns the bound below which rows take part that wait for one, or none."""
    waited_for = compress(watches, waits_for(settings))
    return min((watch.bound for watch in waited_for), default=NEVER)


def _numbered(
    settings: JoinSettings,
    rows: list[Rows],
    start: int,
    arrived: tuple[arrival.Arrived, arrival.Arrived],
) -> tuple[list[Rows], int]:
    """Returns the rows with their places, where those can be seen, and the next one.

    Places that are told are in an order over all buckets.
    """
    if not settings.numbered:
        return rows, start
    left, right = rows
    own = arrival.numbered((left, right), settings, start)
    if not settings.is_told:
        return list(own), start + len(left) + len(right)
    told = [one.told for one in arrived]
    placed = [one.placed(came, start) for came, one in zip(own, told, strict=True)]
    return placed, max(one.past(start) for one in told)


@dataclass(frozen=True, slots=True)
class _Side:
    """The rows of one side: those that are alive, those that came or wait."""

    alive: Rows
    came: Rows

    def with_lives(
        self, settings: JoinSettings, hand: int, arrived: arrival.Arrived
    ) -> _Side:
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

    def are_ready(self, settings: JoinSettings, hand: int, below: int) -> Mask:
        """Tells who takes part: who is below the bound, or lives at no moment."""
        rows = self.came
        # Rows of a table without time are there as soon as they come.
        if settings.sides[hand].untimed:
            below = NEVER
        if not settings.event_clock:
            return rows.moment < below
        # One that lives nowhere need not wait: nothing that comes gives it a moment.
        is_empty = (rows.death <= rows.birth) & (rows.death < NEVER)
        return (rows.birth < below) | is_empty


def _born(settings: JoinSettings, hand: int, rows: Rows) -> Rows:
    """Returns the rows in time with their births on the event clock."""
    if not settings.event_clock:
        return rows
    side = settings.sides[hand]
    if settings.arrival is not Arrival.SEQUENCE and settings.keeps_places:
        # Left places are even, right ones odd: at one position left stands first.
        rows = rows.with_arrays(place=2 * rows.place + hand)
    rows = unfolded(side.window, rows)
    # What it inherits may have ended while the row was on its way here.
    if side.inherits:
        rows = rows.with_arrays(death=rows.hidden(KNOWN_END))
    return rows.with_arrays(birth=births(side.window, rows))


def _with_lifetimes(
    settings: JoinSettings, hand: int, parts: tuple[Rows, Rows], told: Told
) -> Rows:
    """Returns the rows, alive and fresh, with births and deaths; a known end stays."""
    side, rows = settings.sides[hand], join_rows(parts)
    if settings.event_clock:
        # Lives that others end were found as the rows came: see `with_ends`.
        return rows.with_arrays(death=deaths(side, rows)) if side.is_intrinsic else rows
    rows = rows.with_arrays(birth=rows.place)
    if side.told:
        return told.ended(rows)
    ends = deaths(side, rows, len(parts[0]))
    return rows.with_arrays(death=np.minimum(ends, rows.death))
