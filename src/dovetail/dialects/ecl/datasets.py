"""Data sets and what is done with one of them: each becomes a step of the program."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import TypeGuard

from dovetail import spec
from dovetail.dialects.ecl import syntax, types
from dovetail.dialects.ecl.aggregates import is_over_rows
from dovetail.dialects.ecl.context import Context, is_word, refusal
from dovetail.dialects.ecl.names import record_defined
from dovetail.dialects.ecl.records import read_record, record_with
from dovetail.dialects.ecl.scalars import compared
from dovetail.dialects.ecl.totals import gathering, narrowed, widened
from dovetail.dialects.ecl.values import (
    DatasetValue,
    Made,
    RowsValue,
    RowValue,
    Value,
)
from dovetail.expression import Expression
from dovetail.schema import quoted

Verb = Callable[[Context, syntax.Call], DatasetValue]
PASSED_OVER = {
    *("local", "stable", "unstable", "parallel", "ordered", "unordered", "many"),
    *("skew", "threshold", "algorithm", "hash", "few", "merge", "joined", "hint"),
}


def is_passed_over(node: syntax.Node) -> bool:
    """Tells whether an option only says how; HASH of a value is that value."""
    is_value = isinstance(node, syntax.Call) and node.word == "hash"
    return syntax.word_of(node) in PASSED_OVER and not is_value


def row_at(record: types.RecordType, letter: str = "l") -> RowValue:
    """Returns the row of a side."""
    return RowValue(record, letter)


def row_of_source(source: DatasetValue, letter: str = "l") -> RowValue:
    """Returns a row of a data set, which knows that it is one of these."""
    return RowValue(source.record, letter, source.step)


def row_scope(context: Context, row: RowValue) -> Context:
    """Returns the context inside a data set: its fields stand bare, LEFT is its row."""
    inside = context.inside(row)
    return replace(inside, sides={**context.sides, "left": row})


def _sort(context: Context, node: syntax.Call) -> DatasetValue:
    """Returns SORT: by fields or values, downwards behind a minus."""
    first, *rest = node.arguments
    source = context.dataset(first)
    step = spec.Ordered(source.step, tuple(orders(context, source.record, rest)))
    return replace(source, step=step)


def orders(
    context: Context, record: types.RecordType, nodes: Iterable[syntax.Node]
) -> Iterable[spec.By]:
    """Yields what rows are sorted by; options that only say how are passed over."""
    return orders_at(context, row_at(record), nodes)


def orders_at(
    context: Context, row: RowValue, nodes: Iterable[syntax.Node]
) -> Iterable[spec.By]:
    """Yields what a row is sorted by, wherever that stands."""
    inside = row_scope(context, row)
    for node in _listed(row.record, nodes):
        match node:
            case _ if is_passed_over(node):
                continue
            case syntax.Operation(sign="NEGATIVE", operands=(inner,)):
                yield spec.By(Expression(_sorting(inside, inner)), is_descending=True)
            case _:
                yield spec.By(Expression(_sorting(inside, node)))


def _listed(
    record: types.RecordType, nodes: Iterable[syntax.Node]
) -> Iterator[syntax.Node]:
    """Yields nodes one by one; RECORD is every field but those behind EXCEPT."""
    found = [*_unpacked(nodes)]
    excepted = {name for one in found for name in _excepted(one)}
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


def _excepted(node: syntax.Node) -> Iterable[str]:
    """Returns the field of EXCEPT field, or nothing."""
    match node:
        case syntax.Sequence(parts=(word, syntax.Name() | syntax.Member() as name)) if (
            is_word(word, "except")
        ):
            return (name.word,)
        case _:
            return ()


def _sorting(context: Context, node: syntax.Node) -> str:
    """Returns a value by which rows are sorted."""
    value = context.scalar(node)
    return types.trimmed(value) if isinstance(value.type, types.Letters) else value.text


def ordered_text(row: RowValue, one: types.Field) -> str:
    """Returns a field of a row as it is sorted and compared."""
    value = types.Scalar(f"{row.text}.{quoted(one.name)}", one.type)
    return types.trimmed(value) if isinstance(one.type, types.Letters) else value.text


def _dedup(context: Context, node: syntax.Call) -> DatasetValue:
    """Returns DEDUP: the first, or the last, of rows that are the same."""
    first, *rest = node.arguments
    source = context.dataset(first)
    rows = {"left": row_at(source.record), "right": row_at(source.record, "r")}
    inside = replace(context, sides=rows)
    conditions, keep = [], 1
    for one in _listed(source.record, rest):
        counts = _kept(one)
        if counts:
            keep = context.count(counts[0], 1)
        elif not is_word(one, "all", "left", "right", *PASSED_OVER):
            conditions.append(_same(inside, source.record, one))
    texts = conditions or [
        f"{ordered_text(rows['left'], one)} = {ordered_text(rows['right'], one)}"
        for one in source.record.fields
    ]
    step = spec.Deduped(
        source.step,
        Expression(" AND ".join(texts)),
        # HASH looks at all rows, too: it is a way to do so.
        is_all=any(is_word(one, "all", "hash") for one in rest),
        keep=keep,
        keeps_last=any(is_word(one, "right") for one in rest),
    )
    return replace(source, step=step)


def _kept(node: syntax.Node) -> tuple[syntax.Node, ...]:
    """Returns the number of KEEP(n), or of KEEP n."""
    match node:
        case syntax.Call(arguments=(count,)) if node.word == "keep":
            return (count,)
        case syntax.Sequence(parts=(word, count)) if is_word(word, "keep"):
            return (count,)
        case _:
            return ()


def _same(context: Context, record: types.RecordType, node: syntax.Node) -> str:
    """Returns when two rows are the same: a condition on both, or a field of each."""
    values = [
        replace(context, rows=(row_at(record, letter),)).scalar(node) for letter in "lr"
    ]
    if values[0] == values[1]:
        return context.condition(node)
    same = syntax.Operation(node.place, "=", (node, node))
    return compared(same, values[0], values[1])


def _group(context: Context, node: syntax.Call) -> DatasetValue:
    """Returns GROUP: neighbours with the same fields; without fields no groups."""
    first, *rest = node.arguments
    source = context.dataset(first)
    by = tuple(
        orders(context, source.record, [it for it in rest if not is_word(it, "all")])
    )
    is_all = any(is_word(one, "all") for one in rest)
    before = spec.Ordered(source.step, by) if is_all else source.step
    step = spec.Grouped(before, tuple(one.value for one in by))
    return replace(source, step=step, is_grouped=bool(by))


def _choosen(context: Context, node: syntax.Call) -> DatasetValue:
    """Returns CHOOSEN: so many rows, from a place on."""
    first, number, *rest = node.arguments
    source = context.dataset(first)
    place = context.count(rest[0], 1) if rest else 1
    return replace(source, step=spec.Chosen(source.step, place, context.count(number)))


def _topn(context: Context, node: syntax.Call) -> DatasetValue:
    """Returns TOPN: so many rows of the sorted ones.

    BEST says which values none can come before: whoever meets enough of them may stop.
    """
    first, number, *rest = node.arguments
    source = context.dataset(first)
    for one in rest:
        for value in one.arguments if _is_best(one) else ():
            context.scalar(value)
    rest = [one for one in rest if not _is_best(one)]
    step = spec.Ordered(source.step, tuple(orders(context, source.record, rest)))
    return replace(source, step=spec.Chosen(step, 1, context.count(number)))


def _is_best(node: syntax.Node) -> TypeGuard[syntax.Call]:
    """Tells whether an option of TOPN is BEST(value, ..)."""
    return isinstance(node, syntax.Call) and node.word == "best"


def _same_rows(context: Context, node: syntax.Call) -> DatasetValue:
    """Returns the rows as they are: how they are spread is Spark's to say."""
    first, *rest = node.arguments
    source = context.dataset(first)
    row = row_at(source.record)
    inside = _spread_scope(row_scope(context, row), rest)
    for one in _unpacked(rest):
        _check_spread(inside, row, one)
    context.world.remarks.append(
        f"{node.word.upper()} changes no rows: Spark spreads them"
    )
    return source


def _spread_scope(context: Context, nodes: list[syntax.Node]) -> Context:
    """Returns the context of how rows are spread; by an index RIGHT is its row."""
    for one in nodes[:1]:
        if (
            isinstance(one, syntax.Name | syntax.Member)
            and syntax.word_of(one) not in _SPREADING
        ):
            match context.value(one):
                case DatasetValue(record=record):
                    sides = {**context.sides, "right": row_at(record, "r")}
                    return replace(context, sides=sides)
                case _:
                    pass
    return context


def _check_spread(context: Context, row: RowValue, node: syntax.Node) -> None:
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
        case _ if syntax.word_of(node) in _SPREADING:
            pass
        case _ if is_word(node, "record") or _excepted(node):
            [*_listed(row.record, (node,))]
        case _:
            context.value(node)


_OF_FIELDS = {"hash", "hash32", "hash64", "hashcrc", "hashmd5", "merge"}
_SPREADING = {*PASSED_OVER, "all", "assert", "pulled", "random"}


def _asserted(context: Context, node: syntax.Call) -> DatasetValue:
    """Returns the rows of ASSERT, which is not looked at; one that fails is refused."""
    for one in node.arguments:
        if syntax.word_of(one) == "fail":
            raise refusal(one, "an ASSERT that fails", "LIMIT(n, FAIL) in a JOIN")
    context.world.remarks.append(f"ASSERT in line {node.place.line} is not looked at")
    return context.dataset(node.arguments[0])


ORDERING: Mapping[str, Verb] = {
    "sort": _sort,
    # Of an index: in the order of these fields.
    "stepped": _sort,
    "dedup": _dedup,
    "group": _group,
    "ungroup": _group,
    "choosen": _choosen,
    "topn": _topn,
    **dict.fromkeys(
        ("distribute", "distributed", "sorted", "nothor", "preload"),
        _same_rows,
    ),
    "assert": _asserted,
}


_EVERY = 1 << 62


def filtered(
    context: Context, source: DatasetValue, conditions: tuple[syntax.Node, ...]
) -> DatasetValue:
    """Returns the rows of which all conditions hold."""
    inside, totals = gathering(context.inside(row_of_source(source)))
    texts = [
        inside.condition(one)
        for one in conditions
        if not isinstance(one, syntax.Omitted)
    ]
    wide = widened(source, totals)
    step = spec.Filtered(wide, Expression(" AND ".join(texts) or "true"))
    return replace(source, step=narrowed(step, source.record, totals))


def chosen(context: Context, node: syntax.Part, source: DatasetValue) -> DatasetValue:
    """Returns the rows between two places."""
    first = context.count(node.first, 1)
    match node.reach:
        case syntax.Reach.ONE:
            count = 1
        case syntax.Reach.TO:
            count = max(0, context.count(node.last) - first + 1)
        case _:
            count = _EVERY
    return replace(source, step=spec.Chosen(source.step, first, count))


def appended(values: Iterable[DatasetValue]) -> DatasetValue:
    """Returns the rows of several data sets, in the record of the first."""
    first, *rest = values
    others = [as_record(one, first.record).step for one in rest]
    return DatasetValue(spec.Appended((first.step, *others)), first.record)


def as_record(source: DatasetValue, record: types.RecordType) -> DatasetValue:
    """Returns a data set with the fields of a record, taken by their names."""
    if source.record == record:
        return source
    from_row = types.Scalar("l", source.record)
    columns = rebuilt_columns(from_row, record)
    step = spec.Projected(source.step, record.schema, columns)
    return DatasetValue(step, record)


def rebuilt_columns(value: types.Scalar, record: types.RecordType) -> spec.Columns:
    """Returns the columns of a record, each taken from a row by its name or blank."""
    return spec.Columns(
        tuple((one.name, Expression(field_text(value, one))) for one in record.fields)
    )


def field_text(value: types.Scalar, wanted: types.Field) -> str:
    """Returns a field of a row in a type; a missing one is as its record says."""
    found = (
        value.type.find(wanted.name) if isinstance(value.type, types.RecordType) else ()
    )
    for one in found:
        return types.part_text(value.text, one, wanted)
    return wanted.initial or types.blank_text(wanted.type)


def projected(source: DatasetValue, made: Made) -> DatasetValue:
    """Returns what a transform makes of each row."""
    step = spec.Projected(
        source.step, made.record.schema, columns_of(made), Expression(made.skip)
    )
    return DatasetValue(step, made.record, is_grouped=source.is_grouped)


def columns(texts: Iterable[tuple[str, str]]) -> spec.Columns:
    """Returns named expressions as columns."""
    return spec.Columns(tuple((name, Expression(text)) for name, text in texts))


def columns_of(made: Made) -> spec.Columns:
    """Returns the columns of a transform."""
    return columns(made.columns)


def own_columns(record: types.RecordType, row: str = "l") -> spec.Columns:
    """Returns the fields of a record as the columns that they are of a row."""
    return columns((one.name, f"{row}.{quoted(one.name)}") for one in record.fields)


def _project(context: Context, node: syntax.Call) -> DatasetValue:
    """Returns PROJECT: a transform of LEFT and COUNTER, or the fields of a record."""
    first, second, *rest = node.arguments
    refuse_others(rest, {"prefetch", "lookahead", "keyed"})
    source = context.dataset(first)
    if isinstance(second, syntax.Braces):
        return tabled(context, source, second)
    sides: dict[str, Value] = {
        "left": row_at(source.record),
        "counter": types.Scalar("counter", types.Whole()),
    }
    inside, totals = gathering(replace(context, sides=sides))
    match inside.value(second):
        case Made() as made:
            return projected(replace(source, step=widened(source, totals)), made)
        case _:
            return as_record(source, inside.record(second))


def _table(context: Context, node: syntax.Call) -> DatasetValue:
    """Returns TABLE: the fields that a record computes from each row."""
    first, second, *rest = node.arguments
    source = context.dataset(first)
    fields = [
        one
        for one in rest
        if not (is_passed_over(one) or is_word(one, "keyed", "unsorted", "grouped"))
    ]
    if fields:
        by = tuple(orders(context, source.record, fields))
        grouped = spec.Grouped(
            spec.Ordered(source.step, by), tuple(one.value for one in by)
        )
        source = replace(source, step=grouped, is_grouped=True)
    return tabled(context, source, second)


def tabled(context: Context, source: DatasetValue, *nodes: syntax.Node) -> DatasetValue:
    """Returns the fields of records, the first ones in front, made of each row."""
    inside = row_scope(context, row_of_source(source))
    group = RowsValue(source.record, "")
    inside, totals = gathering(replace(inside, sides={**inside.sides, "group": group}))
    record = types.RecordType(())
    for node in nodes:
        record = _with_fields(inside, record, node)
    texts = [
        (one.name, Expression(_computed(one, source.record))) for one in record.fields
    ]
    plain = types.RecordType(
        tuple(replace(one, initial="", computed="") for one in record.fields)
    )
    columns = spec.Columns(tuple(texts))
    source = replace(source, step=widened(source, totals))
    if any(is_over_rows(text.text) for _, text in texts):
        return DatasetValue(spec.Counted(source.step, plain.schema, columns), plain)
    step = spec.Projected(source.step, plain.schema, columns)
    return DatasetValue(step, plain, is_grouped=source.is_grouped)


def _with_fields(
    context: Context, record: types.RecordType, node: syntax.Node
) -> types.RecordType:
    """Returns a record with those of a table, their values seen from a row."""
    if isinstance(node, syntax.Braces):
        return record_with(context, record.fields, node.items)
    for inside, found in record_defined(context, node):
        return types.merged((record, read_record(inside, found)))
    return types.merged((record, context.record(node)))


def _computed(one: types.Field, record: types.RecordType) -> str:
    """Returns what a field of a table is: what it says, or the field of its name."""
    return one.computed or one.initial or field_text(types.Scalar("l", record), one)


def refuse_others(nodes: Iterable[syntax.Node], known: set[str]) -> None:
    """Refuses options that would change something and are not known here."""
    for node in nodes:
        if syntax.word_of(node) not in PASSED_OVER | known and not isinstance(
            node, syntax.Omitted
        ):
            raise refusal(
                node, f'"{syntax.words_of(node) or "this"}" here', "nothing more"
            )


DATASETS: Mapping[str, Verb] = {
    "project": _project,
    "table": _table,
    **ORDERING,
}
