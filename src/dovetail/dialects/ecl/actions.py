"""What a program does: outputs, files, indexes, one after the other.

IF, MAP and CASE of data sets: the rows of one, as conditions over none of them say.

IF becomes one(condition) + other(NOT condition), of which one has no rows; the others
are an IF inside an IF.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial

from dovetail import spec
from dovetail.dialects.ecl import datasets, syntax, trees, types, values
from dovetail.dialects.ecl.context import (
    Context,
    is_known,
    known_value,
    refusal,
    said,
)
from dovetail.dialects.ecl.indexes import build
from dovetail.dialects.ecl.names import record_defined
from dovetail.dialects.ecl.rows import cells_of, file_name
from dovetail.dialects.ecl.totals import as_row, as_total, gathering, narrowed, widened
from dovetail.expression.tables import entered

# Whether IF has data sets must be known before its parts are read: inside a transform
# they would be read as values. So it is told from what stands in front.
CHOICES = ("if", "map", "case", "choose")
"""What has one of several values, data sets or actions."""


def read_either(context: Context, node: syntax.Call) -> Iterator[values.DatasetValue]:
    """Gives what IF, MAP or CASE has, if these are data sets."""
    condition, *branches = _as_if(node).arguments
    if not branches or not _is_dataset(context, branches[0]):
        return
    # What data sets decide is no constant of a program: the condition stands beside
    # each row of both branches, and one of the two filters lets none pass.
    inside, totals = gathering(context.outside_row())
    holds = inside.condition(condition)
    fails = trees.sql("NOT x", x=holds)
    parts = []
    # Without a second branch there are no rows where the condition does not hold.
    for one, held in zip(branches, (holds, fails), strict=False):
        source = context.dataset(one)
        step = spec.Filtered(widened(source, totals), trees.expressed(held))
        parts.append(replace(source, step=narrowed(step, source.record, totals)))
    yield datasets.appended(node, parts) if parts[1:] else parts[0]


def _as_if(node: syntax.Call) -> syntax.Call:
    """Returns MAP(c => a, .., z) or CASE(x, v => a, .., z) as IF(c, a, IF(.., z)).

    CHOOSE(x, a, b, z) is CASE(x, 1 => a, 2 => b, z).
    """
    match node.word, node.arguments:
        case "choose", (subject, *branches, default):
            arrows = (
                syntax.Arrow(it.place, syntax.Number(it.place, str(at)), it)
                for at, it in enumerate(branches, 1)
            )
            word = syntax.Name(node.of.place, "CASE")
            chosen = replace(node, of=word, arguments=(subject, *arrows, default))
            return _as_if(chosen) if branches else node
        case "map", (syntax.Arrow(condition=condition, value=value), *rest):
            others = tuple(rest)
        case "case", (subject, syntax.Arrow(condition=item, value=value), *rest):
            condition = syntax.Operation(node.place, "=", (subject, item))
            others = (subject, *rest)
        case _:
            return node
    # The first of CASE is what is compared, so that it is no other value.
    last = others[1:] if node.word == "case" else others
    if any(isinstance(it, syntax.Arrow) for it in last):
        last = (_as_if(replace(node, arguments=others)),)
    for one in last[1:]:
        raise refusal(one, "a second value where no condition holds", "one")
    word = syntax.Name(node.of.place, "IF")
    return syntax.Call(node.place, word, (condition, value, *last))


def _is_dataset(context: Context, node: syntax.Node) -> bool:
    """Tells whether a node is a data set, without a look into its parts."""

    def is_child(one: syntax.Node) -> bool:
        if not isinstance(one, syntax.Name | syntax.Member | syntax.Call):
            return False
        match context.value(one):
            case values.RowsValue() | types.Scalar(type=types.TableType()):
                return True
            case _:
                return False

    match node:
        case syntax.Call(arguments=(_, first, *_)) if node.word in CHOICES:
            return _is_dataset(
                context, first.value if isinstance(first, syntax.Arrow) else first
            )
        case syntax.Call() if node.word in datasets.DATASETS:
            # Of child rows a step makes child rows, which are a value.
            return not (context.has_row and any(map(is_child, node.arguments[:1])))
        case syntax.Operation(sign="+" | "&", operands=(first, *_)):
            return _is_dataset(context, first)
        # One row of several is a value where there is a row at hand.
        case syntax.Part(reach=syntax.Reach.ONE) if context.has_row:
            return False
        case syntax.Call(of=of) | syntax.Part(of=of):
            return _is_dataset(context, of)
        case syntax.Name(word=word):
            found = [*context.defined(node, word)][:1]
            return any(isinstance(one, values.DatasetValue) for one in found)
        case _:
            return False


_OUTPUT_WORDS = {
    *("overwrite", "all", "thor", "flat", "csv", "json", "xml", "compressed", "expire"),
    *("backup", "noxpath", "update", "cluster", "encrypt", "ordered", "unordered"),
    *("stable", "unstable", "parallel", "algorithm", "__compressed__"),
}


# What says which fields come out, or into what file.
_LAYOUTS = (syntax.Braces, syntax.Text, syntax.Operation, syntax.Member, syntax.Name)
_ACTIONS: dict[str, Callable[[Context, syntax.Call], None]] = {
    "build": build,
    "buildindex": build,
}
_action = partial(entered, _ACTIONS)


def act(context: Context, node: syntax.Node) -> None:
    """Carries out an action; a data set or a value by itself is put out."""
    if isinstance(node, syntax.Call) and node.word in CHOICES:
        given = _as_if(node).arguments
        # IF of data sets is a value like others; only IF of actions is decided here.
        named = [it for it in given[1:2] if isinstance(it, syntax.Name | syntax.Call)]
        if any(isinstance(context.value(it), values.Action) for it in named):
            _choose(context, *given)
            return
    match node:
        case syntax.Call(arguments=(first, *_)) if node.word == "assert":
            # Of rows it is a value, of a condition something to do.
            if not _is_dataset(context, first):
                gathering(context)[0].condition(first)
                datasets.pass_assert(context, node)
                return
    value = _shown(context, node)
    if not isinstance(value, values.Action):
        _put_out(context, node, value)
        return
    if isinstance(value.node, syntax.Call):
        # Names in it mean what they mean where it stands.
        inside = replace(context, scope=value.scope, rows=(), sides={})
        _ACTIONS[value.node.word](inside, value.node)


@_action("evaluate")
def _evaluate(context: Context, node: syntax.Call) -> None:
    """Carries out what is an action; a value is only looked at."""
    for argument in node.arguments:
        if isinstance(_shown(context, argument), values.Action):
            act(context, argument)


# PARALLEL in the order of the text, too: that changes nothing of what comes out.
@_action("sequential", "parallel", "ordered")
def _in_order(context: Context, node: syntax.Call) -> None:
    """Carries out several actions, one after the other."""
    for argument in node.arguments:
        if not isinstance(argument, syntax.Omitted):
            act(context, argument)


def _choose(context: Context, condition: syntax.Node, *branches: syntax.Node) -> None:
    """Carries out one action or another, as the text alone says."""
    if not is_known(context, condition):
        raise refusal(
            condition,
            "an action that rows decide about",
            "a condition that the text alone decides",
            "OUTPUT(IF(condition, rows, other rows)) puts out one or the other",
        )
    for other in branches[2:]:
        raise refusal(other, "a third action", "IF(condition, action, other action)")
    is_true = context.constant(condition) is True
    for action in branches[:1] if is_true else branches[1:]:
        act(context, action)


@_action("output")
def _output(context: Context, node: syntax.Call) -> None:
    """Carries out OUTPUT: rows under a name, or into a file."""
    first, *rest = node.arguments
    value = _shown(context, first)
    _refuse_field(first, value)
    name, file = "", ""
    for option in rest:
        # The order matters: a word of OUTPUT is one before it may be a file's name,
        # and only what is no record is a name, since a name may be computed.
        match option:
            case syntax.Omitted():
                continue
            case syntax.Call(arguments=(inside,)) if option.word == "named":
                name = _text(context, inside)
            case _ if syntax.word_of(option) in _OUTPUT_WORDS:
                continue
            case _ if syntax.word_of(option) == "extend" or not isinstance(
                option, _LAYOUTS
            ):
                words = syntax.words_of(option).upper()
                raise refusal(option, f'"{words}" of OUTPUT', "NAMED('name')")
            case _ if not _is_record(context, option):
                file = _text(context, option)
            case _ if isinstance(value, values.DatasetValue):
                value = datasets.tabled(context, value, option)
            case _:
                raise refusal(option, "a record of a single value", "NAMED('name')")
    if file and isinstance(value, values.DatasetValue):
        _into_file(context, node, value, file=file_name(file))
    else:
        _put_out(context, first, value, name=name)


def _refuse_field(node: syntax.Node, value: values.Value) -> None:
    """Refuses OUTPUT(rows.field): nothing says of which row."""
    if not isinstance(node, syntax.Member) or not isinstance(value, types.Scalar):
        return
    if any(trees.columns_of(value.tree)):
        raise refusal(
            node,
            f'"{node.name}" of many rows',
            "a data set or a value",
            f"OUTPUT(rows, {{{node.name}}}) puts out that column of all of them",
        )


def _shown(context: Context, node: syntax.Node) -> values.Value:
    """Returns what is put out; values of whole data sets may stand in it."""
    inside, totals = gathering(context)
    match inside.value(node):
        case values.RowValue(record, tree) | types.Scalar(
            tree, types.RecordType() as record
        ) if totals:
            return as_row(record, tree, totals)
        case types.Scalar() as value if totals:
            return as_total(value, totals)
        case found:
            return found


def _into_file(
    context: Context, node: syntax.Call, value: values.DatasetValue, *, file: str
) -> None:
    """Remembers rows as a file that the text may read again."""
    replaces = any(syntax.word_of(option) == "overwrite" for option in node.arguments)
    if file in context.world.files and not replaces:
        raise refusal(node, f'the file "{file}" a second time', "OVERWRITE, or a name")
    context.world.files[file] = value
    context.world.stored[file] = spec.Output(file, value.step)
    if replaces:
        context.world.overwritten.add(file)


def _is_record(context: Context, option: syntax.Node) -> bool:
    """Tells whether an option of OUTPUT is a record; else it is the name of a file."""
    if isinstance(option, syntax.Braces) or any(record_defined(context, option)):
        return True
    return not isinstance(context.value(option), types.Scalar)


def _text(context: Context, node: syntax.Node) -> str:
    """Returns a text that is known from the program."""
    found = context.constant(node)
    if isinstance(found, str) and found:
        return found
    raise refusal(node, "a name that is no text", "a text")


def _put_out(
    context: Context, node: syntax.Node, value: values.Value, *, name: str = ""
) -> None:
    """Adds rows to what comes out, under a name or the number of the output."""
    world = context.world
    number = len(world.outputs) + 1
    if name and name in {output.name for output in world.outputs}:
        raise refusal(
            node, f'a second output named "{name}"', "a name of its own for each"
        )
    # The column of a single value is named after the output.
    column = name or f"Result_{number}"
    found: spec.Step
    match value:
        case values.DatasetValue():
            found = value.step
        case values.Total(source, total):
            record = types.RecordType((types.Field(column, total.type),))
            columns = trees.select([(column, total.tree)])
            # Groups end here: the value is one of all rows.
            every = spec.Grouped(source.step, ())
            found = spec.Counted(every, record.schema, columns)
        case types.Scalar(type=types.RecordType() as record):
            found = spec.Inline(record.schema, (cells_of(node, value),))
        case types.Scalar():
            record = types.RecordType((types.Field(column, value.type),))
            found = spec.Inline(record.schema, ((known_value(node, value),),))
        case values.RowValue():
            raise refusal(node, "a single row", "a data set or a value")
        case _:
            raise refusal(
                node,
                f"{said(value)} that is put out",
                "a data set or a value",
                "OUTPUT(data set, {field, field}) puts out columns of rows",
            )
    world.outputs.append(spec.Output(name or f"Result {number}", found))


@_action("#option")
def _option(context: Context, node: syntax.Call) -> None:
    """Carries out #OPTION: honoured, or said to have no effect; unknown ones not."""
    name, *found = (context.constant(one) for one in node.arguments)
    word, honoured = str(name).lower(), context.world.options
    if word in honoured:
        if not isinstance(found[0], int) or found[0] < 0:
            expected = "a whole number, 0 or more, TRUE or FALSE"
            raise refusal(node, f"an option of {found[0]!r}", expected)
        honoured[word] = str(int(found[0]))
    elif word in _WITHOUT_EFFECT:
        context.world.remarks.append(f"#OPTION('{name}') has no effect")
    else:
        known = ", ".join((*honoured, *sorted(_WITHOUT_EFFECT)))
        raise refusal(node, f"the option '{name}'", f"one of {known}")


@_action("#workunit", "#onwarning")
def _remarked(context: Context, node: syntax.Call) -> None:
    """Carries out #WORKUNIT and #ONWARNING, which change no rows."""
    context.world.remarks.append(f"{node.word.upper()} has no effect")


# Options that say how a cluster works.
_OF_CLUSTERS = """
    allowactivityforkeyedjoin checkasserts clustersize commonupchildgraphs countfile
    crccheck debugquery defaultskewerror enableclusterhopping expandhashjoin
    expandselfjoin expandsmartjoin foldassign foldconstantdatasets foldfilter
    foldoptimized freezepersists generatelogicalgraph globalautohoist globalfold
    globaloptimize hoistresourced hthormemorylimit implicitkeyeddenormalize
    implicitlinkedchildrows joinorder layouttranslation layouttranslationenabled
    linkcountedrows linkoptions maxcsvrowsizemb maxerrors maxlength maxrunprioritytime
    multiplepersistinstances multiplepersists newchildqueries obfuscateoutput
    optimizediskread optimizegraph optimizejoincondition optimizelevel
    optimizeparentaccess optimizeprojects optimizespillproject outputlimit outputlimitmb
    peephole percolateconstants percolatefilters pickbestengine preventkeyedsplit
    preventsteppedsplit priority regressiontest resourceconditionalactions
    resourcemaxsockets resourcememory resourcesequential savecpptempfiles
    saveecltempfiles showmetaingraph showrecordcountingraph smallsortthreshold
    spanmultiplecpp spillmultiplecpp splitterspill subsortlocaljoinconditions
    targetclustertype thorconnecttimeout thorkeys timeactivities timelimit
    unlimitedresources uselinkedrows varfieldaccess workunittemporaries
"""
_WITHOUT_EFFECT = frozenset(_OF_CLUSTERS.split())
ACTIONS = frozenset(_ACTIONS)
