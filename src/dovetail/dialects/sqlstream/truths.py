"""EXISTS and IN as values: of each row a join tells whether another one is found.

    WHERE a OR x IN (SELECT y FROM t)    LEFT JOIN t ON x = y, one partner at most
                                         WHERE a OR found
    SELECT x IN (SELECT y FROM t)        one more, ON coalesce(x = y, true): maybe
                                         CASE WHEN found THEN true WHEN maybe THEN NULL

A null on either side of IN makes it unknown. Where that is as good as false it counts
whether a row is equal, behind NOT whether one may be.

    a LEFT JOIN b ON a.k = b.k AND b.x IN (SELECT y FROM t)
    a LEFT JOIN (SELECT *, x IN (SELECT y FROM t) AS v FROM b) AS b ON a.k = b.k AND b.v
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count

from sqlglot import exp

from dovetail.dialects.sqlstream import outside, scalars, sought, syntax
from dovetail.dialects.trees import conjuncts

_FOUND, _MAYBE = "FOUND", sought.MAYBE
_TRUTHS = (exp.And, exp.Or, exp.Not, exp.Paren)


def with_truths(query: exp.Select) -> None:
    """Makes columns of what a query looks for, beside what AND asks in WHERE."""
    numbers, is_grouped = count(), scalars.is_grouped(query)
    for clause in scalars.CLAUSES:
        for node in [*filter(sought.is_sought, scalars.own_parts(query, clause))]:
            inside = node.find_ancestor(exp.AggFunc, exp.Select)
            is_of_group = is_grouped and clause != "where"
            is_of_group = is_of_group and not isinstance(inside, exp.AggFunc)
            group: exp.Expr | None = query.args.get("group")
            if is_of_group and group is None:
                # All rows are one group, also where there are none to look for it.
                continue
            columns = dict[str, exp.Expr]()
            for kind in _asked(node):
                name = f"{scalars.HIDDEN}{next(numbers)} {kind}"
                join = sought.looking(node.copy(), kind)
                join.set(syntax.TOLD, exp.to_identifier(name, quoted=True))
                columns[kind] = exp.column(name, quoted=True)
                if is_of_group and group is not None:
                    # Of all rows of a group it is the same, if it looks at keys alone.
                    keys = [one.copy() for one in group.expressions]
                    join.set(syntax.KEYS, exp.Tuple(expressions=keys))
                    columns[kind] = exp.FirstValue(this=columns[kind])
                query.append("joins", join)
            node.replace(exp.Paren(this=_told(columns)))


def of_inner_joins(query: exp.Select) -> Iterator[exp.Expr]:
    """Yields what ON of joins looks for, which then is a condition behind them.

    Behind an outer join it would say something else.
    """
    joins = query.args.get("joins") or ()
    if any(map(_is_outer, joins)):
        return
    for one in joins:
        terms = [*conjuncts(one.args.get("on"))]
        looking = [it for it in terms if any(map(_is_asked, scalars.parts(it)))]
        if looking:
            rest = [it for it in terms if not any(it is other for other in looking)]
            one.set("on", exp.and_(*rest) if rest else exp.true())
            yield from looking


def beside_outer_joins(query: exp.Select) -> None:
    """Makes columns of what ON of outer joins looks for by columns of one table."""
    joins = query.args.get("joins") or ()
    if not any(map(_is_outer, joins)):
        return
    tables = [one.this for one in (query.args.get("from_"), *joins) if one]
    # Joins in parentheses are no table, and what has no name nobody names.
    tables = [it for it in tables if it.alias_or_name and not it.args.get("joins")]
    known = {one.alias_or_name.lower(): one for one in tables}
    asked = dict[str, list[exp.Expr]]()
    for join in joins:
        for node in [*filter(_is_asked, scalars.own_parts(join, "on"))]:
            columns = outside.names_outside(node, query)
            if isinstance(node, exp.In):
                columns = [*columns, *node.this.find_all(exp.Column)]
            names = {one.table.lower() for one in columns}
            name, *others = names or {join.this.alias_or_name.lower()}
            if name in known and not others:
                asked.setdefault(name, []).append(node)
    for name, nodes in asked.items():
        _widen(known[name], nodes)


def _widen(table: exp.Expr, nodes: list[exp.Expr]) -> None:
    """Gives the rows of a table columns of what some parts of a query say of them."""
    window, own = table.args.pop(syntax.WINDOW, None), table.alias_or_name
    wide = exp.select("*")
    for number, node in enumerate(nodes):
        name = exp.to_identifier(f"{scalars.HIDDEN}{own} {number}", quoted=True)
        wide.append("expressions", exp.Alias(this=node.copy(), alias=name))
        node.replace(exp.column(name.copy(), own, quoted=True))
    alias = exp.TableAlias(this=exp.to_identifier(own, quoted=True))
    rows = exp.Subquery(this=wide.from_(table.copy()), alias=alias)
    rows.set(syntax.WINDOW, window)
    table.replace(rows)


def _is_outer(join: exp.Join) -> bool:
    """Tells whether a join may give rows without a partner, or says more than ON."""
    return bool(join.side or join.method or join.kind == "OUTER")


def _is_asked(node: exp.Expr) -> bool:
    """Tells whether a part of a condition looks at another query."""
    return sought.is_sought(node) or scalars.is_value(node)


def _asked(node: exp.Expr) -> tuple[str, ...]:
    """Returns what must be known of rows to tell whether one is there."""
    if isinstance(node, exp.Exists):
        return (_FOUND,)
    is_not, around = False, node.parent
    while isinstance(around, _TRUTHS):
        is_not ^= isinstance(around, exp.Not)
        around = around.parent
    if not isinstance(around, exp.Where | exp.Having):
        return _FOUND, _MAYBE
    return (_MAYBE if is_not else _FOUND,)


def _told(columns: dict[str, exp.Expr]) -> exp.Expr:
    """Returns the value that columns tell: unknown where no row is, but may be."""
    first, *others = columns.values()
    unknown = exp.cast(exp.Null(), "BOOLEAN")
    ifs = [exp.If(this=first, true=exp.true())]
    ifs += [exp.If(this=one, true=unknown) for one in others]
    return exp.Case(ifs=ifs, default=exp.false()) if others else first
