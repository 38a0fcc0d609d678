"""What no rule gives a meaning to, refused by name before anything is played.

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

CLOCK_INSIDE = "a join inside one on another clock"
NULLS_INSIDE = "outer_rows in a join of a join"
WAIT_INSIDE = "late_table_rows emit in a join of a join on the clock event"
CHANGES_INSIDE = "a join without a stream inside another"
LACKS = frozenset({CLOCK_INSIDE, NULLS_INSIDE, WAIT_INSIDE, CHANGES_INSIDE})


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
        yield CLOCK_INSIDE
    if play.settings.outer_rows is not OuterRows.EXPIRY:
        yield NULLS_INSIDE
    waits = play.settings.late_table_rows != IgnoreLateTableRows()
    if waits and spec.clock is Clock.EVENT:
        yield WAIT_INSIDE
    is_told = spec.clock is not Clock.BATCH
    if is_told and kind_of(source, play.inputs) is not InputKind.STREAM:
        yield CHANGES_INSIDE
