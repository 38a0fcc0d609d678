"""What others ask of an expression: its value, its columns, its type beside another.

Those that look rows up ask for keys that are equal exactly where an equality holds:
`l.a = r.b` compares in the type that both meet in, and 0.0 with -0.0, NaN with NaN as
equals. A key is what a side's value is in that comparison, ready for a dictionary.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator

from dovetail.errors import SpecError
from dovetail.expression import kinds
from dovetail.expression.evaluation import Rows, closure
from dovetail.expression.reader import parse
from dovetail.expression.sql import written_tree
from dovetail.expression.tree import (
    Call,
    Column,
    Expression,
    Node,
    Scope,
    Typed,
    Value,
    walk,
)
from dovetail.expression.values import hashable, order
from dovetail.schema import Type


def evaluate(typed: Typed, rows: Rows) -> Value:
    """Returns the value of an expression on rows by side, bare names under ""."""
    return closure(typed.tree)(rows)


def compiled(expression: Expression | str, scope: Scope) -> Callable[[Rows], Value]:
    """Returns the function of rows that a text means; parsed once, called often."""
    return closure(parse(expression, scope).tree)


def references(typed: Typed) -> frozenset[tuple[str, str]]:
    """Returns the columns that an expression reads, each as (side, name)."""
    columns = (node for node in walk(typed.tree) if isinstance(node, Column))
    return frozenset((column.side, column.name) for column in columns)


def conjuncts(typed: Typed) -> Iterator[Typed]:
    """Gives the conditions that must all be true for an expression to be true."""
    match typed.tree:
        case Call(function="and", arguments=parts):
            for part in parts:
                yield from conjuncts(Typed(part, typed.type, written_tree(part)))
        case _:
            yield typed


def common_type(left: Type, right: Type) -> Type:
    """Returns the type both sides of an equality are compared in, or raises."""
    found = kinds.compared(left, right)
    if found is None or found == kinds.NULL or not kinds.is_comparable(found):
        # As where an equality stands in a condition.
        raise SpecError(f'"=" does not take ({left}, {right})', "two comparable types")
    return kinds.columnar(found)


def is_constant_true(typed: Typed) -> bool:
    """Tells whether an expression is true whatever the rows are."""
    # constants are folded as they are read, so what is always true is a literal
    return getattr(typed.tree, "value", None) is True


Key = Callable[[Rows], Hashable]


def equality_keys(left: Expression, right: Expression, scope: Scope) -> tuple[Key, Key]:
    """Returns the keys of both sides of an equality; a null has the key None."""
    tree = parse(f"({left}) = ({right})", scope).tree
    match tree:
        case Call("=", (one, other)):
            return _key(one), _key(other)
        case constant:
            # both sides are constants: every row has one key, or the key of a null
            holds = closure(constant)({}) is True or None
            return (lambda _rows: holds), (lambda _rows: holds)


def value_key(expression: Expression, scope: Scope) -> Key:
    """Returns the key of an expression's value; nulls have the key None."""
    return _key(parse(expression, scope).tree)


def _key(node: Node) -> Key:
    """Returns the key of a node's value."""
    read, rank = closure(node), order(node.type)

    def key(rows: Rows) -> Hashable:
        value = read(rows)
        found: Hashable = None if value is None else hashable(rank(value))
        return found

    return key
