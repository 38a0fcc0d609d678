"""Rows of a data set that the row at hand chooses: child rows beside it.

    pets(owner = LEFT.id, age > LEFT.least)
         `--- key -----'  `-- a condition -'

What must be equal is a key: the rows are listed by it, and each row at hand finds its
list by LOOKUP. What else is asked goes through the list. Without a key all rows of the
data set stand beside each row.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from dovetail.dialects.ecl.aggregates import all_rows
from dovetail.dialects.ecl.conditions import Term, terms
from dovetail.dialects.ecl.context import Context, is_word
from dovetail.dialects.ecl.look_ups import AtHand, as_left, is_of, rows_at_hand
from dovetail.dialects.ecl.nodes import Call, Node, Omitted, Operation
from dovetail.dialects.ecl.scalars import met
from dovetail.dialects.ecl.types import EclType, Field, RecordType, TableType
from dovetail.dialects.ecl.values import (
    DatasetValue,
    Dictionary,
    RowsValue,
    RowValue,
    Total,
)
from dovetail.expression import Expression, Scope
from dovetail.schema import quoted
from dovetail.spec.join import Columns
from dovetail.spec.program import Counted, Grouped, Projected

_ROWS = "rows"


@dataclass(frozen=True, slots=True)
class _Key:
    """A value of the row at hand, and the value of the other rows that equals it."""

    wanted: str
    value: str
    type: EclType


def rows_chosen(context: Context, node: Call, source: DatasetValue) -> RowsValue:
    """Returns the rows of a data set that conditions about the row at hand choose."""
    # A name that no list around has.
    name = f"chosen_{node.place.line}_{node.place.column}"
    inside = context.inside(RowValue(source.record, name, source.step))
    seen = Scope(((name, source.record.schema),))
    asked = [
        term
        for one in node.arguments
        if not (isinstance(one, Omitted) or is_word(one, "keyed", "few"))
        for term in terms(inside, one)
        if not term.is_wild
    ]
    keys, rest = _keys(context, asked, seen)
    if keys is None:
        found = listed_beside(context, node, source).text
    else:
        context.check_children(node, source)
        found = _by_keys(source, *keys)
    if not rest:
        return RowsValue(source.record, found)
    texts = (term.context.condition(term.node) for term in rest)
    kept = f"filter({found}, {name} -> {' AND '.join(texts)})"
    return RowsValue(source.record, kept)


def listed_beside(context: Context, node: Node, source: DatasetValue) -> RowsValue:
    """Returns all rows of a data set as a list that stands beside the row at hand."""
    context.world.remarks.append(
        f"all rows of a data set stand beside each row in line {node.place.line}: no "
        "equality says which of them it needs"
    )
    whole = Total(source, all_rows(RowsValue(source.record, "")))
    return RowsValue(source.record, context.gathered(node, whole).text)


def _keys(
    context: Context, asked: list[Term], seen: Scope
) -> tuple[tuple[AtHand, list[_Key]] | None, list[Term]]:
    """Returns the keys of the first row at hand that has some, and all other terms."""
    for row in rows_at_hand(context):
        found = [(term, [*_key(term, row, seen)]) for term in asked]
        keys = [key for _, some in found for key in some]
        if keys:
            return (row, keys), [term for term, some in found if not some]
    return None, asked


def _key(term: Term, row: AtHand, seen: Scope) -> Iterator[_Key]:
    """Gives the key that a term is, if it says that values of both rows are equal."""
    match term.node:
        case Operation(sign="=", operands=(first, second)):
            values = [term.context.scalar(one) for one in (first, second)]
        case _:
            return
    if any(isinstance(one.type, RecordType | TableType) for one in values):
        return
    pair = met(term.node, *values)
    for mine, other in (pair, pair[::-1]):
        if is_of(mine.text, seen) and row.has(other.text):
            yield _Key(other.text, as_left(mine.text, seen), mine.type)
            return


def _by_keys(source: DatasetValue, row: AtHand, keys: list[_Key]) -> str:
    """Returns the list of rows that a row at hand finds by its keys."""
    pairs = ((key.wanted, f"r.{quoted(_name(at))}") for at, key in enumerate(keys))
    found = row.beside(_listed(source, keys), tuple(pairs))
    return f"{found}.row.{quoted(_ROWS)}"


def _listed(source: DatasetValue, keys: list[_Key]) -> Dictionary:
    """Returns the rows of a data set as a list for each value of the keys."""
    fields = tuple(Field(_name(at), key.type) for at, key in enumerate(keys))
    both = RecordType((*source.record.fields, *fields))
    own = ((one.name, f"l.{quoted(one.name)}") for one in source.record.fields)
    values = ((_name(at), key.value) for at, key in enumerate(keys))
    beside = Projected(Grouped(source.step, ()), both.schema, _columns([*own, *values]))
    rows = all_rows(RowsValue(source.record, ""))
    record = RecordType((*fields, Field(_ROWS, rows.type)))
    names = tuple(one.name for one in fields)
    texts = [*((name, f"l.{quoted(name)}") for name in names), (_ROWS, rows.text)]
    step = Counted(beside, record.schema, _columns(texts), names)
    return Dictionary(DatasetValue(step, record), fields)


def _columns(texts: list[tuple[str, str]]) -> Columns:
    """Returns named expressions as columns."""
    return Columns(tuple((name, Expression(text)) for name, text in texts))


def _name(number: int) -> str:
    """Returns the column of a key, which no field of a record is named like."""
    return f"key {number + 1}"
