"""What front ends with a grammar share: its parser, nodes with places, where it stops.

A front end has the classes of its nodes, and a `Rules` with a method for each rule of
its grammar, which makes a node of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, fields
from functools import cache
from pathlib import Path
from typing import Any

from lark import Lark, Token, Transformer
from lark.exceptions import UnexpectedInput
from lark.tree import Meta

from dovetail.errors import DialectError, Place

_MOST_EXPECTED = 5
SIGNS: Mapping[str, str] = {
    "SEMICOLON": '";"',
    "RPAR": '")"',
    "LPAR": '"("',
    "COMMA": '","',
    "RSQB": '"]"',
    "RBRACE": '"}"',
    "NAME": "a name",
    "$END": "the end",
}
"""What terminals that every grammar has are called in messages."""


@cache
def parser_of(grammar: Path) -> Lark:
    """Returns the parser of a grammar's `program`, made when it is first needed."""
    return Lark(
        grammar.read_text(encoding="utf-8"),
        start="program",
        parser="lalr",
        propagate_positions=True,
        # What may be left out leaves nothing: counts of parts stay what rules say.
        maybe_placeholders=False,
    )


@dataclass(frozen=True, slots=True)
class Source:
    """The text, which every place shows, and the name of its file."""

    text: str
    file: str = ""

    def at(self, meta: Meta) -> Place:
        """Returns the place of a rule."""
        if meta.empty:
            return Place(self.text, 1, 1, file=self.file)
        # Of what goes on below its line the caret shows the beginning alone.
        ends_here = meta.end_line == meta.line
        length = max(1, meta.end_column - meta.column) if ends_here else 1
        return Place(self.text, meta.line, meta.column, length, self.file)

    def place(self, start: int, length: int) -> Place:
        """Returns the place of so many letters from one on."""
        before = self.text[:start]
        line = before.count("\n") + 1
        column = start - (before.rfind("\n") + 1) + 1
        return Place(self.text, line, column, max(1, length), self.file)


@dataclass(frozen=True, slots=True)
class Node:
    """A piece of text at a place; two that say the same are the same."""

    place: Place = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Number(Node):
    """A number as it is written, a suffix among it."""

    text: str


@dataclass(frozen=True, slots=True)
class Operation(Node):
    """An operator with its operands."""

    sign: str
    operands: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Items(Node):
    """`[a, b]`: values between square brackets."""

    items: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Braces(Node):
    """`{a, b}`: what stands between braces."""

    items: tuple[Node, ...]


def nodes(node: object) -> Iterator[Node]:
    """Yields a node, or several, and all that they are made of."""
    if isinstance(node, tuple):
        for one in node:
            yield from nodes(one)
    elif isinstance(node, Node):
        yield node
        for one in fields(node):
            yield from nodes(getattr(node, one.name))


# What the rules below a rule have made, and its words.
Parts = list[Any]


class Rules(Transformer[Token, Any]):
    """Makes nodes of the rules of a grammar, each under the rule's name."""

    def __init__(self, source: Source) -> None:
        """Keeps what places show."""
        super().__init__()
        self.origin = source

    def place(self, meta: Meta) -> Place:
        """Returns the place of a rule."""
        return self.origin.at(meta)


Rule = Callable[[Rules, Meta, Parts], Any]


def nodes_of(parts: Parts) -> tuple[Any, ...]:
    """Returns the nodes among the parts of a rule, without its words."""
    return tuple(one for one in parts if isinstance(one, Node))


def of_all(kind: Callable[[Place, tuple[Any, ...]], Node]) -> Rule:
    """Returns a rule whose node holds all nodes of it as one tuple."""
    return lambda self, meta, parts: kind(self.place(meta), nodes_of(parts))


@dataclass(frozen=True, slots=True)
class Stop:
    """Where a text does not go on, at its end perhaps, and which terminals would."""

    start: int
    is_end: bool
    token: str
    terminals: frozenset[str]

    @classmethod
    def of(cls, text: str, error: UnexpectedInput) -> Stop:
        """Returns where the grammar has stopped."""
        token = getattr(error, "token", None)
        is_end = isinstance(token, Token) and token.type == "$END"
        start: int | None = error.pos_in_stream
        if is_end or start is None:
            start = len(text.rstrip())
        found = getattr(error, "accepts", ()) or getattr(error, "expected", ())
        return cls(start, is_end, str(token or ""), frozenset(found))

    def expected(self, names: Mapping[str, str]) -> str:
        """Returns what would go on, by names; nothing where it is much."""
        known = sorted({names.get(one, one.lower()) for one in self.terminals})
        return " or ".join(known) if len(known) <= _MOST_EXPECTED else ""

    def told(
        self, source: Source, found: str, names: Mapping[str, str], hint: str
    ) -> DialectError:
        """Returns the error for a text that does not go on with what is found."""
        return DialectError(
            f'"{found}" does not go on here' if found else "the text ends here",
            self.expected(names),
            hint,
            place=source.place(self.start, len(found.partition("\n")[0])),
        )
