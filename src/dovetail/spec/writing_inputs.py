"""From what comes in to JSON: inputs, events and switches, as case files have them."""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal
from typing import assert_never

from dovetail.schema import from_microseconds, shown, shown_row
from dovetail.spec.inputs import (
    Arrive,
    Bound,
    EmitLateTableRows,
    Event,
    Finish,
    IgnoreLateTableRows,
    Input,
    Inputs,
    Order,
    OuterRows,
    Pause,
    Remove,
    Settings,
    Unending,
)
from dovetail.spec.spans import NO_TIME, SECOND
from dovetail.spec.writing_windows import write_number

Json = dict[str, object]


def write_inputs(inputs: Inputs) -> Json:
    """Returns the JSON of inputs; reading it gives the same inputs."""
    return {name: _write_input(source) for name, source in inputs.items()}


def write_settings(settings: Settings) -> Json:
    """Returns the switches that are not at their defaults."""
    written: Json = {}
    if settings.outer_rows is not OuterRows.EXPIRY:
        written["outer_rows"] = settings.outer_rows.value
    if settings.order is not Order.AS_FOUND:
        written["order"] = settings.order.value
    match settings.late_table_rows:
        case IgnoreLateTableRows():
            return written
        case EmitLateTableRows(Unending()):
            return {**written, "late_table_rows": "emit"}
        case EmitLateTableRows(wait):
            return {**written, "late_table_rows": {"emit": str(wait)}}
        case _:
            assert_never(settings.late_table_rows)


def write_events(events: Iterable[Event]) -> list[Json]:
    """Returns the JSON of events; `at` stands where the clock moves."""
    written: list[Json] = []
    clock = 0
    for event in events:
        moved = event.clock != clock or isinstance(event, Pause)
        clock = event.clock
        moment = {"at": write_number(Decimal(clock) / SECOND)} if moved else {}
        written.append(moment | _write_event(event))
    return written


def _write_input(source: Input) -> Json:
    """Returns the JSON of one input."""
    columns = source.schema.columns
    written: Json = {"kind": source.kind.value}
    if columns:
        written["schema"] = {column.name: str(column.type) for column in columns}
    if source.key:
        written["key"] = list(source.key)
    if source.is_timed:
        written["time"] = source.time
    if source.lateness != NO_TIME:
        written["lateness"] = str(source.lateness)
    if source.rows:
        written["rows"] = [shown_row(row) for row in source.rows]
    return written


def _write_event(event: Event) -> Json:
    """Returns the JSON of one event, but for its clock."""
    match event:
        case Arrive(name, row):
            return {"in": name, "row": shown_row(row)}
        case Remove(name, row):
            return {"in": name, "row": shown_row(row), "delete": True}
        case Bound(name, moment):
            return {"in": name, "bound": shown(from_microseconds(moment))}
        case Finish(name):
            return {"end": name}
        case Pause():
            return {}
        case _:
            assert_never(event)
