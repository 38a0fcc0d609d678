"""How a join runs as one batch: what is supported, and how time becomes an equality.

Rows meet where their lives overlap. Without an equality Spark would compare every row
with every other; where both windows are of limited length, time itself gives one:

    buckets      |     0     |     1     |     2     |      of both lengths together
    left             [##)           |                       one copy, where it is born
    right                  [####)   |                       a copy wherever a left row
    copies of right        0  and   1                       that meets it can be born
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from dovetail.errors import UnsupportedError
from dovetail.plan.features import Engine, Feature
from dovetail.spec.inputs import Input, InputKind
from dovetail.spec.join import HANDS, Hand, JoinSpec, Named, Nested
from dovetail.spec.spans import Span, parse_span
from dovetail.spec.windows import Between, Forever, HopUnit, Range, Rows, Window

BATCH = Engine(
    "batch",
    frozenset(Feature)
    - {
        Feature.CLOCK_ARRIVAL,
        Feature.CHANGELOG,
        Feature.WINDOW_ROWS,
        Feature.WINDOW_SECONDS,
        Feature.WINDOW_DELTA,
        Feature.EVICT_AGE,
        Feature.EVICT_COUNT,
        Feature.EVICT_TUPLES,
        Feature.PER_MILLISECOND,
        Feature.EAGER,
        Feature.EAGER_RETRACT,
        Feature.LATE_TABLE_ROWS,
        Feature.OPEN_INPUT,
    },
)
SHORTEST_MONTH, LONGEST_MONTH = (days * 86_400_000_000 for days in (28, 31))


@dataclass(frozen=True, slots=True)
class NoBuckets:
    """Rows are found by their equalities, or each with each."""


@dataclass(frozen=True, slots=True)
class Buckets:
    """The time axis in pieces of `width`; `reach` is the longest life on each hand."""

    left: int
    right: int

    @property
    def width(self) -> int:
        """Returns the length of a bucket, which gives a row at most two copies."""
        return self.left + self.right

    def reach(self, hand: Hand) -> int:
        """Returns the longest life that a row of this hand can have."""
        return self.left if hand is Hand.LEFT else self.right


def refuse(join: JoinSpec) -> None:
    """Raises what several features of a join together are too much for."""
    for missing in missing_together(join):
        raise UnsupportedError.not_yet(BATCH.name, missing)


def missing_together(join: JoinSpec) -> Iterator[str]:
    """Gives what a batch cannot do of a join, though it knows all its parts."""
    for hand in HANDS:
        match join.side(hand).source:
            case Nested(inner):
                if inner.clock is not join.clock:
                    clocks = f"{inner.clock.value} inside one on {join.clock.value}"
                    yield f"a join on the clock {clocks}"
                yield from missing_together(inner)
            case Named():
                pass


def plan_buckets(join: JoinSpec, sides: tuple[Input, Input]) -> Buckets | NoBuckets:
    """Returns the buckets of a join that has no equality, but two limited windows."""
    reaches = [
        _reach(source, join.side(hand).window)
        for hand, source in zip(HANDS, sides, strict=True)
    ]
    if join.hard or 0 in reaches:
        return NoBuckets()
    return Buckets(*reaches)


def lives_in_time(source: Input, window: Window) -> bool:
    """Tells whether rows have lives in row time; else they are simply there."""
    if isinstance(window, Between):
        return True
    stays = source.kind is InputKind.DATASET and window == Forever()
    return source.is_timed and not stays


def _reach(source: Input, window: Window) -> int:
    """Returns the longest life of a row in microseconds, 0 where there is no limit."""
    match window:
        case Range(preceding, following) if source.is_timed:
            return max(1, _most(preceding) + _most(following) + 1)
        case Rows(count=0) if source.is_timed:
            return 1
        case HopUnit(unit) if source.is_timed:
            return _most(parse_span(f"1 {unit}"))
        case _:
            return 0


def _most(span: Span) -> int:
    """Returns the most microseconds that a span can be; a month has 28 to 31 days."""
    months = max(span.months * SHORTEST_MONTH, span.months * LONGEST_MONTH)
    return months + span.microseconds
