"""Picks: which of a left row's candidates count.

Candidates are the right rows that pass the equalities that count. `atmost` and `limit`
number them before anything else is asked of them. `asof` takes, of the right rows that
fit, the one nearest in time:

    left            10:00
    right  9:57 9:58     10:01      backward takes 9:58, forward and nearest 10:01

Its times may be numbers. A null or a number without an end (NaN, infinity) is near to
nothing.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from fractions import Fraction
from itertools import takewhile
from typing import Self, assert_never

from dovetail import spec
from dovetail.conformance.oracle import sides
from dovetail.expression import Expression
from dovetail.schema import to_microseconds

Optional = Callable[
    [sides.Pair], list[bool]
]  # whether a pair shares an element, one by one


@dataclass(frozen=True, slots=True)
class Choice:
    """The matches of a left row, in their order.

    Over its limit it has no match that comes out; then all its candidates stand here,
    for they have matched. One that `has_too_many` has no match for that alone.
    """

    matches: list[sides.Pair]
    is_over_limit: bool = False
    has_too_many: bool = False


@dataclass(frozen=True, slots=True)
class Picker:
    """Picks among the candidates of a left row."""

    keep: float
    at_most: float
    limit: float
    on_exceed: spec.OnExceed
    counted: sides.Terms
    optional: tuple[Optional, ...]
    nearest: Nearest | spec.Unlimited
    condition: sides.Terms

    @classmethod
    def of(cls, join: spec.JoinSpec, left: spec.Input, right: spec.Input) -> Self:
        """Returns the picker of a join; what is not limited has an infinite limit."""
        picks = join.picks
        # A lookup keeps the first match, as `keep 1` does.
        keep, at_most, limit = picks.most_kept or math.inf, math.inf, math.inf
        optional, on_exceed = picks.optional, spec.OnExceed.FAIL
        # Without an equality it counts no candidate, so none is too many.
        if isinstance(picks.at_most, spec.AtMost) and picks.at_most.counts:
            at_most = picks.at_most.count
        if isinstance(picks.limit, spec.Limit):
            limit, on_exceed = picks.limit.count, picks.limit.on_exceed
        own = picks.left_condition
        return cls(
            keep,
            at_most,
            limit,
            on_exceed,
            sides.terms_of((own, *map(sides.equal, join.counted)), left, right),
            tuple(_optional(part, left, right) for part in optional),
            Nearest.of_join(join, left, right),
            sides.terms_of((own, *map(sides.equal, join.hard), join.soft), left, right),
        )

    @property
    def counts(self) -> bool:
        """Tells whether the number of candidates decides what comes out."""
        return any(map(math.isfinite, (self.at_most, self.limit)))

    @property
    def waits(self) -> bool:
        """Tells whether a candidate that comes later decides about those before it."""
        return self.counts or isinstance(self.nearest, Nearest)

    def may_count(self, pair: sides.Pair) -> bool:
        """Tells whether a pair is one that the picks look at."""
        return (
            self._is_counted(pair) if self.waits else sides.hold(self.condition, pair)
        )

    def choose(self, pairs: Sequence[sides.Pair]) -> Choice:
        """Returns what becomes of a left row's pairs, which stand in their order."""
        candidates = self.candidates(pairs)
        # There were candidates, and `atmost` has left none: that is no match, not an
        # empty key.
        if not candidates and any(map(self._is_counted, pairs)):
            return Choice([], has_too_many=True)
        if len(candidates) > self.limit:
            return Choice(candidates, is_over_limit=True)
        # What `soft` asks besides comes only now: it does not count.
        matches = [pair for pair in candidates if sides.hold(self.condition, pair)]
        if isinstance(self.nearest, Nearest):
            return Choice(self.nearest.of(matches))
        return Choice(matches)

    def candidates(self, pairs: Sequence[sides.Pair]) -> list[sides.Pair]:
        """Returns a left row's candidates: none where they are more than `atmost`.

        With optional equalities those that share the most elements, at most so many.
        """
        found = [pair for pair in pairs if self._is_counted(pair)]
        # While there are too many, those that share least go, be it all of them: as it
        # is without optional equalities, where all share nothing.
        while len(found) > self.at_most:
            least = min(map(self._shared, found))
            found = [pair for pair in found if self._shared(pair) > least]
        return found

    def _is_counted(self, pair: sides.Pair) -> bool:
        """Tells whether a pair is a candidate: one that shares nothing is none."""
        shares = not self.optional or self._shared(pair) > 0
        return shares and sides.hold(self.counted, pair)

    def _shared(self, pair: sides.Pair) -> int:
        """Returns how many elements a pair shares, from the first without a gap."""
        elements = [same for part in self.optional for same in part(pair)]
        return len(list(takewhile(bool, elements)))


def _optional(
    part: spec.OptionalPrefix | spec.OptionalEqual, left: spec.Input, right: spec.Input
) -> Optional:
    """Returns what one optional equality says of a pair, element by element."""
    match part:
        case spec.OptionalEqual(equality=equality):
            terms = sides.terms_of([sides.equal(equality)], left, right)
            return lambda pair: [sides.hold(terms, pair)]
        case spec.OptionalPrefix(width=width):
            one = sides.side_scalar(part.left, "l", left)
            other = sides.side_scalar(part.right, "r", right)

            def same_letters(pair: sides.Pair) -> list[bool]:
                texts = one(pair.left.values), other(pair.right.values)
                if None in texts:
                    return [False] * width
                # Blanks fill up, so that a short text is the same as one with blanks.
                padded = [str(text).ljust(width)[:width] for text in texts]
                return [first == second for first, second in zip(*padded, strict=True)]

            return same_letters
        case _:
            assert_never(part)


Time = Fraction  # microseconds since 1970, or a number
DAY = 86_400 * spec.SECOND
EPOCH = date(1970, 1, 1)


def _is_column(expression: Expression, name: str) -> bool:
    """Tells whether an expression is a column and nothing else."""
    match spec.plain_reference(expression):
        case spec.Reference(column=column):
            return column.lower() == name.lower()
        case _:
            return False


@dataclass(frozen=True, slots=True)
class Nearest:
    """How the time of each side is told, and which right time is the best.

    Bounds tell what may still come of row times, of other times they do not. `keys` are
    what a right row needs to equal any left one.
    """

    pick: spec.AsOf
    left: sides.Scalar
    right: sides.Scalar
    keys: tuple[sides.Scalar, ...]
    is_row_time: bool
    is_left_row_time: bool

    @classmethod
    def of_join(
        cls, join: spec.JoinSpec, left: spec.Input, right: spec.Input
    ) -> Nearest | spec.Unlimited:
        """Returns the pick of a join, its expressions as functions, if it has one."""
        pick = join.picks.asof
        if not isinstance(pick, spec.AsOf):
            return pick
        return cls(
            pick,
            sides.side_scalar(pick.left, "l", left),
            sides.side_scalar(pick.right, "r", right),
            tuple(sides.side_scalar(one.right, "r", right) for one in join.hard),
            _is_column(pick.right, right.time),
            _is_column(pick.left, left.time),
        )

    def of(self, pairs: Sequence[sides.Pair]) -> list[sides.Pair]:
        """Returns the pair of the best right row, of pairs of one left row in order."""
        best: list[tuple[Time, sides.Pair]] = []
        for pair in pairs:
            base = measure(self.left(pair.left.values))
            time = measure(self.right(pair.right.values))
            if base is None or time is None or not self._fits(base, time):
                continue
            # At most one is the best by now, and the next must beat it.
            if all(self._beats(base, time, known) for known, _ in best):
                best = [(time, pair)]
        return [pair for _, pair in best]

    def can_be_better(self, left: object, best: object, bound: sides.Moment) -> bool:
        """Tells whether a right row to come, from the bound on, can be better.

        Only the times around the left one and the bound can be the best of those. Of
        times that are no row times nobody knows how near one may come.
        """
        base, known = measure(left), measure(best)
        if base is None:
            return False
        if not self.is_row_time:
            return known != base or self.pick.tie is spec.Tie.LAST
        # Row times are whole microseconds: none is nearer than its neighbours.
        edges = {base - 1, base, base + 1}
        if math.isfinite(bound):
            edges.add(Fraction(bound))
        coming = [time for time in edges if time >= bound and self._fits(base, time)]
        return any(known is None or self._beats(base, time, known) for time in coming)

    def can_be_taken(self, right: sides.Plain, bound: sides.Moment) -> bool:
        """Tells whether a left row to come, from the bound on, may take a right one."""
        time = measure(self.right(right))
        if time is None or any(key(right) is None for key in self.keys):
            return False
        if not (self.is_row_time and self.is_left_row_time):
            return True
        edges = {time - 1, time, time + 1}
        if math.isfinite(bound):
            edges.add(Fraction(bound))
        return any(base >= bound and self._fits(base, time) for base in edges)

    def _beats(self, base: Time, time: Time, known: Time) -> bool:
        """Tells whether a later row of this time takes the place of a known one.

        At equal distance the earlier time is better; at the same time the tie decides.
        """
        if time == known:
            return self.pick.tie is spec.Tie.LAST
        return (abs(time - base), time) < (abs(known - base), known)

    def _fits(self, base: Time, time: Time) -> bool:
        """Tells whether a right time lies in the direction, within the tolerance."""
        match self.pick.direction:
            case spec.Direction.BACKWARD if time > base:
                return False
            case spec.Direction.FORWARD if time < base:
                return False
            case _ if time == base and not self.pick.exact:
                return False
        match self.pick.tolerance:
            case Decimal() as number:
                return abs(time - base) <= Fraction(number)
            case spec.Span() as span:  # months by the calendar, which has no distance
                least, most = (one.after(int(base)) for one in (span.negated(), span))
                return least <= time <= most
            case _:
                return True


def measure(value: object) -> Time | None:
    """Returns a time or a number as an exact number; nothing where it is neither."""
    match value:
        case datetime():
            return Fraction(to_microseconds(value))
        case date():
            return Fraction((value - EPOCH).days * DAY)
        case int() | float() | Decimal() if math.isfinite(value):
            return Fraction(value)
        case _:
            return None
