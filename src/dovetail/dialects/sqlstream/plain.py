"""What a query does beside joining, and of which kind its joins are."""

from __future__ import annotations

from sqlglot import exp

from dovetail import spec
from dovetail.dialects.sqlstream import outside, syntax
from dovetail.dialects.sqlstream.parser import ROWTIME, Text
from dovetail.dialects.trees import conjuncts

_KINDS = {
    "": spec.Kind.INNER,
    "LEFT": spec.Kind.LEFT_OUTER,
    "RIGHT": spec.Kind.RIGHT_OUTER,
    "FULL": spec.Kind.FULL_OUTER,
}

_COUNTED = ("limit", "offset")
_ENDLESS = ("all of them", "they come for ever; a query of tables alone may count")
_OURS = (syntax.COMMA, syntax.SOUGHT, syntax.COMPARED, syntax.TOLD, syntax.KEYS)
# What is read of each part; whatever else it has is refused, since it would be ignored.
_READ: dict[type[exp.Expr], frozenset[str]] = {
    exp.Select: frozenset({"expressions", "from_", "joins", "where", "windows"}),
    exp.From: frozenset({"this"}),
    exp.Table: frozenset({"this", "db", "catalog", "alias", "joins", syntax.WINDOW}),
    exp.Subquery: frozenset({"this", "alias", syntax.WINDOW}),
    exp.Join: frozenset({"this", "on", "using", "side", "kind", "method", *_OURS}),
    exp.Group: frozenset({"expressions", syntax.STAGGER}),
    exp.Order: frozenset({"expressions", syntax.WITHIN}),
    exp.Ordered: frozenset({"this", "desc", "nulls_first"}),
    exp.Distinct: frozenset({"expressions"}),
    exp.Having: frozenset({"this"}),
    exp.Window: frozenset({"this", "order", "partition_by", "spec", "alias", "over"}),
    exp.WindowSpec: frozenset({"kind", "start", "start_side", "end", "end_side"}),
}
_NAMES = {"from_": "FROM", "group": "GROUP BY", "order": "ORDER BY", "with_": "WITH"}


def is_plain(query: exp.Query) -> bool:
    """Tells whether a query filters, renames and joins, and does no more."""
    more = ("group", "having", "distinct", "order", "limit", "offset")
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
        for one in conjuncts(where)
        if any(
            not it.table and it.name.upper() == ROWTIME
            for it in one.find_all(exp.Column)
        )
    ]


def gives_time(query: exp.Query) -> bool:
    """Tells whether a query has a value of its own AS ROWTIME.

    Joined rows may be at another time than the rows of one side.
    """
    is_join = bool(query.args.get("joins"))
    return any(
        isinstance(one, exp.Alias)
        and one.alias.upper() == ROWTIME
        and (
            one.this.name.upper() != ROWTIME or (is_join and one.this.args.get("table"))
        )
        for one in query.expressions
    )


def kind_of(written: exp.Join, text: Text) -> spec.Kind:
    """Returns the kind of a join; OUTER alone is FULL."""
    if written.args.get(syntax.SOUGHT):
        kinds = {"SEMI": spec.Kind.LEFT_SEMI, "ANTI": spec.Kind.LEFT_ONLY}
        return kinds.get(written.kind[:4], spec.Kind.LEFT_OUTER)
    if written.kind == outside.VALUE:
        return spec.Kind.LEFT_OUTER
    words = [written.method, written.side, written.kind, "JOIN"]
    # Each of these says by itself which rows come out, or which are partners.
    is_one = written.kind not in ("INNER", "CROSS") or not written.side
    if not is_one or (written.method and written.kind == "CROSS"):
        told = " ".join(filter(None, words))
        raise text.wrong(written, told, "one of these words")
    if written.kind == "OUTER" and not written.side:
        return spec.Kind.FULL_OUTER
    if written.kind not in ("", "INNER", "OUTER", "CROSS"):
        hint = "EXISTS and IN (SELECT ..) in WHERE look for rows"
        raise text.not_yet(written, f"{written.kind} JOIN", hint)
    return _KINDS[written.side]


def refuse_unread(query: exp.Query, text: Text, *more: str) -> None:
    """Refuses what a query has beside its tables, conditions and columns.

    Of `more` it is known what they mean. Subqueries are looked at as they are read.
    """
    for node in query.walk(prune=_is_subquery):
        read = None if _is_subquery(node) else _READ.get(type(node))
        known = {*(read or ()), *(more if node is query else ())}
        for name, part in node.args.items() if read else ():
            if part and name not in known:
                at = part if isinstance(part, exp.Expr) else node
                told = _NAMES.get(name, name.upper())
                if name in _COUNTED:
                    raise text.wrong(at, f"{told} of rows of a stream", *_ENDLESS)
                raise text.not_yet(at, told)


def _is_subquery(node: exp.Expr) -> bool:
    """Tells whether a part is a query, which has parts of its own."""
    return isinstance(node, exp.Subquery) and isinstance(node.this, exp.Query)
