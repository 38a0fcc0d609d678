"""What the engine without Spark supports: all that the kernels can do by now."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from dovetail.plan.capability import features_of_play
from dovetail.plan.features import Combination, Engine, Feature
from dovetail.plan.late_tables import missing_late_tables
from dovetail.plan.sides import changing, has_stream, untimed_changes
from dovetail.spec.inputs import (
    IgnoreLateTableRows,
    InputKind,
    OuterRows,
    Settings,
)
from dovetail.spec.join import HANDS, Clock, Hand, JoinSpec, Nested
from dovetail.spec.picks import AsOf, AtMost, Unlimited
from dovetail.spec.play import Play
from dovetail.spec.sources import kind_of, known_input
from dovetail.spec.static import is_batch_inside
from dovetail.spec.windows import (
    KeepPartitions,
    Latest,
    Range,
    RowsPreceding,
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


def refuse_sets(play: Play) -> None:
    """Raises what cannot be done of a join of several sets."""
    LOCAL.refuse_unsupported(features_of_play(play))


def refuse_inner(play: Play, join: JoinSpec, hand: Hand) -> None:
    """Raises what cannot be done of a join whose rows go to a side of another one."""
    side = join.side(hand)
    source = side.source
    if not isinstance(source, Nested) or is_batch_inside(join, side, play.inputs):
        return
    switches = replace(play.settings, order=Settings().order)
    is_told = kind_of(source, play.inputs) is InputKind.TABLE
    missing = {
        Combination.OTHER_CLOCK_INSIDE: source.join.clock is not join.clock,
        Combination.SWITCH_INSIDE: switches != Settings(),
        Combination.CHANGELOG_INSIDE: is_told and join.clock is not Clock.BATCH,
    }
    LOCAL.refuse_together(what for what, is_found in missing.items() if is_found)


def refuse_inherited(join: JoinSpec) -> None:
    """Raises what cannot be done of rows whose inherited lives other rows may end."""
    if _judges_pairs(join):
        LOCAL.refuse_together([Combination.JUDGED_INHERITED])


def _judges_pairs(join: JoinSpec) -> bool:
    """Tells whether pairs of a left row decide about each other."""
    picks = (join.picks.at_most, join.picks.limit, join.picks.asof)
    return picks != (Unlimited(), Unlimited(), Unlimited())


def refuse(play: Play) -> JoinSpec:
    """Returns the join of a play, or raises what the kernels cannot do of it yet."""
    LOCAL.refuse_unsupported(features_of_play(play))
    join = play.join
    assert isinstance(join, JoinSpec)  # noqa: S101 - sets have an engine of their own
    LOCAL.refuse_together(_missing(play, join))
    return join


def _missing(play: Play, join: JoinSpec) -> Iterator[Combination]:
    """Gives what only several features together make impossible."""
    is_split = play.settings.outer_rows is OuterRows.PER_MILLISECOND
    if is_split and _judges_pairs(join):
        yield Combination.JUDGED_STRETCHES
    yield from _of_evictions(join)
    if join.clock is not Clock.BATCH:
        yield from _of_untimed(play, join)
        yield from _of_settings(play, join)
    if join.clock is Clock.EVENT and not has_stream(join, play.inputs):
        yield Combination.NO_STREAM


def _of_evictions(join: JoinSpec) -> Iterator[Combination]:
    """Gives evictions of partitions whose rows leave in an order of their own."""
    for side in (join.left, join.right):
        is_whole = side.partition_evict == KeepPartitions()
        if not is_whole and isinstance(side.window, Latest | Range):
            yield Combination.EVICTED_VERSIONS


def _of_untimed(play: Play, join: JoinSpec) -> Iterator[Combination]:
    """Gives picks of a table's row that wait for one that others may end."""
    source = known_input(join.left.source, play.inputs)
    picks, ended = join.picks, isinstance(join.right.window, Latest | RowsPreceding)
    shares = isinstance(picks.at_most, AtMost) and picks.at_most.optional
    changes = any(untimed_changes(join, play.inputs, changing(play)))
    if source.is_timed or not ended or not changes:
        return
    if shares or isinstance(picks.asof, AsOf):
        yield Combination.JUDGED_CHANGES


def _of_settings(play: Play, join: JoinSpec) -> Iterator[Combination]:
    """Gives the switches that a clock lacks; without a stream none changes a row."""
    kinds = {kind_of(join.side(hand).source, play.inputs) for hand in HANDS}
    if InputKind.STREAM not in kinds:
        return
    if play.settings.late_table_rows != IgnoreLateTableRows():
        yield from missing_late_tables(play, join)
