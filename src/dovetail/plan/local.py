"""What the engine without Spark supports: all that the kernels can do by now."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from dovetail.errors import UnsupportedError
from dovetail.plan.capability import features_of_play
from dovetail.plan.features import Engine, Feature
from dovetail.plan.late_tables import missing_late_tables
from dovetail.plan.together import missing_in_kernels, untimed_changes
from dovetail.spec.inputs import (
    IgnoreLateTableRows,
    InputKind,
    OuterRows,
    Settings,
)
from dovetail.spec.join import HANDS, Clock, JoinSpec, Nested
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

LOCAL = Engine("local", frozenset(Feature))


def refuse_sets(play: Play) -> None:
    """Raises what cannot be done of a join of several sets."""
    LOCAL.refuse_unsupported(features_of_play(play))


def refuse_inner(play: Play, join: JoinSpec, source: Nested) -> None:
    """Raises what cannot be done of a join whose rows go to another one."""
    if is_batch_inside(play, source, join):
        return
    inner, switches = source.join, replace(play.settings, order=Settings().order)
    clocks = f"{inner.clock.value} inside one on the clock {join.clock.value}"
    is_told = kind_of(source, play.inputs) is InputKind.TABLE
    missing = [
        *([f"a join on the clock {clocks}"] if inner.clock is not join.clock else []),
        *(["a switch in a join of a join"] if switches != Settings() else []),
        *(
            ["a join of the changelog of two tables"]
            if is_told and join.clock is not Clock.BATCH
            else []
        ),
    ]
    for what in missing:
        raise UnsupportedError.not_yet(LOCAL.name, what)


def refuse_inherited(join: JoinSpec) -> None:
    """Raises what cannot be done of rows whose inherited lives other rows may end."""
    if _judges_pairs(join):
        what = "atmost, limit or asof of an inherited life that other rows may end"
        hint = "use keep, or give the rows of the inner join a range of their own"
        raise UnsupportedError.not_yet(LOCAL.name, what, hint)


def _refuse_judged_stretches(play: Play, join: JoinSpec) -> None:
    """Raises that null rows per millisecond do not wait for picks yet."""
    is_split = play.settings.outer_rows is OuterRows.PER_MILLISECOND
    if is_split and _judges_pairs(join):
        what = "outer_rows per_millisecond beside atmost, limit or asof"
        hint = 'use keep, or outer_rows "expiry": one null row, at the end'
        raise UnsupportedError.not_yet(LOCAL.name, what, hint)


def _judges_pairs(join: JoinSpec) -> bool:
    """Tells whether pairs of a left row decide about each other."""
    picks = (join.picks.at_most, join.picks.limit, join.picks.asof)
    return picks != (Unlimited(), Unlimited(), Unlimited())


def refuse(play: Play) -> JoinSpec:
    """Returns the join of a play, or raises what the kernels cannot do of it yet."""
    LOCAL.refuse_unsupported(features_of_play(play))
    join = play.join
    if not isinstance(join, JoinSpec):
        raise UnsupportedError.not_yet(LOCAL.name, "a join of several sets")
    _refuse_judged_stretches(play, join)
    for missing in _missing(play, join):
        raise UnsupportedError.not_yet(LOCAL.name, missing)
    return join


def _missing(play: Play, join: JoinSpec) -> Iterator[str]:
    """Gives what only several features together make impossible."""
    yield from _of_evictions(join)
    if join.clock is not Clock.BATCH:
        yield from _of_untimed(play, join)
        yield from _of_settings(play, join)
    yield from missing_in_kernels(play, join)


def _of_evictions(join: JoinSpec) -> Iterator[str]:
    """Gives evictions of partitions whose rows leave in an order of their own."""
    for side in (join.left, join.right):
        is_whole = side.partition_evict == KeepPartitions()
        if not is_whole and isinstance(side.window, Latest | Range):
            yield "eviction of partitions of versions or ranges"


def _of_untimed(play: Play, join: JoinSpec) -> Iterator[str]:
    """Gives picks of a table's row that wait for one that others may end."""
    source = known_input(join.left.source, play.inputs)
    picks, ended = join.picks, isinstance(join.right.window, Latest | RowsPreceding)
    shares = isinstance(picks.at_most, AtMost) and picks.at_most.optional
    if source.is_timed or not ended or not any(untimed_changes(play, join)):
        return
    if shares or isinstance(picks.asof, AsOf):
        yield "asof or optional equalities of a table without a time that changes"


def _of_settings(play: Play, join: JoinSpec) -> Iterator[str]:
    """Gives the switches that a clock lacks; without a stream none changes a row."""
    kinds = {kind_of(join.side(hand).source, play.inputs) for hand in HANDS}
    if InputKind.STREAM not in kinds:
        return
    if play.settings.late_table_rows != IgnoreLateTableRows():
        yield from missing_late_tables(play, join)
