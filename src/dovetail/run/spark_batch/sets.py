"""A join of several sets of rows as one native plan.

Every set becomes a column of rows, and Spark's joins put rows with the same stepped
columns side by side. What an expression sees are `l` and `r`, the first two rows that
are there, and `rows`, all of them.

    letters    a  b          row 0    row 1         rows
    numbers    a     c         a        a           [a, a]
    inner: a   left_only: b    mofn 1, 2: a, b, c
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F  # noqa: N812 - Spark's own name for it

from dovetail.expression import NEVER, Expression, Scope, parse
from dovetail.expression.writing import written
from dovetail.run.spark.absent import absent_struct
from dovetail.run.spark_batch.arrivals import PLACE, WHAT, Arrivals, What
from dovetail.run.spark_batch.truth import is_true, yes
from dovetail.schema import Column as Field
from dovetail.schema import Schema
from dovetail.spec.inputs import Input, Inputs
from dovetail.spec.join import BlankRow, SetJoinSpec, SetKind

_ROWS, _WHOLE = "rows", "__whole"


def join_sets(
    join: SetJoinSpec, inputs: Inputs, frames: Mapping[str, Arrivals]
) -> DataFrame:
    """Returns the rows of a join of several sets, sorted as it says."""
    schema = _common([inputs[name] for name in join.sets])
    sets = [
        _set(inputs[name], frames[name], schema, (number, join.stepped))
        for number, name in enumerate(join.sets)
    ]
    seen = _Seen(join, schema)
    found = _of_some(join, sets) if join.kind is SetKind.M_OF_N else _of_all(join, sets)
    return seen.written(_chosen(seen, found))


@dataclass(frozen=True, slots=True)
class _Seen:
    """What expressions see of the rows that stand together."""

    join: SetJoinSpec
    schema: Schema

    def column(self, expression: Expression) -> Column:
        """Returns an expression over `l`, `r` and the functions of all rows."""
        sides = (("l", self.schema), ("r", self.schema))
        scope = Scope(sides, rows=self.schema)
        return F.expr(written(parse(expression, scope)))

    def named(self, frame: DataFrame, rows: Column) -> DataFrame:
        """Returns the frame with those rows as what expressions see."""
        blank = absent_struct(BlankRow(), self.schema)
        return frame.withColumn(_ROWS, rows).withColumns(
            {
                "l": F.get(_ROWS, F.lit(0)),
                "r": F.coalesce(F.get(_ROWS, F.lit(1)), blank),
            }
        )

    def written(self, frame: DataFrame) -> DataFrame:
        """Returns the output columns of what is not skipped, sorted."""
        join = self.join
        if join.skip_when != NEVER:
            frame = frame.where(~is_true(self.column(join.skip_when)))
        shown = {name: self.column(text) for name, text in join.select.columns}
        columns = [column.alias(name) for name, column in shown.items()]
        if not join.ordered_by:
            return frame.select(*columns)
        names = {name.lower() for name in shown}
        hidden = {
            f"__order_{number}": _first(name)
            for number, name in enumerate(join.ordered_by)
            if name.lower() not in names
        }
        places = [_place(number) for number in range(len(join.sets))]
        order = [
            hidden_name if (hidden_name := f"__order_{number}") in hidden else name
            for number, name in enumerate(join.ordered_by)
        ]
        kept = [column.alias(name) for name, column in hidden.items()]
        sort = [F.col(f"`{name}`").asc_nulls_first() for name in order]
        found = frame.select(*columns, *kept, *places).sort(*sort, *places)
        return found.drop(*hidden, *places)


def _first(name: str) -> Column:
    """Returns a column of the first row."""
    return F.col(f"l.`{name}`")


def _common(sources: Sequence[Input]) -> Schema:
    """Returns the columns of all sets, of one name the first."""
    found: dict[str, Field] = {}
    for source in sources:
        for column in source.schema.columns:
            found.setdefault(column.name.lower(), column)
    return Schema(tuple(found.values()))


def _set(
    source: Input,
    arrivals: Arrivals,
    schema: Schema,
    step: tuple[int, tuple[str, ...]],
) -> DataFrame:
    """Returns the rows of one set with their places and stepped columns."""
    number, stepped = step
    own = {name.lower() for name in source.schema.names}
    values = [
        (F.col(f"`{one.name}`") if one.name.lower() in own else F.lit(None))
        .cast(str(one.type))
        .alias(one.name)
        for one in schema.columns
    ]
    keys = [F.col(f"`{name}`").alias(key) for key, name in _keys(number, stepped)]
    place = F.col(PLACE).alias(_place(number))
    return _newest(source, arrivals).select(
        F.struct(*values).alias(_row(number)), *keys, place
    )


def _newest(source: Input, arrivals: Arrivals) -> DataFrame:
    """Returns all rows of an input; a table with a key has the newest of each."""
    frame = arrivals.frame
    if not arrivals.has_places:
        number = F.monotonically_increasing_id()
        frame = frame.withColumns({PLACE: number, WHAT: F.lit(What.ROW.value)})
    if source.key:
        lines = frame.where(~What.BOUND.is_it() & ~What.END.is_it())
        key = [F.col(f"`{name}`") for name in source.key]
        newer = F.row_number().over(Window.partitionBy(*key).orderBy(F.desc(PLACE)))
        frame = lines.withColumn(_WHOLE, newer).where(F.col(_WHOLE) == 1)
    return frame.where(What.STATE.is_it() | What.ROW.is_it())


def _of_all(join: SetJoinSpec, sets: Sequence[DataFrame]) -> DataFrame:
    """Returns left rows beside one row of each other set, or beside what there is."""
    how = "inner" if join.kind is SetKind.INNER else "left_outer"
    found = sets[0]
    for number, other in enumerate(sets[1:], start=1):
        pair = F.expr(join.pair_condition.text)
        terms = [*_equal(join, number), F.col(_row(number - 1)).isNotNull(), pair]
        left = found.withColumn("l", F.col(_row(number - 1)))
        right = other.withColumn("r", F.col(_row(number)))
        found = left.join(right, reduce(Column.__and__, terms), how).drop("l", "r")
    return found


def _equal(join: SetJoinSpec, number: int) -> Iterator[Column]:
    """Gives that a set has the stepped columns of the first one."""
    first = [key for key, _ in _keys(0, join.stepped)]
    other = [key for key, _ in _keys(number, join.stepped)]
    for one, two in zip(first, other, strict=True):
        yield F.col(one) == F.col(two)


def _of_some(join: SetJoinSpec, sets: Sequence[DataFrame]) -> DataFrame:
    """Returns one row of each set that has a key, for every key."""
    first = [key for key, _ in _keys(0, join.stepped)]
    found = sets[0].where(_known(first))
    for number, other in enumerate(sets[1:], start=1):
        keys = [key for key, _ in _keys(number, join.stepped)]
        equal = (F.col(one) == F.col(two) for one, two in zip(first, keys, strict=True))
        condition = reduce(Column.__and__, equal, yes())
        joined = found.join(other.where(_known(keys)), condition, "full_outer")
        either = {
            one: F.coalesce(one, two) for one, two in zip(first, keys, strict=True)
        }
        found = joined.withColumns(either).drop(*keys) if keys else joined
    return found


def _chosen(seen: _Seen, frame: DataFrame) -> DataFrame:
    """Returns what stands together as the kind and the conditions have it."""
    join = seen.join
    rows = F.array(*(_row(number) for number in range(len(join.sets))))
    there = F.filter(rows, lambda row: row.isNotNull())
    frame = seen.named(frame, there)
    count = F.size(_ROWS)
    has_key = _known([key for key, _ in _keys(0, join.stepped)])
    is_right = is_true(seen.column(join.rows_condition))
    match join.kind:
        case SetKind.M_OF_N:
            return frame.where(count.between(join.least, join.most) & is_right)
        case SetKind.INNER:
            return frame.where(is_right & has_key)
        case _:
            is_whole = (count == len(join.sets)) & is_right & has_key
            return _with_left(seen, frame, is_whole)


def _with_left(seen: _Seen, frame: DataFrame, is_whole: Column) -> DataFrame:
    """Returns what is whole, where that is asked for, and left rows without any."""
    join = seen.join
    own = Window.partitionBy(*(key for key, _ in _keys(0, join.stepped)), _place(0))
    frame = frame.withColumn(_WHOLE, is_whole)
    is_first = F.row_number().over(own.orderBy(_place(len(join.sets) - 1))) == 1
    is_alone = ~F.max(_WHOLE).over(own) & is_first
    frame = frame.withColumn("__is_alone", is_alone)
    shows_whole = F.lit(join.kind is SetKind.LEFT_OUTER)
    found = frame.where((F.col(_WHOLE) & shows_whole) | F.col("__is_alone"))
    alone = F.array(F.col(_row(0)))
    return seen.named(found, F.when(F.col("__is_alone"), alone).otherwise(F.col(_ROWS)))


def _keys(number: int, stepped: tuple[str, ...]) -> list[tuple[str, str]]:
    """Returns the stepped columns of a set, each under a name of its own."""
    return [(f"__key_{number}_{place}", name) for place, name in enumerate(stepped)]


def _row(number: int) -> str:
    """Returns the name of the column with a set's rows."""
    return f"__row_{number}"


def _place(number: int) -> str:
    """Returns the name of the column with the places of a set's rows."""
    return f"__place_{number}"


def _known(keys: Sequence[str]) -> Column:
    """Returns whether no part of a key is null."""
    known = (F.col(key).isNotNull() for key in keys)
    return reduce(Column.__and__, known, yes())
