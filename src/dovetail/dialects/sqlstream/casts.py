"""Casts that fail: of which rows, as far as a value is computed of them at all.

CAST(v AS INTEGER)                     where v is there, and the cast is null
CASE WHEN a THEN CAST(..) END          .. and a is true
COALESCE(x, CAST(..))                  .. and x is null
SUM(CAST(..)) FILTER (WHERE a)         .. and a is true
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress

from sqlglot import exp

from dovetail.dialects.sqlstream.lengths import number_of
from dovetail.dialects.trees import type_of
from dovetail.errors import UnsupportedError
from dovetail.expression import Expression, Scope
from dovetail.schema import FRACTIONS, MOMENTS, WHOLE, DecimalType, Type, parse_type


def failures(
    nodes: Sequence[exp.Expr],
    *,
    written: Callable[[exp.Expr], str],
    sees: Callable[[exp.Expr], bool],
    scope: Scope,
) -> Iterator[str]:
    """Yields when a cast in one of some values fails that is computed of a row.

    Of those that the row does not see it is not; nor of results of windows.
    """
    seen = set[str]()
    for node, cast in ((it, one) for it in nodes for one in it.find_all(exp.Cast)):
        parts = (cast.this, cast, *_guards(cast, node))
        is_behind = any(it.find(exp.AggFunc, exp.Window) for it in parts)
        is_text = cast.to.is_type(*exp.DataType.TEXT_TYPES)
        # A length of time is no value by itself: CAST says what it is in.
        is_length = number_of(cast.this, cast.to) is not None
        if is_text or is_length or is_behind or not all(map(sees, parts)):
            continue
        with suppress(UnsupportedError):
            value, own, *rest = (written(it.copy()) for it in parts)
            told = f"({value}) IS NOT NULL AND ({own}) IS NULL"
            told += "".join(f" AND ({one})" for one in rest)
            if told not in seen and type_of(value, scope) != type_of(own, scope):
                seen.add(told)
                yield told


def any_of(conditions: Sequence[str]) -> Expression:
    """Returns the condition that one of some is true."""
    return Expression(" OR ".join(f"({one})" for one in conditions))


def written_into(column: exp.Expr, value: exp.Expr) -> exp.Expr:
    """Returns a value as it is in a column: it has the column's type."""
    if not isinstance(column, exp.ColumnDef):
        return value
    return exp.Cast(this=value.copy(), to=column.kind)


# Types whose values mean the same to a text, whatever their size.
_FAMILIES = (WHOLE, FRACTIONS, MOMENTS)


def read_as(column: exp.ColumnDef, value: exp.Expr, kind: Type) -> exp.Expr:
    """Returns the value of a source in the column that a text declares for it.

    One of another sort has the column's type: a number that is written as a text counts
    as a number.
    """
    wanted = parse_type(column.args["kind"].sql(dialect="spark"))
    are_decimals = isinstance(wanted, DecimalType) and isinstance(kind, DecimalType)
    alike = any(wanted in family and kind in family for family in _FAMILIES)
    if wanted == kind or are_decimals or alike:
        return value
    return exp.Cast(this=value.copy(), to=column.kind)


def _guards(part: exp.Expr, whole: exp.Expr) -> Iterator[exp.Expr]:
    """Yields what is true where a part of a value is computed: CASE and COALESCE.

    A function over rows looks at the values of all, but for those FILTER leaves out.
    """
    while part is not whole:
        within, place = part.parent, part.arg_key
        match within:
            case exp.Filter() if place == "this":
                yield within.expression.this
                return
            case _ if isinstance(part, exp.AggFunc):
                return
            case exp.If() if place != "this":
                test = _test(within)
                yield test if place == "true" else _untrue(test)
            case exp.Case() if place != "this":
                tests = [_test(one) for one in within.args["ifs"]]
                yield from map(_untrue, tests[: part.index])
            case exp.Coalesce() if place == "expressions":
                before = (within.this, *within.expressions[: part.index])
                yield from (exp.Is(this=it, expression=exp.Null()) for it in before)
        assert within is not None  # noqa: S101 - it is a part of the whole
        part = within


def _test(branch: exp.If) -> exp.Expr:
    """Returns what a branch asks: CASE x WHEN 1 asks whether x is 1."""
    case = branch.parent
    if isinstance(case, exp.Case) and case.this is not None:
        return exp.EQ(this=case.this.copy(), expression=branch.this.copy())
    test: exp.Expr = branch.this
    return test


def _untrue(test: exp.Expr) -> exp.Expr:
    """Returns the condition that another is false, or null."""
    known = exp.Coalesce(this=test.copy(), expressions=[exp.false()])
    return exp.Not(this=known)
