"""Queries that stand for one value, as joins with the one row that has it.

    WHERE x > (SELECT AVG(x) FROM t)

    CROSS JOIN (SELECT ONLY_VALUE(v) FROM (SELECT AVG(x) FROM t) AS q (v)) AS s (v)
    WHERE x > s.v

That row is there if the query has none, and then its value is null. Of several rows
nobody knows which one is meant: what asks for the value fails.
"""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from dovetail.dialects.sqlstream import outside
from dovetail.dialects.sqlstream.sought import outer_queries
from dovetail.dialects.sqlstream.syntax import KEYS, SOUGHT, OnlyValue

HIDDEN, _VALUE = "(SELECT ..) ", "(SELECT ..)"
"""How tables of such rows are called, before a number, and the column of the value."""
_OF_GROUPS = ("group", "having")
_OF_ITSELF = ("joins", "order", "limit", "offset")
CLAUSES = ("expressions", "where", "having", "order")
"""The parts of a query in which another one may stand for a value."""


def with_values(query: exp.Select) -> None:
    """Makes joins of queries in what a query tests, selects and sorts by.

    Without FROM it looks at one row, of which nobody sees a column.
    """
    if not query.args.get("from_"):
        zero = exp.Tuple(expressions=[exp.Literal.number(0)])
        one_row = exp.Values(expressions=[zero], alias=_named(HIDDEN))
        query.set("from_", exp.From(this=one_row))
    has_groups = is_grouped(query)
    # What EXISTS or IN looks at sees the rows around it, unless it has more of its own.
    sees = not has_groups and not any(map(query.args.get, _OF_ITSELF))
    reader = [query, *outer_queries(query)][-1 if sees else 0]
    for clause in CLAUSES:
        for node in [*filter(is_value, own_parts(query, clause))]:
            inside = node.find_ancestor(exp.AggFunc, exp.Select)
            is_of_group = (
                has_groups and clause != "where" and not isinstance(inside, exp.AggFunc)
            )
            if is_of_group and not query.args.get("group"):
                # All rows are one group, also where there are none to have a value.
                continue
            joins = reader.args.get("joins") or []
            table = f"{HIDDEN}{len(joins)}"
            if outside.names_outside(node.this, query):
                # Groups are by key alone, and EXISTS and IN look at nothing but rows.
                if reader is query:
                    _see_outside(node, query, table, is_of_group=is_of_group)
                continue
            value: exp.Expr = exp.column(_VALUE, table=table, quoted=True)
            if is_of_group:
                value = exp.FirstValue(this=value)
            # A name that nobody wrote is no name of what is selected.
            node.replace(exp.Paren(this=value))
            every = exp.Subquery(this=node.this, alias=_named(HIDDEN, _VALUE))
            only = OnlyValue(this=exp.column(_VALUE, quoted=True))
            named = exp.alias_(only, _VALUE, quoted=True)
            row = exp.Select(expressions=[named], from_=exp.From(this=every))
            rows = exp.Subquery(this=row, alias=_named(table))
            # What EXISTS and IN look at stands behind all that has rows.
            last = sum(not is_behind(one) for one in joins)
            joins.insert(last, exp.Join(this=rows, kind="CROSS"))
            reader.set("joins", joins)


def _see_outside(
    node: exp.Expr, query: exp.Select, table: str, *, is_of_group: bool
) -> None:
    """Makes a join of a query that sees the row outside, if groups have its value."""
    found = outside.joined(node.this, query, table)
    if found is None:
        return
    join, value = found
    if is_of_group:
        keys = [one.copy() for one in query.args["group"].expressions]
        join.set(KEYS, exp.Tuple(expressions=keys))
        for column in [*value.find_all(exp.Column)]:
            column.replace(exp.FirstValue(this=column.copy()))
    node.replace(exp.Paren(this=value))
    query.append("joins", join)


def is_behind(join: exp.Join) -> bool:
    """Tells whether a join is ours, and stands behind all that the text has."""
    return bool(join.args.get(SOUGHT)) or join.kind == outside.VALUE


def is_grouped(query: exp.Select) -> bool:
    """Tells whether what comes out of a query are groups."""
    every = [*own_parts(query, "expressions"), *map(query.args.get, _OF_GROUPS)]
    return any(
        isinstance(one, exp.AggFunc | exp.Group | exp.Having)
        and not isinstance(one.find_ancestor(exp.Window, exp.Select), exp.Window)
        for one in every
    )


def own_parts(query: exp.Select, clause: str) -> Iterator[exp.Expr]:
    """Yields the parts of a clause, and queries in it as a whole."""
    several = query.args.get(clause) or []
    for part in several if isinstance(several, list) else [several]:
        yield from parts(part)


def parts(node: exp.Expr) -> Iterator[exp.Expr]:
    """Yields a value and its parts, and queries in it as a whole."""
    yield from node.walk(prune=lambda part: isinstance(part, exp.Query))


def is_value(node: exp.Expr) -> bool:
    """Tells whether a part is a query that stands for one value."""
    is_query = isinstance(node, exp.Subquery) and isinstance(node.this, exp.Query)
    # What EXISTS, IN, ANY and ALL look at may have many rows.
    return is_query and not isinstance(node.parent, exp.In | exp.SubqueryPredicate)


def _named(table: str, *columns: str) -> exp.TableAlias:
    """Returns the name of a table, and those of its columns."""
    names = [exp.to_identifier(one, quoted=True) for one in columns]
    return exp.TableAlias(this=exp.to_identifier(table, quoted=True), columns=names)


def is_hidden(table: str) -> bool:
    """Tells whether a table has the value of a query: no star stands for it."""
    return table.startswith(HIDDEN)
