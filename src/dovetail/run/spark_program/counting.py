"""What is counted of all rows of a group: by Spark's own aggregates where they do it.

    ROWS_COUNT()                        count(1)
    array_max(ROWS_LIST(n))             max(n)
    aggregate(ROWS_LIST(n), 0L, +)      sum(n)

Anything else sees the rows as one list. Sums of fractions do so too, because they
depend on the order in which they are added.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from dovetail.expression.coercion import BIGINT, columnar
from dovetail.expression.scope import BARE
from dovetail.expression.tree import (
    Call,
    Column,
    Lambda,
    Node,
    Typed,
    Variable,
    walk,
)
from dovetail.expression.writing import written

ROW, ROWS = "the row", "rows"
_EXTREMES = {"array_max": "max", "array_min": "min"}


@dataclass(slots=True)
class Counts:
    """The aggregates that texts need, each with the name of its column."""

    found: dict[str, str] = field(default_factory=dict)

    def rewritten(self, tree: Node) -> Node:
        """Returns an expression with what is counted as columns."""
        for text in _aggregate(tree):
            name = self.found.setdefault(text, f"count {len(self.found) + 1}")
            return Column(BARE, name, columnar(tree.type))
        match tree:
            case Call(arguments=arguments):
                return replace(tree, arguments=tuple(map(self.rewritten, arguments)))
            case Lambda(body=body):
                return replace(tree, body=self.rewritten(body))
            case _:
                return tree


def sees_rows(tree: Node) -> bool:
    """Tells whether an expression looks at all rows as a list."""
    return any(isinstance(it, Column) and _is_rows(it) for it in walk(tree))


def sees_first(tree: Node) -> bool:
    """Tells whether an expression looks at the first row."""
    return any(isinstance(it, Column) and it.side == "l" for it in walk(tree))


def text_of_tree(tree: Node) -> str:
    """Returns an expression as SQL."""
    return written(Typed(tree, columnar(tree.type), ""))


def _aggregate(tree: Node) -> Iterator[str]:
    """Gives the aggregate of Spark's that an expression is, if it is one."""
    match tree:
        case Call("size", (Column() as rows,)) if _is_rows(rows):
            yield "CAST(count(1) AS INT)"
        case Call(("array_max" | "array_min") as name, (items,)):
            for value in _of_each(items):
                yield f"{_EXTREMES[name]}({value})"
        case Call("aggregate", (items, start, merge)) if _adds(merge):
            for value in _of_each(items):
                yield f"coalesce(sum({value}), 0L) + {text_of_tree(start)}"
        case _:
            return


def _adds(merge: Node) -> bool:
    """Tells whether a lambda adds whole numbers, whose sum has no order."""
    match merge:
        case Lambda(
            (one, other),
            Call("+ of numbers", (Variable() as first, Variable() as last)),
        ):
            return {first, last} == {one, other} and merge.type == BIGINT
        case _:
            return False


def _of_each(items: Node) -> Iterator[str]:
    """Gives the value of each row that a list consists of, if it is such a list."""
    match items:
        case Call("transform", (Column() as rows, Lambda((row,), body))) if _is_rows(
            rows
        ):
            yield text_of_tree(_of_row(body, row))
        case _:
            return


def _of_row(tree: Node, row: Variable) -> Node:
    """Returns the body of a lambda over the column that has the row."""
    match tree:
        case Variable() if tree == row:
            return Column(BARE, ROW, columnar(row.type))
        case Call(arguments=arguments):
            inner = tuple(_of_row(one, row) for one in arguments)
            return replace(tree, arguments=inner)
        case Lambda(body=body):
            return replace(tree, body=_of_row(body, row))
        case _:
            return tree


def _is_rows(column: Column) -> bool:
    """Tells whether a column is the list of all rows."""
    return (column.side, column.name) == (BARE, ROWS)
