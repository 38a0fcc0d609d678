"""Steps that ask how many rows there are: LIMIT, what CATCH makes of one, NONEMPTY.

LIMIT(rows, n, SKIP)             rows(COUNT(rows) <= n)
LIMIT(rows, n, ONFAIL(t))        .. + the row that t makes, where there are more
LIMIT(rows, n)                   rows beside a count that fails where there are more
CATCH(LIMIT(rows, n), SKIP)      LIMIT(rows, n, SKIP), whatever it is called

NONEMPTY(rows, others)           rows + others(COUNT(rows) = 0)
ENTH(rows, n)                    n of them, as far from each other as they can be
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from dovetail import spec
from dovetail.dialects.ecl import datasets, syntax, trees, types, values
from dovetail.dialects.ecl.aggregates import counted
from dovetail.dialects.ecl.context import Context, is_word, refusal
from dovetail.dialects.ecl.options import failure_of
from dovetail.dialects.ecl.totals import narrowed, plain_join, widened
from dovetail.dialects.ecl.trees import sql
from dovetail.schema import AtomicType

_PASSED = {*datasets.PASSED_OVER, "keyed", "count"}
ONE = types.RecordType((types.Field("n", types.INTEGER),))
"""A row of a number, beside which counts of other rows stand."""
COUNT = types.whole(counted(values.RowsValue.together(ONE)))
"""How many rows there are."""
NUMBER = trees.column("n", AtomicType.BIGINT)
"""The number of such a row."""


def read_limit(context: Context, node: syntax.Call) -> values.DatasetValue:
    """Returns LIMIT(rows, n, SKIP), or what else it says of too many rows."""
    first, number, *rest = node.arguments
    source, most = context.dataset(first), context.count(number)
    title = f"LIMIT in line {node.place.line}"
    failure = spec.Failure(0, f"{title}: more than {most} rows")
    options = [
        one
        for one in rest
        if not isinstance(one, syntax.Omitted) and syntax.word_of(one) not in _PASSED
    ]
    for one in options:
        if syntax.word_of(one) not in {"skip", "onfail", "fail"}:
            raise refusal(one, "this in a LIMIT", "SKIP, FAIL(..) or ONFAIL(transform)")
    for one in options[1:]:
        raise refusal(one, "a second thing to do", "SKIP, FAIL or ONFAIL alone")
    for one in options:
        if syntax.word_of(one) != "fail":
            return _recovered(context, one, values.Limited(source, most, failure))
        match failure_of(context, one):
            case spec.Failure() as said:
                failure = said
    stop = Stop(most, failure, title, f"more than {most} rows fail the job")
    found = or_failing(source, spec.Grouped(source.step, ()), stop)
    rows = values.Limited(source, most, failure)
    context.world.limited.append((found.step, rows))
    return found


def read_catch(context: Context, node: syntax.Call) -> values.DatasetValue:
    """Returns CATCH(rows, SKIP) or CATCH(rows, ONFAIL(t)), which does not fail."""
    first, action, *rest = node.arguments
    datasets.refuse_others(rest)
    if syntax.word_of(action) not in {"skip", "onfail"}:
        hint = "LIMIT(rows, n, FAIL(code, 'message')) says how the job fails"
        raise refusal(action, "this in a CATCH", "SKIP or ONFAIL(transform)", hint)
    source = context.dataset(first)
    limited = [rows for step, rows in context.world.limited if step is source.step]
    for rows in limited:
        _refuse_failing(context, first, rows.source.step)
        return _recovered(context, action, rows)
    _refuse_failing(context, first, source.step)
    context.world.remarks.append(f"CATCH in line {node.place.line}: nothing fails")
    return source


def _refuse_failing(context: Context, node: syntax.Node, whole: spec.Step) -> None:
    """Refuses rows on whose way a limit may fail the job: nothing else does."""
    if context.world.may_fail_inside:
        told = "CATCH beside a LIMIT of child rows that fails the job"
        raise refusal(node, told, "LIMIT(n, SKIP) in that JOIN")
    waiting, seen = [whole], set[int]()
    while waiting:
        step = waiting.pop()
        if isinstance(step, spec.Joined) and _may_fail(step):
            raise refusal(
                node,
                f"CATCH of what comes behind {step.told.title}, which fails the job",
                "CATCH(LIMIT(rows, n), ..)",
                "LIMIT(n, SKIP) in that JOIN, or CATCH right around the LIMIT",
            )
        if id(step) not in seen:
            seen.add(id(step))
            waiting += spec.sources_of(step)


def _may_fail(step: spec.Joined) -> bool:
    """Tells whether a join stops the job where a row has too many candidates."""
    limit = step.join.picks.limit
    fails = isinstance(limit, spec.Limit) and limit.on_exceed is spec.OnExceed.FAIL
    return fails or step.skew != spec.Skew()


def read_nonempty(context: Context, node: syntax.Call) -> values.DatasetValue:
    """Returns the first of several data sets that has rows."""
    sources = [context.dataset(one) for one in node.arguments]
    chosen = []
    for at, source in enumerate(sources):
        before = [values.Total(one, COUNT) for one in sources[:at]]
        chosen.append(_with(source, before, "x = 0L"))
    return datasets.appended(node, chosen)


def read_enth(context: Context, node: syntax.Call) -> values.DatasetValue:
    """Returns ENTH(rows, n, of): n of so many rows, left out of all that there are.

    They are as far from each other as they can be, the last row of all among them.
    """
    first, *rest = node.arguments
    source = context.dataset(first)
    given = [one for one in rest if not datasets.is_passed_over(one)]
    many, *of = (context.count(one, 1) for one in given[:2])
    for one in given[2:]:
        if context.count(one, 1) > 1:
            raise refusal(one, "a further set of ENTH", "1, the first one")
    if source.is_grouped:
        raise refusal(first, "groups in ENTH", "UNGROUP(rows)")
    numbered = datasets.numbered(source)
    totals = [] if of else [values.Total(source, COUNT)]
    wide = widened(numbered, totals)
    place = numbered.record.fields[-1].name
    total = trees.column(wide.schema.names[-1], AtomicType.BIGINT)
    # Where so many nths of the rows up to here are one more than those before it.
    is_next = sql(
        "(x + 1L) * m DIV n > x * m DIV n",
        x=trees.column(place, AtomicType.BIGINT),
        m=trees.literal(many),
        n=trees.literal(of[0]) if of else total,
    )
    kept = spec.Filtered(wide, trees.expressed(is_next))
    columns = trees.select(source.record.columns())
    return replace(source, step=spec.Projected(kept, source.record.schema, columns))


def _with(
    source: values.DatasetValue, totals: Sequence[values.Total], condition: str
) -> values.DatasetValue:
    """Returns the rows where a condition holds of each of some values of other rows."""
    wide = widened(source, totals)
    # The hidden columns are the last ones.
    hidden = wide.schema.names[len(source.step.schema.names) :]
    numbers = (trees.column(one, AtomicType.BIGINT) for one in hidden)
    holds = trees.all_of(sql(condition, x=one) for one in numbers)
    step = spec.Filtered(wide, trees.expressed(holds))
    return replace(source, step=narrowed(step, source.record, totals))


def _recovered(
    context: Context, node: syntax.Node, rows: values.Limited
) -> values.DatasetValue:
    """Returns rows, or what SKIP or ONFAIL makes in place of too many."""
    source, most = rows.source, rows.most
    # The same rows are counted and kept: a total of them stands beside each.
    few = _with(source, [values.Total(source, COUNT)], f"x <= {most}L")
    if is_word(node, "skip"):
        return few
    if not isinstance(node, syntax.Call) or len(node.arguments) != 1:
        raise refusal(node, "ONFAIL without a transform", "ONFAIL(transform)")
    told = {
        "failcode": types.whole(trees.literal(rows.failure.code)),
        "failmessage": types.Scalar(trees.literal(rows.failure.message), types.STRING),
    }
    made = context.with_sides(told).made(node.arguments[0])
    if made.record.shape != source.record.shape:
        raise refusal(node, "a transform of another record", "the record of the rows")
    counted = trees.select([("n", COUNT.tree)])
    # Without groups: all rows are counted, and no row is one of its own.
    count = spec.Counted(spec.Grouped(source.step, ()), ONE.schema, counted)
    many = spec.Filtered(count, trees.expressed(sql(f"x > {most}L", x=NUMBER)))
    row = datasets.projected(values.DatasetValue(many, ONE), made)
    one = datasets.as_record(row, source.record)
    return values.DatasetValue(spec.Appended((few.step, one.step)), source.record)


@dataclass(frozen=True, slots=True)
class Stop:
    """How many of some rows there may be, and how a job fails that meets more."""

    most: int
    failure: spec.Failure
    title: str
    line: str


# LIMIT(rows, 9): a filter that is true of any row, and cannot be asked before the count
# of the others, which fails where there are more than nine.
def or_failing(
    source: values.DatasetValue, rows: spec.Step, stop: Stop
) -> values.DatasetValue:
    """Returns rows, or fails where there are too many of some other rows.

    One row is joined with those others under a LIMIT that fails; how many pairs come
    out stands beside each row and is never negative, so that it must be computed.
    """
    limit = spec.Limit(stop.most, spec.OnExceed.FAIL)
    join = plain_join(trees.select([("n", NUMBER)]), picks=spec.Picks(limit=limit))
    told = spec.Told(stop.title, (("LIMIT", stop.line),))
    # One row more than there may be says that there are too many.
    few = spec.Chosen(rows, 1, stop.most + 1)
    whole = spec.Inline(ONE.schema, ((0,),))
    counted = spec.Joined(whole, few, join, ONE.schema, told, stop.failure)
    total = values.Total(values.DatasetValue(counted, ONE), COUNT)
    return _with(source, [total], "x >= 0L")
