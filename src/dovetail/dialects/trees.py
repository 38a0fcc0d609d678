"""What front ends of SQL share: places in sqlglot's trees, conditions, own columns."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, count
from typing import TypeVar

from sqlglot import exp
from sqlglot.errors import ParseError
from sqlglot.tokenizer_core import Token

from dovetail import spec
from dovetail.dialects.grammar import Source
from dovetail.errors import DialectError, DovetailError, Place, UnsupportedError
from dovetail.expression import Expression, Scope, parse

Read = TypeVar("Read")


def place_of(source: Source, node: exp.Expr) -> Place:
    """Returns where a part begins, or else what holds it: at its first name."""
    one: exp.Expr | None = node
    while one is not None:
        known = [it.meta for it in one.walk() if "start" in it.meta]
        if known:
            first = min(known, key=lambda meta: meta["start"])
            return source.place(first["start"], first["end"] + 1 - first["start"])
        one = one.parent
    return source.place(0, 1)


@dataclass(frozen=True, slots=True)
class SqlText:
    """A text whose parts are trees of sqlglot: it shows where each of them stands."""

    source: Source

    def at(self, node: exp.Expr) -> Place:
        """Returns where a part begins, or else what holds it: at its first name."""
        return place_of(self.source, node)

    def wrong(self, node: exp.Expr, found: str, *told: str) -> DialectError:
        """Returns what is wrong, at its place: what is expected, and a hint."""
        return DialectError(found, *told, place=self.at(node))


def place_of_token(source: Source, token: Token) -> Place:
    """Returns where a token stands."""
    return source.place(token.start, token.end + 1 - token.start)


def stopped(source: Source, tokens: Sequence[Token], error: ParseError) -> DialectError:
    """Returns where and why a text does not go on."""
    told = error.errors[0]
    line, past = told["line"], told["col"]
    token = next(
        (one for one in tokens if (one.line, one.col) == (line, past)), tokens[-1]
    )
    what = told["description"].partition(" but got ")[0].partition(". Line")[0]
    expected = what.removeprefix("Expecting ").removeprefix("Expected ")
    if expected.startswith(("Invalid expression", "Required keyword")):
        expected = ""
    return DialectError(
        f'the text does not go on at "{token.text}"',
        expected,
        place=place_of_token(source, token),
    )


def not_yet(place: Place, what: str, language: str, hint: str = "") -> UnsupportedError:
    """Returns the error for a part of a language that is not there yet."""
    found = f"{what} is not yet understood in {language}"
    return UnsupportedError(found, "", hint, missing=(what,), place=place)


def not_too_deep(text: str, read: Callable[[], Read]) -> Read:
    """Returns what is read of a text, unless its parts fill Python's stack."""
    try:
        return read()
    except RecursionError as error:
        raise DialectError(
            "too many parts inside of each other",
            "fewer",
            "a query of its own, or a view, gives a part of it a name",
            place=Place(text, 1, 1),
        ) from error


def conjuncts(node: exp.Expr | None) -> Iterator[exp.Expr]:
    """Yields the conditions that must all be true, of a clause too, if it is there."""
    match node:
        case None:
            return
        case exp.Paren() | exp.Where():
            yield from conjuncts(node.this)
        case exp.And():
            yield from conjuncts(node.this)
            yield from conjuncts(node.expression)
        case _:
            yield node


def replaced(node: exp.Expr, meant: Callable[[exp.Column], exp.Expr]) -> exp.Expr:
    """Returns an expression whose columns are what a function says."""
    return node.transform(
        lambda part: meant(part) if isinstance(part, exp.Column) else part
    )


def sided(value: exp.Expr, hand: spec.Hand) -> exp.Expr:
    """Returns an expression whose columns are those of one side."""
    letter = exp.to_identifier(hand.letter)

    def own(part: exp.Expr) -> exp.Expr:
        if not isinstance(part, exp.Column):
            return part
        return exp.Column(this=part.this.copy(), table=letter.copy())

    return value.transform(own)


def own_column(name: str) -> exp.Column:
    """Returns a column of rows, whatever is in its name."""
    return exp.Column(this=exp.to_identifier(name, quoted=True))


def type_of(text: str, scope: Scope) -> object:
    """Returns the type of an expression; nothing where it has none."""
    try:
        return parse(Expression(text), scope).type
    except DovetailError:
        return None


def free_name(name: str, taken: set[str]) -> str:
    """Returns a name, with a number where it is taken, and takes it: in small letters.

    What a user sees of a column is the name that it had, as far as that can be.
    """
    every = chain([name], (f"{name}_{number}" for number in count(1)))
    free = next(it for it in every if it.lower() not in taken)
    taken.add(free.lower())
    return free
