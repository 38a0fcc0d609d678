"""What is known of the rows of a frame: their columns, their order, their groups.

The order of rows is told by hidden columns, whose names have a blank as no name in ECL
has. A frame that has its rows `in_place`, first partition first, needs none: they are
taken from there when a step asks for places.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from dovetail.engines.spark_program.lines import Downwards, Named
from dovetail.expression.tree import Node
from dovetail.expression.writing import text_of
from dovetail.schema import Schema, quoted


@dataclass(frozen=True, slots=True)
class Unnamed:
    """A hidden column that is no value of the row as it is now."""


@dataclass(frozen=True, slots=True)
class Term:
    """A hidden column that sorts rows; `value` is what it is of the row.

    `is_number`: it is one number, not several that stand together.
    """

    column: str
    is_descending: bool = False
    value: Node | Unnamed = Unnamed()
    is_number: bool = True

    @property
    def text(self) -> str:
        """Returns the term in an ORDER BY."""
        return f"{quoted(self.column)}{' DESC' if self.is_descending else ''}"

    @property
    def sorting(self) -> str | Downwards:
        """Returns the term as an argument of `sort`."""
        name = quoted(self.column)
        return Downwards(name) if self.is_descending else name

    def backwards(self) -> Term:
        """Returns the term that sorts the other way."""
        return replace(self, is_descending=not self.is_descending)


Terms = tuple[Term, ...]


@dataclass(frozen=True, slots=True)
class Rows:
    """A frame by its name, and what is known of its rows.

    Rows of a group have the same `groups`, which come first in the order.
    """

    frame: str
    schema: Schema
    order: Terms = ()
    in_place: bool = True
    groups: Terms = ()

    @property
    def columns(self) -> tuple[str, ...]:
        """Returns the columns that are not hidden, in backticks."""
        return tuple(map(quoted, self.schema.names))

    @property
    def hidden(self) -> tuple[str, ...]:
        """Returns the hidden columns, in backticks."""
        names = dict.fromkeys(term.column for term in (*self.groups, *self.order))
        return tuple(map(quoted, names))

    @property
    def record(self) -> str:
        """Returns a row as one value."""
        pairs = (f"{text_of(name)}, {quoted(name)}" for name in self.schema.names)
        return f"named_struct({', '.join(pairs)})"

    @property
    def named(self) -> Named:
        """Returns the frame as an argument."""
        return Named(self.frame)

    def without_values(self) -> Rows:
        """Returns the same rows where columns no longer are what they were."""
        return replace(
            self,
            order=tuple(replace(term, value=Unnamed()) for term in self.order),
            groups=tuple(replace(term, value=Unnamed()) for term in self.groups),
        )


def once(*terms: Term) -> Terms:
    """Returns terms without those whose column has sorted before."""
    found: dict[str, Term] = {}
    for term in terms:
        found.setdefault(term.column, term)
    return tuple(found.values())


def window(parts: Terms, order: Terms) -> str:
    """Returns the OVER of rows of the same parts, in an order."""
    by = f"PARTITION BY {', '.join(quoted(term.column) for term in parts)} "
    sorted_by = f"ORDER BY {', '.join(term.text for term in order)}"
    return f"OVER ({by if parts else ''}{sorted_by})"
