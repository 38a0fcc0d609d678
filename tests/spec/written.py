"""Inputs and events as JSON has them, so that what is read is what was written."""

from decimal import Decimal

from dovetail import schema, spec
from dovetail.spec.fields import write_number


def write_inputs(inputs):
    """Returns the JSON of inputs; reading it gives the same inputs."""
    found = {}
    for name, source in inputs.items():
        written = {"kind": source.kind.value}
        if columns := source.schema.columns:
            written["schema"] = {column.name: str(column.type) for column in columns}
        if source.key:
            written["key"] = list(source.key)
        if source.is_timed:
            written["time"] = source.time
        if source.lateness != spec.NO_TIME:
            written["lateness"] = str(source.lateness)
        if source.rows:
            written["rows"] = [schema.shown_row(row) for row in source.rows]
        found[name] = written
    return found


def write_events(events):
    """Returns the JSON of events; `at` stands where the clock moves."""
    written = []
    clock = 0
    for event in events:
        # A pause is nothing but time: it says it even where the clock stands still.
        if event.clock != clock or isinstance(event, spec.Pause):
            moment = {"at": write_number(Decimal(event.clock) / spec.SECOND)}
        else:
            moment = {}
        clock = event.clock
        match event:
            case spec.Arrive(name, row):
                told = {"in": name, "row": schema.shown_row(row)}
            case spec.Remove(name, row):
                told = {"in": name, "row": schema.shown_row(row), "delete": True}
            case spec.Bound(name, bound):
                time = schema.shown(schema.from_microseconds(bound))
                told = {"in": name, "bound": time}
            case spec.Finish(name):
                told = {"end": name}
            case spec.Pause():
                told = {}
        written.append(moment | told)
    return written
