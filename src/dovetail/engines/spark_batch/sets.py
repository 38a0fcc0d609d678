"""A join of several sets of rows as one native plan.

Spark's joins put rows with the same stepped columns side by side: columns, each under a
name of its set, which become rows once it is known who stands together. What an
expression sees are `l` and `r`, the first two rows that are there, and `rows`, all.

    letters    a  b          row 0    row 1         rows
    numbers    a     c         a        a           [a, a]
    inner: a   left_only: b    mofn 1, 2: a, b, c
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F  # noqa: N812 - Spark's own name for it

from dovetail.engines.spark.absent import absent_struct
from dovetail.engines.spark_batch.arrivals import PLACE, Arrivals, What
from dovetail.engines.spark_batch.set_columns import (
    are_equal,
    are_known,
    is_there,
    keys_of,
    place_of,
    row_of,
    set_columns,
)
from dovetail.engines.spark_batch.set_lists import ROWS, by_lists, lists, those_there
from dovetail.engines.spark_batch.some_sets import of_some
from dovetail.engines.spark_batch.truth import is_true
from dovetail.expression import NEVER, Expression, Scope, parse
from dovetail.expression.writing import written
from dovetail.kernels.arrays.names import reserved
from dovetail.schema import Schema, quoted
from dovetail.spec.inputs import Input, Inputs
from dovetail.spec.join import BlankRow, SetJoinSpec, SetKind
from dovetail.spec.sources import schema_of_sets

_WHOLE, _IS_ALONE = reserved("whole"), reserved("is_alone")


def join_sets(
    join: SetJoinSpec, inputs: Inputs, frames: Mapping[str, Arrivals]
) -> DataFrame:
    """Returns the rows of a join of several sets, sorted as it says."""
    schema = schema_of_sets(join, inputs)
    seen = _Seen(join, schema)
    sets = [
        _set(seen, inputs[name], frames[name], number)
        for number, name in enumerate(join.sets)
    ]
    found = of_some(join, sets) if join.kind is SetKind.M_OF_N else _of_all(seen, sets)
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
        return F.expr(written(by_lists(parse(expression, scope))))

    def row(self, number: int) -> Column:
        """Returns the row of a set."""
        return row_of(self.join, self.schema, number)

    def named(self, frame: DataFrame, rows: Column) -> DataFrame:
        """Returns the frame with those rows as what expressions see."""
        blank = absent_struct(BlankRow(), self.schema)
        return frame.withColumn(ROWS, rows).withColumns(
            {
                "l": F.get(ROWS, F.lit(0)),
                "r": F.coalesce(F.get(ROWS, F.lit(1)), blank),
                **lists(self.schema),
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
            reserved(f"order_{number}"): _first(name)
            for number, name in enumerate(join.ordered_by)
            if name.lower() not in names
        }
        places = [place_of(number) for number in range(len(join.sets))]
        order = [
            name if name.lower() in names else reserved(f"order_{number}")
            for number, name in enumerate(join.ordered_by)
        ]
        kept = [column.alias(name) for name, column in hidden.items()]
        sort = [F.col(quoted(name)).asc_nulls_first() for name in order]
        found = frame.select(*columns, *kept, *places).sort(*sort, *places)
        return found.drop(*hidden, *places)


def _first(name: str) -> Column:
    """Returns a column of the first row."""
    return F.col(f"l.{quoted(name)}")


def _set(seen: _Seen, source: Input, arrivals: Arrivals, number: int) -> DataFrame:
    """Returns the rows of one set under names of their own."""
    names = [quoted(name) for name in source.schema.names]
    frame = _newest(source, arrivals).select(*names, PLACE)
    return set_columns(seen.join, seen.schema, frame, number)


def _newest(source: Input, arrivals: Arrivals) -> DataFrame:
    """Returns all rows of an input; a table with a key has the newest of each."""
    frame = arrivals.placed()
    if source.key:
        lines = frame.where(~What.BOUND.is_it() & ~What.END.is_it())
        key = [F.col(quoted(name)) for name in source.key]
        newer = F.row_number().over(Window.partitionBy(*key).orderBy(F.desc(PLACE)))
        frame = lines.withColumn(_WHOLE, newer).where(F.col(_WHOLE) == 1)
    return frame.where(What.STATE.is_it() | What.ROW.is_it())


def _of_all(seen: _Seen, sets: Sequence[DataFrame]) -> DataFrame:
    """Returns left rows beside one row of each other set, or beside what there is."""
    join = seen.join
    how = "inner" if join.kind is SetKind.INNER else "left_outer"
    found = sets[0]
    for number, other in enumerate(sets[1:], start=1):
        terms = [
            are_equal(keys_of(join, 0), keys_of(join, number)),
            is_there(join, number - 1),
            F.expr(join.pair_condition.text),
        ]
        left = found.withColumn("l", seen.row(number - 1))
        right = other.withColumn("r", seen.row(number))
        found = left.join(right, reduce(Column.__and__, terms), how).drop("l", "r")
    return found


def _chosen(seen: _Seen, found: DataFrame) -> DataFrame:
    """Returns what stands together as the kind and the conditions have it."""
    join = seen.join
    numbers = range(len(join.sets))
    if join.kind is SetKind.INNER:
        rows = F.array(*map(seen.row, numbers))
    else:
        rows = those_there([(seen.row(one), is_there(join, one)) for one in numbers])
    frame = seen.named(found, rows)
    is_right = is_true(seen.column(join.rows_condition))
    if join.kind is SetKind.M_OF_N:
        return frame.where(is_right)
    has_key = are_known(keys_of(join, 0))
    if join.kind is SetKind.INNER:
        return frame.where(is_right & has_key)
    there = (is_there(join, one) for one in numbers)
    return _with_left(seen, frame, reduce(Column.__and__, there, is_right & has_key))


def _with_left(seen: _Seen, frame: DataFrame, is_whole: Column) -> DataFrame:
    """Returns what is whole, where that is asked for, and left rows without any."""
    join = seen.join
    own = Window.partitionBy(*keys_of(join, 0), place_of(0))
    frame = frame.withColumn(_WHOLE, is_whole)
    is_first = F.row_number().over(own.orderBy(place_of(len(join.sets) - 1))) == 1
    is_alone = ~F.max(_WHOLE).over(own) & is_first
    frame = frame.withColumn(_IS_ALONE, is_alone)
    shows_whole = F.lit(join.kind is SetKind.LEFT_OUTER)
    found = frame.where((F.col(_WHOLE) & shows_whole) | F.col(_IS_ALONE))
    alone = F.array(seen.row(0))
    return seen.named(found, F.when(F.col(_IS_ALONE), alone).otherwise(F.col(ROWS)))
