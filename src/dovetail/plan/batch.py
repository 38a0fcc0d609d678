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

from dovetail.plan.capability import (
    features_of_join,
    features_of_play,
    features_of_settings,
)
from dovetail.plan.features import Combination, Engine, Feature
from dovetail.plan.together import untimed_changes
from dovetail.spec.inputs import Finish, Input, InputKind, Inputs, Settings
from dovetail.spec.join import (
    HANDS,
    Clock,
    Hand,
    JoinSpec,
    Named,
    Nested,
    SetJoinSpec,
)
from dovetail.spec.picks import Picks
from dovetail.spec.play import Play
from dovetail.spec.spans import Span, parse_span
from dovetail.spec.windows import (
    Between,
    Forever,
    HopUnit,
    Latest,
    Range,
    Rows,
    Window,
)

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
    lacks=frozenset(
        {
            Combination.OTHER_CLOCK_INSIDE,
            Combination.CHANGES_WITHOUT_TIME,
            Combination.OPEN_TABLE,
        }
    ),
)
_USUAL = Settings()
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


def refuse(
    join: JoinSpec | SetJoinSpec, inputs: Inputs, settings: Settings = _USUAL
) -> None:
    """Raises what a batch cannot do of a join of rows that are all there."""
    BATCH.refuse_unsupported(
        features_of_join(join, inputs) | features_of_settings(settings)
    )
    if isinstance(join, JoinSpec):
        BATCH.refuse_together(_other_clocks(join))


def refuse_play(play: Play) -> None:
    """Raises what a batch cannot do of a play: of its join, or of its events."""
    BATCH.refuse_unsupported(features_of_play(play))
    if isinstance(play.join, JoinSpec):
        BATCH.refuse_together(_other_clocks(play.join))
        BATCH.refuse_together(_of_events(play, play.join))


def is_complete(source: Input, play: Play) -> bool:
    """Tells whether nothing that could still come would be met in row time."""
    events = (*play.opening, *play.events)
    ended = {event.input for event in events if isinstance(event, Finish)}
    stays = source.kind is InputKind.DATASET or not source.is_timed
    return stays or source.name in ended


def _of_events(play: Play, join: JoinSpec) -> Iterator[Combination]:
    """Gives a table that may still change, unless its versions tell what is final.

    Before or after which of its changes a row of a join comes, a batch cannot tell.
    """
    sides = [join.side(hand) for hand in HANDS]
    if any(isinstance(side.source, Nested) for side in sides):
        yield from untimed_changes(play, join)
    for side in sides:
        is_known = isinstance(side.window, Latest) and join.picks == Picks()
        if join.clock is not Clock.EVENT or is_known:
            continue
        if isinstance(side.source, Named) and not is_complete(
            play.inputs[side.source.name], play
        ):
            yield Combination.OPEN_TABLE


def _other_clocks(join: JoinSpec) -> Iterator[Combination]:
    """Gives that a join inside counts on a clock of its own."""
    for hand in HANDS:
        match join.side(hand).source:
            case Nested(inner):
                if inner.clock is not join.clock:
                    yield Combination.OTHER_CLOCK_INSIDE
                yield from _other_clocks(inner)
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
