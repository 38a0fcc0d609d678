"""What tokens of an expression may stand beside each other, and how deep in brackets.

concat(a.x, , b.y)   a.x AS AS y   .. AND b.y = 1,    nothing where a value belongs
a.x LIKE 'J%' 'K%'   a.x NULL   a.x NOT NULL          a value right behind another one

sqlglot, which reads expressions, passes over these as if something else stood there.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import TokenType
from sqlglot.tokenizer_core import Token

from dovetail.dialects import trees
from dovetail.dialects.grammar import Source
from dovetail.errors import DialectError, Place

DEEPEST = 30
"""How many brackets may be inside of each other: of more Python's stack is full."""
_OPENING = (TokenType.L_PAREN, TokenType.L_BRACKET, TokenType.CASE)
_CLOSING = (TokenType.R_PAREN, TokenType.R_BRACKET, TokenType.END)
_BETWEEN = (TokenType.COMMA, TokenType.ALIAS)
_BEFORE_VALUES = (TokenType.L_PAREN, TokenType.L_BRACKET, *_BETWEEN)
_BEHIND_VALUES = (TokenType.R_PAREN, TokenType.R_BRACKET, *_BETWEEN)
_EMPTY = {
    (TokenType.L_PAREN, TokenType.R_PAREN),
    (TokenType.L_BRACKET, TokenType.R_BRACKET),
}
_WRITTEN = (TokenType.STRING, TokenType.NUMBER)
_WORDS = (TokenType.NULL, TokenType.TRUE, TokenType.FALSE)
_ENDS = (*_WRITTEN, *_WORDS, *_CLOSING)
_VALUES = (*_ENDS, TokenType.VAR, TokenType.IDENTIFIER)


def nesting(some: Sequence[Token], at: int) -> int:
    """Returns by how much a token opens or closes what stands in brackets."""
    kind = _kind(some, at)
    return (kind in _OPENING) - (kind in _CLOSING)


def too_deep(place: Place) -> DialectError:
    """Returns the error for a text whose parts hold each other too many times."""
    return DialectError(
        "too many parts inside of each other",
        f"at most {DEEPEST}",
        "WITH x AS (SELECT .. AS y); gives a part of it a name",
        place=place,
    )


def check(source: Source, some: Sequence[Token]) -> None:
    """Refuses tokens that no expression has beside each other, or too deep."""
    kinds = [_kind(some, at) for at in range(len(some))]
    depth = 0
    for at, (one, kind) in enumerate(zip(some, kinds, strict=True)):
        depth += nesting(some, at)
        place = trees.place_of_token(source, one)
        if depth > DEEPEST:
            raise too_deep(place)
        # Before the first one a value may begin, as behind a comma.
        before = kinds[at - 1] if at else TokenType.COMMA
        is_gap = kind in _BEHIND_VALUES and before in _BEFORE_VALUES
        if is_gap and (before, kind) not in _EMPTY:
            told = f'the text does not go on at "{one.text}"'
            raise DialectError(told, "a value in front of it", place=place)
        # A text or a number may stand behind a word: DATE '2024-01-01'.
        values = _ENDS if kind in _WRITTEN else _VALUES if kind in _WORDS else ()
        if before in values:
            told = f'"{one.text}" right behind "{some[at - 1].text}"'
            raise DialectError(told, "a sign or a comma between them", place=place)
        is_denied = before is TokenType.NOT and at > 1 and kinds[at - 2] in _VALUES
        if kind is TokenType.NULL and is_denied:
            raise DialectError('"NOT NULL"', "IS NOT NULL", place=place)
    if kinds[-1] in _BEFORE_VALUES:
        told = f'nothing stands behind "{some[-1].text}"'
        place = trees.place_of_token(source, some[-1])
        raise DialectError(told, "a value", place=place)


def _kind(some: Sequence[Token], at: int) -> TokenType:
    """Returns what a token is: behind a dot a word is a name.

    So `_key.window.end` ends no CASE.
    """
    kind = some[at].token_type
    is_name = at and some[at - 1].token_type is TokenType.DOT
    return TokenType.VAR if is_name and kind is not TokenType.STAR else kind
