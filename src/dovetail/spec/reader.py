"""From JSON to a join, its inputs, and what happens: as case files and tools write it.

Every key is read by one small reader; a key that no reader knows, a value of another
type or a word that is no choice is a SpecError that names the place. What a join means
as a whole is not judged here: that is what the rules are for.

An event is known by its keys: `in` and `row` is an arrival, `in` and `bound` a promise,
`end` an end. `at` moves the processing-time clock before any of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from decimal import Decimal
from functools import partial

from dovetail import spec
from dovetail.errors import SpecError
from dovetail.expression import ALWAYS, NEVER
from dovetail.schema import Schema, read_moment, read_row
from dovetail.spec import fields
from dovetail.spec.picks import PICK_KEYS, equality, read_picks
from dovetail.spec.windows import read_eviction, read_window

_JOIN_KEYS = (
    *("left", "right", "type", "hard", "soft", "select", "ports", "clock"),
    *("default_left", "default_right", "absent"),
    *PICK_KEYS,  # they lie flat in the join
)
_SET_KEYS = (
    *("sets", "type", "min", "max", "stepped", "sorted", "pair_condition"),
    *("rows_condition", "skip_when", "select", "clock"),
)
_SIDE_KEYS = ("from", "window", "partition_by", "partition_evict")
_PORTS = (1, 2, 3)
_RESTS: Mapping[str, spec.NullRow | spec.BlankRow] = {
    "null": spec.NullRow(),
    "blank": spec.BlankRow(),
}


def read_join(data: object, where: str = "join") -> spec.JoinSpec | spec.SetJoinSpec:
    """Returns the join that a JSON object says, before any default is filled in."""
    if "sets" in fields.mapping(data, where):
        return _read_sets(data, where)
    keys = fields.Fields.of(data, where, _JOIN_KEYS)
    return spec.JoinSpec(
        left=keys.need("left", _read_side),
        right=keys.need("right", _read_side),
        kind=keys.need("type", fields.choice(spec.Kind)),
        clock=keys.need("clock", fields.choice(spec.Clock)),
        hard=keys.take("hard", fields.many(equality), ()),
        soft=keys.take("soft", fields.expression, ALWAYS),
        select=keys.take(
            "select", fields.made(spec.Columns, fields.columns), spec.AllColumns()
        ),
        ports=keys.take("ports", _read_ports, 1),
        absent_left=_read_absent(keys, spec.Hand.LEFT),
        absent_right=_read_absent(keys, spec.Hand.RIGHT),
        picks=read_picks(keys),
    )


def _read_sets(data: object, where: str) -> spec.SetJoinSpec:
    """Reads a join of several sets."""
    keys = fields.Fields.of(data, where, _SET_KEYS)
    clock = keys.take("clock", fields.choice(spec.Clock), spec.Clock.BATCH)
    if clock is not spec.Clock.BATCH:
        raise fields.wrong(f"{where}.clock", clock.value, "batch, the clock of sets")
    return spec.SetJoinSpec(
        sets=keys.need("sets", fields.many(fields.text)),
        kind=keys.need("type", fields.choice(spec.SetKind)),
        stepped=keys.take("stepped", fields.many(fields.text), ()),
        ordered_by=keys.take("sorted", fields.many(fields.text), ()),
        select=keys.need("select", fields.made(spec.Columns, fields.columns)),
        least=keys.take("min", fields.whole, 0),
        most=keys.take("max", fields.whole, 0),
        pair_condition=keys.take("pair_condition", fields.expression, ALWAYS),
        rows_condition=keys.take("rows_condition", fields.expression, ALWAYS),
        skip_when=keys.take("skip_when", fields.expression, NEVER),
    )


def _read_side(value: object, where: str) -> spec.Side:
    """Reads one side: where its rows come from and how long they live."""
    keys = fields.Fields.of(value, where, _SIDE_KEYS)
    return spec.Side(
        source=keys.need("from", _read_source),
        window=keys.take("window", read_window, spec.Unstated()),
        partition_by=keys.take("partition_by", fields.many(fields.expression), ()),
        partition_evict=keys.take(
            "partition_evict", read_eviction, spec.KeepPartitions()
        ),
    )


def _read_source(value: object, where: str) -> spec.Named | spec.Nested:
    """Reads the name of an input, or a join whose rows come in."""
    if isinstance(value, str):
        return spec.Named(value)
    keys = fields.Fields.of(value, where, ("join", "as"))
    inner = keys.need("join", read_join)
    # A join of sets is a batch by itself: only joins of two sides stand inside others.
    if isinstance(inner, spec.SetJoinSpec):
        raise SpecError(
            f'"{where}.join" is a join of several sets',
            "a join of two sides",
            rule="nested_join",
        )
    return spec.Nested(inner, keys.take("as", fields.text, ""))


def _read_ports(value: object, where: str) -> int:
    """Reads the number of ports."""
    if (ports := fields.whole(value, where)) in _PORTS:
        return ports
    raise fields.wrong(where, value, "1, 2 or 3")


def _read_absent(keys: fields.Fields, hand: spec.Hand) -> spec.Absent:
    """Reads what stands for a missing row: its columns, and how the others are."""

    def read(value: object, where: str) -> spec.NullRow | spec.BlankRow:
        # One word for both sides, or one for each.
        if isinstance(value, Mapping):
            sides = fields.Fields.of(value, where, ("left", "right"))
            return sides.take(hand.value, read, spec.NullRow())
        if isinstance(value, str) and value in _RESTS:
            return _RESTS[value]
        raise fields.wrong(where, value, f"one of {', '.join(_RESTS)}")

    rest = keys.take("absent", read, spec.NullRow())
    given = keys.take(f"default_{hand.value}", fields.mapping, {})
    # A value stays as JSON can have it again, be it read with exact numbers.
    values = tuple(
        (name, fields.write_number(value) if isinstance(value, Decimal) else value)
        for name, value in given.items()
    )
    return spec.GivenRow(values, rest) if values else rest


_INPUT_KEYS = ("kind", "schema", "key", "time", "lateness", "rows")
_NO_COLUMNS = Schema(())
_NOTHING: Mapping[str, Schema] = {}
_USUAL = spec.Settings()
_LATE_WORDS: Mapping[str, spec.IgnoreLateTableRows | spec.EmitLateTableRows] = {
    "ignore": spec.IgnoreLateTableRows(),
    "emit": spec.EmitLateTableRows(),
}


def read_inputs(
    data: object, declared: Mapping[str, Schema] = _NOTHING
) -> dict[str, spec.Input]:
    """Returns the inputs by name, their rows as plain values.

    `declared` are the schemas that a text gives to inputs whose JSON has none. Rows of
    an input whose columns nobody knows yet stay as JSON has them.
    """
    inputs = {}
    for name, item in fields.mapping(data, "inputs").items():
        keys = fields.Fields.of(item, f"inputs.{name}", _INPUT_KEYS)
        schema = keys.take("schema", read_schema, declared.get(name, _NO_COLUMNS))
        # Names of columns have no case: from here on they are as the schema has them.
        key = [
            schema.spelled(column)
            for column in keys.take("key", fields.many(fields.text), ())
        ]
        source = spec.Input(
            name,
            keys.need("kind", fields.choice(spec.InputKind)),
            schema,
            tuple(key),
            schema.spelled(keys.take("time", fields.text, "")),
            keys.take("lateness", fields.span, spec.NO_TIME),
        )
        read_own = partial(read_input_row, source=source)
        inputs[name] = replace(
            source, rows=keys.take("rows", fields.many(read_own), ())
        )
    return inputs


def read_settings(
    data: object, usual: spec.Settings = _USUAL, where: str = "settings"
) -> spec.Settings:
    """Returns the switches: those that are not written are as usual."""
    known = ("outer_rows", "late_table_rows", "order", "late_null_rows")
    keys = fields.Fields.of(data, where, known)
    return spec.Settings(
        keys.take("outer_rows", fields.choice(spec.OuterRows), usual.outer_rows),
        keys.take("late_table_rows", _read_late_table_rows, usual.late_table_rows),
        keys.take("order", fields.choice(spec.Order), usual.order),
        keys.take("late_null_rows", fields.truth, usual.late_null_rows),
    )


def read_input_row(row: object, where: str, source: spec.Input) -> spec.Row:
    """Returns a row of an input as plain values, or as it is without known columns."""
    if not source.schema.columns:
        return fields.mapping(row, where)
    return read_row(row, source.schema, where)


def read_schema(value: object, where: str) -> Schema:
    """Reads the columns with their types."""
    columns = fields.mapping(value, where).items()
    return Schema.of(
        {name: fields.text(kind, f"{where}.{name}") for name, kind in columns}
    )


def _read_late_table_rows(
    value: object, where: str
) -> spec.IgnoreLateTableRows | spec.EmitLateTableRows:
    """Reads whether stream rows wait for table rows, and for how long."""
    if isinstance(value, str):
        if value in _LATE_WORDS:
            return _LATE_WORDS[value]
        raise fields.wrong(where, value, 'one of ignore, emit, or {"emit": "1 day"}')
    return spec.EmitLateTableRows(fields.only(value, where, {"emit": fields.span}))


_EVENT_KEYS = ("in", "row", "delete", "key", "value", "bound", "at", "end")
_FORMS = "at; bound, in; delete, in, row; end; in, key, value; in, row"


def read_events(data: object, inputs: spec.Inputs) -> tuple[spec.Event, ...]:
    """Returns the events in order, each with the clock at which it happens."""
    events: list[spec.Event] = []
    clock = 0
    for place, item in enumerate(fields.many(fields.mapping)(data, "events")):
        keys = fields.Fields.of(item, f"event {place}", _EVENT_KEYS)
        # An event without `at` happens when the one before it did.
        before = clock
        clock = keys.take("at", fields.seconds, spec.Span(0, before)).microseconds
        if clock < before:
            expected = "a clock that does not go back"
            raise fields.wrong(f"{keys.where}.at", keys.data["at"], expected)
        events.append(_read_event(keys, inputs, clock))
    return tuple(events)


def _read_event(keys: fields.Fields, inputs: spec.Inputs, clock: int) -> spec.Event:
    """Reads one event by the form that its keys make."""
    # All keys count, not some of them: an event with one too many is a mistake.
    match sorted({*keys.data} - {"at"}):
        case ["in", "row"] | ["delete", "in", "row"]:
            source = _input(keys, "in", inputs)
            row = read_input_row(keys.need("row", fields.mapping), keys.where, source)
            if keys.take("delete", fields.truth, default=False):
                return spec.Remove(_keyed(keys, source).name, row, clock)
            return spec.Arrive(source.name, row, clock)
        case ["in", "key", "value"]:
            # A key without a value: so a topic of a table says that it is lost.
            if keys.has("value"):
                raise fields.wrong(f"{keys.where}.value", keys.data["value"], "null")
            source = _keyed(keys, _input(keys, "in", inputs))
            row = read_input_row(keys.need("key", fields.mapping), keys.where, source)
            return spec.Remove(source.name, row, clock)
        case ["bound", "in"]:
            source = _input(keys, "in", inputs)
            label = f'"bound" of {keys.where}'
            # A moment is told with its own name, not with the place of its key.
            moment = keys.need("bound", lambda value, _: read_moment(value, label))
            return spec.Bound(source.name, moment, clock)
        case ["end"]:
            return spec.Finish(_input(keys, "end", inputs).name, clock)
        case []:
            keys.need("at", fields.seconds)
            return spec.Pause(clock)
        case _:
            raise SpecError(
                f"{keys.where} has the keys {', '.join(keys.data)}",
                f"one of {_FORMS}",
                rule="event",
            )


def _input(keys: fields.Fields, key: str, inputs: spec.Inputs) -> spec.Input:
    """Returns the input that an event names."""
    name = keys.need(key, fields.text)
    if name not in inputs:
        raise fields.wrong(f"{keys.where}.{key}", name, f"one of {', '.join(inputs)}")
    return inputs[name]


def _keyed(keys: fields.Fields, source: spec.Input) -> spec.Input:
    """Returns an input that can lose a key: a table that has one."""
    if source.kind is spec.InputKind.TABLE and source.key:
        return source
    raise SpecError(
        f'{keys.where} takes a key from "{source.name}", a {source.kind.value}',
        "a table with a key",
        rule="delete_key",
    )
