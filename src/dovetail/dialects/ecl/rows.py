"""DATASET: rows that stand in the text, rows of a file, or so many made-up ones.

Behind the record of a file stands how it is written. THOR and FLAT leave it to the
ending of the file. In CSV columns go by their place, unless CSV(HEADING(1)) says that
the first line names them, or it plainly does.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from difflib import get_close_matches
from typing import cast

from dovetail import spec
from dovetail.dialects.ecl import datasets, syntax, trees, types, values
from dovetail.dialects.ecl.aggregates import all_rows
from dovetail.dialects.ecl.catalog import taken_as
from dovetail.dialects.ecl.context import (
    Context,
    UnknownNameError,
    as_type,
    known_value,
    refusal,
)
from dovetail.dialects.ecl.names import is_transform
from dovetail.dialects.ecl.totals import Gathered, as_total, gathering
from dovetail.errors import SchemaError


# DATASET([{1, 'a'}, {2, {3, 4}}], r): braces inside are a row inside.
def row_of(context: Context, node: syntax.Node, record: types.RecordType) -> trees.Node:
    """Returns the row of values in braces; what is left out is as the record says."""
    items = node.items if isinstance(node, syntax.Braces | syntax.Items) else (node,)
    row, rest = _filled(context, items, record)
    if rest:
        most = len(items) - len(rest)
        raise refusal(node, f"{len(items)} values", f"at most {most}")
    return row


def _filled(
    context: Context, items: tuple[syntax.Node, ...], record: types.RecordType
) -> tuple[trees.Node, tuple[syntax.Node, ...]]:
    """Returns a row filled from the left, and the values that are left.

    A record inside takes a row, or as many of the values as it has fields.
    """
    found = []
    for one in record.fields:
        if not items:
            break
        first, *rest = items
        if isinstance(one.type, types.RecordType) and not _is_row(
            context, first, one.type
        ):
            tree, items = _filled(context, items, one.type)
        else:
            tree, items = value_of(context, first, one.type), tuple(rest)
        found.append(tree)
    return struct_of(record, found), items


def _is_row(context: Context, node: syntax.Node, record: types.RecordType) -> bool:
    """Tells whether a value is a record as a whole, not its first field."""
    match node:
        case syntax.Braces():
            return True
        # [..] may be a set or child rows, where the first field is one; else a row.
        case syntax.Items():
            first = [one.type for one in record.fields[:1]]
            return not any(
                isinstance(one, types.TableType | types.SetOf) for one in first
            )
        case _:
            found = context.value(node)
            kind = found.type if isinstance(found, types.Scalar) else found
            return isinstance(kind, values.RowValue | types.RecordType)


def value_of(context: Context, node: syntax.Node, kind: types.EclType) -> trees.Node:
    """Returns a value in the type of its field; braces are a row inside the row."""
    match node, kind:
        case syntax.Braces(items=()) | syntax.Items(items=()), types.RecordType():
            return kind.absent
        case syntax.Braces(items=()) | syntax.Items(items=()), _:
            return types.blank(kind)
        case syntax.Braces() | syntax.Items(), types.RecordType():
            return row_of(context, node, kind)
        case syntax.Braces(items=items) | syntax.Items(items=items), types.TableType(
            record
        ):
            return rows_of(context, items, record)
        case _, types.TableType():
            return as_type(node, _child(context, node), kind).tree
        case _:
            return context.typed(node, kind).tree


def rows_of(
    context: Context, items: tuple[syntax.Node, ...], record: types.RecordType
) -> trees.Node:
    """Returns rows that stand in the text as a child data set."""
    return trees.array([row_of(context, it, record) for it in items], record.struct)


def _child(context: Context, node: syntax.Node) -> types.Scalar:
    """Returns a child data set: one that is there, DATASET(..), or ROWS(LEFT)."""
    match node:
        case syntax.Call(arguments=(syntax.Items(items=items), layout)) if (
            node.word == "dataset"
        ):
            record = context.record(layout)
            return types.Scalar(
                rows_of(context, items, record), types.TableType(record)
            )
        case syntax.Call(arguments=(row,)) if node.word == "dataset":
            one = context.scalar(row)
            if isinstance(one.type, types.RecordType):
                listed = trees.build("array", as_type(row, one, one.type).tree)
                return types.Scalar(listed, types.TableType(one.type))
            return one
        case _:
            value = context.value(node)
            match value:
                case values.RowsValue() if value.is_together:
                    return all_rows(value)
                case values.DatasetValue(record=record) if context.totals:
                    rows = all_rows(values.RowsValue.together(record))
                    return context.gathered(node, values.Total(value, rows))
                case _:
                    return context.scalar(node)


# LEFT.pets + RIGHT.pets, or LEFT.pets & ROW(LEFT, pet)
def child_sum(context: Context, node: syntax.Operation) -> Iterator[types.Scalar]:
    """Gives the rows of a child data set, and others or a single row behind them."""
    first, second = node.operands
    if not (context.sides or context.rows):
        return
    match first:
        # Bound as a value, rows in the text would be a data set of the program.
        case syntax.Call(arguments=(syntax.Items(), _)) if first.word == "dataset":
            one: values.Value = _child(context, first)
        case _:
            one = context.value(first)
    if isinstance(one, values.RowsValue):
        one = _child(context, first)
    if not isinstance(one, types.Scalar) or not isinstance(one.type, types.TableType):
        return
    if isinstance(second, syntax.Braces):
        behind = rows_of(context, (second,), one.type.record)
    else:
        other = _child(context, second)
        if isinstance(other.type, types.RecordType):
            row = as_type(second, other, one.type.record)
            behind = trees.build("array", row.tree)
        else:
            behind = as_type(second, other, one.type).tree
    yield types.Scalar(trees.build("concat", one.tree, behind), one.type)


def struct_of(record: types.RecordType, trees_of: list[trees.Node]) -> trees.Node:
    """Returns values as a record; fields without one have their initial value."""
    rest = record.fields[len(trees_of) :]
    given = [*trees_of, *([*it.initial, types.blank(it.type)][0] for it in rest)]
    names = (one.name for one in record.fields)
    return trees.struct(*zip(names, given, strict=False))


_PLAIN = {"thor", "flat", "unsorted", "__compressed__", "__grouped__", "preload"}
_ESCAPED = {"\\t": "\t", "\\\\": "\\"}


@dataclass(frozen=True, slots=True)
class Reading:
    """How a file is read; an optional one that is not there has no rows."""

    layout: spec.Layout = spec.AnyLayout()
    is_optional: bool = False


def reading_of(context: Context, options: Iterable[syntax.Node]) -> Reading:
    """Returns what the options of DATASET say of its file."""
    found = Reading()
    for option in options:
        match syntax.word_of(option):
            case _ if isinstance(option, syntax.Omitted):
                pass
            case "csv":
                found = replace(found, layout=_csv(context, option))
            case "json":
                found = replace(found, layout=spec.JsonLayout())
            case "opt":
                found = replace(found, is_optional=True)
            case word if word not in _PLAIN:
                raise refusal(
                    option,
                    f'"{syntax.words_of(option).upper() or "this"}" of a file',
                    "THOR, FLAT, CSV(..), JSON or OPT",
                    "write other files as CSV, JSON or Parquet before the program",
                )
    return found


def _csv(context: Context, node: syntax.Node) -> spec.CsvLayout:
    """Returns what CSV(..) says."""
    found = spec.CsvLayout()
    for option in node.arguments if isinstance(node, syntax.Call) else ():
        match option, syntax.word_of(option):
            case syntax.Call(arguments=(value, *_)), "heading":
                count = context.count(value)
                if count > 1:
                    raise refusal(option, f"a heading of {count} lines", "0 or 1")
                heading = spec.Heading.NAMES if count else spec.Heading.NONE
                found = replace(found, heading=heading)
            case syntax.Call(arguments=(_, *_)), "separator":
                found = replace(found, separator=_letter(context, option))
            case syntax.Call(arguments=(_, *_)), "quote":
                found = replace(found, quote=_letter(context, option))
            case syntax.Call(arguments=(value, *_)), "terminator":
                _check_ends(context, option, value)
            case _:
                raise refusal(
                    option,
                    f'"{syntax.words_of(option).upper() or "this"}" of CSV',
                    "HEADING(0), HEADING(1), SEPARATOR(','), QUOTE('\"') or TERMINATOR",
                )
    return found


def _check_ends(context: Context, node: syntax.Call, value: syntax.Node) -> None:
    """Refuses rows that end elsewhere than lines, which is where they must end."""
    parts = value.items if isinstance(value, syntax.Braces | syntax.Items) else (value,)
    # A program writes them as letters, or with a backslash before n and r.
    ends = [context.constant(one) for one in parts]
    said = {str(one).replace("\n", "\\n").replace("\r", "\\r") for one in ends}
    if said - {"\\n", "\\r\\n", "\\n\\r", "\\r"}:
        raise refusal(node, "rows that end elsewhere than lines", "'\\n' or '\\r\\n'")


def _letter(context: Context, node: syntax.Call) -> str:
    """Returns the one letter that an option says."""
    found = str(context.constant(node.arguments[0]))
    letter = _ESCAPED.get(found, found)
    if len(letter) != 1:
        raise refusal(node, f'{node.word.upper()} of "{found}"', "one letter")
    return letter


def by_position(
    context: Context, file: str, found: values.DatasetValue, position: list[str]
) -> values.DatasetValue:
    """Returns rows of a written file as an index by their numbers: FETCH asks for it.

    A file that is read in two ways is so written for the first of them.
    """
    builds = context.world.builds
    # FETCH asks for few rows by their numbers: an index finds them without a scan.
    for number in position[:1]:
        index = spec.Indexed(found.step, (number,), file)
        built = spec.Built(index, file in context.world.overwritten)
        if file not in {one.index.file for one in builds}:
            builds.append(built)
        return replace(found, step=index) if built in builds else found
    return found


def kept_by_position(
    file: str, record: types.RecordType, position: str
) -> values.DatasetValue:
    """Returns the rows of a file that an earlier program has kept by their numbers."""
    step = spec.Indexed(spec.Written(file, record.schema), (position,), file)
    return values.DatasetValue(step, record)


# DATASET([{1}, {2}], r)   DATASET('~file', r, CSV)   DATASET(5, t(COUNTER))
def read_dataset(context: Context, node: syntax.Call) -> values.DatasetValue:
    """Returns DATASET: rows in the text, rows of a file, or rows that are counted."""
    first, *rest = node.arguments
    match first:
        case syntax.Items(items=items) if rest:
            record = context.record(rest[0])
            rows = []
            for one in items:
                # A call is a row that something makes; all else are values of one.
                is_made = isinstance(one, syntax.Call)
                tree = (
                    context.typed(one, record).tree
                    if is_made
                    else row_of(context, one, record)
                )
                rows.append(cells_of(one, types.Scalar(tree, record)))
            return values.DatasetValue(spec.Inline(record.schema, tuple(rows)), record)
        case syntax.Items(items=items) if items and is_transform(context, items[0]):
            return _made_rows(context, items)
        case syntax.Items() | syntax.Text():
            if not rest:
                raise refusal(node, "rows without a record", "DATASET(.., record)")
            return _file(context, node, context.record(rest[0]), rest[1:])
        case syntax.Call() if first.word == "row":
            # It is made of what the text knows, or of whole data sets.
            inside, totals = gathering(context)
            return _with_totals(node, inside.scalar(first), totals)
        case _ if rest:
            return _of_value(context, node)
        case _:
            return context.dataset(first)


def _with_totals(
    node: syntax.Node, row: types.Scalar, totals: list[Gathered]
) -> values.DatasetValue:
    """Returns a row in which values of whole data sets may stand, as rows."""
    if not totals:
        return of_row(node, row)
    record = _record_of(node, row)
    columns = trees.select(datasets.rebuilt(row, record))
    step = spec.Projected(as_total(row, totals).source.step, record.schema, columns)
    return values.DatasetValue(step, record)


# Such as DATASET([t(1), t(2)])
def _made_rows(context: Context, items: tuple[syntax.Node, ...]) -> values.DatasetValue:
    """Returns the rows that transforms make, one each, in the record of the first."""
    rows, record = [], types.RecordType(())
    for node in items:
        inside, totals = gathering(context)
        made = inside.made(node)
        record = made.record if node is items[0] else record
        whole = struct_of(made.record, [tree for _, tree in made.columns])
        row = as_type(node, types.Scalar(whole, made.record), record)
        if known_value(node, types.Scalar(made.skip, types.BOOLEAN)) is False:
            rows.append(_with_totals(node, row, totals))
    nothing = values.DatasetValue(spec.Inline(record.schema, ()), record)
    return datasets.appended(items[0], rows) if rows else nothing


def of_row(node: syntax.Node, row: types.Scalar) -> values.DatasetValue:
    """Returns one row that stands in the text as rows."""
    record = _record_of(node, row)
    step = spec.Inline(record.schema, (cells_of(node, row),))
    return values.DatasetValue(step, record)


def cells_of(node: syntax.Node, row: types.Scalar) -> tuple[object, ...]:
    """Returns the values of a row that the text knows, field by field."""
    record = _record_of(node, row)
    cells = cast("Mapping[str, object]", known_value(node, row))
    return tuple(cells[one.name] for one in record.fields)


def _record_of(node: syntax.Node, row: types.Scalar) -> types.RecordType:
    """Returns the record of a value that must be a row."""
    if isinstance(row.type, types.RecordType):
        return row.type
    raise refusal(node, "this as a row", "ROW({values}, record)")


_MOST_ROWS = 1_000_000
"""So many rows a text may count by itself: they are kept where it is read."""


def _of_value(context: Context, node: syntax.Call) -> values.DatasetValue:
    """Returns the rows of a file with a computed name, of a set, or so many rows."""
    first, second, *rest = node.arguments
    match context.value(first):
        case types.Scalar(type=types.Letters()):
            return _file(context, node, context.record(second), rest)
        case types.Scalar(type=types.SetOf()) as items:
            record = context.record(second)
            if len(record.fields) != 1:
                raise refusal(
                    second, f"a record of {len(record.fields)} fields", "one field"
                )
            wanted = types.SetOf(record.fields[0].type)
            found = known_value(node, as_type(node, items, wanted))
            listed = found if isinstance(found, list | tuple) else ()
            rows = tuple((one,) for one in listed)
            return values.DatasetValue(spec.Inline(record.schema, rows), record)
        case _:
            datasets.refuse_others(rest, "distributed")
            record = types.RecordType((types.Field("counter", types.INTEGER),))
            count = context.count(first)
            if count > _MOST_ROWS:
                found, hint = f"DATASET of {count} rows", "give the rows as an input"
                raise refusal(first, found, f"at most {_MOST_ROWS}", hint)
            rows = tuple((number,) for number in range(1, count + 1))
            source = values.DatasetValue(spec.Inline(record.schema, rows), record)
            inside = replace(context, sides={"counter": datasets.COUNTER})
            return datasets.projected(source, inside.made(second))


def file_name(text: str) -> str:
    """Returns a logical file name as it is compared: without ~ and case."""
    return text.strip().removeprefix("~").lower()


def _file(
    context: Context,
    node: syntax.Call,
    record: types.RecordType,
    options: Iterable[syntax.Node],
) -> values.DatasetValue:
    """Returns the rows of a file: written by the program, or given as an input."""
    name = str(context.constant(node.arguments[0]))
    reading = reading_of(context, options)
    position = [one.name for one in record.fields if one.is_position]
    file = file_name(name)
    # What the program itself has written comes first: it is what the text means, even
    # where an input, or what an earlier program has left, has the same name.
    written = context.world.files.get(file)
    if written is not None:
        rows = _read_back(written, record, position)
        return by_position(context, file, rows, position)
    found = _input(context, node, (name, reading.layout))
    if found:
        wanted = spec.Given(found, record.schema, "".join(position[:1]), reading.layout)
        return values.DatasetValue(
            taken_as(context.world.taken, wanted, record), record
        )
    for number in position[:1] if context.world.inputs.has_index(file) else ():
        return kept_by_position(file, record, number)
    if reading.is_optional:
        return values.DatasetValue(spec.Inline(record.schema, ()), record)
    near = get_close_matches(file, [*context.world.inputs.names()], 1)
    expected = "an input of its name or of the data set's, or an OUTPUT that writes it"
    raise UnknownNameError(
        f'nothing gives the rows of the file "{name}"',
        f"{expected} before",
        f'did you mean "{near[0]}"?' if near else "",
        place=node.place,
    )


def _input(context: Context, node: syntax.Call, wanted: tuple[str, spec.Layout]) -> str:
    """Returns the name of the input for a file: the file's, or the data set's."""
    name, layout = wanted
    inputs, label = context.world.inputs, context.label.lower()
    # As it is written, then without its ~ and blanks, then as the data set is called.
    try:
        found = inputs.file(name.lower(), layout)
        found = found or inputs.file(file_name(name), layout)
        return found or (inputs.spelled(label) if label else "")
    except SchemaError as error:
        raise refusal(node, error.found, error.expected, error.hint) from error


# DATASET('~file', {r, UNSIGNED8 at {virtual(fileposition)}}, THOR) behind an OUTPUT
def _read_back(
    written: values.DatasetValue, record: types.RecordType, position: list[str]
) -> values.DatasetValue:
    """Returns rows that the program wrote, with the number of each where one asks."""
    # The number of a row is not among what was written: it is given in reading.
    stored = types.RecordType(tuple(it for it in record.fields if not it.is_position))
    source = datasets.as_record(written, stored)
    if not position:
        return source
    known = {one.name for one in source.record.fields}
    new = (it for it in record.fields if it.name not in known)
    numbered = types.RecordType((*source.record.fields, *new))
    step = spec.Numbered(source.step, numbered.schema, position[0])
    return datasets.as_record(values.DatasetValue(step, numbered), record)
