"""Trees of expressions and how they are put together: what a value is inside Spark.

    sql("IF(below = 0L, 0L, above DIV below)", above=one, below=other)

gives the tree of a text in which names stand for trees. Texts are written of trees only
where a program takes them, by `text_of` and `expressed`. A lambda is written in the
text, or made of a variable that others have put into its body before:

    pet = variable("pet", kind)                  PROJECT(LEFT.pets, ..): LEFT is `pet`
    sql("transform(pets, made)", pets=.., made=function(body, pet))

The row of a side is no value in Spark; its fields are columns.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial, reduce
from typing import TypeGuard

from dovetail import spec
from dovetail.expression import PAIR_NAMES, Expression
from dovetail.expression.evaluation import folded
from dovetail.expression.functions import build
from dovetail.expression.functions.casts import cast
from dovetail.expression.kinds import columnar
from dovetail.expression.reader import compose as sql
from dovetail.expression.reader import variable
from dovetail.expression.sql import written_tree
from dovetail.expression.tree import (
    BARE,
    ROWS,
    Call,
    Column,
    Kind,
    Lambda,
    Literal,
    Node,
    Variable,
    numbered,
    on_side,
    replaced,
    walk,
    with_parts,
)
from dovetail.schema import ArrayType, AtomicType, StructType, Type

__all__ = [
    "FALSE",
    "TRUE",
    "Column",
    "Literal",
    "Node",
    "Variable",
    "all_of",
    "any_of",
    "array",
    "build",
    "column",
    "columns_of",
    "expressed",
    "field",
    "function",
    "is_closed",
    "is_of",
    "is_over_rows",
    "is_side",
    "literal",
    "nth",
    "of_pair",
    "of_rows",
    "on_side",
    "replaced",
    "side",
    "simple",
    "sql",
    "struct",
    "text_of",
    "variable",
]

# Compared by value: a condition that is one of these is left out, or skips nothing.
TRUE = Literal(value=True, type=AtomicType.BOOLEAN)
FALSE = Literal(value=False, type=AtomicType.BOOLEAN)


def literal(value: str | int) -> Literal:
    """Returns a text, or a whole number of 8 bytes."""
    is_text = isinstance(value, str)
    return Literal(value, AtomicType.STRING if is_text else AtomicType.BIGINT)


def column(name: str, kind: Type, side: str = "l") -> Column:
    """Returns a column of a side."""
    return Column(side, name, kind)


def side(letter: str, kind: Kind) -> Column:
    """Returns the row of a side as a whole."""
    return Column(BARE, letter, columnar(kind))


def is_side(node: Node, *letters: str) -> TypeGuard[Column]:
    """Tells whether a tree is the row of a side, or of one of those that are named."""
    known = letters or ("l", "r")
    return isinstance(node, Column) and not node.side and node.name in known


def of_pair(name: str) -> Column:
    """Returns a name of a pair: whether a side is there, or the counter."""
    return Column(BARE, name, PAIR_NAMES[name].type)


def of_rows(kind: Type) -> Column:
    """Returns the list of all rows that stand together."""
    return Column(BARE, ROWS, ArrayType(kind))


def field(row: Node, name: str, kind: Type) -> Node:
    """Returns a field of a row."""
    if is_side(row):
        return Column(row.name, name, kind)
    return build("field", row, literal(name))


def struct(*parts: tuple[str, Node]) -> Node:
    """Returns named values as a record; one without fields is one all the same."""
    return build(
        "named_struct", *(it for name, one in parts for it in (literal(name), one))
    )


def array(items: Iterable[Node], element: Kind) -> Node:
    """Returns values of a type as a list."""
    return cast(build("array", *items), ArrayType(columnar(element)))


def nth(items: Node, place: Node, blank: Node) -> Node:
    """Returns the item of a list at a place from 1, beyond them a blank one."""
    # Spark counts from 0.
    found = "coalesce(get(items, CAST(place AS INT) - 1), nothing)"
    return sql(found, items=items, place=place, nothing=blank)


def function(body: Node, *parameters: Variable) -> Lambda:
    """Returns the function of variables that stand in its body."""
    return Lambda(parameters, body)


def all_of(conditions: Iterable[Node]) -> Node:
    """Returns the condition that all of some hold; of none it is true."""
    found = [one for one in conditions if one != TRUE]
    return reduce(lambda one, other: build("and", one, other), found) if found else TRUE


def any_of(conditions: Iterable[Node]) -> Node:
    """Returns the condition that one of some holds; of none it is false."""
    found = [one for one in conditions if one != FALSE]
    return reduce(lambda one, other: build("or", one, other), found) if found else FALSE


def simple(node: Node) -> Node:
    """Returns a tree with constants computed and variables numbered."""
    return numbered(folded(node))


def text_of(node: Node) -> str:
    """Returns a tree as Spark SQL."""
    return written_tree(_with_rows_listed(simple(node)))


def _with_rows_listed(node: Node) -> Node:
    """Returns a tree with the functions that a program has for all its rows.

    `transform(rows, row -> row.n)` is what `ROWS_LIST(n)` is read as, `size(rows)` is
    `ROWS_COUNT()`. The rows themselves have no name in a program.
    """
    match node:
        case Call("size", (Column("", "rows"),)):
            return Call("ROWS_COUNT", (), node.type)
        case Call("transform", (Column("", "rows"), Lambda((row,), body))):
            each = _with_rows_listed(_bare(body, row))
            return Call("ROWS_LIST", (each,), node.type)
        case _:
            return with_parts(node, _with_rows_listed)


def _bare(node: Node, row: Variable) -> Node:
    """Returns the body of a lambda with the fields of its row as bare names."""
    match node:
        case Call("field", (Variable() as whole, Literal(name)), kind) if whole == row:
            return Column(BARE, name, columnar(kind))
        case Variable(type=StructType(fields)) if node == row:
            return struct(*((name, Column(BARE, name, kind)) for name, kind in fields))
        case _:
            return with_parts(node, partial(_bare, row=row))


def expressed(node: Node) -> Expression:
    """Returns a tree as an expression of a program."""
    return Expression(text_of(node))


def select(parts: Iterable[tuple[str, Node]]) -> spec.Columns:
    """Returns named trees as the columns of a program's step."""
    return spec.Columns(tuple((name, expressed(tree)) for name, tree in parts))


def columns_of(node: Node) -> Iterable[Column]:
    """Returns the columns of sides that a tree reads."""
    found = (one for one in walk(node) if isinstance(one, Column) and one.side)
    return dict.fromkeys(found)


def is_over_rows(node: Node) -> bool:
    """Tells whether a tree looks at all rows that stand together."""
    return any(
        isinstance(it, Column) and it.name == ROWS and not it.side for it in walk(node)
    )


def is_closed(node: Node, *known: Variable) -> bool:
    """Tells whether no variable of a tree is of a lambda around it, but those known."""
    # Variables are told apart by their numbers, so those of all lambdas in a tree can
    # be looked at together: none of them is bound in one place and free in another.
    lambdas = (one for one in walk(node) if isinstance(one, Lambda))
    bound = {it for one in lambdas for it in one.parameters}
    return bound.union(known).issuperset(
        one for one in walk(node) if isinstance(one, Variable)
    )


# A row at hand is either a side, whose fields are columns, or a variable.
def is_of(node: Node, row: Node) -> bool:
    """Tells whether a tree is made of one row alone: of a side, or a lambda's."""
    sides = {one.side for one in walk(node) if isinstance(one, Column)}
    known = [row] if isinstance(row, Variable) else []
    own = {row.name} if isinstance(row, Column) else set()
    return sides <= own and is_closed(node, *known)
