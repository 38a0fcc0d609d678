"""Queries that stand for one value and see the row outside, as joins with groups.

    SELECT o.id, (SELECT MAX(p.price) FROM prices AS p WHERE p.k = o.k) FROM orders AS o

    LEFT JOIN (SELECT p.k AS key, MAX(p.price) AS value FROM prices AS p GROUP BY p.k)
           AS s ON s.key = o.k

A row without a group has the value of no rows: null, and 0 of COUNT. A query without a
function of groups has one row at most: of several it fails where it is asked for.
"""

from __future__ import annotations

from sqlglot import exp

from dovetail.dialects.trees import conjuncts

VALUE = "VALUE"
"""The kind of a join with the groups that have such a value."""
SEVERAL = "a query that stands for one value gives several rows"
_OWN = frozenset({"expressions", "from_", "joins", "where"})


def names_outside(inner: exp.Expr, around: exp.Select) -> list[exp.Column]:
    """Returns the columns of a query that name a table of the one around it."""
    tables = {
        it.alias_or_name.lower()
        for it in inner.find_all(exp.Table, exp.Subquery, exp.Values)
    }
    first = around.args.get("from_")
    joined = [it.this for it in (first, *(around.args.get("joins") or ())) if it]
    seen = {it.alias_or_name.lower() for it in joined} - tables
    return [it for it in inner.find_all(exp.Column) if it.table.lower() in seen]


def joined(
    inner: exp.Query, around: exp.Select, table: str
) -> tuple[exp.Join, exp.Expr] | None:
    """Returns a join with the groups of a query, and its value over their columns.

    Nothing where it compares with the row outside in other ways than by equality.
    """
    said = {name for name, part in inner.args.items() if part}
    if not isinstance(inner, exp.Select) or not said <= _OWN:
        return None
    (node,), outer = inner.expressions, names_outside(inner, around)
    equal, rest = list[tuple[exp.Expr, exp.Expr]](), list[exp.Expr]()
    for one in conjuncts(inner.args.get("where")):
        both = (one.this, one.expression) if isinstance(one, exp.EQ) else ()
        sides = [
            {_is_any(it, outer) for it in side.find_all(exp.Column)} for side in both
        ]
        if sides == [{False}, {True}]:
            equal.append((one.this, one.expression))
        elif sides == [{True}, {False}]:
            equal.append((one.expression, one.this))
        else:
            rest.append(one)
    # What else looks at the row outside is no group's.
    parts = (
        *rest,
        *inner.expressions,
        inner.args["from_"],
        *inner.args.get("joins", ()),
    )
    seen = (it for part in parts for it in part.find_all(exp.Column))
    if not equal or any(_is_any(it, outer) for it in seen) or node.find(exp.Window):
        return None
    return _grouped(inner, table, equal=equal, rest=rest)


def _grouped(
    inner: exp.Select,
    table: str,
    *,
    equal: list[tuple[exp.Expr, exp.Expr]],
    rest: list[exp.Expr],
) -> tuple[exp.Join, exp.Expr]:
    """Returns a join with the groups of a query by what is equal, and their value."""
    node = inner.expressions[0].unalias()
    is_total = node.find(exp.AggFunc) is not None
    value = node.copy() if is_total else exp.FirstValue(this=node.copy())
    own = [key for key, _ in equal]
    made = {str(number): one for number, one in enumerate(own)}
    made |= {"value": value, "count": exp.Count(this=exp.Star())}
    named = {it: f"{table} {it}" for it in made}
    column = {it: exp.column(one, table, quoted=True) for it, one in named.items()}
    group = exp.Select(
        expressions=[
            exp.alias_(it.copy(), named[name], quoted=True) for name, it in made.items()
        ],
        from_=inner.args["from_"],
        joins=inner.args.get("joins"),
        where=exp.Where(this=exp.and_(*rest)) if rest else None,
        group=exp.Group(expressions=[one.copy() for one in own]),
    )
    alias = exp.TableAlias(this=exp.to_identifier(table, quoted=True))
    on = [
        exp.EQ(this=column[str(number)], expression=theirs.copy())
        for number, (_, theirs) in enumerate(equal)
    ]
    rows = exp.Subquery(this=group, alias=alias)
    join = exp.Join(this=rows, kind=VALUE, on=exp.and_(*on))
    if is_total:
        # What functions are of no rows: a count is 0, all others are null.
        of_none = node.transform(_of_none)
        is_none = exp.Is(this=column["count"], expression=exp.Null())
        return join, _if(is_none, of_none, column["value"])
    several = exp.GT(this=column["count"], expression=exp.Literal.number(1))
    # Where it is null, and there alone, it fails: of one row or none it is true.
    is_one = _if(several, exp.cast(exp.Null(), "BOOLEAN"), exp.true())
    fails = exp.Anonymous(this="raise_error", expressions=[exp.Literal.string(SEVERAL)])
    checked = exp.Coalesce(this=is_one, expressions=[fails])
    return join, exp.Case(ifs=[exp.If(this=checked, true=column["value"])])


def _of_none(node: exp.Expr) -> exp.Expr:
    """Returns what a function of groups is where there are no rows."""
    if isinstance(node, exp.Count):
        return exp.Literal.number(0)
    return exp.Null() if isinstance(node, exp.AggFunc) else node


def _if(condition: exp.Expr, this: exp.Expr, other: exp.Expr) -> exp.Expr:
    """Returns one of two values."""
    return exp.Case(ifs=[exp.If(this=condition, true=this)], default=other)


def _is_any(node: exp.Expr, some: list[exp.Column]) -> bool:
    """Tells whether a part is one of some, and not only alike."""
    return any(node is one for one in some)
