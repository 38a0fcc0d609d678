"""What front ends with a grammar share: its parser, places, where a text stops."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from lark import Lark, Token
from lark.exceptions import UnexpectedInput
from lark.tree import Meta

from dovetail.errors import Place

_MOST_EXPECTED = 5


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
