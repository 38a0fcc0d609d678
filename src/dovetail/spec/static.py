"""Joins inside joins whose rows are all there from the start: a data set of its own."""

from __future__ import annotations

from dataclasses import replace

from dovetail.spec.inputs import Event, Input, Inputs, Pause
from dovetail.spec.join import Clock, JoinSpec, Nested, Side
from dovetail.spec.play import Play
from dovetail.spec.results import input_of
from dovetail.spec.sources import is_timed, source_names
from dovetail.spec.windows import Forever


def is_batch_inside(around: JoinSpec, side: Side, inputs: Inputs) -> bool:
    """Tells whether a side is a batch inside a join on a clock that moves.

    Rows with a row time that a window looks at are not meant.
    """
    source = side.source
    if not isinstance(source, Nested) or source.join.clock is not Clock.BATCH:
        return False
    is_outside_time = side.window == Forever() or not is_timed(source, inputs)
    return around.clock is not Clock.BATCH and is_outside_time


def data_set_of(source: Nested, inputs: Inputs, name: str) -> Input:
    """Returns the rows of a batch inside a join as an input, which has none yet."""
    return replace(input_of(source, inputs, name), time="")


def without_static(play: Play, join: JoinSpec) -> Play:
    """Returns a play in which only time passes where a batch inside gets its rows."""
    heard = source_names(join)
    opening, events = (
        tuple(_as_heard(event, heard) for event in some)
        for some in (play.opening, play.events)
    )
    return replace(play, join=join, opening=opening, events=events)


def _as_heard(event: Event, heard: tuple[str, ...]) -> Event:
    """Returns an event as a join hears it that has these inputs."""
    if isinstance(event, Pause) or event.input in heard:
        return event
    return Pause(event.clock)
