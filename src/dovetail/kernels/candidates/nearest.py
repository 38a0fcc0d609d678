"""The pick `asof` among pairs that are found: the nearest of each left row in time.

Without pairs to choose from the nearest rows are found by `walks.py`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dovetail.kernels.arrays.rows import BEGINNING, NEVER, Mask, Rows, Whole
from dovetail.kernels.candidates.nearness import Times, both_times, fits
from dovetail.kernels.pairs.matching import Matches
from dovetail.kernels.settings import Nearest


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
