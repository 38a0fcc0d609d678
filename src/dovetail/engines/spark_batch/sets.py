"""A join of several sets of rows as one native plan.

Spark's joins put rows with the same stepped columns side by side: columns, each under a
name with the number of its set, which become rows once it is known who stands together.
A stepped column stands there once, as what sets are joined by:

    set 0   __key_0_0  __0_name  __place_0      set 1   __key_1_0  __1_name  __place_1

What an expression sees are `l` and `r`, the first two rows that are there, and `rows`,
all of them.

    letters    a  b          row 0    row 1         rows
    numbers    a     c         a        a           [a, a]
    inner: a   left_only: b    mofn 1, 2: a, b, c
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from operator import add

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F  # noqa: N812 - Spark's own name for it

from dovetail import spec
from dovetail.engines.spark import values
from dovetail.engines.spark_batch import arrivals
from dovetail.expression import BARE, NEVER, Expression, Scope, parse, tree
from dovetail.expression.sql import written
from dovetail.kernels.arrays.names import reserved
from dovetail.schema import AtomicType, Schema, quoted
from dovetail.schema import Column as Field

ROWS = "rows"
_WHOLE, _IS_ALONE = reserved("whole"), reserved("is_alone")


def join_sets(
    join: spec.SetJoinSpec, inputs: spec.Inputs, frames: Mapping[str, arrivals.Arrivals]
) -> DataFrame:
    """Returns the rows of a join of several sets, sorted as it says."""
    schema = spec.schema_of_sets(join, inputs)
    together = _Together(join, schema)
    sets = []
    for number, name in enumerate(join.sets):
        source, frame = inputs[name], frames[name].placed()
        if source.key:
            # Of a table with a key the newest row of each counts.
            lines = frame.where(
                ~arrivals.What.BOUND.is_it() & ~arrivals.What.END.is_it()
            )
            own = Window.partitionBy(*(F.col(quoted(key)) for key in source.key))
            newer = F.row_number().over(own.orderBy(F.desc(arrivals.PLACE)))
            # It may be a delete: then the key has no row, and it goes below.
            frame = lines.withColumn(_WHOLE, newer).where(F.col(_WHOLE) == 1)
        names = [quoted(column) for column in source.schema.names]
        rows = frame.where(arrivals.What.STATE.is_it() | arrivals.What.ROW.is_it())
        sets.append(together.renamed(rows.select(*names, arrivals.PLACE), number))
    if join.kind is spec.SetKind.M_OF_N:
        found = together.of_some(sets)
    else:
        found = together.of_all(sets)
    return together.written(together.chosen(found))


@dataclass(frozen=True, slots=True)
class _Together:
    """A join of sets, and the columns that a row of any of them has."""

    join: spec.SetJoinSpec
    schema: Schema

    def renamed(self, frame: DataFrame, number: int) -> DataFrame:
        """Returns the rows of a set with the columns of all, null where it has none."""
        own = {name.lower() for name in frame.columns}
        stepped = {name.lower() for name in self.join.stepped}
        shown = [
            (F.col(quoted(field.name)) if field.name.lower() in own else F.lit(None))
            .cast(str(field.type))
            .alias(_value(number, field))
            for field in self.schema.columns
            if field.name.lower() not in stepped
        ]
        keys = [
            F.col(quoted(name)).alias(key)
            for key, name in zip(self.keys(number), self.join.stepped, strict=True)
        ]
        return frame.select(*shown, *keys, F.col(arrivals.PLACE).alias(_place(number)))

    def keys(self, number: int) -> list[str]:
        """Returns the names of the stepped columns of a set."""
        return [
            reserved(f"key_{number}_{at}") for at, _ in enumerate(self.join.stepped)
        ]

    def row(self, number: int) -> Column:
        """Returns the row of a set, whether it is there or not."""
        stepped = [name.lower() for name in self.join.stepped]
        keys = dict(zip(stepped, self.keys(number), strict=True))
        shown = [
            F.col(quoted(keys.get(field.name.lower(), _value(number, field))))
            .cast(str(field.type))
            .alias(field.name)
            for field in self.schema.columns
        ]
        return F.struct(*shown)

    def is_there(self, number: int) -> Column:
        """Returns whether the row of a set is there, once sets stand side by side."""
        kind = self.join.kind
        if kind is spec.SetKind.INNER or (
            number == 0 and kind is not spec.SetKind.M_OF_N
        ):
            return values.yes()
        name = self.keys(number)[0] if self.join.stepped else _place(number)
        return F.col(name).isNotNull()

    def of_all(self, sets: Sequence[DataFrame]) -> DataFrame:
        """Returns left rows beside a row of each other set, or beside what there is."""
        how = "inner" if self.join.kind is spec.SetKind.INNER else "left_outer"
        found = sets[0]
        for number, other in enumerate(sets[1:], start=1):
            terms = [
                _are_equal(self.keys(0), self.keys(number)),
                # A chain that is broken does not go on behind the gap.
                self.is_there(number - 1),
                values.condition(self.join.pair_condition.text),
            ]
            left = found.withColumn("l", self.row(number - 1))
            right = other.withColumn("r", self.row(number))
            both = left.join(right, reduce(Column.__and__, terms), how)
            found = both.drop("l", "r")
        return found

    def of_some(self, sets: Sequence[DataFrame]) -> DataFrame:
        """Returns one row of each set that has a key, for each key that enough have.

        Full joins put the sets side by side, one after the other; then it is counted
        how many are there.

            a: 1 2 2    b: 2 3    c: 2 3     2 or more sets: 2 and 3
                                             2 a b c, 2 a b c (the other 2), 3 - b c
        """
        first, *others = (
            one.where(_are_known(self.keys(number))) for number, one in enumerate(sets)
        )
        # The key found so far, of whichever set has it: the next set is joined by it.
        steps = [reserved(f"step_{at}") for at, _ in enumerate(self.join.stepped)]
        named = zip(self.keys(0), steps, strict=True)
        found = first.select("*", *(F.col(key).alias(step) for key, step in named))
        for number, other in enumerate(others, start=1):
            own = self.keys(number)
            found = found.join(other, _are_equal(steps, own), "full_outer")
            either = zip(steps, own, strict=True)
            known = {step: F.coalesce(step, key) for step, key in either}
            found = found.withColumns(known) if known else found
        there = (self.is_there(number).cast("int") for number in range(len(sets)))
        return found.where(reduce(add, there).between(self.join.least, self.join.most))

    def chosen(self, found: DataFrame) -> DataFrame:
        """Returns what stands together as the kind and the conditions have it.

        That is what is whole, where it is asked for, and left rows without any.
        """
        kind, numbers = self.join.kind, range(len(self.join.sets))
        if kind is spec.SetKind.INNER:
            rows = F.array(*map(self.row, numbers))
        else:
            # Those that are there, one behind the other.
            alone = (
                F.when(self.is_there(one), F.array(self.row(one))) for one in numbers
            )
            rows = F.concat(*(one.otherwise(F.array()) for one in alone))
        frame = self.named(found, rows)
        is_right = values.is_true(self.column(self.join.rows_condition))
        if kind is spec.SetKind.M_OF_N:
            return frame.where(is_right)
        is_right &= _are_known(self.keys(0))
        if kind is spec.SetKind.INNER:
            return frame.where(is_right)
        there = map(self.is_there, numbers)
        is_whole = reduce(Column.__and__, there, is_right)
        own = Window.partitionBy(*self.keys(0), _place(0))
        frame = frame.withColumn(_WHOLE, is_whole)
        # Of the lines of a left row one stands for it: whichever comes first.
        last = _place(len(self.join.sets) - 1)
        is_first = F.row_number().over(own.orderBy(last)) == 1
        frame = frame.withColumn(_IS_ALONE, ~F.max(_WHOLE).over(own) & is_first)
        shows_whole = F.lit(kind is spec.SetKind.LEFT_OUTER)
        kept = frame.where((F.col(_WHOLE) & shows_whole) | F.col(_IS_ALONE))
        by_itself = F.when(F.col(_IS_ALONE), F.array(self.row(0)))
        return self.named(kept, by_itself.otherwise(F.col(ROWS)))

    def named(self, frame: DataFrame, rows: Column) -> DataFrame:
        """Returns the frame with those rows as what expressions see."""
        blank = values.absent_struct(spec.BlankRow(), self.schema)
        # Spark runs what it can as one piece of compiled code. A lambda stands outside
        # of it, so the usual `ROWS_LIST(n)` is no lambda here: it has a column.
        lists = {
            _list(name): F.col(f"{ROWS}.{quoted(name)}") for name in self.schema.names
        }
        return frame.withColumn(ROWS, rows).withColumns(
            {
                "l": F.get(ROWS, F.lit(0)),
                "r": F.coalesce(F.get(ROWS, F.lit(1)), blank),
                **lists,
            }
        )

    def column(self, expression: Expression) -> Column:
        """Returns an expression over `l`, `r` and the functions of all rows."""
        sides = (("l", self.schema), ("r", self.schema))
        typed = parse(expression, Scope(sides, rows=self.schema))
        return F.expr(written(replace(typed, tree=_by_lists(typed.tree))))

    def written(self, frame: DataFrame) -> DataFrame:
        """Returns the output columns of what is not skipped, sorted."""
        join = self.join
        if join.skip_when != NEVER:
            frame = frame.where(~values.is_true(self.column(join.skip_when)))
        columns = [self.column(text).alias(name) for name, text in join.select.columns]
        if not join.ordered_by:
            return frame.select(*columns)
        shown = {name.lower() for name, _ in join.select.columns}
        # What is sorted by and not shown is taken from the first row, and goes again.
        hidden, order = {}, []
        for number, name in enumerate(join.ordered_by):
            if name.lower() in shown:
                order.append(name)
            else:
                order.append(reserved(f"order_{number}"))
                hidden[order[-1]] = F.col(f"l.{quoted(name)}")
        places = [_place(number) for number in range(len(join.sets))]
        kept = [column.alias(name) for name, column in hidden.items()]
        sort = [F.col(quoted(name)).asc_nulls_first() for name in order]
        found = frame.select(*columns, *kept, *places).sort(*sort, *places)
        return found.drop(*hidden, *places)


def _by_lists(node: tree.Node) -> tree.Node:
    """Returns a node with columns for lists of one column of all rows."""
    match node:
        case tree.Call(
            "transform",
            (
                tree.Column(side=side, name=name),
                tree.Lambda(
                    (row,),
                    tree.Call(
                        "field", (tree.Variable(number=number), tree.Literal(field))
                    ),
                ),
            ),
        ) if (side, name, number) == (BARE, ROWS, row.number):
            # What the type is does not matter any more: the tree is only written.
            return tree.Column(BARE, _list(str(field)), AtomicType.BOOLEAN)
        case tree.Call(arguments=arguments):
            return replace(node, arguments=tuple(map(_by_lists, arguments)))
        case tree.Lambda(body=body):
            return replace(node, body=_by_lists(body))
        case _:
            return node


def _list(name: str) -> str:
    """Returns the name of the column with the values of a column of all rows."""
    return reserved(f"rows_{name}")


def _place(number: int) -> str:
    """Returns the name of the column with the places of a set's rows."""
    return reserved(f"place_{number}")


def _value(number: int, field: Field) -> str:
    """Returns the name of a column that is not stepped."""
    return reserved(f"{number}_{field.name}")


def _are_equal(some: Sequence[str], others: Sequence[str]) -> Column:
    """Returns whether columns equal others, each its own."""
    terms = (
        F.col(one) == F.col(other) for one, other in zip(some, others, strict=True)
    )
    return reduce(Column.__and__, terms, values.yes())


def _are_known(names: Sequence[str]) -> Column:
    """Returns whether no column is null."""
    return reduce(
        Column.__and__, (F.col(name).isNotNull() for name in names), values.yes()
    )
