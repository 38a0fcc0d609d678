"""Plays a join event by event and says during which event each row comes out."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from dovetail.conformance.oracle.clock_arrival import ArrivalClock
from dovetail.conformance.oracle.clock_batch import play_batch
from dovetail.conformance.oracle.clock_changelog import ChangelogClock
from dovetail.conformance.oracle.clock_event import EventClock
from dovetail.conformance.oracle.door import Door, Player
from dovetail.conformance.oracle.parts import Parts
from dovetail.conformance.oracle.refusals import refuse
from dovetail.conformance.oracle.sets import Sets
from dovetail.conformance.oracle.static import with_static_played
from dovetail.errors import UnsupportedError
from dovetail.spec.inputs import Change, Emission, InputKind, OuterRows, Outlet
from dovetail.spec.join import Clock, JoinSpec, SetJoinSpec
from dovetail.spec.play import Play


def play(play: Play) -> list[Emission]:
    """Returns every row that comes out, in the order in which they come out."""
    if isinstance(play.join, SetJoinSpec):
        return Sets.of(play, play.join).play()
    whole, join, late = _playable(play)
    parts = Parts.of(whole, join)
    if join.clock is Clock.BATCH:
        return play_batch(parts, whole)
    found = [*late, *_stepwise(player_of(parts), whole)]
    if play.settings.outer_rows is OuterRows.EAGER_RETRACT:
        return list(map(_as_change, found))
    return found


def playable(play: Play) -> tuple[Play, JoinSpec]:
    """Returns a play of two sides and its join, static joins inside it being played.

    What is not done of it is raised.
    """
    whole, join, _ = _playable(play)
    return whole, join


def _playable(play: Play) -> tuple[Play, JoinSpec, list[Emission]]:
    """Returns that, and the rows that the static joins turn away."""
    if isinstance(play.join, SetJoinSpec):
        raise UnsupportedError.not_yet("oracle", "a step of a join of several sets")
    whole, join, late = with_static_played(play, play.join)
    refuse(whole, join)
    return whole, join, late


def player_of(parts: Parts) -> Door:
    """Returns who plays the join: its clock, behind the door."""
    return Door(parts, _clock_of(parts))


def _clock_of(parts: Parts) -> Player:
    """Returns the clock of a join, or who tells the changes of two tables."""
    if parts.clock is Clock.EVENT:
        return EventClock(parts)
    kinds = {side.input.kind for side in parts.sides.values()}
    return ArrivalClock(parts) if InputKind.STREAM in kinds else ChangelogClock(parts)


def _as_change(emission: Emission) -> Emission:
    """Returns a row of the result as an insert, where it takes none back."""
    is_result = emission.outlet not in {Outlet.LATE, Outlet.MARKS}
    if is_result and emission.change is Change.NONE:
        return replace(emission, change=Change.INSERT)
    return emission


def _stepwise(player: Door, play: Play) -> Iterator[Emission]:
    """Yields what each event gives, with the number of the event."""
    yield from player.start()
    for event in play.opening:
        yield from player.on(event)
    for number, event in enumerate(play.events):
        for emission in player.on(event):
            yield replace(emission, after=number)
