"""Rows inside a row: COUNT, MAX and SET of them, and what they add up to one by one.

Those rows are a child data set, or all rows that stand together in a join of several
sets; a part of them by conditions, or one of them by its place.

Rows of a list gone through one after the other, each with what became of the last.

    aggregate(rows, start, (state, item) -> ..)

`state.row` is the result so far, `item` the row at hand. A transform that skips leaves
the result as it was; COUNTER counts its rows all the same. A Fold ends with one row, a
Series with a list of rows: each is told what goes along, and says the next state.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from dovetail.dialects.ecl import trees, types
from dovetail.dialects.ecl.context import Context, as_type, is_word, refusal
from dovetail.dialects.ecl.syntax import Call, Name, Node
from dovetail.dialects.ecl.trees import sql
from dovetail.dialects.ecl.values import Made, RowsValue, RowValue, Value
from dovetail.expression.kinds import columnar, sum_text
from dovetail.expression.tables import entered
from dovetail.schema import ArrayType, AtomicType

Tree = trees.Node
# To add to a list Spark copies it. Of a list of lists what is added moves this many
# rows at most, so that a group of n rows costs n copies of a chunk, not n of itself.
_CHUNK = 1000
ROWS = "rows"


@dataclass(frozen=True, slots=True)
class Along:
    """What a transform sees that goes along: LEFT, RIGHT, and how many came before.

    They are variables until it is known in which state of a fold they stand.
    """

    records: tuple[types.RecordType, types.RecordType]
    result: trees.Variable
    item: trees.Variable
    count: trees.Variable

    @classmethod
    def of(cls, past: types.RecordType, coming: types.RecordType) -> Along:
        """Returns what goes along rows: the record of the result, and theirs."""
        result, item = (trees.variable("row", one.struct) for one in (past, coming))
        count = trees.variable("counted", AtomicType.BIGINT)
        return cls((past, coming), result, item, count)

    @property
    def next(self) -> Tree:
        """Returns the number of the row at hand, from 1."""
        return sql("x + 1L", x=self.count)

    @property
    def sides(self) -> dict[str, Value]:
        """Returns LEFT, the result so far, RIGHT, the row at hand, and COUNTER."""
        counter = types.whole(self.next)
        return {"left": self.past, "right": self.coming, "counter": counter}

    @property
    def past(self) -> RowValue:
        """Returns the result so far."""
        return RowValue(self.records[0], self.result)

    @property
    def coming(self) -> RowValue:
        """Returns the row at hand."""
        return RowValue(self.records[1], self.item)

    @property
    def rows(self) -> Tree:
        """Returns the list of the rows of a group, as a column of it."""
        return trees.column(ROWS, ArrayType(columnar(self.item.type)))

    @property
    def row_before(self) -> RowValue:
        """Returns, of rows behind the first, the one before as it came in."""
        before = sql("get(x, CAST(n AS INT))", x=self.rows, n=self.count)
        return RowValue(self.records[1], before)

    def through(
        self, rows: Tree, start: Tree, merge: Callable[[Tree], Tree], *finish: Tree
    ) -> Tree:
        """Returns what becomes of a first state by the rows of a list."""
        state = trees.variable("state", start.type)
        # The transform was read before its state had a type, since that type is made of
        # what the transform gives: only now it is known where in the state they are.
        known = {
            self.result.number: sql("x.row", x=state),
            self.count.number: sql("x.counter", x=state),
        }
        step = trees.function(trees.replaced(merge(state), known), state, self.item)
        return trees.build("aggregate", rows, start, step, *finish)


def in_record(node: Node, made: Made, record: types.RecordType) -> Made:
    """Returns a transform whose result is LEFT for the next row: of the same record."""
    if made.record.shape != record.shape:
        raise refusal(
            node,
            f"a transform to {made.record} of rows with {record}",
            "the record of the rows themselves: what it makes is LEFT for the next one",
            "PROJECT(rows, record) gives them the fields of the result before",
        )
    columns = zip(record.schema.names, (tree for _, tree in made.columns), strict=True)
    return Made(record, tuple(columns), made.skip)


@dataclass(frozen=True, slots=True)
class Fold:
    """A transform over the rows of a list.

    Where a list `has_limit`, `most` results are enough; 0 is no limit.
    """

    made: Made
    along: Along
    most: int = 0
    has_limit: Tree = trees.TRUE

    @property
    def type(self) -> types.RecordType:
        """Returns the type of what comes out: a row, and how many have made it."""
        counts = (
            types.Field("counter", types.INTEGER),
            types.Field("kept", types.INTEGER),
        )
        return types.RecordType((types.Field("row", self.made.record), *counts))

    def tree(self, rows: Tree, start: Tree) -> Tree:
        """Returns what becomes of a first row by the rows of a list."""

        def state(row: Tree, counter: Tree, kept: Tree) -> Tree:
            return trees.struct(("row", row), ("counter", counter), ("kept", kept))

        def merge(past: Tree) -> Tree:
            one, count = sql("x.kept + 1L", x=past), self.along.next
            found = state(trees.struct(*self.made.columns), count, one)
            stays = state(self.along.result, count, sql("x.kept", x=past))
            found = unless(self.made.skip, found, stays)
            # Behind enough results a row is not even counted, as if it were not there.
            if not self.most:
                return found
            enough = (self.has_limit, sql(f"x.kept >= {self.most}L", x=past))
            is_enough = trees.all_of(enough)
            return sql("IF(is_enough, x, y)", is_enough=is_enough, x=past, y=found)

        begin = state(start, trees.literal(0), trees.literal(0))
        return self.along.through(rows, begin, merge)


def unless(skip: Tree, found: Tree, other: Tree) -> Tree:
    """Returns a value, or another where a row is skipped."""
    if skip == trees.FALSE:
        return found
    return sql("IF(skip, other, found)", skip=skip, other=other, found=found)


@dataclass(frozen=True, slots=True)
class Series:
    """Rows that come out one by one while those of a list are gone through.

    `out` is the record of what comes out. What comes out moves into a chunk, and a
    chunk that is full into the list of those that are done.
    """

    along: Along
    out: types.RecordType

    def tree(
        self,
        rows: Tree,
        start: Tree,
        merge: Callable[[Tree], Tree],
        *,
        has_last: bool = False,
    ) -> Tree:
        """Returns the list of what comes out; behind it the last result, if asked."""
        none = types.blank(types.TableType(self.out))
        many = trees.array((), none.type)
        begin = _state(start, trees.literal(0), none, many)
        end = trees.variable("end", begin.type)
        last = ", array(x.row)" if has_last else ""
        all_out = sql(f"concat(flatten(x.done), x.chunk{last})", x=end)
        return self.along.through(rows, begin, merge, trees.function(all_out, end))

    def silent(self, past: Tree, row: Tree) -> Tree:
        """Returns the next state where nothing comes out."""
        return _state(
            row, self.along.next, sql("x.chunk", x=past), sql("x.done", x=past)
        )

    def giving(self, past: Tree, row: Tree, out: Tree) -> Tree:
        """Returns the next state where a row comes out."""
        has_room = f"size(x.chunk) < {_CHUNK}"
        more = f"IF({has_room}, concat(x.chunk, array(y)), array(y))"
        done = f"IF({has_room}, x.done, concat(x.done, array(x.chunk)))"
        chunk = sql(more, x=past, y=out)
        return _state(row, self.along.next, chunk, sql(done, x=past))


def _state(row: Tree, counter: Tree, chunk: Tree, done: Tree) -> Tree:
    """Returns a state of a series."""
    return trees.struct(
        ("row", row), ("counter", counter), ("chunk", chunk), ("done", done)
    )


def once(value: Tree, use: Callable[[Tree], Tree]) -> Tree:
    """Returns what is made of a value, which is computed once."""
    # A tree that stands twice would be computed twice; a lambda's variable is not.
    made = trees.variable("made", value.type)
    used = trees.function(use(made), made)
    return sql("get(transform(array(x), used), 0)", x=value, used=used)


def processed(made: Made, state: Made | None, start: Tree, along: Along) -> Tree:
    """Returns each row as a transform of it and of what goes along.

    That is a row which another transform makes, or without one the result before.
    """
    series = Series(along, made.record)

    def merge(past: Tree) -> Tree:
        def giving(out: Tree) -> Tree:
            row = trees.struct(*state.columns) if state else out
            return series.giving(past, row, out)

        # What is made stands in the chunk and in the state: computed once for both.
        found = once(trees.struct(*made.columns), giving)
        return unless(made.skip, found, series.silent(past, along.result))

    return series.tree(along.rows, start, merge)


def rolled(made: Made, same: Tree, along: Along) -> Tree:
    """Returns rows that are the same as the result so far folded into it."""
    series, rows, result = Series(along, made.record), along.rows, along.result

    def merge(past: Tree) -> Tree:
        # A row that is not the same shows that the result before it is complete: that
        # comes out, and the row begins the next one. So the last result is left over.
        row = unless(made.skip, trees.struct(*made.columns), result)
        one = series.silent(past, row)
        other = series.giving(past, along.item, result)
        return sql("IF(same, one, other)", same=same, one=one, other=other)

    behind, first = behind_first(rows), first_of(rows)
    found = series.tree(behind, first, merge, has_last=True)
    none = types.blank(types.TableType(made.record))
    # Of no rows there is no first one to begin with.
    return sql("IF(size(x) = 0, none, found)", x=rows, none=none, found=found)


def first_of(rows: Tree) -> Tree:
    """Returns the first row of a list."""
    return sql("get(x, 0)", x=rows)


def behind_first(rows: Tree) -> Tree:
    """Returns the rows of a list behind the first."""
    return sql("slice(x, 2, size(x))", x=rows)


def numbers_to(most: Tree) -> Tree:
    """Returns the numbers from 1 to another, none where that is smaller."""
    # sequence(1, 0) counts down.
    none = "CAST(array() AS ARRAY<BIGINT>)"
    return sql(f"IF(x < 1L, {none}, sequence(1L, x))", x=most)


# Of pairs that say whether they are kept the others go: a lambda gives one value
# for each item, so a skipped one must come out, too.
def made_of(
    items: Tree, made: Made, item: trees.Variable, place: trees.Variable
) -> Tree:
    """Returns what a transform makes of items, without those that it skips.

    `item` and its `place` from 0 are what the transform was read with.
    """
    row = trees.struct(*made.columns)
    if made.skip == trees.FALSE:
        return sql("transform(x, each)", x=items, each=trees.function(row, item, place))
    kept = sql("NOT coalesce(x, false)", x=made.skip)
    each = trees.function(trees.struct(("kept", kept), ("value", row)), item, place)
    return _kept_values(sql("transform(x, each)", x=items, each=each))


def _kept_values(pairs: Tree) -> Tree:
    """Returns the values of pairs that say whether they are kept."""
    kept = "transform(filter(x, one -> one.kept), one -> one.value)"
    return sql(kept, x=pairs)


Aggregate = Callable[[Context, Call, RowsValue], types.Scalar]
AGGREGATES: dict[str, Aggregate] = {}


# Such as pets(age > 3)
def filtered(
    context: Context, rows: RowsValue, conditions: tuple[Node, ...]
) -> RowsValue:
    """Returns the rows of which conditions hold."""
    inside = context.inside(rows.row)
    found = tuple(inside.condition(one) for one in conditions)
    return replace(rows, conditions=(*rows.conditions, *found), like=())


def listed(rows: RowsValue, tree: Tree) -> Tree:
    """Returns the values of an expression over the rows as a list."""
    items, condition = rows.list, trees.all_of(rows.conditions)
    # Of the rows of a group a program has only lists of values (`ROWS_LIST`): whether
    # a row counts must be such a value. The items of any other list can be filtered.
    if rows.conditions and rows.is_together:
        pair = trees.function(
            trees.struct(("kept", condition), ("value", tree)), rows.item
        )
        return _kept_values(sql("transform(x, each)", x=items, each=pair))
    if rows.conditions:
        kept = trees.function(condition, rows.item)
        items = sql("filter(x, each)", x=items, each=kept)
    return sql("transform(x, each)", x=items, each=trees.function(tree, rows.item))


def counted(rows: RowsValue) -> Tree:
    """Returns the number of rows."""
    items = listed(rows, trees.TRUE) if rows.conditions else rows.list
    return sql("CAST(size(x) AS BIGINT)", x=items)


def nth(rows: RowsValue, place: Tree) -> RowValue:
    """Returns the row at a place from 1; beyond them it is that of an absent one."""
    found = trees.nth(all_rows(rows).tree, place, rows.record.absent)
    return RowValue(rows.record, found)


def all_rows(rows: RowsValue) -> types.Scalar:
    """Returns all rows that stand together as a child data set."""
    row = trees.struct(*rows.record.parts(rows.item))
    return types.Scalar(listed(rows, row), types.TableType(rows.record))


def together(record: types.RecordType) -> types.Scalar:
    """Returns all rows of a record that stand together."""
    return all_rows(RowsValue.together(record))


def _over(context: Context, node: Call, rows: RowsValue) -> types.Scalar:
    """Returns what an aggregate looks at in each row."""
    if len(node.arguments) < 2:  # noqa: PLR2004 - the rows and a value
        raise refusal(
            node, f"{node.word.upper()} without a value", "a value of each row"
        )
    return context.inside(rows.row).scalar(node.arguments[1])


def _kept(context: Context, rows: RowsValue, conditions: tuple[Node, ...]) -> RowsValue:
    """Returns the rows that an aggregate looks at: of which its conditions hold."""
    found = tuple(one for one in conditions if not is_word(one, "keyed", "few"))
    return filtered(context, rows, found) if found else rows


# Such as COUNT(pets), COUNT(pets, age > 3), EXISTS(pets)
@entered(AGGREGATES, "count", "exists")
def _count(context: Context, node: Call, rows: RowsValue) -> types.Scalar:
    """Returns COUNT or EXISTS of all rows, or of those of which a condition holds."""
    if len(node.arguments) > 2:  # noqa: PLR2004 - the rows and a condition
        told = f"{node.word.upper()} with {len(node.arguments)} arguments"
        raise refusal(node, told, "at most 2", "AND joins conditions")
    count = counted(_kept(context, rows, node.arguments[1:]))
    is_number = node.word == "count"
    return types.whole(count) if is_number else types.truth(sql("x > 0L", x=count))


def _valued(context: Context, node: Call, rows: RowsValue) -> RowsValue:
    """Returns the rows of which an aggregate takes a value: conditions stand behind."""
    return _kept(context, rows, node.arguments[2:])


# Such as MAX(pets, age)
@entered(AGGREGATES, "max", "min")
def _extreme(context: Context, node: Call, rows: RowsValue) -> types.Scalar:
    """Returns MAX or MIN of a value; of no rows it is blank."""
    value, rows = _over(context, node, rows), _valued(context, node, rows)
    found = trees.build(f"array_{node.word}", listed(rows, types.compared(value)))
    blank = types.blank(value.type)
    return types.Scalar(sql("coalesce(x, y)", x=found, y=blank), value.type)


# Such as SUM(pets, age), AVE(pets, age, kind = 1)
@entered(AGGREGATES, "sum", "ave")
def _sum(context: Context, node: Call, rows: RowsValue) -> types.Scalar:
    """Returns SUM, or AVE, which is REAL; of no rows each is 0."""
    value, rows = _over(context, node, rows), _valued(context, node, rows)
    if node.word == "sum":
        return added(node, value, lambda tree: listed(rows, tree))
    return _average(node, value, lambda tree: listed(rows, tree), count=counted(rows))


def _average(
    node: Node, value: types.Scalar, listing: Callable[[Tree], Tree], *, count: Tree
) -> types.Scalar:
    """Returns AVE of a value, which is REAL."""
    total = as_type(node, added(node, value, listing), types.REAL).tree
    if isinstance(value.type, types.Exact):
        # Of a sum with more than 38 digits the REAL is as near.
        wide = types.sum_of(value.type)
        exact = _total(listing(as_type(node, value, wide).tree), wide)
        real = _total(listing(as_type(node, value, types.REAL).tree), types.REAL)
        total = sql("coalesce(CAST(x AS DOUBLE), y)", x=exact, y=real)
    return _mean(total, count)


def added(
    node: Node, value: types.Scalar, listing: Callable[[Tree], Tree]
) -> types.Scalar:
    """Returns the sum of a value; `listing` makes an array of what it is of each row.

    It is a number of 8 bytes, a decimal with more digits, or REAL.
    """
    match value.type:
        case types.Whole() as kind:
            # Added as numbers with a sign, which wrap at 8 bytes to the same bits.
            found = _total(listing(types.signed(value)), types.INTEGER)
            if kind.is_wide:
                return types.Scalar(types.unsigned(found), kind)
            return types.whole(found)
        case types.Exact() as kind:
            wide = types.sum_of(kind)
            found = _total(listing(as_type(node, value, wide).tree), wide)
            zero = types.blank(wide)
            return types.Scalar(sql("coalesce(x, zero)", x=found, zero=zero), wide)
        case kind:
            added_as = types.REAL if isinstance(kind, types.Real) else types.INTEGER
            items = listing(as_type(node, value, added_as).tree)
            return types.Scalar(_total(items, added_as), added_as)


def _total(items: Tree, kind: types.Whole | types.Exact | types.Real) -> Tree:
    """Returns the items of a list added one after the other."""
    merged = "total + one"
    if isinstance(kind, types.Exact):
        # Spark would give each sum a digit more than the one before.
        merged = sum_text("total", "one", types.spark_type(kind))
    fold = f"aggregate(x, zero, (total, one) -> {merged})"
    return sql(fold, x=items, zero=types.blank(kind))


def _mean(total: Tree, count: Tree) -> types.Scalar:
    """Returns a sum divided by a count, 0 where nothing was counted."""
    found = sql("IF(n = 0L, 0D, x / CAST(n AS DOUBLE))", x=total, n=count)
    return types.Scalar(found, types.REAL)


# Such as COVARIANCE(pets, age, weight)
@entered(AGGREGATES, "variance", "covariance", "correlation")
def _spread(context: Context, node: Call, rows: RowsValue) -> types.Scalar:
    """Returns VARIANCE, COVARIANCE or CORRELATION of all the rows that there are."""
    inside = context.inside(rows.row)
    # The values stand behind the rows, and conditions behind them.
    count = 1 if node.word == "variance" else 2
    given = node.arguments[1 : count + 1]
    if len(given) < count:
        raise refusal(node, f"{node.word.upper()} of less", f"{count} values")
    values = [inside.typed(one, types.REAL).tree for one in given]
    rows = _kept(context, rows, node.arguments[count + 1 :])

    def total(value: Tree) -> Tree:
        return _total(listed(rows, value), types.REAL)

    def total_of_product(one: Tree, other: Tree) -> Tree:
        return total(sql("x * y", x=one, y=other))

    one, other = values[0], values[-1]
    number = sql("CAST(n AS DOUBLE)", n=counted(rows))

    def distance(one: Tree, other: Tree) -> Tree:
        """Returns the sum of the products of distances, as often as there are rows."""
        both = {"x": total(one), "y": total(other)}
        return sql("z * n - x * y", z=total_of_product(one, other), n=number, **both)

    if node.word == "correlation":
        # It is 0 where one of them is the same everywhere.
        found = sql(
            "coalesce(xy / nullif(sqrt(xx * yy), 0D), 0D)",
            xy=distance(one, other),
            xx=distance(one, one),
            yy=distance(other, other),
        )
        return types.Scalar(found, types.REAL)
    both = {"x": total(one), "y": total(other)}
    spread = sql("z - x * y / n", z=total_of_product(one, other), n=number, **both)
    return _mean(spread, counted(rows))


# SET(pets, age) of two is [3, 5]
@entered(AGGREGATES, "set")
def _set(context: Context, node: Call, rows: RowsValue) -> types.Scalar:
    """Returns SET: the values of all rows in their order."""
    value = _over(context, node, rows)
    return types.Scalar(listed(rows, value.tree), types.SetOf(value.type))


# A blank in it: no field of a program can be named so.
_ITEM = "an item"


# Such as MAX([3, 5]), SUM(3, 5)
def of_set(context: Context, node: Call, items: types.Scalar) -> types.Scalar:
    """Returns COUNT and the like of a set, whose items are rows of one field."""
    kind = items.type.element if isinstance(items.type, types.SetOf) else types.INTEGER
    record = types.RecordType((types.Field(_ITEM, kind),))
    item = trees.variable("item", types.spark_type(kind))
    each = trees.function(trees.struct((_ITEM, item)), item)
    rows = RowsValue.of(record, sql("transform(x, y)", x=items.tree, y=each))
    is_counted = node.word in {"count", "exists"}
    value = () if is_counted else (Name(node.place, _ITEM),)
    inside = replace(node, arguments=(node.arguments[0], *value))
    return AGGREGATES[node.word](context, inside, rows)
