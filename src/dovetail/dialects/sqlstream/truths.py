"""EXISTS and IN as values: of each row a join tells whether another one is found.

    WHERE a OR x IN (SELECT y FROM t)    LEFT JOIN t ON x = y, one partner at most
                                         WHERE a OR found
    SELECT x IN (SELECT y FROM t)        one more, ON coalesce(x = y, true): maybe
                                         CASE WHEN found THEN true WHEN maybe THEN NULL

A null on either side of IN makes it unknown. Where that is as good as false it counts
whether a row is equal, behind NOT whether one may be.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count

from sqlglot import exp

from dovetail.dialects.sqlstream import scalars, sought, syntax
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
    if any(one.side or one.method or one.kind == "OUTER" for one in joins):
        return
    for one in joins:
        terms = [*conjuncts(on)] if (on := one.args.get("on")) is not None else []
        looking = [it for it in terms if any(map(sought.is_sought, scalars.parts(it)))]
        if looking:
            rest = [it for it in terms if not any(it is other for other in looking)]
            one.set("on", exp.and_(*rest) if rest else exp.true())
            yield from looking


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
