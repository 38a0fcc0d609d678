"""Picks: which of a left row's candidates count.

Candidates are the right rows that pass the equalities that count. `atmost` and `limit`
number them before anything else is asked of them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import Self, assert_never

from dovetail.conformance.oracle.matching import (
    Condition,
    Pair,
    Terms,
    equal,
    hold,
    terms_of,
)
from dovetail.conformance.oracle.nearest import Nearest
from dovetail.conformance.oracle.scalars import side_scalar
from dovetail.spec.inputs import Input
from dovetail.spec.join import JoinSpec
from dovetail.spec.picks import (
    AsOf,
    AtMost,
    Keep,
    Limit,
    OnExceed,
    OptionalEqual,
    OptionalPrefix,
    Picks,
    Strategy,
    Unlimited,
)

Optional = Callable[[Pair], list[bool]]  # whether a pair shares an element, one by one


@dataclass(frozen=True, slots=True)
class Choice:
    """The matches of a left row, in their order.

    Over its limit it has no match that comes out; then all its candidates stand here,
    for they have matched. One that `has_too_many` has no match for that alone.
    """

    matches: list[Pair]
    is_over_limit: bool = False
    has_too_many: bool = False


@dataclass(frozen=True, slots=True)
class Picker:
    """Picks among the candidates of a left row."""

    keep: float
    at_most: float
    limit: float
    on_exceed: OnExceed
    counted: Terms
    optional: tuple[Optional, ...]
    nearest: Nearest | Unlimited
    condition: Condition

    @classmethod
    def of(cls, spec: JoinSpec, left: Input, right: Input) -> Self:
        """Returns the picker of a join; what is not limited has an infinite limit."""
        picks = spec.picks
        counted = (picks.left_condition, *map(equal, spec.counted))
        return cls(
            kept(picks),
            _most(picks),
            *_limit(picks),
            terms_of(counted, left, right),
            tuple(_optional(part, left, right) for part in _optional_parts(picks)),
            _nearest(picks, left, right),
            Condition.of(spec, left, right),
        )

    @property
    def counts(self) -> bool:
        """Tells whether the number of candidates decides what comes out."""
        return any(map(math.isfinite, (self.at_most, self.limit)))

    @property
    def waits(self) -> bool:
        """Tells whether a candidate that comes later decides about those before it."""
        return self.counts or isinstance(self.nearest, Nearest)

    def may_count(self, pair: Pair) -> bool:
        """Tells whether a pair is one that the picks look at."""
        return self._is_counted(pair) if self.waits else self.condition.holds(pair)

    def choose(self, pairs: Sequence[Pair]) -> Choice:
        """Returns what becomes of a left row's pairs, which stand in their order."""
        candidates = self.candidates(pairs)
        if not candidates and any(map(self._is_counted, pairs)):
            return Choice([], has_too_many=True)
        if len(candidates) > self.limit:
            return Choice(candidates, is_over_limit=True)
        matches = [pair for pair in candidates if self.condition.holds(pair)]
        if isinstance(self.nearest, Nearest):
            return Choice(self.nearest.of(matches))
        return Choice(matches)

    def is_fatal(self, count: int) -> bool:
        """Tells whether so many candidates of one left row end the job."""
        return count > self.limit and self.on_exceed is OnExceed.FAIL

    def candidates(self, pairs: Sequence[Pair]) -> list[Pair]:
        """Returns a left row's candidates: none where they are more than `atmost`."""
        found = [pair for pair in pairs if self._is_counted(pair)]
        return self._of_longest_share(found) if self.optional else self._all(found)

    def _is_counted(self, pair: Pair) -> bool:
        """Tells whether a pair is a candidate: one that shares nothing is none."""
        shares = not self.optional or self._shared(pair) > 0
        return shares and hold(self.counted, pair)

    def _all(self, found: list[Pair]) -> list[Pair]:
        """Returns all candidates, or none where they are too many."""
        return found if len(found) <= self.at_most else []

    def _of_longest_share(self, found: list[Pair]) -> list[Pair]:
        """Returns the candidates that share the most elements, at most so many.

        While there are too many, those that share least go, be it all of them.
        """
        while len(found) > self.at_most:
            least = min(map(self._shared, found))
            found = [pair for pair in found if self._shared(pair) > least]
        return found

    def _shared(self, pair: Pair) -> int:
        """Returns how many elements a pair shares, from the first without a gap."""
        elements = [same for part in self.optional for same in part(pair)]
        return len(list(takewhile(bool, elements)))


def kept(picks: Picks) -> float:
    """Returns how many pairs of a left row come out."""
    if picks.strategy is Strategy.LOOKUP:
        return 1
    return picks.keep.count if isinstance(picks.keep, Keep) else math.inf


def _most(picks: Picks) -> float:
    """Returns how many candidates `atmost` allows; it may count none of them."""
    match picks.at_most:
        case AtMost(counted=(), optional=()):
            return math.inf
        case AtMost(count=count):
            return count
        case _:
            return math.inf


def _limit(picks: Picks) -> tuple[float, OnExceed]:
    """Returns how many candidates `limit` allows, and what happens beyond."""
    if isinstance(picks.limit, Limit):
        return picks.limit.count, picks.limit.on_exceed
    return math.inf, OnExceed.FAIL


def _optional_parts(picks: Picks) -> tuple[OptionalPrefix | OptionalEqual, ...]:
    """Returns the optional equalities of `atmost`."""
    return picks.at_most.optional if isinstance(picks.at_most, AtMost) else ()


def _nearest(picks: Picks, left: Input, right: Input) -> Nearest | Unlimited:
    """Returns the pick by time, where there is one."""
    asof = picks.asof
    return Nearest.of_pick(asof, left, right) if isinstance(asof, AsOf) else asof


def _optional(
    part: OptionalPrefix | OptionalEqual, left: Input, right: Input
) -> Optional:
    """Returns what one optional equality says of a pair, element by element."""
    match part:
        case OptionalEqual(equality=equality):
            terms = terms_of([equal(equality)], left, right)
            return lambda pair: [hold(terms, pair)]
        case OptionalPrefix(width=width):
            one, other = (
                side_scalar(part.left, "l", left),
                side_scalar(part.right, "r", right),
            )
            return lambda pair: _same_letters(
                (one(pair.left.values), other(pair.right.values)), width
            )
        case _:
            assert_never(part)


def _same_letters(texts: tuple[object, object], width: int) -> list[bool]:
    """Returns whether two texts have the same letter at each place; blanks fill up."""
    if None in texts:
        return [False] * width
    padded = [str(text).ljust(width)[:width] for text in texts]
    return [first == second for first, second in zip(*padded, strict=True)]
