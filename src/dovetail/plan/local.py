"""What the engine without Spark supports: all that the kernels can do by now."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from dovetail import spec
from dovetail.plan.capability import features_of_play
from dovetail.plan.features import Combination, Engine, Feature
from dovetail.plan.late_tables import missing_late_tables
from dovetail.plan.sides import changing, has_stream, untimed_changes

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
    yield from _of_evictions(join)
    if join.clock is not spec.Clock.BATCH:
        yield from _of_untimed(play, join)
        yield from _of_settings(play, join)
    if join.clock is spec.Clock.EVENT and not has_stream(join, play.inputs):
        yield Combination.NO_STREAM


def _of_evictions(join: spec.JoinSpec) -> Iterator[Combination]:
    """Gives evictions of partitions whose rows leave in an order of their own."""
    for side in (join.left, join.right):
        is_whole = side.partition_evict == spec.KeepPartitions()
        if not is_whole and isinstance(side.window, spec.Latest | spec.Range):
            yield Combination.EVICTED_VERSIONS


def _of_untimed(play: spec.Play, join: spec.JoinSpec) -> Iterator[Combination]:
    """Gives picks of a table's row that wait for one that others may end."""
    source = spec.known_input(join.left.source, play.inputs)
    picks, ended = (
        join.picks,
        isinstance(join.right.window, spec.Latest | spec.RowsPreceding),
    )
    shares = isinstance(picks.at_most, spec.AtMost) and picks.at_most.optional
    changes = any(untimed_changes(join, play.inputs, changing(play)))
    if source.is_timed or not ended or not changes:
        return
    if shares or isinstance(picks.asof, spec.AsOf):
        yield Combination.JUDGED_CHANGES


def _of_settings(play: spec.Play, join: spec.JoinSpec) -> Iterator[Combination]:
    """Gives the switches that a clock lacks; without a stream none changes a row."""
    kinds = {spec.kind_of(join.side(hand).source, play.inputs) for hand in spec.HANDS}
    if spec.InputKind.STREAM not in kinds:
        return
    if play.settings.late_table_rows != spec.IgnoreLateTableRows():
        yield from missing_late_tables(play, join)
