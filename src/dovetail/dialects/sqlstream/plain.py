"""What a query does beside joining, and of which kind its joins are."""

from __future__ import annotations

from sqlglot import exp

from dovetail import spec
from dovetail.dialects.sqlstream.parser import ROWTIME, Text, not_yet
from dovetail.dialects.sqlstream.syntax import SOUGHT
from dovetail.dialects.trees import conjuncts

_KINDS = {
    "": spec.Kind.INNER,
    "LEFT": spec.Kind.LEFT_OUTER,
    "RIGHT": spec.Kind.RIGHT_OUTER,
    "FULL": spec.Kind.FULL_OUTER,
}


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


def kind_of(written: exp.Join, text: Text) -> spec.Kind:
    """Returns the kind of a join; OUTER alone is FULL."""
    if written.args.get(SOUGHT):
        is_semi = written.kind == "SEMI"
        return spec.Kind.LEFT_SEMI if is_semi else spec.Kind.LEFT_ONLY
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
        raise not_yet(text.at(written), f"{written.kind} JOIN", hint)
    return _KINDS[written.side]
