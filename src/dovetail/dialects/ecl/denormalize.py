"""NORMALIZE and DENORMALIZE: one row becomes several, or rows are taken up by one.

Projected  the list of what becomes of the items: child rows, or so many numbers
Unfolded   a row for each of them

DENORMALIZE: a JOIN whose pairs of a left row become one row again.

    Joined     each pair, and the number of its left row
    Counted    the left row, and the list of its right rows
    Projected  GROUP: one call of the transform, which sees the list as ROWS(RIGHT);
               else a call a right row, which sees as LEFT what the last one made

A left row without partners stays as it is. Right rows without a partner that have the
same key become one row, of a blank left one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from dovetail import spec
from dovetail.dialects.ecl import (
    aggregates,
    datasets,
    joins,
    options,
    trees,
    types,
    values,
)
from dovetail.dialects.ecl.catalog import of_spark
from dovetail.dialects.ecl.context import Context, as_type, is_word, refusal, unfolded
from dovetail.dialects.ecl.neighbours import folded, made_along
from dovetail.dialects.ecl.syntax import Call, Node
from dovetail.dialects.ecl.totals import Gathered, gathering, widened
from dovetail.dialects.ecl.trees import sql
from dovetail.expression.kinds import columnar
from dovetail.schema import AtomicType, Schema


def read_normalize(context: Context, node: Call) -> values.DatasetValue:
    """Returns NORMALIZE(rows, a number or child rows, transform)."""
    first, second, third, *rest = node.arguments
    datasets.refuse_others(rest)
    source = context.dataset(first)
    if source.is_grouped:
        raise refusal(first, "NORMALIZE of groups", "UNGROUP(rows)")
    left = {"left": datasets.row_at(source.record)}
    inside, totals = gathering(context.of_sides(left))
    found = inside.value(second)
    if isinstance(found, values.RowsValue):
        found = aggregates.all_rows(found)
    sides: dict[str, values.Value]
    place = trees.variable("at", AtomicType.INT)
    match found:
        case types.Scalar(items, types.TableType(record)):
            item = trees.variable("item", record.struct)
            counter = types.whole(sql("x + 1L", x=place))
            sides = {"right": values.RowValue(record, item), "counter": counter}
        case _:
            number = as_type(second, inside.scalar(second), types.INTEGER).tree
            # The items are the numbers themselves.
            items = aggregates.numbers_to(number)
            item = trees.variable("number", AtomicType.BIGINT)
            sides = {"counter": types.whole(item)}
    made = inside.with_sides(sides).made(third)
    rows = aggregates.made_of(items, made, item, place)
    return unfolded(widened(source, totals), made.record, rows)


_LEFT, _ROWS = "left", "rows"
_RIGHT, _NUMBER, _MEETS, _KEY = "right", "number of left", "meets right", "key {}"
# The row that a LIMIT puts in place of too many.
_INSTEAD, _IS_OVER, _IS_SKIPPED = "instead", "is over", "is skipped"
_MATCHED = trees.of_pair("matched_left")
_ALONE = "-1L"
_OF_LEFT = types.Field(_NUMBER, types.INTEGER)

Part = tuple[types.Field, trees.Node]


def read_denormalize(context: Context, node: Call) -> values.DatasetValue:
    """Returns the rows of DENORMALIZE(left, right, condition, GROUP, transform, ..)."""
    rest = [*node.arguments[3:]]
    is_group = bool(rest) and is_word(rest[0], "group")
    transform, others = joins.split(context, rest[1:] if is_group else rest)
    if not transform:
        raise refusal(
            node,
            "a DENORMALIZE without a transform",
            "DENORMALIZE(left, right, condition, transform, ..)",
            "GROUP stands before the transform, every other option behind it",
        )
    parts = joins.parts_of(context, node, others, kind=spec.Kind.LEFT_OUTER)
    both = (parts.left.record, parts.right.record)
    along = aggregates.Along.of(*both)
    of_left = _has_left(parts.given.kind)
    if is_group:
        made, totals = _made_of_rows(context, *both, transform[0], of_left=of_left)
    else:
        met = ((along.past, of_left), (along.coming, trees.TRUE))
        made, totals = made_along(replace(context, met=met), transform[0], along)
    parts, demands, counts = joins.judged(replace(parts, made=made))
    most = 0
    if not is_group and made.skip != trees.FALSE:
        # KEEP and LOOKUP do not count a right row that is skipped: the fold sees all.
        keep = options.keep_of(parts.context, parts.given)
        most = keep.count if isinstance(keep, spec.Keep) else 0
        most = 1 if parts.given.is_single else most
        parts = replace(parts, given=replace(parts.given, gives_all=True))
    gathered = _gathered(parts, demands, counts)
    step = widened(gathered, totals)
    if not is_group:
        # KEEP counts for left rows: those that have none become one row anyway.
        fold = aggregates.Fold(made, along, most, of_left)
        step, made = _one_by_one(step, gathered.record, fold)
    if counts.instead:
        made = _or_instead(made)
    whole = replace(gathered, step=step)
    return datasets.projected(whole, made)


def _has_left(kind: spec.Kind) -> trees.Node:
    """Returns whether there is a left row; only rows of the right alone have none."""
    if not kind.preserves(spec.Hand.RIGHT):
        return trees.TRUE
    return sql(f"x <> {_ALONE}", x=types.column(_OF_LEFT))


def _made_of_rows(
    context: Context,
    left: types.RecordType,
    right: types.RecordType,
    node: Node,
    *,
    of_left: trees.Node,
) -> tuple[values.Made, list[Gathered]]:
    """Returns the transform, which sees a left row and all of its right ones."""
    listed = types.Field(_ROWS, types.TableType(right))
    rows = values.RowsValue.of(right, types.column(listed))
    row = values.RowValue(left, types.column(types.Field(_LEFT, left)))
    first = aggregates.nth(rows, trees.literal(1))
    sides = context.of_sides({"left": row, "right": first, "rows(right)": rows})
    of_right = sql("size(x) > 0", x=types.column(listed))
    met = ((row, of_left), (first, of_right), (rows, of_right))
    inside, totals = gathering(replace(sides, met=met))
    return inside.made(node), totals


def _gathered(
    parts: joins.Parts, demands: joins.Demands, counts: options.Counts
) -> values.DatasetValue:
    """Returns each left row with the list of its right ones."""
    unmatched = tuple(_keys_unmatched(parts, demands))
    # What a pair has of a left row that is not over its LIMIT: no row in its place.
    instead: tuple[Part, ...] = (
        (types.Field(_INSTEAD, parts.made.record), types.blank(parts.made.record)),
        (_truth(_IS_OVER), trees.FALSE),
        (_truth(_IS_SKIPPED), trees.FALSE),
    )[: 3 if counts.instead else 0]
    left = types.Field(_LEFT, parts.left.record)
    right = types.Field(_RIGHT, parts.right.record)
    number, meets = _OF_LEFT, _truth(_MEETS)
    # Rows of the right alone have no left row to number.
    own = sql(f"IF(x, n, {_ALONE})", x=_MATCHED, n=types.column(number))
    pair = (
        (left, parts.left.record.row("l")),
        (right, parts.right.record.row("r")),
        (number, own),
        (meets, trees.of_pair("matched_right")),
        *unmatched,
        *instead,
    )
    shown = tuple((one.name, tree) for one, tree in pair)
    record = types.RecordType(tuple(one for one, _ in pair))
    made = values.Made(record, shown, trees.FALSE)
    paired = replace(parts, left=_numbered(parts.left), made=made)
    pairs = joins.join_step(paired, demands, _of_pairs(parts, counts))
    # Whether there is a left row must be known where there may be none.
    has_alone = parts.given.kind.preserves(spec.Hand.RIGHT)
    numbers: tuple[Part, ...] = ((number, types.column(number)),) if has_alone else ()
    # Of the pairs of a left row, those that have a right one.
    rows = values.RowsValue.together(record)
    met = replace(rows, conditions=(types.part(rows.item, meets).tree,))
    listed = aggregates.listed(met, types.part(rows.item, right).tree)
    whole: tuple[Part, ...] = (
        (left, types.column(left)),
        (types.Field(_ROWS, types.TableType(parts.right.record)), listed),
        *((one, types.column(one)) for one, _ in instead),
        *numbers,
    )
    record = types.RecordType(tuple(one for one, _ in whole))
    by = (_NUMBER, *(one.name for one, _ in unmatched))
    shown_of = trees.select((one.name, tree) for one, tree in whole)
    keeps = pairs.is_grouped
    step = spec.Counted(pairs.step, record.schema, shown_of, by, keeps_groups=keeps)
    return values.DatasetValue(step, record, is_grouped=keeps)


def _numbered(left: values.DatasetValue) -> values.DatasetValue:
    """Returns the left rows with a number by which pairs of one row are found."""
    number = types.RecordType((_OF_LEFT,)).schema
    schema = Schema((*left.step.schema.columns, *number.columns))
    # Numbers only part rows: gaps do no harm, and Spark gives those without a sort.
    step = spec.Numbered(left.step, schema, _NUMBER, may_gap=True)
    return replace(left, step=step)


def _truth(name: str) -> types.Field:
    """Returns a field that is true or false."""
    return types.Field(name, types.BOOLEAN)


def _keys_unmatched(parts: joins.Parts, demands: joins.Demands) -> Iterator[Part]:
    """Gives the keys of right rows without a partner: by these they are one row."""
    if not parts.given.kind.preserves(spec.Hand.RIGHT):
        return
    for number, equality in enumerate(demands.hard, start=1):
        kind = of_spark(columnar(equality.right.type))
        only = sql(
            "IF(x, NULL, y)",
            x=_MATCHED,
            y=equality.right,
        )
        yield types.Field(_KEY.format(number), kind), only


def _of_pairs(parts: joins.Parts, counts: options.Counts) -> options.Counts:
    """Returns the counts of pairs; the row of a LIMIT is one of them."""
    limit = counts.picks.limit
    if not counts.instead or not isinstance(limit, spec.Limit):
        return counts
    columns = trees.select(
        (
            (_LEFT, parts.left.record.row("l")),
            (_NUMBER, types.column(_OF_LEFT)),
            (_MEETS, trees.FALSE),
            (_INSTEAD, trees.struct(*counts.instead)),
            (_IS_OVER, trees.TRUE),
            (_IS_SKIPPED, counts.skip),
        )
    )
    picks = replace(counts.picks, limit=replace(limit, transform=columns.columns))
    # Whether it is skipped is asked of what becomes of the pairs, not of the pair.
    return replace(counts, picks=picks, hides_skips=False, skip=trees.FALSE)


def _one_by_one(
    step: spec.Step, record: types.RecordType, fold: aggregates.Fold
) -> tuple[spec.Step, values.Made]:
    """Returns rows with what a fold has made, and how that becomes the result."""
    left, rows, *others = record.fields
    state = fold.tree(types.column(rows), types.column(left))
    step, last = folded(step, fold, state, tuple(others))
    # Partners there are, and the transform has skipped each of them.
    behind = sql("x.counter > 0L AND x.kept = 0L", x=last)
    shown = fold.made.record.parts(sql("x.row", x=last))
    return step, values.Made(fold.made.record, tuple(shown), behind)


def _or_instead(made: values.Made) -> values.Made:
    """Returns a transform that gives the row of a LIMIT where one stands."""
    over, skipped = (types.column(_truth(name)) for name in (_IS_OVER, _IS_SKIPPED))
    instead = made.record.parts(types.column(types.Field(_INSTEAD, made.record)))
    either = "IF(over, instead, found)"
    columns = tuple(
        (name, sql(either, over=over, instead=other, found=tree))
        for (name, tree), (_, other) in zip(made.columns, instead, strict=True)
    )
    skip = sql(either, over=over, instead=skipped, found=made.skip)
    return values.Made(made.record, columns, skip)
