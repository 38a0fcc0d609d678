"""How near right rows are to left ones: their times as numbers, and how far they reach.

A reach is the first and the last right time that a left row may have. Times that are
not known, or have no end, are near to nothing.

The pick `asof` among pairs that are found: the nearest of each left row in time.

Without pairs to choose from the nearest rows are found by `walks.py`.

Right rows that no left row of an `asof` can take any more.

    right of one key   9:57  9:58  9:59       10:01
    left rows to come                   10:00 ....     only 9:59 and 10:01 are needed

Looking back, of the right rows before all left times to come only the best of each key
can still be taken. That is known where times are row times and keys are all that is
asked; elsewhere right rows stay as long as their windows say.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dovetail.kernels.arrays.rows import BEGINNING, NEVER, Mask, Rows, Whole
from dovetail.kernels.arrays.sort import sorted_by
from dovetail.kernels.arrival.admission import Present
from dovetail.kernels.lifetimes.calendar import shift
from dovetail.kernels.pairs.formulas import of_every_row
from dovetail.kernels.pairs.matches import Matches
from dovetail.kernels.settings import JoinSettings, Nearest
from dovetail.spec.picks import Direction, Unlimited
from dovetail.spec.spans import Span
from dovetail.spec.windows import Forever


@dataclass(frozen=True, slots=True)
class Times:
    """The times of a side's rows, and which rows have one."""

    value: np.ndarray
    known: Mask


def times_of(nearest: Nearest, hand: int, rows: Rows) -> Times:
    """Returns the times by which a side's rows are near to each other."""
    formula = (nearest.left, nearest.right)[hand]
    column = of_every_row(formula, hand, rows)
    if pa.types.is_date32(column.type):
        column = column.cast(pa.timestamp("us"))
    if pa.types.is_timestamp(column.type):
        column = column.view(pa.int64())
    if pa.types.is_decimal(column.type):
        column = _unscaled(column)
    known = np.ones(len(column), bool)
    if column.null_count:
        known = column.is_valid().to_numpy(zero_copy_only=False)
        column = pc.fill_null(column, 0)
    value = column.to_numpy(zero_copy_only=False)
    if value.dtype.kind == "f":
        known = known & np.isfinite(value)
        return Times(np.where(known, value, 0.0), known)
    return Times(value.astype(np.int64, copy=False), known)


def _unscaled(column: pa.Array) -> pa.Array:
    """Returns decimals of one scale, of at most 18 digits, as whole numbers."""
    words = np.frombuffer(column.buffers()[1], np.int64).reshape(-1, 2)
    lowest = words[column.offset : column.offset + len(column), 0]
    missing = column.is_null().to_numpy(zero_copy_only=False)
    return pa.array(lowest, mask=missing)


def fits(nearest: Nearest, base: np.ndarray, time: np.ndarray) -> Mask:
    """Tells which right times lie in the direction, within the tolerance."""
    lowest, highest = reach_of(nearest, base)
    near: Mask = (time >= lowest) & (time <= highest)
    return near if nearest.exact else near & (time != base)


def reach_of(nearest: Nearest, base: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Returns the first and the last right time that each left time may have."""
    lowest, highest = _least(base), greatest(base)
    match nearest.tolerance:
        case Unlimited():
            pass
        case Span() as span:
            lowest, highest = shift(base, span.negated()), shift(base, span)
        case width:
            lowest, highest = base - width, base + width
    if nearest.direction is Direction.BACKWARD:
        highest = base
    if nearest.direction is Direction.FORWARD:
        lowest = base
    return lowest, highest


def _least(base: np.ndarray) -> np.ndarray:
    """Returns a time before all others, for each."""
    least = -np.inf if base.dtype.kind == "f" else np.iinfo(np.int64).min
    return np.full(len(base), least, base.dtype)


def greatest(base: np.ndarray) -> np.ndarray:
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
    is_first = np.concatenate(([True], found.left[1:] != found.left[:-1]))
    return found.take(is_first[: len(found)])


@dataclass(frozen=True, slots=True)
class Nearby:
    """The best pairs by now, at most one a left row, and the bound of right times."""

    sides: tuple[Rows, Rows]
    best: Matches
    bound: int


def can_improve(nearest: Nearest, nearby: Nearby) -> Mask:
    """Tells for which left rows a better right row can still come.

    Only the times around the left one and the bound can be the best of those to come.
    Of times that are no row times nobody knows how near one may come.
    """
    better = np.zeros(len(nearby.sides[0]), bool)
    if nearby.bound == NEVER:
        return better
    ours, theirs = both_times(nearest, nearby.sides)
    base = ours.value
    has_best = np.zeros(len(base), bool)
    has_best[nearby.best.left] = True
    known = np.zeros(len(base), base.dtype)
    known[nearby.best.left] = theirs.value[nearby.best.right]
    if not nearest.is_row_time:
        better |= ~has_best | (known != base) | nearest.takes_last
        return better & ours.known
    edges = [base - 1, base, base + 1]
    is_bounded = nearby.bound > BEGINNING
    if is_bounded:
        edges.append(np.full(len(base), nearby.bound))
    for edge in edges:
        comes = fits(nearest, base, edge)
        if is_bounded:
            comes &= edge >= nearby.bound
        better |= comes & (~has_best | _beats(nearest, base, edge, known))
    return better & ours.known


def _beats(
    nearest: Nearest, base: np.ndarray, time: np.ndarray, known: np.ndarray
) -> Mask:
    """Tells whether a later row of a time takes the place of a known one."""
    far, near = abs(time - base), abs(known - base)
    closer: Mask = (far < near) | ((far == near) & (time < known))
    return np.where(time == known, nearest.takes_last, closer)


def outdated(
    settings: JoinSettings, present: Present, closed: Mask, rank: Whole
) -> Mask:
    """Tells which right rows are not needed; `closed` left rows take none."""
    right = present.rows[1]
    useless = np.zeros(len(right), bool)
    for nearest in settings.picks.nearest:
        least = _least_time(nearest, present, closed)
        if not _is_known(settings, nearest) or least <= BEGINNING:
            continue
        times = times_of(nearest, 1, right)
        past = times.known & (times.value < least + nearest.exact)
        number = np.flatnonzero(past)
        place = rank[number] if nearest.takes_last else -rank[number]
        order = number[sorted_by(right.code[number], times.value[number], place)]
        is_best = np.append(np.diff(right.code[order]) != 0, values=True)
        useless = past
        useless[order[is_best[: len(order)]]] = False
    return useless


def _is_known(settings: JoinSettings, nearest: Nearest) -> bool:
    """Tells whether row times and keys alone say who is taken."""
    endless = all(side.window == Forever() for side in settings.sides)
    is_timed = nearest.is_row_time and nearest.is_left_row_time
    is_plain = not settings.soft and not settings.key_columns
    looks_back = nearest.direction is Direction.BACKWARD and not settings.picks.counts
    return settings.event_clock and endless and is_timed and is_plain and looks_back


def _least_time(nearest: Nearest, present: Present, closed: Mask) -> int:
    """Returns the least time of a left row that is open or still to come."""
    bound = present.watches[0].bound
    ours = times_of(nearest, 0, present.rows[0])
    waiting = ours.value[ours.known & ~closed]
    return min(bound, int(waiting.min()) if len(waiting) else NEVER - 1)
