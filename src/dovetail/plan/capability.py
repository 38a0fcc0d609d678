"""What a join asks of an engine: the features that it uses.

Most features are one node of the spec or one word of an enum: those stand in a table.
The few that depend on a number, or on several nodes together, are functions.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import Enum

from dovetail import spec
from dovetail.expression import ALWAYS, NEVER
from dovetail.plan.features import Feature

# What is not in the table is the plain case, which every engine supports.
_NAMED: Mapping[Enum | type, Feature] = {
    **{kind: Feature(f"the kind {kind.value}") for kind in spec.Kind},
    **{clock: Feature(f"the clock {clock.value}") for clock in spec.Clock},
    spec.Seconds: Feature.WINDOW_SECONDS,
    spec.Delta: Feature.WINDOW_DELTA,
    spec.Range: Feature.WINDOW_RANGE,
    spec.RowsPreceding: Feature.WINDOW_ROWS_PRECEDING,
    spec.HopUnit: Feature.WINDOW_HOP_UNIT,
    spec.HopSize: Feature.WINDOW_HOP_SIZE,
    spec.Between: Feature.WINDOW_BETWEEN,
    spec.Latest: Feature.WINDOW_LATEST,
    spec.Inherited: Feature.WINDOW_INHERITED,
    spec.Forever: Feature.WINDOW_FOREVER,
    spec.EvictAge: Feature.EVICT_AGE,
    spec.EvictCount: Feature.EVICT_COUNT,
    spec.EvictTuples: Feature.EVICT_TUPLES,
    spec.AllColumns: Feature.ALL_COLUMNS,
    spec.BlankRow: Feature.BLANK_ROW,
    spec.GivenRow: Feature.GIVEN_ROW,
    spec.Keep: Feature.KEEP,
    spec.OnExceed.SKIP: Feature.LIMIT_SKIP,
    spec.OnExceed.FAIL: Feature.LIMIT_FAIL,
    spec.OnExceed.TRANSFORM: Feature.LIMIT_TRANSFORM,
    spec.Direction.BACKWARD: Feature.ASOF_BACKWARD,
    spec.Direction.FORWARD: Feature.ASOF_FORWARD,
    spec.Direction.NEAREST: Feature.ASOF_NEAREST,
    spec.OuterRows.PER_MILLISECOND: Feature.PER_MILLISECOND,
    spec.OuterRows.EAGER: Feature.EAGER,
    spec.OuterRows.EAGER_RETRACT: Feature.EAGER_RETRACT,
    spec.EmitLateTableRows: Feature.LATE_TABLE_ROWS,
    spec.Order.ROW_TIME: Feature.ROW_TIME_ORDER,
    spec.Remove: Feature.DELETES,
    spec.Bound: Feature.BOUNDS,
    spec.Pause: Feature.PAUSES,
}
_PORTS = {2: Feature.TWO_PORTS, 3: Feature.THREE_PORTS}
ORDERED = {
    spec.Strategy.LOOKUP,
    spec.Strategy.MANY_LOOKUP,
    spec.Strategy.ALL,
    spec.Strategy.KEYED,
}


def features_of_play(play: spec.Play) -> frozenset[Feature]:
    """Returns everything notable that a play uses: its join, its switches, its events.

    The join has its defaults filled in: a window that was not written names nothing.
    """
    return frozenset(
        {
            *features_of_join(play.join, play.inputs),
            *features_of_settings(play.settings),
            *_named(*play.opening, *play.events),
            *_open_inputs(play),
        }
    )


def features_of_join(
    join: spec.JoinSpec | spec.SetJoinSpec, inputs: spec.Inputs
) -> frozenset[Feature]:
    """Returns everything notable about a join, the joins inside it included."""
    if isinstance(join, spec.SetJoinSpec):
        return frozenset({Feature.SETS})
    absent = (join.absent(hand) for hand in spec.HANDS)
    sides = (
        feature for hand in spec.HANDS for feature in _of_side(join.side(hand), inputs)
    )
    return frozenset(
        {
            *_named(join.clock, join.kind, join.select, *absent),
            *_of_shape(join, inputs),
            *_of_picks(join.picks),
            *sides,
        }
    )


def features_of_settings(settings: spec.Settings) -> frozenset[Feature]:
    """Returns the switches that are not at their defaults."""
    return frozenset(
        _named(settings.outer_rows, settings.late_table_rows, settings.order)
    )


def _named(*nodes: object) -> Iterator[Feature]:
    """Gives the features of nodes that stand in the table."""
    for node in nodes:
        name = node if isinstance(node, Enum) else type(node)
        if name in _NAMED:
            yield _NAMED[name]


def _of_shape(join: spec.JoinSpec, inputs: spec.Inputs) -> Iterator[Feature]:
    """Gives the ports, and what the two sides are together."""
    if join.ports in _PORTS:
        yield _PORTS[join.ports]
    if not join.hard:
        yield Feature.NO_EQUALITY
    match [join.side(hand).source for hand in spec.HANDS]:
        case [spec.Named(left), spec.Named(right)]:
            yield from _of_pair(join.clock, inputs[left], inputs[right])
        case _:
            pass


def _of_pair(
    clock: spec.Clock, left: spec.Input, right: spec.Input
) -> Iterator[Feature]:
    """Gives the self-join and the changelog; a batch of two tables has no changelog."""
    if left is right:
        yield Feature.SELF_JOIN
    if (
        left.kind is right.kind is spec.InputKind.TABLE
        and clock is not spec.Clock.BATCH
    ):
        yield Feature.CHANGELOG


def _of_side(side: spec.Side, inputs: spec.Inputs) -> Iterator[Feature]:
    """Gives the window, its partitions, and the join that the side's rows are from."""
    yield from _named(side.window, side.partition_evict)
    if side.partition_by:
        yield Feature.PARTITION_BY
    if isinstance(side.source, spec.Nested):
        yield Feature.NESTED
        yield from features_of_join(side.source.join, inputs)
    match side.window:
        case spec.Rows(count):
            yield Feature.WINDOW_ROWS if count else Feature.WINDOW_NO_ROWS
        case spec.Range() as window:
            yield from _of_range(window)
        case _:
            pass


def _of_range(window: spec.Range) -> Iterator[Feature]:
    """Gives what is special about a range: a negative end, an end in months."""
    ends = (window.preceding, window.following)
    if any(end.months < 0 or end.microseconds < 0 for end in ends):
        yield Feature.RANGE_NEGATIVE
    if not all(end.is_exact for end in ends):
        yield Feature.RANGE_MONTHS


def _of_picks(picks: spec.Picks) -> Iterator[Feature]:
    """Gives the picks that do not let every pair through."""
    yield from _named(picks.keep)
    match picks.at_most:
        case spec.AtMost(optional=optional):
            yield Feature.AT_MOST_OPTIONAL if optional else Feature.AT_MOST
        case spec.Unlimited():
            pass
    if isinstance(picks.limit, spec.Limit):
        yield from _named(picks.limit.on_exceed)
    if not isinstance(picks.asof, spec.Unlimited):
        yield from _named(picks.asof.direction)
    yield from _of_words(picks)


def _of_words(picks: spec.Picks) -> Iterator[Feature]:
    """Gives the strategies that matter and the two conditions outside the match."""
    if picks.strategy is spec.Strategy.LOOKUP:
        yield Feature.LOOKUP
    if picks.strategy in ORDERED:
        yield Feature.ORDERED_STRATEGY
    if picks.left_condition != ALWAYS:
        yield Feature.LEFT_CONDITION
    if picks.skip_when != NEVER:
        yield Feature.SKIP_WHEN


def _open_inputs(play: spec.Play) -> Iterator[Feature]:
    """Gives OPEN_INPUT where rows of a stream still to come could change the result."""
    if (
        isinstance(play.join, spec.SetJoinSpec)
        or play.join.clock is not spec.Clock.EVENT
    ):
        return
    events = (*play.opening, *play.events)
    ended = {event.input for event in events if isinstance(event, spec.Finish)}
    for name in set(spec.source_names(play.join)) - ended:
        if play.inputs[name].kind is spec.InputKind.STREAM:
            yield Feature.OPEN_INPUT
