"""The one tree behind every expression: a few frozen nodes, each with its type.

Text of Spark SQL is read into these nodes once (`reader/`); everything else looks
only at them: `evaluation.py` computes them on plain rows, `lowering.py` writes them as
a program for the kernels. An operator is a call like any other, named by its sign.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from enum import Enum
from typing import Any

from dovetail.schema import Type

# A plain Python value of any schema type, or None. It is `Any` because a tree decides
# at run time what its values are; the types stand in the nodes.
Value = Any


class Interval(Enum):
    """The types of spans of time, which no column has: months, whole days, or time."""

    MONTHS = "interval year to month"
    DAYS = "interval day"
    TIME = "interval day to second"

    def __str__(self) -> str:
        """Returns the name in Spark SQL."""
        return self.value


Kind = Type | Interval


@dataclass(frozen=True, slots=True)
class Literal:
    """A constant; a span of time is a number of months, or of microseconds."""

    value: Value
    type: Kind


@dataclass(frozen=True, slots=True)
class Column:
    """A column of the row `l` or `r`, or, on the side "", a name that stands bare."""

    side: str
    name: str
    type: Type


@dataclass(frozen=True, slots=True)
class Variable:
    """A parameter of a lambda inside its body; no two of a tree have one number."""

    name: str
    number: int
    type: Kind


@dataclass(frozen=True, slots=True)
class Lambda:
    """A function given to a function: `(p, x) -> p * x`; its type is its body's."""

    parameters: tuple[Variable, ...]
    body: Node

    @property
    def type(self) -> Kind:
        """Returns the type of what the body computes."""
        return self.body.type


@dataclass(frozen=True, slots=True)
class Call:
    """A function of the table of functions, applied to arguments of the right types."""

    function: str
    arguments: tuple[Node, ...]
    type: Kind


Node = Literal | Column | Variable | Lambda | Call


@dataclass(frozen=True, slots=True)
class Typed:
    """A whole expression: the tree, the type of its values, and the text it was."""

    tree: Node
    type: Type
    text: str


def with_parts(node: Node, change: Callable[[Node], Node]) -> Node:
    """Returns a node with each of its parts changed; a node without any as it is."""
    match node:
        case Call(arguments=arguments):
            return replace(node, arguments=tuple(map(change, arguments)))
        case Lambda(body=body):
            return replace(node, body=change(body))
        case _:
            return node


def walk(node: Node) -> Iterator[Node]:
    """Yields every node of a tree, parents before children."""
    yield node
    match node:
        case Call(arguments=arguments):
            for argument in arguments:
                yield from walk(argument)
        case Lambda(body=body):
            yield from walk(body)
        case _:
            pass
