"""When two rows fit: their equalities hold, and so does the rest of the condition.

Time is not asked here. An equality with a null never holds.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import product

from dovetail.conformance.oracle.life import LivingRow
from dovetail.conformance.oracle.scalars import PairScalar, pair_scalar, sight
from dovetail.expression import Expression
from dovetail.spec.inputs import Input
from dovetail.spec.join import Hand, JoinSpec
from dovetail.spec.picks import Equality


@dataclass(frozen=True, slots=True)
class Pair:
    """A left row and a right row that meet."""

    left: LivingRow
    right: LivingRow

    @classmethod
    def of(cls, one: LivingRow, other: LivingRow) -> Pair:
        """Returns the pair of two rows of opposite sides, whichever comes first."""
        rows = {one.hand: one, other.hand: other}
        return cls(rows[Hand.LEFT], rows[Hand.RIGHT])

    @property
    def rows(self) -> tuple[LivingRow, LivingRow]:
        """Returns both rows, the left one first."""
        return self.left, self.right

    @property
    def is_alive_together(self) -> bool:
        """Tells whether a life of the one overlaps a life of the other."""
        lives = product(self.left.lives, self.right.lives)
        return any(one.meets(other) for one, other in lives)


Terms = tuple[PairScalar, ...]


@dataclass(frozen=True, slots=True)
class Condition:
    """The terms that must all be true of a pair."""

    terms: Terms

    @classmethod
    def of(cls, spec: JoinSpec, left: Input, right: Input) -> Condition:
        """Returns the whole condition of a join: `hard`, then `soft`."""
        texts = (spec.picks.left_condition, *map(equal, spec.hard), spec.soft)
        return cls(terms_of(texts, left, right))

    def holds(self, pair: Pair) -> bool:
        """Tells whether every term is true, neither false nor null."""
        return hold(self.terms, pair)


def terms_of(texts: Iterable[Expression], left: Input, right: Input) -> Terms:
    """Returns expressions of a pair as functions."""
    return tuple(pair_scalar(text, left, right) for text in texts)


def hold(terms: Terms, pair: Pair) -> bool:
    """Tells whether every term is true of a pair, neither false nor null."""
    seen = sight(pair.left.values, pair.right.values)
    return all(term(seen) is True for term in terms)


def equal(equality: Equality) -> Expression:
    """Returns the equality as one expression; it is null where a side is null."""
    return Expression(f"({equality.left}) = ({equality.right})")
