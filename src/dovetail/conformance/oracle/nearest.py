"""The pick `asof`: of the right rows that fit a left row, the one nearest in time.

    left            10:00
    right  9:57 9:58     10:01      backward takes 9:58, forward and nearest 10:01

Times may be numbers. A null or a number without an end (NaN, infinity) is near to
nothing.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from fractions import Fraction

from dovetail.conformance.oracle.life import Moment
from dovetail.conformance.oracle.matching import Pair
from dovetail.conformance.oracle.scalars import Scalar, side_scalar
from dovetail.schema import to_microseconds
from dovetail.spec.inputs import Input
from dovetail.spec.picks import AsOf, Direction, Tie
from dovetail.spec.references import Reference, plain_reference
from dovetail.spec.spans import SECOND, Span

Time = Fraction  # microseconds since 1970, or a number
DAY = 86_400 * SECOND
EPOCH = date(1970, 1, 1)


@dataclass(frozen=True, slots=True)
class Nearest:
    """How the time of each side is told, and which right time is the best."""

    pick: AsOf
    left: Scalar
    right: Scalar
    is_row_time: bool

    @classmethod
    def of_pick(cls, pick: AsOf, left: Input, right: Input) -> Nearest:
        """Returns the pick with its expressions as functions."""
        return cls(
            pick,
            side_scalar(pick.left, "l", left),
            side_scalar(pick.right, "r", right),
            _is_row_time(pick, right),
        )

    def of(self, pairs: Sequence[Pair]) -> list[Pair]:
        """Returns the pair of the best right row, of pairs of one left row in order."""
        best: list[tuple[Time, Pair]] = []
        for pair in pairs:
            base, time = self._times(pair)
            if base is None or time is None or not self._fits(base, time):
                continue
            if all(self._beats(base, time, known) for known, _ in best):
                best = [(time, pair)]
        return [pair for _, pair in best]

    def can_be_better(self, left: object, best: object, bound: Moment) -> bool:
        """Tells whether a right row to come, from the bound on, can be better.

        Only the times around the left one and the bound can be the best of those. Of
        times that are no row times nobody knows how near one may come.
        """
        base, known = measure(left), measure(best)
        if base is None:
            return False
        if not self.is_row_time:
            return known != base or self.pick.tie is Tie.LAST
        edges = {base - 1, base, base + 1}
        if math.isfinite(bound):
            edges.add(Fraction(bound))
        coming = [time for time in edges if time >= bound and self._fits(base, time)]
        return any(known is None or self._beats(base, time, known) for time in coming)

    def _beats(self, base: Time, time: Time, known: Time) -> bool:
        """Tells whether a later row of this time takes the place of a known one.

        At equal distance the earlier time is better; at the same time the tie decides.
        """
        if time == known:
            return self.pick.tie is Tie.LAST
        return (abs(time - base), time) < (abs(known - base), known)

    def _fits(self, base: Time, time: Time) -> bool:
        """Tells whether a right time lies in the direction, within the tolerance."""
        match self.pick.direction:
            case Direction.BACKWARD if time > base:
                return False
            case Direction.FORWARD if time < base:
                return False
            case _:
                is_allowed = time != base or self.pick.exact
                return is_allowed and self._is_near(base, time)

    def _is_near(self, base: Time, time: Time) -> bool:
        """Tells whether a time is within the tolerance; months by the calendar."""
        match self.pick.tolerance:
            case Decimal() as number:
                return abs(time - base) <= Fraction(number)
            case Span() as span:
                least, most = (one.after(int(base)) for one in (span.negated(), span))
                return least <= time <= most
            case _:
                return True

    def _times(self, pair: Pair) -> tuple[Time | None, Time | None]:
        """Returns the time of each row."""
        return (
            measure(self.left(pair.left.values)),
            measure(self.right(pair.right.values)),
        )


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


def _is_row_time(pick: AsOf, right: Input) -> bool:
    """Tells whether the right time is the row time, of which bounds tell."""
    match plain_reference(pick.right):
        case Reference(column=column):
            return column.lower() == right.time.lower()
        case _:
            return False
