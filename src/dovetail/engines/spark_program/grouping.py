"""Groups of neighbours, and what is counted of each.

Where the rows are sorted by the values that make a group, its rows have those values
and no others do, so tasks may share the work. Else each row is compared with the one
before it, and a group is the number of changes so far.

    a a b a     sorted by nothing: groups 0 0 1 2
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from dovetail.engines.spark_program.book import ALONE, Book, aliased, as_row, select
from dovetail.engines.spark_program.counting import (
    ROW,
    ROWS,
    Counts,
    listed,
    sees_first,
    sees_rows,
)
from dovetail.engines.spark_program.lines import Call, Method, Sql
from dovetail.engines.spark_program.rows import Rows, Term, Terms, window
from dovetail.expression import Scope, parse
from dovetail.expression.tree import Node
from dovetail.expression.writing import (
    literal_text,
    text_of,
    written_tree,
)
from dovetail.schema import Schema, blank, quoted
from dovetail.spec.program import Counted, Grouped, Unfolded

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
    rows = book.placed(rows)
    if any(term.is_descending for term in rows.order):
        rows = book.numbered(rows)
    scope = Scope((("l", rows.schema),), rows=rows.schema)
    counts, place = Counts(), book.hidden("place")
    columns = {
        name: counts.rewritten(parse(text, scope).tree)
        for name, text in step.select.columns
    }
    texts = [aliased(written_tree(tree), name) for name, tree in columns.items()]
    by = step.by or tuple(term.column for term in rows.groups)
    calls = _aggregated(rows, counts, [*columns.values()], (place, by))
    chosen = select(*texts, quoted(place))
    found = book.changed(rows, "counted", *calls, chosen)
    order = (Term(place, is_number=False),)
    return Rows(found.frame, step.schema, order, in_place=False)


def _aggregated(
    rows: Rows, counts: Counts, trees: list[Node], given: tuple[str, tuple[str, ...]]
) -> Iterator[Call]:
    """Gives the calls that make one line of a group: what expressions look at."""
    place, columns = given
    by = tuple(map(quoted, columns))
    # Names without blanks: a join reads the types of hidden columns, too.
    parts = (f"'at_{it}', {quoted(term.column)}" for it, term in enumerate(rows.order))
    at = f"named_struct({', '.join(parts)})"
    yield select(aliased(rows.record, ROW), aliased(at, place), *by)
    yield Call(Method.GROUP, by)
    sums = (
        *(Sql(aliased(text, name)) for text, name in counts.found.items()),
        *_whole(trees, rows.schema, quoted(place)),
        Sql(aliased(f"min({quoted(place)})", place)),
    )
    yield Call(Method.AGGREGATE, sums)
    known = map(quoted, counts.found.values())
    yield select(*known, *_given(trees, rows.schema), quoted(place))


def unfolded(book: Book, rows: Rows, step: Unfolded) -> Rows:
    """Returns a row for each item of a list, in the order of the lists."""
    asks = id(step) in book.asked or step.keeps_groups
    rows = book.placed(rows) if asks else replace(rows, order=())
    at = book.hidden("place")
    names = (quoted(at), "one")
    column, hidden = quoted(step.column), rows.hidden if asks else ()
    items = f"posexplode({column}) AS ({', '.join(names)})"
    found = book.changed(
        rows, "unfolded", select(items, *hidden), select("one.*", *names[:1], *hidden)
    )
    order = (*rows.order, Term(at)) if asks else ()
    groups = rows.order if step.keeps_groups else ()
    shown = Rows(found.frame, step.schema, order, in_place=not asks, groups=groups)
    return shown.without_values()


def _whole(trees: list[Node], schema: Schema, place: str) -> Iterator[Sql]:
    """Gives the first row, and what is seen of all rows, where one looks at them."""
    row = quoted(ROW)
    if any(map(sees_first, trees)):
        yield Sql(f"min_by({row}, {place}) AS l")
    if any(map(sees_rows, trees)):
        seen = (
            f"{text_of(name)}, {row}.{quoted(name)}"
            for name in listed(trees, schema.names)
        )
        of_it = f"named_struct({', '.join(seen)}) AS of_it"
        pairs = f"array_sort(collect_list(struct({place} AS at, {of_it})))"
        yield Sql(aliased(f"transform({pairs}, one -> one.of_it)", ROWS))


def _given(trees: Iterable[Node], schema: Schema) -> Iterator[str]:
    """Gives the first row, blank where there is none, and all rows."""
    if any(map(sees_first, trees)):
        yield f"coalesce(l, {_blank(schema)}) AS l"
    if any(map(sees_rows, trees)):
        yield quoted(ROWS)


def _blank(schema: Schema) -> str:
    """Returns a blank row."""
    pairs = (
        f"{text_of(one.name)}, {literal_text(blank(one.type), one.type)}"
        for one in schema.columns
    )
    return f"named_struct({', '.join(pairs)})"
