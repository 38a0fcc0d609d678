"""Groups of neighbours, and what is counted of each.

Where the rows are sorted by the values that make a group, its rows have those values
and no others do, so tasks may share the work. Else each row is compared with the one
before it, and a group is the number of changes so far.

    a a b a     sorted by nothing: groups 0 0 1 2
"""

from __future__ import annotations

from dataclasses import replace

from dovetail.expression import Expression, Scope, parse
from dovetail.expression.tree import Node
from dovetail.expression.writing import literal_text, quoted, text_of, written
from dovetail.run.spark_program.book import ALONE, Book, aliased, as_row, select
from dovetail.run.spark_program.lines import Call, Method, Sql
from dovetail.run.spark_program.rows import Rows, Term, Terms, window
from dovetail.schema import Schema, blank
from dovetail.spec.program import Counted, Grouped

_NO_COLUMNS = Schema(())


def grouped(book: Book, rows: Rows, step: Grouped) -> Rows:
    """Returns the same rows, neighbours with the same values in one group."""
    if not step.by:
        return replace(rows, groups=())
    rows = book.placed(rows)
    scope = Scope.pair(rows.schema, _NO_COLUMNS)
    values = [parse(one, scope).tree for one in step.by]
    terms = neighbours_by(rows, values)
    if terms:
        return replace(rows, groups=terms)
    value, before, group = (book.hidden(it) for it in ("value", "change", "group"))
    parts = ", ".join(f"'v{number}', {one}" for number, one in enumerate(step.by))
    over = window((), rows.order)
    same = f"{quoted(value)} <=> lag({quoted(value)}) {over}"
    changes = aliased(f"IF({same}, 0L, 1L)", before)
    total = aliased(f"sum({quoted(before)}) {over}", group)
    found = book.changed(
        rows,
        "grouped",
        as_row("l"),
        select("*", aliased(f"named_struct({parts})", value)),
        select("*", changes),
        select(*rows.columns, *rows.hidden, total),
        note=ALONE,
    )
    term = Term(group)
    return replace(found, groups=(term,), order=(term, *rows.order), in_place=False)


def neighbours_by(rows: Rows, values: list[Node]) -> Terms:
    """Returns the terms that sort rows by just these values, if there are such.

    Rows of a group that have the same values are neighbours then.
    """
    after = rows.order[len(rows.groups) :] if rows.groups else rows.order
    own: Terms = ()
    for number, term in enumerate(after):
        if term.value not in values:
            break
        own = after[: number + 1]
        if all(any(term.value == it for term in own) for it in values):
            return own
    return ()


def counted(book: Book, rows: Rows, step: Counted) -> Rows:
    """Returns one row for each group, in the order of their first rows."""
    rows = book.numbered(rows)
    place, (first, *_) = book.hidden("place"), rows.order
    at = quoted(first.column)
    record = rows.record
    pair = f"struct({at} AS place, {record} AS of_it)"
    sums = [
        Sql(aliased(f"min({at})", place)),
        Sql(f"min_by({record}, {at}) AS l"),
        Sql(
            f"transform(array_sort(collect_list({pair})), one -> one.of_it) AS `rows`",
        ),
    ]
    by = Call(Method.GROUP, tuple(quoted(term.column) for term in rows.groups))
    columns = [
        aliased(_over_rows(text, rows.schema), name)
        for name, text in step.select.columns
    ]
    found = book.changed(
        rows,
        "counted",
        by,
        Call(Method.AGGREGATE, tuple(sums)),
        select(quoted(place), f"coalesce(l, {_blank(rows.schema)}) AS l", "`rows`"),
        select(*columns, quoted(place)),
    )
    return Rows(found.frame, step.schema, (Term(place),), in_place=False)


def _over_rows(text: Expression, schema: Schema) -> str:
    """Returns an expression over the first row and all rows as plain SQL."""
    return written(parse(text, Scope((("l", schema),), rows=schema)))


def _blank(schema: Schema) -> str:
    """Returns a blank row."""
    pairs = (
        f"{text_of(one.name)}, {literal_text(blank(one.type), one.type)}"
        for one in schema.columns
    )
    return f"named_struct({', '.join(pairs)})"
