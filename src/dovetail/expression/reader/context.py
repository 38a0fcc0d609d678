"""What a reader knows while it walks sqlglot's tree."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import count

from sqlglot import exp

from dovetail.errors import DovetailError, UnsupportedError
from dovetail.expression.reader.syntax import is_pointed, pointed
from dovetail.expression.scope import Scope
from dovetail.expression.tree import Node, Variable

Reader = Callable[["Context", exp.Expr], Node]


@dataclass(frozen=True, slots=True)
class Context:
    """The text, the names, and the lambda parameters around a place in it.

    `row` is the parameter whose fields stand bare inside `ROWS_LIST(..)`.
    """

    text: str
    scope: Scope
    readers: Mapping[type[exp.Expr], Reader]
    variables: Mapping[str, Variable] = field(default_factory=dict)
    row: Variable | None = None
    numbers: Iterator[int] = field(default_factory=count)

    def read(self, node: exp.Expr) -> Node:
        """Returns the typed node of a node of sqlglot's."""
        reader = self.readers.get(type(node))
        try:
            if reader is None:
                raise UnsupportedError(f"{node.key} in an expression")
            return reader(self, node)
        except DovetailError as error:
            if is_pointed(error):
                raise
            raise pointed(error, self.text, node) from error
