"""EXISTS and IN of a query in WHERE, as joins that give a row once, or not at all.

    WHERE x IN (SELECT y FROM t WHERE t.k = s.k)    SEMI JOIN t ON x = y AND t.k = s.k
    WHERE x NOT IN (SELECT y FROM t)                ANTI JOIN t ON coalesce(x = y, true)

A null on either side of NOT IN makes it unknown, and so no row comes out.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sqlglot import exp

from dovetail.dialects.sqlstream.syntax import SOUGHT
from dovetail.dialects.trees import conjuncts


def as_joins(query: exp.Select) -> None:
    """Makes of what WHERE looks for in other queries joins behind all others."""
    where = query.args.get("where")
    terms = [*conjuncts(where.this)] if where is not None else []
    joins = {id(one): join for one in terms if (join := _as_join(one)) is not None}
    if joins:
        rest = [one for one in terms if id(one) not in joins]
        query.set("where", exp.Where(this=exp.and_(*rest)) if rest else None)
        query.set("joins", [*(query.args.get("joins") or ()), *joins.values()])


def _as_join(node: exp.Expr) -> exp.Join | None:
    """Returns a condition that looks for rows of a query as a join, if it is one."""
    inner, is_anti = node.unnest(), False
    while isinstance(inner, exp.Not):
        inner, is_anti = inner.this.unnest(), not is_anti
    match inner:
        case exp.Exists(this=exp.Query() as found):
            values: list[exp.Expr] = []
        case exp.In(this=value, args={"query": exp.Query() as found}):
            values = value.expressions if isinstance(value, exp.Tuple) else [value]
        case _:
            return None
    query = found.unnest()
    if isinstance(query, exp.Select):
        # How often a row is there makes no difference.
        query.set("distinct", None)
    join = exp.Join(this=exp.Subquery(this=query), kind="ANTI" if is_anti else "SEMI")
    join.set(SOUGHT, exp.Tuple(expressions=values))
    return join


def outer_queries(query: exp.Select) -> Iterator[exp.Select]:
    """Yields the queries around one that EXISTS or IN looks at: it sees their rows."""
    join = query.parent.parent if query.parent is not None else None
    while isinstance(join, exp.Join) and join.args.get(SOUGHT):
        outer = join.parent
        assert isinstance(outer, exp.Select)  # noqa: S101 - it has the join
        yield outer
        join = outer.parent.parent if outer.parent is not None else None


def equal(values: Sequence[exp.Expr], found: Sequence[exp.Expr]) -> list[exp.Expr]:
    """Returns what makes a row the one that is looked for: all values are equal."""
    return [
        exp.EQ(this=one.copy(), expression=other.copy())
        for one, other in zip(values, found, strict=True)
    ]


def maybe_equal(conditions: Sequence[exp.Expr]) -> exp.Expr:
    """Returns whether nobody knows that a row is another one than what is sought."""
    known = exp.and_(*conditions)
    return exp.Coalesce(this=known, expressions=[exp.true()])
