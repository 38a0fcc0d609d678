"""From a join's picks to what the kernels know of them.

Which equalities make a candidate is decided here: those that `atmost` counts. The
others are further conditions, tested after the candidates have been counted.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from decimal import ROUND_FLOOR, Decimal
from typing import assert_never

from dovetail import schema, spec
from dovetail.errors import UnsupportedError
from dovetail.expression import (
    BARE,
    NEVER,
    Expression,
    Scope,
    lower,
    parse,
    references,
)
from dovetail.kernels.settings import (
    UNLIMITED,
    Formula,
    Letters,
    Nearest,
    PickSettings,
    SkipFormulas,
)
from dovetail.plan.sides import optional_parts
from dovetail.spec.absent import absent_row

_TIMES = (
    schema.AtomicType.TIMESTAMP,
    schema.AtomicType.TIMESTAMP_NTZ,
    schema.AtomicType.DATE,
)
_FLOATS = (schema.AtomicType.FLOAT, schema.AtomicType.DOUBLE)
_WHOLE: Mapping[schema.Type, int] = {
    schema.AtomicType.TINYINT: 3,
    schema.AtomicType.SMALLINT: 5,
    schema.AtomicType.INT: 10,
}
_MOST_DIGITS = 18
KERNELS = "kernels"  # what refuses, as errors name it
Known = Mapping[tuple[str, str], object]


def kernel_picks(
    join: spec.JoinSpec, left: spec.Input, right: spec.Input
) -> PickSettings:
    """Returns the kernels' picks of a join."""
    scope = Scope.pair(left.schema, right.schema)
    return PickSettings(
        keep=_keep(join),
        limit=_limit(join),
        shared=tuple(_shared(part, scope) for part in optional_parts(join)),
        skip=tuple(_skips(join, (left, right), scope)),
        nearest=tuple(_nearest(join, left, right, scope)),
        numbered=_looks_at_counter(join),
        time=right.time,
        by_time=join.clock is spec.Clock.EVENT and right.is_timed,
        shown=tuple(_counters(join, scope)) if is_told(join, (left, right)) else (),
    )


def is_told(join: spec.JoinSpec, inputs: Sequence[spec.Input]) -> bool:
    """Tells whether the result is told by its changes: no side of it is a stream."""
    kinds = {source.kind for source in inputs}
    return join.clock is spec.Clock.ARRIVAL and spec.InputKind.STREAM not in kinds


def _counters(join: spec.JoinSpec, scope: Scope) -> Iterator[Formula]:
    """Gives the output columns that show the counter, as the kernels run them."""
    for name, text in spec.counting_columns(join):
        if not isinstance(
            parse(text, scope).type, schema.AtomicType | schema.DecimalType
        ):
            what = f'"counter" in the column "{name}", no plain value, of a changelog'
            raise UnsupportedError.not_yet(KERNELS, what)
        yield _formula(text, scope)


def _keep(join: spec.JoinSpec) -> int:
    """Returns how many pairs of a left row come out."""
    if join.picks.strategy is spec.Strategy.LOOKUP:
        return 1
    keep = join.picks.keep
    return keep.count if isinstance(keep, spec.Keep) else UNLIMITED


def _limit(join: spec.JoinSpec) -> spec.AtMost | spec.Limit | spec.Unlimited:
    """Returns how many candidates there may be, and what becomes of the others."""
    match join.picks.at_most:
        case spec.AtMost(counted=(), optional=()):
            return spec.Unlimited()
        case spec.AtMost() as at_most:
            return at_most
        case _:
            return join.picks.limit


def _looks_at_counter(join: spec.JoinSpec) -> bool:
    """Tells whether an output column or `skip_when` names the counter."""
    skips = "counter" in spec.bare_names(join.picks.skip_when)
    return skips or bool(spec.counting_columns(join))


def _shared(
    part: spec.OptionalPrefix | spec.OptionalEqual, scope: Scope
) -> Formula | Letters:
    """Returns an optional equality: as a whole, or letter by letter."""
    match part:
        case spec.OptionalEqual(spec.Equality(left, right)):
            return _formula(Expression(f"({left}) = ({right})"), scope)
        case spec.OptionalPrefix(left, right, width):
            ours, theirs = (
                _formula(_as_text(text, scope), scope) for text in (left, right)
            )
            return Letters(ours, theirs, width)
        case _:
            assert_never(part)


def _as_text(expression: Expression, scope: Scope) -> Expression:
    """Returns the text of a value, which may be one already."""
    if parse(expression, scope).type is schema.AtomicType.STRING:
        return expression
    return Expression(f"cast(({expression}) as string)")


def _nearest(
    join: spec.JoinSpec, left: spec.Input, right: spec.Input, scope: Scope
) -> Iterator[Nearest]:
    """Gives the pick of the nearest right row, if there is one."""
    asof = join.picks.asof
    if not isinstance(asof, spec.AsOf):
        return
    times = (asof.left, asof.right)
    kind, scale = _common_time([parse(time, scope).type for time in times])
    ours, theirs = (_formula(_as_kind(time, kind, scope), scope) for time in times)
    yield Nearest(
        ours,
        theirs,
        asof.direction,
        _tolerance(asof, kind, scale),
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
    if all(kind in _TIMES for kind in kinds):
        return "", 0
    if any(kind in _FLOATS for kind in kinds):
        return "double", 0
    scale = max(getattr(kind, "scale", 0) for kind in kinds)
    whole = max(_digits(kind) for kind in kinds)
    decimals = any(isinstance(kind, schema.DecimalType) for kind in kinds)
    if decimals and whole + scale > _MOST_DIGITS:
        what = f"asof of numbers of more than {_MOST_DIGITS} digits"
        raise UnsupportedError.not_yet(KERNELS, what)
    return (f"decimal({whole + scale},{scale})", scale) if decimals else ("bigint", 0)


def _digits(kind: schema.Type) -> int:
    """Returns how many digits a whole number of a type has before its point."""
    if isinstance(kind, schema.DecimalType):
        return kind.precision - kind.scale
    return _WHOLE[kind] if kind in _WHOLE else _MOST_DIGITS + 1


def _as_kind(expression: Expression, kind: str, scope: Scope) -> Expression:
    """Returns a time or a number in the type in which it is measured."""
    if not kind or str(parse(expression, scope).type) == kind:
        return expression
    return Expression(f"cast(({expression}) as {kind})")


def _tolerance(
    asof: spec.AsOf, kind: str, scale: int
) -> spec.Span | float | spec.Unlimited:
    """Returns how far the right time may be, a number as times are measured."""
    match asof.tolerance:
        case Decimal() as number if kind == "double":
            return float(number)
        case Decimal() as number:
            return int(number.scaleb(scale).to_integral_value(ROUND_FLOOR))
        case tolerance:
            return tolerance


def _skips(
    join: spec.JoinSpec, inputs: tuple[spec.Input, spec.Input], scope: Scope
) -> list[SkipFormulas]:
    """Returns when a row does not come out; nothing where all do."""
    if join.picks.skip_when == NEVER:
        return []
    over = _seen_alone(join, spec.Hand.LEFT, inputs, once=False)
    alone = [
        _seen_alone(join, hand, inputs, once=join.kind.gives_once(hand))
        for hand in spec.HANDS
    ]
    formulas = [
        _formula(join.picks.skip_when, scope, known)
        for known in (_seen(matched=spec.HANDS), *alone, over)
    ]
    pair, left, right, exceeded = formulas
    return [SkipFormulas(pair, (left, right), exceeded)]


def _seen_alone(
    join: spec.JoinSpec,
    hand: spec.Hand,
    inputs: tuple[spec.Input, spec.Input],
    *,
    once: bool,
) -> Known:
    """Returns what is known of a row that leaves alone: all of the other side.

    A row given once has met a partner, though it does not show it.
    """
    other = hand.other
    stand_in = absent_row(join.absent(other), inputs[spec.HANDS.index(other)].schema)
    columns = {(other.letter, name): value for name, value in stand_in.items()}
    matched = spec.HANDS if once else (hand,)
    return {**columns, **_seen(matched), (BARE, "counter"): int(once)}


def _seen(matched: tuple[spec.Hand, ...]) -> dict[tuple[str, str], object]:
    """Returns which sides are there, as expressions see it."""
    return {(BARE, f"matched_{hand.value}"): hand in matched for hand in spec.HANDS}


def _formula(text: Expression, scope: Scope, known: Known | None = None) -> Formula:
    """Returns an expression as the kernels run it."""
    known = known or {}
    typed = parse(text, scope)
    columns = references(typed) - known.keys()
    return Formula(lower(typed, known), tuple(sorted(columns)))
