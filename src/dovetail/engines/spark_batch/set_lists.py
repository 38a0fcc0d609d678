"""The rows that stand together as an array, and arrays of one column of them.

Spark runs what it can as one piece of compiled code. A lambda stands outside of it, so
the usual `ROWS_LIST(n)` is not written as one: the frame has a column for it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from pyspark.sql import Column
from pyspark.sql import functions as F  # noqa: N812 - Spark's own name for it

from dovetail.expression import BARE, Typed
from dovetail.expression.tree import Call, Lambda, Literal, Node, Variable
from dovetail.expression.tree import Column as Name
from dovetail.kernels.arrays.names import reserved
from dovetail.schema import AtomicType, Schema, quoted

ROWS = "rows"


def those_there(rows: Sequence[tuple[Column, Column]]) -> Column:
    """Returns the array of the rows that are there, each given with whether it is."""
    alone = [F.when(there, F.array(row)).otherwise(F.array()) for row, there in rows]
    return F.concat(*alone)


def lists(schema: Schema) -> dict[str, Column]:
    """Returns the columns that stand for lists of one column of all rows."""
    return {_list(name): F.col(f"{ROWS}.{quoted(name)}") for name in schema.names}


def by_lists(typed: Typed) -> Typed:
    """Returns an expression that uses these columns instead of lambdas."""
    return replace(typed, tree=_by_lists(typed.tree))


def _by_lists(node: Node) -> Node:
    """Returns a node with columns for lists."""
    match node:
        case Call(
            "transform",
            (
                Name(side=side, name=name),
                Lambda(
                    (row,), Call("field", (Variable(number=number), Literal(field)))
                ),
            ),
        ) if (side, name, number) == (BARE, ROWS, row.number):
            # What the type is does not matter any more: the tree is only written.
            return Name(BARE, _list(str(field)), AtomicType.BOOLEAN)
        case Call(arguments=arguments):
            return replace(node, arguments=tuple(map(_by_lists, arguments)))
        case Lambda(body=body):
            return replace(node, body=_by_lists(body))
        case _:
            return node


def _list(name: str) -> str:
    """Returns the name of the column with the values of a column of all rows."""
    return reserved(f"rows_{name}")
