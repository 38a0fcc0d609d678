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

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from dovetail import spec
from dovetail.errors import DovetailError
from dovetail.expression import Scope, conjuncts, parse, references
from dovetail.plan import features
from dovetail.spec.facts import is_timed

BATCH = features.Engine(
    "batch",
    frozenset(features.Feature)
    - {
        features.Feature.CLOCK_ARRIVAL,
        features.Feature.CHANGELOG,
        features.Feature.WINDOW_ROWS,
        features.Feature.WINDOW_SECONDS,
        features.Feature.WINDOW_DELTA,
        features.Feature.EVICT_AGE,
        features.Feature.EVICT_COUNT,
        features.Feature.EVICT_TUPLES,
        features.Feature.PER_MILLISECOND,
        features.Feature.EAGER,
        features.Feature.EAGER_RETRACT,
        features.Feature.LATE_TABLE_ROWS,
        features.Feature.OPEN_INPUT,
    },
    lacks=frozenset(
        {
            features.Combination.OTHER_CLOCK_INSIDE,
            features.Combination.CHANGES_WITHOUT_TIME,
            features.Combination.OPEN_TABLE,
        }
    ),
)
_USUAL = spec.Settings()
_OF_KEY = "all right rows of its key"
# How long a month is shows only when it is laid on a date.
SHORTEST_MONTH, LONGEST_MONTH = (days * 86_400_000_000 for days in (28, 31))
_EVERY = "every right row; an equality in the join leaves those of its key"


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
    """How rows that are all there are joined; what it refuses is not in it.

    `buckets` find rows where no equality does. Where it `compares`, a term of the
    condition looks at both rows of a pair, so that no sort of both sides finds the
    nearest. `inside` are the plans of the joins whose rows a side has.
    """

    join: spec.JoinSpec
    inputs: spec.Inputs
    settings: spec.Settings
    buckets: Buckets | NoBuckets
    compares: bool
    inside: Mapping[spec.Hand, BatchPlan]

    @property
    def is_ordered(self) -> bool:
        """Tells whether rows are promised in the order of the left ones."""
        is_batch = self.join.clock is spec.Clock.BATCH
        return is_batch and self.join.picks.strategy.keeps_order

    @property
    def cost(self) -> str:
        """Returns in words what costs much, or nothing where it need not."""
        if not self.compares:
            return ""
        rows = _OF_KEY if self.join.hard else _EVERY
        return (
            "; the condition looks at both rows of a pair, so the nearest is found by "
            f"comparing each left row with {rows}"
        )


@dataclass(frozen=True, slots=True)
class SetsPlan:
    """How several sets of rows are joined: there is one way."""

    join: spec.SetJoinSpec
    inputs: spec.Inputs
    cost = ""


AnyPlan = BatchPlan | SetsPlan


def plan_batch(
    join: spec.JoinSpec | spec.SetJoinSpec,
    inputs: spec.Inputs,
    settings: spec.Settings = _USUAL,
) -> AnyPlan:
    """Returns the plan of a join of rows that are all there, or refuses the join."""
    BATCH.refuse_unsupported(
        features.features_of_join(join, inputs)
        | features.features_of_settings(settings)
    )
    if isinstance(join, spec.SetJoinSpec):
        return SetsPlan(join, inputs)
    BATCH.refuse_together(_other_clocks(join))
    return _planned(join, inputs, settings)


def _planned(
    join: spec.JoinSpec, inputs: spec.Inputs, settings: spec.Settings
) -> BatchPlan:
    """Returns the plan of a join, and in it those of the joins inside."""
    inside = {
        hand: _planned(source.join, inputs, settings)
        for hand in spec.HANDS
        if isinstance(source := join.side(hand).source, spec.Nested)
    }
    compares = _compares(join, inputs)
    reaches = [
        _reach(side.window, is_timed=is_timed(side.source, inputs))
        for side in (join.left, join.right)
    ]
    # Spark joins by an equality well enough; an endless life is in every bucket.
    buckets = NoBuckets() if join.hard or 0 in reaches else Buckets(*reaches)
    return BatchPlan(join, inputs, settings, buckets, compares, inside)


def plan_play(play: spec.Play) -> AnyPlan:
    """Returns the plan of a play, or refuses its join or its events."""
    BATCH.refuse_unsupported(features.features_of_play(play))
    plan = plan_batch(play.join, play.inputs, play.settings)
    # What a batch refuses of events a user cannot write: his tables do not change.
    if isinstance(play.join, spec.JoinSpec):
        BATCH.refuse_together(_of_events(play, play.join))
    return plan


def is_complete(source: spec.Input, play: spec.Play) -> bool:
    """Tells whether nothing that could still come would be met in row time."""
    events = (*play.opening, *play.events)
    ended = {event.input for event in events if isinstance(event, spec.Finish)}
    stays = source.kind is spec.InputKind.DATASET or not source.is_timed
    return stays or source.name in ended


def _of_events(play: spec.Play, join: spec.JoinSpec) -> Iterator[features.Combination]:
    """Gives a table that may still change, unless its versions tell what is final.

    Before or after which of its changes a row of a join comes, a batch cannot tell.
    """
    sides = [join.side(hand) for hand in spec.HANDS]
    if any(isinstance(side.source, spec.Nested) for side in sides):
        yield from features.untimed_changes(join, play.inputs, features.changing(play))
    for side in sides:
        # Which version a row meets is known, whatever still comes.
        is_known = isinstance(side.window, spec.Latest) and join.picks == spec.Picks()
        if join.clock is not spec.Clock.EVENT or is_known:
            continue
        if isinstance(side.source, spec.Named) and not is_complete(
            play.inputs[side.source.name], play
        ):
            yield features.Combination.OPEN_TABLE


def _other_clocks(join: spec.JoinSpec) -> Iterator[features.Combination]:
    """Gives that a join inside counts on a clock of its own."""
    for hand in spec.HANDS:
        match join.side(hand).source:
            case spec.Nested(inner):
                if inner.clock is not join.clock:
                    yield features.Combination.OTHER_CLOCK_INSIDE
                yield from _other_clocks(inner)
            case spec.Named():
                pass


def lives_in_time(source: spec.Input, window: spec.Window) -> bool:
    """Tells whether rows have lives in row time; else they are simply there."""
    if window.interval:
        return True
    # A data set for ever is there before any time that its rows may name.
    stays = source.kind is spec.InputKind.DATASET and window == spec.Forever()
    return source.is_timed and not stays


def _reach(window: spec.Window, *, is_timed: bool) -> int:
    """Returns the longest life of a row in microseconds, 0 where there is no limit."""
    match window:
        case spec.Range(preceding, following) if is_timed:
            # Both ends belong to the life, so it is a microsecond longer.
            return max(1, _most(preceding) + _most(following) + 1)
        case spec.Rows(count=0) if is_timed:
            return 1
        case spec.HopUnit() if is_timed:
            return _most(window.length)
        case _:
            return 0


def _most(span: spec.Span) -> int:
    """Returns the most microseconds that a span can be; a month has 28 to 31 days."""
    # Of negative months it is the shortest that ends last.
    months = max(span.months * SHORTEST_MONTH, span.months * LONGEST_MONTH)
    return months + span.microseconds


def _compares(join: spec.JoinSpec, inputs: spec.Inputs) -> bool:
    """Tells whether an `asof` looks at both rows of a pair beside their times.

    It need not where each term of the condition looks at one side alone.
    """
    if not join.picks.looks_nearest:
        return False
    try:
        schemas = spec.side_schemas(join, inputs).values()
    except DovetailError:
        # Columns that a join inside computes as only Spark knows: comparing is safe.
        return True
    # A term of one side sorts rows out before any are compared.
    terms = conjuncts(parse(join.soft, Scope.pair(*schemas)))
    return any(len({side for side, _ in references(one)}) > 1 for one in terms)
