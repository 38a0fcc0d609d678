"""Which columns an expression names, read from its text alone.

Nothing is parsed: texts, comments and lambda variables are passed over, and what is
left of the form `l.column` or `r.column` is a reference. That is enough to say that a
column is not there before anyone knows the functions that an engine has.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from dovetail import schema
from dovetail.expression import Expression
from dovetail.spec.join import HANDS, Columns, Hand, JoinSpec

_NAME = rf"{schema.QUOTED}|[^\W\d]\w*"
# Texts in either kind of quotes, and both kinds of comments.
_PASSED = r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|--[^\n]*|/\*.*?\*/"""
# Passed over first, so that no name is found in a text. A field belongs to its name:
# in `l.a` the word `a` does not stand alone.
_WORD = re.compile(
    rf"{_PASSED}|\.\s*{schema.QUOTED}|(?<![\w.])(?P<name>{_NAME})"
    rf"(?:\s*\.\s*(?P<field>{_NAME}))?(?P<call>\s*\()?",
    re.DOTALL,
)
# `x -> ..` and `(x, y) -> ..`
_LAMBDA = re.compile(r"(?:([^\W\d]\w*)|\(([^()]*)\))\s*->")
_PLAIN = re.compile(rf"\s*({_NAME})\s*")
_LITERALS = ("true", "false", "null")
_HANDS = {hand.letter: hand for hand in HANDS}


@dataclass(frozen=True, slots=True)
class Reference:
    """A column of one side."""

    hand: Hand
    column: str

    def __str__(self) -> str:
        """Returns the reference as it stands in an expression."""
        return f"{self.hand.letter}.{self.column}"


def references(expression: Expression) -> tuple[Reference, ...]:
    """Returns the columns that an expression names, each once, in their order."""
    # In `l -> l.a` the name is no longer that of the left row. An arrow inside a text
    # or a comment binds nothing.
    passed = rf"{_PASSED}|{schema.QUOTED}"
    plain = re.sub(passed, "``", expression.text, flags=re.DOTALL)
    shadowed = {
        name.strip().lower()
        for one, many in _LAMBDA.findall(plain)
        for name in (one, *many.split(","))
    }
    found = (
        Reference(_HANDS[word["name"].lower()], schema.unquoted(word["field"]))
        for word in _WORD.finditer(expression.text)
        if word["field"] and word["name"].lower() in _HANDS.keys() - shadowed
    )
    return tuple(dict.fromkeys(found))


def looked_at(expressions: Iterable[Expression]) -> Mapping[Hand, frozenset[str]]:
    """Returns which columns of each side expressions look at, in lower case.

    A side of which one names the whole row, perhaps, is left out.
    """
    known = tuple(expressions)
    bare = frozenset[str]().union(*map(bare_names, known))
    # In backticks `l` may be the row too, or a column: then all columns may be meant.
    bare |= {
        hand.letter
        for hand in HANDS
        if any(f"`{hand.letter}`" in one.text.lower() for one in known)
    }
    named = [one for expression in known for one in references(expression)]
    return {
        hand: frozenset(one.column.lower() for one in named if one.hand is hand)
        for hand in HANDS
        if hand.letter not in bare
    }


def counting_columns(join: JoinSpec) -> tuple[tuple[str, Expression], ...]:
    """Returns the output columns that name the counter of a left row's pairs."""
    shown = join.select.columns if isinstance(join.select, Columns) else ()
    return tuple(column for column in shown if "counter" in bare_names(column[1]))


def bare_names(expression: Expression) -> frozenset[str]:
    """Returns the words that stand alone: no reference, no call; in lower case."""
    words = _WORD.finditer(expression.text)
    return frozenset(
        schema.unquoted(word["name"]).lower()
        for word in words
        if word["name"] and not word["field"] and not word["call"]
    )


def plain_column(expression: Expression) -> str:
    """Returns the column that the expression is, or nothing where it is more."""
    plain = _PLAIN.fullmatch(expression.text)
    return (
        schema.unquoted(plain[1]) if plain and plain[1].lower() not in _LITERALS else ""
    )


def plain_reference(expression: Expression) -> Reference | Expression:
    """Returns the reference that the expression is, or itself where it is more."""
    match _WORD.fullmatch(expression.text.strip()), references(expression):
        case re.Match(), (only,):
            return only
        case _:
            return expression


def folded(expression: Expression) -> str:
    """Returns the text without regard to case and spaces, texts in it as they are."""
    parts = re.split(f"({_PASSED}|{schema.QUOTED})", expression.text, flags=re.DOTALL)
    # At odd places stand the parts by which the text was split: texts, comments, names.
    for number, part in enumerate(parts):
        if number % 2 == 0:
            parts[number] = re.sub(r"\s+", "", part).lower()
        elif part.startswith("`"):
            # A name in backticks is one without them, where it can be.
            name = schema.unquoted(part).lower()
            is_plain = re.fullmatch(r"[^\W\d]\w*", name)
            parts[number] = name if is_plain else schema.quoted(name)
    return "".join(parts)
