"""Steps that look at rows that stand together: groups, counts, lists, duplicates.

**Groups** are neighbours. Where the rows are sorted by the values that make a group,
its rows have those values and no others do, so tasks may share the work. Else each row
is compared with the one before it, and a group is the number of changes so far.

    a a b a     sorted by nothing: groups 0 0 1 2

**Counts** of all rows of a group are Spark's own aggregates where they do it. Anything
else sees the rows as one list. Sums of fractions do so too, because they depend on the
order in which they are added.

    ROWS_COUNT()                        count(1)
    array_max(ROWS_LIST(n))             max(n)
    aggregate(ROWS_LIST(n), 0L, +)      sum(n), of whole numbers and of decimals

**Duplicates** are left out, but the first ones or the last. Most often rows are the
same whose values are equal: then each has a number among them, and those stay whose
number is small enough. Other conditions, as "no more than 5 apart", depend on which row
has been kept before: rows of a group are gone through one by one, in SQL, as one list.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import partial

from dovetail import expression, spec
from dovetail.engines.spark_program.lines import (
    ALONE,
    AS_ROW,
    Book,
    Call,
    Method,
    Rows,
    Sql,
    Term,
    Terms,
    aliased,
    once,
    select,
    where,
    window,
)
from dovetail.expression import kinds, sql
from dovetail.expression.tree import (
    BARE,
    Column,
    Lambda,
    Literal,
    Node,
    Variable,
    walk,
    with_parts,
)
from dovetail.expression.tree import Call as Applied
from dovetail.schema import DecimalType, Schema, blank, quoted

ROW, ROWS = "the row", "rows"
_NUMBER = "number of it"
_EXTREMES = {"array_max": "max", "array_min": "min"}
_NO_COLUMNS = Schema(())


def grouped(book: Book, rows: Rows, step: spec.Grouped) -> Rows:
    """Returns the same rows, neighbours with the same values in one group."""
    if not step.by:
        return replace(rows, groups=())
    rows = book.placed(rows)
    scope = expression.Scope.pair(rows.schema, _NO_COLUMNS)
    values = [expression.parse(one, scope).tree for one in step.by]
    terms = neighbours_by(rows, values)
    if terms:
        return replace(rows, groups=terms)
    value, before, group = (book.hidden(it) for it in ("value", "change", "group"))
    parts = ", ".join(f"'v{number}', {one}" for number, one in enumerate(step.by))
    # Spark nests no window functions: each of them needs a select of its own.
    over = window((), rows.order)
    # Counted up to each row, the changes are a number that its whole group shares.
    same = f"{quoted(value)} <=> lag({quoted(value)}) {over}"
    changes = aliased(f"IF({same}, 0L, 1L)", before)
    total = aliased(f"sum({quoted(before)}) {over}", group)
    found = book.changed(
        rows,
        "grouped",
        AS_ROW,
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
    # All rows of a group have the same groups, which therefore sort nothing in it.
    after = rows.order[len(rows.groups) :] if rows.groups else rows.order
    own: Terms = ()
    for number, term in enumerate(after):
        if term.value not in values:
            break
        own = after[: number + 1]
        if all(any(term.value == it for term in own) for it in values):
            return own
    return ()


def counted(book: Book, rows: Rows, step: spec.Counted) -> Rows:
    """Returns one row for each group, in the order of their first rows."""
    rows, groups = book.placed(rows), rows.groups if step.keeps_groups else ()
    # The least place of a group is to be its first row's: so places must rise.
    if any(term.is_descending for term in rows.order):
        rows = book.numbered(rows)
    scope = expression.Scope((("l", rows.schema),), rows=rows.schema)
    counts, place = Counts(), book.hidden("place")
    columns = {
        name: counts.rewritten(expression.parse(text, scope).tree)
        for name, text in step.select.columns
    }
    texts = [aliased(sql.written_tree(tree), name) for name, tree in columns.items()]
    # Names without blanks: a join reads the types of hidden columns, too.
    parts = (f"'at_{it}', {quoted(term.column)}" for it, term in enumerate(rows.order))
    at = f"named_struct({', '.join(parts)})"
    # By what the step names, else by the groups that the rows are in already.
    stay = [quoted(term.column) for term in groups]
    own = [quoted(it) for it in step.by or [term.column for term in rows.groups]]
    by = tuple(dict.fromkeys((*own, *stay)))
    sums, seen = _seen(rows.schema, [*columns.values()], quoted(place))
    found = book.changed(
        rows,
        "counted",
        select(aliased(rows.record, ROW), aliased(at, place), *by),
        Call(Method.GROUP, by),
        Call(
            Method.AGGREGATE,
            (
                *(Sql(aliased(text, name)) for text, name in counts.found.items()),
                *sums,
                Sql(aliased(f"min({quoted(place)})", place)),
            ),
        ),
        select(*map(quoted, counts.found.values()), *seen, quoted(place), *stay),
        select(*texts, quoted(place), *stay),
    )
    order = (*groups, Term(place, is_number=False))
    shown = Rows(found.frame, step.schema, order, in_place=False, groups=groups)
    return shown.without_values()


def _seen(schema: Schema, trees: list[Node], place: str) -> tuple[list[Sql], list[str]]:
    """Returns the aggregates for the first row and all rows, and what is made of them.

    That is where an expression looks at them; a first row that is not there is blank.
    """
    sums, seen, row = [], [], quoted(ROW)
    if any(map(sees_first, trees)):
        pairs = (
            f"{sql.text_of(one.name)}, {sql.literal_text(blank(one.type), one.type)}"
            for one in schema.columns
        )
        sums.append(Sql(f"min_by({row}, {place}) AS l"))
        seen.append(f"coalesce(l, named_struct({', '.join(pairs)})) AS l")
    if any(map(sees_rows, trees)):
        parts = (
            f"{sql.text_of(name)}, {row}.{quoted(name)}"
            for name in listed(trees, schema.names)
        )
        of_it = f"named_struct({', '.join(parts)}) AS of_it"
        # A list is collected in any order: it is sorted by the places, which go again.
        items = f"array_sort(collect_list(struct({place} AS at, {of_it})))"
        sums.append(Sql(aliased(f"transform({items}, one -> one.of_it)", ROWS)))
        seen.append(quoted(ROWS))
    return sums, seen


def unfolded(book: Book, rows: Rows, step: spec.Unfolded) -> Rows:
    """Returns a row for each item of a list, in the order of the lists."""
    # Places are carried only where somebody looks at them: they cost a sort.
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


def deduped(book: Book, rows: Rows, step: spec.Deduped) -> Rows:
    """Returns the rows without those that are the same as others."""
    rows = book.placed(rows)
    values = equal_values(step.same.text, rows.schema)
    sorted_by = neighbours_by(rows, list(values)) if values else ()
    # Wherever equal rows stand, a window over their values finds them.
    if values and step.is_all:
        keys = [book.hidden("key") for _ in values]
        texts = [
            aliased(sql.written_tree(value), key)
            for value, key in zip(values, keys, strict=True)
        ]
        keyed = book.changed(rows, "keyed", AS_ROW, select("*", *texts))
        return _first_of(book, keyed, step, tuple(map(Term, keys)))
    # Neighbours that are sorted by the values: a window over what sorts them.
    if sorted_by:
        return _first_of(book, rows, step, sorted_by)
    # Whether two neighbours are the same depends on no row that was kept before.
    if values or (step.keeps_last and not step.is_all):
        return _by_runs(book, rows, step)
    return _one_by_one(book, rows, step)


def equal_values(text: str, schema: Schema) -> tuple[Node, ...]:
    """Returns the values of `l` of which `r` must have equal ones.

    Nothing where the text says anything else.
    """
    tree = expression.parse(text, expression.Scope.pair(schema, schema)).tree
    found: list[Node] = []
    for term in _terms(tree):
        match term:
            # One value is of a row what the other is of the other row.
            case Applied(function="=", arguments=(one, other)) if [
                _sides(one),
                _sides(other),
            ] in ([{"l"}, {"r"}], [{"r"}, {"l"}]) and _as_left(one) == _as_left(other):
                found.append(one if _sides(one) == {"l"} else other)
            case _:
                return ()
    return tuple(found)


def _terms(tree: Node) -> Iterator[Node]:
    """Gives the parts of a condition that must all be true."""
    match tree:
        case Applied(function="and", arguments=arguments):
            for one in arguments:
                yield from _terms(one)
        case _:
            yield tree


def _sides(tree: Node) -> set[str]:
    """Returns the rows that a value looks at."""
    return {node.side for node in walk(tree) if isinstance(node, Column)}


def _as_left(tree: Node) -> Node:
    """Returns a value with the other row's columns as those of `l`."""
    match tree:
        case Column():
            return replace(tree, side="l")
        case _:
            return with_parts(tree, _as_left)


def _first_of(book: Book, rows: Rows, step: spec.Deduped, parts: Terms) -> Rows:
    """Returns the first rows, or the last, of those with the same parts."""
    # The last ones are the first ones of the order turned round.
    order = tuple(term.backwards() if step.keeps_last else term for term in rows.order)
    number = f"row_number() {window((*rows.groups, *parts), order)}"
    found = book.changed(
        rows,
        "deduped",
        select("*", aliased(number, _NUMBER)),
        where(f"{quoted(_NUMBER)} <= {step.keep}"),
        select(*rows.columns, *rows.hidden),
    )
    return replace(found, in_place=False)


def _by_runs(book: Book, rows: Rows, step: spec.Deduped) -> Rows:
    """Returns the first rows, or the last, of neighbours that are the same.

    Each is compared with the one before it.
    """
    record, run = book.hidden("row"), book.hidden("run")
    over = window(rows.groups, rows.order)
    hidden = rows.hidden
    before = f"lag({quoted(record)}) {over} AS l"
    # Counted up, the changes number the runs: all rows of a run have one number.
    changes = f"sum(IF(coalesce({step.same}, false), 0L, 1L)) {over}"
    found = book.changed(
        rows,
        "compared",
        select(aliased(rows.record, record), *hidden),
        select(quoted(record), before, f"{quoted(record)} AS r", *hidden),
        select(f"{quoted(record)}.*", *hidden, aliased(changes, run)),
        note="" if rows.groups else ALONE,
    )
    return _first_of(book, found, step, (Term(run),))


def _one_by_one(book: Book, rows: Rows, step: spec.Deduped) -> Rows:
    """Returns what stays of each group when its rows are gone through in order."""
    rows = book.numbered(rows)
    first, *_ = rows.order
    groups = tuple(quoted(term.column) for term in rows.groups)
    # The place stands first, because a list of structs is sorted by what stands first.
    pair = f"struct({quoted(first.column)} AS place, {rows.record} AS of_it)"
    folding = _Folding(step)
    stays = folding.of_all if step.is_all else folding.of_neighbours
    found = book.changed(
        rows,
        "deduped",
        Call(Method.GROUP, groups),
        Call(Method.AGGREGATE, (Sql(f"array_sort(collect_list({pair})) AS `rows`"),)),
        select(*groups, f"explode({stays}) AS one"),
        select("one.of_it.*", *groups, aliased("one.place", first.column)),
        note="" if groups else ALONE,
    )
    order = once(*rows.groups, first)
    return replace(found, order=order, in_place=False)


@dataclass(frozen=True, slots=True)
class _Folding:
    """The SQL that goes through the list `rows`, and keeps what stays of it."""

    step: spec.Deduped

    def _same(self, kept: str) -> str:
        """Returns whether the row at hand is the same as a kept one."""
        # A list of one gives a row the name by which the condition knows it.
        inner = f"exists(array(one.of_it), r -> coalesce({self.step.same}, false))"
        return f"exists(array({kept}.of_it), l -> {inner})"

    @property
    def of_neighbours(self) -> str:
        """Returns the first rows of each run: a row is compared with the last kept."""
        kept = "struct(concat(found.kept, array(one)) AS kept, {} AS size)"
        more, new = kept.format("found.size + 1"), kept.format("1")
        few = f"IF(found.size < {self.step.keep}, {more}, found)"
        same = self._same("get(found.kept, size(found.kept) - 1)")
        # No row passes: that is how an empty list gets the type of the rows.
        start = "struct(filter(`rows`, one -> false) AS kept, 0 AS size)"
        merge = f"(found, one) -> IF({same}, {few}, {new})"
        return f"aggregate(`rows`, {start}, {merge}, found -> found.kept)"

    @property
    def of_all(self) -> str:
        """Returns the rows that stay of each list: the first is what is compared."""
        same = self._same("get(kind, 0)")
        place = f"array_position(transform(found, kind -> {same}), true)"
        more = "concat(kind, array(one))"
        joins = f"transform(found, (kind, at) -> IF(at + 1 = {place}, {more}, kind))"
        new = "concat(found, array(array(one)))"
        merge = f"(found, one) -> IF({place} > 0, {joins}, {new})"
        start = "filter(array(`rows`), kind -> false)"
        keep = self.step.keep
        begin = f"greatest(size(kind) - {keep} + 1, 1)" if self.step.keeps_last else "1"
        stays = f"transform(found, kind -> slice(kind, {begin}, {keep}))"
        return f"aggregate(`rows`, {start}, {merge}, found -> flatten({stays}))"


@dataclass(slots=True)
class Counts:
    """The aggregates that texts need, each with the name of its column."""

    found: dict[str, str] = field(default_factory=dict)

    def rewritten(self, tree: Node) -> Node:
        """Returns an expression with what is counted as columns."""
        # None or one: what is no aggregate is looked into instead.
        for text in _aggregate(tree):
            name = self.found.setdefault(text, f"count {len(self.found) + 1}")
            return Column(BARE, name, kinds.columnar(tree.type))
        return with_parts(tree, self.rewritten)


def sees_rows(tree: Node) -> bool:
    """Tells whether an expression looks at all rows as a list."""
    return any(isinstance(it, Column) and _is_rows(it) for it in walk(tree))


def listed(trees: Iterable[Node], every: Iterable[str]) -> list[str]:
    """Returns the columns that expressions look at in the list of all rows."""
    nodes = [node for tree in trees for node in walk(tree)]
    rows: set[Variable] = set()
    for node in nodes:
        match node:
            # Each row of the list becomes a value, under this name.
            case Applied("transform", (Column() as items, Lambda((row,)))) if _is_rows(
                items
            ):
                rows.add(row)
    # How often the list, or a row of it, is looked at as a whole.
    whole = sum(isinstance(it, Column) and _is_rows(it) for it in nodes) - len(rows)
    whole += sum(isinstance(it, Variable) and it in rows for it in nodes)
    found = set()
    for node in nodes:
        match node:
            case Applied("field", (Variable() as one, Literal(str() as name))) if (
                one in rows
            ):
                found.add(name)
                whole -= 1
    return [name for name in every if whole or name in found]


def sees_first(tree: Node) -> bool:
    """Tells whether an expression looks at the first row."""
    return any(isinstance(it, Column) and it.side == "l" for it in walk(tree))


def _aggregate(tree: Node) -> Iterator[str]:
    """Gives the aggregate of Spark's that an expression is, if it is one."""
    match tree:
        case Applied("cast", (Applied("size", (Column() as rows,)),), kind) if (
            _is_rows(rows) and kind == kinds.BIGINT
        ):
            # More rows than an int can count are counted all the same.
            yield "count(1)"
        case Applied("size", (Column() as rows,)) if _is_rows(rows):
            yield "CAST(count(1) AS INT)"
        case Applied(("array_max" | "array_min") as name, (items,)):
            for value in _of_each(items):
                yield f"{_EXTREMES[name]}({value})"
        case Applied("aggregate", (items, Literal(0) as zero, merge), kind) if _adds(
            merge
        ):
            for value in _of_each(items):
                # A sum without room is null, as that of a list is; that of none is not.
                total, nothing = f"CAST(sum({value}) AS {kind})", sql.written_tree(zero)
                yield f"IF(count(1) = 0, {nothing}, {total})"
        case _:
            return


def _adds(merge: Node) -> bool:
    """Tells whether a lambda adds numbers whose sum has no order: of no fraction."""
    match merge:
        case Lambda(parameters, Applied("cast", (total,), DecimalType())):
            pass
        case Lambda(parameters, total) if total.type == kinds.BIGINT:
            pass
        case _:
            return False
    match total:
        case Applied("+ of numbers", arguments):
            return set(arguments) == set(parameters)
        case _:
            return False


def _of_each(items: Node) -> Iterator[str]:
    """Gives the value of each row that a list consists of, if it is such a list.

    One that looks at the first row too is none: while rows are counted it is unknown.
    """
    match items:
        case Applied("transform", (Column() as rows, Lambda((row,), body))) if _is_rows(
            rows
        ) and not sees_first(body):
            yield sql.written_tree(_of_row(body, row))
        case _:
            return


def _of_row(tree: Node, row: Variable) -> Node:
    """Returns the body of a lambda over the column that has the row."""
    match tree:
        case Variable() if tree == row:
            return Column(BARE, ROW, kinds.columnar(row.type))
        case _:
            return with_parts(tree, partial(_of_row, row=row))


def _is_rows(column: Column) -> bool:
    """Tells whether a column is the list of all rows."""
    return (column.side, column.name) == (BARE, ROWS)
