"""LIMIT(rows, n): what becomes of more rows than that.

LIMIT(rows, n, SKIP)             rows(COUNT(rows) <= n)
LIMIT(rows, n, ONFAIL(t))        .. + the row that t makes, where there are more
LIMIT(rows, n)                   rows beside a count that fails where there are more
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from dovetail.dialects.ecl.casting import Scalar
from dovetail.dialects.ecl.context import Context, is_word, refusal
from dovetail.dialects.ecl.datasets import as_record, columns_of
from dovetail.dialects.ecl.limits import failure_of
from dovetail.dialects.ecl.nodes import Call, Node, Omitted, word_of
from dovetail.dialects.ecl.ordering import PASSED_OVER
from dovetail.dialects.ecl.totals import narrowed, widened
from dovetail.dialects.ecl.types import INTEGER, Field, RecordType
from dovetail.dialects.ecl.values import DatasetValue, Total
from dovetail.expression import Expression
from dovetail.schema import quoted
from dovetail.spec.join import BlankRow, Clock, Columns, JoinSpec, Kind, Named, Side
from dovetail.spec.picks import Limit, OnExceed, Picks
from dovetail.spec.program import (
    LEFT,
    RIGHT,
    Appended,
    Chosen,
    Counted,
    Filtered,
    Grouped,
    Inline,
    Joined,
    Projected,
    Step,
    Told,
)
from dovetail.spec.stops import Failure, Plainly

COUNT = "CAST(ROWS_COUNT() AS BIGINT)"
ONE = RecordType((Field("n", INTEGER),))
_PASSED = {*PASSED_OVER, "keyed", "count"}


def read_limit(context: Context, node: Call) -> DatasetValue:
    """Returns LIMIT(rows, n, SKIP), or what else it says of too many rows."""
    first, number, *rest = node.arguments
    source, most = context.dataset(first), context.count(number)
    options = [*_options(rest)]
    total = Total(source, Scalar(COUNT, INTEGER))
    few = _with(source, total, f"{{0}} <= {most}L")
    for one in options:
        if is_word(one, "skip"):
            return few
        if word_of(one) == "onfail":
            return _or_one(context, one, (source, few, most))
    return _or_failing(context, node, (source, most, options))


def _options(nodes: Iterable[Node]) -> Iterable[Node]:
    """Gives what is said of too many rows, one thing at most."""
    found = [
        one
        for one in nodes
        if not isinstance(one, Omitted) and word_of(one) not in _PASSED
    ]
    for one in found:
        if word_of(one) not in {"skip", "onfail", "fail"}:
            raise refusal(one, "this in a LIMIT", "SKIP, FAIL(..) or ONFAIL(transform)")
    for one in found[1:]:
        raise refusal(one, "a second thing to do", "SKIP, FAIL or ONFAIL alone")
    return found


def _with(source: DatasetValue, total: Total, condition: str) -> DatasetValue:
    """Returns the rows where a condition on a value of other rows holds."""
    wide = widened(source, [total])
    hidden = wide.schema.names[-1]
    step = Filtered(wide, Expression(condition.format(f"l.{quoted(hidden)}")))
    return replace(source, step=narrowed(step, source.record, [total]))


def _or_one(
    context: Context, node: Node, given: tuple[DatasetValue, DatasetValue, int]
) -> DatasetValue:
    """Returns the rows, or the one row that ONFAIL makes in place of too many."""
    source, few, most = given
    if not isinstance(node, Call) or len(node.arguments) != 1:
        raise refusal(node, "ONFAIL without a transform", "ONFAIL(transform)")
    made = context.made(node.arguments[0])
    if made.record.shape != source.record.shape:
        raise refusal(node, "a transform of another record", "the record of the rows")
    counted = Columns(((ONE.fields[0].name, Expression(COUNT)),))
    count = Counted(Grouped(source.step, ()), ONE.schema, counted)
    many = Filtered(count, Expression(f"l.`n` > {most}L"))
    row = Projected(many, made.record.schema, columns_of(made), Expression(made.skip))
    one = as_record(DatasetValue(row, made.record), source.record)
    return DatasetValue(Appended((few.step, one.step)), source.record)


@dataclass(frozen=True, slots=True)
class Stop:
    """How many of some rows there may be, and how a job fails that meets more."""

    most: int
    failure: Failure | Plainly
    title: str
    line: str


def _or_failing(
    context: Context, node: Call, given: tuple[DatasetValue, int, list[Node]]
) -> DatasetValue:
    """Returns the rows beside a count of them, which fails where there are too many."""
    source, most, options = given
    title = f"LIMIT in line {node.place.line}"
    said = Failure(0, f"{title}: more than {most} rows")
    failures = [failure_of(context, one) for one in options]
    failure = next((it for it in failures if isinstance(it, Failure)), said)
    stop = Stop(most, failure, title, f"more than {most} rows fail the job")
    return or_failing(source, Grouped(source.step, ()), stop)


def or_failing(source: DatasetValue, rows: Step, stop: Stop) -> DatasetValue:
    """Returns rows, or fails where there are too many of some other rows."""
    join = JoinSpec(
        Side(Named(LEFT)),
        Side(Named(RIGHT)),
        Kind.INNER,
        Clock.BATCH,
        (),
        select=Columns(((ONE.fields[0].name, Expression("l.`n`")),)),
        absent_left=BlankRow(),
        absent_right=BlankRow(),
        picks=Picks(limit=Limit(stop.most, OnExceed.FAIL)),
    )
    told = Told(stop.title, (("LIMIT", stop.line),))
    # One row more than there may be says that there are too many.
    few = Chosen(rows, 1, stop.most + 1)
    whole = Inline(ONE.schema, ((0,),))
    counted = Joined(whole, few, join, ONE.schema, told, stop.failure)
    total = Total(DatasetValue(counted, ONE), Scalar(COUNT, INTEGER))
    return _with(source, total, "{0} >= 0L")
