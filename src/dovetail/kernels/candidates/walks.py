"""The nearest right row of each left one, found by walking away from it.

    right by (key, time)    9:57  9:58        10:01
    left 10:00                       ^ one binary search; then away from it

From where a left row falls among the right ones of its key, rows are tried one after
the other until one passes what else is asked: all left rows at once, in rounds that
try twice as many each time. Where nothing else is asked one row is tried.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np

from dovetail.kernels.arrays.rows import Mask, Rows, Whole
from dovetail.kernels.arrays.sort import sorted_by
from dovetail.kernels.candidates.nearest import (
    Times,
    both_times,
    greatest,
    reach_of,
)
from dovetail.kernels.lifetimes.successors import starts_of
from dovetail.kernels.pairs.matches import NO_MATCHES, Matches, join_matches
from dovetail.kernels.settings import Nearest
from dovetail.spec.picks import Direction

_EDGES: tuple[Literal["left"], Literal["right"]] = ("left", "right")
_ROOM = 2**62
Test = Callable[[Matches], Mask]


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
    line = _line_of(nearest, sides, (left, right), (ours.value, theirs.value))
    found = [_first_passing(walk, test) for walk in _walks(nearest, line, rank)]
    return found[0] if len(found) == 1 else _nearer(found, ours, theirs)


def _nearer(found: list[Matches], ours: Times, theirs: Times) -> Matches:
    """Returns of each left row the nearer of the pairs looking back and ahead.

    Of two that are equally far it is the earlier, found looking back.
    """
    back, ahead = found
    far = greatest(ours.value)
    far[ahead.left] = theirs.value[ahead.right] - ours.value[ahead.left]
    stays = ours.value[back.left] - theirs.value[back.right] <= far[back.left]
    back = back.take(stays)
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
    order = _in_order(line.code[1], line.time, _by_place(rank[line.right]))
    numbers = line.in_order(order)
    for back, edges in ((True, (0, 1)), (False, (2, 3))):
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
    codes = _dense([sides[hand].code[chosen[hand]] for hand in (0, 1)])
    # Left rows that stand as the right ones do find them in the memory at hand.
    order = _in_order(codes[0], times[0][left], np.arange(len(left)))
    left, code = left[order], codes[0][order]
    room = _ROOM // (1 + max(int(codes[0].max()), int(codes[1].max())))
    near = (times[0][left], times[1][right])
    reach, time, width = _reach_on(nearest, *near, room)
    return _Line(left, right, (code, codes[1]), time, reach, width)


def _dense(codes: list[Whole]) -> tuple[Whole, Whole]:
    """Returns both sides' codes as small numbers, equal ones equal."""
    every = np.concatenate(codes)
    least = int(every.min())
    if int(every.max()) - least < 8 * len(every):
        return codes[0] - least, codes[1] - least
    _, dense = np.unique(every, return_inverse=True)
    return dense[: len(codes[0])], dense[len(codes[0]) :]


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
        before, behind = (np.searchsorted(moments, base, side) for side in _EDGES)
        first = np.searchsorted(moments, lowest, "left")
        past = np.searchsorted(moments, highest, "right")
        number, width = np.searchsorted(moments, time), len(moments) + 1
    else:
        least, most = int(time.min()), int(time.max())
        before = np.clip(base, least, most + 1) - least
        behind = np.clip(base, least - 1, most) + 1 - least
        first = np.clip(lowest, least, most + 1) - least
        past = np.clip(highest, least - 1, most) + 1 - least
        number, width = time - least, most - least + 2
    edges = (behind, before) if nearest.exact else (before, behind)
    return (first, edges[0], edges[1], past), number, width


def _by_place(place: Whole) -> Whole:
    """Returns the order of places, which are mostly in order."""
    if bool((place[1:] > place[:-1]).all()):
        return np.arange(len(place))
    return np.argsort(place)


def _in_order(code: Whole, time: np.ndarray, first: Whole) -> Whole:
    """Returns the order by code, then time; equals stay in the order `first`."""
    by_time = first[np.argsort(time[first], kind="stable")]
    order: Whole = by_time[sorted_by(code[by_time])]
    return order


def _first_passing(walk: _Walk, test: Test) -> Matches:
    """Returns for each left row the first right one on its walk that passes."""
    length = walk.stop - walk.start
    open_rows, tried, step, taken = np.flatnonzero(length > 0), 0, 1, [NO_MATCHES]
    while len(open_rows):
        number, at = _next_on(walk, open_rows, tried, step)
        passed = test(Matches(walk.left[number], walk.right[at]))
        number, at = number[passed], at[passed]
        is_first = np.concatenate(([True], number[1:] != number[:-1]))[: len(number)]
        taken.append(Matches(walk.left[number[is_first]], walk.right[at[is_first]]))
        wanting = length > tried + step
        wanting[number] = False
        open_rows = open_rows[wanting[open_rows]]
        tried, step = tried + step, step * 2
    return join_matches(taken)


def _next_on(walk: _Walk, rows: Whole, tried: int, step: int) -> tuple[Whole, Whole]:
    """Returns the next steps of the walks of some left rows: whose, and where."""
    count = np.minimum(walk.stop[rows] - walk.start[rows] - tried, step)
    turn = np.arange(int(count.sum())) - np.repeat(np.cumsum(count) - count, count)
    number = np.repeat(rows, count)
    if walk.back:
        return number, walk.stop[number] - 1 - tried - turn
    return number, walk.start[number] + tried + turn
