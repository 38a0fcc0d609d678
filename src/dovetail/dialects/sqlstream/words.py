"""The words of a text as its grammar takes them, each at its place.

Comments say nothing, nor do the words STREAM behind SELECT and WINDOW behind OVER. Two
misprints of published texts are read as what they mean: a comma that is missing in
SELECT, and a FROM without a blank before it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import groupby, pairwise

from sqlglot import TokenType
from sqlglot.dialects.dialect import Dialect
from sqlglot.tokenizer_core import Token

STAGGERED = "WINDOWED BY"
"""The words WINDOWED BY as one token, which stands where GROUP BY may."""
NAMES = frozenset({TokenType.VAR, TokenType.IDENTIFIER})
"""The kinds of words that are names, and no words of the language."""
_QUOTED_OR_COMMENT = re.compile(
    r"""'(?:[^']|'')*' | "(?:[^"]|"")*" | (?P<comment> --[^\n]* | /\*.*?\*/ )""",
    re.VERBOSE | re.DOTALL,
)
_FROM = "FROM"
_CLAUSES = (
    *(TokenType.WHERE, TokenType.GROUP_BY, TokenType.HAVING),
    TokenType.ORDER_BY,
)
"""The clauses of a query behind FROM, in the order in which they stand."""
_ENDS = frozenset({TokenType.R_PAREN, TokenType.UNION})


def tokens_of(text: str, dialect: Dialect) -> list[Token]:
    """Returns the tokens of a text, which keep their places."""
    # Blanks in place of comments: then two words are one with a comment between them.
    plain = _QUOTED_OR_COMMENT.sub(
        lambda found: re.sub(r"[^\n]", " ", found[0]) if found["comment"] else found[0],
        text,
    )
    found: list[Token] = []
    for one in dialect.tokenize(plain):
        last, word = (found[-1] if found else None), one.text.upper()
        # What keeps coming is known of what stands behind FROM.
        behind_select = last is not None and last.token_type is TokenType.SELECT
        if behind_select and word == "STREAM":
            continue
        # OVER WINDOW w, as the grammar has it, is OVER w, as its examples have it.
        behind_over = last is not None and last.token_type is TokenType.OVER
        if behind_over and one.token_type is TokenType.WINDOW:
            continue
        is_by = last is not None and last.text.upper() == "WINDOWED" and word == "BY"
        if is_by and last is not None:
            whole = (TokenType.GROUP_BY, STAGGERED, last.line, last.col, last.start)
            found[-1] = Token(*whole, one.end)
        else:
            found.append(one)
    return found


def statements_of(tokens: Sequence[Token]) -> Iterator[list[Token]]:
    """Yields the tokens of each statement, its misprints as what they mean."""
    ends = groupby(tokens, lambda one: one.token_type is TokenType.SEMICOLON)
    for some in (list(group) for is_end, group in ends if not is_end):
        for place in sorted(_without_from(some), reverse=True):
            one, size = some[place], len(_FROM)
            end, col = one.end - size, one.col - size
            name = Token(
                one.token_type, one.text[:-size], one.line, col, one.start, end
            )
            word = Token(TokenType.FROM, _FROM, one.line, one.col, end + 1, one.end)
            some[place : place + 1] = name, word
        yield [*_with_commas(some)]


def unpaired(tokens: Sequence[Token]) -> Token | None:
    """Returns the first bracket that has no other end, if there is one."""
    opened: list[Token] = []
    for one in tokens:
        if one.token_type is TokenType.L_PAREN:
            opened.append(one)
        elif one.token_type is TokenType.R_PAREN:
            if not opened:
                return one
            opened.pop()
    return opened[0] if opened else None


def misplaced(tokens: Sequence[Token]) -> tuple[Token, str] | None:
    """Returns a clause behind one that must come later, and that one's word."""
    # Of each parenthesis that is open: which clause of its SELECT has come last.
    reached: list[Token | None] = [None]
    for one in tokens:
        match one.token_type:
            case TokenType.L_PAREN:
                reached.append(None)
            case TokenType.R_PAREN if len(reached) > 1:
                reached.pop()
            case TokenType.SELECT | TokenType.UNION:
                reached[-1] = None
            case kind if kind in _CLAUSES:
                last = reached[-1]
                earlier = _CLAUSES[: _CLAUSES.index(kind) + 1]
                if last is not None and last.token_type not in earlier:
                    return one, last.text.upper()
                reached[-1] = one
    return None


def _without_from(tokens: Sequence[Token]) -> Iterator[int]:
    """Yields where a SELECT without FROM has a name that ends so: `priceFROM t`."""
    # Of each parenthesis that is open: whether its SELECT lacks a FROM, and the name.
    lacks, found = [False], [-1]
    for place, (one, then) in enumerate(pairwise((*tokens, tokens[-1]))):
        kind = one.token_type
        if kind is TokenType.L_PAREN:
            lacks.append(False)
            found.append(-1)
        if kind is TokenType.SELECT:
            lacks[-1] = True
        elif kind is TokenType.FROM:
            lacks[-1], found[-1] = False, -1
        elif lacks[-1] and kind is TokenType.VAR and then.token_type in NAMES:
            is_misprint = one.text[-len(_FROM) :].upper() == _FROM != one.text.upper()
            found[-1] = place if is_misprint else found[-1]
        if kind in _ENDS or place == len(tokens) - 1:
            yield from (it for it in found[-1:] if it >= 0)
            found[-1] = -1
        if kind is TokenType.R_PAREN and len(found) > 1:
            lacks.pop()
            found.pop()


def _with_commas(tokens: Sequence[Token]) -> Iterator[Token]:
    """Yields tokens with a comma between two columns in SELECT: `a.x b.y`."""
    depth, selects = 0, set[int]()
    kinds = [one.token_type for one in tokens]
    for place, one in enumerate(tokens):
        match one.token_type:
            case TokenType.SELECT:
                selects.add(depth)
            case TokenType.FROM:
                selects.discard(depth)
            case TokenType.L_PAREN:
                depth += 1
            case TokenType.R_PAREN:
                selects.discard(depth)
                depth -= 1
        # A name in front of a point names a table, and so is no alias.
        is_next = kinds[place : place + 2] in ([it, TokenType.DOT] for it in NAMES)
        if depth in selects and is_next and kinds[place - 1] in NAMES:
            last = tokens[place - 1]
            where = (last.line, last.col, last.end, last.end)
            yield Token(TokenType.COMMA, ",", *where)
        yield one
