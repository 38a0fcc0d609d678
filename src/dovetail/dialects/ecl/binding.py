"""What a node is, by its kind: one table of who answers for what."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import islice

from dovetail.dialects.ecl import aggregates, syntax, types
from dovetail.dialects.ecl.actions import ACTIONS, is_value_of_row, read_either
from dovetail.dialects.ecl.aggregates import filtered as part_of
from dovetail.dialects.ecl.children import (
    child_step,
    listed_beside,
    listed_step,
    rows_chosen,
)
from dovetail.dialects.ecl.combining import read_combine, read_limit, read_regroup
from dovetail.dialects.ecl.context import (
    Context,
    RowAroundError,
    is_known,
    refusal,
    said,
)
from dovetail.dialects.ecl.datasets import (
    DATASETS,
    Verb,
    appended,
    chosen,
    filtered,
    row_of_source,
)
from dovetail.dialects.ecl.denormalize import read_denormalize, read_normalize
from dovetail.dialects.ecl.dictionaries import entry_at, read_dictionary, within
from dovetail.dialects.ecl.functions import FUNCTIONS, extreme, refuse_wrong_number
from dovetail.dialects.ecl.indexes import check_filter, read_fetch, read_index
from dovetail.dialects.ecl.joins import read_join
from dovetail.dialects.ecl.library import read_library
from dovetail.dialects.ecl.modules import LIBRARY
from dovetail.dialects.ecl.names import read_member, read_module, read_name
from dovetail.dialects.ecl.neighbours import NEIGHBOURS
from dovetail.dialects.ecl.records import (
    read_braces,
    read_record,
    read_type,
    record_sum,
)
from dovetail.dialects.ecl.refused import INSTEAD, UNKNOWN
from dovetail.dialects.ecl.rows import child_sum, of_row, read_dataset
from dovetail.dialects.ecl.scalars import (
    read_cast,
    read_items,
    read_letters,
    read_number,
    read_operation,
    read_text,
)
from dovetail.dialects.ecl.set_joins import read_merge_join, read_set_join
from dovetail.dialects.ecl.transforms import applied, read_transform
from dovetail.dialects.ecl.values import (
    Action,
    DatasetValue,
    Dictionary,
    Imported,
    Index,
    Routine,
    RowsValue,
    RowValue,
    SetOfDatasets,
    Total,
    TypeValue,
    Value,
)

# What only says where a value is computed.
_PLAIN = {"nofold", "global"}
# Of a cluster there is one part: what a job sees of it is the whole.
_CONSTANTS = {
    "workunit": types.Scalar("'W'", types.Letters(1)),
    "clustersize": types.Scalar("1L", types.INTEGER),
}
# What stands behind their rows are conditions.
_OF_CONDITIONS = {"count", "exists"}
_EXTREMES = {"max": extreme("greatest"), "min": extreme("least")}


def bind(context: Context, node: syntax.Node) -> Value:
    """Returns what a node is."""
    reader = _READERS.get(type(node))
    if isinstance(node, syntax.Definition):
        raise refusal(
            node,
            "a value for a name here",
            "a value",
            "arguments have names in calls of the text's own functions alone",
        )
    if reader is None:
        calls = isinstance(node, syntax.Sequence) and isinstance(
            node.parts[0], syntax.Call
        )
        raise refusal(
            node,
            "this here",
            "a value, a data set, or an action",
            "an action ends with a semicolon"
            if calls
            else "between two values stands a comma, or an operator that ECL has",
        )
    return reader(context, node)


def _name(context: Context, node: syntax.Name) -> Value:
    """Returns what a name is; SKIP is nothing by itself."""
    if node.word in _CONSTANTS:
        return _CONSTANTS[node.word]
    if node.word == "skip":
        raise refusal(node, "SKIP here", "SKIP in an assignment of a transform")
    match read_name(context, node):
        # A function without parameters is called by its name alone.
        case Routine(parameters=(), body=syntax.Function()) as routine:
            return applied(context, syntax.Call(node.place, node, ()), routine)
        case found:
            return found


def _operation(context: Context, node: syntax.Operation) -> Value:
    """Returns what an operator gives: data sets or records put together, or a value."""
    for record in record_sum(context, node):
        return record
    if node.sign == "IN" and not isinstance(node.operands[1], syntax.Items):
        found = context.value(node.operands[1])
        if isinstance(found, Dictionary):
            return within(context, node, found)
    if node.sign in {"+", "&"}:
        for rows in child_sum(context, node):
            return rows
        values = [context.value(one) for one in node.operands]
        sets = [*_as_rows(values, node.operands)]
        if len(sets) == len(values):
            return appended(sets)
    return read_operation(context, node)


def _as_rows(
    values: Iterable[Value], nodes: Iterable[syntax.Node]
) -> Iterator[DatasetValue]:
    """Yields the data sets of a sum; behind the first a row may stand, too."""
    is_first = True
    for value, node in zip(values, nodes, strict=True):
        match value:
            case DatasetValue():
                yield value
            case types.Scalar(type=types.RecordType()) if not is_first:
                yield of_row(node, value)
        is_first = False


def _items(context: Context, node: syntax.Items) -> Value:
    """Returns a set: of data sets, or of values."""
    values = [context.value(one) for one in node.items]
    sets = [one for one in values if isinstance(one, DatasetValue)]
    if sets and len(sets) == len(values):
        return SetOfDatasets(tuple(sets))
    return read_items(context, node)


def _part(context: Context, node: syntax.Part) -> Value:
    """Returns a part: rows of a data set, a row of rows, letters, or an item."""
    match context.value(node.of):
        case DatasetValue() as source if _is_any_row(context, node):
            rows = aggregates.all_rows(RowsValue(source.record, ""))
            listed = context.gathered(node, Total(source, rows))
            place = context.typed(node.first, types.INTEGER).text
            return aggregates.nth(RowsValue(source.record, listed.text), place)
        case DatasetValue() as source:
            return chosen(context, node, source)
        case Dictionary() as dictionary if node.reach is syntax.Reach.ONE:
            return entry_at(context, node, dictionary)
        case RowsValue() as rows if node.reach is syntax.Reach.ONE:
            return aggregates.nth(rows, context.typed(node.first, types.INTEGER).text)
        case Total() as total if context.totals:
            return read_letters(context, node, context.gathered(node, total))
        case types.Scalar() as value:
            return read_letters(context, node, value)
        case found:
            raise refusal(
                node, f"{node.reach.value} of {said(found)}", "a text or a set"
            )


def _is_any_row(context: Context, node: syntax.Part) -> bool:
    """Tells whether the row at hand says which row of a data set is meant."""
    if node.reach is not syntax.Reach.ONE or not context.totals:
        return False
    return not is_known(context, node.first)


def _call(context: Context, node: syntax.Call) -> Value:
    """Returns what a call gives: what the text defines wins over what ECL has."""
    if not node.word:
        return _called(context, node, context.value(node.of))
    own = [*islice(context.defined(node.of, node.word), 1)]
    if own and isinstance(own[0], Routine):
        return applied(context, node, own[0])
    if node.word in _BUILT_IN:
        return _built_in(context, node)
    if own or any(list(row.record.find(node.word)) for row in context.rows):
        return _called(context, node, context.value(node.of))
    written = node.of.text if isinstance(node.of, syntax.Name) else node.word
    raise refusal(
        node.of,
        f'"{written}" is outside of what is understood of ECL',
        "records, data sets, transforms, joins and outputs",
        INSTEAD.get(node.word, UNKNOWN),
    )


def _called(context: Context, node: syntax.Call, found: Value) -> Value:
    """Returns a filtered data set, or what a transform gives."""
    match found:
        case DatasetValue() as source:
            return _filtered(context, node, source)
        case RowsValue() as rows:
            return part_of(context, rows, node.arguments)
        case Routine() as routine:
            return applied(context, node, routine)
        case Imported(path) if path[:1] == (LIBRARY,):
            return read_library(context, node, path)
        case TypeValue() if len(node.arguments) == 1:
            return read_cast(context, syntax.Cast(node.place, node.of, *node.arguments))
        case other:
            raise refusal(
                node, f"{said(other)} that is called", "a function or a data set"
            )


def _filtered(context: Context, node: syntax.Call, source: DatasetValue) -> Value:
    """Returns rows of which conditions hold; the row at hand chooses child rows."""
    alone = context.alone()
    try:
        if isinstance(source.index, Index):
            check_filter(alone, node, source)
        return filtered(alone, source, node.arguments)
    except RowAroundError:
        if not context.may_list:
            raise
        return rows_chosen(context, node, source)


def _step(context: Context, node: syntax.Call) -> Value:
    """Returns what a step makes of data sets, or of them and of the row at hand.

    Values of whole data sets gather where a step says so, not around it.
    """
    try:
        return _STEPS[node.word](context.alone(), node)
    except RowAroundError:
        if context.may_list:
            for rows in listed_step(context, node):
                return rows
        raise


def _built_in(context: Context, node: syntax.Call) -> Value:
    """Returns what one of ECL's own names gives."""
    word = node.word
    refuse_wrong_number(node)
    if is_value_of_row(context, node):
        return _evaluated(context, node)
    if word in ACTIONS:
        return Action(node, context.scope)
    if word in aggregates.AGGREGATES:
        return _aggregate(context, node)
    for rows in child_step(context, node):
        return rows
    if word in _STEPS and not _is_condition(context, node):
        return _step(context, node)
    return _OTHERS[word](context, node)


def _evaluated(context: Context, node: syntax.Call) -> Value:
    """Returns EVALUATE(row, value): a value in which the row's fields stand bare."""
    first, second = node.arguments
    match context.value(first):
        case DatasetValue() as source:
            inside = context.alone().inside(row_of_source(source))
            return Total(source, inside.scalar(second))
        case RowValue() as row:
            return context.inside(row).value(second)
        case types.Scalar(text, types.RecordType() as record):
            return context.inside(RowValue(record, text)).value(second)
        case found:
            raise refusal(first, f"EVALUATE of {said(found)}", "a row: rows[n]")


def _either(context: Context, node: syntax.Call) -> Value:
    """Returns what IF, MAP or CASE gives: the rows of one data set, or a value."""
    for rows in read_either(context, node):
        return rows
    return FUNCTIONS[node.word](context, node)


def _record_of(context: Context, node: syntax.Call) -> Value:
    """Returns RECORDOF: the record of rows."""
    return context.record(*node.arguments)


def _as_it_is(context: Context, node: syntax.Call) -> Value:
    """Returns what stands in brackets behind a word that changes nothing."""
    return context.value(node.arguments[0])


def _is_condition(context: Context, node: syntax.Call) -> bool:
    """Tells whether STEPPED stands around a condition, not around rows."""
    if node.word != "stepped":
        return False
    first = node.arguments[0]
    is_operation = isinstance(first, syntax.Operation)
    return is_operation or not isinstance(context.value(first), DatasetValue)


def _aggregate(context: Context, node: syntax.Call) -> Value:
    """Returns COUNT and the like of rows inside a row, or MAX of single values."""
    if not node.arguments:
        raise refusal(node, f"{node.word.upper()} of nothing", "rows")
    match context.value(node.arguments[0]):
        case RowsValue() as rows:
            return aggregates.AGGREGATES[node.word](context, node, rows)
        case DatasetValue() | Dictionary():
            return _total(context, node)
        case types.Scalar(text, types.TableType(record)):
            rows = RowsValue(record, text)
            return aggregates.AGGREGATES[node.word](context, node, rows)
        case types.Scalar(type=types.SetOf()) as items if len(node.arguments) == 1:
            return aggregates.of_set(node, items)
        case _ if node.word in _EXTREMES:
            return _EXTREMES[node.word](context, node)
        case found:
            raise refusal(node, f"{node.word.upper()} of {said(found)}", "rows")


def _total(context: Context, node: syntax.Call) -> Total | types.Scalar:
    """Returns an aggregate of a whole data set, or of its rows and the row at hand."""
    alone = context.alone()
    try:
        source = alone.dataset(node.arguments[0])
        rows = RowsValue(source.record, "")
        return Total(source, aggregates.AGGREGATES[node.word](alone, node, rows))
    except RowAroundError:
        # Inside a list both rows would have the same name.
        if not context.may_list or any(
            row.text == aggregates.ITEM for row in context.rows
        ):
            raise
        source, (first, *others) = context.dataset(node.arguments[0]), node.arguments
        if node.word in _OF_CONDITIONS:
            chosen = syntax.Call(node.place, first, tuple(others))
            whole = replace(node, arguments=(first,))
            rows = rows_chosen(context, chosen, source)
            return aggregates.AGGREGATES[node.word](context, whole, rows)
        rows = listed_beside(context, node, source)
        return aggregates.AGGREGATES[node.word](context, node, rows)


def _join(context: Context, node: syntax.Call) -> DatasetValue:
    """Returns JOIN of two data sets, or of a set of them."""
    if node.arguments:
        first = context.value(node.arguments[0])
        if isinstance(first, SetOfDatasets):
            return read_set_join(context, node, first)
    return read_join(context, node)


def _rows(context: Context, node: syntax.Call) -> Value:
    """Returns ROWS(LEFT) or ROWS(RIGHT): all rows that stand together."""
    word = syntax.word_of(node.arguments[0])
    if word not in _ROWS_OF:
        raise refusal(node, "ROWS of something else", "ROWS(LEFT) or ROWS(RIGHT)")
    name = f"rows({word})"
    if name not in context.sides:
        raise refusal(node, f"ROWS({word.upper()}) here", _ROWS_OF[word])
    return context.sides[name]


_ROWS_OF = {
    "left": "it in a JOIN of a set of data sets, or in ROLLUP(groups, GROUP, ..)",
    "right": "it in a DENORMALIZE(.., GROUP, transform)",
}


_STEPS: Mapping[str, Verb] = {
    **DATASETS,
    **NEIGHBOURS,
    "combine": read_combine,
    "regroup": read_regroup,
    "dataset": read_dataset,
    "denormalize": read_denormalize,
    "normalize": read_normalize,
    "fetch": read_fetch,
    "index": read_index,
    "join": _join,
    "limit": read_limit,
    "mergejoin": read_merge_join,
}
_OTHERS: Mapping[str, Callable[[Context, syntax.Call], Value]] = {
    **FUNCTIONS,
    **dict.fromkeys(_PLAIN, _as_it_is),
    "dictionary": read_dictionary,
    **dict.fromkeys(("if", "map", "case"), _either),
    "rows": _rows,
    "recordof": _record_of,
}
_BUILT_IN = {*ACTIONS, *aggregates.AGGREGATES, *_STEPS, *_OTHERS}
_READERS: Mapping[type, Callable[..., Value]] = {
    syntax.Name: _name,
    syntax.Number: read_number,
    syntax.Text: read_text,
    syntax.Member: read_member,
    syntax.Call: _call,
    syntax.Part: _part,
    syntax.Operation: _operation,
    syntax.Cast: read_cast,
    syntax.Items: _items,
    syntax.Braces: read_braces,
    syntax.Record: read_record,
    syntax.Transform: read_transform,
    syntax.Module: read_module,
    syntax.TypeName: read_type,
    syntax.SetType: read_type,
}
