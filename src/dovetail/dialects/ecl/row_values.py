"""Rows that stand in the text: values in braces as a record, or as child rows."""

from __future__ import annotations

from collections.abc import Iterator

from dovetail.dialects.ecl.aggregates import all_rows
from dovetail.dialects.ecl.casting import Scalar
from dovetail.dialects.ecl.context import Context, as_type, refusal
from dovetail.dialects.ecl.nodes import Braces, Call, Items, Node, Operation
from dovetail.dialects.ecl.types import (
    EclType,
    RecordType,
    SetOf,
    TableType,
    blank_text,
    spark_type,
)
from dovetail.dialects.ecl.values import (
    DatasetValue,
    RowsValue,
    RowValue,
    Total,
    Value,
)
from dovetail.expression.writing import text_of


def row_of(context: Context, node: Node, record: RecordType) -> str:
    """Returns the row of values in braces; what is left out is as the record says."""
    items = node.items if isinstance(node, Braces | Items) else (node,)
    text, rest = _filled(context, items, record)
    if rest:
        most = len(items) - len(rest)
        raise refusal(node, f"{len(items)} values", f"at most {most}")
    return text


def _filled(
    context: Context, items: tuple[Node, ...], record: RecordType
) -> tuple[str, tuple[Node, ...]]:
    """Returns a row filled from the left, and the values that are left.

    A record inside takes a row, or as many of the values as it has fields.
    """
    texts = []
    for one in record.fields:
        if not items:
            break
        first, *rest = items
        if isinstance(one.type, RecordType) and not _is_row(context, first, one.type):
            text, items = _filled(context, items, one.type)
        else:
            text, items = value_of(context, first, one.type), tuple(rest)
        texts.append(text)
    return struct_of(record, texts), items


def _is_row(context: Context, node: Node, record: RecordType) -> bool:
    """Tells whether a value is a record as a whole, not its first field."""
    match node:
        case Braces():
            return True
        case Items():
            first = [one.type for one in record.fields[:1]]
            return not any(isinstance(one, TableType | SetOf) for one in first)
        case _:
            found = context.value(node)
            kind = found.type if isinstance(found, Scalar) else found
            return isinstance(kind, RowValue | RecordType)


def value_of(context: Context, node: Node, kind: EclType) -> str:
    """Returns a value in the type of its field; braces are a row inside the row."""
    match node, kind:
        case Braces(items=()) | Items(items=()), _:
            return blank_text(kind)
        case Braces() | Items(), RecordType():
            return row_of(context, node, kind)
        case Braces(items=items) | Items(items=items), TableType(record):
            return rows_of(context, items, record)
        case _, TableType():
            return as_type(node, _child(context, node), kind).text
        case _:
            return context.typed(node, kind).text


def rows_of(context: Context, items: tuple[Node, ...], record: RecordType) -> str:
    """Returns rows that stand in the text as a child data set."""
    rows = [row_of(context, one, record) for one in items]
    return f"CAST(array({', '.join(rows)}) AS {spark_type(TableType(record))})"


def _child(context: Context, node: Node) -> Scalar:
    """Returns a child data set: one that is there, DATASET(..), or ROWS(LEFT)."""
    match node:
        case Call(arguments=(Items(items=items), layout)) if node.word == "dataset":
            record = context.record(layout)
            return Scalar(rows_of(context, items, record), TableType(record))
        case Call(arguments=(row,)) if node.word == "dataset":
            one = context.scalar(row)
            if isinstance(one.type, RecordType):
                text = f"array({as_type(row, one, one.type).text})"
                return Scalar(text, TableType(one.type))
            return one
        case _:
            value = context.value(node)
            match value:
                case RowsValue(text=""):
                    return all_rows(value)
                case DatasetValue(record=record) if context.totals:
                    rows = all_rows(RowsValue(record, ""))
                    return context.gathered(node, Total(value, rows))
                case _:
                    return context.scalar(node)


def child_sum(context: Context, node: Operation) -> Iterator[Scalar]:
    """Gives the rows of a child data set, and others or a single row behind them."""
    first, second = node.operands
    if not (context.sides or context.rows):
        return
    one = _child_or_value(context, first)
    if isinstance(one, RowsValue):
        one = _child(context, first)
    if isinstance(one, Scalar) and isinstance(one.type, TableType):
        behind = _behind(context, second, one.type)
        yield Scalar(f"concat({one.text}, {behind})", one.type)


def _child_or_value(context: Context, node: Node) -> Value:
    """Returns rows that stand in the text as a child data set, or what a node is."""
    match node:
        case Call(arguments=(Items(), _)) if node.word == "dataset":
            return _child(context, node)
        case _:
            return context.value(node)


def _behind(context: Context, node: Node, kind: TableType) -> str:
    """Returns rows, a single row, or values in braces as a child data set."""
    if isinstance(node, Braces):
        return rows_of(context, (node,), kind.record)
    other = _child(context, node)
    if isinstance(other.type, RecordType):
        row = as_type(node, other, kind.record)
        return f"array({row.text})"
    return as_type(node, other, kind).text


def struct_of(record: RecordType, texts: list[str]) -> str:
    """Returns values as a record; fields without one have their initial value."""
    parts = []
    for place, one in enumerate(record.fields):
        given = texts[place] if place < len(texts) else one.initial
        parts.append(f"{text_of(one.name)}, {given or blank_text(one.type)}")
    return f"named_struct({', '.join(parts)})"
