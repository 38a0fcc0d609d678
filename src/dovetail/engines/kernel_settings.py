"""From a join to what the kernels know of it; shared by engines that run kernels.

Expressions become programs here, each with the columns that it reads, so that whoever
explains or starts a join finds out whether the kernels can read all of them. Which
equalities make a candidate is decided here too: those that `atmost` counts. The others
are further conditions, tested after the candidates have been counted.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import ROUND_FLOOR, Decimal
from typing import assert_never

from dovetail import schema, spec
from dovetail.errors import UnsupportedError
from dovetail.expression import (
    ALWAYS,
    BARE,
    NEVER,
    Expression,
    Scope,
    is_constant_true,
    lower,
    parse,
    references,
)
from dovetail.kernels import settings as known
from dovetail.kernels.keeping.memory import Memory
from dovetail.kernels.keeping.queues import Queues
from dovetail.kernels.keeping.windows import Windows
from dovetail.plan import sets as several
from dovetail.plan import sides
from dovetail.plan.keys import key_types
from dovetail.plan.stream import StreamPlan
from dovetail.spec import facts

_WHOLE: Mapping[schema.Type, int] = {
    schema.AtomicType.TINYINT: 3,
    schema.AtomicType.SMALLINT: 5,
    schema.AtomicType.INT: 10,
}
_MOST_DIGITS = 18  # of a number of 8 bytes, whatever its digits are
KERNELS = "kernels"  # what refuses, as errors name it
Inputs = tuple[spec.Input, spec.Input]
Values = Mapping[tuple[str, str], object]


@dataclass(frozen=True, slots=True)
class Manner:
    """What a run adds to a join: settings that are not part of the join itself.

    `ordered`: results leave in row-time order, or say where they stand in order of
    arrival. `idle`: after how many microseconds
    of silence a side no longer holds the other back; 0: never. `hashed` keys are
    compared once more by value, in so many columns. `live` are the inputs of
    which rows may come or go though they have no row time. Of the sides `told` another
    operator tells when rows end. Its rows' lives may be `inherited` by a join around;
    those that sides inherit wait for so many bounds: `holds`. Both sides may be the
    rows of a join of several `sets`. Late rows of preserved streams may give their null
    rows too. Of rows of one number on both sides `by_turns` says which is first,
    and the number of the `step` which of its program's joins lets rows out first.
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
    told: tuple[spec.Hand, ...] = ()
    inherited: bool = False
    holds: tuple[int, int] = (0, 0)
    sets: tuple[spec.SetJoinSpec, ...] = ()
    late_null_rows: bool = False
    by_turns: bool = False
    step: int = 0


def stream_settings(plan: StreamPlan, *, ordered: bool = False) -> known.JoinSettings:
    """Returns the kernels' settings of a plan, or raises what they cannot read of it.

    Expressions are read last: whoever explains, starts or plays a plan asks here too,
    and so asks of the joins inside it.
    """
    # The joins inside are refused first: they are what the one around stands on.
    for one in plan.every_inside:
        stream_settings(one)
    manner = stream_manner(plan, ordered=ordered)
    left, right = (side.source for side in plan.sides)
    return keyed_settings(plan.join, (left, right), manner)


def keyed_settings(
    join: spec.JoinSpec, sources: Inputs, manner: Manner
) -> known.JoinSettings:
    """Returns the kernels' settings of a join whose rows come with their keys."""
    settings = kernel_settings(join, {one.name: one for one in sources}, manner)
    types = key_types(join, dict(zip(spec.HANDS, sources, strict=True)))
    return replace(settings, key_type=str(types[0]) if len(types) == 1 else "")


def reads_all(outer: StreamPlan, plan: StreamPlan) -> str:
    """Returns why a batch reads all that a plan keeps, which is in an outer one.

    How far a join inside has come the one around it must be told.
    """
    return stream_settings(plan, ordered=plan is not outer).reads_all


def stream_manner(plan: StreamPlan, *, ordered: bool = False) -> Manner:
    """Returns how a plan is run, beside the join that it is of."""
    left, right = plan.sides
    asks_order = plan.settings.order is spec.Order.ROW_TIME
    match plan.join.clock:
        case spec.Clock.BATCH:
            ordered = asks_order
        case spec.Clock.EVENT:
            ordered = ordered or asks_order
        case _:
            pass
    # How many bounds lives wait for that sides inherit from the joins inside.
    of_left, of_right = (
        stream_settings(plan.inside[hand], ordered=True).holds
        if hand in plan.inside and plan.inside[hand].inherited
        else 0
        for hand in spec.HANDS
    )
    return Manner(
        plan.arrival,
        ordered=ordered,
        idle=(left.idle.microseconds, right.idle.microseconds),
        key_columns=len(left.keys.compared),
        outer_rows=plan.settings.outer_rows,
        late_tables=plan.settings.late_table_rows,
        live=plan.live,
        told=plan.spread.told,
        inherited=plan.inherited,
        holds=(of_left, of_right),
        sets=plan.sets,
        late_null_rows=plan.settings.late_null_rows,
        by_turns=left.feed.by_turns,
        step=plan.onward.step,
    )


def kernel_settings(
    join: spec.JoinSpec, inputs: spec.Inputs, manner: Manner
) -> known.JoinSettings:
    """Returns the kernels' settings of a join whose features an engine supports."""
    left, right = (sides.input_of(join, hand, inputs) for hand in spec.HANDS)
    sources, scope = (left, right), Scope.pair(left.schema, right.schema)
    condition = parse(sides.further_condition(join), scope)
    soft: known.Program = ()
    columns: tuple[tuple[str, str], ...] = ()
    if not is_constant_true(condition):  # else kernels need not run it
        soft, columns = lower(condition), tuple(sorted(references(condition)))
    picks = _picks(join, sources, scope)
    return known.JoinSettings(
        sides=(
            _side(join, spec.Hand.LEFT, sources, manner),
            _side(join, spec.Hand.RIGHT, sources, manner),
        ),
        event_clock=join.clock is not spec.Clock.ARRIVAL,
        gives_pairs=join.kind.gives_pairs,
        arrival=manner.arrival,
        # Pairs that are numbered as they come out do so by row time.
        ordered=join.clock is not spec.Clock.ARRIVAL
        and (manner.ordered or (picks.by_turn and join.clock is spec.Clock.EVENT)),
        soft=soft,
        soft_columns=columns,
        key_columns=manner.key_columns,
        self_join=left.name == right.name,
        changelog=_is_told(join, sources),
        caused=manner.ordered and join.clock is spec.Clock.ARRIVAL,
        by_turns=manner.by_turns,
        step=manner.step,
        inherited=manner.inherited,
        gathers=join.clock is spec.Clock.BATCH,
        sets=tuple(_of_sets(one, left.schema) for one in manner.sets),
        outer_rows=manner.outer_rows,
        picks=picks,
    )


def _of_sets(join: spec.SetJoinSpec, columns: schema.Schema) -> known.SetSettings:
    """Returns the kernels' settings of a join of several sets."""
    shown = several.shown_of(columns)
    scope, kind = several.scope_of(shown), join.kind
    blank = facts.absent_row(spec.BlankRow(), shown).items()
    alone = {("r", name): value for name, value in blank}

    def seen(text: Expression) -> known.SeenFormula:
        return known.SeenFormula(_formula(text, scope), _formula(text, scope, alone))

    def unless(plain: Expression, text: Expression) -> tuple[known.SeenFormula, ...]:
        return () if text == plain else (seen(text),)

    fits = () if join.pair_condition == ALWAYS else (join.pair_condition,)
    # Sorted by is what comes out, and what does not is the first row's.
    output = {name.lower(): text for name, text in join.select.columns}
    own = {name.lower(): Expression(f"l.{schema.quoted(name)}") for name in shown.names}
    return known.SetSettings(
        count=len(join.sets),
        columns=shown.names,
        bounds=(join.least, join.most),
        gives_whole=kind is not spec.SetKind.LEFT_ONLY,
        gives_alone=kind in (spec.SetKind.LEFT_ONLY, spec.SetKind.LEFT_OUTER),
        fits=tuple(_formula(text, Scope.pair(shown, shown)) for text in fits),
        holds=unless(ALWAYS, join.rows_condition),
        skips=unless(NEVER, join.skip_when),
        order=tuple(seen((own | output)[name.lower()]) for name in join.ordered_by),
    )


def firing_settings(step: spec.Keeping) -> Windows | Queues | Memory:
    """Returns what the kernel knows of an operator that keeps rows and is no join."""
    match step:
        case spec.Windowed(window=window, gives=gives, by=by, drops=drops):
            return Windows(window, gives, by, drops, step.fires_dropped)
        case spec.Aligned(port=port, parts=parts, by=by):
            return Queues(port, parts, by)
        case spec.Recognized(column=column, by=by, within=within):
            return Memory(column, by, within, step.renews, step.forgets)


def in_row_time(settings: Windows | Queues | Memory) -> Windows:
    """Returns an operator whose clock is row time: nobody looks at marks there."""
    assert isinstance(settings, Windows)  # noqa: S101 - queues have no clock
    return replace(settings, has_marks=False)


def _side(
    join: spec.JoinSpec, hand: spec.Hand, sources: Inputs, manner: Manner
) -> known.SideSettings:
    """Returns the settings of one side."""
    number = spec.HANDS.index(hand)
    source, side = sources[number], join.side(hand)
    is_live = source.name in manner.live and not source.is_timed
    static = sides.is_static(join, hand, source) and not is_live
    by_arrival = join.clock is spec.Clock.ARRIVAL
    closing = known.Closing.NONE  # on the other clocks rows' own time closes a window
    if isinstance(side.window, spec.Seconds):
        closing = known.Closing.CLOCK
    elif by_arrival and isinstance(side.window, spec.Range):
        closing = known.Closing.ROW_TIME
    # Only rows of a stream wait for a table's late rows: those whose null rows and
    # pairs both come out.
    kinds = (source.kind, sources[1 - number].kind)
    waits = kinds == (spec.InputKind.STREAM, spec.InputKind.TABLE)
    waits &= join.kind.preserves(hand) and join.kind.gives_pairs
    waits &= join.clock is not spec.Clock.BATCH
    return known.SideSettings(
        window=side.window,
        preserved=join.kind.preserves(hand),
        once=join.kind.gives_once(hand),
        timed=source.is_timed and not static and join.clock is not spec.Clock.BATCH,
        static=static,
        lateness=source.lateness,
        idle=manner.idle[number],
        own_partition=bool(sides.partition_of(side)),
        ends_by_key=sides.ends_by_key(join, hand),
        told=hand in manner.told,
        is_whole=not side.partition_by,
        holds=manner.holds[number],
        has_time=source.is_timed and join.clock is spec.Clock.BATCH,
        is_state=facts.is_state(join, hand, timed=source.is_timed),
        eviction=side.partition_evict,
        untimed=is_live and not side.window.interval,
        closing=closing,
        late_tables=manner.late_tables if waits else spec.IgnoreLateTableRows(),
        aged=isinstance(side.window, spec.Latest) and source.is_timed and by_arrival,
        is_table=source.kind is spec.InputKind.TABLE,
        late_null_rows=manner.late_null_rows
        and join.kind.preserves(hand)
        and source.kind is spec.InputKind.STREAM,
    )


def key_of(side: spec.Side, source: spec.Input) -> tuple[str, ...]:
    """Returns the expressions over the own row that tell a table's rows apart."""
    names = side.window.key if isinstance(side.window, spec.Latest) else source.key
    return tuple(schema.quoted(name) for name in names)


def _picks(join: spec.JoinSpec, sources: Inputs, scope: Scope) -> known.PickSettings:
    """Returns the kernels' picks of a join."""
    _, right = sources
    limit: spec.AtMost | spec.Limit | spec.Unlimited = join.picks.limit
    if isinstance(join.picks.at_most, spec.AtMost):
        # Without an equality that counts nothing has a candidate to be counted.
        limit = join.picks.at_most if join.picks.at_most.counts else spec.Unlimited()
    # The counter stands in the columns of a changelog alone: other rows come out once.
    shown = []
    for name, text in spec.counting_columns(join) if _is_told(join, sources) else ():
        kind = parse(text, scope).type
        if not isinstance(kind, schema.AtomicType | schema.DecimalType):
            what = f'"counter" in the column "{name}", no plain value, of a changelog'
            raise UnsupportedError.not_yet(KERNELS, what)
        shown.append(_formula(text, scope))
    skips = "counter" in spec.bare_names(join.picks.skip_when)
    # Whoever is told of too many candidates is told of which key.
    named = join.hard if join.picks.fails else ()
    return known.PickSettings(
        keep=join.picks.most_kept or known.UNLIMITED,
        limit=limit,
        key=tuple(_formula(one.left, scope) for one in named),
        shared=tuple(_shared(part, scope) for part in join.picks.optional),
        skip=tuple(_skips(join, sources, scope)),
        nearest=tuple(_nearest(join, sources, scope)),
        numbered=skips or bool(spec.counting_columns(join)),
        time=right.time,
        by_time=join.clock is spec.Clock.EVENT and right.is_timed,
        shown=tuple(shown),
    )


def _is_told(join: spec.JoinSpec, inputs: Sequence[spec.Input]) -> bool:
    """Tells whether the result is told by its changes: no side of it is a stream."""
    kinds = {source.kind for source in inputs}
    return join.clock is spec.Clock.ARRIVAL and spec.InputKind.STREAM not in kinds


def _shared(
    part: spec.OptionalPrefix | spec.OptionalEqual, scope: Scope
) -> known.Formula | known.Letters:
    """Returns an optional equality: as a whole, or letter by letter."""
    match part:
        case spec.OptionalEqual(spec.Equality(left, right)):
            return _formula(Expression(f"({left}) = ({right})"), scope)
        case spec.OptionalPrefix(left, right, width):
            ours, theirs = (
                _formula(_cast(text, "string", scope), scope) for text in (left, right)
            )
            return known.Letters(ours, theirs, width)
        case _:
            assert_never(part)


def _cast(expression: Expression, kind: str, scope: Scope) -> Expression:
    """Returns a value as a type, which it may be of already."""
    if str(parse(expression, scope).type) == kind:
        return expression
    return Expression(f"cast(({expression}) as {kind})")


def _nearest(
    join: spec.JoinSpec, sources: Inputs, scope: Scope
) -> Iterator[known.Nearest]:
    """Gives the pick of the nearest right row, if there is one."""
    asof = join.picks.asof
    if not isinstance(asof, spec.AsOf):
        return
    left, right = sources
    times = (asof.left, asof.right)
    kind, scale = _common_time([parse(time, scope).type for time in times])
    if kind:
        ours, theirs = (_formula(_cast(time, kind, scope), scope) for time in times)
    else:
        ours, theirs = (_formula(time, scope) for time in times)
    tolerance: spec.Span | float | spec.Unlimited
    match asof.tolerance:
        case Decimal() as number if kind == "double":
            tolerance = float(number)
        case Decimal() as number:
            # Times are measured as whole numbers of the last decimal place.
            tolerance = int(number.scaleb(scale).to_integral_value(ROUND_FLOOR))
        case span_or_none:
            tolerance = span_or_none
    yield known.Nearest(
        ours,
        theirs,
        asof.direction,
        tolerance,
        exact=asof.exact,
        tie=asof.tie,
        is_row_time=_is_row_time(asof.right, right),
        is_left_row_time=_is_row_time(asof.left, left),
    )


def _is_row_time(expression: Expression, source: spec.Input) -> bool:
    """Tells whether an expression is the row time of its side."""
    match spec.plain_reference(expression):
        case spec.Reference(column=column):
            return source.is_timed and column.lower() == source.time.lower()
        case _:
            return False


def _common_time(kinds: list[schema.Type]) -> tuple[str, int]:
    """Returns the type in which numbers are measured, and its scale; none for times."""
    if all(kind in schema.DATES for kind in kinds):
        return "", 0
    if any(kind in schema.FRACTIONS for kind in kinds):
        return "double", 0
    scale = max(getattr(kind, "scale", 0) for kind in kinds)
    # How many digits stand before the point; of what has no bound more than fit.
    whole = max(
        kind.precision - kind.scale
        if isinstance(kind, schema.DecimalType)
        else _WHOLE.get(kind, _MOST_DIGITS + 1)
        for kind in kinds
    )
    decimals = any(isinstance(kind, schema.DecimalType) for kind in kinds)
    if decimals and whole + scale > _MOST_DIGITS:
        what = f"asof of numbers of more than {_MOST_DIGITS} digits"
        raise UnsupportedError.not_yet(KERNELS, what)
    return (f"decimal({whole + scale},{scale})", scale) if decimals else ("bigint", 0)


def _skips(
    join: spec.JoinSpec, inputs: Inputs, scope: Scope
) -> list[known.SkipFormulas]:
    """Returns when a row does not come out; nothing where all do."""
    if join.picks.skip_when == NEVER:
        return []
    over = _seen_of_one(join, spec.Hand.LEFT, inputs, once=False)
    unmatched = [
        _seen_of_one(join, hand, inputs, once=join.kind.gives_once(hand))
        for hand in spec.HANDS
    ]
    formulas = [
        _formula(join.picks.skip_when, scope, told)
        for told in (_seen(matched=spec.HANDS), *unmatched, over)
    ]
    pair, left, right, exceeded = formulas
    return [known.SkipFormulas(pair, (left, right), exceeded)]


def _seen_of_one(
    join: spec.JoinSpec,
    hand: spec.Hand,
    inputs: Inputs,
    *,
    once: bool,
) -> Values:
    """Returns what is known of a row that leaves alone: all of the other side.

    A row given once has met a partner, though it does not show it.
    """
    other = hand.other
    stand_in = facts.absent_row(
        join.absent(other), inputs[spec.HANDS.index(other)].schema
    )
    columns = {(other.letter, name): value for name, value in stand_in.items()}
    matched = spec.HANDS if once else (hand,)
    return {**columns, **_seen(matched), (BARE, "counter"): int(once)}


def _seen(matched: tuple[spec.Hand, ...]) -> dict[tuple[str, str], object]:
    """Returns which sides are there, as expressions see it."""
    return {(BARE, f"matched_{hand.value}"): hand in matched for hand in spec.HANDS}


def _formula(
    text: Expression, scope: Scope, told: Values | None = None
) -> known.Formula:
    """Returns an expression as the kernels run it."""
    told = told or {}
    typed = parse(text, scope)
    columns = references(typed) - told.keys()
    return known.Formula(lower(typed, told), tuple(sorted(columns)))
