"""What the oracle does not do yet, refused by name before anything is played.

Everything here is sound; a join that is not is refused by the rules of the spec.
"""

from __future__ import annotations

from collections.abc import Iterator

from dovetail.errors import UnsupportedError
from dovetail.oracle.sides import sides_of
from dovetail.spec.inputs import IgnoreLateTableRows, InputKind, OuterRows
from dovetail.spec.join import HANDS, Clock, Hand, JoinSpec, Nested
from dovetail.spec.play import Play
from dovetail.spec.sources import kind_of
from dovetail.spec.windows import (
    Between,
    Delta,
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


def refuse(play: Play, spec: JoinSpec) -> None:
    """Raises the first thing of a play that the oracle does not do yet."""
    for missing in _missing(play, spec):
        raise UnsupportedError.not_yet("oracle", missing)


def _missing(play: Play, spec: JoinSpec) -> Iterator[str]:
    """Yields what a play needs and the oracle lacks."""
    sides = sides_of(play, spec).values()
    for hand in HANDS:
        yield from _missing_inside(play, spec, hand)
    for side in sides:
        yield from _missing_window(side.window, spec.clock)
    if spec.clock is Clock.EVENT:
        kinds = [side.input.kind for side in sides]
        yield from _missing_inputs(kinds)


def _missing_inside(play: Play, spec: JoinSpec, hand: Hand) -> Iterator[str]:
    """Yields what the join that a side is made of needs."""
    source = spec.side(hand).source
    if not isinstance(source, Nested):
        return
    yield from _missing(play, source.join)
    if source.join.clock is not spec.clock:
        clocks = f"{source.join.clock.value} inside one on the clock {spec.clock.value}"
        yield f"a join on the clock {clocks}"
    if play.settings.outer_rows is not OuterRows.EXPIRY:
        yield f"outer_rows {play.settings.outer_rows.value} in a join of a join"
    waits = play.settings.late_table_rows != IgnoreLateTableRows()
    if waits and spec.clock is Clock.EVENT:
        yield "late_table_rows emit in a join of a join on the clock event"
    is_told = spec.clock is not Clock.BATCH
    if is_told and kind_of(source, play.inputs) is not InputKind.STREAM:
        yield "a join, without a stream, inside another"


def _missing_window(window: Window, clock: Clock) -> Iterator[str]:
    """Yields the window, where the clock has no lives for it."""
    match window, clock:
        case ((Forever() | Latest() | Range() | Rows(count=0)), _):
            return
        case ((Rows() | Seconds() | Delta()), Clock.ARRIVAL):
            return
        case ((Between() | HopUnit() | HopSize()), Clock.EVENT | Clock.BATCH):
            return
        case ((RowsPreceding() | Inherited()), Clock.EVENT):
            return
        case _:
            name = type(window).__name__.lower()
            yield f"the window {name} on the clock {clock.value}"


def _missing_inputs(kinds: list[InputKind]) -> Iterator[str]:
    """Yields what is joined, where no side is a stream."""
    if InputKind.STREAM not in kinds and InputKind.TABLE in kinds:
        yield "the changelog of two tables on the clock event"
