"""Data sets and what is done with one of them: each becomes a step of the program."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from dovetail.dialects.ecl.casting import Scalar, part_text
from dovetail.dialects.ecl.context import (
    Context,
    is_word,
    refusal,
)
from dovetail.dialects.ecl.declared import read_record, record_with
from dovetail.dialects.ecl.names import record_defined
from dovetail.dialects.ecl.nodes import (
    Braces,
    Call,
    Node,
    Omitted,
    Part,
    Reach,
    word_of,
    words_of,
)
from dovetail.dialects.ecl.ordering import (
    ORDERING,
    PASSED_OVER,
    Verb,
    is_passed_over,
    orders,
    row_at,
    row_of_source,
    row_scope,
)
from dovetail.dialects.ecl.totals import gathering, narrowed, widened
from dovetail.dialects.ecl.types import (
    Field,
    RecordType,
    Whole,
    blank_text,
    merged,
)
from dovetail.dialects.ecl.values import (
    DatasetValue,
    Made,
    RowsValue,
    Value,
)
from dovetail.expression import Expression
from dovetail.spec.join import Columns
from dovetail.spec.program import (
    Appended,
    Chosen,
    Counted,
    Filtered,
    Grouped,
    Ordered,
    Projected,
)

_EVERY = 1 << 62


def filtered(
    context: Context, source: DatasetValue, conditions: tuple[Node, ...]
) -> DatasetValue:
    """Returns the rows of which all conditions hold."""
    inside, totals = gathering(context.inside(row_of_source(source)))
    texts = [
        inside.condition(one) for one in conditions if not isinstance(one, Omitted)
    ]
    wide = widened(source, totals)
    step = Filtered(wide, Expression(" AND ".join(texts) or "true"))
    return replace(source, step=narrowed(step, source.record, totals))


def chosen(context: Context, node: Part, source: DatasetValue) -> DatasetValue:
    """Returns the rows between two places."""
    first = context.count(node.first, 1)
    match node.reach:
        case Reach.ONE:
            count = 1
        case Reach.TO:
            count = max(0, context.count(node.last) - first + 1)
        case _:
            count = _EVERY
    return replace(source, step=Chosen(source.step, first, count))


def appended(values: Iterable[DatasetValue]) -> DatasetValue:
    """Returns the rows of several data sets, in the record of the first."""
    first, *rest = values
    others = [as_record(one, first.record).step for one in rest]
    return DatasetValue(Appended((first.step, *others)), first.record)


def as_record(source: DatasetValue, record: RecordType) -> DatasetValue:
    """Returns a data set with the fields of a record, taken by their names."""
    if source.record == record:
        return source
    from_row = Scalar("l", source.record)
    columns = rebuilt_columns(from_row, record)
    step = Projected(source.step, record.schema, columns)
    return DatasetValue(step, record)


def rebuilt_columns(value: Scalar, record: RecordType) -> Columns:
    """Returns the columns of a record, each taken from a row by its name or blank."""
    return Columns(
        tuple((one.name, Expression(field_text(value, one))) for one in record.fields)
    )


def field_text(value: Scalar, wanted: Field) -> str:
    """Returns a field of a row in a type; a missing one is as its record says."""
    found = value.type.find(wanted.name) if isinstance(value.type, RecordType) else ()
    for one in found:
        return part_text(value.text, one, wanted)
    return wanted.initial or blank_text(wanted.type)


def projected(source: DatasetValue, made: Made) -> DatasetValue:
    """Returns what a transform makes of each row."""
    step = Projected(
        source.step, made.record.schema, columns_of(made), Expression(made.skip)
    )
    return DatasetValue(step, made.record, is_grouped=source.is_grouped)


def columns_of(made: Made) -> Columns:
    """Returns the columns of a transform."""
    return Columns(tuple((name, Expression(text)) for name, text in made.columns))


def _project(context: Context, node: Call) -> DatasetValue:
    """Returns PROJECT: a transform of LEFT and COUNTER, or the fields of a record."""
    first, second, *rest = node.arguments
    refuse_others(rest, {"prefetch", "lookahead", "keyed"})
    source = context.dataset(first)
    if isinstance(second, Braces):
        return tabled(context, source, second)
    sides: dict[str, Value] = {
        "left": row_at(source.record),
        "counter": Scalar("counter", Whole()),
    }
    inside, totals = gathering(replace(context, sides=sides))
    match inside.value(second):
        case Made() as made:
            return projected(replace(source, step=widened(source, totals)), made)
        case _:
            return as_record(source, inside.record(second))


def _table(context: Context, node: Call) -> DatasetValue:
    """Returns TABLE: the fields that a record computes from each row."""
    first, second, *rest = node.arguments
    source = context.dataset(first)
    fields = [
        one
        for one in rest
        if not (is_passed_over(one) or is_word(one, "keyed", "unsorted", "grouped"))
    ]
    if fields:
        by = tuple(orders(context, source.record, fields))
        grouped = Grouped(Ordered(source.step, by), tuple(one.value for one in by))
        source = replace(source, step=grouped, is_grouped=True)
    return tabled(context, source, second)


def tabled(context: Context, source: DatasetValue, *nodes: Node) -> DatasetValue:
    """Returns the fields of records, the first ones in front, made of each row."""
    inside = row_scope(context, row_of_source(source))
    group = RowsValue(source.record, "")
    inside, totals = gathering(replace(inside, sides={**inside.sides, "group": group}))
    record = RecordType(())
    for node in nodes:
        record = _with_fields(inside, record, node)
    texts = [
        (one.name, Expression(_computed(one, source.record))) for one in record.fields
    ]
    plain = RecordType(
        tuple(replace(one, initial="", computed="") for one in record.fields)
    )
    columns = Columns(tuple(texts))
    source = replace(source, step=widened(source, totals))
    if any("ROWS_" in text.text for _, text in texts):
        return DatasetValue(Counted(source.step, plain.schema, columns), plain)
    step = Projected(source.step, plain.schema, columns)
    return DatasetValue(step, plain, is_grouped=source.is_grouped)


def _with_fields(context: Context, record: RecordType, node: Node) -> RecordType:
    """Returns a record with those of a table, their values seen from a row."""
    if isinstance(node, Braces):
        return record_with(context, record.fields, node.items)
    for inside, found in record_defined(context, node):
        return merged((record, read_record(inside, found)))
    return merged((record, context.record(node)))


def _computed(one: Field, record: RecordType) -> str:
    """Returns what a field of a table is: what it says, or the field of its name."""
    return one.computed or one.initial or field_text(Scalar("l", record), one)


def refuse_others(nodes: Iterable[Node], known: set[str]) -> None:
    """Refuses options that would change something and are not known here."""
    for node in nodes:
        if word_of(node) not in PASSED_OVER | known and not isinstance(node, Omitted):
            raise refusal(node, f'"{words_of(node) or "this"}" here', "nothing more")


DATASETS: Mapping[str, Verb] = {
    "project": _project,
    "table": _table,
    **ORDERING,
}
