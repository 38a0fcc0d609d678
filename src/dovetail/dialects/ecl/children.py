"""Child rows: those of a row, and those that the row at hand chooses.

PROJECT(LEFT.pets, TRANSFORM(..))    SORT(ROWS(LEFT), -age)    TOPN(LEFT.pets, 2, age)

They are lists inside a row, so what becomes of them is an expression of the row.

    pets(owner = LEFT.id, age > LEFT.least)
         `--- key -----'  `-- a condition -'

What must be equal is a key: the rows are listed by it, and each row at hand finds its
list by LOOKUP. What else is asked goes through the list. Without a key all rows of the
data set stand beside each row.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from dovetail import spec
from dovetail.dialects.ecl import (
    aggregates,
    datasets,
    syntax,
    totals,
    trees,
    types,
    values,
)
from dovetail.dialects.ecl.child_joins import read_child_join
from dovetail.dialects.ecl.conditions import Term, terms
from dovetail.dialects.ecl.context import (
    Context,
    as_type,
    is_known,
    is_word,
    refusal,
    said,
)
from dovetail.dialects.ecl.names import is_transform
from dovetail.dialects.ecl.scalars import met
from dovetail.dialects.ecl.trees import sql
from dovetail.expression.tables import entered
from dovetail.schema import AtomicType

_ROWS = "rows"


@dataclass(frozen=True, slots=True)
class _Key:
    """A value of the row at hand, and the value of the other rows that equals it."""

    wanted: trees.Node
    value: trees.Node
    type: types.EclType


def rows_chosen(
    context: Context, node: syntax.Call, source: values.DatasetValue
) -> values.RowsValue:
    """Returns the rows of a data set that conditions about the row at hand choose."""
    item = trees.variable("chosen", source.record.struct)
    inside = context.inside(values.RowValue(source.record, item, source.step))
    asked = [
        term
        for one in node.arguments
        if not (isinstance(one, syntax.Omitted) or is_word(one, "keyed", "few"))
        for term in terms(inside, one)
        if not term.is_wild
    ]
    # The first row at hand that has keys finds its list by them.
    for row in totals.rows_at_hand(context):
        terms_keys = [(term, [*_key(term, row, item)]) for term in asked]
        keys = [key for _, some in terms_keys for key in some]
        if keys:
            context.check_children(node, source)
            found = _by_keys(source, row, keys)
            asked = [term for term, some in terms_keys if not some]
            break
    else:
        found = listed_beside(context, node, source).list
    if asked:
        kept = trees.all_of(term.context.condition(term.node) for term in asked)
        found = sql("filter(x, kept)", x=found, kept=trees.function(kept, item))
    return values.RowsValue.of(source.record, found)


def listed_beside(
    context: Context, node: syntax.Node, source: values.DatasetValue
) -> values.RowsValue:
    """Returns all rows of a data set as a list that stands beside the row at hand."""
    context.world.remarks.append(
        f"all rows of a data set stand beside each row in line {node.place.line}: no "
        "equality says which of them it needs"
    )
    whole = values.Total(source, aggregates.together(source.record))
    return values.RowsValue.of(source.record, context.gathered(node, whole).tree)


# pets(owner = LEFT.id) has the key owner; pets(age > LEFT.least) has none.
def _key(term: Term, row: totals.AtHand, item: trees.Variable) -> Iterator[_Key]:
    """Gives the key that a term is, if it says that values of both rows are equal."""
    match term.node:
        case syntax.Operation(sign="=", operands=(first, second)):
            both = [term.context.scalar(one) for one in (first, second)]
        case _:
            return
    if any(isinstance(one.type, types.RecordType | types.TableType) for one in both):
        return
    pair = met(term.node, *both)
    for mine, other in (pair, pair[::-1]):
        # With the row as that of a side, what is made of it alone is made of columns.
        left = {item.number: trees.side("l", item.type)}
        value = trees.replaced(mine.tree, left)
        if trees.is_of(mine.tree, item) and row.has(other.tree):
            yield _Key(other.tree, value, mine.type)
            return


def _by_keys(
    source: values.DatasetValue, row: totals.AtHand, keys: list[_Key]
) -> trees.Node:
    """Returns the list of rows that a row at hand finds by its keys."""
    # The rows of the data set are a list for each value of the keys.
    fields = tuple(types.Field(_name(at), key.type) for at, key in enumerate(keys))
    both = types.RecordType((*source.record.fields, *fields))
    own = source.record.columns()
    keyed = ((_name(at), key.value) for at, key in enumerate(keys))
    beside = spec.Projected(
        spec.Grouped(source.step, ()), both.schema, trees.select([*own, *keyed])
    )
    rows = aggregates.together(source.record)
    record = types.RecordType((*fields, types.Field(_ROWS, rows.type)))
    names = tuple(one.name for one in fields)
    found = types.RecordType(fields).columns()
    shown = trees.select([*found, (_ROWS, rows.tree)])
    step = spec.Counted(beside, record.schema, shown, names)
    lists = values.Dictionary(values.DatasetValue(step, record), fields)
    pairs = (
        (key.wanted, types.column(one, "r"))
        for key, one in zip(keys, fields, strict=True)
    )
    return sql("x.row.rows", x=row.beside(lists, pairs))


def _name(number: int) -> str:
    """Returns the column of a key, which no field of a record is named like."""
    return f"key {number + 1}"


Child = Callable[[Context, syntax.Call, values.RowsValue], values.RowsValue]
# What is made of the rows inside a row, by its name in a text.
_CHILD_STEPS: dict[str, Child] = {}


def _item(record: types.RecordType) -> tuple[trees.Variable, trees.Variable]:
    """Returns a row of a list, and its place from 0."""
    return trees.variable("child", record.struct), trees.variable("at", AtomicType.INT)


# PROJECT(LEFT.pets, TRANSFORM(r, SELF.n := COUNTER, SELF := LEFT))
@entered(_CHILD_STEPS, "project")
def _project(
    context: Context, node: syntax.Call, rows: values.RowsValue
) -> values.RowsValue:
    """Returns what a transform makes of each of the rows, or a record."""
    datasets.refuse_others(node.arguments[2:])
    item, place = _item(rows.record)
    row = values.RowValue(rows.record, item)
    counter = types.whole(sql("x + 1L", x=place))
    inside = context.with_sides({"left": row, "counter": counter})
    made = inside.value(node.arguments[1])
    if not isinstance(made, values.Made):
        record = context.record(node.arguments[1])
        columns = datasets.rebuilt(types.Scalar(item, rows.record), record)
        made = values.Made(record, tuple(columns), trees.FALSE)
    found = aggregates.made_of(aggregates.all_rows(rows).tree, made, item, place)
    changed = values.RowsValue.of(made.record, found)
    # COMBINE asks for lists that surely have as many rows: one that skips may not.
    is_like = made.skip == trees.FALSE
    return replace(changed, like=(_as_many(rows),)) if is_like else changed


def _as_many(rows: values.RowsValue) -> trees.Node:
    """Returns a list that surely has as many rows."""
    return trees.simple([*rows.like, aggregates.all_rows(rows).tree][0])


# Such as COMBINE(LEFT.pets, SORT(LEFT.pets, age), t(LEFT, RIGHT))
@entered(_CHILD_STEPS, "combine")
def _combine(
    context: Context, node: syntax.Call, rows: values.RowsValue
) -> values.RowsValue:
    """Returns what a transform makes of the rows of the same place in two lists.

    HPCC fails where one is longer; inside a row nothing can, so both must be made of
    one list.
    """
    _, second, *rest = node.arguments
    match context.value(second), rest:
        case values.RowsValue() as others, [transform, *options] if _as_many(
            others
        ) == _as_many(rows):
            datasets.refuse_others(options)
        case values.RowsValue(), [_, *_]:
            raise refusal(
                second,
                "COMBINE of child rows of which there may be different numbers",
                "two lists that PROJECT or SORT make of the same child rows",
            )
        case _:
            raise refusal(
                node, "this COMBINE of child rows", "COMBINE(rows, other rows, t)"
            )
    item, place = _item(rows.record)
    lists = trees.struct(
        ("one", aggregates.all_rows(rows).tree),
        ("other", aggregates.all_rows(others).tree),
    )

    def combined(both: trees.Node) -> trees.Node:
        other = sql("get(x.other, CAST(at AS INT))", x=both, at=place)
        sides = {
            "left": values.RowValue(rows.record, item),
            "right": values.RowValue(others.record, other),
        }
        made = context.with_sides(sides).made(transform)
        records.append(made.record)
        return aggregates.made_of(sql("x.one", x=both), made, item, place)

    # The transform is read once both lists have a name: what it makes is known then.
    records: list[types.RecordType] = []
    found = aggregates.once(lists, combined)
    return values.RowsValue.of(records[0], found)


# SORT(LEFT.pets, -age, name): the keys, the place and the row stand in one record, and
# records are sorted by their fields from the first on.
@entered(_CHILD_STEPS, "sort")
def _sort(
    context: Context, node: syntax.Call, rows: values.RowsValue
) -> values.RowsValue:
    """Returns the rows in another order; equal ones stay as they were."""
    item, place = _item(rows.record)
    inside = context.inside(values.RowValue(rows.record, item))
    keys = []
    for by in node.arguments[1:]:
        if isinstance(by, syntax.Omitted) or datasets.is_passed_over(by):
            continue
        match by:
            case syntax.Operation(sign="NEGATIVE", operands=(inner,)):
                # A number turned round sorts downwards.
                for one in types.leaves(inside.scalar(inner)):
                    if not isinstance(one.type, types.Whole | types.Real | types.Exact):
                        raise refusal(
                            by,
                            "child rows sorted downwards by no number",
                            "a number",
                            "NORMALIZE makes rows of them, which SORT sorts by any "
                            "value",
                        )
                    keys.append(sql("- x", x=one.tree))
            case _:
                keys += map(types.compared, types.leaves(inside.scalar(by)))
    named = [(f"key_{number}", key) for number, key in enumerate(keys)]
    keyed = trees.struct(*named, ("at", place), ("row", item))
    found = sql(
        "transform(array_sort(transform(x, keyed)), one -> one.row)",
        x=aggregates.all_rows(rows).tree,
        keyed=trees.function(keyed, item, place),
    )
    ordered = values.RowsValue.of(rows.record, found)
    return replace(ordered, like=(_as_many(rows),))


# CHOOSEN(LEFT.pets, 2, 3): two of them from the third on.
@entered(_CHILD_STEPS, "choosen")
def _chosen(
    context: Context, node: syntax.Call, rows: values.RowsValue
) -> values.RowsValue:
    """Returns so many of the rows, from a place on."""
    _, number, *rest = node.arguments
    # `slice` of Spark fails at a place of 0 and at a negative number: both are raised.
    found = sql(
        "slice(x, greatest(CAST(place AS INT), 1), greatest(CAST(many AS INT), 0))",
        x=aggregates.all_rows(rows).tree,
        place=_number(context, rest[0]) if rest else trees.literal(1),
        many=_number(context, number),
    )
    return values.RowsValue.of(rows.record, found)


def _number(context: Context, node: syntax.Node) -> trees.Node:
    """Returns a number of rows."""
    return as_type(node, context.scalar(node), types.INTEGER).tree


@entered(_CHILD_STEPS, "topn")
def _topn(
    context: Context, node: syntax.Call, rows: values.RowsValue
) -> values.RowsValue:
    """Returns so many of the sorted rows."""
    first, number, *keys = node.arguments
    ordered = _sort(context, replace(node, arguments=(first, *keys)), rows)
    return _chosen(context, replace(node, arguments=(first, number)), ordered)


# JOIN(LEFT.pets, toys, LEFT.id = RIGHT.pet, TRANSFORM(..), LEFT OUTER)
@entered(_CHILD_STEPS, "join")
def _join(
    context: Context, node: syntax.Call, rows: values.RowsValue
) -> values.RowsValue:
    """Returns what comes of the rows and of others, child rows or all of a data set."""
    second = node.arguments[1]
    match context.value(second):
        case values.RowsValue() as others:
            pass
        case types.Scalar(tree, types.TableType(record)):
            others = values.RowsValue.of(record, tree)
        case values.DatasetValue() as source if context.may_list:
            others = listed_beside(context, node, source)
        case found:
            told = f"a JOIN of child rows with {said(found)}"
            raise refusal(second, told, "child rows, or a data set")
    return read_child_join(context, node, (rows, others))


# DATASET(LEFT.k, TRANSFORM(r, SELF.n := COUNTER))
def counted_rows(context: Context, node: syntax.Call) -> values.RowsValue:
    """Returns DATASET(n, transform) as rows inside the row at hand."""
    number, transform, *rest = node.arguments
    datasets.refuse_others(rest, "distributed")
    item = trees.variable("number", AtomicType.BIGINT)
    place = trees.variable("at", AtomicType.INT)
    most = aggregates.numbers_to(_number(context, number))
    made = context.with_sides({"counter": types.whole(item)}).made(transform)
    found = aggregates.made_of(most, made, item, place)
    return values.RowsValue.of(made.record, found)


def child_step(
    context: Context, node: syntax.Call
) -> Iterator[values.RowsValue | values.RowValue]:
    """Gives what a step makes of the rows inside a row, or PROJECT of one row."""
    if not (context.sides or context.rows):
        return
    match node.arguments:
        # Rows in the text, or a file: what they are does not depend on the row.
        case (syntax.Items() | syntax.Text(), *_):
            pass
        # DATASET(n, transform), where the row at hand says how many rows they are.
        case (number, second, *_) if node.word == "dataset":
            if is_transform(context, second) and not is_known(context, number):
                yield counted_rows(context, node)
    if node.word not in _CHILD_STEPS:
        return
    match context.value(node.arguments[0]):
        case values.RowsValue() as rows:
            yield _CHILD_STEPS[node.word](context, node, rows)
        case types.Scalar(tree, types.TableType(record)):
            rows = values.RowsValue.of(record, tree)
            yield _CHILD_STEPS[node.word](context, node, rows)
        case values.RowValue() as row if node.word == "project":
            yield _projected(context, node, row)
        case types.Scalar(tree, types.RecordType() as record) if node.word == "project":
            yield _projected(context, node, values.RowValue(record, tree))


# Such as LEFT.kids + PROJECT(RIGHT, TRANSFORM(kid, SELF := LEFT))
def _projected(
    context: Context, node: syntax.Call, row: values.RowValue
) -> values.RowValue:
    """Returns the row that a transform makes of a single one."""
    _, second, *rest = node.arguments
    datasets.refuse_others(rest)
    first = types.whole(trees.literal(1))
    made = context.with_sides({"left": row, "counter": first}).value(second)
    if not isinstance(made, values.Made):
        own, record = types.Scalar(row.tree, row.record), context.record(second)
        return values.RowValue(record, as_type(node, own, record).tree)
    if made.skip != trees.FALSE:
        raise refusal(second, "SKIP in a single row", "a value in every field")
    return values.RowValue(made.record, trees.struct(*made.columns))


def listed_step(context: Context, node: syntax.Call) -> Iterator[values.RowsValue]:
    """Gives what a step makes of other rows and of the row at hand, if it can.

    All the other rows are a list beside the row.
    """
    match node.arguments:
        case (syntax.Items() | syntax.Text(), *_):
            return
        case (_, second, *_) if node.word == "dataset":
            if is_transform(context, second):
                yield counted_rows(context, node)
        case (first, *_) if node.word in _CHILD_STEPS:
            rows = listed_beside(context, node, context.dataset(first))
            yield _CHILD_STEPS[node.word](context, node, rows)
        case _:
            return
