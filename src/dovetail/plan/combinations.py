"""What the kernels cannot do together yet, whoever runs them.

Each of these features they have. Rows that wait for rows of a table that come late,
`late_table_rows emit`, go with few other things yet: those stand at the end.
"""

from __future__ import annotations

from collections.abc import Iterator

from dovetail import spec
from dovetail.plan.features import Combination, has_stream, untimed_changes

TOGETHER = frozenset(
    {
        Combination.NO_STREAM,
        Combination.EVICTED_VERSIONS,
        Combination.JUDGED_STRETCHES,
        Combination.JUDGED_CHANGES,
        Combination.LATE_STRETCHES,
        Combination.LATE_ENDED,
        Combination.LATE_JUDGED,
        Combination.LATE_KEPT,
        Combination.LATE_SKIPPED,
    }
)


def missing_together(
    join: spec.JoinSpec,
    inputs: spec.Inputs,
    settings: spec.Settings,
    moving: frozenset[str],
) -> Iterator[Combination]:
    """Gives what only several features together make impossible.

    Rows of `moving` inputs come or go after the start.
    """
    # Which pairs of a row count is known at its end: its stretches have come out by it.
    is_split = settings.outer_rows is spec.OuterRows.PER_MILLISECOND
    if is_split and judges_pairs(join):
        yield Combination.JUDGED_STRETCHES
    for side in (join.left, join.right):
        # Their rows leave in an order of their own, not partition by partition.
        is_whole = side.partition_evict == spec.KeepPartitions()
        if not is_whole and isinstance(side.window, spec.Latest | spec.Range):
            yield Combination.EVICTED_VERSIONS
    # In a batch all rows are there before one comes out: nothing waits, or changes.
    if join.clock is not spec.Clock.BATCH:
        left = spec.known_input(join.left.source, inputs)
        # A pick of a table's row waits for right rows, which others may end meanwhile.
        if (
            not left.is_timed
            and join.right.window.is_ended_by_rows
            and (join.picks.optional or join.picks.looks_nearest)
            and any(untimed_changes(join, inputs, moving))
        ):
            yield Combination.JUDGED_CHANGES
        is_told = settings.late_table_rows != spec.IgnoreLateTableRows()
        if is_told and has_stream(join, inputs):
            yield from _of_late_rows(join, inputs, settings)
    if join.clock is spec.Clock.EVENT and not has_stream(join, inputs):
        yield Combination.NO_STREAM


def judges_pairs(join: spec.JoinSpec) -> bool:
    """Tells whether pairs of a left row decide about each other."""
    return join.picks.counts_candidates or join.picks.looks_nearest


def _of_late_rows(
    join: spec.JoinSpec, inputs: spec.Inputs, settings: spec.Settings
) -> Iterator[Combination]:
    """Gives what rows of a stream that wait for a table's do not go with."""
    for hand in spec.HANDS:
        kinds = [
            spec.kind_of(join.side(one).source, inputs) for one in (hand, hand.other)
        ]
        meet = kinds == [spec.InputKind.STREAM, spec.InputKind.TABLE]
        if not meet or not join.kind.preserves(hand):
            continue
        if join.clock is spec.Clock.EVENT:
            # Row times to come decide when such rows come out.
            if settings.outer_rows is spec.OuterRows.PER_MILLISECOND:
                yield Combination.LATE_STRETCHES
            # Against such a table a row waits from its place on, before its life is
            # known, and may have its late pair before its null row.
            table = spec.known_input(join.side(hand.other).source, inputs)
            window = join.side(hand).window
            is_ended = window.is_ended_by_rows or window.is_inherited
            if is_ended and not table.is_timed:
                yield Combination.LATE_ENDED
        if hand is spec.Hand.LEFT:
            continue
        # Picks are of left rows, here of the table: a late pair of a right row may be
        # the first of a left one, whose other pairs have been counted and are out.
        if judges_pairs(join):
            yield Combination.LATE_JUDGED
        is_skipped = "counter" in spec.bare_names(join.picks.skip_when)
        if join.picks.most_kept and (is_skipped or spec.counting_columns(join)):
            yield Combination.LATE_KEPT
        if is_skipped and join.clock is spec.Clock.ARRIVAL:
            yield Combination.LATE_SKIPPED
