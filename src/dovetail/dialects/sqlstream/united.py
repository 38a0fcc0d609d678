"""Rows of several queries as those of one: UNION, INTERSECT, EXCEPT.

They go by their places, under the names of the first, as in all of SQL.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from sqlglot import exp

from dovetail import spec
from dovetail.dialects.sqlstream import steps
from dovetail.dialects.sqlstream.parser import ROWTIME, Text, not_yet
from dovetail.dialects.sqlstream.syntax import PLACE
from dovetail.errors import DialectError
from dovetail.expression import Expression, kinds

ENDS = ("order", "limit", "offset")
"""What stands behind the last of several queries, and is of all their rows."""
_TOGETHER, _UNITED = "a UNION of queries", "united"
_ONE_SET_OPERATOR = "rows of streams come for ever: none is sure to be in one alone"


def refused(query: exp.SetOperation, text: Text) -> DialectError:
    """Returns the error for INTERSECT and EXCEPT of streams."""
    place = query.meta.get(PLACE) or text.at(query)
    told = f"{query.key.upper()} of queries"
    return DialectError(told, "UNION ALL", _ONE_SET_OPERATOR, place=place)


def sorted_apart(
    query: exp.SetOperation, names: Callable[[], Sequence[str]]
) -> exp.Select:
    """Returns a query of what several give, in the order that stands behind them.

    Without that, as `names` asks for its columns, it is read as any other.
    """
    ends = {name: query.args.pop(name, None) for name in ENDS}
    rows = exp.Subquery(this=query)
    rows.set("alias", exp.TableAlias(this=exp.to_identifier(_UNITED)))
    columns = [exp.column(one, quoted=True) for one in names()]
    return exp.Select(expressions=columns, from_=exp.From(this=rows), **ends)


def refuse_unread(query: exp.Expr, text: Text) -> None:
    """Refuses what stands at several queries beside themselves: BY NAME."""
    read = {"this", "expression", "distinct", "alias"}
    if told := [name for name, part in query.args.items() if part and name not in read]:
        place = query.meta.get(PLACE) or text.at(query)
        what = f"{told[0].replace('_', ' ').upper()} of {_TOGETHER}"
        raise not_yet(place, what)


def alike(parts: Sequence[steps.Made]) -> tuple[spec.Step, ...]:
    """Returns rows with the names of the first, and types that have room for all.

    The row time is beside them, if there is any.
    """
    names = parts[0].shown
    has_time = ROWTIME in parts[0].step.schema.names
    more = (ROWTIME,) if has_time and ROWTIME not in names else ()
    wide = [*_widest(parts), *(None for _ in more)]
    sources = []
    for made in parts:
        own, rows = (*made.shown, *more), made.step.schema
        columns = []
        for name, column, kind in zip((*names, *more), own, wide, strict=True):
            value = steps.column_of(column)
            if kind not in {None, str(rows[column].type)}:
                value = Expression(f"CAST({value} AS {kind})")
            columns.append((name, value))
        sources.append(steps.projected(made.step, tuple(columns)))
    return tuple(sources)


def refuse_unlike(text: Text, query: exp.Expr, parts: Sequence[steps.Made]) -> None:
    """Refuses the last of some rows if they cannot run together with the others."""
    first, other = parts[0], parts[-1]
    if len(first.shown) != len(other.shown) or None in _widest(parts):
        ours, others = (
            [str(one.step.schema[name].type) for name in one.shown]
            for one in (first, other)
        )
        told = f"({', '.join(others)}) of {_TOGETHER}"
        hint = "CAST says of what type a value is"
        expected = f"({', '.join(ours)}) as of its first query"
        raise text.wrong(query, told, expected, hint)
    if (ROWTIME in first.shown) != (ROWTIME in other.shown) or (
        ROWTIME in first.shown
        and first.shown.index(ROWTIME) != other.shown.index(ROWTIME)
    ):
        told = f"ROWTIME in another place of {_TOGETHER}"
        raise text.wrong(query, told, "the same place in each query")


def _widest(parts: Sequence[steps.Made]) -> list[str | None]:
    """Returns the type of each column that all of some rows have, where there is one.

    Numbers become as wide as the widest of them; what is no number stays what it is.
    """
    each = zip(
        *([one.step.schema[name].type for name in one.shown] for one in parts),
        strict=True,
    )
    found = map(kinds.widest_without_texts, each)
    return [None if one is None else str(one) for one in found]
