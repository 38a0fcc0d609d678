"""From ECL text to nodes: the grammar reads it, and says where it does not go on."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import NoReturn

from lark import Lark, Token
from lark.exceptions import UnexpectedInput

from dovetail.dialects.ecl.from_grammar import Nodes, nodes_of
from dovetail.dialects.ecl.nodes import Node
from dovetail.dialects.ecl.refused import place_at, refuse_foreign, without_foreign
from dovetail.errors import DialectError

_GRAMMAR = Path(__file__).with_name("grammar.lark")
_MOST_EXPECTED = 5


def read(text: str, file: str = "") -> tuple[Node, ...]:
    """Returns the statements of a text in their order; `file` is where it stands."""
    try:
        plain = without_foreign(text)
        refuse_foreign(plain)
        tree = _parser().parse(plain)
    except UnexpectedInput as error:
        _refuse(text, error, file)
    except DialectError as error:
        error.place = replace(error.place, file=file)
        raise
    return nodes_of(Nodes(text, file).transform(tree))


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


def _refuse(text: str, error: UnexpectedInput, file: str) -> NoReturn:
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
        place=replace(place_at(text, here, len(found.partition("\n")[0])), file=file),
    ) from error


def _expected(terminals: object) -> str:
    """Returns what could stand at a place, where that is few things."""
    if not isinstance(terminals, set | frozenset | list | tuple):
        return ""
    # Of what may follow an argument a name for it is the rarest.
    given = set(terminals) - ({"ASSIGN"} if "RPAR" in terminals else set())
    names = sorted({_SIGNS.get(name, name.lower()) for name in given})
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
    "in a text \\ stands before \\, ', \", n, r, t or three octal digits; "
    "in one of U'..' also before u and four digits of base 16"
)


# Signs of other languages, and what ECL has in their place.
_FOREIGN = tuple(
    (re.compile(sign, re.IGNORECASE), instead)
    for sign, instead in (
        (r"XOR\b", "(a OR b) AND NOT (a AND b) is true where just one of them is"),
        (r"(?<==)=", "one = compares two values"),
        (r"&", "AND stands between two conditions"),
        (r"\|", "OR stands between two conditions"),
        (r"!", "NOT, or ~, stands before a condition"),
        (r"\?", "IF(condition, value, other) chooses"),
        (r"\^|(?<=<)<|(?<=>)>", "compute what bits make before the program"),
        (r'"', "a text stands between single quotes"),
        (r":(?!=)", "a name stands before what a workflow keeps: x := rows : PERSIST"),
        (r"/\*", "a comment ends with */"),
        (r"SELF\b", "assignments of a transform end with a semicolon or a comma"),
    )
)


def _hint(text: str, start: int) -> str:
    """Returns what most often is the matter."""
    before = text[:start].rstrip()
    if _ESCAPED.match(text, start):
        return _ESCAPES
    for sign, instead in _FOREIGN:
        if sign.match(text, start):
            return instead
    if text[start : start + 1] == "'" or text[start:].count("'") % 2:
        return "a text ends on its line, with a quote"
    if before == text.rstrip() and text.count("(") > text.count(")"):
        return "a bracket is left open"
    if before == text.rstrip():
        return "RECORD, TRANSFORM, FUNCTION and MODULE stand until END;"
    if before and before[-1] not in ";,(":
        return "a definition or an action ends with a semicolon"
    return ""
