"""Keys that are equal exactly where an equality holds, for those that look rows up.

`l.a = r.b` compares in the type that both meet in, and 0.0 with -0.0, NaN with NaN as
equals. A key is what a side's value is in that comparison, ready for a dictionary.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable

from dovetail.expression.evaluation import Rows, closure
from dovetail.expression.reader import parse
from dovetail.expression.scope import Scope
from dovetail.expression.text import Expression
from dovetail.expression.tree import Call, Node, Value
from dovetail.expression.values import order

Key = Callable[[Rows], Hashable]


def equality_keys(left: Expression, right: Expression, scope: Scope) -> tuple[Key, Key]:
    """Returns the keys of both sides of an equality; a null has the key None."""
    tree = parse(f"({left}) = ({right})", scope).tree
    match tree:
        case Call("=", (one, other)):
            return _key(one), _key(other)
        case constant:
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
        return None if value is None else _hashable(rank(value))

    return key


def _hashable(value: Value) -> Hashable:
    """Returns a value whose lists are tuples, all the way down."""
    if isinstance(value, list | tuple):
        return tuple(map(_hashable, value))
    found: Hashable = value
    return found
