"""What rows that wait for a table's rows do not go with yet, in the kernels."""

from __future__ import annotations

from collections.abc import Iterator

from dovetail.plan.features import Combination
from dovetail.spec.inputs import InputKind, OuterRows
from dovetail.spec.join import HANDS, Clock, Hand, JoinSpec
from dovetail.spec.picks import Strategy, Unlimited
from dovetail.spec.play import Play
from dovetail.spec.references import bare_names, counting_columns
from dovetail.spec.sources import known_input
from dovetail.spec.windows import Latest, RowsPreceding


def missing_late_tables(play: Play, join: JoinSpec) -> Iterator[Combination]:
    """Gives what rows that wait for a table's do not go with."""
    for hand in HANDS:
        mine, other = (
            known_input(join.side(one).source, play.inputs)
            for one in (hand, hand.other)
        )
        meet = (mine.kind, other.kind) == (InputKind.STREAM, InputKind.TABLE)
        if not meet or not join.kind.preserves(hand):
            continue
        if join.clock is Clock.EVENT:
            yield from _of_times(play, join, hand)
        if hand is Hand.RIGHT:
            yield from _of_right_rows(join)


def _of_times(play: Play, join: JoinSpec, hand: Hand) -> Iterator[Combination]:
    """Gives windows and switches whose row times rows to come decide about."""
    if play.settings.outer_rows is OuterRows.PER_MILLISECOND:
        yield Combination.LATE_STRETCHES
    if isinstance(join.side(hand).window, Latest | RowsPreceding):
        yield Combination.LATE_ENDED


def _of_right_rows(join: JoinSpec) -> Iterator[Combination]:
    """Gives picks that decide about the left rows whose pairs are late."""
    picks = join.picks
    if (picks.at_most, picks.limit, picks.asof) != (Unlimited(),) * 3:
        yield Combination.LATE_JUDGED
    keeps = picks.keep != Unlimited() or picks.strategy is Strategy.LOOKUP
    is_skipped = "counter" in bare_names(picks.skip_when)
    if keeps and (is_skipped or counting_columns(join)):
        yield Combination.LATE_KEPT
    if is_skipped and join.clock is Clock.ARRIVAL:
        yield Combination.LATE_SKIPPED
