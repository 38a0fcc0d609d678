"""Plays a join event by event and says during which event each row comes out.

Rows that take no part are turned away at the gate before any clock sees them: late,
without a row time, or with a bad interval. Such a row leaves once, by the outlet
`late`, however many sides and inner joins it would have come to.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Protocol

from dovetail import spec
from dovetail.conformance.oracle import batch
from dovetail.conformance.oracle.arrival import ArrivalClock
from dovetail.conformance.oracle.changelog import ChangelogClock
from dovetail.conformance.oracle.emission import late_row
from dovetail.conformance.oracle.event import EventClock
from dovetail.conformance.oracle.parts import IN_TIME, LATE, Parts
from dovetail.conformance.oracle.refusals import refuse
from dovetail.conformance.oracle.sets import Sets
from dovetail.errors import UnsupportedError


def play(play: spec.Play) -> list[spec.Emission]:
    """Returns every row that comes out, in the order in which they come out."""
    if isinstance(play.join, spec.SetJoinSpec):
        return Sets.of(play, play.join).play()
    whole, join, late = playable(play)
    parts = Parts.of(whole, join)
    if join.clock is spec.Clock.BATCH:
        return batch.play_batch(parts, whole)
    clock, openings = clock_of(parts), len(whole.opening)
    # No event has brought these: they come before all.
    found = [*late, *clock.start()]
    # What time lets out of a join inside stands in front of what comes with the time.
    if parts.inner and join.clock is spec.Clock.ARRIVAL:
        whole, of = spec.with_time_passing(whole)
    else:
        of = tuple(range(openings + len(whole.events)))
    for event in whole.opening:
        found += clock.on(event)
    for number, event in zip(of[len(whole.opening) :], whole.events, strict=True):
        after = number - openings
        found += [replace(one, after=after) for one in clock.on(event)]
    if play.settings.outer_rows is not spec.OuterRows.EAGER_RETRACT:
        return found
    # Beside rows that are taken back all other rows of the result are inserts.
    aside = {spec.Outlet.LATE, spec.Outlet.MARKS}
    return [
        replace(one, change=spec.Change.INSERT)
        if one.outlet not in aside and one.change is spec.Change.NONE
        else one
        for one in found
    ]


def playable(play: spec.Play) -> tuple[spec.Play, spec.JoinSpec, list[spec.Emission]]:
    """Returns a play of two sides and its join, static joins inside it being played.

    With them come the rows that the static joins turn away. What is not done of a play
    is raised.
    """
    if isinstance(play.join, spec.SetJoinSpec):
        raise UnsupportedError.not_yet("oracle", "a step of a join of several sets")
    whole, join, late = batch.with_static_played(play, play.join)
    refuse(whole, join)
    return whole, join, late


def clock_of(parts: Parts) -> Gate:
    """Returns the clock of a join behind its gate; of two tables that of changes."""
    kinds = {side.input.kind for side in parts.sides.values()}
    if parts.clock is spec.Clock.EVENT:
        return Gate(parts, EventClock(parts))
    if spec.InputKind.STREAM in kinds:
        return Gate(parts, ArrivalClock(parts))
    return Gate(parts, ChangelogClock(parts))


class MovingClock(Protocol):
    """A clock that takes events one by one."""

    def state(self, event: spec.Arrive) -> None:
        """Takes a row that is there from the start."""

    def start(self) -> Iterator[spec.Emission]:
        """Yields what the rows give that are there from the start."""

    def on(self, event: spec.Event) -> Iterator[spec.Emission]:
        """Yields what one event gives."""


class Gate:
    """Stands before a clock, and lets rows in that take part."""

    def __init__(self, parts: Parts, clock: MovingClock) -> None:
        """Stands before this clock of a join."""
        self._parts = parts
        self._clock = clock

    def start(self) -> Iterator[spec.Emission]:
        """Yields what the rows give that are there from the start."""
        for event in self._parts.state():
            reason = self._parts.rejection(event, is_state=True)
            if reason == IN_TIME:
                self._clock.state(event)
            else:
                yield late_row(event.row, reason)
        yield from self._clock.start()

    def on(self, event: spec.Event) -> Iterator[spec.Emission]:
        """Yields what one event gives; time goes on where a row is turned away."""
        parts = self._parts
        if (
            not isinstance(event, spec.Arrive)
            or (reason := parts.rejection(event)) == IN_TIME
        ):
            yield from self._clock.on(event)
            return
        yield from self._clock.on(spec.Pause(event.clock))
        yield late_row(event.row, reason)
        is_stream = parts.inputs[event.input].kind is spec.InputKind.STREAM
        # What has no row time, or a bad interval, gives no null row: it is not late.
        if parts.settings.late_null_rows and reason == LATE and is_stream:
            # In order of arrival a mark stands behind all that one row gave, and what
            # a join inside gives goes on.
            if isinstance(self._clock, ArrivalClock):
                yield from self._clock.late(event)
            else:
                yield from parts.late_null_rows(event)
