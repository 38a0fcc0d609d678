"""From ECL text to nodes: the grammar reads it, and says where it does not go on."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import NoReturn

from lark import Lark, Token
from lark.exceptions import UnexpectedInput

from dovetail.errors import DialectError
from dovetail.front.ecl.from_grammar import Nodes, nodes_of
from dovetail.front.ecl.nodes import Node
from dovetail.front.ecl.refused import place_at, refuse_foreign

_GRAMMAR = Path(__file__).with_name("grammar.lark")
_MOST_EXPECTED = 5


def read(text: str) -> tuple[Node, ...]:
    """Returns the statements of a text in their order."""
    refuse_foreign(text)
    try:
        tree = _parser().parse(text)
    except UnexpectedInput as error:
        _refuse(text, error)
    return nodes_of(Nodes(text).transform(tree))


@cache
def _parser() -> Lark:
    """Returns the parser, made when it is first needed."""
    return Lark(
        _GRAMMAR.read_text(encoding="utf-8"),
        start="program",
        parser="lalr",
        propagate_positions=True,
        maybe_placeholders=False,
    )


def _refuse(text: str, error: UnexpectedInput) -> NoReturn:
    """Raises what the grammar has found, in words of the language."""
    token = getattr(error, "token", None)
    is_end = isinstance(token, Token) and token.type == "$END"
    here = error.pos_in_stream
    if is_end or here is None:
        here = len(text.rstrip())
    found = "" if is_end else str(token or text[here : here + 1])
    raise DialectError(
        f'"{found}" does not go on here' if found else "the text ends here",
        _expected(getattr(error, "accepts", None) or getattr(error, "expected", ())),
        _hint(text, here),
        place=place_at(text, here, len(found.partition("\n")[0])),
    ) from error


def _expected(terminals: object) -> str:
    """Returns what could stand at a place, where that is few things."""
    if not isinstance(terminals, set | frozenset | list | tuple):
        return ""
    names = sorted({_SIGNS.get(name, name.lower()) for name in terminals})
    return " or ".join(names) if 0 < len(names) <= _MOST_EXPECTED else ""


_SIGNS = {
    "SEMICOLON": '";"',
    "RPAR": '")"',
    "LPAR": '"("',
    "COMMA": '","',
    "RSQB": '"]"',
    "RBRACE": '"}"',
    "END": "END",
    "ASSIGN": '":="',
    "NAME": "a name",
    "$END": "the end",
    "RETURN": "RETURN",
}


_ESCAPED = re.compile(r"\w{,2}'[^'\\\n]*\\.")
_ESCAPES = (
    "in a text \\ stands before \\, ', n, r, t or three octal digits; "
    "in one of U'..' also before u and four digits of base 16"
)


def _hint(text: str, start: int) -> str:
    """Returns what most often is the matter."""
    before = text[:start].rstrip()
    if _ESCAPED.match(text, start):
        return _ESCAPES
    if text[start : start + 1] == "'" or text[start:].count("'") % 2:
        return "a text ends on its line, with a quote"
    if before == text.rstrip() and text.count("(") > text.count(")"):
        return "a bracket is left open"
    if before and before[-1] not in ";,(":
        return "a definition or an action ends with a semicolon"
    return ""
