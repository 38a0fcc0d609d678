"""What the outputs of a join name: nothing else need be computed, or be carried along.

It goes by letters, wherever they stand, in quotes too: rather one column too many than
one too few.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from dovetail.expression import Expression
from dovetail.schema import QUOTED, unquoted
from dovetail.spec.join import Columns, Hand, JoinSpec
from dovetail.spec.picks import Limit


def mentions(join: JoinSpec, name: str) -> bool:
    """Tells whether an output may use a name; a text in quotes counts as a use."""
    word = re.compile(rf"\b{name}\b", re.IGNORECASE)
    return any(word.search(expression.text) for expression in _written(join))


def mentioned(join: JoinSpec, hand: Hand, names: tuple[str, ...]) -> list[str]:
    """Returns the columns of a side that an output may use.

    All are where it may use a whole row, or where the columns are not written out.
    """
    return _used(join, hand, names, _written(join))


def moved(join: JoinSpec, hand: Hand, names: tuple[str, ...]) -> list[str]:
    """Returns the columns of a side that a join moves: for its condition as well."""
    terms = [it for one in join.hard for it in (one.left, one.right)]
    return _used(join, hand, names, [*_written(join), *terms, join.soft])


def _used(
    join: JoinSpec, hand: Hand, names: tuple[str, ...], written: Iterable[Expression]
) -> list[str]:
    """Returns the columns of a side that expressions use."""
    used = re.compile(rf"\b{hand.letter}\b`?(?:\s*\.\s*({QUOTED}|\w+))?", re.IGNORECASE)
    found = {
        unquoted(column).lower()
        for expression in written
        for column in used.findall(expression.text)
    }
    if not isinstance(join.select, Columns) or "" in found:
        return [*names]
    return [name for name in names if name.lower() in found]


def _written(join: JoinSpec) -> Iterator[Expression]:
    """Gives every expression over the lines of a join."""
    yield join.picks.skip_when
    for columns in (join.select, join.picks.limit):
        match columns:
            case Columns(columns=pairs) | Limit(transform=pairs):
                yield from (expression for _, expression in pairs)
            case _:
                pass
