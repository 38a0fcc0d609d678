"""What a program does: outputs, files, indexes, one after the other.

IF, MAP and CASE of data sets: the rows of one, as conditions over none of them say.

IF becomes one(condition) + other(NOT condition), of which one has no rows; the others
are an IF inside an IF.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace

from dovetail import spec
from dovetail.dialects.ecl import syntax
from dovetail.dialects.ecl.context import Context, is_known, known_value, refusal, said
from dovetail.dialects.ecl.datasets import DATASETS, appended, tabled
from dovetail.dialects.ecl.indexes import build
from dovetail.dialects.ecl.names import record_defined
from dovetail.dialects.ecl.rows import file_name
from dovetail.dialects.ecl.totals import alone, gathering, narrowed, widened
from dovetail.dialects.ecl.types import Field, RecordType, Scalar
from dovetail.dialects.ecl.values import (
    Action,
    DatasetValue,
    RowValue,
    Total,
    Value,
)
from dovetail.expression import Expression

WITHOUT_EFFECT = {
    *("smallsortthreshold", "targetclustertype", "timelimit", "unlimitedresources"),
    *(
        "allowactivityforkeyedjoin",
        "optimizelevel",
        "foldfilter",
        "pickbestengine",
        "outputlimit",
        "freezepersists",
    ),
    *("resourcememory", "joinorder", "spanmultiplecpp", "maxlength", "varfieldaccess"),
    *("checkasserts", "thorkeys", "newchildqueries", "globalautohoist", "globalfold"),
    *("obfuscateoutput", "enableclusterhopping", "outputlimitmb", "multiplepersists"),
    *("clustersize", "countfile", "debugquery", "expandselfjoin", "expandsmartjoin"),
    *("foldassign", "foldconstantdatasets", "foldoptimized", "globaloptimize"),
    *("hoistresourced", "hthormemorylimit", "implicitlinkedchildrows", "linkoptions"),
    *("maxcsvrowsizemb", "maxerrors", "multiplepersistinstances", "optimizediskread"),
    *("optimizegraph", "optimizejoincondition", "optimizeparentaccess"),
    *("optimizeprojects", "optimizespillproject", "percolateconstants"),
    *("percolatefilters", "preventkeyedsplit", "preventsteppedsplit", "priority"),
    *("regressiontest", "resourceconditionalactions", "resourcemaxsockets"),
    *("resourcesequential", "saveecltempfiles", "savecpptempfiles", "splitterspill"),
    *("showmetaingraph", "showrecordcountingraph", "subsortlocaljoinconditions"),
    *("timeactivities", "uselinkedrows", "workunittemporaries", "commonupchildgraphs"),
    *("crccheck", "defaultskewerror", "layouttranslation", "layouttranslationenabled"),
    *("thorconnecttimeout", "maxrunprioritytime", "generatelogicalgraph", "peephole"),
    *(
        "spillmultiplecpp",
        "expandhashjoin",
        "implicitkeyeddenormalize",
        "linkcountedrows",
    ),
}


_MAKERS = {*DATASETS, "dataset", "join", "fetch"}
_CHOICES = {"if", "map", "case"}


def read_either(context: Context, node: syntax.Call) -> Iterator[DatasetValue]:
    """Gives what IF, MAP or CASE has, if these are data sets."""
    condition, *branches = as_if(node).arguments
    if not branches or not _is_dataset(context, branches[0]):
        return
    inside, totals = gathering(context.alone())
    text = inside.condition(condition)
    texts = [text, f"(NOT {text})"]
    parts = []
    for one, held in zip(branches, texts, strict=False):
        source = context.dataset(one)
        step = spec.Filtered(widened(source, totals), Expression(held))
        parts.append(replace(source, step=narrowed(step, source.record, totals)))
    yield appended(parts) if parts[1:] else parts[0]


def as_if(node: syntax.Call) -> syntax.Call:
    """Returns MAP(c => a, .., z) or CASE(x, v => a, .., z) as IF(c, a, IF(.., z))."""
    match node.word, node.arguments:
        case "map", (syntax.Arrow(condition=condition, value=value), *rest):
            others = tuple(rest)
        case "case", (subject, syntax.Arrow(condition=item, value=value), *rest):
            condition = syntax.Operation(node.place, "=", (subject, item))
            others = (subject, *rest)
        case _:
            return node
    last = others[-1]
    inner = replace(node, arguments=others)
    more = as_if(inner) if any(isinstance(it, syntax.Arrow) for it in others) else last
    word = syntax.Name(node.of.place, "IF")
    return syntax.Call(node.place, word, (condition, value, more))


def branches_of(context: Context, node: syntax.Node) -> tuple[syntax.Node, ...]:
    """Returns the condition of IF, MAP or CASE and what follows from it, if actions."""
    if not isinstance(node, syntax.Call) or node.word not in _CHOICES:
        return ()
    found = as_if(node).arguments
    is_action = isinstance(found[1], syntax.Name | syntax.Call) and isinstance(
        context.value(found[1]), Action
    )
    return found if is_action else ()


def _is_dataset(context: Context, node: syntax.Node) -> bool:
    """Tells whether a node is a data set, without a look into its parts."""
    match node:
        case syntax.Call(arguments=(_, first, *_)) if node.word in _CHOICES:
            return _is_dataset(
                context, first.value if isinstance(first, syntax.Arrow) else first
            )
        case syntax.Call() if node.word in _MAKERS:
            return True
        case syntax.Operation(sign="+" | "&", operands=(first, *_)):
            return _is_dataset(context, first)
        case syntax.Call(of=of) | syntax.Part(of=of):
            return _is_dataset(context, of)
        case syntax.Name(word=word):
            found = [*context.defined(node, word)][:1]
            return any(isinstance(one, DatasetValue) for one in found)
        case _:
            return False


_IN_ORDER = {"sequential", "parallel", "ordered", "evaluate"}
_OUTPUT_WORDS = {
    *("overwrite", "all", "thor", "flat", "csv", "json", "xml", "compressed", "expire"),
    *("backup", "noxpath", "update", "cluster", "encrypt", "ordered", "unordered"),
    *("stable", "unstable", "parallel", "algorithm", "__compressed__"),
}


def act(context: Context, node: syntax.Node) -> None:
    """Carries out an action; a data set or a value by itself is put out."""
    choice = branches_of(context, node)
    if choice:
        _either(context, choice)
        return
    value = _shown(context, node)
    if not isinstance(value, Action):
        _put_out(context, node, (value, ""))
        return
    call = value.node
    inside = replace(context, scope=value.scope, rows=(), sides={})
    if isinstance(call, syntax.Call) and call.word in _IN_ORDER:
        for argument in call.arguments:
            if call.word == "evaluate":
                _evaluate(inside, argument)
            elif not isinstance(argument, syntax.Omitted):
                act(inside, argument)
    elif isinstance(call, syntax.Call):
        _ACTIONS[call.word](inside, call)


def is_value_of_row(context: Context, node: syntax.Call) -> bool:
    """Tells whether EVALUATE gives a value of a row, not does something."""
    match node.arguments:
        case (row, _) if node.word == "evaluate":
            return not isinstance(context.value(row), Action)
        case _:
            return False


def _evaluate(context: Context, node: syntax.Node) -> None:
    """Carries out an action, or looks at a value; nothing of it comes out."""
    if isinstance(_shown(context, node), Action):
        act(context, node)


def _either(context: Context, choice: tuple[syntax.Node, ...]) -> None:
    """Carries out one action or another, as the text alone says."""
    condition, *actions = choice
    if not is_known(context, condition):
        raise refusal(
            condition,
            "an action that rows decide about",
            "a condition that the text alone decides",
            "OUTPUT(IF(condition, rows, other rows)) puts out one or the other",
        )
    is_true = context.constant(condition) is True
    for action in actions[:1] if is_true else actions[1:]:
        act(context, action)


def _output(context: Context, node: syntax.Call) -> None:
    """Carries out OUTPUT: rows under a name, or into a file."""
    first, *rest = node.arguments
    value = _shown(context, first)
    _refuse_field(first, value)
    name, file = "", ""
    for option in rest:
        match option:
            case syntax.Omitted():
                continue
            case syntax.Call(arguments=(inside,)) if option.word == "named":
                name = _text(context, inside)
            case _ if syntax.word_of(option) == "extend" or not _is_layout(option):
                _known_word(option)
            case _ if not _is_record(context, option):
                file = _text(context, option)
            case _ if isinstance(value, DatasetValue):
                value = tabled(context, value, option)
            case _:
                raise refusal(option, "a record of a single value", "NAMED('name')")
    if file and isinstance(value, DatasetValue):
        _into_file(context, node, file_name(file), value)
        return
    _put_out(context, first, (value, name))


def _refuse_field(node: syntax.Node, value: Value) -> None:
    """Refuses OUTPUT(rows.field): nothing says of which row."""
    if not isinstance(node, syntax.Member) or not isinstance(value, Scalar):
        return
    if spec.references(Expression(value.text)):
        raise refusal(
            node,
            f'"{node.name}" of many rows',
            "a data set or a value",
            f"OUTPUT(rows, {{{node.name}}}) puts out that column of all of them",
        )


def _shown(context: Context, node: syntax.Node) -> Value:
    """Returns what is put out; values of whole data sets may stand in it."""
    inside, totals = gathering(context)
    value = inside.value(node)
    return alone(value, totals) if totals and isinstance(value, Scalar) else value


def _into_file(
    context: Context, node: syntax.Call, file: str, value: DatasetValue
) -> None:
    """Remembers rows as a file that the text may read again."""
    replaces = any(syntax.word_of(option) == "overwrite" for option in node.arguments)
    if file in context.world.files and not replaces:
        raise refusal(node, f'the file "{file}" a second time', "OVERWRITE, or a name")
    context.world.files[file] = value
    context.world.stored[file] = spec.Output(file, value.step)
    if replaces:
        context.world.overwritten.add(file)


def _is_layout(option: syntax.Node) -> bool:
    """Tells whether an option of OUTPUT says which fields come out, or what file."""
    return isinstance(
        option, syntax.Braces | syntax.Text | syntax.Operation | syntax.Member
    ) or (isinstance(option, syntax.Name) and option.word not in _OUTPUT_WORDS)


def _is_record(context: Context, option: syntax.Node) -> bool:
    """Tells whether an option of OUTPUT is a record; else it is the name of a file."""
    if isinstance(option, syntax.Braces) or any(record_defined(context, option)):
        return True
    return not isinstance(context.value(option), Scalar)


def _known_word(option: syntax.Node) -> None:
    """Refuses an option of OUTPUT that is not known."""
    if syntax.word_of(option) not in _OUTPUT_WORDS:
        raise refusal(
            option, f'"{syntax.words_of(option).upper()}" of OUTPUT', "NAMED('name')"
        )


def _text(context: Context, node: syntax.Node) -> str:
    """Returns a text that is known from the program."""
    found = context.constant(node)
    if isinstance(found, str) and found:
        return found
    raise refusal(node, "a name that is no text", "a text")


def _put_out(context: Context, node: syntax.Node, given: tuple[Value, str]) -> None:
    """Adds rows to what comes out, under a name or the number of the output."""
    value, name = given
    world = context.world
    number = len(world.outputs) + 1
    if name and name in {output.name for output in world.outputs}:
        raise refusal(
            node, f'a second output named "{name}"', "a name of its own for each"
        )
    match value:
        case DatasetValue():
            found = value.step
        case Total():
            found = _total(value, name or f"Result_{number}")
        case Scalar(type=RecordType() as record):
            found = _single_row(node, value, record)
        case Scalar():
            found = _single(node, value, name or f"Result_{number}")
        case RowValue():
            raise refusal(node, "a single row", "a data set or a value")
        case _:
            raise refusal(
                node,
                f"{said(value)} that is put out",
                "a data set or a value",
                "OUTPUT(data set, {field, field}) puts out columns of rows",
            )
    world.outputs.append(spec.Output(name or f"Result {number}", found))


def _total(value: Total, name: str) -> spec.Counted:
    """Returns a value of all rows as a row, its column named after the output."""
    record = RecordType((Field(name, value.value.type),))
    columns = spec.Columns(((name, Expression(value.value.text)),))
    return spec.Counted(spec.Grouped(value.source.step, ()), record.schema, columns)


def _single(node: syntax.Node, value: Scalar, name: str) -> spec.Inline:
    """Returns a single value as a row."""
    record = RecordType((Field(name, value.type),))
    return spec.Inline(record.schema, ((known_value(node, value),),))


def _single_row(node: syntax.Node, value: Scalar, record: RecordType) -> spec.Inline:
    """Returns a row by itself, each of its fields a column."""
    found = known_value(node, value)
    if not isinstance(found, Mapping):
        raise refusal(node, "this as a row", "ROW({values}, record)")
    return spec.Inline(
        record.schema, (tuple(found[one.name] for one in record.fields),)
    )


def _option(context: Context, node: syntax.Call) -> None:
    """Carries out #OPTION: honoured, or said to have no effect; unknown ones not."""
    name, *values = (context.constant(one) for one in node.arguments)
    word = str(name).lower()
    if word in context.world.options:
        context.world.options[word] = _setting(node, values[0])
    elif word in WITHOUT_EFFECT:
        context.world.remarks.append(f"#OPTION('{name}') has no effect")
    else:
        raise refusal(
            node, f"the option '{name}'", f"one of {', '.join(_known(context))}"
        )


def _setting(node: syntax.Call, value: object) -> str:
    """Returns the value of an option that is honoured: a number or a truth."""
    if isinstance(value, int):
        return str(int(value))
    raise refusal(node, f"an option of {value!r}", "a whole number, TRUE or FALSE")


def _known(context: Context) -> Iterable[str]:
    """Returns the names of options."""
    return (*context.world.options, *sorted(WITHOUT_EFFECT))


def _remarked(context: Context, node: syntax.Call) -> None:
    """Carries out #WORKUNIT and #ONWARNING, which change no rows."""
    context.world.remarks.append(f"{node.word.upper()} has no effect")


_ACTIONS: Mapping[str, Callable[[Context, syntax.Call], None]] = {
    "output": _output,
    "build": build,
    "buildindex": build,
    "#option": _option,
    "#workunit": _remarked,
    "#onwarning": _remarked,
}
ACTIONS = {*_IN_ORDER, *_ACTIONS}
