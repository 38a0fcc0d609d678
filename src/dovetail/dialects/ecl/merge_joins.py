"""MERGEJOIN: the rows of several data sets that take part in a match, as they are.

    Counted     of each data set the rows of a key as one row, with their list
    SetJoined   the lists that match, one behind the other
    Unfolded    a row for each item
    Ordered     all of them merged

Keys alone match whole lists. Another condition looks at single rows: there each row has
a list of its own, and comes once however many matches it takes part in.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from dovetail.dialects.ecl.aggregates import all_rows
from dovetail.dialects.ecl.casting import Scalar
from dovetail.dialects.ecl.child_rows import unfolded
from dovetail.dialects.ecl.context import Context, refusal
from dovetail.dialects.ecl.datasets import rebuilt_columns
from dovetail.dialects.ecl.folds import struct_of
from dovetail.dialects.ecl.names import is_transform
from dovetail.dialects.ecl.nodes import Call, Name, Node
from dovetail.dialects.ecl.ordering import ordered_text
from dovetail.dialects.ecl.set_joins import SetOptions, SetParts, told_sets
from dovetail.dialects.ecl.types import INTEGER, Field, RecordType, TableType
from dovetail.dialects.ecl.values import (
    DatasetValue,
    RowsValue,
    RowValue,
    SetOfDatasets,
)
from dovetail.expression import ALWAYS, Expression
from dovetail.schema import quoted
from dovetail.spec.join import Columns, SetJoinSpec
from dovetail.spec.program import (
    By,
    Counted,
    Deduped,
    Ordered,
    Projected,
    SetJoined,
    Step,
    Told,
    Unfolded,
)

# No field has a name with blanks.
_LIST = "rows of it"


def read_merge_join(context: Context, node: Call) -> DatasetValue:
    """Returns the rows of MERGEJOIN([..], condition, SORTED(..), ..)."""
    first, condition, *rest = node.arguments
    sets = context.value(first)
    if not isinstance(sets, SetOfDatasets):
        raise refusal(first, "a MERGEJOIN of something else", "[one, other, ..]")
    for one in rest:
        if is_transform(context, one):
            raise refusal(
                one,
                "a MERGEJOIN with a transform",
                "SORTED(fields): rows come out as they are",
                "JOIN([..], condition, transform, SORTED(..)) makes others of them",
            )
    parts = SetParts.of(context, first, sets)
    options = parts.options(node, _with_sorted(rest, parts.record))
    join = parts.join(condition, options)
    told = told_sets(node, join, options)
    step = _merged(parts.record, _matched(parts, join, told), (join, options))
    columns = rebuilt_columns(Scalar("l.row", parts.record), parts.record)
    return DatasetValue(Projected(step, parts.record.schema, columns), parts.record)


def _with_sorted(rest: list[Node], record: RecordType) -> list[Node]:
    """Returns the options with fields that stand bare among them inside of SORTED."""
    bare = [it for it in rest if isinstance(it, Name) and any(record.find(it.text))]
    if not bare:
        return rest
    call = Call(bare[0].place, Name(bare[0].place, "SORTED"), tuple(bare))
    return [call, *(one for one in rest if one not in bare)]


def _matched(parts: SetParts, join: SetJoinSpec, told: Told) -> Unfolded:
    """Returns the items that take part in a match, as often as they do."""
    item = _item(parts.record)
    steps: tuple[Step, ...] = tuple(
        _of_keys(one, number, join.stepped) for number, one in enumerate(parts.datasets)
    )
    if not _is_by_keys(join):
        steps = tuple(_apart(one, parts.record) for one in steps)
    every = f"flatten(ROWS_LIST({quoted(_LIST)}))"
    listed = RecordType((Field(_LIST, TableType(item)),)).schema
    join = replace(join, select=Columns(((_LIST, Expression(every)),)))
    return Unfolded(SetJoined(steps, join, listed, told), item.schema, _LIST)


def _is_by_keys(join: SetJoinSpec) -> bool:
    """Tells whether keys alone say what matches, so that no item matches twice."""
    return (join.pair_condition, join.rows_condition) == (ALWAYS, ALWAYS)


def _merged(
    record: RecordType, items: Unfolded, given: tuple[SetJoinSpec, SetOptions]
) -> Ordered | Deduped:
    """Returns items in the order of SORTED, each once, or one of those alike in it."""
    join, options = given
    fields = tuple(dict.fromkeys((*options.ordered_by, *join.stepped)))
    by = (*_values("l", record, fields), "l.set", "l.place")
    step = Ordered(items, tuple(By(Expression(one)) for one in by))
    if options.is_unique:
        return _once(step, record, options.ordered_by)
    return step if _is_by_keys(join) else _once(step, record, fields, "set", "place")


def _item(record: RecordType) -> RecordType:
    """Returns a row with the number of its data set, and its place among its key's."""
    numbers = (Field(name, INTEGER) for name in ("set", "place"))
    return RecordType((*numbers, Field("row", record)))


def _of_keys(source: DatasetValue, number: int, stepped: tuple[str, ...]) -> Counted:
    """Returns a row for each key of a data set, with the list of its items."""
    record = source.record
    keys = tuple(one for name in stepped for one in record.find(name))
    item = struct_of(
        ("set", f"{number}L"), ("place", "CAST(at AS BIGINT)"), ("row", "one")
    )
    items = f"transform({all_rows(RowsValue(record, '')).text}, (one, at) -> {item})"
    shape = RecordType((*keys, Field(_LIST, TableType(_item(record)))))
    columns = (*((it.name, f"l.{quoted(it.name)}") for it in keys), (_LIST, items))
    select = Columns(tuple((name, Expression(text)) for name, text in columns))
    return Counted(source.step, shape.schema, select, tuple(it.name for it in keys))


def _apart(lists: Step, record: RecordType) -> Projected:
    """Returns a row for each item of lists: its own fields, and a list of it alone."""
    item = _item(record)
    items = unfolded(lists, item, f"l.{quoted(_LIST)}")
    shape = RecordType((*record.fields, Field(_LIST, TableType(item))))
    fields = rebuilt_columns(Scalar("l.row", record), record).columns
    alone = (_LIST, Expression(f"array({item.row_text('l')})"))
    return Projected(items.step, shape.schema, Columns((*fields, alone)))


def _once(
    step: Step, record: RecordType, fields: Iterable[str], *numbers: str
) -> Deduped:
    """Returns the first of neighbours with the same fields and numbers."""
    sides = (
        (*_values(letter, record, fields), *(f"{letter}.{it}" for it in numbers))
        for letter in "lr"
    )
    terms = (f"{one} = {other}" for one, other in zip(*sides, strict=True))
    return Deduped(step, Expression(" AND ".join(terms)))


def _values(letter: str, record: RecordType, names: Iterable[str]) -> tuple[str, ...]:
    """Returns fields of an item's row as they are sorted and compared."""
    row = RowValue(record, f"{letter}.row")
    found = (one for name in names for one in record.find(name))
    return tuple(ordered_text(row, one) for one in found)
