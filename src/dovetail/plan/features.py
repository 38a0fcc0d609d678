"""What is refused: the features a join can use, those it uses, and what an engine has.

Every engine has one set of the features that it supports, and one of the combinations
that it lacks though it has each feature; what is lacking is refused by name before
anything runs, so that no engine ever gives a wrong answer. Most features are one node
of the spec or one word of an enum: those stand in a table. The few that depend on a
number, or on several nodes together, are found below it.

`tests/plan/test_refused.py` compares what engines say they lack with what they refuse,
over all cases.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import Enum

from dovetail import spec
from dovetail.errors import UnsupportedError
from dovetail.expression import ALWAYS, NEVER


class Feature(Enum):
    """Something notable that a join uses; the value is its name in a refusal."""

    CLOCK_ARRIVAL = "the clock arrival"
    CLOCK_EVENT = "the clock event"
    CLOCK_BATCH = "the clock batch"
    SETS = "a join of several sets"
    NESTED = "a join of a join's rows"
    SELF_JOIN = "a join of an input with itself"
    CHANGELOG = "a changelog of two tables"
    NO_EQUALITY = "a join without an equality"

    KIND_INNER = "the kind inner"
    KIND_LEFT_OUTER = "the kind left_outer"
    KIND_RIGHT_OUTER = "the kind right_outer"
    KIND_FULL_OUTER = "the kind full_outer"
    KIND_LEFT_ONLY = "the kind left_only"
    KIND_RIGHT_ONLY = "the kind right_only"
    KIND_FULL_ONLY = "the kind full_only"
    KIND_LEFT_SEMI = "the kind left_semi"
    KIND_RIGHT_SEMI = "the kind right_semi"
    KIND_CROSS = "the kind cross"

    WINDOW_ROWS = "the window rows"
    WINDOW_NO_ROWS = "a side that is never stored"
    WINDOW_SECONDS = "the window seconds"
    WINDOW_DELTA = "the window delta"
    WINDOW_RANGE = "the window range"
    RANGE_NEGATIVE = "a range that leaves its own row out"
    RANGE_MONTHS = "a range of months"
    WINDOW_ROWS_PRECEDING = "the window rows_preceding"
    WINDOW_HOP_UNIT = "the window hop to a unit"
    WINDOW_HOP_SIZE = "the window hop of a size"
    WINDOW_BETWEEN = "the window between"
    WINDOW_LATEST = "the window latest"
    WINDOW_INHERITED = "the window inherited"
    WINDOW_FOREVER = "the window forever"
    PARTITION_BY = "a window per partition"
    EVICT_AGE = "eviction of partitions by age"
    EVICT_COUNT = "eviction of partitions by count"
    EVICT_TUPLES = "eviction of partitions by tuples"

    KEEP = "keep"
    AT_MOST = "atmost"
    AT_MOST_OPTIONAL = "atmost with optional equalities"
    LIMIT_SKIP = "a limit that skips"
    LIMIT_FAIL = "a limit that fails"
    LIMIT_TRANSFORM = "a limit with a transform"
    ASOF_BACKWARD = "asof backward"
    ASOF_FORWARD = "asof forward"
    ASOF_NEAREST = "asof nearest"
    LOOKUP = "the strategy lookup"
    ORDERED_STRATEGY = "a strategy that keeps the order of the left rows"
    LEFT_CONDITION = "left_condition"
    SKIP_WHEN = "skip_when"

    TWO_PORTS = "two ports"
    THREE_PORTS = "three ports"
    BLANK_ROW = "a blank row for an absent side"
    GIVEN_ROW = "a given row for an absent side"
    ALL_COLUMNS = "a select of all columns"

    PER_MILLISECOND = "outer rows per millisecond"
    EAGER = "eager outer rows"
    EAGER_RETRACT = "eager outer rows that are taken back"
    LATE_TABLE_ROWS = "rows for table rows that come late"
    LATE_NULL_ROWS = "null rows of late rows"
    ROW_TIME_ORDER = "output in the order of row time"

    DELETES = "a delete in a table"
    BOUNDS = "an explicit bound"
    PAUSES = "time without rows"
    OPEN_INPUT = "an input that does not end"


class Combination(Enum):
    """Features that an engine has one by one but not together, by their name."""

    OTHER_CLOCK_INSIDE = "a join inside one on another clock"
    SWITCH_INSIDE = "a switch in a join of a join"
    CHANGELOG_INSIDE = "a join of the changelog of two tables"
    NO_STREAM = "a join without a stream on a clock that moves"
    CHANGES_WITHOUT_TIME = "a table without a time that changes on the clock event"
    OPEN_TABLE = "a table that does not end"
    EVICTED_VERSIONS = "eviction of partitions of versions or ranges"
    JUDGED_INHERITED = "atmost, limit or asof of an inherited life that others may end"
    JUDGED_STRETCHES = "outer_rows per_millisecond beside atmost, limit or asof"
    JUDGED_CHANGES = (
        "asof or optional equalities of a table without a time that changes"
    )
    LATE_STRETCHES = "late_table_rows emit beside outer_rows per_millisecond"
    LATE_ENDED = (
        "late_table_rows emit of a stream whose rows others end, beside a table "
        "without a time"
    )
    LATE_JUDGED = "late_table_rows emit of right rows beside atmost, limit or asof"
    LATE_KEPT = "late_table_rows emit of right rows beside keep or lookup, and counter"
    LATE_SKIPPED = "late_table_rows emit of right rows beside counter in skip_when"


MOST_JOINS = 16
"""So many joins may stand in one query; one whose rows go several ways is several."""


class FlowLimit(Enum):
    """What a stream lacks of a program of several operators, by its name."""

    COPIES = f"a stream for which joins are run more than {MOST_JOINS} times"
    MERGED = "streams in the order of a time that run together, or go several ways"
    NO_ORDER = (
        "a stream without a number that runs together with others, goes several ways, "
        "or of which an operator keeps rows"
    )
    ENDS = (
        "the end of a stream that a window of time or an operator hears, in front of "
        "several joins, or together with others"
    )

    def refused(self) -> UnsupportedError:
        """Returns the refusal."""
        hint = "give its rows as an input of that name, from a query of their own"
        if self in (FlowLimit.MERGED, FlowLimit.NO_ORDER):
            hint = (
                "dt.stream(.., sequence=..) gives all streams of the text one order, "
                "order=.. without a time each its own"
            )
        return UnsupportedError.not_yet("stream", self.value, hint=hint)


# What a user can do instead, where it is known.
_HINTS = {
    Combination.JUDGED_INHERITED: (
        "use keep, or give the rows of the inner join a range of their own"
    ),
    Combination.JUDGED_STRETCHES: (
        'use keep, or outer_rows "expiry": one null row, at the end'
    ),
}


@dataclass(frozen=True, slots=True)
class Engine:
    """An engine's name, the features that it has, and what it lacks together."""

    name: str
    supported: frozenset[Feature]
    lacks: frozenset[Combination] = frozenset()

    def refuse_unsupported(self, used: frozenset[Feature]) -> None:
        """Raises an UnsupportedError that names every feature the engine lacks."""
        lacking = used - self.supported
        # In the order of the enum, so that a refusal reads the same in every run.
        names = [feature.value for feature in Feature if feature in lacking]
        if names:
            raise UnsupportedError.not_yet(self.name, *names)

    def refuse_together(self, found: Iterable[Combination]) -> None:
        """Raises an UnsupportedError for the first combination that is found."""
        for one in found:
            hint = _HINTS.get(one, "")
            raise UnsupportedError.not_yet(self.name, one.value, hint=hint)


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


def features_of_play(play: spec.Play) -> frozenset[Feature]:
    """Returns everything notable that a play uses: its join, its switches, its events.

    The join has its defaults filled in: a window that was not written names nothing.
    """
    events = (*play.opening, *play.events)
    found = {
        *features_of_join(play.join, play.inputs),
        *features_of_settings(play.settings),
        *_named(*events),
    }
    join = play.join
    # Sets, and the other clocks, count what has come, whether more does or not.
    if isinstance(join, spec.JoinSpec) and join.clock is spec.Clock.EVENT:
        # Rows of a stream still to come could change the result.
        ended = {event.input for event in events if isinstance(event, spec.Finish)}
        names = set(spec.source_names(join)) - ended
        if any(play.inputs[name].kind is spec.InputKind.STREAM for name in names):
            found.add(Feature.OPEN_INPUT)
    return frozenset(found)


def features_of_join(
    join: spec.JoinSpec | spec.SetJoinSpec, inputs: spec.Inputs
) -> frozenset[Feature]:
    """Returns everything notable about a join, the joins inside it included."""
    # All sets are joined in one way: there is nothing more to be told apart.
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
    found = {*_named(settings.outer_rows, settings.late_table_rows, settings.order)}
    if settings.late_null_rows:
        found.add(Feature.LATE_NULL_ROWS)
    return frozenset(found)


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
    # Both are asked of two inputs only, not of the rows of a join inside.
    match [join.side(hand).source for hand in spec.HANDS]:
        case [spec.Named(left), spec.Named(right)]:
            if inputs[left] is inputs[right]:
                yield Feature.SELF_JOIN
            kinds = {inputs[name].kind for name in (left, right)}
            # A batch of two tables tells no changes: its rows are all there at once.
            if kinds == {spec.InputKind.TABLE} and join.clock is not spec.Clock.BATCH:
                yield Feature.CHANGELOG
        case _:
            pass


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
        case spec.Range(preceding, following):
            # Half of a range may lie behind the other: then the row is not in its own.
            ends = (preceding, following)
            if any(end.is_negative for end in ends):
                yield Feature.RANGE_NEGATIVE
            if not all(end.is_exact for end in ends):
                yield Feature.RANGE_MONTHS
        case _:
            pass


def _of_picks(picks: spec.Picks) -> Iterator[Feature]:
    """Gives the picks that do not let every pair through."""
    yield from _named(picks.keep)
    if isinstance(picks.at_most, spec.AtMost):
        has_optional = bool(picks.at_most.optional)
        yield Feature.AT_MOST_OPTIONAL if has_optional else Feature.AT_MOST
    if isinstance(picks.limit, spec.Limit):
        yield from _named(picks.limit.on_exceed)
    if isinstance(picks.asof, spec.AsOf):
        yield from _named(picks.asof.direction)
    if picks.strategy is spec.Strategy.LOOKUP:
        yield Feature.LOOKUP
    if picks.strategy.keeps_order:
        yield Feature.ORDERED_STRATEGY
    if picks.left_condition != ALWAYS:
        yield Feature.LEFT_CONDITION
    if picks.skip_when != NEVER:
        yield Feature.SKIP_WHEN


def changing(play: spec.Play) -> frozenset[str]:
    """Returns the inputs of which rows come or go after the start."""
    return frozenset(
        event.input
        for event in (*play.opening, *play.events)
        if isinstance(event, spec.Arrive | spec.Remove)
    )


def untimed_changes(
    join: spec.JoinSpec, inputs: spec.Inputs, moving: frozenset[str]
) -> Iterator[Combination]:
    """Gives a table without a time that changes where others have one."""
    sources = [spec.known_input(join.side(hand).source, inputs) for hand in spec.HANDS]
    untimed = {source.name for source in sources if not source.is_timed}
    if join.clock is spec.Clock.EVENT and untimed & moving:
        yield Combination.CHANGES_WITHOUT_TIME


def has_stream(join: spec.JoinSpec, inputs: spec.Inputs) -> bool:
    """Tells whether rows of a side keep coming."""
    return spec.InputKind.STREAM in spec.kinds_of(join, inputs)
