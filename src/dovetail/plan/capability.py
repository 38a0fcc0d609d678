"""What a join asks of an engine: the features that it uses.

Most features are one node of the spec or one word of an enum: those stand in a table.
The few that depend on a number, or on several nodes together, are functions.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import Enum

from dovetail.expression import ALWAYS, NEVER
from dovetail.plan.features import Feature
from dovetail.spec.inputs import (
    Bound,
    EmitLateTableRows,
    Finish,
    Input,
    InputKind,
    Inputs,
    Order,
    OuterRows,
    Pause,
    Remove,
    Settings,
)
from dovetail.spec.join import (
    HANDS,
    AllColumns,
    BlankRow,
    Clock,
    GivenRow,
    JoinSpec,
    Kind,
    Named,
    Nested,
    SetJoinSpec,
    Side,
)
from dovetail.spec.picks import (
    AtMost,
    Direction,
    Keep,
    Limit,
    OnExceed,
    Picks,
    Strategy,
    Unlimited,
)
from dovetail.spec.play import Play
from dovetail.spec.sources import source_names
from dovetail.spec.windows import (
    Between,
    Delta,
    EvictAge,
    EvictCount,
    EvictTuples,
    Forever,
    HopSize,
    HopUnit,
    Inherited,
    Latest,
    Range,
    Rows,
    RowsPreceding,
    Seconds,
)

# What is not in the table is the plain case, which every engine supports.
_NAMED: Mapping[Enum | type, Feature] = {
    **{kind: Feature(f"the kind {kind.value}") for kind in Kind},
    **{clock: Feature(f"the clock {clock.value}") for clock in Clock},
    Seconds: Feature.WINDOW_SECONDS,
    Delta: Feature.WINDOW_DELTA,
    Range: Feature.WINDOW_RANGE,
    RowsPreceding: Feature.WINDOW_ROWS_PRECEDING,
    HopUnit: Feature.WINDOW_HOP_UNIT,
    HopSize: Feature.WINDOW_HOP_SIZE,
    Between: Feature.WINDOW_BETWEEN,
    Latest: Feature.WINDOW_LATEST,
    Inherited: Feature.WINDOW_INHERITED,
    Forever: Feature.WINDOW_FOREVER,
    EvictAge: Feature.EVICT_AGE,
    EvictCount: Feature.EVICT_COUNT,
    EvictTuples: Feature.EVICT_TUPLES,
    AllColumns: Feature.ALL_COLUMNS,
    BlankRow: Feature.BLANK_ROW,
    GivenRow: Feature.GIVEN_ROW,
    Keep: Feature.KEEP,
    OnExceed.SKIP: Feature.LIMIT_SKIP,
    OnExceed.FAIL: Feature.LIMIT_FAIL,
    OnExceed.TRANSFORM: Feature.LIMIT_TRANSFORM,
    Direction.BACKWARD: Feature.ASOF_BACKWARD,
    Direction.FORWARD: Feature.ASOF_FORWARD,
    Direction.NEAREST: Feature.ASOF_NEAREST,
    OuterRows.PER_MILLISECOND: Feature.PER_MILLISECOND,
    OuterRows.EAGER: Feature.EAGER,
    OuterRows.EAGER_RETRACT: Feature.EAGER_RETRACT,
    EmitLateTableRows: Feature.LATE_TABLE_ROWS,
    Order.ROW_TIME: Feature.ROW_TIME_ORDER,
    Remove: Feature.DELETES,
    Bound: Feature.BOUNDS,
    Pause: Feature.PAUSES,
}
_PORTS = {2: Feature.TWO_PORTS, 3: Feature.THREE_PORTS}
ORDERED = {Strategy.LOOKUP, Strategy.MANY_LOOKUP, Strategy.ALL, Strategy.KEYED}


def features_of_play(play: Play) -> frozenset[Feature]:
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
    join: JoinSpec | SetJoinSpec, inputs: Inputs
) -> frozenset[Feature]:
    """Returns everything notable about a join, the joins inside it included."""
    if isinstance(join, SetJoinSpec):
        return frozenset({Feature.SETS})
    absent = (join.absent(hand) for hand in HANDS)
    sides = (feature for hand in HANDS for feature in _of_side(join.side(hand), inputs))
    return frozenset(
        {
            *_named(join.clock, join.kind, join.select, *absent),
            *_of_shape(join, inputs),
            *_of_picks(join.picks),
            *sides,
        }
    )


def features_of_settings(settings: Settings) -> frozenset[Feature]:
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


def _of_shape(join: JoinSpec, inputs: Inputs) -> Iterator[Feature]:
    """Gives the ports, and what the two sides are together."""
    if join.ports in _PORTS:
        yield _PORTS[join.ports]
    if not join.hard:
        yield Feature.NO_EQUALITY
    match [join.side(hand).source for hand in HANDS]:
        case [Named(left), Named(right)]:
            yield from _of_pair(join.clock, inputs[left], inputs[right])
        case _:
            pass


def _of_pair(clock: Clock, left: Input, right: Input) -> Iterator[Feature]:
    """Gives the self-join and the changelog; a batch of two tables has no changelog."""
    if left is right:
        yield Feature.SELF_JOIN
    if left.kind is right.kind is InputKind.TABLE and clock is not Clock.BATCH:
        yield Feature.CHANGELOG


def _of_side(side: Side, inputs: Inputs) -> Iterator[Feature]:
    """Gives the window, its partitions, and the join that the side's rows are from."""
    yield from _named(side.window, side.partition_evict)
    if side.partition_by:
        yield Feature.PARTITION_BY
    if isinstance(side.source, Nested):
        yield Feature.NESTED
        yield from features_of_join(side.source.join, inputs)
    match side.window:
        case Rows(count):
            yield Feature.WINDOW_ROWS if count else Feature.WINDOW_NO_ROWS
        case Range() as window:
            yield from _of_range(window)
        case _:
            pass


def _of_range(window: Range) -> Iterator[Feature]:
    """Gives what is special about a range: a negative end, an end in months."""
    ends = (window.preceding, window.following)
    if any(end.months < 0 or end.microseconds < 0 for end in ends):
        yield Feature.RANGE_NEGATIVE
    if not all(end.is_exact for end in ends):
        yield Feature.RANGE_MONTHS


def _of_picks(picks: Picks) -> Iterator[Feature]:
    """Gives the picks that do not let every pair through."""
    yield from _named(picks.keep)
    match picks.at_most:
        case AtMost(optional=optional):
            yield Feature.AT_MOST_OPTIONAL if optional else Feature.AT_MOST
        case Unlimited():
            pass
    if isinstance(picks.limit, Limit):
        yield from _named(picks.limit.on_exceed)
    if not isinstance(picks.asof, Unlimited):
        yield from _named(picks.asof.direction)
    yield from _of_words(picks)


def _of_words(picks: Picks) -> Iterator[Feature]:
    """Gives the strategies that matter and the two conditions outside the match."""
    if picks.strategy is Strategy.LOOKUP:
        yield Feature.LOOKUP
    if picks.strategy in ORDERED:
        yield Feature.ORDERED_STRATEGY
    if picks.left_condition != ALWAYS:
        yield Feature.LEFT_CONDITION
    if picks.skip_when != NEVER:
        yield Feature.SKIP_WHEN


def _open_inputs(play: Play) -> Iterator[Feature]:
    """Gives OPEN_INPUT where rows of a stream still to come could change the result."""
    if isinstance(play.join, SetJoinSpec) or play.join.clock is not Clock.EVENT:
        return
    events = (*play.opening, *play.events)
    ended = {event.input for event in events if isinstance(event, Finish)}
    for name in set(source_names(play.join)) - ended:
        if play.inputs[name].kind is InputKind.STREAM:
            yield Feature.OPEN_INPUT
