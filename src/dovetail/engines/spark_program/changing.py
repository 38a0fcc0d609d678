"""Steps that look at a row, or at its place: filters, projections, sorts, choices.

The row is `l` in their expressions; the `counter` of a projection is the number of the
row in its group.
"""

from __future__ import annotations

from dataclasses import replace

from dovetail.engines.spark_program.book import (
    ALONE,
    Book,
    aliased,
    as_row,
    select,
    where,
)
from dovetail.engines.spark_program.lines import Call, Method
from dovetail.engines.spark_program.rows import Rows, Term, once, window
from dovetail.expression import NEVER, Expression, Scope, parse
from dovetail.plan.asked import counts_rows
from dovetail.schema import Schema, quoted
from dovetail.spec.program import (
    Appended,
    By,
    Chosen,
    Filtered,
    Numbered,
    Ordered,
    Projected,
)

# More rows than this are not gathered by one task to be sorted there.
_FEW = 100_000
_NO_COLUMNS = Schema(())


def filtered(book: Book, rows: Rows, step: Filtered) -> Rows:
    """Returns the rows of which the condition is true."""
    return book.changed(rows, "filtered", as_row("l"), where(step.condition.text))


def projected(book: Book, rows: Rows, step: Projected) -> Rows:
    """Returns what is made of each row."""
    columns = [aliased(text, name) for name, text in step.select.columns]
    calls = [where(_is_kept(step.skip_when))] if step.skip_when != NEVER else []
    if not counts_rows(step):
        chosen = select(*columns, *rows.hidden)
        found = book.changed(rows, "projected", as_row("l"), *calls, chosen)
    else:
        rows = replace(book.placed(rows), in_place=False)
        number = f"CAST(row_number() {window(rows.groups, rows.order)} AS BIGINT)"
        packed = select(f"{rows.record} AS l", f"{number} AS counter", *rows.hidden)
        calls = [packed, *calls, select(*columns, *rows.hidden)]
        note = "" if rows.groups else ALONE
        found = book.changed(rows, "projected", *calls, note=note)
    return replace(found.without_values(), schema=step.schema)


def _is_kept(skip: Expression) -> str:
    """Returns whether a row is not skipped."""
    return f"NOT coalesce({skip}, false)"


def ordered(book: Book, rows: Rows, step: Ordered) -> Rows:
    """Returns the rows with another order; equal ones stay as they were."""
    before = book.placed(rows) if id(step) in book.asked else rows
    by = tuple(_term(book, before, one) for one in step.by)
    texts = [
        aliased(one.value, term.column) for one, term in zip(step.by, by, strict=True)
    ]
    found = book.changed(before, "keyed", as_row("l"), select("*", *texts))
    order = once(*rows.groups, *by, *before.order)
    return replace(found, order=order, in_place=False)


def _term(book: Book, rows: Rows, by: By) -> Term:
    """Returns a hidden column by which rows are sorted."""
    value = parse(by.value, Scope.pair(rows.schema, _NO_COLUMNS)).tree
    return Term(book.hidden("key"), by.is_descending, value)


def chosen(book: Book, rows: Rows, step: Chosen) -> Rows:
    """Returns the rows between two places, of each group."""
    rows = replace(book.placed(rows), in_place=False)
    past = step.first - 1 + step.count
    if not rows.groups and past <= _FEW:
        calls = [Call(Method.SORT, tuple(term.sorting for term in rows.order))]
        if step.first > 1:
            calls.append(Call(Method.OFFSET, (step.first - 1,)))
        return book.changed(rows, "chosen", *calls, Call(Method.LIMIT, (step.count,)))
    name = book.unused("number of it")
    number = aliased(f"row_number() {window(rows.groups, rows.order)}", name)
    calls = [
        select("*", number),
        where(f"{quoted(name)} BETWEEN {step.first} AND {past}"),
        select(*rows.columns, *rows.hidden),
    ]
    return book.changed(rows, "chosen", *calls, note="" if rows.groups else ALONE)


def numbered(book: Book, rows: Rows, step: Numbered) -> Rows:
    """Returns the rows, without groups, with their number from 0."""
    if step.may_gap:
        return _marked(book, rows, step)
    rows = replace(book.placed(rows), groups=(), in_place=False)
    kind = step.schema[step.column].type
    number = f"CAST(row_number() {window((), rows.order)} - 1 AS {kind})"
    columns = [
        aliased(number, name) if name == step.column else quoted(name)
        for name in step.schema.names
    ]
    chosen_columns = select(*columns, *rows.hidden)
    found = book.changed(rows, "numbered", chosen_columns, note=ALONE)
    return replace(found, schema=step.schema)


def _marked(book: Book, rows: Rows, step: Numbered) -> Rows:
    """Returns the rows, without groups, each with a number of its own."""
    number = aliased("monotonically_increasing_id()", step.column)
    chosen_columns = select(*rows.columns, number, *rows.hidden)
    found = book.changed(rows, "numbered", chosen_columns)
    return replace(found, schema=step.schema, groups=())


def appended(book: Book, sources: list[Rows], step: Appended) -> Rows:
    """Returns the rows of several, one after the other, without groups."""
    asks = id(step) in book.asked
    part, place = (book.hidden(what) if asks else "" for what in ("part", "place"))
    parts = [
        _part(book, rows, number, step.schema, (part, place) if asks else ())
        for number, rows in enumerate(sources)
    ]
    first, *others = parts
    calls = [Call(Method.UNION, (other.named,)) for other in others]
    found = book.changed(first, "appended", *calls)
    order = (Term(part), Term(place)) if asks else ()
    return Rows(found.frame, step.schema, order, in_place=False)


def _part(
    book: Book, rows: Rows, number: int, schema: Schema, places: tuple[str, ...]
) -> Rows:
    """Returns rows with the columns of all parts: the visible ones, part and place."""
    rows = book.numbered(rows) if places else rows
    values = (f"{number}", *(quoted(term.column) for term in rows.order[:1]))
    texts = [aliased(text, name) for text, name in zip(values, places, strict=False)]
    columns = map(quoted, schema.names)
    return book.changed(rows, "part", select(*columns, *texts))
