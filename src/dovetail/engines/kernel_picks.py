"""From a join's picks to what the kernels know of them.

Which equalities make a candidate is decided here: those that `atmost` counts. The
others are further conditions, tested after the candidates have been counted.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from decimal import ROUND_FLOOR, Decimal
from typing import assert_never

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
from dovetail.schema import AtomicType, DecimalType, Type
from dovetail.spec.absent import absent_row
from dovetail.spec.inputs import Input, InputKind
from dovetail.spec.join import HANDS, Clock, Hand, JoinSpec
from dovetail.spec.picks import (
    AsOf,
    AtMost,
    Equality,
    Keep,
    Limit,
    OptionalEqual,
    OptionalPrefix,
    Strategy,
    Unlimited,
)
from dovetail.spec.references import (
    Reference,
    bare_names,
    counting_columns,
    plain_reference,
)
from dovetail.spec.spans import Span

_TIMES = (AtomicType.TIMESTAMP, AtomicType.TIMESTAMP_NTZ, AtomicType.DATE)
_FLOATS = (AtomicType.FLOAT, AtomicType.DOUBLE)
_WHOLE: Mapping[Type, int] = {
    AtomicType.TINYINT: 3,
    AtomicType.SMALLINT: 5,
    AtomicType.INT: 10,
}
_MOST_DIGITS = 18
KERNELS = "kernels"  # what refuses, as errors name it
Known = Mapping[tuple[str, str], object]


def kernel_picks(join: JoinSpec, left: Input, right: Input) -> PickSettings:
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
        by_time=join.clock is Clock.EVENT and right.is_timed,
        shown=tuple(_counters(join, scope)) if is_told(join, (left, right)) else (),
    )


def is_told(join: JoinSpec, inputs: Sequence[Input]) -> bool:
    """Tells whether the result is told by its changes: no side of it is a stream."""
    kinds = {source.kind for source in inputs}
    return join.clock is Clock.ARRIVAL and InputKind.STREAM not in kinds


def _counters(join: JoinSpec, scope: Scope) -> Iterator[Formula]:
    """Gives the output columns that show the counter, as the kernels run them."""
    for name, text in counting_columns(join):
        if not isinstance(parse(text, scope).type, AtomicType | DecimalType):
            what = f'"counter" in the column "{name}", no plain value, of a changelog'
            raise UnsupportedError.not_yet(KERNELS, what)
        yield _formula(text, scope)


def _keep(join: JoinSpec) -> int:
    """Returns how many pairs of a left row come out."""
    if join.picks.strategy is Strategy.LOOKUP:
        return 1
    keep = join.picks.keep
    return keep.count if isinstance(keep, Keep) else UNLIMITED


def _limit(join: JoinSpec) -> AtMost | Limit | Unlimited:
    """Returns how many candidates there may be, and what becomes of the others."""
    match join.picks.at_most:
        case AtMost(counted=(), optional=()):
            return Unlimited()
        case AtMost() as at_most:
            return at_most
        case _:
            return join.picks.limit


def _looks_at_counter(join: JoinSpec) -> bool:
    """Tells whether an output column or `skip_when` names the counter."""
    skips = "counter" in bare_names(join.picks.skip_when)
    return skips or bool(counting_columns(join))


def _shared(part: OptionalPrefix | OptionalEqual, scope: Scope) -> Formula | Letters:
    """Returns an optional equality: as a whole, or letter by letter."""
    match part:
        case OptionalEqual(Equality(left, right)):
            return _formula(Expression(f"({left}) = ({right})"), scope)
        case OptionalPrefix(left, right, width):
            ours, theirs = (
                _formula(_as_text(text, scope), scope) for text in (left, right)
            )
            return Letters(ours, theirs, width)
        case _:
            assert_never(part)


def _as_text(expression: Expression, scope: Scope) -> Expression:
    """Returns the text of a value, which may be one already."""
    if parse(expression, scope).type is AtomicType.STRING:
        return expression
    return Expression(f"cast(({expression}) as string)")


def _nearest(
    join: JoinSpec, left: Input, right: Input, scope: Scope
) -> Iterator[Nearest]:
    """Gives the pick of the nearest right row, if there is one."""
    asof = join.picks.asof
    if not isinstance(asof, AsOf):
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


def _is_row_time(expression: Expression, source: Input) -> bool:
    """Tells whether an expression is the row time of its side."""
    match plain_reference(expression):
        case Reference(column=column):
            return source.is_timed and column.lower() == source.time.lower()
        case _:
            return False


def _common_time(kinds: list[Type]) -> tuple[str, int]:
    """Returns the type in which numbers are measured, and its scale; none for times."""
    if all(kind in _TIMES for kind in kinds):
        return "", 0
    if any(kind in _FLOATS for kind in kinds):
        return "double", 0
    scale = max(getattr(kind, "scale", 0) for kind in kinds)
    whole = max(_digits(kind) for kind in kinds)
    decimals = any(isinstance(kind, DecimalType) for kind in kinds)
    if decimals and whole + scale > _MOST_DIGITS:
        what = f"asof of numbers of more than {_MOST_DIGITS} digits"
        raise UnsupportedError.not_yet(KERNELS, what)
    return (f"decimal({whole + scale},{scale})", scale) if decimals else ("bigint", 0)


def _digits(kind: Type) -> int:
    """Returns how many digits a whole number of a type has before its point."""
    if isinstance(kind, DecimalType):
        return kind.precision - kind.scale
    return _WHOLE[kind] if kind in _WHOLE else _MOST_DIGITS + 1


def _as_kind(expression: Expression, kind: str, scope: Scope) -> Expression:
    """Returns a time or a number in the type in which it is measured."""
    if not kind or str(parse(expression, scope).type) == kind:
        return expression
    return Expression(f"cast(({expression}) as {kind})")


def _tolerance(asof: AsOf, kind: str, scale: int) -> Span | float | Unlimited:
    """Returns how far the right time may be, a number as times are measured."""
    match asof.tolerance:
        case Decimal() as number if kind == "double":
            return float(number)
        case Decimal() as number:
            return int(number.scaleb(scale).to_integral_value(ROUND_FLOOR))
        case tolerance:
            return tolerance


def _skips(
    join: JoinSpec, inputs: tuple[Input, Input], scope: Scope
) -> list[SkipFormulas]:
    """Returns when a row does not come out; nothing where all do."""
    if join.picks.skip_when == NEVER:
        return []
    over = _seen_alone(join, Hand.LEFT, inputs, once=False)
    alone = [
        _seen_alone(join, hand, inputs, once=join.kind.gives_once(hand))
        for hand in HANDS
    ]
    formulas = [
        _formula(join.picks.skip_when, scope, known)
        for known in (_seen(matched=HANDS), *alone, over)
    ]
    pair, left, right, exceeded = formulas
    return [SkipFormulas(pair, (left, right), exceeded)]


def _seen_alone(
    join: JoinSpec, hand: Hand, inputs: tuple[Input, Input], *, once: bool
) -> Known:
    """Returns what is known of a row that leaves alone: all of the other side.

    A row given once has met a partner, though it does not show it.
    """
    other = hand.other
    stand_in = absent_row(join.absent(other), inputs[HANDS.index(other)].schema)
    columns = {(other.letter, name): value for name, value in stand_in.items()}
    matched = HANDS if once else (hand,)
    return {**columns, **_seen(matched), (BARE, "counter"): int(once)}


def _seen(matched: tuple[Hand, ...]) -> dict[tuple[str, str], object]:
    """Returns which sides are there, as expressions see it."""
    return {(BARE, f"matched_{hand.value}"): hand in matched for hand in HANDS}


def _formula(text: Expression, scope: Scope, known: Known | None = None) -> Formula:
    """Returns an expression as the kernels run it."""
    known = known or {}
    typed = parse(text, scope)
    columns = references(typed) - known.keys()
    return Formula(lower(typed, known), tuple(sorted(columns)))
