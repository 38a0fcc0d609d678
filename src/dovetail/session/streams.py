"""Rows with what a join must know of them: their time, their order, their window."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from pyspark.sql import DataFrame

from dovetail.bind.schemas import schema_of
from dovetail.errors import SpecError
from dovetail.expression import Expression, Scope, parse
from dovetail.schema import AtomicType, Schema, quoted
from dovetail.session.choosing import (
    On,
    all_columns,
    chosen,
    clock_of,
    equalities,
    kind_named,
)
from dovetail.session.joined import Joined, Seat
from dovetail.session.picking import EVERY, picks_of
from dovetail.spec.defaults import complete
from dovetail.spec.inputs import Input, InputKind, Settings
from dovetail.spec.join import HANDS, Columns, Hand, JoinSpec, Kind, Named, Side
from dovetail.spec.picks import AsOf, Picks, Unlimited
from dovetail.spec.references import plain_column
from dovetail.spec.rules import check_spec
from dovetail.spec.spans import NO_TIME, Span, parse_span
from dovetail.spec.windows import Latest, Unstated, Window


@dataclass(frozen=True, slots=True)
class Rows:
    """One side of a join to be: a DataFrame, its time and order, and its window."""

    frame: DataFrame
    source: Input
    order: str = ""
    sequence: str = ""
    idle: Span = NO_TIME
    kept: Window = Unstated()
    per: tuple[str, ...] = ()

    @property
    def seat(self) -> Seat:
        """Returns where the rows come from, and what their order is made of."""
        return Seat(self.frame, self.order, self.sequence, self.idle)

    def window(self, window: Window, *, per: str | Sequence[str] = ()) -> Rows:
        """Returns the same rows, alive as the window says, for each `per` apart."""
        parts = (per,) if isinstance(per, str) else tuple(per)
        return replace(self, kept=window, per=parts)

    def join(  # noqa: PLR0913 - a join has this many free choices, all by name
        self,
        other: Rows,
        *,
        on: str | On = (),
        where: str = "true",
        how: str = "inner",
        keep: int = 0,
        asof: AsOf | Unlimited = EVERY,
        select: Mapping[str, str] | None = None,
        suffixes: tuple[str, str] = ("", ""),
        unmatched: str = "joined",
        unbounded: bool = False,
    ) -> Joined:
        """Returns the join of these rows (`l`) with others (`r`); nothing runs yet.

        `on`: equal columns, or pairs of a left and a right name. `where`: a further
        condition in Spark SQL over `l` and `r`. `keep=3` gives the first three pairs of
        a left row, `asof=dt.asof(..)` the one nearest in time. `unmatched="outlet"`
        lets rows without a partner leave by their own outlet. `unbounded` allows state
        without a bound.
        """
        kind = kind_named(how)
        sides = dict(zip(HANDS, (self, other), strict=True))
        _refuse_half_a_sequence(sides)
        on = (on,) if isinstance(on, str) else tuple(on)
        schemas = {hand: side.source.schema for hand, side in sides.items()}
        columns = (
            chosen(select)
            if select is not None
            else all_columns(schemas, kind, on, suffixes)
        )
        ports, picks = _ports(unmatched, kind), picks_of(keep, asof)
        spec = _spec(sides, _Wish(on, where, kind, columns, ports, picks))
        inputs = {_name(hand): _source(hand, side) for hand, side in sides.items()}
        spec = complete(spec, inputs)
        check_spec(spec, inputs, Settings())
        _refuse_condition(spec, sides)
        joined = Joined(spec, inputs, {hand: one.seat for hand, one in sides.items()})
        if not unbounded:
            joined.refuse_unbounded()
        return joined


@dataclass(frozen=True, slots=True)
class _Wish:
    """What a user asks of a join."""

    keys: On
    where: str
    kind: Kind
    columns: Columns
    ports: int
    picks: Picks


def stream(  # noqa: PLR0913 - what may be known of a stream, all by name
    frame: DataFrame,
    *,
    time: str = "",
    lateness: str = "0 seconds",
    idle: str = "",
    order: str = "",
    sequence: str = "",
) -> Rows:
    """Returns the rows of a stream, ready for `window` and `join`.

    `time`: the column of the row time. `lateness`: how far a row may come behind the
    newest and still count. `idle`: after how long a silence the stream no longer holds
    the other back. `order`: a number that tells rows of equal time apart; `sequence`:
    one that orders the rows of both sides.
    """
    source = _input(frame, InputKind.STREAM, time=time, lateness=parse_span(lateness))
    for text in (order, sequence):
        _refuse_unknown(text, source.schema)
    wait = parse_span(idle) if idle else NO_TIME
    return Rows(frame, source, order, sequence, wait)


def table(
    frame: DataFrame, *, key: str | Sequence[str], time: str = "", order: str = ""
) -> Rows:
    """Returns a table's rows: each is the newest version of its key, until the next."""
    keys = (key,) if isinstance(key, str) else tuple(key)
    source = _input(frame, InputKind.TABLE, time=time, key=keys)
    _refuse_unknown(order, source.schema)
    return Rows(frame, source, order, kept=Latest(keys))


def dataset(frame: DataFrame, *, time: str = "") -> Rows:
    """Returns rows that are all there from the start."""
    return Rows(frame, _input(frame, InputKind.DATASET, time=time))


def _input(
    frame: DataFrame,
    kind: InputKind,
    *,
    time: str,
    key: tuple[str, ...] = (),
    lateness: Span = NO_TIME,
) -> Input:
    """Returns what is known of a DataFrame as an input."""
    schema = schema_of(frame)
    for name in (*key, *([time] if time else [])):
        schema[name]
    if kind is InputKind.STREAM and not frame.isStreaming:
        kind = InputKind.DATASET
    return Input("", kind, schema, key, time, lateness)


def _refuse_unknown(order: str, schema: Schema) -> None:
    """Refuses an order or sequence that is a column, and not there."""
    name = plain_column(Expression(order))
    if name:
        schema[name]


def _refuse_half_a_sequence(sides: Mapping[Hand, Rows]) -> None:
    """Refuses a sequence on one side only: it orders the rows of both."""
    for hand, side in sides.items():
        if side.sequence and not sides[hand.other].sequence:
            raise SpecError(
                f"the {hand.value} side has a sequence and the other side has none",
                "sequence=... on both sides",
                "order=... is for a number that only one side has",
            )


def _refuse_condition(join: JoinSpec, sides: Mapping[Hand, Rows]) -> None:
    """Refuses a condition that a stream cannot read, or that is no condition."""
    if not any(side.frame.isStreaming for side in sides.values()):
        return
    scope = Scope.pair(*(sides[hand].source.schema for hand in HANDS))
    typed = parse(join.soft, scope)
    if typed.type not in {AtomicType.BOOLEAN, AtomicType.NULL}:
        raise SpecError(
            f'where="{join.soft}" is {typed.type}',
            "a condition that is true or false",
            'compare it, as in where="l.amount < r.amount"',
        )


def _name(hand: Hand) -> str:
    """Returns the name of the input on a hand."""
    return hand.value


def _source(hand: Hand, side: Rows) -> Input:
    """Returns a side's input under its hand's name."""
    return replace(side.source, name=_name(hand))


def _spec(sides: Mapping[Hand, Rows], wish: _Wish) -> JoinSpec:
    """Returns the join of two sides that a user asks for."""
    left, right = (
        Side(
            Named(_name(hand)),
            sides[hand].kept,
            tuple(Expression(quoted(name)) for name in sides[hand].per),
        )
        for hand in HANDS
    )
    clock = clock_of(
        (left.window, right.window),
        timed=all(side.source.is_timed for side in sides.values()),
        streaming=any(side.frame.isStreaming for side in sides.values()),
    )
    return JoinSpec(
        left,
        right,
        wish.kind,
        clock,
        hard=equalities(wish.keys),
        soft=Expression(wish.where),
        select=wish.columns,
        ports=wish.ports,
        picks=wish.picks,
    )


def _ports(unmatched: str, kind: Kind) -> int:
    """Returns how many outlets matched and unmatched rows leave by."""
    preserved = sum(kind.preserves(hand) for hand in HANDS)
    match unmatched:
        case "joined":
            return 1
        case "outlet" if preserved:
            return 1 + preserved
        case "outlet":
            raise SpecError(
                f"a join of the kind {kind.value} has no unmatched rows",
                'unmatched="joined"',
                'how="left", "right" or "full" preserves unmatched rows',
            )
        case _:
            raise SpecError(f'unmatched="{unmatched}"', '"joined" or "outlet"')
