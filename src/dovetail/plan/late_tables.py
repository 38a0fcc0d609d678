"""What rows that wait for a table's rows do not go with yet, in the kernels."""

from __future__ import annotations

from collections.abc import Iterator

from dovetail import spec
from dovetail.plan.features import Combination


def missing_late_tables(play: spec.Play, join: spec.JoinSpec) -> Iterator[Combination]:
    """Gives what rows that wait for a table's do not go with."""
    for hand in spec.HANDS:
        mine, other = (
            spec.known_input(join.side(one).source, play.inputs)
            for one in (hand, hand.other)
        )
        meet = (mine.kind, other.kind) == (spec.InputKind.STREAM, spec.InputKind.TABLE)
        if not meet or not join.kind.preserves(hand):
            continue
        if join.clock is spec.Clock.EVENT:
            yield from _of_times(play, join, hand)
        if hand is spec.Hand.RIGHT:
            yield from _of_right_rows(join)


def _of_times(
    play: spec.Play, join: spec.JoinSpec, hand: spec.Hand
) -> Iterator[Combination]:
    """Gives windows and switches whose row times rows to come decide about."""
    if play.settings.outer_rows is spec.OuterRows.PER_MILLISECOND:
        yield Combination.LATE_STRETCHES
    if isinstance(join.side(hand).window, spec.Latest | spec.RowsPreceding):
        yield Combination.LATE_ENDED


def _of_right_rows(join: spec.JoinSpec) -> Iterator[Combination]:
    """Gives picks that decide about the left rows whose pairs are late."""
    picks = join.picks
    if (picks.at_most, picks.limit, picks.asof) != (spec.Unlimited(),) * 3:
        yield Combination.LATE_JUDGED
    keeps = picks.keep != spec.Unlimited() or picks.strategy is spec.Strategy.LOOKUP
    is_skipped = "counter" in spec.bare_names(picks.skip_when)
    if keeps and (is_skipped or spec.counting_columns(join)):
        yield Combination.LATE_KEPT
    if is_skipped and join.clock is spec.Clock.ARRIVAL:
        yield Combination.LATE_SKIPPED
