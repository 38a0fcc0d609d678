"""What a case gives to its join: inputs, events and switches, as JSON until asked for.

A neutral case asks at once. A text may declare schemas first, or have switches of its
own by default; its front end asks when it knows them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime

from dovetail.schema import Schema, to_microseconds
from dovetail.spec.fields import Fields, many, mapping
from dovetail.spec.inputs import (
    Arrive,
    Event,
    Finish,
    Input,
    InputKind,
    Inputs,
    Settings,
)
from dovetail.spec.join import Clock, JoinSpec, SetJoinSpec
from dovetail.spec.play import Play
from dovetail.spec.reading import read_events, read_inputs, read_settings
from dovetail.spec.rules import checked

_UNDECLARED: Mapping[str, Schema] = {}
_USUAL = Settings()


@dataclass(frozen=True, slots=True)
class Given:
    """Inputs, events and switches of one case, as JSON has them."""

    inputs_data: Mapping[str, object]
    settings_data: Mapping[str, object]
    events_data: tuple[object, ...]
    has_events: bool

    @classmethod
    def of(cls, fields: Fields) -> Given:
        """Returns what a case gives."""
        return cls(
            fields.need("inputs", mapping),
            fields.take("settings", mapping, {}),
            fields.take("events", many(mapping), ()),
            fields.has("events"),
        )

    def inputs(self, declared: Mapping[str, Schema] = _UNDECLARED) -> Inputs:
        """Returns the inputs, with the schemas that a text declares where none is."""
        return read_inputs(self.inputs_data, declared)

    def settings(self, usual: Settings = _USUAL) -> Settings:
        """Returns the switches; `usual` are those of the language."""
        return read_settings(self.settings_data, usual)

    def play(
        self, join: JoinSpec | SetJoinSpec, inputs: Inputs, settings: Settings
    ) -> Play:
        """Returns the checked play of a join: each row is an event, or state, once."""
        is_bounded = (
            not self.has_events
            and isinstance(join, JoinSpec)
            and join.clock is Clock.EVENT
        )
        arriving = tuple(
            source.name
            for source in inputs.values()
            if source.kind is InputKind.STREAM or (is_bounded and _is_versioned(source))
        )
        play = Play(
            join,
            {name: _emptied(inputs[name], arriving) for name in inputs},
            read_events(self.events_data, inputs),
            tuple(_opening(inputs, arriving, is_bounded=is_bounded)),
            settings,
        )
        return checked(play)


def _is_versioned(source: Input) -> bool:
    """Tells whether the rows of an input are versions in row time."""
    return source.kind is InputKind.TABLE and source.is_timed


def _emptied(source: Input, arriving: tuple[str, ...]) -> Input:
    """Returns an input without the rows that arrive as events."""
    return replace(source, rows=()) if source.name in arriving else source


def _opening(
    inputs: Inputs, arriving: tuple[str, ...], *, is_bounded: bool
) -> Iterator[Event]:
    """Yields the rows that are there from the start and arrive, in their order.

    A bounded play has nothing else: its rows come in row time order, then all ends.
    """
    arrivals = [Arrive(name, row) for name in arriving for row in inputs[name].rows]
    if not is_bounded:
        yield from arrivals
        return
    yield from sorted(arrivals, key=lambda event: _moment(inputs[event.input], event))
    yield from (Finish(name) for name in inputs)


def _moment(source: Input, event: Arrive) -> tuple[bool, int]:
    """Returns the place of a row in row time; rows without a time come first."""
    time = event.row.get(source.time)
    return (True, to_microseconds(time)) if isinstance(time, datetime) else (False, 0)
