"""COMBINE and REGROUP: rows, or groups, of the same place stand together.

    COMBINE(left, right, transform)          row n of both
    COMBINE(left, right, GROUP, transform)   row n of the left, all rows of group n
    REGROUP(one, other, ..)                  group n of each, one after the other

Places are numbers, by which both sides are joined; where one side has more, the job
fails.
"""

from __future__ import annotations

from dataclasses import replace

from dovetail import spec
from dovetail.dialects.ecl import datasets, syntax, trees, types, values
from dovetail.dialects.ecl.aggregates import nth
from dovetail.dialects.ecl.context import Context, is_word, refusal, unfolded
from dovetail.dialects.ecl.limits import COUNT, NUMBER, ONE, Stop, or_failing
from dovetail.dialects.ecl.names import is_transform
from dovetail.dialects.ecl.neighbours import lists
from dovetail.dialects.ecl.records import default_record
from dovetail.dialects.ecl.totals import gathering, narrowed, plain_join, widened
from dovetail.dialects.ecl.trees import sql
from dovetail.expression import Expression
from dovetail.schema import AtomicType

_ROW, _OTHER, _ROWS, _GROUP, _PLACE = "row", "other", "rows", "group", "place"


def read_combine(context: Context, node: syntax.Call) -> values.DatasetValue:
    """Returns what a transform makes of the rows of the same place."""
    first, second, *rest = node.arguments
    left, right = context.dataset(first), context.dataset(second)
    by_group = bool(rest) and is_word(rest[0], "group")
    transform = [one for one in rest[by_group:][:1] if is_transform(context, one)]
    datasets.refuse_others(rest[by_group + len(transform) :])
    if by_group and not right.is_grouped:
        raise refusal(
            second,
            "COMBINE(.., GROUP, ..) with right rows without groups",
            "GROUP(SORT(rows, key), key)",
        )
    if not by_group and (left.is_grouped or right.is_grouped):
        raise refusal(
            first if left.is_grouped else second,
            "groups in a COMBINE of rows",
            "UNGROUP(rows), or COMBINE(left, right, GROUP, transform)",
        )
    if by_group and not transform:
        raise refusal(node, "groups without a transform", "COMBINE(.., GROUP, t)")
    one, other = _placed(left, _ROW), _placed(right, _OTHER)
    if by_group:
        other = datasets.numbered(lists(right, _OTHER), _PLACE)
    if left.is_grouped:
        one = datasets.numbered(_of_groups(left, left.record), _PLACE)
    sides = _sides(left, right, by_group=by_group)
    # Values of other rows that the transform needs gather while it is read.
    inside, totals = gathering(context.of_sides(sides))
    if transform:
        made = inside.made(transform[0])
    else:
        # The fields of the left row, then those of the right with a new name.
        both = ((left.record, _ROW), (right.record, _OTHER))
        mine, its = (values.RowValue(it, _part(name, it)) for it, name in both)
        made = default_record(mine, its, spec.Kind.INNER)
    title = f"COMBINE in line {node.place.line}"
    pairs = _beside(_or_unlike(one, other, title), other, title)
    if left.is_grouped:
        step = spec.Grouped(pairs.step, (_column(_GROUP),))
        pairs = replace(pairs, step=step, is_grouped=True)
    return datasets.projected(replace(pairs, step=widened(pairs, totals)), made)


def _sides(
    left: values.DatasetValue, right: values.DatasetValue, *, by_group: bool
) -> dict[str, values.Value]:
    """Returns what a transform sees: rows, or with GROUP all rows of the right."""
    row = values.RowValue(left.record, _part(_ROW, left.record))
    if not by_group:
        other = values.RowValue(right.record, _part(_OTHER, right.record))
        return {"left": row, "right": other}
    listed = _part(_OTHER, types.TableType(right.record))
    rows = values.RowsValue.of(right.record, listed)
    return {"left": row, "right": nth(rows, trees.literal(1)), "rows(right)": rows}


def read_regroup(context: Context, node: syntax.Call) -> values.DatasetValue:
    """Returns the groups of the same place of several data sets, each as one group."""
    sources = [context.dataset(one) for one in node.arguments]
    record = sources[0].record
    steps = []
    for number, given in enumerate(sources):
        if not given.is_grouped:
            raise refusal(
                node.arguments[number],
                "REGROUP of rows without groups",
                "GROUP(SORT(rows, key), key)",
            )
        source = given
        if record.schema != given.record.schema:
            # Fields go by their names, as where data sets are put together.
            whole = replace(given, step=spec.Grouped(given.step, ()))
            source = datasets.as_record(whole, record)
        steps.append(_of_groups(source, record, input=number).step)
    by = tuple(spec.By(_column(name)) for name in (_GROUP, "input"))
    ordered = spec.Ordered(spec.Appended(tuple(steps)), by)
    step = spec.Grouped(ordered, (_column(_GROUP),))
    columns = trees.select(record.parts(_part(_ROW, record)))
    rows = spec.Projected(step, record.schema, columns)
    return values.DatasetValue(rows, record, is_grouped=True)


def _placed(source: values.DatasetValue, name: str) -> values.DatasetValue:
    """Returns each row as one column, with its place."""
    record = types.RecordType((types.Field(name, source.record),))
    whole = trees.select([(name, source.record.row("l"))])
    # Groups end here: a place is that among all rows.
    step = spec.Projected(spec.Grouped(source.step, ()), record.schema, whole)
    return datasets.numbered(values.DatasetValue(step, record), _PLACE)


def _of_groups(
    source: values.DatasetValue, record: types.RecordType, **numbers: int
) -> values.DatasetValue:
    """Returns each row as one column, with the number of its group and other numbers.

    Groups have no numbers, their lists have: so they are listed, and taken apart again.
    """
    groups = datasets.numbered(lists(source, _ROWS), _GROUP)
    found = {_GROUP: _part(_GROUP, types.INTEGER)}
    found |= {name: trees.literal(number) for name, number in numbers.items()}
    fields = (types.Field(name, types.INTEGER) for name in found)
    of_item = types.RecordType((types.Field(_ROW, record), *fields))
    one = trees.variable("item", record.struct)
    each = trees.function(trees.struct((_ROW, one), *found.items()), one)
    rows = _part(_ROWS, types.TableType(record))
    items = sql("transform(x, each)", x=rows, each=each)
    return unfolded(groups.step, of_item, items)


def _beside(
    left: values.DatasetValue, right: values.DatasetValue, title: str
) -> values.DatasetValue:
    """Returns the columns of both sides where their places are the same."""
    other = right.record.fields[0]
    record = types.RecordType((*left.record.fields, other))
    its = types.RecordType((other,)).columns("r")
    select = trees.select([*left.record.columns(), *its])
    same = spec.Equality(_column(_PLACE), _column(_PLACE, "r"))
    join = plain_join(select, same, picks=spec.Picks())
    told = spec.Told(title, (("hard", "the place of the row"),))
    step = spec.Joined(left.step, right.step, join, record.schema, told)
    return values.DatasetValue(step, record)


def _or_unlike(
    left: values.DatasetValue, right: values.DatasetValue, title: str
) -> values.DatasetValue:
    """Returns the left rows, or fails where the sides have different numbers of rows.

    Of two rows the second is there only where the counts differ: one is allowed.
    """
    totals = [values.Total(side, COUNT) for side in (left, right)]
    two = values.DatasetValue(spec.Inline(ONE.schema, ((0,), (1,))), ONE)
    wide = widened(two, totals)
    counts = (trees.column(it, AtomicType.BIGINT) for it in wide.schema.names[-2:])
    unlike = sql("n = 0L OR x <> y", n=NUMBER, **dict(zip("xy", counts, strict=True)))
    kept = spec.Filtered(wide, trees.expressed(unlike))
    said = f"{title}: the sides have different numbers of rows or groups"
    stop = Stop(1, spec.Failure(0, said), title, "as many rows on both sides")
    return or_failing(left, narrowed(kept, ONE, totals), stop)


def _column(name: str, letter: str = "l") -> Expression:
    """Returns a number beside a row as an expression."""
    return trees.expressed(trees.column(name, AtomicType.BIGINT, letter))


def _part(name: str, kind: types.EclType) -> trees.Node:
    """Returns a column of the left row."""
    return trees.column(name, types.spark_type(kind))
