"""From a join to what the kernels know of it; shared by engines that run kernels."""

from __future__ import annotations

from dataclasses import dataclass

from dovetail import spec
from dovetail.engines.kernel_picks import is_told, kernel_picks
from dovetail.expression import Scope, is_constant_true, lower, parse, references
from dovetail.kernels.settings import Closing, JoinSettings, SideSettings
from dovetail.plan.sides import (
    further_condition,
    input_of,
    is_static,
    partition_of,
)
from dovetail.plan.stream import StreamPlan
from dovetail.schema import quoted


@dataclass(frozen=True, slots=True)
class Manner:
    """How a join is run, beside what it is.

    `ordered`: results leave in row-time order. `idle`: after how many microseconds
    of silence a side no longer holds the other back; 0: never. `hashed` keys are
    compared once more by value, in so many columns. `live` are the inputs of
    which rows may come or go though they have no row time.
    """

    arrival: spec.Arrival
    ordered: bool = False
    idle: tuple[int, int] = (0, 0)
    key_columns: int = 0
    outer_rows: spec.OuterRows = spec.OuterRows.EXPIRY
    late_tables: spec.IgnoreLateTableRows | spec.EmitLateTableRows = (
        spec.IgnoreLateTableRows()
    )
    live: frozenset[str] = frozenset()


def stream_settings(plan: StreamPlan, *, ordered: bool = False) -> JoinSettings:
    """Returns the kernels' settings of a plan, or raises what they cannot read of it.

    Expressions are read last: whoever explains, starts or plays a plan asks here too.
    """
    manner = stream_manner(plan, ordered=ordered)
    return kernel_settings(plan.join, plan.inputs, manner)


def stream_manner(plan: StreamPlan, *, ordered: bool = False) -> Manner:
    """Returns how a plan is run, beside the join that it is of."""
    left, right = plan.sides
    return Manner(
        plan.arrival,
        ordered=ordered,
        idle=(left.idle.microseconds, right.idle.microseconds),
        key_columns=len(left.keys.compared),
    )


def kernel_settings(
    join: spec.JoinSpec, inputs: spec.Inputs, manner: Manner
) -> JoinSettings:
    """Returns the kernels' settings of a join whose features an engine supports."""
    left, right = (input_of(join, hand, inputs) for hand in spec.HANDS)
    program, columns = _soft(join, left, right)
    sides = [_side(join, hand, (left, right), manner) for hand in spec.HANDS]
    picks = kernel_picks(join, left, right)
    return JoinSettings(
        sides=(sides[0], sides[1]),
        event_clock=join.clock is not spec.Clock.ARRIVAL,
        gives_pairs=join.kind.gives_pairs,
        arrival=manner.arrival,
        # The first of a row's pairs are the first by row time.
        ordered=manner.ordered or (picks.ranks and join.clock is spec.Clock.EVENT),
        soft=program,
        soft_columns=columns,
        key_columns=manner.key_columns,
        self_join=left.name == right.name,
        changelog=is_told(join, (left, right)),
        outer_rows=manner.outer_rows,
        picks=picks,
    )


def _late_tables(
    join: spec.JoinSpec,
    hand: spec.Hand,
    sources: tuple[spec.Input, spec.Input],
    manner: Manner,
) -> spec.IgnoreLateTableRows | spec.EmitLateTableRows:
    """Returns whether unmatched rows of a side wait for a table's late rows.

    Only rows of a stream do, whose null rows and pairs both come out.
    """
    number = spec.HANDS.index(hand)
    kinds = (sources[number].kind, sources[1 - number].kind)
    is_heard = join.kind.preserves(hand) and join.kind.gives_pairs
    is_heard &= join.clock is not spec.Clock.BATCH
    if is_heard and kinds == (spec.InputKind.STREAM, spec.InputKind.TABLE):
        return manner.late_tables
    return spec.IgnoreLateTableRows()


def _side(
    join: spec.JoinSpec,
    hand: spec.Hand,
    sources: tuple[spec.Input, spec.Input],
    manner: Manner,
) -> SideSettings:
    """Returns the settings of one side."""
    number = spec.HANDS.index(hand)
    source, side = sources[number], join.side(hand)
    is_live = source.name in manner.live and not source.is_timed
    static = is_static(join, hand, source) and not is_live
    timed = source.is_timed and not static
    is_aged = isinstance(side.window, spec.Latest)
    return SideSettings(
        window=side.window,
        preserved=join.kind.preserves(hand),
        once=join.kind.gives_once(hand),
        timed=timed and join.clock is not spec.Clock.BATCH,
        static=static,
        lateness=source.lateness,
        idle=manner.idle[number],
        own_partition=bool(partition_of(side)),
        eviction=side.partition_evict,
        untimed=is_live and not side.window.interval,
        closing=_closing(join, hand),
        late_tables=_late_tables(join, hand, sources, manner),
        aged=is_aged and source.is_timed and join.clock is spec.Clock.ARRIVAL,
    )


def key_of(side: spec.Side, source: spec.Input) -> tuple[str, ...]:
    """Returns the expressions over the own row that tell a table's rows apart."""
    names = side.window.key if isinstance(side.window, spec.Latest) else source.key
    return tuple(quoted(name) for name in names)


def _closing(join: spec.JoinSpec, hand: spec.Hand) -> Closing:
    """Returns which time closes a side's window; on the other clocks rows' own does."""
    match join.side(hand).window:
        case spec.Seconds():
            return Closing.CLOCK
        case spec.Range() if join.clock is spec.Clock.ARRIVAL:
            return Closing.ROW_TIME
        case _:
            return Closing.NONE


def _soft(
    join: spec.JoinSpec, left: spec.Input, right: spec.Input
) -> tuple[tuple[object, ...], tuple[tuple[str, str], ...]]:
    """Returns the soft condition as a program with the columns that it reads."""
    condition = further_condition(join)
    typed = parse(condition, Scope.pair(left.schema, right.schema))
    if is_constant_true(typed):
        return (), ()
    return lower(typed), tuple(sorted(references(typed)))
