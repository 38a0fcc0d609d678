"""COMBINE and REGROUP: rows, or groups, of the same place stand together.

    COMBINE(left, right, transform)          row n of both
    COMBINE(left, right, GROUP, transform)   row n of the left, all rows of group n
    REGROUP(one, other, ..)                  group n of each, one after the other

Places are numbers, by which both sides are joined; where one side has more, the job
fails.

LIMIT(rows, n): what becomes of more rows than that.

LIMIT(rows, n, SKIP)             rows(COUNT(rows) <= n)
LIMIT(rows, n, ONFAIL(t))        .. + the row that t makes, where there are more
LIMIT(rows, n)                   rows beside a count that fails where there are more
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from dovetail import spec
from dovetail.dialects.ecl import datasets, syntax, types, values
from dovetail.dialects.ecl.aggregates import all_rows, named_struct, nth
from dovetail.dialects.ecl.context import Context, is_word, refusal
from dovetail.dialects.ecl.names import is_transform
from dovetail.dialects.ecl.options import failure_of
from dovetail.dialects.ecl.records import default_record
from dovetail.dialects.ecl.totals import gathering, narrowed, widened
from dovetail.expression import Expression
from dovetail.schema import quoted

COUNT = "CAST(ROWS_COUNT() AS BIGINT)"
ONE = types.RecordType((types.Field("n", types.INTEGER),))
_PASSED = {*datasets.PASSED_OVER, "keyed", "count"}


def read_limit(context: Context, node: syntax.Call) -> values.DatasetValue:
    """Returns LIMIT(rows, n, SKIP), or what else it says of too many rows."""
    first, number, *rest = node.arguments
    source, most = context.dataset(first), context.count(number)
    options = [*_options(rest)]
    total = values.Total(source, types.Scalar(COUNT, types.INTEGER))
    few = _with(source, total, f"{{0}} <= {most}L")
    for one in options:
        if is_word(one, "skip"):
            return few
        if syntax.word_of(one) == "onfail":
            return _or_one(context, one, (source, few, most))
    return _or_failing(context, node, (source, most, options))


def _options(nodes: Iterable[syntax.Node]) -> Iterable[syntax.Node]:
    """Gives what is said of too many rows, one thing at most."""
    found = [
        one
        for one in nodes
        if not isinstance(one, syntax.Omitted) and syntax.word_of(one) not in _PASSED
    ]
    for one in found:
        if syntax.word_of(one) not in {"skip", "onfail", "fail"}:
            raise refusal(one, "this in a LIMIT", "SKIP, FAIL(..) or ONFAIL(transform)")
    for one in found[1:]:
        raise refusal(one, "a second thing to do", "SKIP, FAIL or ONFAIL alone")
    return found


def _with(
    source: values.DatasetValue, total: values.Total, condition: str
) -> values.DatasetValue:
    """Returns the rows where a condition on a value of other rows holds."""
    wide = widened(source, [total])
    hidden = wide.schema.names[-1]
    step = spec.Filtered(wide, Expression(condition.format(f"l.{quoted(hidden)}")))
    return replace(source, step=narrowed(step, source.record, [total]))


def _or_one(
    context: Context,
    node: syntax.Node,
    given: tuple[values.DatasetValue, values.DatasetValue, int],
) -> values.DatasetValue:
    """Returns the rows, or the one row that ONFAIL makes in place of too many."""
    source, few, most = given
    if not isinstance(node, syntax.Call) or len(node.arguments) != 1:
        raise refusal(node, "ONFAIL without a transform", "ONFAIL(transform)")
    made = context.made(node.arguments[0])
    if made.record.shape != source.record.shape:
        raise refusal(node, "a transform of another record", "the record of the rows")
    counted = spec.Columns(((ONE.fields[0].name, Expression(COUNT)),))
    count = spec.Counted(spec.Grouped(source.step, ()), ONE.schema, counted)
    many = spec.Filtered(count, Expression(f"l.`n` > {most}L"))
    row = spec.Projected(
        many, made.record.schema, datasets.columns_of(made), Expression(made.skip)
    )
    one = datasets.as_record(values.DatasetValue(row, made.record), source.record)
    return values.DatasetValue(spec.Appended((few.step, one.step)), source.record)


@dataclass(frozen=True, slots=True)
class Stop:
    """How many of some rows there may be, and how a job fails that meets more."""

    most: int
    failure: spec.Failure | spec.Plainly
    title: str
    line: str


def _or_failing(
    context: Context,
    node: syntax.Call,
    given: tuple[values.DatasetValue, int, list[syntax.Node]],
) -> values.DatasetValue:
    """Returns the rows beside a count of them, which fails where there are too many."""
    source, most, options = given
    title = f"LIMIT in line {node.place.line}"
    said = spec.Failure(0, f"{title}: more than {most} rows")
    failures = [failure_of(context, one) for one in options]
    failure = next((it for it in failures if isinstance(it, spec.Failure)), said)
    stop = Stop(most, failure, title, f"more than {most} rows fail the job")
    return or_failing(source, spec.Grouped(source.step, ()), stop)


def or_failing(
    source: values.DatasetValue, rows: spec.Step, stop: Stop
) -> values.DatasetValue:
    """Returns rows, or fails where there are too many of some other rows."""
    join = spec.JoinSpec(
        spec.Side(spec.Named(spec.LEFT)),
        spec.Side(spec.Named(spec.RIGHT)),
        spec.Kind.INNER,
        spec.Clock.BATCH,
        (),
        select=spec.Columns(((ONE.fields[0].name, Expression("l.`n`")),)),
        absent_left=spec.BlankRow(),
        absent_right=spec.BlankRow(),
        picks=spec.Picks(limit=spec.Limit(stop.most, spec.OnExceed.FAIL)),
    )
    told = spec.Told(stop.title, (("LIMIT", stop.line),))
    # One row more than there may be says that there are too many.
    few = spec.Chosen(rows, 1, stop.most + 1)
    whole = spec.Inline(ONE.schema, ((0,),))
    counted = spec.Joined(whole, few, join, ONE.schema, told, stop.failure)
    total = values.Total(
        values.DatasetValue(counted, ONE), types.Scalar(COUNT, types.INTEGER)
    )
    return _with(source, total, "{0} >= 0L")


_ROW, _OTHER, _ROWS, _GROUP, _PLACE = "row", "other", "rows", "group", "place"
_INPUT = "input"
_NUMBERS = (types.Field(_GROUP, types.INTEGER), types.Field(_INPUT, types.INTEGER))


def read_combine(context: Context, node: syntax.Call) -> values.DatasetValue:
    """Returns what a transform makes of the rows of the same place."""
    first, second, *rest = node.arguments
    left, right = context.dataset(first), context.dataset(second)
    by_group = bool(rest) and is_word(rest[0], "group")
    transform = [one for one in rest[by_group:][:1] if is_transform(context, one)]
    datasets.refuse_others(rest[by_group + len(transform) :], set())
    _check_groups(node, (left, right), by_group=by_group)
    if by_group and not transform:
        raise refusal(node, "groups without a transform", "COMBINE(.., GROUP, t)")
    one, other = _rows(left), _groups(right) if by_group else _single(right)
    inside, totals = gathering(
        replace(context, sides=_sides(left, right, by_group=by_group), rows=())
    )
    made = inside.made(transform[0]) if transform else _default(left, right)
    both = _beside(node, _or_unlike(node, one, other), other)
    step = spec.Grouped(both.step, (_column(_GROUP),)) if left.is_grouped else both.step
    pairs = replace(both, step=step, is_grouped=left.is_grouped)
    last = spec.Projected(
        widened(pairs, totals),
        made.record.schema,
        datasets.columns_of(made),
        Expression(made.skip),
    )
    return values.DatasetValue(last, made.record, is_grouped=left.is_grouped)


def read_regroup(context: Context, node: syntax.Call) -> values.DatasetValue:
    """Returns the groups of the same place of several data sets, each as one group."""
    sources = [context.dataset(one) for one in node.arguments]
    record = sources[0].record
    steps = []
    for number, source in enumerate(sources):
        if not source.is_grouped:
            raise refusal(
                node.arguments[number],
                "REGROUP of rows without groups",
                "GROUP(SORT(rows, key), key)",
            )
        steps.append(_in_places(source, number, record))
    by = tuple(spec.By(_column(one.name)) for one in _NUMBERS)
    ordered = spec.Ordered(spec.Appended(tuple(steps)), by)
    step = spec.Grouped(ordered, (_column(_GROUP),))
    columns = ((it.name, f"l.{_ROW}.{quoted(it.name)}") for it in record.fields)
    rows = spec.Projected(step, record.schema, _texts(columns))
    return values.DatasetValue(rows, record, is_grouped=True)


def _check_groups(
    node: syntax.Call,
    sides: tuple[values.DatasetValue, values.DatasetValue],
    *,
    by_group: bool,
) -> None:
    """Refuses groups where rows are asked for, and rows where groups are."""
    left, right = sides
    if by_group and not right.is_grouped:
        raise refusal(
            node.arguments[1],
            "COMBINE(.., GROUP, ..) with right rows without groups",
            "GROUP(SORT(rows, key), key)",
        )
    if not by_group and (left.is_grouped or right.is_grouped):
        raise refusal(
            node.arguments[0 if left.is_grouped else 1],
            "groups in a COMBINE of rows",
            "UNGROUP(rows), or COMBINE(left, right, GROUP, transform)",
        )


def _sides(
    left: values.DatasetValue, right: values.DatasetValue, *, by_group: bool
) -> dict[str, values.Value]:
    """Returns what a transform sees: rows, or with GROUP all rows of the right."""
    row = values.RowValue(left.record, f"l.{_ROW}")
    if not by_group:
        return {"left": row, "right": values.RowValue(right.record, f"l.{_OTHER}")}
    rows = values.RowsValue(right.record, f"l.{_OTHER}")
    return {"left": row, "right": nth(rows, "1L"), "rows(right)": rows}


def _default(left: values.DatasetValue, right: values.DatasetValue) -> values.Made:
    """Returns the record of both: fields of the left, then new ones of the right."""
    made = default_record(left.record, right.record, spec.Kind.INNER)
    known = {one.word for one in left.record.fields}
    columns = tuple(
        (name, f"l.{_ROW if name.lower() in known else _OTHER}.{quoted(name)}")
        for name, _ in made.columns
    )
    return replace(made, columns=columns)


def _rows(source: values.DatasetValue) -> values.DatasetValue:
    """Returns each row with its place, and the number of its group, if there are."""
    whole = types.Field(_ROW, source.record)
    if not source.is_grouped:
        return _placed(source.step, (whole, source.record.row_text("l")))
    groups = _numbered(_listed(source, _ROWS), _GROUP)
    item = types.RecordType((whole, types.Field(_GROUP, types.INTEGER)))
    each = named_struct((_ROW, "item"), (_GROUP, f"l.{quoted(_GROUP)}"))
    lists = types.RecordType((types.Field(_ROWS, types.TableType(item)),))
    text = f"transform(l.{_ROWS}, item -> {each})"
    step = spec.Projected(groups.step, lists.schema, _texts([(_ROWS, text)]))
    rows = spec.Unfolded(step, item.schema, _ROWS)
    return _numbered(values.DatasetValue(rows, item), _PLACE)


def _single(source: values.DatasetValue) -> values.DatasetValue:
    """Returns each right row with its place."""
    return _placed(
        source.step, (types.Field(_OTHER, source.record), source.record.row_text("l"))
    )


def _groups(source: values.DatasetValue) -> values.DatasetValue:
    """Returns the list of rows of each group, with the place of the group."""
    return _numbered(_listed(source, _OTHER), _PLACE)


def _listed(source: values.DatasetValue, name: str) -> values.DatasetValue:
    """Returns the list of rows of each group."""
    rows = all_rows(values.RowsValue(source.record, ""))
    record = types.RecordType((types.Field(name, rows.type),))
    step = spec.Counted(source.step, record.schema, _texts([(name, rows.text)]))
    return values.DatasetValue(step, record)


def _placed(step: spec.Step, given: tuple[types.Field, str]) -> values.DatasetValue:
    """Returns each row as one column, with its place."""
    one, text = given
    record = types.RecordType((one,))
    columns = _texts([(one.name, text)])
    whole = spec.Projected(spec.Grouped(step, ()), record.schema, columns)
    return _numbered(values.DatasetValue(whole, record), _PLACE)


def _numbered(source: values.DatasetValue, name: str) -> values.DatasetValue:
    """Returns rows with their number, from 0."""
    record = types.RecordType((*source.record.fields, types.Field(name, types.INTEGER)))
    return values.DatasetValue(spec.Numbered(source.step, record.schema, name), record)


def _beside(
    node: syntax.Call, left: values.DatasetValue, right: values.DatasetValue
) -> values.DatasetValue:
    """Returns the columns of both sides where their places are the same."""
    other = right.record.fields[0]
    texts = [(it.name, f"l.{quoted(it.name)}") for it in left.record.fields]
    record = types.RecordType((*left.record.fields, other))
    join = spec.JoinSpec(
        spec.Side(spec.Named(spec.LEFT)),
        spec.Side(spec.Named(spec.RIGHT)),
        spec.Kind.INNER,
        spec.Clock.BATCH,
        (spec.Equality(_column(_PLACE), Expression(f"r.{quoted(_PLACE)}")),),
        select=_texts([*texts, (other.name, f"r.{quoted(other.name)}")]),
        absent_left=spec.BlankRow(),
        absent_right=spec.BlankRow(),
    )
    told = spec.Told(_title(node), (("hard", "the place of the row"),))
    return values.DatasetValue(
        spec.Joined(left.step, right.step, join, record.schema, told), record
    )


def _or_unlike(
    node: syntax.Call, left: values.DatasetValue, right: values.DatasetValue
) -> values.DatasetValue:
    """Returns the left rows, or fails where the sides have different numbers of rows.

    Of two rows the second is there only where the counts differ: one is allowed.
    """
    totals = [
        values.Total(side, types.Scalar(COUNT, types.INTEGER)) for side in (left, right)
    ]
    two = values.DatasetValue(spec.Inline(ONE.schema, ((0,), (1,))), ONE)
    wide = widened(two, totals)
    one, other = (f"l.{quoted(name)}" for name in wide.schema.names[-2:])
    kept = spec.Filtered(wide, Expression(f"l.`n` = 0L OR {one} <> {other}"))
    said = f"{_title(node)}: the sides have different numbers of rows or groups"
    stop = Stop(1, spec.Failure(0, said), _title(node), "as many rows on both sides")
    return or_failing(left, narrowed(kept, ONE, totals), stop)


def _in_places(
    source: values.DatasetValue, number: int, record: types.RecordType
) -> spec.Step:
    """Returns rows with the number of their group and of their data set."""
    same = datasets.as_record(
        values.DatasetValue(spec.Grouped(source.step, ()), source.record), record
    )
    if same.record.schema != source.record.schema:
        source = replace(source, step=same.step, record=record)
    groups = _numbered(_listed(source, _ROWS), _GROUP)
    item = types.RecordType((types.Field(_ROW, record), *_NUMBERS))
    texts = ((_ROW, "item"), (_GROUP, f"l.{quoted(_GROUP)}"), (_INPUT, f"{number}L"))
    text = f"transform(l.{_ROWS}, item -> {named_struct(*texts)})"
    lists = types.RecordType((types.Field(_ROWS, types.TableType(item)),))
    step = spec.Projected(groups.step, lists.schema, _texts([(_ROWS, text)]))
    return spec.Unfolded(step, item.schema, _ROWS)


def _title(node: syntax.Node) -> str:
    """Returns what the join of both sides is called."""
    return f"COMBINE in line {node.place.line}"


def _column(name: str) -> Expression:
    """Returns a column of the left row."""
    return Expression(f"l.{quoted(name)}")


def _texts(parts: Iterable[tuple[str, str]]) -> spec.Columns:
    """Returns named expressions as columns."""
    return spec.Columns(tuple((name, Expression(text)) for name, text in parts))
