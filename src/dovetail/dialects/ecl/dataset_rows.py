"""DATASET: rows that stand in the text, rows of a file, or so many made-up ones."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from difflib import get_close_matches

from dovetail.dialects.ecl.casting import Scalar
from dovetail.dialects.ecl.catalog import taken_as
from dovetail.dialects.ecl.context import (
    Context,
    UnknownNameError,
    as_type,
    known_value,
    refusal,
)
from dovetail.dialects.ecl.datasets import (
    appended,
    as_record,
    projected,
    rebuilt_columns,
    refuse_others,
)
from dovetail.dialects.ecl.layouts import reading_of
from dovetail.dialects.ecl.names import is_transform
from dovetail.dialects.ecl.nodes import Braces, Call, Items, Node, Text
from dovetail.dialects.ecl.positions import by_position, kept_by_position
from dovetail.dialects.ecl.row_values import row_of, struct_of
from dovetail.dialects.ecl.totals import Gathered, alone, gathering
from dovetail.dialects.ecl.types import (
    BOOLEAN,
    Field,
    Letters,
    RecordType,
    SetOf,
    Whole,
)
from dovetail.dialects.ecl.values import DatasetValue
from dovetail.errors import SchemaError
from dovetail.spec.layouts import Layout
from dovetail.spec.program import Given, Inline, Numbered, Projected, Step


def read_dataset(context: Context, node: Call) -> DatasetValue:
    """Returns DATASET: rows in the text, rows of a file, or rows that are counted."""
    first, *rest = node.arguments
    match first:
        case Items(items=items) if rest:
            record = context.record(rest[0])
            rows = tuple(_row(context, one, record) for one in items)
            return DatasetValue(Inline(record.schema, rows), record)
        case Items(items=items) if items and is_transform(context, items[0]):
            return _made_rows(context, items)
        case Items() | Text():
            if not rest:
                raise refusal(node, "rows without a record", "DATASET(.., record)")
            return _file(context, node, context.record(rest[0]), rest[1:])
        case Call() if first.word == "row":
            return _single(context, first)
        case _ if rest:
            return _of_value(context, node)
        case _:
            return context.dataset(first)


def _single(context: Context, node: Node) -> DatasetValue:
    """Returns a row that is made of what the text knows, or of whole data sets."""
    inside, totals = gathering(context)
    return _with_totals(node, inside.scalar(node), totals)


def _with_totals(node: Node, row: Scalar, totals: list[Gathered]) -> DatasetValue:
    """Returns a row in which values of whole data sets may stand, as rows."""
    if not totals:
        return of_row(node, row)
    if not isinstance(row.type, RecordType):
        raise refusal(node, "this as a row", "ROW({values}, record)")
    columns = rebuilt_columns(row, row.type)
    step = Projected(alone(row, totals).source.step, row.type.schema, columns)
    return DatasetValue(step, row.type)


def _made_rows(context: Context, items: tuple[Node, ...]) -> DatasetValue:
    """Returns the rows that transforms make, one each, in the record of the first."""
    rows, record = [], RecordType(())
    for node in items:
        inside, totals = gathering(context)
        made = inside.made(node)
        record = made.record if node is items[0] else record
        text = struct_of(made.record, [text for _, text in made.columns])
        row = as_type(node, Scalar(text, made.record), record)
        if known_value(node, Scalar(made.skip, BOOLEAN)) is False:
            rows.append(_with_totals(node, row, totals))
    nothing = DatasetValue(Inline(record.schema, ()), record)
    return appended(rows) if rows else nothing


def of_row(node: Node, row: Scalar) -> DatasetValue:
    """Returns one row that stands in the text as rows."""
    found = known_value(node, row)
    if not isinstance(found, Mapping) or not isinstance(row.type, RecordType):
        raise refusal(node, "this as a row", "ROW({values}, record)")
    values = tuple(found[one.name] for one in row.type.fields)
    return DatasetValue(Inline(row.type.schema, (values,)), row.type)


def _of_value(context: Context, node: Call) -> DatasetValue:
    """Returns the rows of a file whose name is computed, or so many rows."""
    first, second, *rest = node.arguments
    value = context.value(first)
    if isinstance(value, Scalar) and isinstance(value.type, Letters):
        return _file(context, node, context.record(second), rest)
    if isinstance(value, Scalar) and isinstance(value.type, SetOf):
        return _of_set(context, node, value)
    refuse_others(rest, {"distributed"})
    return _made_up(context, first, second)


def _row(context: Context, node: Node, record: RecordType) -> tuple[object, ...]:
    """Returns the values of a row that stands in the text."""
    scalar = (
        Scalar(row_of(context, node, record), record)
        if isinstance(node, Braces) or not isinstance(node, Call)
        else context.typed(node, record)
    )
    found = known_value(node, scalar)
    if not isinstance(found, Mapping):
        raise refusal(node, "this as a row", "values in braces")
    return tuple(found[one.name] for one in record.fields)


def file_name(text: str) -> str:
    """Returns a logical file name as it is compared: without ~ and case."""
    return text.strip().removeprefix("~").lower()


def _file(
    context: Context, node: Call, record: RecordType, options: Iterable[Node]
) -> DatasetValue:
    """Returns the rows of a file: written by the program, or given as an input."""
    name = str(context.constant(node.arguments[0]))
    reading = reading_of(context, options)
    position = [one.name for one in record.fields if one.is_position]
    file = file_name(name)
    written = context.world.files.get(file)
    if written is not None:
        rows = _with_position(_read_back(written, record), record, position)
        return by_position(context, file, rows, position)
    found = _input(context, node, (name, reading.layout))
    if found:
        wanted = Given(found, record.schema, "".join(position[:1]), reading.layout)
        return DatasetValue(taken_as(context.world.taken, wanted, record), record)
    for number in position[:1] if context.world.inputs.has_index(file) else ():
        return kept_by_position(file, record, number)
    if reading.is_optional:
        return DatasetValue(Inline(record.schema, ()), record)
    expected = "an input of its name or of the data set's, or an OUTPUT that writes it"
    raise UnknownNameError(
        f'nothing gives the rows of the file "{name}"',
        f"{expected} before",
        _near(context, name),
        place=node.place,
    )


def _input(context: Context, node: Call, wanted: tuple[str, Layout]) -> str:
    """Returns the name of the input for a file: the file's, or the data set's."""
    name, layout = wanted
    inputs, label = context.world.inputs, context.label.lower()
    try:
        found = inputs.file(name.lower(), layout)
        found = found or inputs.file(file_name(name), layout)
        return found or (inputs.spelled(label) if label else "")
    except SchemaError as error:
        raise refusal(node, error.found, error.expected, error.hint) from error


def _near(context: Context, name: str) -> str:
    """Returns the hint for a file that is not there."""
    known = [*context.world.inputs.names()]
    near = get_close_matches(file_name(name), known, 1)
    return f'did you mean "{near[0]}"?' if near else ""


def _read_back(written: DatasetValue, record: RecordType) -> DatasetValue:
    """Returns rows that the program wrote, as the record's fields without place."""
    stored = RecordType(tuple(it for it in record.fields if not it.is_position))
    return as_record(written, stored)


def _with_position(
    source: DatasetValue, record: RecordType, position: list[str]
) -> DatasetValue:
    """Returns rows with the number that each has in its file."""
    if not position:
        return source
    known = {one.name for one in source.record.fields}
    order = RecordType(
        (*source.record.fields, *(it for it in record.fields if it.name not in known))
    )
    step: Step = Numbered(source.step, order.schema, position[0])
    return as_record(DatasetValue(step, order), record)


def _of_set(context: Context, node: Call, items: Scalar) -> DatasetValue:
    """Returns a row for each item of a set, in a record of one field."""
    record = context.record(node.arguments[1])
    if len(record.fields) != 1:
        raise refusal(
            node.arguments[1], f"a record of {len(record.fields)} fields", "one field"
        )
    wanted = SetOf(record.fields[0].type)
    found = known_value(node, as_type(node, items, wanted))
    values = found if isinstance(found, list | tuple) else ()
    return DatasetValue(Inline(record.schema, tuple((one,) for one in values)), record)


def _made_up(context: Context, first: Node, second: Node) -> DatasetValue:
    """Returns so many rows that a transform makes of their numbers."""
    count = context.count(first)
    record = RecordType((Field("counter", Whole()),))
    rows = tuple((number,) for number in range(1, count + 1))
    source = DatasetValue(Inline(record.schema, rows), record)
    inside = replace(context, sides={"counter": Scalar("counter", Whole())})
    return projected(source, inside.made(second))
