"""From JSON to what comes in: inputs with their rows, and the switches of a join."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from dovetail.schema import Schema, read_row
from dovetail.spec.fields import Fields, choice, many, mapping, only, span, text, wrong
from dovetail.spec.inputs import (
    EmitLateTableRows,
    IgnoreLateTableRows,
    Input,
    InputKind,
    Order,
    OuterRows,
    Row,
    Settings,
)
from dovetail.spec.spans import NO_TIME

_INPUT_KEYS = ("kind", "schema", "key", "time", "lateness", "rows")
_NO_COLUMNS = Schema(())
_NOTHING: Mapping[str, Schema] = {}
_DEFAULTS = Settings()
_LATE_WORDS: Mapping[str, IgnoreLateTableRows | EmitLateTableRows] = {
    "ignore": IgnoreLateTableRows(),
    "emit": EmitLateTableRows(),
}


def read_inputs(
    data: object, declared: Mapping[str, Schema] = _NOTHING
) -> dict[str, Input]:
    """Returns the inputs by name, their rows as plain values.

    `declared` are the schemas that a text gives to inputs whose JSON has none. Rows of
    an input whose columns nobody knows yet stay as JSON has them.
    """
    return {
        name: _read_input(name, item, declared.get(name, _NO_COLUMNS))
        for name, item in mapping(data, "inputs").items()
    }


def read_settings(data: object, usual: Settings = _DEFAULTS) -> Settings:
    """Returns the switches: those that are not written are as usual."""
    fields = Fields.of(data, "settings", ("outer_rows", "late_table_rows", "order"))
    return Settings(
        fields.take("outer_rows", choice(OuterRows), usual.outer_rows),
        fields.take("late_table_rows", _read_late_table_rows, usual.late_table_rows),
        fields.take("order", choice(Order), usual.order),
    )


def read_input_row(row: object, source: Input, where: str) -> Row:
    """Returns a row of an input as plain values, or as it is without known columns."""
    if not source.schema.columns:
        return mapping(row, where)
    return read_row(row, source.schema, where)


def _read_input(name: str, data: object, declared: Schema) -> Input:
    """Reads one input; names of columns are spelled as the schema spells them."""
    where = f"inputs.{name}"
    fields = Fields.of(data, where, _INPUT_KEYS)
    schema = fields.take("schema", read_schema, declared)
    source = Input(
        name,
        fields.need("kind", choice(InputKind)),
        schema,
        tuple(schema.spelled(column) for column in fields.take("key", many(text), ())),
        schema.spelled(fields.take("time", text, "")),
        fields.take("lateness", span, NO_TIME),
    )
    rows = many(lambda row, place: read_input_row(row, source, place))
    return replace(source, rows=fields.take("rows", rows, ()))


def read_schema(value: object, where: str) -> Schema:
    """Reads the columns with their types."""
    columns = mapping(value, where).items()
    return Schema.of({name: text(kind, f"{where}.{name}") for name, kind in columns})


def _read_late_table_rows(
    value: object, where: str
) -> IgnoreLateTableRows | EmitLateTableRows:
    """Reads whether stream rows wait for table rows, and for how long."""
    if isinstance(value, str):
        if value in _LATE_WORDS:
            return _LATE_WORDS[value]
        raise wrong(where, value, 'one of ignore, emit, or {"emit": "1 day"}')
    return EmitLateTableRows(only(value, where, {"emit": span}))
