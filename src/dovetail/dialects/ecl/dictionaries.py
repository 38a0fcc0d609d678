"""DICTIONARY, and what is looked up in one: `k IN dictionary`, `dictionary[k].field`.

Where what is looked for is known of the row at hand, the dictionary is joined to the
rows by LOOKUP, before they are looked at. Elsewhere the whole dictionary stands beside
each row as a list.
"""

from __future__ import annotations

from dataclasses import replace

from dovetail import spec
from dovetail.dialects.ecl import datasets, syntax, types, values
from dovetail.dialects.ecl.aggregates import all_rows
from dovetail.dialects.ecl.context import Context, beside, refusal
from dovetail.dialects.ecl.records import unarrowed
from dovetail.dialects.ecl.rows import read_dataset
from dovetail.dialects.ecl.scalars import met
from dovetail.dialects.ecl.totals import looked_up
from dovetail.expression import Expression
from dovetail.schema import quoted

_ENTRY = "entry"


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
    texts = [
        " = ".join(datasets.ordered_text(row, key) for row in rows) for key in keys
    ]
    # Not neighbours alone: of all rows with a key the first stays.
    step = spec.Deduped(source.step, Expression(" AND ".join(texts)), is_all=True)
    return values.Dictionary(values.DatasetValue(step, source.record), keys)


def entry_at(
    context: Context, node: syntax.Part, dictionary: values.Dictionary
) -> values.RowValue | values.DatasetValue:
    """Returns dictionary[key]: a row that is blank where there is none."""
    sought = _sought(context, node.first, dictionary)
    for found in looked_up(context, dictionary, _pairs(node, sought, "r")):
        return values.RowValue(dictionary.source.record, f"{found}.row")
    # Not known of the row at hand alone: all entries stand beside it as a list.
    if context.totals:
        rows = _entries(context, dictionary, _pairs(node, sought, _ENTRY))
        record = dictionary.source.record
        text = f"coalesce(get({rows}, 0), {record.absent_text})"
        return values.RowValue(record, text)
    source = _chosen(node, dictionary, _pairs(node, sought, "l"))
    return replace(source, step=spec.Chosen(source.step, 1, 1))


def within(
    context: Context, node: syntax.Operation, dictionary: values.Dictionary
) -> types.Scalar | values.Total:
    """Returns key IN dictionary."""
    sought = _sought(context, node.operands[0], dictionary)
    for found in looked_up(context, dictionary, _pairs(node, sought, "r")):
        return types.Scalar(f"{found}.found", types.BOOLEAN)
    if context.totals:
        rows = _entries(context, dictionary, _pairs(node, sought, _ENTRY))
        return types.Scalar(f"(size({rows}) > 0)", types.BOOLEAN)
    is_there = types.Scalar("(CAST(ROWS_COUNT() AS BIGINT) > 0L)", types.BOOLEAN)
    chosen = _chosen(node, dictionary, _pairs(node, sought, "l"))
    return values.Total(chosen, is_there)


def _sought(
    context: Context, node: syntax.Node, dictionary: values.Dictionary
) -> list[tuple[types.Scalar, types.Field]]:
    """Returns what is looked for beside the keys: one value, or those of a row."""
    if isinstance(node, syntax.Braces):
        found = [context.scalar(one) for one in node.items]
    else:
        value = context.scalar(node)
        found = [value]
        if isinstance(value.type, types.RecordType):
            found = [
                types.Scalar(f"{value.text}.{quoted(one.name)}", one.type)
                for one in value.type.fields
            ]
    if len(found) != len(dictionary.keys):
        names = ", ".join(one.name for one in dictionary.keys)
        raise refusal(
            node, f"{len(found)} values to look for", f"one for each key: {names}"
        )
    return list(zip(found, dictionary.keys, strict=True))


def _pairs(
    node: syntax.Node, sought: list[tuple[types.Scalar, types.Field]], entry: str
) -> tuple[tuple[str, str], ...]:
    """Returns what is looked for and the keys of an entry, each in the type of both."""
    keys = (types.Scalar(f"{entry}.{quoted(key.name)}", key.type) for _, key in sought)
    met_pairs = (
        met(node, value, key) for (value, _), key in zip(sought, keys, strict=True)
    )
    return tuple((one.text, two.text) for one, two in met_pairs)


def _entries(
    context: Context, dictionary: values.Dictionary, pairs: tuple[tuple[str, str], ...]
) -> str:
    """Returns the entries that are found, by going through the whole dictionary."""
    record = dictionary.source.record
    whole = values.Total(dictionary.source, all_rows(values.RowsValue(record, "")))
    found = beside(context.totals[0], whole)
    same = (f"{one} = {two}" for one, two in pairs)
    return f"filter({found}, {_ENTRY} -> {' AND '.join(same)})"


def _chosen(
    node: syntax.Node, dictionary: values.Dictionary, pairs: tuple[tuple[str, str], ...]
) -> values.DatasetValue:
    """Returns the entries that are found, as rows, by values that no row has."""
    if any(spec.references(Expression(text)) for text, _ in pairs):
        raise refusal(
            node,
            "a look-up by fields of a row here",
            "it in a filter, a transform, a TABLE or the condition of a JOIN",
            "JOIN with DATASET(dictionary) on the key",
        )
    same = (f"{one} = {two}" for one, two in pairs)
    condition = Expression(" AND ".join(same))
    return replace(
        dictionary.source, step=spec.Filtered(dictionary.source.step, condition)
    )
