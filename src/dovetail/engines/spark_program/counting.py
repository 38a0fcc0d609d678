"""What is counted of all rows of a group: by Spark's own aggregates where they do it.

    ROWS_COUNT()                        count(1)
    array_max(ROWS_LIST(n))             max(n)
    aggregate(ROWS_LIST(n), 0L, +)      sum(n), of whole numbers and of decimals

Anything else sees the rows as one list. Sums of fractions do so too, because they
depend on the order in which they are added.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial

from dovetail.expression.coercion import BIGINT, columnar
from dovetail.expression.tree import (
    BARE,
    Call,
    Column,
    Lambda,
    Literal,
    Node,
    Variable,
    walk,
    with_parts,
)
from dovetail.expression.writing import written_tree
from dovetail.schema import DecimalType

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
        return with_parts(tree, self.rewritten)


def sees_rows(tree: Node) -> bool:
    """Tells whether an expression looks at all rows as a list."""
    return any(isinstance(it, Column) and _is_rows(it) for it in walk(tree))


def listed(trees: Iterable[Node], every: Iterable[str]) -> list[str]:
    """Returns the columns that expressions look at in the list of all rows."""
    nodes = [node for tree in trees for node in walk(tree)]
    rows = {row for node in nodes for row in _goes_through(node)}
    whole = sum(isinstance(it, Column) and _is_rows(it) for it in nodes) - len(rows)
    whole += sum(isinstance(it, Variable) and it in rows for it in nodes)
    found = set()
    for node in nodes:
        match node:
            case Call("field", (Variable() as row, Literal(str() as name))) if (
                row in rows
            ):
                found.add(name)
                whole -= 1
    return [name for name in every if whole or name in found]


def _goes_through(node: Node) -> Iterator[Variable]:
    """Gives the name of a row where each row of the list becomes a value."""
    match node:
        case Call("transform", (Column() as rows, Lambda((row,)))) if _is_rows(rows):
            yield row


def sees_first(tree: Node) -> bool:
    """Tells whether an expression looks at the first row."""
    return any(isinstance(it, Column) and it.side == "l" for it in walk(tree))


def _aggregate(tree: Node) -> Iterator[str]:
    """Gives the aggregate of Spark's that an expression is, if it is one."""
    match tree:
        case Call("cast", (Call("size", (Column() as rows,)),), kind) if (
            _is_rows(rows) and kind == BIGINT
        ):
            # More rows than an int can count are counted all the same.
            yield "count(1)"
        case Call("size", (Column() as rows,)) if _is_rows(rows):
            yield "CAST(count(1) AS INT)"
        case Call(("array_max" | "array_min") as name, (items,)):
            for value in _of_each(items):
                yield f"{_EXTREMES[name]}({value})"
        case Call("aggregate", (items, Literal(0) as zero, merge), kind) if _adds(
            merge
        ):
            for value in _of_each(items):
                yield f"coalesce(CAST(sum({value}) AS {kind}), {written_tree(zero)})"
        case _:
            return


def _adds(merge: Node) -> bool:
    """Tells whether a lambda adds numbers whose sum has no order: of no fraction."""
    match merge:
        case Lambda(parameters, Call("cast", (total,), DecimalType())):
            return _is_sum(total, parameters)
        case Lambda(parameters, total):
            return total.type == BIGINT and _is_sum(total, parameters)
        case _:
            return False


def _is_sum(tree: Node, parameters: tuple[Variable, ...]) -> bool:
    """Tells whether a call is the sum of the parameters of a lambda."""
    match tree:
        case Call("+ of numbers", arguments):
            return set(arguments) == set(parameters)
        case _:
            return False


def _of_each(items: Node) -> Iterator[str]:
    """Gives the value of each row that a list consists of, if it is such a list.

    One that looks at the first row too is none: while rows are counted it is unknown.
    """
    match items:
        case Call("transform", (Column() as rows, Lambda((row,), body))) if _is_rows(
            rows
        ) and not sees_first(body):
            yield written_tree(_of_row(body, row))
        case _:
            return


def _of_row(tree: Node, row: Variable) -> Node:
    """Returns the body of a lambda over the column that has the row."""
    match tree:
        case Variable() if tree == row:
            return Column(BARE, ROW, columnar(row.type))
        case _:
            return with_parts(tree, partial(_of_row, row=row))


def _is_rows(column: Column) -> bool:
    """Tells whether a column is the list of all rows."""
    return (column.side, column.name) == (BARE, ROWS)
