"""What the row at hand looks up in other rows, which are joined to it by LOOKUP."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace

from dovetail.dialects.ecl.context import Context, beside
from dovetail.dialects.ecl.totals import column_of
from dovetail.dialects.ecl.types import RecordType
from dovetail.dialects.ecl.values import Dictionary, Lookup, RowValue, Total
from dovetail.errors import DovetailError
from dovetail.expression import Expression, Scope, parse
from dovetail.expression.tree import Column, Node, with_parts
from dovetail.expression.writing import written_tree


@dataclass(frozen=True, slots=True)
class AtHand:
    """A row at hand, and where the values of other rows beside it gather."""

    letter: str
    totals: list[Total | Lookup]
    seen: Scope

    def has(self, text: str) -> bool:
        """Tells whether a value is one of the row alone."""
        return is_of(text, self.seen)

    def beside(self, dictionary: Dictionary, pairs: tuple[tuple[str, str], ...]) -> str:
        """Returns the column of an entry, of which the pairs of values are equal."""
        wanted = ((as_left(text, self.seen), key) for text, key in pairs)
        return beside(self.totals, Lookup(dictionary, tuple(wanted)), self.letter)


def rows_at_hand(context: Context) -> Iterator[AtHand]:
    """Yields the rows of a step beside which values of other rows may stand."""
    rows = (*context.rows, *context.named, *context.sides.values())
    for letter, totals in zip("lr", context.totals, strict=False):
        at_hand = [it for it in rows if isinstance(it, RowValue) and it.text == letter]
        hidden = [column_of(number, one) for number, one in enumerate(totals)]
        for row in at_hand[:1]:
            record = RecordType((*row.record.fields, *hidden))
            yield AtHand(letter, totals, Scope(((letter, record.schema),)))


def looked_up(
    context: Context, dictionary: Dictionary, pairs: tuple[tuple[str, str], ...]
) -> tuple[str, ...]:
    """Returns the column beside the rows, where what is looked for is of the row."""
    for row in rows_at_hand(context):
        if all(row.has(text) for text, _ in pairs):
            return (row.beside(dictionary, pairs),)
    return ()


def is_of(text: str, seen: Scope) -> bool:
    """Tells whether a value is made of what a scope knows, and of nothing else."""
    with suppress(DovetailError):
        parse(Expression(text), seen)
        return True
    return False


def as_left(text: str, seen: Scope) -> str:
    """Returns a value of the one row that a scope knows as one of `l`."""
    tree = parse(Expression(text), seen).tree
    return text if seen.schema("l") else written_tree(_of_left(tree))


def _of_left(tree: Node) -> Node:
    """Returns a tree with all columns those of `l`."""
    if isinstance(tree, Column):
        return replace(tree, side="l")
    return with_parts(tree, _of_left)
