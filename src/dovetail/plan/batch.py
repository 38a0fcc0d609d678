"""How a join runs as one batch: what is supported, and how time becomes an equality.

Rows meet where their lives overlap. Without an equality Spark would compare every row
with every other; where both windows are of limited length, time itself gives one:

    buckets      |     0     |     1     |     2     |      of both lengths together
    left             [##)           |                       one copy, where it is born
    right                  [####)   |                       a copy wherever a left row
    copies of right        0  and   1                       that meets it can be born

An `asof` that is no single sort of both sides says what it compares:

    l.k = r.k, r.valid               one sort of both sides
    l.k = r.k, l.size < r.size       each left row with all right rows of its key
    l.size < r.size                  each left row with every right row
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from dovetail import spec
from dovetail.expression import Scope, conjuncts, parse, references
from dovetail.plan.capability import (
    ORDERED,
    features_of_join,
    features_of_play,
    features_of_settings,
)
from dovetail.plan.features import Combination, Engine, Feature
from dovetail.plan.sides import changing, untimed_changes

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
_USUAL = spec.Settings()
_OF_KEY = "all right rows of its key"
_EVERY = "every right row; an equality in the join leaves those of its key"
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

    def reach(self, hand: spec.Hand) -> int:
        """Returns the longest life that a row of this hand can have."""
        return self.left if hand is spec.Hand.LEFT else self.right


@dataclass(frozen=True, slots=True)
class BatchPlan:
    """How rows that are all there are joined; what it refuses is not in it."""

    join: spec.JoinSpec | spec.SetJoinSpec
    inputs: spec.Inputs
    settings: spec.Settings

    @property
    def is_ordered(self) -> bool:
        """Tells whether rows are promised in the order of the left ones."""
        match self.join:
            case spec.JoinSpec(clock=spec.Clock.BATCH, picks=picks):
                return picks.strategy in ORDERED
            case _:
                return False

    @property
    def cost(self) -> str:
        """Returns in words what costs much, or nothing where it need not."""
        match self.join:
            case spec.JoinSpec() as join:
                return compared(join, self.inputs)
            case _:
                return ""


def plan_batch(
    join: spec.JoinSpec | spec.SetJoinSpec,
    inputs: spec.Inputs,
    settings: spec.Settings = _USUAL,
) -> BatchPlan:
    """Returns the plan of a join of rows that are all there, or refuses the join."""
    BATCH.refuse_unsupported(
        features_of_join(join, inputs) | features_of_settings(settings)
    )
    if isinstance(join, spec.JoinSpec):
        BATCH.refuse_together(_other_clocks(join))
    return BatchPlan(join, inputs, settings)


def plan_play(play: spec.Play) -> BatchPlan:
    """Returns the plan of a play, or refuses its join or its events."""
    BATCH.refuse_unsupported(features_of_play(play))
    plan = plan_batch(play.join, play.inputs, play.settings)
    if isinstance(play.join, spec.JoinSpec):
        BATCH.refuse_together(_of_events(play, play.join))
    return plan


def is_complete(source: spec.Input, play: spec.Play) -> bool:
    """Tells whether nothing that could still come would be met in row time."""
    events = (*play.opening, *play.events)
    ended = {event.input for event in events if isinstance(event, spec.Finish)}
    stays = source.kind is spec.InputKind.DATASET or not source.is_timed
    return stays or source.name in ended


def _of_events(play: spec.Play, join: spec.JoinSpec) -> Iterator[Combination]:
    """Gives a table that may still change, unless its versions tell what is final.

    Before or after which of its changes a row of a join comes, a batch cannot tell.
    """
    sides = [join.side(hand) for hand in spec.HANDS]
    if any(isinstance(side.source, spec.Nested) for side in sides):
        yield from untimed_changes(join, play.inputs, changing(play))
    for side in sides:
        is_known = isinstance(side.window, spec.Latest) and join.picks == spec.Picks()
        if join.clock is not spec.Clock.EVENT or is_known:
            continue
        if isinstance(side.source, spec.Named) and not is_complete(
            play.inputs[side.source.name], play
        ):
            yield Combination.OPEN_TABLE


def _other_clocks(join: spec.JoinSpec) -> Iterator[Combination]:
    """Gives that a join inside counts on a clock of its own."""
    for hand in spec.HANDS:
        match join.side(hand).source:
            case spec.Nested(inner):
                if inner.clock is not join.clock:
                    yield Combination.OTHER_CLOCK_INSIDE
                yield from _other_clocks(inner)
            case spec.Named():
                pass


def plan_buckets(
    join: spec.JoinSpec, sides: tuple[spec.Input, spec.Input]
) -> Buckets | NoBuckets:
    """Returns the buckets of a join that has no equality, but two limited windows."""
    reaches = [
        _reach(source, join.side(hand).window)
        for hand, source in zip(spec.HANDS, sides, strict=True)
    ]
    if join.hard or 0 in reaches:
        return NoBuckets()
    return Buckets(*reaches)


def lives_in_time(source: spec.Input, window: spec.Window) -> bool:
    """Tells whether rows have lives in row time; else they are simply there."""
    if isinstance(window, spec.Between):
        return True
    stays = source.kind is spec.InputKind.DATASET and window == spec.Forever()
    return source.is_timed and not stays


def _reach(source: spec.Input, window: spec.Window) -> int:
    """Returns the longest life of a row in microseconds, 0 where there is no limit."""
    match window:
        case spec.Range(preceding, following) if source.is_timed:
            return max(1, _most(preceding) + _most(following) + 1)
        case spec.Rows(count=0) if source.is_timed:
            return 1
        case spec.HopUnit(unit) if source.is_timed:
            return _most(spec.parse_span(f"1 {unit}"))
        case _:
            return 0


def _most(span: spec.Span) -> int:
    """Returns the most microseconds that a span can be; a month has 28 to 31 days."""
    months = max(span.months * SHORTEST_MONTH, span.months * LONGEST_MONTH)
    return months + span.microseconds


def compared(join: spec.JoinSpec, inputs: spec.Inputs) -> str:
    """Returns which rows an `asof` compares one by one, or nothing where it need not.

    It need not where each term of the condition looks at one side alone.
    """
    if not isinstance(join.picks.asof, spec.AsOf) or not _looks_across(join, inputs):
        return ""
    rows = _OF_KEY if join.hard else _EVERY
    return (
        "; the condition looks at both rows of a pair, so the nearest is found by "
        f"comparing each left row with {rows}"
    )


def _looks_across(join: spec.JoinSpec, inputs: spec.Inputs) -> bool:
    """Tells whether a term looks at both rows, as far as their columns are known."""
    sources = [join.side(hand).source for hand in spec.HANDS]
    schemas = [
        inputs[one.name].schema for one in sources if isinstance(one, spec.Named)
    ]
    if len(schemas) < len(sources):
        return False
    terms = conjuncts(parse(join.soft, Scope.pair(*schemas)))
    return any(len({side for side, _ in references(one)}) > 1 for one in terms)
