"""EXISTS and IN of a query in WHERE, as joins that give a row once, or not at all.

    WHERE x IN (SELECT y FROM t WHERE t.k = s.k)    SEMI JOIN t ON x = y AND t.k = s.k
    WHERE x NOT IN (SELECT y FROM t)                ANTI JOIN t ON x = y
                                                    ANTI JOIN t ON true = (y IS NULL)
                                                    ANTI JOIN t ON (x IS NULL) = true
    WHERE (x, z) NOT IN (SELECT y, w FROM t)        ANTI JOIN t ON coalesce(.., true)
    WHERE x > ALL (SELECT y FROM t)                 .. ON coalesce(x <= y, true)

A null on either side of NOT IN makes it unknown, and so no row comes out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from sqlglot import exp

from dovetail.dialects.sqlstream.syntax import COMPARED, SOUGHT
from dovetail.dialects.trees import conjuncts

NULL_INSIDE, NULL_OUTSIDE = "ANTI, Y IS NULL", "ANTI, X IS NULL"
"""The kinds of joins behind NOT IN by key: of null and any other nobody knows it."""
MAYBE = "MAYBE"
"""The kind of a join that tells whether nobody knows that no row is equal."""
_CONTRARY: dict[type[exp.Binary], type[exp.Binary]] = {
    exp.EQ: exp.NEQ,
    exp.NEQ: exp.EQ,
    exp.GT: exp.LTE,
    exp.LTE: exp.GT,
    exp.LT: exp.GTE,
    exp.GTE: exp.LT,
}


def as_joins(query: exp.Select, more: Iterable[exp.Expr] = ()) -> None:
    """Makes of what WHERE looks for in other queries joins behind all others.

    What must be true beside that becomes a part of it.
    """
    added = [*more]
    terms = [*conjuncts(query.args.get("where")), *added]
    joins = {id(one): join for one in terms if (join := _as_join(one)) is not None}
    if joins or added:
        rest = [one for one in terms if id(one) not in joins]
        query.set("where", exp.Where(this=exp.and_(*rest)) if rest else None)
        query.set("joins", [*(query.args.get("joins") or ()), *joins.values()])


def _as_join(node: exp.Expr) -> exp.Join | None:
    """Returns a condition that looks for rows of a query as a join, if it is one."""
    inner, is_anti = node.unnest(), False
    while isinstance(inner, exp.Not):
        inner, is_anti = inner.this.unnest(), not is_anti
    if not is_sought(inner):
        return None
    return looking(inner, "ANTI" if is_anti else "SEMI")


def as_in(node: exp.Expr) -> exp.Expr:
    """Returns what looks for rows in other words as IN: x = ANY (SELECT ..)."""
    match node:
        case exp.In(expressions=[exp.Values() as rows]):
            return exp.In(this=node.this, query=exp.select("*").from_(rows))
        case exp.EQ() | exp.NEQ() | exp.GT() | exp.GTE() | exp.LT() | exp.LTE():
            return _of_any(node)
        case _:
            return node


def _of_any(node: exp.Binary) -> exp.Expr:
    """Returns a comparison with ANY or ALL of what a query finds as a kind of IN.

    One holds for all where the contrary holds for none.
    """
    match node.expression:
        case exp.Any(this=found) | exp.Anonymous(name="SOME", expressions=[found]):
            how, is_all = type(node), False
        case exp.All(this=found):
            how, is_all = _CONTRARY[type(node)], True
        case _:
            return node
    # Of two values that are compared at once the first counts more; of equal ones none.
    is_known = how is exp.EQ or not isinstance(node.this, exp.Tuple)
    if not (is_known and isinstance(found.unnest(), exp.Query)):
        return node
    looked_for = exp.In(this=node.this, query=found.unnest())
    looked_for.set(COMPARED, how)
    return exp.Not(this=looked_for) if is_all else looked_for


def is_sought(node: exp.Expr) -> bool:
    """Tells whether a value says that a query has rows."""
    found = node.this if isinstance(node, exp.Exists) else node.args.get("query")
    return isinstance(node, exp.Exists | exp.In) and isinstance(found, exp.Query)


def looking(node: exp.Expr, kind: str) -> exp.Join:
    """Returns the join of a kind that looks for the rows of EXISTS or IN."""
    query, values = node.this, list[exp.Expr]()
    if isinstance(node, exp.In):
        query, one = node.args["query"], node.this
        values = one.expressions if isinstance(one, exp.Tuple) else [one]
    query = query.unnest()
    if isinstance(query, exp.Select):
        # How often a row is there makes no difference.
        query.set("distinct", None)
    join = exp.Join(this=exp.Subquery(this=query), kind=kind)
    join.set(SOUGHT, exp.Tuple(expressions=values))
    join.set(COMPARED, node.args.get(COMPARED))
    return join


def outer_queries(query: exp.Select) -> Iterator[exp.Select]:
    """Yields the queries around one that EXISTS or IN looks at: it sees their rows."""
    join = query.parent.parent if query.parent is not None else None
    while isinstance(join, exp.Join) and join.args.get(SOUGHT):
        outer = join.parent
        assert isinstance(outer, exp.Select)  # noqa: S101 - it has the join
        yield outer
        join = outer.parent.parent if outer.parent is not None else None


def compared(join: exp.Join, found: Sequence[exp.Expr]) -> list[exp.Binary]:
    """Returns what makes a row the one that is looked for: mostly all are equal."""
    how = join.args.get(COMPARED) or exp.EQ
    return [
        how(this=one.copy(), expression=other.copy())
        for one, other in zip(join.args[SOUGHT].expressions, found, strict=True)
    ]


def looked_for(
    join: exp.Join,
    conditions: Sequence[exp.Binary],
    terms: Sequence[exp.Expr],
    *,
    is_apart: bool,
) -> tuple[Sequence[exp.Expr], list[exp.Join]]:
    """Returns when a row is the one that is sought, and joins that say the rest of it.

    Some terms are true of it; no row is sought by more than the values: it `is_apart`.
    """
    if join.kind in (NULL_INSIDE, NULL_OUTSIDE):
        return [_of_nulls(join.kind, one) for one in conditions], []
    if join.kind not in ("ANTI", MAYBE):
        return conditions, []
    maybe = _maybe(conditions, terms)
    is_by_key = is_apart and [*map(type, conditions)] == [exp.EQ]
    if join.kind == "ANTI" and is_by_key and maybe != conditions:
        return conditions, _behind(join)
    return maybe, []


def _behind(join: exp.Join) -> list[exp.Join]:
    """Returns the joins that stand behind NOT IN by key, and look at the same rows."""
    found = [exp.Join(kind=it) for it in (NULL_INSIDE, NULL_OUTSIDE)]
    for one in found:
        # Not copied: a query that is made is known by its identity.
        one.args |= {it: join.args[it] for it in ("this", SOUGHT)}
    return found


def _of_nulls(kind: str, one: exp.Binary) -> exp.EQ:
    """Returns when a side of an equality is null, for any value on the other side."""
    left, right = (
        exp.paren(exp.Is(this=it.copy(), expression=exp.Null()), copy=False)
        for it in (one.this, one.expression)
    )
    if kind == NULL_INSIDE:
        return exp.EQ(this=exp.paren(exp.or_(left, exp.not_(left))), expression=right)
    return exp.EQ(this=left, expression=exp.paren(exp.or_(right, exp.not_(right))))


def _maybe(
    conditions: Sequence[exp.Binary], terms: Iterable[exp.Expr]
) -> list[exp.Expr]:
    """Returns when nobody knows that a row is another one than what is sought.

    Of rows for which some terms are true, and of others that come out in no case. An
    equality of what is no null there is one still, by which rows are found.
    """
    known = {*_never_null(terms)}
    sure, unsure = list[exp.Expr](), list[exp.Expr]()
    for one in conditions:
        both = (one.this, one.expression)
        is_sure = all(isinstance(it, exp.Literal) or it in known for it in both)
        (sure if is_sure else unsure).append(one)
    if not unsure:
        return [*sure]
    either = exp.Coalesce(this=exp.and_(*unsure), expressions=[exp.true()])
    return [*sure, either]


def _never_null(terms: Iterable[exp.Expr]) -> Iterator[exp.Expr]:
    """Yields what is no null in a row for which all terms are true."""
    for one in terms:
        match one.unnest():
            case exp.Not(this=exp.Is() | exp.Paren() as inner):
                match inner.unnest():
                    case exp.Is(this=value, expression=exp.Null()):
                        yield value.unnest()
            case (
                exp.EQ() | exp.NEQ() | exp.LT() | exp.LTE() | exp.GT() | exp.GTE() as it
            ):
                yield from (it.this.unnest(), it.expression.unnest())
