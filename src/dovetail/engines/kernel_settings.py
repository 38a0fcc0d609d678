"""From a join to what the kernels know of it; shared by the engines that run kernels.

The spec's windows have one counterpart each among the kernels' windows. Which clock
they count on is the join's.
"""

from __future__ import annotations

from dataclasses import dataclass

from dovetail.engines.kernel_picks import further_condition, is_told, kernel_picks
from dovetail.expression import Scope, is_constant_true, lower, parse, references
from dovetail.kernels.arrays.rows import NEVER
from dovetail.kernels.lifetimes import windows as kernel
from dovetail.kernels.lifetimes.lengths import Length
from dovetail.kernels.settings import (
    NO_WAIT,
    Arrival,
    JoinSettings,
    Nulls,
    SideSettings,
)
from dovetail.schema import quoted
from dovetail.spec.inputs import (
    EmitLateTableRows,
    IgnoreLateTableRows,
    Input,
    InputKind,
    Inputs,
)
from dovetail.spec.join import HANDS, Clock, Hand, JoinSpec, Named, Side
from dovetail.spec.spans import NO_TIME, SECOND, Span
from dovetail.spec.windows import (
    Between,
    Delta,
    EvictAge,
    EvictCount,
    Eviction,
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
    Window,
)


@dataclass(frozen=True, slots=True)
class Manner:
    """How a join is run, beside what it is.

    `ordered`: results leave in row-time order. `idle`: after how many microseconds
    of silence a side no longer holds the other back; 0: never. `hashed` keys are
    compared once more by value, in so many columns. `live` are the inputs of
    which rows may come or go though they have no row time.
    """

    arrival: Arrival
    ordered: bool = False
    idle: tuple[int, int] = (0, 0)
    key_columns: int = 0
    nulls: Nulls = Nulls.AT_END
    late_tables: IgnoreLateTableRows | EmitLateTableRows = IgnoreLateTableRows()
    live: frozenset[str] = frozenset()


def kernel_settings(join: JoinSpec, inputs: Inputs, manner: Manner) -> JoinSettings:
    """Returns the kernels' settings of a join whose features an engine supports."""
    left, right = (input_of(join, hand, inputs) for hand in HANDS)
    program, columns = _soft(join, left, right)
    sides = [_side(join, hand, (left, right), manner) for hand in HANDS]
    picks = kernel_picks(join, left, right)
    return JoinSettings(
        sides=(sides[0], sides[1]),
        event_clock=join.clock is not Clock.ARRIVAL,
        gives_pairs=join.kind.gives_pairs,
        arrival=manner.arrival,
        # The first of a row's pairs are the first by row time.
        ordered=manner.ordered or (picks.ranks and join.clock is Clock.EVENT),
        soft=program,
        soft_columns=columns,
        key_columns=manner.key_columns,
        self_join=left.name == right.name,
        changelog=is_told(join, (left, right)),
        nulls=manner.nulls,
        waits=_waits(join, (left, right), manner),
        picks=picks,
    )


def _waits(
    join: JoinSpec, sources: tuple[Input, Input], manner: Manner
) -> tuple[int, int]:
    """Returns how long unmatched rows of each side wait for a table's late rows."""
    waits = [NO_WAIT, NO_WAIT]
    for number, hand in enumerate(HANDS):
        kinds = (sources[number].kind, sources[1 - number].kind)
        is_heard = join.kind.preserves(hand) and join.kind.gives_pairs
        is_heard &= join.clock is not Clock.BATCH
        if is_heard and kinds == (InputKind.STREAM, InputKind.TABLE):
            waits[number] = _wait(manner.late_tables)
    return waits[0], waits[1]


def _wait(late_tables: IgnoreLateTableRows | EmitLateTableRows) -> int:
    """Returns how long a row waits for a table's rows."""
    match late_tables:
        case EmitLateTableRows(Span(microseconds=length)):
            return length
        case EmitLateTableRows():
            return NEVER
        case _:
            return NO_WAIT


def input_of(join: JoinSpec, hand: Hand, inputs: Inputs) -> Input:
    """Returns the input of one side."""
    source = join.side(hand).source
    assert isinstance(source, Named)  # noqa: S101 - nested joins have been refused
    return inputs[source.name]


def is_static(join: JoinSpec, hand: Hand, source: Input) -> bool:
    """Tells whether a side's rows are all there from the start, whatever comes."""
    if join.clock is Clock.ARRIVAL:
        return source.kind is InputKind.DATASET
    stays = source.kind is InputKind.DATASET and join.side(hand).window == Forever()
    return stays or (source.kind is not InputKind.STREAM and not source.is_timed)


def _side(
    join: JoinSpec, hand: Hand, sources: tuple[Input, Input], manner: Manner
) -> SideSettings:
    """Returns the settings of one side."""
    number = HANDS.index(hand)
    source, side = sources[number], join.side(hand)
    is_live = source.name in manner.live and not source.is_timed
    static = is_static(join, hand, source) and not is_live
    timed = source.is_timed and not static
    return SideSettings(
        window=_window(join, hand, sources),
        preserved=join.kind.preserves(hand),
        once=join.kind.gives_once(hand),
        timed=timed and join.clock is not Clock.BATCH,
        static=static,
        lateness=length(source.lateness),
        idle=manner.idle[number],
        own_partition=bool(partition_of(side)),
        eviction=_eviction(side.partition_evict),
        untimed=is_live and not isinstance(side.window, Between),
    )


def partition_of(side: Side) -> tuple[str, ...]:
    """Returns the expressions over the own row that part a window, as texts.

    A window of rows without any is one for all rows, whatever their keys.
    """
    match side.window:
        case Latest(key):
            return tuple(quoted(name) for name in key)
        case Rows(0):
            return ()
        case Rows() | RowsPreceding() | Delta():
            return tuple(part.text for part in side.partition_by) or ("0",)
        case Seconds() | Forever():
            return tuple(part.text for part in side.partition_by)
        case _:
            return ()


def key_of(side: Side, source: Input) -> tuple[str, ...]:
    """Returns the expressions over the own row that tell a table's rows apart."""
    names = side.window.key if isinstance(side.window, Latest) else source.key
    return tuple(quoted(name) for name in names)


def _window(join: JoinSpec, hand: Hand, sources: tuple[Input, Input]) -> kernel.Window:
    """Returns the kernels' counterpart of a side's window."""
    match join.side(hand).window:
        case Range() as window if join.clock is Clock.ARRIVAL:
            return _band(window, join.side(hand.other).window, sources)
        case Latest():
            timed = sources[HANDS.index(hand)].is_timed
            return kernel.Version(timed=timed and join.clock is Clock.ARRIVAL)
        case RowsPreceding(first, last):
            return kernel.Preceding(first, last)
        case Inherited():
            return kernel.Inherited()
        case Range() | HopUnit() | HopSize() | Between() as window:
            return _window_of_time(window)
        case window:
            return _window_of_order(window)


def _eviction(eviction: Eviction) -> kernel.Eviction:
    """Returns the kernels' counterpart of an eviction of partitions."""
    match eviction:
        case EvictAge(age):
            return kernel.ByAge(age.microseconds // SECOND)
        case EvictCount(partitions):
            return kernel.ByCount(partitions)
        case EvictTuples(rows):
            return kernel.ByTuples(rows)
        case _:
            return kernel.KeepAll()


def _window_of_time(window: Range | HopUnit | HopSize | Between) -> kernel.Window:
    """Returns the kernels' counterpart of a window that looks at row time."""
    match window:
        case Range(preceding, following):
            return kernel.Fixed(length(preceding), length(following))
        case HopUnit(unit):
            return kernel.Calendar(unit)
        case HopSize(size, every):
            return kernel.Hop(size.microseconds, every.microseconds)
        case Between():
            return kernel.Interval()


def _window_of_order(window: Window) -> kernel.Window:
    """Returns the kernels' counterpart of a window that looks at who comes when."""
    match window:
        case Rows(0):
            return kernel.Point()
        case Rows(count):
            return kernel.Newest(count)
        case Delta():
            return kernel.Delta()
        case Seconds(duration):
            return kernel.Seconds(duration.microseconds)
        case _:
            return kernel.Endless()


def _band(window: Range, other: Window, sources: tuple[Input, Input]) -> kernel.Band:
    """Returns the kernels' counterpart of a range in order of arrival."""
    beyond = other.following if isinstance(other, Range) else NO_TIME
    left, right = (length(source.lateness) for source in sources)
    return kernel.Band(
        length(window.preceding),
        length(window.following),
        length(beyond),
        graces=(left, right),
    )


def length(span: Span) -> Length:
    """Returns a span as the kernels write it."""
    return Length(span.months, span.microseconds)


def _soft(
    join: JoinSpec, left: Input, right: Input
) -> tuple[tuple[object, ...], tuple[tuple[str, str], ...]]:
    """Returns the soft condition as a program with the columns that it reads."""
    condition = further_condition(join)
    typed = parse(condition, Scope.pair(left.schema, right.schema))
    if is_constant_true(typed):
        return (), ()
    return lower(typed), tuple(sorted(references(typed)))
