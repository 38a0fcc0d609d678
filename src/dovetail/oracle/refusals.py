"""What the oracle has no meaning for, refused by name before anything is played.

Only joins inside joins have such corners. Everything here is sound; a join that is not
is refused by the rules of the spec.
"""

from __future__ import annotations

from collections.abc import Iterator

from dovetail.errors import UnsupportedError
from dovetail.spec.inputs import IgnoreLateTableRows, InputKind, OuterRows
from dovetail.spec.join import HANDS, Clock, Hand, JoinSpec, Nested
from dovetail.spec.play import Play
from dovetail.spec.sources import kind_of


def refuse(play: Play, spec: JoinSpec) -> None:
    """Raises the first thing of a play that no rule gives a meaning to."""
    for missing in _missing(play, spec):
        raise UnsupportedError.not_yet("oracle", missing)


def _missing(play: Play, spec: JoinSpec) -> Iterator[str]:
    """Yields what a play needs and the oracle lacks."""
    for hand in HANDS:
        yield from _missing_inside(play, spec, hand)


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
