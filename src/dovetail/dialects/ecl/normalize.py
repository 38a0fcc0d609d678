"""NORMALIZE and its relatives: a row becomes a row for each item of a list.

Projected  the list of what becomes of the items: child rows, or so many numbers
Unfolded   a row for each of them
"""

from __future__ import annotations

from dataclasses import replace

from dovetail.dialects.ecl.aggregates import all_rows
from dovetail.dialects.ecl.casting import Scalar
from dovetail.dialects.ecl.child_rows import unfolded
from dovetail.dialects.ecl.context import Context, as_type, refusal
from dovetail.dialects.ecl.datasets import refuse_others
from dovetail.dialects.ecl.lists import made_of, numbers_to
from dovetail.dialects.ecl.nodes import Call, Node
from dovetail.dialects.ecl.ordering import row_at
from dovetail.dialects.ecl.totals import gathering, widened
from dovetail.dialects.ecl.types import INTEGER, TableType, Whole
from dovetail.dialects.ecl.values import DatasetValue, RowsValue, RowValue, Value

# What no name in a text can hide: the item at hand, and its place from 0.
_ITEM, _PLACE = "normalized", "normalized_at"


def read_normalize(context: Context, node: Call) -> DatasetValue:
    """Returns NORMALIZE(rows, a number or child rows, transform)."""
    first, second, third, *rest = node.arguments
    refuse_others(rest, set())
    source = context.dataset(first)
    if source.is_grouped:
        raise refusal(first, "NORMALIZE of groups", "UNGROUP(rows)")
    sides: dict[str, Value] = {"left": row_at(source.record)}
    inside, totals = gathering(replace(context, sides=sides, rows=()))
    items, more = _items(inside, second)
    made = replace(inside, sides={**sides, **more}).made(third)
    rows = made_of(items, made, (_ITEM, _PLACE))
    return unfolded(widened(source, totals), made.record, rows)


def _items(context: Context, node: Node) -> tuple[str, dict[str, Value]]:
    """Returns the list of items, and what a transform of one of them sees."""
    found = context.value(node)
    if isinstance(found, RowsValue):
        found = all_rows(found)
    match found:
        case Scalar(text, TableType(record)):
            place = Scalar(f"({_PLACE} + 1L)", Whole())
            return text, {"right": RowValue(record, _ITEM), "counter": place}
        case _:
            number = as_type(node, context.scalar(node), INTEGER).text
            return numbers_to(number), {"counter": Scalar(_ITEM, Whole())}
