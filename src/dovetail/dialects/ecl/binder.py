"""What a node is, by its kind: one table of who answers for what.

Rows that only the row at hand can choose are none of a step of the program: where a
step meets that row (`RowAroundError`), the same words are read once more as a list
beside the row, if there is a place for one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from itertools import islice

from dovetail.dialects.ecl import (
    actions,
    aggregates,
    children,
    combine,
    datasets,
    denormalize,
    dictionaries,
    functions,
    indexes,
    joins,
    library,
    limits,
    names,
    records,
    rows,
    scalars,
    set_joins,
    syntax,
    transforms,
    trees,
    types,
    values,
)
from dovetail.dialects.ecl.catalog import LIBRARY
from dovetail.dialects.ecl.context import (
    Context,
    RowAroundError,
    UnknownNameError,
    is_known,
    refusal,
    said,
)
from dovetail.expression.tables import entered

Reader = Callable[..., values.Value]
# Who answers for a kind of node, and for a word of the language with its arguments; the
# functions below enter themselves.
_READERS: dict[type, Reader] = {
    syntax.Number: scalars.read_number,
    syntax.Text: scalars.read_text,
    syntax.Member: names.read_member,
    syntax.Cast: scalars.read_cast,
    syntax.Braces: records.read_braces,
    syntax.Record: records.read_record,
    syntax.Transform: transforms.read_transform,
    syntax.Module: names.read_module,
    syntax.TypeName: records.read_type,
    syntax.SetType: records.read_type,
}

# Of a cluster there is one part: what a job sees of it is the whole.
_CONSTANTS = {
    "workunit": types.Scalar(trees.literal("W"), types.Letters(1)),
    "clustersize": types.whole(trees.literal(1)),
}
# What stands behind their rows are conditions.
_OF_CONDITIONS = {"count", "exists"}
# What is made of values that are listed, as SUM(1, 2).
_OF_VALUES = {*_OF_CONDITIONS, "sum", "ave"}
# What is made of whole data sets, each a step of the program: known to all from here.
_STEPS = datasets.DATASETS
_STEPS |= {
    "combine": combine.read_combine,
    "regroup": combine.read_regroup,
    "dataset": rows.read_dataset,
    "denormalize": denormalize.read_denormalize,
    "normalize": denormalize.read_normalize,
    "fetch": indexes.read_fetch,
    "index": indexes.read_index,
    "catch": limits.read_catch,
    "enth": limits.read_enth,
    "limit": limits.read_limit,
    "nonempty": limits.read_nonempty,
    "mergejoin": set_joins.read_merge_join,
}
_BUILT_IN: dict[str, Reader] = {
    **functions.FUNCTIONS,
    "dictionary": dictionaries.read_dictionary,
    "enum": records.read_enum,
    "recordof": lambda context, node: context.record(*node.arguments),
}
_reads, _answers = partial(entered, _READERS), partial(entered, _BUILT_IN)


def bind(context: Context, node: syntax.Node) -> values.Value:
    """Returns what a node is."""
    reader = _READERS.get(type(node))
    if reader:
        return reader(context, node)
    if isinstance(node, syntax.Definition):
        raise refusal(
            node,
            "a value for a name here",
            "a value",
            "arguments have names in calls of the text's own functions alone",
        )
    if isinstance(node, syntax.Omitted):
        raise refusal(node, "an argument that is left out", "one between the commas")
    calls = isinstance(node, syntax.Sequence) and isinstance(node.parts[0], syntax.Call)
    raise refusal(
        node,
        "this here",
        "a value, a data set, or an action",
        "an action ends with a semicolon"
        if calls
        else "between two values stands a comma, or an operator that ECL has",
    )


@_reads(syntax.Name)
def _name(context: Context, node: syntax.Name) -> values.Value:
    """Returns what a name is; SKIP is nothing by itself."""
    if node.word in _CONSTANTS:
        return _CONSTANTS[node.word]
    if node.word == "skip":
        raise refusal(node, "SKIP here", "SKIP in an assignment of a transform")
    match names.read_name(context, node):
        # A function or a transform without parameters is called by its name alone.
        case (
            values.Routine(
                parameters=(), body=syntax.Function() | syntax.Transform()
            ) as routine
        ):
            call = syntax.Call(node.place, node, ())
            return transforms.applied(context, call, routine)
        case found:
            return found


@_reads(syntax.Operation)
def _operation(context: Context, node: syntax.Operation) -> values.Value:
    """Returns what an operator gives: data sets or records put together, or a value."""
    for record in records.record_sum(context, node):
        return record
    if node.sign == "IN" and not isinstance(node.operands[1], syntax.Items):
        found = context.value(node.operands[1])
        if isinstance(found, values.Dictionary):
            return dictionaries.within(context, node, found)
    if node.sign in {"+", "&"}:
        for together in rows.child_sum(context, node):
            return together
        parts = [context.value(one) for one in node.operands]
        sets = []
        for one, operand in zip(parts, node.operands, strict=True):
            match one:
                case values.DatasetValue():
                    sets.append(one)
                # The first says what is put together; behind it a row may stand.
                case types.Scalar(type=types.RecordType()) if one is not parts[0]:
                    sets.append(rows.of_row(operand, one))
        if len(sets) == len(parts):
            return datasets.appended(node, sets)
    return scalars.read_operation(context, node)


@_reads(syntax.Items)
def _items(context: Context, node: syntax.Items) -> values.Value:
    """Returns a set: of data sets, or of values."""
    found = [context.value(one) for one in node.items]
    sets = [one for one in found if isinstance(one, values.DatasetValue)]
    if sets and len(sets) == len(found):
        return values.SetOfDatasets(tuple(sets))
    return scalars.read_items(context, node)


@_reads(syntax.Part)
def _part(context: Context, node: syntax.Part) -> values.Value:
    """Returns a part: rows of a data set, a row of rows, letters, or an item."""
    is_one = node.reach is syntax.Reach.ONE
    match context.value(node.of):
        # The row at hand says which row of all it is: all stand beside it as a list.
        case values.DatasetValue() as source if (
            is_one and context.totals and not is_known(context, node.first)
        ):
            every = aggregates.together(source.record)
            listed = context.gathered(node, values.Total(source, every))
            place = context.typed(node.first, types.INTEGER).tree
            beside = values.RowsValue.of(source.record, listed.tree)
            return aggregates.nth(beside, place)
        case values.DatasetValue() as source:
            return datasets.chosen(context, node, source)
        case values.Dictionary() as dictionary if is_one:
            return dictionaries.entry_at(context, node, dictionary)
        case values.RowsValue() as inside if is_one:
            place = context.typed(node.first, types.INTEGER).tree
            return aggregates.nth(inside, place)
        case values.Total() as total if context.totals:
            return scalars.read_letters(context, node, context.gathered(node, total))
        case types.Scalar() as value:
            return scalars.read_letters(context, node, value)
        case found:
            raise refusal(
                node, f"{node.reach.value} of {said(found)}", "a text or a set"
            )


# A FUNCTION in brackets, as a FUNCTIONMACRO is: what stands around it stands inside.
@_reads(syntax.Function)
def _in_place(context: Context, node: syntax.Function) -> values.Value:
    """Returns what a FUNCTION gives that has no name."""
    transforms.refuse_actions(node)
    scope = values.scope_of(node.statements, (context.scope,))
    scope.sides = context.sides
    return replace(context, scope=scope).value(node.result)


@_reads(syntax.Call)
def _call(context: Context, node: syntax.Call) -> values.Value:
    """Returns what a call gives: what the text defines wins over what ECL has."""
    if isinstance(node.of, syntax.Function):
        return context.value(node.of)
    if not node.word:
        return _called(context, node, context.value(node.of))
    own = [*islice(context.defined(node.of, node.word), 1)]
    if own and isinstance(own[0], values.Routine):
        return transforms.applied(context, node, own[0])
    if node.word in _BUILT_IN:
        functions.refuse_wrong_number(node)
        if node.word in _STEPS:
            datasets.check_ways(context, node)
        # Of the rows inside a row a step makes another list, no step of the program.
        for listed in children.child_step(context, node):
            return listed
        return _BUILT_IN[node.word](context, node)
    if own or any(list(row.record.find(node.word)) for row in context.rows):
        return _called(context, node, context.value(node.of))
    names.refuse_own(context, node.of, node.word)
    written = node.of.text if isinstance(node.of, syntax.Name) else node.word
    raise refusal(
        node.of,
        f'"{written}" is outside of what is understood of ECL',
        "records, data sets, transforms, joins and outputs",
        _INSTEAD.get(node.word, _UNKNOWN),
    )


def _called(context: Context, node: syntax.Call, found: values.Value) -> values.Value:
    """Returns a filtered data set, or what a transform gives."""
    match found:
        case values.DatasetValue() as source:
            return _filtered(context, node, source)
        case values.RowsValue() as inside:
            return aggregates.filtered(context, inside, node.arguments)
        case values.Routine() as routine:
            return transforms.applied(context, node, routine)
        case values.Imported(path) if path[:1] == (LIBRARY,):
            return library.read_library(context, node, path)
        case values.TypeValue() if len(node.arguments) == 1:
            cast = syntax.Cast(node.place, node.of, *node.arguments)
            return scalars.read_cast(context, cast)
        case other:
            raise refusal(
                node, f"{said(other)} that is called", "a function or a data set"
            )


def _filtered(
    context: Context, node: syntax.Call, source: values.DatasetValue
) -> values.Value:
    """Returns rows of which conditions hold; the row at hand chooses child rows."""
    outside = context.outside_row()
    try:
        if isinstance(source.index, values.Index):
            indexes.check_filter(outside, node, source)
        return datasets.filtered(outside, source, node.arguments)
    except RowAroundError:
        if not context.may_list:
            raise
        return children.rows_chosen(context, node, source)


@_answers("join", *_STEPS)
def _step(context: Context, node: syntax.Call) -> values.Value:
    """Returns what a step makes of data sets, or of them and of the row at hand.

    Values of whole data sets gather where a step says so, not around it.
    """
    try:
        return _STEPS[node.word](context.outside_row(), node)
    except RowAroundError:
        if context.may_list:
            for listed in children.listed_step(context, node):
                return listed
        raise


@_answers("stepped")
def _stepped(context: Context, node: syntax.Call) -> values.Value:
    """Returns STEPPED: around a condition that condition, around rows their order."""
    first = node.arguments[0]
    is_condition = isinstance(first, syntax.Operation) or not isinstance(
        context.value(first), values.DatasetValue
    )
    return (functions.FUNCTIONS["stepped"] if is_condition else _step)(context, node)


@_answers(*actions.ACTIONS)
def _action(context: Context, node: syntax.Call) -> values.Action:
    """Returns something to do, which nobody does as long as it is only named."""
    return values.Action(node, context.scope)


@_answers("nofold", "global")
def _apart(context: Context, node: syntax.Call) -> values.Value:
    """Returns NOFOLD and GLOBAL, which only say where a value is computed.

    Rows of an INDEX that are computed apart are a data set: no JOIN looks them up.
    """
    found = context.value(node.arguments[0])
    if isinstance(found, values.DatasetValue):
        return replace(found, index=values.NoIndex())
    return found


@_answers("nothor", "thisnode", "allnodes")
def _anywhere(context: Context, node: syntax.Call) -> values.Value:
    """Returns an action or rows as they are, on whichever nodes HPCC makes them."""
    return context.value(node.arguments[0])


# Such as #IFDEFINED(root.size, 10)
@_answers("#ifdefined")
def _if_defined(context: Context, node: syntax.Call) -> values.Value:
    """Returns what a name is, or something else where nothing defines it."""
    try:
        return context.value(node.arguments[0])
    except UnknownNameError:
        for other in node.arguments[1:]:
            return context.value(other)
        raise


@_answers("evaluate")
def _evaluated(context: Context, node: syntax.Call) -> values.Value:
    """Returns EVALUATE(row, value): a value in which the row's fields stand bare."""
    first, *rest = node.arguments or (node,)
    # Of actions EVALUATE is one, too.
    if not rest or isinstance(context.value(first), values.Action):
        return _action(context, node)
    if rest[1:]:
        raise refusal(node, f"EVALUATE with {len(rest) + 1} arguments", "2")
    (second,) = rest
    match context.value(first):
        case values.DatasetValue() as source:
            inside = context.outside_row().inside(datasets.row_of_source(source))
            return values.Total(source, inside.scalar(second))
        case values.RowValue() as row:
            return context.inside(row).value(second)
        case types.Scalar(tree, types.RecordType() as record):
            return context.inside(values.RowValue(record, tree)).value(second)
        case found:
            raise refusal(first, f"EVALUATE of {said(found)}", "a row: rows[n]")


@_answers(*aggregates.AGGREGATES)
def _aggregate(context: Context, node: syntax.Call) -> values.Value:
    """Returns COUNT and the like of rows inside a row, or MAX of single values."""
    word = node.word
    if not node.arguments:
        raise refusal(node, f"{word.upper()} of nothing", "rows")
    match context.value(node.arguments[0]):
        case values.RowsValue() as inside:
            return aggregates.AGGREGATES[word](context, node, inside)
        case values.DatasetValue() | values.Dictionary():
            return _total(context, node)
        case types.Scalar(tree, types.TableType(record)):
            inside = values.RowsValue.of(record, tree)
            return aggregates.AGGREGATES[word](context, node, inside)
        case types.Scalar(type=types.SetOf()) as items if len(node.arguments) == 1:
            return aggregates.of_set(context, node, items)
        case _ if word in functions.EXTREMES:
            return functions.extreme(context, node)
        case types.Scalar() if word in _OF_VALUES:
            listed = syntax.Items(node.place, node.arguments)
            return aggregates.of_set(context, node, scalars.read_items(context, listed))
        case found:
            raise refusal(node, f"{word.upper()} of {said(found)}", "rows")


def _total(context: Context, node: syntax.Call) -> values.Total | types.Scalar:
    """Returns an aggregate of a whole data set, or of its rows and the row at hand."""
    aggregate, outside = aggregates.AGGREGATES[node.word], context.outside_row()
    try:
        source = outside.dataset(node.arguments[0])
        every = values.RowsValue.together(source.record)
        return values.Total(source, aggregate(outside, node, every))
    except RowAroundError:
        if not context.may_list:
            raise
        source, (first, *others) = context.dataset(node.arguments[0]), node.arguments
        if node.word in _OF_CONDITIONS:
            # COUNT(rows, condition) is COUNT(rows(condition)): keys in it find rows.
            chosen = syntax.Call(node.place, first, tuple(others))
            listed = children.rows_chosen(context, chosen, source)
            return aggregate(context, replace(node, arguments=(first,)), listed)
        listed = children.listed_beside(context, node, source)
        return aggregate(context, node, listed)


@entered(_STEPS, "join")
def _join(context: Context, node: syntax.Call) -> values.DatasetValue:
    """Returns JOIN of two data sets, or of a set of them."""
    if node.arguments:
        first = context.value(node.arguments[0])
        if isinstance(first, values.SetOfDatasets):
            return set_joins.read_set_join(context, node, first)
    return joins.read_join(context, node)


# RANGE([a, b, c], [1, 3]) is [a, c].
@_answers("range")
def _range(context: Context, node: syntax.Call) -> values.SetOfDatasets:
    """Returns RANGE: those of a set of data sets that stand at some places."""
    first, second = node.arguments
    found, places = context.value(first), context.constant(second)
    if not isinstance(found, values.SetOfDatasets):
        raise refusal(first, f"RANGE of {said(found)}", "a set of data sets, [a, b]")
    most = len(found.datasets)
    if not isinstance(places, list) or not {*places} <= {*range(1, most + 1)}:
        expected = f"a set of places from 1 to {most}"
        raise refusal(second, "RANGE of other places than there are", expected)
    return values.SetOfDatasets(tuple(found.datasets[one - 1] for one in places))


@_answers(*actions.CHOICES)
def _either(context: Context, node: syntax.Call) -> values.Value:
    """Returns what IF and the like give: the rows of one data set, or a value."""
    for chosen in actions.read_either(context, node):
        return chosen
    return functions.FUNCTIONS[node.word](context, node)


_ROWS_OF = {
    "left": "it in a JOIN of a set of data sets, ROLLUP(groups, GROUP, ..), or HAVING",
    "right": "it in a DENORMALIZE(.., GROUP, transform)",
}


@_answers("rows")
def _rows(context: Context, node: syntax.Call) -> values.Value:
    """Returns ROWS(LEFT) or ROWS(RIGHT): all rows that stand together."""
    word = syntax.word_of(node.arguments[0])
    if word not in _ROWS_OF:
        raise refusal(node, "ROWS of something else", "ROWS(LEFT) or ROWS(RIGHT)")
    name = f"rows({word})"
    if name not in context.sides:
        raise refusal(node, f"ROWS({word.upper()}) here", _ROWS_OF[word])
    return context.sides[name]


# What to do instead of a call that ECL has and we do not.
_UNKNOWN = (
    "a name with brackets is a function, a transform, or a data set with a filter"
)
_COLUMN = "compute the column before the program"
_PARSED = "read the text into columns before the program"
_INSTEAD: Mapping[str, str] = {
    "choosesets": "CHOOSEN(rows(condition), n) + CHOOSEN(rows(other), m)",
    "transfer": _COLUMN,
    "when": "SEQUENTIAL(action, OUTPUT(rows))",
    "apply": "OUTPUT(rows)",
    "fail": "LIMIT(n, FAIL(code, 'message')), or a field of ONFAIL's transform",
    "loop": "write the steps one after the other",
    "graph": "write the steps one after the other",
    **dict.fromkeys(("hashmd5", "realformat"), _COLUMN),
    **dict.fromkeys(("parse", "xmldecode", "fromxml", "fromjson"), _PARSED),
    **dict.fromkeys(("soapcall", "httpcall", "pipe"), _PARSED),
    "#stored": "write the value into its definition",
    "#constant": "write the value into its definition",
}
