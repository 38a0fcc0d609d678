"""Laws about windows: which clock has which, what they need, what they may meet."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import get_args

from dovetail import spec
from dovetail.errors import DovetailError
from dovetail.expression import Expression, Scope, parse
from dovetail.schema import FRACTIONS, MOMENTS, WHOLE, AtomicType, DecimalType, Type
from dovetail.spec.rules.rule import Finding, JoinRule

_MOMENTS = {*MOMENTS, AtomicType.NULL}
_MEASURED = {
    *_MOMENTS,
    *(*WHOLE, *FRACTIONS, AtomicType.DATE),
}


def unstated_windows(join: spec.JoinSpec, _: spec.Inputs) -> Iterator[Finding]:
    """Gives the sides whose window does not follow from what they are."""
    for hand in spec.HANDS:
        if join.side(hand).window == spec.Unstated():
            yield Finding(
                f"the {hand.value} side, a stream that meets a stream, has no window",
                "how long its rows live",
                'write for example "window": {"range": {"preceding": "10 minutes"}}',
            )


def windows_of_other_clocks(join: spec.JoinSpec, _: spec.Inputs) -> Iterator[Finding]:
    """Gives the windows that the clock does not have."""
    known = [kind for kind in get_args(spec.Window) if join.clock in kind.clocks]
    for hand in spec.HANDS:
        window = join.side(hand).window
        # On the clock event `rows: 0` looks up what is there at the row's time, where
        # the other side has versions, or stays.
        is_looked_up = (
            join.clock is spec.Clock.EVENT
            and window == spec.Rows(0)
            and isinstance(join.side(hand.other).window, spec.Latest | spec.Forever)
        )
        is_known = isinstance(window, (*known, spec.Unstated))
        if not is_known and not is_looked_up:
            words = dict.fromkeys(kind.word for kind in known)
            yield Finding(
                f"the {hand.value} window is {window.word} on the clock "
                f"{join.clock.value}",
                f"one of {', '.join(words)}",
                _clock_hint(window, join.clock),
            )


def _clock_hint(window: spec.Window, clock: spec.Clock) -> str:
    """Returns what helps where a window is on the wrong clock."""
    # The first that fits: rows: 0 is meant to look up, any other count to count.
    match window, clock:
        case spec.Rows(count=0), spec.Clock.EVENT:
            return "rows: 0 meets latest or forever on the clock event"
        case spec.Rows(), spec.Clock.EVENT:
            return "rows_preceding counts rows in the order of row time"
        case _ if window.clocks == (spec.Clock.ARRIVAL,):
            return "it goes by the order of arrival: use the clock arrival"
        case _, spec.Clock.ARRIVAL:
            return "it goes by row time: use the clock event"
        case _:
            return ""


def ranges_that_meet_others(join: spec.JoinSpec, _: spec.Inputs) -> Iterator[Finding]:
    """Gives a range that meets another window on the arrival clock."""
    # A range is of row times; a window that counts arrivals has none to compare.
    windows = {hand: join.side(hand).window for hand in spec.HANDS}
    ranges = [hand for hand in spec.HANDS if isinstance(windows[hand], spec.Range)]
    if join.clock is spec.Clock.ARRIVAL and len(ranges) == 1:
        other = windows[ranges[0].other]
        yield Finding(
            f"a range meets {other.word} on the clock arrival",
            "a range on both sides",
            "use the clock event, or a range on the other side too",
        )


def ranges_without_length(join: spec.JoinSpec, _: spec.Inputs) -> Iterator[Finding]:
    """Gives the ranges whose preceding and following add up to less than nothing."""
    for hand in spec.HANDS:
        window = join.side(hand).window
        if isinstance(window, spec.Range) and window.is_backward:
            yield Finding(
                f"the {hand.value} range has {window.preceding} preceding and "
                f"{window.following} following",
                "a sum that is not negative",
            )


def hops_that_differ(join: spec.JoinSpec, _: spec.Inputs) -> Iterator[Finding]:
    """Gives hop windows with a size that are not the same on both sides."""
    # Told from the side that has a size: that is the window to be repeated.
    left, right = (join.side(hand).window for hand in spec.HANDS)
    if left != right and isinstance(left, spec.HopSize):
        yield _other_hop(left, right)
    elif left != right and isinstance(right, spec.HopSize):
        yield _other_hop(right, left)


def _other_hop(hop: spec.HopSize, other: spec.Window) -> Finding:
    """Returns the finding of a hop window that meets another window."""
    shown = other.word
    if isinstance(other, spec.HopSize):
        shown = f"windows of {other.size} every {other.every}"
    return Finding(
        f"windows of {hop.size} every {hop.every} meet {shown}",
        "the same on both sides",
    )


def inherited_by_inputs(join: spec.JoinSpec, _: spec.Inputs) -> Iterator[Finding]:
    """Gives inputs that are to live as long as rows they do not have."""
    for hand in spec.HANDS:
        side = join.side(hand)
        if isinstance(side.window, spec.Inherited) and isinstance(
            side.source, spec.Named
        ):
            yield Finding(
                f'the {hand.value} window is inherited, "{side.source.name}" an input',
                "the rows of a join",
            )


def timed_windows_without_time(
    join: spec.JoinSpec, inputs: spec.Inputs
) -> Iterator[Finding]:
    """Gives windows of row time on rows that have none."""
    for hand in spec.HANDS:
        side = join.side(hand)
        if side.window.is_of_row_time and not spec.is_timed(side.source, inputs):
            yield Finding(
                f"the {hand.value} window is {side.window.word} and its rows "
                "have no row time",
                "rows with a row time",
                'name the column of the row time in the input\'s "time"',
            )


def intervals_of_other_types(
    join: spec.JoinSpec, inputs: spec.Inputs
) -> Iterator[Finding]:
    """Gives the starts and ends of a `between` that are no timestamps."""
    for hand, moment, kind in _measures(join, inputs, spec.Between):
        if kind not in _MOMENTS:
            yield Finding(
                f'"{moment}" in between of the {hand.value} side is {kind}',
                "a timestamp",
                "cast it",
            )


def deltas_of_other_types(
    join: spec.JoinSpec, inputs: spec.Inputs
) -> Iterator[Finding]:
    """Gives what a delta is measured by and is neither a number nor a timestamp."""
    for hand, measure, kind in _measures(join, inputs, spec.Delta):
        if kind not in _MEASURED and not isinstance(kind, DecimalType):
            yield Finding(
                f'"{measure}" of the {hand.value} delta is {kind}',
                "a number or a timestamp",
                "cast it",
            )


def _measures(
    join: spec.JoinSpec, inputs: spec.Inputs, window: type[spec.Between | spec.Delta]
) -> Iterator[tuple[spec.Hand, Expression, Type]]:
    """Gives what windows of a kind look at of their side's rows, with its type.

    What the room of expressions does not know is left to the engine.
    """
    for hand in spec.HANDS:
        side = join.side(hand)
        if isinstance(side.window, window) and spec.columns_of(side.source, inputs):
            schema = spec.input_of(side.source, inputs, hand.value).schema
            for one in side.window.measures:
                # Not of what only an engine knows.
                with suppress(DovetailError):
                    yield hand, one, parse(one, Scope.row(schema)).type


def latest_of_unknown_columns(
    join: spec.JoinSpec, inputs: spec.Inputs
) -> Iterator[Finding]:
    """Gives the columns of a `latest` that its side does not have."""
    for hand in spec.HANDS:
        side = join.side(hand)
        columns = spec.columns_of(side.source, inputs)
        # Without a schema no column is unknown.
        known = {name.lower() for name in columns}
        key = (
            side.window.key if isinstance(side.window, spec.Latest) and columns else ()
        )
        for name in key:
            if name.lower() not in known:
                yield Finding(
                    f'the {hand.value} window is the latest of "{name}"',
                    f"one of {', '.join(columns)}",
                )


def evictions_without_partitions(
    join: spec.JoinSpec, _: spec.Inputs
) -> Iterator[Finding]:
    """Gives evictions of partitions where nothing makes partitions."""
    for hand in spec.HANDS:
        side = join.side(hand)
        if side.partition_evict != spec.KeepPartitions() and not side.partition_by:
            yield Finding(
                (
                    f"the {hand.value} side has ",
                    "partition_evict",
                    " and no ",
                    "partition_by",
                ),
                "expressions in partition_by",
            )


def evictions_off_arrival(join: spec.JoinSpec, _: spec.Inputs) -> Iterator[Finding]:
    """Gives evictions of partitions where rows do not come one after the other."""
    # Whole partitions leave by the order in which rows come, or by their last one.
    for hand in spec.HANDS:
        evicts = join.side(hand).partition_evict != spec.KeepPartitions()
        if evicts and join.clock is not spec.Clock.ARRIVAL:
            yield Finding(
                (
                    f"the {hand.value} side has ",
                    "partition_evict",
                    f" on the clock {join.clock.value}",
                ),
                "the clock arrival",
            )


RULES = (
    JoinRule(
        "stated_window",
        "a stream that meets a stream says how long its rows live",
        unstated_windows,
    ),
    JoinRule(
        "window_clock", "every clock has its own windows", windows_of_other_clocks
    ),
    JoinRule(
        "arrival_range",
        "on the clock arrival a range meets only a range",
        ranges_that_meet_others,
    ),
    JoinRule("range_sum", "no range ends before it starts", ranges_without_length),
    JoinRule(
        "same_hops",
        "hop windows with a size are the same on both sides",
        hops_that_differ,
    ),
    JoinRule(
        "inherited_join", "only the rows of a join inherit a life", inherited_by_inputs
    ),
    JoinRule(
        "window_time",
        "a window of row time needs rows with a row time",
        timed_windows_without_time,
    ),
    JoinRule(
        "between_type",
        "a row lives between two timestamps",
        intervals_of_other_types,
    ),
    JoinRule(
        "delta_type",
        "a delta is measured by a number or a timestamp",
        deltas_of_other_types,
    ),
    JoinRule(
        "latest_key",
        "the key of latest is made of columns of its side",
        latest_of_unknown_columns,
    ),
    JoinRule(
        "evict_partitions",
        "only partitions that partition_by makes are evicted",
        evictions_without_partitions,
    ),
    JoinRule(
        "evict_clock",
        "partitions are evicted on the clock arrival",
        evictions_off_arrival,
    ),
)
