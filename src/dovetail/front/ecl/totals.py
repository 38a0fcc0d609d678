"""Values of whole data sets inside expressions: every row gets them from a join.

pets(n = MAX(pets, n))    is    JOIN(pets, TABLE(pets, {m := MAX(GROUP, n)}), TRUE, ALL)
of which those rows stay where n = m
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from dovetail.expression import Expression
from dovetail.front.ecl.casting import Scalar
from dovetail.front.ecl.context import Context, total_name
from dovetail.front.ecl.types import Field, RecordType
from dovetail.front.ecl.values import DatasetValue, Total
from dovetail.schema import quoted
from dovetail.spec.join import BlankRow, Clock, Columns, JoinSpec, Kind, Named, Side
from dovetail.spec.picks import Picks, Strategy
from dovetail.spec.program import (
    LEFT,
    RIGHT,
    Counted,
    Grouped,
    Inline,
    Joined,
    Projected,
    Step,
    Told,
)


def gathering(context: Context) -> tuple[Context, list[Total]]:
    """Returns the context in which such values may stand, and where they gather."""
    totals: list[Total] = []
    return context.with_totals(totals), totals


def widened(source: DatasetValue, totals: Sequence[Total]) -> Step:
    """Returns rows with a hidden column for each value; without any as they are."""
    step, record = source.step, source.record
    for number, total in enumerate(totals):
        one = Field(total_name(number), total.value.type)
        step = _beside(step, record, (one, total), is_grouped=source.is_grouped)
        record = RecordType((*record.fields, one))
    return step


def alone(value: Scalar, totals: Sequence[Total]) -> Total:
    """Returns a value that is made of values of whole data sets, as one of them."""
    nothing = RecordType(())
    one_row = DatasetValue(Inline(nothing.schema, ((),)), nothing)
    return Total(replace(one_row, step=widened(one_row, totals)), value)


def narrowed(step: Step, record: RecordType, totals: Sequence[Total]) -> Step:
    """Returns rows without their hidden columns."""
    if not totals:
        return step
    columns = ((one.name, Expression(f"l.{quoted(one.name)}")) for one in record.fields)
    return Projected(step, record.schema, Columns(tuple(columns)))


def _beside(
    left: Step, record: RecordType, given: tuple[Field, Total], *, is_grouped: bool
) -> Joined:
    """Returns rows beside the one row that has a value of other rows."""
    one, total = given
    alone = RecordType((one,))
    value = Columns(((one.name, Expression(total.value.text)),))
    right = Counted(Grouped(total.source.step, ()), alone.schema, value)
    both = RecordType((*record.fields, one))
    texts = [(it.name, Expression(f"l.{quoted(it.name)}")) for it in record.fields]
    columns = Columns((*texts, (one.name, Expression(f"r.{quoted(one.name)}"))))
    join = JoinSpec(
        Side(Named(LEFT)),
        Side(Named(RIGHT)),
        Kind.INNER,
        Clock.BATCH,
        (),
        select=columns,
        absent_left=BlankRow(),
        absent_right=BlankRow(),
        picks=Picks(strategy=Strategy.ALL),
    )
    told = Told(
        "a value of a whole data set beside rows",
        (("value", str(value.columns[0][1])),),
    )
    return Joined(left, right, join, both.schema, told, keeps_groups=is_grouped)
