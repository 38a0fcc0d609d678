"""Rows that are the same as others are left out, but the first ones or the last.

Most often rows are the same whose values are equal: then each has a number among them,
and those stay whose number is small enough. Other conditions, as "no more than 5
apart", depend on which row has been kept before: rows of a group are gone through one
by one, in SQL, as one list.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from dovetail.engines.spark_program.book import (
    ALONE,
    Book,
    aliased,
    as_row,
    select,
    where,
)
from dovetail.engines.spark_program.grouping import neighbours_by
from dovetail.engines.spark_program.lines import Call, Method, Sql
from dovetail.engines.spark_program.rows import Rows, Term, Terms, once, window
from dovetail.expression import Scope, parse
from dovetail.expression.tree import Call as Applied
from dovetail.expression.tree import Column, Node, walk, with_parts
from dovetail.expression.writing import written_tree
from dovetail.schema import Schema, quoted
from dovetail.spec.program import Deduped

_NUMBER = "number of it"


def deduped(book: Book, rows: Rows, step: Deduped) -> Rows:
    """Returns the rows without those that are the same as others."""
    rows = book.placed(rows)
    values = equal_values(step.same.text, rows.schema)
    sorted_by = neighbours_by(rows, list(values)) if values else ()
    if values and step.is_all:
        return _by_keys(book, rows, step, values)
    if sorted_by:
        return _first_of(book, rows, step, sorted_by)
    if values or (step.keeps_last and not step.is_all):
        return _by_runs(book, rows, step)
    return _one_by_one(book, rows, step)


def equal_values(text: str, schema: Schema) -> tuple[Node, ...]:
    """Returns the values of `l` of which `r` must have equal ones.

    Nothing where the text says anything else.
    """
    tree = parse(text, Scope.pair(schema, schema)).tree
    found: list[Node] = []
    for term in _terms(tree):
        match term:
            case Applied(function="=", arguments=(one, other)) if _mirrors(one, other):
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


def _mirrors(one: Node, other: Node) -> bool:
    """Tells whether one value is of a row what the other is of the other row."""
    sides = {frozenset(_sides(it)) for it in (one, other)}
    return sides == {frozenset("l"), frozenset("r")} and _as_left(one) == _as_left(
        other
    )


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


def _by_keys(book: Book, rows: Rows, step: Deduped, values: tuple[Node, ...]) -> Rows:
    """Returns the first rows, or the last, of all with equal values."""
    keys = [book.hidden("key") for _ in values]
    texts = [
        aliased(written_tree(value), key)
        for value, key in zip(values, keys, strict=True)
    ]
    keyed = book.changed(rows, "keyed", as_row("l"), select("*", *texts))
    return _first_of(book, keyed, step, tuple(map(Term, keys)))


def _first_of(book: Book, rows: Rows, step: Deduped, parts: Terms) -> Rows:
    """Returns the first rows, or the last, of those with the same parts."""
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


def _by_runs(book: Book, rows: Rows, step: Deduped) -> Rows:
    """Returns the first rows, or the last, of neighbours that are the same.

    Each is compared with the one before it.
    """
    record, run = book.hidden("row"), book.hidden("run")
    over = window(rows.groups, rows.order)
    hidden = rows.hidden
    before = f"lag({quoted(record)}) {over} AS l"
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


def _one_by_one(book: Book, rows: Rows, step: Deduped) -> Rows:
    """Returns what stays of each group when its rows are gone through in order."""
    rows = book.numbered(rows)
    first, *_ = rows.order
    groups = tuple(quoted(term.column) for term in rows.groups)
    pair = f"struct({quoted(first.column)} AS place, {rows.record} AS of_it)"
    folding = _Folding(step)
    found = book.changed(
        rows,
        "deduped",
        Call(Method.GROUP, groups),
        Call(
            Method.AGGREGATE,
            (Sql(f"array_sort(collect_list({pair})) AS `rows`"),),
        ),
        select(*groups, f"explode({folding.text}) AS one"),
        select("one.of_it.*", *groups, aliased("one.place", first.column)),
        note="" if groups else ALONE,
    )
    order = once(*rows.groups, first)
    return replace(found, order=order, in_place=False)


@dataclass(frozen=True, slots=True)
class _Folding:
    """The SQL that goes through the list `rows`, and keeps what stays of it."""

    step: Deduped

    @property
    def text(self) -> str:
        """Returns the rows that stay."""
        return self._of_all if self.step.is_all else self._of_neighbours

    def _same(self, kept: str) -> str:
        """Returns whether the row at hand is the same as a kept one."""
        inner = f"exists(array(one.of_it), r -> coalesce({self.step.same}, false))"
        return f"exists(array({kept}.of_it), l -> {inner})"

    @property
    def _of_neighbours(self) -> str:
        """Returns the first rows of each run: a row is compared with the last kept."""
        kept = "struct(concat(found.kept, array(one)) AS kept, {} AS size)"
        more, new = kept.format("found.size + 1"), kept.format("1")
        few = f"IF(found.size < {self.step.keep}, {more}, found)"
        same = self._same("get(found.kept, size(found.kept) - 1)")
        start = "struct(filter(`rows`, one -> false) AS kept, 0 AS size)"
        merge = f"(found, one) -> IF({same}, {few}, {new})"
        return f"aggregate(`rows`, {start}, {merge}, found -> found.kept)"

    @property
    def _of_all(self) -> str:
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
