"""What no rule gives a meaning to, refused by name before anything is played.

Only joins inside joins have such corners. Everything here is sound; a join that is not
is refused by the rules of the spec.
"""

from __future__ import annotations

from collections.abc import Iterator

from dovetail import spec
from dovetail.errors import UnsupportedError

CLOCK_INSIDE = "a join inside one on another clock"
NULLS_INSIDE = "outer_rows in a join of a join"
WAIT_INSIDE = "late_table_rows emit inside a join on the clock event"
CHANGES_INSIDE = "a join without a stream inside another"
LACKS = frozenset({CLOCK_INSIDE, NULLS_INSIDE, WAIT_INSIDE, CHANGES_INSIDE})


def refuse(play: spec.Play, join: spec.JoinSpec) -> None:
    """Raises the first thing of a play that no rule gives a meaning to."""
    for missing in _missing(play, join):
        raise UnsupportedError.not_yet("oracle", missing)


def _missing(play: spec.Play, join: spec.JoinSpec) -> Iterator[str]:
    """Yields what a play needs and the oracle lacks."""
    for hand in spec.HANDS:
        source = join.side(hand).source
        if not isinstance(source, spec.Nested):
            continue
        yield from _missing(play, source.join)
        if source.join.clock is not join.clock:
            yield CLOCK_INSIDE
        # No rule says to whom the null rows of a join inside would be told.
        if play.settings.outer_rows is not spec.OuterRows.EXPIRY:
            yield NULLS_INSIDE
        waits = play.settings.late_table_rows != spec.IgnoreLateTableRows()
        inside = waits and spec.waits_for_tables(source.join, play.inputs)
        if inside and join.clock is spec.Clock.EVENT:
            yield WAIT_INSIDE
        # In a batch nothing changes any more, so that a result needs no stream.
        has_changes = join.clock is not spec.Clock.BATCH
        kind = spec.kind_of(source, play.inputs)
        if has_changes and kind is not spec.InputKind.STREAM:
            yield CHANGES_INSIDE
