"""The right row nearest in time to each left one: `asof`.

How near right rows are is told by numbers, the times of both sides. A left row reaches
from the first right time that it may have to the last; a time that is not known, or has
no end, is near to nothing. What is nearest is found in one of two ways: among pairs
that are there already the best is chosen; else each left row walks away from where it
falls among the right rows of its key, until one passes what else is asked:

    right by (key, time)    9:57  9:58        10:01
    left 10:00                       ^ one binary search; then away from it

All left rows walk at once, in rounds that try twice as many rows each time. Where
nothing else is asked one row is tried.

At the end stands what of the right rows nobody can take any more:

    right of one key   9:57  9:58  9:59       10:01
    left rows to come                   10:00 ....     only 9:59 and 10:01 are needed

Looking back, of the right rows before all left times to come only the best of each key
can still be taken. That is known where times are row times and keys are all that is
asked; elsewhere right rows stay as long as their windows say.

A left row that is open waits for a better row: looking ahead from the best by now,

    left 10:00 ... best 10:04     settled by 10:04: whoever comes then is as far
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dovetail.kernels.arrays.rows import (
    BEGINNING,
    NEVER,
    Mask,
    Rows,
    Whole,
    can_meet,
)
from dovetail.kernels.arrays.sort import sorted_by
from dovetail.kernels.arrival.admission import Present
from dovetail.kernels.lifetimes.calendar import shift
from dovetail.kernels.lifetimes.successors import starts_of
from dovetail.kernels.pairs.formulas import of_every_row, truly_equal
from dovetail.kernels.pairs.matches import NO_MATCHES, Matches, join_matches
from dovetail.kernels.settings import JoinSettings, Nearest
from dovetail.spec import windows
from dovetail.spec.picks import Direction, Unlimited
from dovetail.spec.spans import SECOND, Span

_EDGES: tuple[Literal["left"], Literal["right"]] = ("left", "right")
_DAYS = 4 * 86_400 * SECOND
_ROOM = 2**62
"""Keys and times are folded into numbers below this one."""
Test = Callable[[Matches], Mask]


@dataclass(frozen=True, slots=True)
class Times:
    """The times of a side's rows, and which rows have one."""

    value: np.ndarray
    known: Mask


def times_of(nearest: Nearest, hand: int, rows: Rows) -> Times:
    """Returns the times by which a side's rows are near to each other."""
    formula = (nearest.left, nearest.right)[hand]
    column = of_every_row(formula, hand, rows)
    # Dates count days, times microseconds: only alike ones can be subtracted.
    if pa.types.is_date32(column.type):
        column = column.cast(pa.timestamp("us"))
    if pa.types.is_timestamp(column.type):
        column = column.view(pa.int64())
    if pa.types.is_decimal(column.type):
        # One scale and at most 18 digits: the low word of each is the whole number.
        words = np.frombuffer(column.buffers()[1], np.int64).reshape(-1, 2)
        lowest = words[column.offset : column.offset + len(column), 0]
        missing = column.is_null().to_numpy(zero_copy_only=False)
        column = pa.array(lowest, mask=missing)
    known = np.ones(len(column), bool)
    if column.null_count:
        known = column.is_valid().to_numpy(zero_copy_only=False)
        column = pc.fill_null(column, 0)
    value = column.to_numpy(zero_copy_only=False)
    if value.dtype.kind == "f":
        # NaN compares with nothing, and an infinite time is equally far from all.
        known = known & np.isfinite(value)
        return Times(np.where(known, value, 0.0), known)
    return Times(value.astype(np.int64, copy=False), known)


def fits(nearest: Nearest, base: np.ndarray, time: np.ndarray) -> Mask:
    """Tells which right times lie in the direction, within the tolerance."""
    lowest, highest = reach_of(nearest, base)
    near: Mask = (time >= lowest) & (time <= highest)
    return near if nearest.exact else near & (time != base)


def reach_of(nearest: Nearest, base: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Returns the first and the last right time that each left time may have."""
    match nearest.tolerance:
        case Unlimited():
            greatest = _greatest(base)
            # Of whole numbers the least is one further from zero than the greatest.
            least = -greatest - (base.dtype.kind != "f")
            lowest, highest = least, greatest
        case Span() as span:
            lowest, highest = shift(base, span.negated()), shift(base, span)
        case width:
            lowest, highest = base - width, base + width
    if nearest.direction is Direction.BACKWARD:
        highest = base
    if nearest.direction is Direction.FORWARD:
        lowest = base
    return lowest, highest


def _greatest(base: np.ndarray) -> np.ndarray:
    """Returns a time behind all others, for each."""
    most = np.inf if base.dtype.kind == "f" else np.iinfo(np.int64).max
    return np.full(len(base), most, base.dtype)


def both_times(nearest: Nearest, sides: tuple[Rows, Rows]) -> tuple[Times, Times]:
    """Returns the times of both sides' rows."""
    return times_of(nearest, 0, sides[0]), times_of(nearest, 1, sides[1])


def near(nearest: Nearest, sides: tuple[Rows, Rows], found: Matches) -> Matches:
    """Returns the pairs whose times are known, and near enough to each other."""
    return _near(nearest, both_times(nearest, sides), found)


def _near(nearest: Nearest, times: tuple[Times, Times], found: Matches) -> Matches:
    """Returns the pairs whose times are known, and near enough to each other."""
    ours, theirs = times
    base, time = ours.value[found.left], theirs.value[found.right]
    able = ours.known[found.left] & theirs.known[found.right]
    return found.take(able & fits(nearest, base, time))


def best_of(
    nearest: Nearest, sides: tuple[Rows, Rows], found: Matches, rank: Whole
) -> Matches:
    """Returns the best pair of each left row; `rank` is the order of right rows."""
    ours, theirs = both_times(nearest, sides)
    found = _near(nearest, (ours, theirs), found)
    base, time = ours.value[found.left], theirs.value[found.right]
    place = rank[found.right]
    order = np.lexsort(
        (-place if nearest.takes_last else place, time, abs(time - base), found.left)
    )
    found = found.take(order)
    return found.take(starts_of(found.left))


@dataclass(frozen=True, slots=True)
class Nearby:
    """The best pairs by now, at most one a left row, and the bound of right times."""

    sides: tuple[Rows, Rows]
    best: Matches
    bound: int


def can_improve(nearest: Nearest, nearby: Nearby) -> Mask:
    """Tells for which left rows a better right row can still come."""
    better: Mask = nearby.bound < settled_by(nearest, nearby)
    return better


def settled_by(nearest: Nearest, nearby: Nearby) -> Whole:
    """Returns from which bound of right times on no better right row can come.

    BEGINNING where none can by now. Of times that are no row times nobody knows how
    near one may come before the end.
    """
    ours, theirs = both_times(nearest, nearby.sides)
    base = ours.value
    has_best = np.zeros(len(base), bool)
    has_best[nearby.best.left] = True
    known = np.zeros(len(base), base.dtype)
    known[nearby.best.left] = theirs.value[nearby.best.right]
    if not nearest.is_row_time:
        better = ~has_best | (known != base) | nearest.takes_last
        return np.where(better & ours.known, NEVER, BEGINNING)
    _, highest = reach_of(nearest, base)
    # Up to its own time a row ahead is better, looking back all that is as near.
    ahead = np.maximum(known, base + abs(known - base) - 1)
    last = np.where(has_best, np.minimum(ahead, highest), highest)
    settled = np.full(len(base), BEGINNING)
    # The last time that is better is one of these; no later one is before the others.
    for edge in (last - 2, last - 1, last):
        comes = fits(nearest, base, edge)
        distance, nearest_by_now = abs(edge - base), abs(known - base)
        closer: Mask = (distance < nearest_by_now) | (
            (distance == nearest_by_now) & (edge < known)
        )
        comes &= ~has_best | np.where(edge == known, nearest.takes_last, closer)
        settled[comes] = np.minimum(edge[comes], NEVER - 1) + 1
    return np.where(ours.known, settled, BEGINNING)


def nearest_pairs(
    nearest: Nearest,
    sides: tuple[Rows, Rows],
    chosen: tuple[Mask, Mask],
    rank: Whole,
    test: Test,
) -> Matches:
    """Returns the best pair of each chosen left row among the chosen right ones.

    `test` tells which pairs pass what else is asked; `rank` orders the right rows.
    """
    ours, theirs = both_times(nearest, sides)
    left = np.flatnonzero(chosen[0] & ours.known)
    right = np.flatnonzero(chosen[1] & theirs.known)
    if not len(left) or not len(right):
        return NO_MATCHES
    # Key and time as one number, so that each reach is two binary searches.
    line = _line_of(nearest, sides, (left, right), (ours.value, theirs.value))
    found = [_first_passing(walk, test) for walk in _walks(nearest, line, rank)]
    return found[0] if len(found) == 1 else _nearer(found, ours, theirs)


def _nearer(found: list[Matches], ours: Times, theirs: Times) -> Matches:
    """Returns of each left row the nearer of the pairs looking back and ahead.

    Of two that are equally far it is the earlier, found looking back.
    """
    back, ahead = found
    far = _greatest(ours.value)
    # Who has none ahead is infinitely far there, so that looking back wins.
    far[ahead.left] = theirs.value[ahead.right] - ours.value[ahead.left]
    stays = ours.value[back.left] - theirs.value[back.right] <= far[back.left]
    back = back.take(stays)
    # A pair ahead counts only for whom looking back has found none as near.
    is_free = np.ones(len(far), bool)
    is_free[back.left] = False
    return join_matches([back, ahead.take(is_free[ahead.left])])


@dataclass(frozen=True, slots=True)
class _Walk:
    """Left rows, each with its run of right rows, which stand by (key, time).

    A walk begins behind the run and goes `back`, or before it and goes on.
    """

    left: Whole
    right: Whole
    start: Whole
    stop: Whole
    back: bool


@dataclass(frozen=True, slots=True)
class _Line:
    """The keys and times of both sides' chosen rows, times folded into one number."""

    left: Whole
    right: Whole
    code: tuple[Whole, Whole]
    time: Whole
    reach: tuple[Whole, Whole, Whole, Whole]
    width: int

    def in_order(self, order: Whole) -> Whole:
        """Returns the right rows as numbers of key and time, in an order."""
        numbers: Whole = (self.code[1] * self.width + self.time)[order]
        return numbers

    def runs(self, numbers: Whole, start: int, stop: int) -> tuple[Whole, Whole]:
        """Returns where each left row's run begins and ends among the right ones'."""
        base = self.code[0] * self.width
        first, past = (
            np.searchsorted(numbers, base + self.reach[edge]) for edge in (start, stop)
        )
        return first, past


def _walks(
    nearest: Nearest,
    line: _Line,
    rank: Whole,
) -> Iterator[_Walk]:
    """Gives the walks that the direction wants; what a walk meets first is better."""
    order = sorted_by(line.code[1], line.time, rank[line.right])
    numbers = line.in_order(order)
    for back, edges in ((True, (0, 1)), (False, (2, 3))):
        # NEAREST walks both ways.
        unwanted = Direction.FORWARD if back else Direction.BACKWARD
        if nearest.direction is not unwanted:
            ordered = order if back == nearest.takes_last else _turned(order, numbers)
            first, past = line.runs(numbers, *edges)
            yield _Walk(line.left, line.right[ordered], first, past, back)


def _turned(order: Whole, numbers: Whole) -> Whole:
    """Returns the order of numbers with equal ones the other way round."""
    is_first = starts_of(numbers)
    first = np.flatnonzero(is_first)
    if len(first) == len(order):
        return order
    # In each run of equals the first becomes the last, the second the last but one, ..
    edges = first + np.append(first[1:], len(order)) - 1
    turned: Whole = order[edges[np.cumsum(is_first) - 1] - np.arange(len(order))]
    return turned


def _line_of(
    nearest: Nearest,
    sides: tuple[Rows, Rows],
    chosen: tuple[Whole, Whole],
    times: tuple[np.ndarray, np.ndarray],
) -> _Line:
    """Returns both sides on one line, the left rows by key and time."""
    left, right = chosen
    own = [sides[hand].code[chosen[hand]] for hand in (0, 1)]
    every = np.concatenate(own)
    least = int(every.min())
    if int(every.max()) - least < 8 * len(every):
        codes = (own[0] - least, own[1] - least)
    else:
        # Codes far apart would leave no room for the times beside them: so they are
        # numbered.
        _, dense = np.unique(every, return_inverse=True)
        codes = (dense[: len(left)], dense[len(left) :])
    # Left rows that stand as the right ones do find them in the memory at hand.
    own_times = times[0][left]
    if own_times.dtype.kind == "f":
        _, own_times = np.unique(own_times, return_inverse=True)
    order = sorted_by(codes[0], own_times)
    left, code = left[order], codes[0][order]
    room = _ROOM // (1 + max(int(codes[0].max()), int(codes[1].max())))
    near = (times[0][left], times[1][right])
    reach, time, width = _reach_on(nearest, *near, room)
    return _Line(left, right, (code, codes[1]), time, reach, width)


def _reach_on(
    nearest: Nearest, base: np.ndarray, time: np.ndarray, room: int
) -> tuple[tuple[Whole, Whole, Whole, Whole], Whole, int]:
    """Returns where left rows reach, then right times, as numbers below a width.

    They are ranks where the times themselves are no whole numbers, or need more room.

    The reach is the first time, that behind the last one looking back, the first one
    looking ahead, and that behind the last.
    """
    lowest, highest = reach_of(nearest, base)
    if base.dtype.kind == "f" or int(time.max()) - int(time.min()) + 2 >= room:
        moments = np.unique(time)
        # Whether a time that is equal counts depends on the edge at which it is looked
        # for.
        before, behind = (np.searchsorted(moments, base, side) for side in _EDGES)
        first = np.searchsorted(moments, lowest, "left")
        past = np.searchsorted(moments, highest, "right")
        number, width = np.searchsorted(moments, time), len(moments) + 1
    else:
        least, most = int(time.min()), int(time.max())
        # Times outside of those there are stand at the edges: else the folded number
        # would run into the next key.
        before = np.clip(base, least, most + 1) - least
        behind = np.clip(base, least - 1, most) + 1 - least
        first = np.clip(lowest, least, most + 1) - least
        past = np.clip(highest, least - 1, most) + 1 - least
        number, width = time - least, most - least + 2
    edges = (behind, before) if nearest.exact else (before, behind)
    return (first, edges[0], edges[1], past), number, width


def _first_passing(walk: _Walk, test: Test) -> Matches:
    """Returns for each left row the first right one on its walk that passes."""
    length = walk.stop - walk.start
    open_rows, tried, step, taken = np.flatnonzero(length > 0), 0, 1, [NO_MATCHES]
    while len(open_rows):
        count = np.minimum(length[open_rows] - tried, step)
        # Counted from 0 for each of the left rows.
        before = np.repeat(np.cumsum(count) - count, count)
        turn = tried + np.arange(int(count.sum())) - before
        number = np.repeat(open_rows, count)
        at = walk.stop[number] - 1 - turn if walk.back else walk.start[number] + turn
        passed = test(Matches(walk.left[number], walk.right[at]))
        number, at = number[passed], at[passed]
        is_first = starts_of(number)
        taken.append(Matches(walk.left[number[is_first]], walk.right[at[is_first]]))
        # Who has tried its whole run and found nobody has no match.
        wanting = length > tried + step
        wanting[number] = False
        open_rows = open_rows[wanting[open_rows]]
        # Twice as many each time: few rounds, at most twice as many tries as it takes.
        tried, step = tried + step, step * 2
    return join_matches(taken)


def outdated_by(
    settings: JoinSettings, present: Present, closed: Mask, rank: Whole
) -> Whole:
    """Returns from which bound of left times on no left row takes each right one.

    NEVER where that is not known, or one that is not `closed` may still do so. A row is
    outdated as left times are too far from it, or as the next one of its key, in the
    order `rank` of equal times, is behind them all and stands nearer.
    """
    right = present.rows[1]
    outdated = np.full(len(right), NEVER)
    for nearest in settings.picks.nearest if _is_known(settings) else ():
        times = times_of(nearest, 1, right)
        # One that meets nobody stands for none of those whose code it happens to have.
        able = can_meet(right)
        useless = np.flatnonzero(times.known & ~able)
        outdated[useless] = times.value[useless] + 1 - nearest.exact
        number = np.flatnonzero(times.known & able)
        passed = _too_far_from(nearest, times.value[number])
        if _is_followed(settings, nearest):
            place = rank[number] if nearest.takes_last else -rank[number]
            order = sorted_by(right.code[number], times.value[number], place)
            rows = number[order]
            is_next = right.code[rows[1:]] == right.code[rows[:-1]]
            pairs = Matches(rows[:-1][is_next], rows[1:][is_next])
            # Different keys of one code do not stand for each other.
            pairs = truly_equal(settings, (right, right), pairs)
            behind = np.full(len(right), NEVER)
            behind[pairs.left] = times.value[pairs.right] + 1 - nearest.exact
            passed = np.minimum(passed, behind[number])
        is_open = _open_times(nearest, present, closed, right.code[number]) < passed
        outdated[number] = np.where(is_open, NEVER, passed)
    return outdated


def _is_known(settings: JoinSettings) -> bool:
    """Tells whether row times say who is taken, and every candidate is no more."""
    picks = settings.picks
    by_time = all(one.is_row_time and one.is_left_row_time for one in picks.nearest)
    return settings.event_clock and by_time and not picks.counts


def _is_followed(settings: JoinSettings, nearest: Nearest) -> bool:
    """Tells whether a later right row of the key is taken in place of an older one."""
    left, right = (side.window for side in settings.sides)
    # A left row that lives at its own time meets all right ones that came before.
    meets_those_before = left in (windows.Forever(), windows.Rows(0)) or (
        isinstance(left, windows.Range)
        and min(left.preceding.months, left.preceding.microseconds) >= 0
    )
    is_plain = right == windows.Forever() and not settings.soft
    is_forward = nearest.direction is Direction.FORWARD
    return meets_those_before and is_plain and not is_forward


def _too_far_from(nearest: Nearest, times: Whole) -> Whole:
    """Returns from which left time on right ones are too far away."""
    if nearest.direction is Direction.FORWARD:
        return times + nearest.exact
    match nearest.tolerance:
        case Span(months=0, microseconds=width):
            return times + width + 1
        case Span() as span:
            # The last days of a month may come from a shorter one.
            return shift(times, span) + _DAYS
        case _:
            return np.full(len(times), NEVER)


def _open_times(nearest: Nearest, present: Present, closed: Mask, code: Whole) -> Whole:
    """Returns the least time of left rows that are open, for each of some codes."""
    left = present.rows[0]
    ours = times_of(nearest, 0, left)
    number = np.flatnonzero(ours.known & ~closed)
    number = number[sorted_by(left.code[number], ours.value[number])]
    # A guard at the end: a search behind the last code finds it, and no row.
    codes = np.append(left.code[number], np.iinfo(np.int64).max)
    least = np.append(ours.value[number], NEVER)
    first = np.searchsorted(codes[:-1], code)
    return np.where(codes[first] == code, least[first], NEVER)
