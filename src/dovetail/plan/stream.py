"""How a join runs as a stream: what is supported, and into how many buckets it goes.

A bucket holds the keys of one hash. What decides who meets whom must be in one bucket:

    the equality, by itself      l.k = r.k                     rows of one k
    a window's partition         newest 100 for each (k, x)    fits: it is part of a k
                                 newest 100 for each x         does not: all in one
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from dovetail.plan.capability import features_of_play
from dovetail.plan.features import Combination, Engine, Feature
from dovetail.plan.together import missing_together
from dovetail.spec.inputs import Arrival, Order, Settings
from dovetail.spec.join import HANDS, Clock, Hand, JoinSpec, Side
from dovetail.spec.play import Play
from dovetail.spec.references import counting_columns, plain_column, references
from dovetail.spec.windows import Latest, Range, Rows, RowsPreceding

STREAM = Engine(
    "stream",
    frozenset(Feature)
    - {
        Feature.CLOCK_BATCH,
        Feature.SETS,
        Feature.NESTED,
        Feature.CHANGELOG,
        Feature.WINDOW_SECONDS,
        Feature.WINDOW_DELTA,
        Feature.WINDOW_HOP_SIZE,
        Feature.WINDOW_BETWEEN,
        Feature.WINDOW_INHERITED,
        Feature.EVICT_AGE,
        Feature.EVICT_COUNT,
        Feature.EVICT_TUPLES,
        Feature.AT_MOST_OPTIONAL,
        Feature.LIMIT_FAIL,
        Feature.LIMIT_TRANSFORM,
        Feature.LEFT_CONDITION,
        Feature.PER_MILLISECOND,
        Feature.EAGER,
        Feature.EAGER_RETRACT,
        Feature.LATE_TABLE_ROWS,
    },
    lacks=frozenset(
        {
            Combination.NO_STREAM,
            Combination.CHANGES_WITHOUT_TIME,
            Combination.ARRIVAL_RANGE,
            Combination.COUNTER_SELECTED,
        }
    ),
)


@dataclass(frozen=True, slots=True)
class Spread:
    """Whether the rows of a join can be spread over many buckets, and why."""

    is_wide: bool
    reason: str


def spread(join: JoinSpec, settings: Settings) -> Spread:
    """Returns one bucket where rows of different keys must know of each other."""
    if not join.hard:
        return Spread(is_wide=False, reason="one bucket: without an equality all meet")
    if settings.order is Order.ROW_TIME:
        return Spread(is_wide=False, reason="one bucket: all rows leave in one order")
    for hand in HANDS:
        if not _holds_windows(join, hand):
            reason = (
                f"one bucket: the {hand.value} window is not parted by the equality"
            )
            return Spread(is_wide=False, reason=reason)
    return Spread(is_wide=True, reason="many buckets, by the equality")


def _holds_windows(join: JoinSpec, hand: Hand) -> bool:
    """Tells whether a bucket has all rows on which the life of one depends."""
    partition = _partition(join.side(hand))
    if partition is None:
        return True
    return {
        one.column.lower()
        for equal in join.hard
        for text in (equal.left, equal.right)
        for one in references(text)
        if one.hand is hand
    } <= {name.lower() for name in partition}


def _partition(side: Side) -> tuple[str, ...] | None:
    """Returns the plain columns that part a window of rows or versions."""
    match side.window:
        case Latest(key):
            return key
        case Rows(0):
            return None
        case Rows() | RowsPreceding():
            return tuple(plain_column(part) for part in side.partition_by)
        case _:
            return None


def refuse(play: Play, arrival: Arrival = Arrival.SEQUENCE) -> JoinSpec:
    """Returns the join of a play, or raises what a stream cannot do of it yet.

    The events of a play are one sequence; rows of a user's streams may be merged.
    """
    STREAM.refuse_unsupported(features_of_play(play))
    join = play.join
    assert isinstance(join, JoinSpec)  # noqa: S101 - sets are no feature of streams
    STREAM.refuse_together(_missing(play, join, arrival))
    return join


def _missing(play: Play, join: JoinSpec, arrival: Arrival) -> Iterator[Combination]:
    """Gives what only several features together make impossible.

    A range is over once any row has come that is later. In a sequence that may be one
    of another bucket; where rows meet by row time, whoever comes later is later.
    """
    windows = [join.side(hand).window for hand in HANDS]
    has_range = any(isinstance(one, Range) for one in windows)
    if has_range and join.clock is Clock.ARRIVAL and arrival is not Arrival.MERGED:
        yield Combination.ARRIVAL_RANGE
    if any(counting_columns(join)):
        yield Combination.COUNTER_SELECTED
    yield from missing_together(play, join)
