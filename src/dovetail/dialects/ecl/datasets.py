"""Data sets and what is done with one of them: each becomes a step of the program."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import partial

from dovetail import spec
from dovetail.dialects.ecl import syntax, trees, types, values
from dovetail.dialects.ecl.context import Context, as_type, is_word, refusal
from dovetail.dialects.ecl.names import record_defined
from dovetail.dialects.ecl.records import read_record, record_with
from dovetail.dialects.ecl.scalars import compared
from dovetail.dialects.ecl.totals import gathering, narrowed, widened
from dovetail.expression.tables import entered
from dovetail.schema import AtomicType

Verb = Callable[[Context, syntax.Call], values.DatasetValue]
COUNTER = types.whole(trees.of_pair("counter"))
# What is made of a data set, by its name in a text.
DATASETS: dict[str, Verb] = {}
verb = partial(entered, DATASETS)
# They say how an engine of HPCC goes about it, and change no rows.
PASSED_OVER = {
    *("local", "stable", "unstable", "parallel", "ordered", "unordered", "many"),
    *("skew", "threshold", "algorithm", "hash", "few", "merge", "joined", "hint"),
}


def is_passed_over(node: syntax.Node) -> bool:
    """Tells whether an option only says how; HASH of a value is that value."""
    is_value = isinstance(node, syntax.Call) and node.word == "hash"
    return syntax.word_of(node) in PASSED_OVER and not is_value


# Which algorithm sorts, by the names that HPCC has for them.
_SORTED_BY = {"algorithm", "stable", "unstable"}
_SORTERS = {
    *("quicksort", "parquicksort", "taskquicksort", "mergesort", "parmergesort"),
    *("heapsort", "insertionsort", "spillingquicksort"),
}


def check_ways(context: Context, node: syntax.Call) -> None:
    """Refuses PARALLEL of no number, and an algorithm that HPCC does not have."""
    for one in node.arguments:
        match one:
            case syntax.Call(arguments=(value,)) if one.word == "parallel":
                context.count(value, 1)
            case syntax.Call(arguments=(value,)) if one.word in _SORTED_BY:
                found = context.constant(value)
                if str(found).lower() not in _SORTERS:
                    known = ", ".join(sorted(_SORTERS))
                    told = f"the algorithm {found!r}"
                    raise refusal(value, told, f"one of {known}")


def row_at(record: types.RecordType, letter: str = "l") -> values.RowValue:
    """Returns the row of a side."""
    return values.RowValue(record, record.side(letter))


def row_of_source(source: values.DatasetValue) -> values.RowValue:
    """Returns a row of a data set, which knows that it is one of these."""
    return replace(row_at(source.record), of=source.step)


def row_scope(context: Context, row: values.RowValue) -> Context:
    """Returns the context inside a data set: its fields stand bare, LEFT is its row."""
    return context.inside(row).with_sides({"left": row})


# STEPPED of an index: in the order of these fields.
@verb("sort", "stepped")
def _sort(context: Context, node: syntax.Call) -> values.DatasetValue:
    """Returns SORT: by fields or values, downwards behind a minus."""
    first, *rest = node.arguments
    source = context.dataset(first)
    step = spec.Ordered(source.step, tuple(orders(context, source.record, rest)))
    return replace(source, step=step)


def orders(
    context: Context, record: types.RecordType, nodes: Iterable[syntax.Node]
) -> Iterable[spec.By]:
    """Yields what rows are sorted by; options that only say how are passed over."""
    for tree, is_descending in sorted_by(context, row_at(record), nodes):
        yield spec.By(trees.expressed(tree), is_descending=is_descending)


def sorted_by(
    context: Context, row: values.RowValue, nodes: Iterable[syntax.Node]
) -> Iterator[tuple[trees.Node, bool]]:
    """Yields what a row is sorted by, and whether downwards, wherever that stands."""
    inside = row_scope(context, row)
    for node in _listed(row.record, nodes):
        match node:
            case _ if is_passed_over(node):
                continue
            case syntax.Operation(sign="NEGATIVE", operands=(inner,)):
                value, is_descending = inside.scalar(inner), True
            case _:
                value, is_descending = inside.scalar(node), False
        for one in types.leaves(value):
            yield types.compared(one), is_descending


# SORT(rows, RECORD EXCEPT id, id)
def _listed(
    record: types.RecordType, nodes: Iterable[syntax.Node]
) -> Iterator[syntax.Node]:
    """Yields nodes one by one; RECORD is every field but those behind EXCEPT."""
    found = [*_unpacked(nodes)]
    excepted = {name for one in found for name in _excepted(one)}
    # EXCEPT by itself means RECORD, too; where both stand, the fields come once.
    is_open = bool(excepted)
    for node in found:
        if is_word(node, "record", "row") or (_excepted(node) and is_open):
            is_open = False
            for one in record.fields:
                if one.word not in excepted:
                    yield syntax.Name(node.place, one.name)
        elif not _excepted(node):
            yield node


def _unpacked(nodes: Iterable[syntax.Node]) -> Iterator[syntax.Node]:
    """Yields nodes, those in braces or brackets one by one."""
    for node in nodes:
        if isinstance(node, syntax.Braces | syntax.Items):
            yield from node.items
        elif not isinstance(node, syntax.Omitted):
            yield node


def _excepted(node: syntax.Node) -> tuple[str, ...]:
    """Returns the field of EXCEPT field, or nothing."""
    match node:
        case syntax.Sequence(parts=(word, syntax.Name() | syntax.Member() as name)) if (
            is_word(word, "except")
        ):
            return (name.word,)
        case _:
            return ()


def ordered(row: values.RowValue, one: types.Field) -> trees.Node:
    """Returns a field of a row as it is sorted and compared."""
    return types.compared(types.part(row.tree, one))


# DEDUP(rows, id)   DEDUP(rows, LEFT.id = RIGHT.id, ALL, KEEP(2), RIGHT)
@verb("dedup")
def _dedup(context: Context, node: syntax.Call) -> values.DatasetValue:
    """Returns DEDUP: the first, or the last, of rows that are the same."""
    first, *rest = node.arguments
    source = context.dataset(first)
    record = source.record
    left, right = row_at(record), row_at(record, "r")
    inside = replace(context, sides={"left": left, "right": right})
    same, keep = [], 1
    for one in _listed(record, rest):
        match one:
            # KEEP(n), or KEEP n.
            case syntax.Call(arguments=(count,)) if one.word == "keep":
                keep = context.count(count, 1)
            case syntax.Sequence(parts=(word, count)) if is_word(word, "keep"):
                keep = context.count(count, 1)
            case _ if not is_word(one, "all", "left", "right", *PASSED_OVER):
                same.append(_same(inside, record, one))
    if not same:
        rows = (types.Scalar(one.tree, record) for one in (left, right))
        pairs = zip(*map(types.leaves, rows), strict=True)
        same = [trees.build("=", *map(types.compared, pair)) for pair in pairs]
    step = spec.Deduped(
        source.step,
        trees.expressed(trees.all_of(same)),
        # HASH looks at all rows, too: it is a way to do so.
        is_all=any(is_word(one, "all", "hash") for one in rest),
        keep=keep,
        keeps_last=any(is_word(one, "right") for one in rest),
    )
    return replace(source, step=step)


def _same(context: Context, record: types.RecordType, node: syntax.Node) -> trees.Node:
    """Returns when two rows are the same: a condition on both, or a field of each."""
    one, other = (
        replace(context, rows=(row_at(record, letter),)).scalar(node) for letter in "lr"
    )
    # Whose row it is makes no difference where LEFT and RIGHT are named: a condition.
    if one == other:
        return context.condition(node)
    return compared(syntax.Operation(node.place, "=", (node, node)), one, other)


# A group without fields is none.
@verb("group", "ungroup")
def _group(context: Context, node: syntax.Call) -> values.DatasetValue:
    """Returns GROUP: neighbours with the same fields; without fields no groups."""
    first, *rest = node.arguments
    source = context.dataset(first)
    fields = [one for one in rest if not is_word(one, "all")]
    by = tuple(orders(context, source.record, fields))
    if any(is_word(one, "all") for one in rest):
        step = sorted_groups(source.step, by)
    else:
        step = spec.Grouped(source.step, tuple(one.value for one in by))
    return replace(source, step=step, is_grouped=bool(by))


def sorted_groups(step: spec.Step, by: tuple[spec.By, ...]) -> spec.Grouped:
    """Returns rows sorted, those with the same values as a group."""
    return spec.Grouped(spec.Ordered(step, by), tuple(one.value for one in by))


# SUBSORT(rows, {name}, {age}): the rows are sorted by age.
@verb("subsort")
def _subsort(context: Context, node: syntax.Call) -> values.DatasetValue:
    """Returns SUBSORT: neighbours with the same fields in an order of their own."""
    first, inner, outer, *rest = node.arguments
    refuse_others(rest)
    source = context.dataset(first)
    if source.is_grouped:
        raise refusal(first, "groups in SUBSORT", "SORT(groups, fields), or UNGROUP")
    same, by = (tuple(orders(context, source.record, [it])) for it in (outer, inner))
    groups = spec.Grouped(source.step, tuple(one.value for one in same))
    return replace(source, step=spec.Grouped(spec.Ordered(groups, by), ()))


# MERGE(one, other, SORTED(id), DEDUP), or MERGE([one, other], ..)
@verb("merge")
def _merge(context: Context, node: syntax.Call) -> values.DatasetValue:
    """Returns MERGE: sorted data sets as one; equal rows in the order of these."""
    sources: list[values.DatasetValue] = []
    fields: list[syntax.Node] = []
    is_unique = False
    for one in node.arguments:
        match one:
            case syntax.Call() if one.word == "sorted" and fields:
                raise refusal(one, "a second SORTED", "one of it")
            case syntax.Call(arguments=given) if one.word == "sorted" and sources:
                fields += given
            case _ if is_word(one, "dedup"):
                is_unique = True
            case _ if is_passed_over(one) or isinstance(one, syntax.Omitted):
                pass
            case _:
                match context.value(one):
                    case values.SetOfDatasets(together):
                        sources += together
                    case _:
                        sources.append(context.dataset(one))
    if not fields:
        raise refusal(node, "MERGE by nothing", "SORTED(fields) behind the rows")
    whole = appended(node, sources)
    by = tuple(orders(context, whole.record, fields))
    step: spec.Step = spec.Ordered(whole.step, by)
    if is_unique:
        both = (_same(context, whole.record, it) for it in fields)
        step = spec.Deduped(step, trees.expressed(trees.all_of(both)))
    return replace(whole, step=step)


# SAMPLE(rows, 3, 2): the second row of each three.
@verb("sample")
def _sample(context: Context, node: syntax.Call) -> values.DatasetValue:
    """Returns SAMPLE: one row of so many, the first of them or a later one."""
    first, many, *rest = node.arguments
    source = context.dataset(first)
    if source.is_grouped:
        raise refusal(first, "groups in SAMPLE", "UNGROUP(rows)")
    every = context.count(many, 1)
    which = [context.count(one, 1) for one in rest if not is_passed_over(one)]
    start = (*which, 1)[0] - 1
    wide = numbered(source)
    place = trees.column(wide.record.fields[-1].name, AtomicType.BIGINT)
    is_one = f"x >= {start}L AND (x - {start}L) % {every}L = 0L"
    kept = spec.Filtered(wide.step, trees.expressed(trees.sql(is_one, x=place)))
    shown = trees.select(source.record.columns())
    return replace(source, step=spec.Projected(kept, source.record.schema, shown))


def numbered(
    source: values.DatasetValue, name: str = "number of a row"
) -> values.DatasetValue:
    """Returns rows with their number, from 0, under a name that none of them has."""
    record = types.RecordType((*source.record.fields, types.Field(name, types.INTEGER)))
    return values.DatasetValue(spec.Numbered(source.step, record.schema, name), record)


@verb("choosen")
def _choosen(context: Context, node: syntax.Call) -> values.DatasetValue:
    """Returns CHOOSEN: so many rows, from a place on."""
    # FEW says that they are few: it changes no rows.
    given = [one for one in node.arguments if not is_word(one, "few")]
    first, number, *rest = given if len(given) > 1 else node.arguments
    source = context.dataset(first)
    place = context.count(rest[0], 1) if rest else 1
    count = _EVERY if is_word(number, "all") else context.count(number)
    return replace(source, step=spec.Chosen(source.step, place, count))


# Such as TOPN(rows, 3, -price)
@verb("topn")
def _topn(context: Context, node: syntax.Call) -> values.DatasetValue:
    """Returns TOPN: so many rows of the sorted ones.

    BEST says which values none can come before: whoever meets enough of them may stop.
    """
    first, number, *rest = node.arguments
    source = context.dataset(first)
    by = []
    for one in rest:
        # Only read, so that a mistake in it is found.
        if isinstance(one, syntax.Call) and one.word == "best":
            for value in one.arguments:
                context.scalar(value)
        else:
            by.append(one)
    step = spec.Ordered(source.step, tuple(orders(context, source.record, by)))
    return replace(source, step=spec.Chosen(step, 1, context.count(number)))


@verb("distribute", "distributed", "sorted", "preload")
def _same_rows(context: Context, node: syntax.Call) -> values.DatasetValue:
    """Returns the rows as they are: how they are spread is Spark's to say."""
    first, *rest = node.arguments
    source = context.dataset(first)
    row = row_at(source.record)
    inside = row_scope(context, row)
    for one in rest[:1]:
        is_name = isinstance(one, syntax.Name | syntax.Member)
        if is_name and syntax.word_of(one) not in _SPREADING:
            found = inside.value(one)
            # By an index: in its conditions RIGHT is a row of it.
            if isinstance(found, values.DatasetValue):
                right = row_at(found.record, "r")
                inside = inside.with_sides({"right": right})
    for one in _unpacked(rest):
        _check_spread(inside, row, one)
    context.world.remarks.append(
        f"{node.word.upper()} changes no rows: Spark spreads them"
    )
    return source


def _check_spread(context: Context, row: values.RowValue, node: syntax.Node) -> None:
    """Binds what rows are spread or sorted by; only a mistake in it is of interest."""
    match node:
        case syntax.Call(arguments=fields) if node.word in _OF_FIELDS:
            for one in _listed(row.record, fields):
                _check_spread(context, row, one)
        case syntax.Operation(operands=operands):
            for one in operands:
                _check_spread(context, row, one)
        case syntax.Cast(operand=operand):
            _check_spread(context, row, operand)
        case _ if syntax.word_of(node) in {*_SPREADING, "record"} or _excepted(node):
            pass
        case _:
            context.value(node)


_OF_FIELDS = {"hash", "hash32", "hash64", "hashcrc", "hashmd5", "merge"}
_SPREADING = {*PASSED_OVER, "all", "assert", "pulled", "random"}


@verb("assert")
def _asserted(context: Context, node: syntax.Call) -> values.DatasetValue:
    """Returns the rows of ASSERT."""
    pass_assert(context, node)
    return context.dataset(node.arguments[0])


def pass_assert(context: Context, node: syntax.Call) -> None:
    """Says that an ASSERT is not looked at; one that fails is refused."""
    for one in node.arguments:
        if syntax.word_of(one) == "fail":
            raise refusal(one, "an ASSERT that fails", "LIMIT(n, FAIL) in a JOIN")
    context.world.remarks.append(f"ASSERT in line {node.place.line} is not looked at")


# More rows than there are: rows[n..] ends where they end.
_EVERY = 1 << 62


def filtered(
    context: Context, source: values.DatasetValue, conditions: tuple[syntax.Node, ...]
) -> values.DatasetValue:
    """Returns the rows of which all conditions hold."""
    inside, totals = gathering(context.inside(row_of_source(source)))
    given = (it for it in conditions if not isinstance(it, syntax.Omitted))
    holds = trees.expressed(trees.all_of(map(inside.condition, given)))
    step = spec.Filtered(widened(source, totals), holds)
    return replace(source, step=narrowed(step, source.record, totals))


def chosen(
    context: Context, node: syntax.Part, source: values.DatasetValue
) -> values.DatasetValue:
    """Returns the rows between two places, or the row at one."""
    # Rows count from 1: rows[0] is one that is not there.
    is_one = node.reach is syntax.Reach.ONE
    first = context.count(node.first, 0 if is_one else 1)
    match node.reach:
        case syntax.Reach.ONE:
            step = spec.Chosen(source.step, max(first, 1), min(first, 1))
            return single(replace(source, step=step))
        case syntax.Reach.TO:
            count = max(0, context.count(node.last) - first + 1)
        case _:
            count = _EVERY
    return replace(source, step=spec.Chosen(source.step, first, count))


def single(source: values.DatasetValue) -> values.DatasetValue:
    """Returns the one row of some, which is an absent one where there is none."""
    record = source.record
    shown = trees.select(record.parts(source.first.tree))
    step = spec.Counted(spec.Grouped(source.step, ()), record.schema, shown)
    return values.DatasetValue(step, record, is_single=True)


def appended(
    node: syntax.Node, sources: Iterable[values.DatasetValue]
) -> values.DatasetValue:
    """Returns the rows of several data sets, in the record of the first."""
    first, *rest = sources
    for one in rest:
        _refuse_unlike(node, one.record, first.record)
    others = [as_record(one, first.record).step for one in rest]
    return values.DatasetValue(spec.Appended((first.step, *others)), first.record)


def _refuse_unlike(
    node: syntax.Node, found: types.RecordType, record: types.RecordType
) -> None:
    """Refuses rows with a field of a record's name, but of no type that it takes."""
    for one in record.fields:
        for other in found.find(one.name):
            item = trees.variable("item", types.spark_type(other.type))
            as_type(node, types.Scalar(item, other.type), one.type)


def as_record(
    source: values.DatasetValue, record: types.RecordType
) -> values.DatasetValue:
    """Returns a data set with the fields of a record, taken by their names."""
    if source.record == record:
        return source
    own = types.Scalar(source.record.side(), source.record)
    step = spec.Projected(
        source.step, record.schema, trees.select(rebuilt(own, record))
    )
    return values.DatasetValue(step, record)


def rebuilt(
    value: types.Scalar, record: types.RecordType
) -> list[tuple[str, trees.Node]]:
    """Returns the fields of a record, each taken from a row by its name or blank."""
    return [(one.name, types.field_of(value, one)) for one in record.fields]


def projected(source: values.DatasetValue, made: values.Made) -> values.DatasetValue:
    """Returns what a transform makes of each row."""
    step = spec.Projected(
        source.step,
        made.record.schema,
        trees.select(made.columns),
        trees.expressed(made.skip),
    )
    return values.DatasetValue(step, made.record, is_grouped=source.is_grouped)


@verb("project")
def _project(context: Context, node: syntax.Call) -> values.DatasetValue:
    """Returns PROJECT: a transform of LEFT and COUNTER, or the fields of a record."""
    first, second, *rest = node.arguments
    refuse_others(rest, "prefetch", "lookahead", "keyed")
    source = context.dataset(first)
    if isinstance(second, syntax.Braces):
        return tabled(context, source, second)
    row = row_at(source.record)
    inside, totals = gathering(
        replace(context, sides={"left": row, "counter": COUNTER})
    )
    match inside.value(second):
        case values.Made() as made:
            return projected(replace(source, step=widened(source, totals)), made)
        case _:
            return as_record(source, inside.record(second))


@verb("table")
def _table(context: Context, node: syntax.Call) -> values.DatasetValue:
    """Returns TABLE: the fields that a record computes from each row, or each group."""
    first, second, *rest = node.arguments
    source = context.dataset(first)
    fields = [
        one
        for one in rest
        if not (is_passed_over(one) or is_word(one, "keyed", "unsorted", "grouped"))
    ]
    if fields:
        by = tuple(orders(context, source.record, fields))
        source = replace(source, step=sorted_groups(source.step, by), is_grouped=True)
    return tabled(context, source, second)


def tabled(
    context: Context, source: values.DatasetValue, *nodes: syntax.Node
) -> values.DatasetValue:
    """Returns the fields of records, the first ones in front, made of each row."""
    inside = row_scope(context, row_of_source(source))
    group = values.RowsValue.together(source.record)
    inside, totals = gathering(inside.with_sides({"group": group}))
    record = types.RecordType(())
    for node in nodes:
        if isinstance(node, syntax.Braces):
            record = record_with(inside, record.fields, node.items)
            continue
        # A RECORD under a name is read anew from this row: its fields may be values
        # that the row is needed for.
        own = [read_record(it, found) for it, found in record_defined(inside, node)]
        record = types.merged((record, *(own or [inside.record(node)])))
    row = types.Scalar(source.record.side(), source.record)
    shown = [
        (one.name, [*one.computed, *one.initial, types.field_of(row, one)][0])
        for one in record.fields
    ]
    plain = types.RecordType(
        tuple(replace(one, initial=(), computed=()) for one in record.fields)
    )
    wide = widened(source, totals)
    # A field that looks at rows of GROUP makes one row of each group.
    if any(trees.is_over_rows(tree) for _, tree in shown):
        return values.DatasetValue(
            spec.Counted(wide, plain.schema, trees.select(shown)), plain
        )
    step = spec.Projected(wide, plain.schema, trees.select(shown))
    return values.DatasetValue(step, plain, is_grouped=source.is_grouped)


def refuse_others(nodes: Iterable[syntax.Node], *known: str) -> None:
    """Refuses options that would change something and are not known here."""
    for node in nodes:
        is_known = syntax.word_of(node) in {*PASSED_OVER, *known}
        if not is_known and not isinstance(node, syntax.Omitted):
            raise refusal(
                node, f'"{syntax.words_of(node) or "this"}" here', "nothing more"
            )
