"""What a query does beside joining, as its tree says it."""

from __future__ import annotations

from sqlglot import exp

from dovetail.dialects.sqlstream.parser import ROWTIME
from dovetail.dialects.trees import conjuncts


def is_plain(query: exp.Query) -> bool:
    """Tells whether a query filters, renames and joins, and does no more."""
    more = ("group", "distinct", "order")
    if not isinstance(query, exp.Select) or any(map(query.args.get, more)):
        return False
    is_join = bool(query.args.get("joins"))
    if asking_time(query) if is_join else gives_time(query):
        return False
    return not any(it.find(exp.AggFunc, exp.Window) for it in query.expressions)


def asking_time(query: exp.Select) -> list[exp.Expr]:
    """Returns what WHERE asks of the row time of joined rows: of ROWTIME alone.

    It is known behind the join, where other conditions may be tested in front of it.
    """
    where = query.args.get("where") if query.args.get("joins") else None
    return [
        one
        for one in (conjuncts(where.this) if where is not None else ())
        if any(
            not it.table and it.name.upper() == ROWTIME
            for it in one.find_all(exp.Column)
        )
    ]


def gives_time(query: exp.Select) -> bool:
    """Tells whether a query has a value of its own AS ROWTIME."""
    return any(
        isinstance(one, exp.Alias)
        and one.alias.upper() == ROWTIME
        and one.this.name.upper() != ROWTIME
        for one in query.expressions
    )
