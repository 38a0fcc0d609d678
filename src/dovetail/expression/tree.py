"""An expression as a text, the names that it may use, and the tree that it means.

Specs hold the text, Spark SQL, as its owner wrote it. It is read into a few frozen
nodes once (`reader.py`), each with its type; everything else looks only at them:
`evaluation.py` computes them on plain rows, `lowering.py` writes them as a program for
the kernels. An operator is a call like any other, named by its sign.

A join's expressions see the rows `l` and `r`, and the bare names `matched_left`,
`matched_right`, `counter`, `row_time`, `window_start` and `window_end`. An expression
of one side alone names its columns bare. A condition over the active rows of a join of
several sets also sees those rows, through `ROWS_COUNT()` and its relatives.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from enum import Enum
from itertools import chain
from typing import Any

from dovetail.schema import Schema, Type


@dataclass(frozen=True, slots=True)
class Expression:
    """One scalar expression in Spark SQL."""

    text: str

    def __str__(self) -> str:
        """Returns the text."""
        return self.text

    @property
    def plain(self) -> str:
        """Returns the text, names without the quotes that they do not need."""
        return _QUOTED.sub(r"\1", self.text)


_QUOTED = re.compile(r"`(\w+)`")
ALWAYS = Expression("true")
NEVER = Expression("false")

BARE = ""
# All rows that stand together, for `ROWS_LIST` and its relatives.
ROWS = "rows"

PAIR_NAMES = Schema.of(
    {
        "matched_left": "boolean",
        "matched_right": "boolean",
        "counter": "bigint",
        "row_time": "timestamp",
        "window_start": "timestamp",
        "window_end": "timestamp",
    }
)
_NOTHING = Schema(())


@dataclass(frozen=True, slots=True)
class Scope:
    """The schema behind each side's letter, behind bare names, and of the active rows.

    `rows` is the schema of what `ROWS_LIST` and its relatives range over; the rows
    themselves are the bare value `rows` when an expression is evaluated.
    """

    sides: tuple[tuple[str, Schema], ...] = ()
    bare: Schema = _NOTHING
    rows: Schema = _NOTHING

    @classmethod
    def pair(cls, left: Schema, right: Schema) -> Scope:
        """Returns the scope of a join: `l.`, `r.`, and the names of a pair."""
        return cls((("l", left), ("r", right)), PAIR_NAMES)

    @classmethod
    def row(cls, schema: Schema) -> Scope:
        """Returns the scope of one side alone, its columns named bare."""
        return cls((), schema)

    @property
    def known(self) -> tuple[str, ...]:
        """Returns every name that an expression may use, as it is written."""
        sided = (
            f"{side}.{name}" for side, schema in self.sides for name in schema.names
        )
        return (*sided, *self.bare.names)

    def schema(self, side: str) -> Schema | None:
        """Returns the schema behind a letter, whatever its case, or None."""
        found = (schema for name, schema in self.sides if name == side.lower())
        return next(found, None)


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


# The one place that knows which nodes have parts: whoever changes a tree says what he
# changes, and leaves all others to it.
def with_parts(node: Node, change: Callable[[Node], Node]) -> Node:
    """Returns a node with each of its parts changed; a node without any as it is."""
    match node:
        case Call(arguments=arguments):
            return replace(node, arguments=tuple(map(change, arguments)))
        case Lambda(body=body):
            return replace(node, body=change(body))
        case _:
            return node


def replaced(node: Node, others: Mapping[int, Node]) -> Node:
    """Returns a tree with other trees in place of variables, by their numbers."""
    match node:
        case Variable(number=number):
            return others.get(number, node)
        case _:
            return with_parts(node, lambda part: replaced(part, others))


def on_side(node: Node, side: str) -> Node:
    """Returns a tree with all columns of sides as those of one, or as bare names."""
    match node:
        case Column(side=own) if own:
            return replace(node, side=side)
        case _:
            return with_parts(node, lambda part: on_side(part, side))


def numbered(
    node: Node, known: Mapping[int, Variable] | None = None, depth: int = 0
) -> Node:
    """Returns a tree whose variables are numbered by how deep their lambdas stand.

    Trees that mean the same by variables of other numbers are equal then.
    """
    known = known or {}
    match node:
        case Variable(number=number):
            return known.get(number, node)
        case Lambda(parameters=parameters, body=body):
            own = [replace(it, number=depth + at) for at, it in enumerate(parameters)]
            old = (it.number for it in parameters)
            inside = {**known, **dict(zip(old, own, strict=True))}
            return Lambda(tuple(own), numbered(body, inside, depth + len(own)))
        case _:
            return with_parts(node, lambda part: numbered(part, known, depth))


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


def depth(node: Node) -> int:
    """Returns how many calls and lambdas of a tree stand in each other at most."""
    found, level = 0, [node]
    # Level by level: a tree may be deeper than Python's stack.
    while level:
        calls = [one.arguments for one in level if isinstance(one, Call)]
        bodies = [one.body for one in level if isinstance(one, Lambda)]
        level = [*chain.from_iterable(calls), *bodies]
        found += 1
    return found
