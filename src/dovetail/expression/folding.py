"""Constants are computed once: a call of literals is the literal of its value.

Folding comes after typing, because a type may depend on what was written: the
literal 1 is one digit in decimal arithmetic, the sum 0 + 1 is an int.
"""

from __future__ import annotations

from dovetail.expression.evaluation import closure
from dovetail.expression.tree import Call, Literal, Node, with_parts


def folded(node: Node) -> Node:
    """Returns the tree with every constant call replaced by its value."""
    inner = with_parts(node, folded)
    return value_of(inner) if _is_constant(inner) else inner


def _is_constant(node: Node) -> bool:
    """Tells whether a node is a call that has only literals to work on."""
    return isinstance(node, Call) and all(
        isinstance(argument, Literal) for argument in node.arguments
    )


def value_of(node: Node) -> Literal:
    """Returns the literal that a constant tree computes to."""
    return Literal(closure(node)({}), node.type)
