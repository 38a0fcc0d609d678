"""What a query selects, sorts by and groups, as values over the rows in front of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from sqlglot import exp

from dovetail import spec
from dovetail.dialects.sqlstream import steps
from dovetail.dialects.sqlstream.parser import Text
from dovetail.dialects.sqlstream.query import Query
from dovetail.dialects.sqlstream.rows import Pair
from dovetail.dialects.sqlstream.syntax import STAGGER
from dovetail.dialects.trees import free_name, own_column, sided
from dovetail.expression import Expression, Scope

Node = tuple[str, exp.Expr]
Columns = list[tuple[str, Expression]]
_KEY = "key"
"""How columns that rows are sorted by begin; numbers follow."""


def sort_keys(
    query: Query, selected: Sequence[Node]
) -> Iterator[tuple[str, exp.Ordered]]:
    """Yields what rows are sorted by, under names of columns of ours."""
    order = query.query.args.get("order")
    taken = {name.lower() for name, _ in selected}
    for number, one in enumerate(order.expressions if order is not None else ()):
        node, meant = one.this, dict[str, exp.Expr]()
        for name, it in selected:
            meant.setdefault(name.lower(), it)
        # ORDER BY 2 is the second column, ORDER BY x the selected one of that name.
        if isinstance(node, exp.Literal) and not node.is_string:
            node = _placed(node, selected, query, word="ORDER")
        elif isinstance(node, exp.Column) and not node.table:
            node = meant.get(node.name.lower(), node)
        ordered = one.copy()
        ordered.set("this", node.copy())
        yield free_name(f"{_KEY} {number}", taken), ordered


def group_of(query: Query, pair: Pair) -> exp.Group | None:
    """Returns what a query groups by; GROUP BY 2 is what it selects as the second."""
    written: exp.Group | None = query.query.args.get("group")
    if written is None or written.args.get(STAGGER):
        return written
    group, selected = written.copy(), [*query.outputs(pair)]
    keys = [
        one
        if not isinstance(one, exp.Literal) or one.is_string
        else _placed(one, selected, query, word="GROUP")
        for one in group.expressions
    ]
    for one in keys:
        if isinstance(one, exp.Rollup | exp.Cube | exp.GroupingSets):
            raise query.text.not_yet(one, f"GROUP BY {one.key.upper()}")
        if total := next(functions_in([one]), None):
            told = f"{total.sql()} in GROUP BY, which it is a total of"
            raise query.text.wrong(total, told, "values of each row")
    group.set("expressions", keys)
    return group


def _placed(
    node: exp.Literal, selected: Sequence[Node], query: Query, *, word: str
) -> exp.Expr:
    """Returns the selected value at a place that counts from 1."""
    place = int(node.this) if node.is_int else 0
    if not 0 < place <= len(selected):
        told = f"{word} BY the column {node.this} of {len(selected)}"
        raise query.text.wrong(node, told, "the number of a column")
    return selected[place - 1][1]


@dataclass(frozen=True, slots=True)
class OfGroups:
    """Values of groups, over the rows that a window gives of them.

    `groups`: the columns of the keys, by their texts; `results`: what functions are.
    Where groups come out at the `end` of a stretch that is their row time.
    """

    query: Query
    pair: Pair
    keys: Sequence[exp.Expr]
    groups: Mapping[str, str]
    results: Mapping[int, exp.Expr]
    end: str = ""

    def over(self, node: exp.Expr) -> exp.Expr | None:
        """Returns what a part of a value is over a group's row; None: its parts."""
        if type(node) in map(type, self.keys) and not node.find(exp.AggFunc):
            known = self.groups.get(self.query.written(node, self.pair))
            if known is not None:
                return own_column(known)
        if id(node) in self.results:
            return self.results[id(node)]
        if isinstance(node, exp.Column):
            named = self.pair.named(node)
            if self.end and any(one.is_of_rows for _, one in named):
                return exp.maybe_parse(self.end, dialect="spark")
            told = f'the column "{node.sql()}", which is in no GROUP BY'
            expected = "one that is, or a function of it"
            raise self.query.text.wrong(node, told, expected)
        return None

    def selected(
        self, step: spec.Step, nodes: Sequence[Node], having: exp.Having | None
    ) -> tuple[spec.Step, Columns]:
        """Returns the groups that HAVING lets, and what is selected of them."""
        if having is not None:
            holds = rewritten(having.this, self.over)
            condition = written_over(self.query, holds, step)
            scope = Scope.pair(step.schema, steps.NOBODY)
            self.query.refuse_no_condition(condition.text, scope, having.this)
            step = spec.Filtered(step, condition)
        return step, [
            (name, written_over(self.query, rewritten(node, self.over), step))
            for name, node in nodes
        ]


def written_over(query: Query, node: exp.Expr, step: spec.Step) -> Expression:
    """Returns an expression over columns of ours as the spec writes it."""
    tree, scope = sided(node, spec.Hand.LEFT), Scope.pair(step.schema, steps.NOBODY)
    return Expression(query.spelled(tree, scope, node))


def refuse_over(nodes: Sequence[exp.Expr], text: Text) -> None:
    """Refuses a function over other rows beside groups."""
    for window in (it for one in nodes for it in one.find_all(exp.Window)):
        hint = "a query around the one with groups may have it"
        raise text.not_yet(window, "a function OVER rows that are groups", hint)


def functions_in(nodes: Sequence[exp.Expr]) -> Iterator[exp.Expr]:
    """Yields the functions of groups in some expressions."""
    for one in (it for node in nodes for it in node.find_all(exp.AggFunc)):
        # Of one whose nulls are ignored the whole counts, and is no part of itself.
        if not isinstance(one.parent, exp.IgnoreNulls | exp.RespectNulls):
            yield one


def rewritten(node: exp.Expr, meant: Callable[[exp.Expr], exp.Expr | None]) -> exp.Expr:
    """Returns an expression whose parts are what a function says, if it says it."""
    found = meant(node)
    if found is not None:
        return found
    new = node.copy()
    for name, part in node.args.items():
        if isinstance(part, exp.Expr):
            new.set(name, rewritten(part, meant))
        elif isinstance(part, list):
            parts = (
                rewritten(it, meant) if isinstance(it, exp.Expr) else it for it in part
            )
            new.set(name, [*parts])
    return new
