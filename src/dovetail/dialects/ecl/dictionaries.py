"""DICTIONARY, and what is looked up in one: `k IN dictionary`, `dictionary[k].field`.

Where what is looked for is known of the row at hand, the dictionary is joined to the
rows by LOOKUP, before they are looked at. Elsewhere the whole dictionary stands beside
each row as a list.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from itertools import starmap

from dovetail import spec
from dovetail.dialects.ecl import datasets, syntax, trees, types, values
from dovetail.dialects.ecl.aggregates import counted, together
from dovetail.dialects.ecl.context import Context, beside, refusal
from dovetail.dialects.ecl.records import unarrowed
from dovetail.dialects.ecl.rows import read_dataset
from dovetail.dialects.ecl.scalars import met
from dovetail.dialects.ecl.totals import looked_up
from dovetail.dialects.ecl.trees import sql

Sought = list[tuple[types.Scalar, types.Field]]
_equal = partial(trees.build, "=")


# DICTIONARY(people, {id => name, age}): one row for each id
def read_dictionary(context: Context, node: syntax.Call) -> values.Dictionary:
    """Returns DICTIONARY: of rows in the text, or of fields of a data set."""
    first, *rest = node.arguments
    match first, rest:
        case syntax.Items(items=items), [layout]:
            rows = replace(first, items=tuple(map(_without_arrows, items)))
            return _of(read_dataset(context, replace(node, arguments=(rows, layout))))
        case syntax.Items(), _:
            raise refusal(node, "entries without a record", "{key => value} behind")
        case _, []:
            return _of(context.dataset(first))
        case _, [syntax.Braces() as layout]:
            source = context.dataset(first)
            found = datasets.tabled(context, source, _without_arrows(layout))
            # Fields before an arrow are keys; without one all of them are.
            is_arrow = [isinstance(it, syntax.Arrow) for it in unarrowed(layout.items)]
            count = [*is_arrow, True].index(True)
            fields = found.record.fields
            keys = (replace(one, is_key=True) for one in fields[:count])
            record = types.RecordType((*keys, *fields[count:]))
            return _of(replace(found, record=record))
        case _, [layout]:
            source = context.dataset(first)
            return _of(datasets.as_record(source, context.record(layout)))
        case _:
            raise refusal(node, "a DICTIONARY of more", "DICTIONARY(rows, {k => v})")


def _without_arrows(node: syntax.Node) -> syntax.Node:
    """Returns an entry as the values of a row."""
    if not isinstance(node, syntax.Braces):
        return node
    items = unarrowed(node.items)
    return replace(
        node, items=tuple(one for one in items if not isinstance(one, syntax.Arrow))
    )


def _of(source: values.DatasetValue) -> values.Dictionary:
    """Returns the dictionary of rows: of those with the same keys the first stays."""
    keys = tuple(one for one in source.record.fields if one.is_key)
    keys = keys or source.record.fields
    rows = (datasets.row_at(source.record), datasets.row_at(source.record, "r"))
    same = trees.all_of(
        trees.build("=", *(datasets.ordered(row, key) for row in rows)) for key in keys
    )
    # Not neighbours alone: of all rows with a key the first stays.
    step = spec.Deduped(source.step, trees.expressed(same), is_all=True)
    return values.Dictionary(values.DatasetValue(step, source.record), keys)


# Such as names[LEFT.id].name
def entry_at(
    context: Context, node: syntax.Part, dictionary: values.Dictionary
) -> values.RowValue | values.DatasetValue:
    """Returns dictionary[key]: a row that is blank where there is none."""
    sought = _sought(context, node.first, dictionary)
    # The cheapest way first: a LOOKUP by the row, else all entries as a list, else a
    # data set of the entry, which no row is at hand for.
    for found in looked_up(
        context, dictionary, _of_side(node, sought, dictionary, "r")
    ):
        return values.RowValue(dictionary.source.record, sql("x.row", x=found))
    # Not known of the row at hand alone: all entries stand beside it as a list.
    if context.totals:
        rows = _entries(context, node, dictionary, sought)
        record = dictionary.source.record
        row = sql("coalesce(get(x, 0), absent)", x=rows, absent=record.absent)
        return values.RowValue(record, row)
    source = _chosen(node, dictionary, _of_side(node, sought, dictionary, "l"))
    return datasets.single(source)


# LEFT.id IN names
def within(
    context: Context, node: syntax.Operation, dictionary: values.Dictionary
) -> types.Scalar | values.Total:
    """Returns key IN dictionary."""
    sought = _sought(context, node.operands[0], dictionary)
    for found in looked_up(
        context, dictionary, _of_side(node, sought, dictionary, "r")
    ):
        return types.truth(sql("x.found", x=found))
    if context.totals:
        rows = _entries(context, node, dictionary, sought)
        return types.truth(sql("size(x) > 0", x=rows))
    chosen = _chosen(node, dictionary, _of_side(node, sought, dictionary, "l"))
    every = values.RowsValue.together(dictionary.source.record)
    return values.Total(chosen, types.truth(sql("n > 0L", n=counted(every))))


def _sought(
    context: Context, node: syntax.Node, dictionary: values.Dictionary
) -> Sought:
    """Returns what is looked for beside the keys: one value, or those of a row."""
    if isinstance(node, syntax.Braces):
        found = [context.scalar(one) for one in node.items]
    else:
        value = context.scalar(node)
        found = [value]
        if isinstance(value.type, types.RecordType):
            found = [types.part(value.tree, one) for one in value.type.fields]
    if len(found) != len(dictionary.keys):
        names = ", ".join(one.name for one in dictionary.keys)
        raise refusal(
            node, f"{len(found)} values to look for", f"one for each key: {names}"
        )
    return list(zip(found, dictionary.keys, strict=True))


def _pairs(
    node: syntax.Node, sought: Sought, entry: trees.Node
) -> tuple[tuple[trees.Node, trees.Node], ...]:
    """Returns what is looked for and the keys of an entry, each in the type of both."""
    both = (met(node, value, types.part(entry, key)) for value, key in sought)
    return tuple((one.tree, two.tree) for one, two in both)


def _of_side(
    node: syntax.Node, sought: Sought, dictionary: values.Dictionary, letter: str
) -> tuple[tuple[trees.Node, trees.Node], ...]:
    """Returns such pairs with the entry as the row of a side."""
    return _pairs(node, sought, dictionary.source.record.side(letter))


def _entries(
    context: Context, node: syntax.Node, dictionary: values.Dictionary, sought: Sought
) -> trees.Node:
    """Returns the entries that are found, by going through the whole dictionary."""
    record = dictionary.source.record
    entry = trees.variable("entry", record.struct)
    same = trees.all_of(starmap(_equal, _pairs(node, sought, entry)))
    found = beside(context.totals[0], values.Total(dictionary.source, together(record)))
    return sql("filter(x, same)", x=found, same=trees.function(same, entry))


def _chosen(
    node: syntax.Node,
    dictionary: values.Dictionary,
    pairs: tuple[tuple[trees.Node, trees.Node], ...],
) -> values.DatasetValue:
    """Returns the entries that are found, as rows, by values that no row has."""
    if any(any(trees.columns_of(tree)) for tree, _ in pairs):
        raise refusal(
            node,
            "a look-up by fields of a row here",
            "it in a filter, a transform, a TABLE or the condition of a JOIN",
            "JOIN with DATASET(dictionary) on the key",
        )
    condition = trees.expressed(trees.all_of(starmap(_equal, pairs)))
    return replace(
        dictionary.source, step=spec.Filtered(dictionary.source.step, condition)
    )
