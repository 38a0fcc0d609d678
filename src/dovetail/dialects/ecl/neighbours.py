"""ITERATE, ROLLUP, PROCESS and AGGREGATE, which go through rows in order; HAVING.

    Counted    the list of all rows of a group
    Projected  what comes out of going through it, as a list
    Unfolded   a row for each item

Where ROLLUP goes by equal values that its transform leaves as they are, the rows of a
list are those with these values, and become one row.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from dovetail import spec
from dovetail.dialects.ecl import aggregates, datasets, syntax, trees, types, values
from dovetail.dialects.ecl.conditions import Hard, pieces
from dovetail.dialects.ecl.context import Context, is_word, refusal, unfolded
from dovetail.dialects.ecl.names import is_transform
from dovetail.dialects.ecl.syntax import Call, Node
from dovetail.dialects.ecl.totals import Gathered, gathering, widened
from dovetail.dialects.ecl.trees import sql

_ROWS, _FOLDED = aggregates.ROWS, "folded"


# ITERATE(rows, TRANSFORM(r, SELF.total := LEFT.total + RIGHT.n, SELF := RIGHT))
@datasets.verb("iterate")
def _iterate(context: Context, node: Call) -> values.DatasetValue:
    """Returns ITERATE: a transform of each row, and of the result before it."""
    first, transform, *rest = node.arguments
    datasets.refuse_others(rest)
    source = context.dataset(first)
    along = aggregates.Along.of(source.record, source.record)
    made, totals = made_along(context, transform, along)
    # LEFT of the first row is the blank one, as DEFAULT says it.
    listed = aggregates.processed(made, None, source.record.absent, along)
    _tell(context, node, "each row looks at the one before it")
    rows = widened(lists(source), totals)
    return unfolded(rows, made.record, listed, is_grouped=source.is_grouped)


# PROCESS(rows, ROW({0}, s), t(LEFT, RIGHT), u(LEFT, RIGHT)): u makes the next RIGHT.
@datasets.verb("process")
def _process(context: Context, node: Call) -> values.DatasetValue:
    """Returns PROCESS: a transform of each row and of a row that goes along."""
    first, initial, transform, along, *rest = node.arguments
    datasets.refuse_others(rest)
    source, start = context.dataset(first), context.scalar(initial)
    if not isinstance(start.type, types.RecordType):
        raise refusal(initial, "a PROCESS that begins with no row", "ROW(..)")
    seen = aggregates.Along.of(start.type, source.record)
    # The other way round than in ITERATE: LEFT is the row, RIGHT what goes along.
    sides = {**seen.sides, "left": seen.coming, "right": seen.past}
    inside, totals = gathering(context.of_sides(sides))
    made = inside.made(transform)
    state = aggregates.in_record(along, inside.made(along), start.type)
    # The row that goes along must go on, whatever comes out.
    if state.skip != trees.FALSE:
        raise refusal(along, "SKIP in the row that goes along", "it in the first one")
    _tell(context, node, "each row looks at what goes along")
    listed = aggregates.processed(made, state, start.tree, seen)
    rows = widened(lists(source), totals)
    return unfolded(rows, made.record, listed, is_grouped=source.is_grouped)


# AGGREGATE(rows, r, TRANSFORM(r, SELF.n := RIGHT.n + LEFT.n, SELF := LEFT), LEFT.id)
@datasets.verb("aggregate")
def _aggregate(context: Context, node: Call) -> values.DatasetValue:
    """Returns AGGREGATE: what the rows with the same fields become, one by one."""
    first, second, transform, *rest = node.arguments
    source, record = context.dataset(first), context.record(second)
    seen = aggregates.Along.of(record, source.record)
    # LEFT is the row at hand, RIGHT what has become of those before it.
    sides = {"left": seen.coming, "right": seen.past}
    inside, totals = gathering(context.of_sides(sides))
    made = aggregates.in_record(transform, inside.made(transform), record)
    _refuse_in_result(transform, made)
    for one in rest[:1]:
        if is_transform(context, one):
            # Parts that are made apart and put together are those of a cluster: here
            # all rows with the same fields are one part. So it is only looked at.
            pair = values.RowsValue.together(record)
            names: dict[str, values.Value] = {"rows(right)": pair}
            names |= {"right1": pair.row, "right2": pair.row}
            merged = gathering(context.of_sides(names))[0].made(one)
            _refuse_in_result(one, aggregates.in_record(one, merged, record))
            rest = rest[1:]
    fields = [one for one in rest if not datasets.is_passed_over(one)]
    by = tuple(datasets.orders(context, source.record, fields))
    if by and source.is_grouped:
        expected = "rows without groups, or no fields"
        raise refusal(first, "AGGREGATE of groups by fields", expected)
    if by:
        source = replace(source, step=datasets.sorted_groups(source.step, by))
    else:
        _tell(context, node, "each row looks at what the ones before it have become")
        if not source.is_grouped:
            # Of no rows there is one result, too.
            source = replace(source, step=spec.Grouped(source.step, ()))
    # What does not look at the result so far is that of the first row.
    is_first = sql("x = 0L", x=seen.count)
    columns = []
    for name, tree in made.columns:
        past = dict(seen.past.record.parts(seen.result))[name]
        is_of_row = trees.replaced(tree, {seen.result.number: record.absent}) == tree
        own = sql("IF(c, x, y)", c=is_first, x=tree, y=past) if is_of_row else tree
        columns.append((name, own))
    fold = aggregates.Fold(replace(made, columns=tuple(columns)), seen)
    state = fold.tree(seen.rows, record.absent)
    return _one_row(widened(lists(source), totals), fold, state)


def _refuse_in_result(node: Node, made: values.Made) -> None:
    """Refuses what AGGREGATE cannot make of a row."""
    if made.skip != trees.FALSE:
        raise refusal(node, "SKIP in an AGGREGATE", "a filter before it")
    for one in made.record.fields:
        if isinstance(one.type, types.RecordType):
            raise refusal(
                node,
                f'the record "{one.name}" inside of what AGGREGATE makes',
                "fields that are values or rows",
                "a PROJECT behind it puts fields together",
            )


def _one_row(
    rows: spec.Step, fold: aggregates.Fold, state: trees.Node
) -> values.DatasetValue:
    """Returns the row that each list has become by a fold, of which it is the state."""
    step, row = folded(rows, fold, state)
    record = fold.made.record
    # Beside the row a fold keeps counts, which are of no use here.
    shown = tuple(record.parts(sql("x.row", x=row)))
    whole = values.DatasetValue(step, record)
    return datasets.projected(whole, values.Made(record, shown, trees.FALSE))


# ROLLUP(rows, LEFT.id = RIGHT.id, t(LEFT, RIGHT))   ROLLUP(rows, t(LEFT, RIGHT), id)
@datasets.verb("rollup")
def _rollup(context: Context, node: Call) -> values.DatasetValue:
    """Returns ROLLUP by a condition, by fields, or of groups."""
    first, second, *rest = node.arguments
    source = context.dataset(first)
    if is_word(second, "group"):
        return _of_groups(context, node, source)
    along = aggregates.Along.of(source.record, source.record)
    if rest and is_transform(context, second):
        transform, same = second, _by_last(context, along, rest)
    elif rest and is_transform(context, rest[0]):
        transform, *options = rest
        datasets.refuse_others(options)
        same = _by_condition(context, along, second)
    else:
        raise refusal(
            node,
            "a ROLLUP without a transform, or by nothing",
            "ROLLUP(rows, condition, transform) or ROLLUP(rows, transform, fields)",
        )
    made, totals = made_along(context, transform, along)
    # Groups that are there already stay: others by keys would mix their rows.
    keys = () if source.is_grouped else tuple(_that_stay(same, made, along))
    if keys:
        source = replace(
            source, step=spec.Grouped(source.step, tuple(map(trees.expressed, keys)))
        )
    rows = widened(lists(source), totals)
    # Where the keys say all of it, a list is what becomes one row: no list of results
    # is kept while it is gone through, and groups go to as many tasks as there are.
    if keys and len(keys) == same.count:
        fold = aggregates.Fold(made, along)
        begin = aggregates.first_of(along.rows)
        state = fold.tree(aggregates.behind_first(along.rows), begin)
        return _one_row(rows, fold, state)
    _tell(context, node, "each row looks at what the ones before it have become")
    listed = aggregates.rolled(made, same.holds, along)
    return unfolded(rows, made.record, listed, is_grouped=source.is_grouped)


@dataclass(frozen=True, slots=True)
class _Same:
    """When a row is the same as the ones before it.

    `keys` are values that are equal then, `count` terms say it all. `is_of_result`: a
    row is compared with the result so far, not with the row before.
    """

    holds: trees.Node
    keys: tuple[trees.Node, ...]
    count: int
    is_of_result: bool


def _by_last(context: Context, along: aggregates.Along, nodes: Sequence[Node]) -> _Same:
    """Returns what stands behind the transform: a condition on both rows, or fields."""
    found = [one for one in nodes if not datasets.is_passed_over(one)]
    if not any(map(_names_sides, found)):
        return _by_fields(context, along, nodes)
    for one in found[1:]:
        raise refusal(one, "this beside a condition", "one condition", "AND joins two")
    return _by_condition(context, along, found[0])


def _by_fields(
    context: Context, along: aggregates.Along, nodes: Sequence[Node]
) -> _Same:
    """Returns the condition that fields or values equal those of the row before."""
    record = along.coming.record
    row = datasets.row_at(record)
    keys = tuple(key for key, _ in datasets.sorted_by(context, row, nodes))
    if not keys:
        raise refusal(nodes[-1], "a ROLLUP by nothing", "fields, or RECORD")
    rows = (along.row_before, along.coming)
    sides = ([*datasets.sorted_by(context, row, nodes)] for row in rows)
    pairs = zip(*sides, strict=True)
    same = (sql("x = y", x=one, y=other) for (one, _), (other, _) in pairs)
    return _Same(trees.all_of(same), keys, len(keys), is_of_result=False)


def _by_condition(context: Context, along: aggregates.Along, node: Node) -> _Same:
    """Returns a condition on LEFT, the result so far, and on RIGHT, the row at hand.

    One that names neither is a value that both rows have.
    """
    record = along.coming.record
    left, right = datasets.row_at(record), datasets.row_at(record, "r")
    if not _names_sides(node) and not is_word(node, "true", "false"):
        return _by_fields(context, along, (node,))
    found = pieces(context.of_sides({"left": left, "right": right}), node)
    # Both rows have the same of one value, which so is a key.
    keys = tuple(
        one.left
        for one in found
        if isinstance(one, Hard)
        and trees.simple(one.left) == trees.simple(trees.on_side(one.right, "l"))
    )
    # Read twice: once as a join of rows to find keys, once as what a fold asks.
    sides = {"left": along.past, "right": along.coming}
    holds = context.of_sides(sides).condition(node)
    return _Same(holds, keys, len(found), is_of_result=True)


def _names_sides(node: Node) -> bool:
    """Tells whether LEFT or RIGHT stands somewhere in a condition."""
    return any(is_word(one, "left", "right") for one in syntax.nodes(node))


def _that_stay(
    same: _Same, made: values.Made, along: aggregates.Along
) -> Iterator[trees.Node]:
    """Gives the keys by which neighbours are a group, whatever is made of them.

    A row that is compared with the result so far must find there what it had itself.
    """
    there = {name.lower(): tree for name, tree in along.past.record.parts(along.result)}
    found = {name.lower(): tree for name, tree in made.columns}
    for key in same.keys:
        names = (one.name for one in trees.columns_of(key))
        if not same.is_of_result or all(
            found[name.lower()] == there[name.lower()] for name in names
        ):
            yield key


def made_along(
    context: Context, node: Node, along: aggregates.Along
) -> tuple[values.Made, list[Gathered]]:
    """Returns a transform of LEFT, the result so far, and of RIGHT, the row at hand."""
    inside, totals = gathering(context.of_sides(along.sides))
    # What becomes of a row is LEFT of the next one: it has the record of LEFT.
    return aggregates.in_record(node, inside.made(node), along.past.record), totals


def _tell(context: Context, node: Call, why: str) -> None:
    """Notes where all rows of a group go through one task."""
    context.world.remarks.append(
        f"{node.word.upper()} in line {node.place.line}: {why}, so each group is gone "
        "through by one task; without groups all rows are one"
    )


# Such as ROLLUP(GROUP(rows, id), GROUP, t(LEFT, ROWS(LEFT)))
def _of_groups(
    context: Context, node: Call, source: values.DatasetValue
) -> values.DatasetValue:
    """Returns ROLLUP(groups, GROUP, transform): a row made of all rows of a group."""
    first, _, *rest = node.arguments
    if not rest:
        raise refusal(
            node, "a ROLLUP without a transform", "ROLLUP(groups, GROUP, transform)"
        )
    datasets.refuse_others(rest[1:])
    if not source.is_grouped:
        raise refusal(
            first, "ROLLUP of rows without groups", "GROUP(SORT(rows, key), key)"
        )
    row, rows = datasets.row_at(source.record), values.RowsValue.together(source.record)
    made = replace(context, sides={"left": row, "rows(left)": rows}).made(rest[0])
    if made.skip != trees.FALSE:
        raise refusal(rest[0], "SKIP in a ROLLUP", "a filter behind it")
    step = spec.Counted(source.step, made.record.schema, trees.select(made.columns))
    return values.DatasetValue(step, made.record)


# Such as HAVING(GROUP(rows, id), COUNT(ROWS(LEFT)) > 1)
@datasets.verb("having")
def _having(context: Context, node: Call) -> values.DatasetValue:
    """Returns HAVING: the groups of which a condition holds, as they are."""
    first, condition, *rest = node.arguments
    datasets.refuse_others(rest)
    source = context.dataset(first)
    if not source.is_grouped:
        raise refusal(
            first, "HAVING of rows without groups", "GROUP(SORT(rows, key), key)"
        )
    listed = types.column(types.Field(_ROWS, types.TableType(source.record)))
    rows = values.RowsValue.of(source.record, listed)
    row = aggregates.nth(rows, trees.literal(1))
    sides = context.of_sides({"left": row, "rows(left)": rows})
    inside, totals = gathering(sides)
    holds = trees.expressed(inside.condition(condition))
    kept = spec.Filtered(widened(lists(source), totals), holds)
    return unfolded(kept, source.record, listed, is_grouped=True)


def folded(
    rows: spec.Step,
    fold: aggregates.Fold,
    state: trees.Node,
    others: tuple[types.Field, ...] = (),
) -> tuple[spec.Step, trees.Node]:
    """Returns rows with the last state of a fold beside others, and its column."""
    result, beside = types.Field(_FOLDED, fold.type), types.RecordType(others)
    columns = trees.select([(_FOLDED, state), *beside.columns()])
    schema = types.RecordType((result, *others)).schema
    # A step of its own: its fields are taken out of the state one by one, and would
    # else go through the rows once for each of them.
    return spec.Projected(rows, schema, columns), types.column(result)


def lists(source: values.DatasetValue, name: str = _ROWS) -> values.DatasetValue:
    """Returns a row for each group: the list of its rows."""
    record = types.RecordType((types.Field(name, types.TableType(source.record)),))
    listed = trees.select([(name, aggregates.together(source.record).tree)])
    step = spec.Counted(source.step, record.schema, listed)
    return values.DatasetValue(step, record)
