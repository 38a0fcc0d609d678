"""Constants are computed once: a call of literals is the literal of its value.

Folding comes after typing, because a type may depend on what was written: the
literal 1 is one digit in decimal arithmetic, the sum 0 + 1 is an int.
"""

from __future__ import annotations

from dataclasses import replace

from dovetail.expression.evaluation import closure
from dovetail.expression.tree import Call, Lambda, Literal, Node


def folded(node: Node) -> Node:
    """Returns the tree with every constant call replaced by its value."""
    match node:
        case Call(arguments=arguments):
            inner = replace(node, arguments=tuple(map(folded, arguments)))
            return value_of(inner) if _constant(inner) else inner
        case Lambda(body=body):
            return replace(node, body=folded(body))
        case _:
            return node


def _constant(call: Call) -> bool:
    """Tells whether a call has only literals to work on."""
    return all(isinstance(argument, Literal) for argument in call.arguments)


def value_of(node: Node) -> Literal:
    """Returns the literal that a constant tree computes to."""
    return Literal(closure(node)({}), node.type)
