"""From JSON to events: what happens, in order of arrival, on a clock that moves on.

An event is known by its keys: `in` and `row` is an arrival, `in` and `bound` a promise,
`end` an end. `at` moves the processing-time clock before any of them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from dovetail.errors import SpecError
from dovetail.schema import read_moment
from dovetail.spec.fields import Fields, many, mapping, seconds, text, truth, wrong
from dovetail.spec.inputs import (
    Arrive,
    Bound,
    Event,
    Finish,
    Input,
    InputKind,
    Inputs,
    Pause,
    Remove,
)
from dovetail.spec.reading_inputs import read_input_row

_KEYS = ("in", "row", "delete", "key", "value", "bound", "at", "end")


def read_events(data: object, inputs: Inputs) -> tuple[Event, ...]:
    """Returns the events in order, each with the clock at which it happens."""
    events: list[Event] = []
    clock = 0
    for number, item in enumerate(many(mapping)(data, "events")):
        fields = Fields.of(item, f"event {number}", _KEYS)
        clock = _read_clock(fields, clock)
        events.append(_read_event(fields, inputs, clock))
    return tuple(events)


def _read_clock(fields: Fields, before: int) -> int:
    """Returns the clock of an event, which is never behind that of the one before."""
    if not fields.has("at"):
        return before
    clock = fields.need("at", seconds).microseconds
    if clock < before:
        raise wrong(
            f"{fields.where}.at", fields.data["at"], "a clock that does not go back"
        )
    return clock


def _read_event(fields: Fields, inputs: Inputs, clock: int) -> Event:
    """Reads one event by the form that its keys make."""
    form = _FORMS.get(frozenset(fields.data) - {"at"})
    if form is None:
        forms = "; ".join(sorted(", ".join(sorted(keys)) or "at" for keys in _FORMS))
        raise SpecError(
            f"{fields.where} has the keys {', '.join(fields.data)}",
            f"one of {forms}",
            rule="event",
        )
    return form(fields, inputs, clock)


def _read_arrival(fields: Fields, inputs: Inputs, clock: int) -> Arrive | Remove:
    """Reads a row that comes, or a row whose key is lost."""
    source = _input(fields, "in", inputs)
    row = read_input_row(fields.need("row", mapping), source, fields.where)
    if fields.take("delete", truth, default=False):
        return Remove(_keyed(fields, source).name, row, clock)
    return Arrive(source.name, row, clock)


def _read_loss(fields: Fields, inputs: Inputs, clock: int) -> Remove:
    """Reads a key without a value: a table loses it."""
    if fields.has("value"):
        raise wrong(f"{fields.where}.value", fields.data["value"], "null")
    source = _keyed(fields, _input(fields, "in", inputs))
    row = read_input_row(fields.need("key", mapping), source, fields.where)
    return Remove(source.name, row, clock)


def _read_bound(fields: Fields, inputs: Inputs, clock: int) -> Bound:
    """Reads a promise that no earlier row follows."""
    source = _input(fields, "in", inputs)
    label = f'"bound" of {fields.where}'
    moment = fields.need("bound", lambda value, _: read_moment(value, label))
    return Bound(source.name, moment, clock)


def _read_end(fields: Fields, inputs: Inputs, clock: int) -> Finish:
    """Reads the end of an input."""
    return Finish(_input(fields, "end", inputs).name, clock)


def _read_pause(fields: Fields, inputs: Inputs, clock: int) -> Pause:
    """Reads an event that is nothing but time."""
    del inputs
    fields.need("at", seconds)
    return Pause(clock)


def _input(fields: Fields, key: str, inputs: Inputs) -> Input:
    """Returns the input that an event names."""
    name = fields.need(key, text)
    if name not in inputs:
        raise wrong(f"{fields.where}.{key}", name, f"one of {', '.join(inputs)}")
    return inputs[name]


def _keyed(fields: Fields, source: Input) -> Input:
    """Returns an input that can lose a key: a table that has one."""
    if source.kind is InputKind.TABLE and source.key:
        return source
    raise SpecError(
        f'{fields.where} takes a key from "{source.name}", a {source.kind.value}',
        "a table with a key",
        rule="delete_key",
    )


_Form = Callable[[Fields, Inputs, int], Event]
_FORMS: Mapping[frozenset[str], _Form] = {
    frozenset({"in", "row"}): _read_arrival,
    frozenset({"in", "row", "delete"}): _read_arrival,
    frozenset({"in", "key", "value"}): _read_loss,
    frozenset({"in", "bound"}): _read_bound,
    frozenset({"end"}): _read_end,
    frozenset(): _read_pause,
}
