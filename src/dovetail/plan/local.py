"""What the engine without Spark supports: all that the kernels can do by now.

Some of it they cannot do together. Rows that wait for rows of a table that come late,
`late_table_rows emit`, go with few other things yet: those stand at the end.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from dovetail import spec
from dovetail.plan.features import (
    Combination,
    Engine,
    Feature,
    changing,
    features_of_play,
    has_stream,
    untimed_changes,
)

LOCAL = Engine(
    "local",
    frozenset(Feature),
    lacks=frozenset(Combination)
    - {
        Combination.CHANGES_WITHOUT_TIME,
        Combination.OPEN_TABLE,
        Combination.ARRIVAL_RANGE,
        Combination.COUNTER_SELECTED,
    },
)


def refuse_sets(play: spec.Play) -> None:
    """Raises what cannot be done of a join of several sets."""
    LOCAL.refuse_unsupported(features_of_play(play))


def refuse_inner(play: spec.Play, join: spec.JoinSpec, hand: spec.Hand) -> None:
    """Raises what cannot be done of a join whose rows go to a side of another one."""
    side = join.side(hand)
    source = side.source
    if not isinstance(source, spec.Nested) or spec.is_batch_inside(
        join, side, play.inputs
    ):
        return
    # In which order rows leave is the affair of the join around.
    switches = replace(play.settings, order=spec.Settings().order)
    is_told = spec.kind_of(source, play.inputs) is spec.InputKind.TABLE
    missing = {
        Combination.OTHER_CLOCK_INSIDE: source.join.clock is not join.clock,
        Combination.SWITCH_INSIDE: switches != spec.Settings(),
        Combination.CHANGELOG_INSIDE: is_told and join.clock is not spec.Clock.BATCH,
    }
    LOCAL.refuse_together(what for what, is_found in missing.items() if is_found)


def refuse_inherited(join: spec.JoinSpec) -> None:
    """Raises what cannot be done of rows whose inherited lives other rows may end."""
    if _judges_pairs(join):
        LOCAL.refuse_together([Combination.JUDGED_INHERITED])


def _judges_pairs(join: spec.JoinSpec) -> bool:
    """Tells whether pairs of a left row decide about each other."""
    picks = (join.picks.at_most, join.picks.limit, join.picks.asof)
    return picks != (spec.Unlimited(), spec.Unlimited(), spec.Unlimited())


def refuse(play: spec.Play) -> spec.JoinSpec:
    """Returns the join of a play, or raises what the kernels cannot do of it yet."""
    LOCAL.refuse_unsupported(features_of_play(play))
    join = play.join
    assert isinstance(join, spec.JoinSpec)  # noqa: S101 - sets have their own engine
    LOCAL.refuse_together(_missing(play, join))
    return join


def _missing(play: spec.Play, join: spec.JoinSpec) -> Iterator[Combination]:
    """Gives what only several features together make impossible."""
    is_split = play.settings.outer_rows is spec.OuterRows.PER_MILLISECOND
    if is_split and _judges_pairs(join):
        yield Combination.JUDGED_STRETCHES
    for side in (join.left, join.right):
        # Their rows leave in an order of their own, not partition by partition.
        is_whole = side.partition_evict == spec.KeepPartitions()
        if not is_whole and isinstance(side.window, spec.Latest | spec.Range):
            yield Combination.EVICTED_VERSIONS
    if join.clock is not spec.Clock.BATCH:
        if _judges_changes(play, join):
            yield Combination.JUDGED_CHANGES
        is_told = play.settings.late_table_rows != spec.IgnoreLateTableRows()
        if is_told and has_stream(join, play.inputs):
            yield from _of_late_rows(play, join)
    if join.clock is spec.Clock.EVENT and not has_stream(join, play.inputs):
        yield Combination.NO_STREAM


def _judges_changes(play: spec.Play, join: spec.JoinSpec) -> bool:
    """Tells whether picks of a table's row wait for one that others may end."""
    source = spec.known_input(join.left.source, play.inputs)
    return (
        not source.is_timed
        and join.right.window.is_ended_by_rows
        and (join.picks.optional or isinstance(join.picks.asof, spec.AsOf))
        and any(untimed_changes(join, play.inputs, changing(play)))
    )


def _of_late_rows(play: spec.Play, join: spec.JoinSpec) -> Iterator[Combination]:
    """Gives what rows of a stream that wait for a table's do not go with."""
    for hand in spec.HANDS:
        kinds = [
            spec.kind_of(join.side(one).source, play.inputs)
            for one in (hand, hand.other)
        ]
        meet = kinds == [spec.InputKind.STREAM, spec.InputKind.TABLE]
        if not meet or not join.kind.preserves(hand):
            continue
        if join.clock is spec.Clock.EVENT:
            # Row times to come decide when such rows come out.
            if play.settings.outer_rows is spec.OuterRows.PER_MILLISECOND:
                yield Combination.LATE_STRETCHES
            if join.side(hand).window.is_ended_by_rows:
                yield Combination.LATE_ENDED
        if hand is spec.Hand.RIGHT:
            yield from _of_late_pairs(join)


def _of_late_pairs(join: spec.JoinSpec) -> Iterator[Combination]:
    """Gives picks that decide about the left rows whose pairs are late."""
    picks = join.picks
    if _judges_pairs(join):
        yield Combination.LATE_JUDGED
    is_skipped = "counter" in spec.bare_names(picks.skip_when)
    if picks.most_kept and (is_skipped or spec.counting_columns(join)):
        yield Combination.LATE_KEPT
    if is_skipped and join.clock is spec.Clock.ARRIVAL:
        yield Combination.LATE_SKIPPED
