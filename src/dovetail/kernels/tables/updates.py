"""Which row of a changing result takes the place of which: the two are an update.

At one place of the arrival some rows of the result go and some come. In the order of
the result, one that goes takes the first that comes and has its left key, else the
first that has its right key:

    goes   order 1 + trade 1             update_before   order 1 + trade 1
    comes  order 1 alone                 update_after    order 1 alone
    comes  order 2 + trade 2             insert          order 2 + trade 2

All rows of one left key are paired at once, then the rest by their right keys. That is
the same unless a row takes by its right key what a later one has by its left key; the
few places of the arrival where that happens are gone through row by row.
"""

from __future__ import annotations

from collections import defaultdict, deque
from dataclasses import dataclass

import numpy as np

from dovetail.kernels.arrays.rows import NEVER, Mask, Whole
from dovetail.kernels.pairs.matches import Matches
from dovetail.kernels.pairs.results import ABSENT


@dataclass(frozen=True, slots=True)
class Results:
    """Rows of the result in its order: when they come or go, and their two keys."""

    when: Whole
    keys: tuple[Whole, Whole]

    def __len__(self) -> int:
        """Returns how many there are."""
        return len(self.when)


@dataclass(frozen=True, slots=True)
class _Groups:
    """Of one hand, numbers of (place, key) of all that go and come; or ABSENT."""

    gone: Whole
    come: Whole

    def where(self, gone: Mask, come: Mask) -> _Groups:
        """Returns the groups of the chosen rows alone."""
        return _Groups(
            np.where(gone, self.gone, ABSENT), np.where(come, self.come, ABSENT)
        )


def successors(gone: Results, come: Results) -> Whole:
    """Returns for each row that goes the number of the one in its place, or ABSENT."""
    result = np.full(len(gone), ABSENT)
    if not len(gone) or not len(come):
        return result
    lefts, rights = (_groups(gone, come, hand) for hand in (0, 1))
    by_left = _by_rank(lefts)
    free = np.ones(len(gone), bool), np.ones(len(come), bool)
    free[0][by_left.left] = False
    free[1][by_left.right] = False
    by_right = _by_rank(rights.where(*free))
    for pairs in (by_left, by_right):
        result[pairs.left] = pairs.right
    disputed = np.unique(gone.when[_disputed(rights, by_left, free[0])])
    if len(disputed):
        rows = np.flatnonzero(np.isin(gone.when, disputed))
        others = np.flatnonzero(np.isin(come.when, disputed))
        result[rows] = _in_turn((lefts, rights), rows, others)
    return result


def _groups(gone: Results, come: Results, hand: int) -> _Groups:
    """Returns numbers for what rows that go and rows that come must share."""
    when = np.concatenate((gone.when, come.when))
    key = np.concatenate((gone.keys[hand], come.keys[hand]))
    _, place = np.unique(when, return_inverse=True)
    known, dense = np.unique(key, return_inverse=True)
    _, group = np.unique(place * len(known) + dense, return_inverse=True)
    group = np.where(key == ABSENT, ABSENT, group)
    return _Groups(group[: len(gone)], group[len(gone) :])


def _by_rank(groups: _Groups) -> Matches:
    """Returns the first of each group that goes with the first that comes, and so on.

    Hands stand for what goes and what comes.
    """
    chosen = [np.flatnonzero(one != ABSENT) for one in (groups.gone, groups.come)]
    old, new = groups.gone[chosen[0]], groups.come[chosen[1]]
    width = max(len(old), len(new)) + 1
    _, ours, theirs = np.intersect1d(
        old * width + _ranks(old),
        new * width + _ranks(new),
        assume_unique=True,
        return_indices=True,
    )
    return Matches(chosen[0][ours], chosen[1][theirs])


def _ranks(groups: Whole) -> Whole:
    """Returns for each row how many of its group stand before it."""
    order = np.argsort(groups, kind="stable")
    ordered = groups[order]
    ranks = np.empty(len(groups), np.int64)
    ranks[order] = np.arange(len(groups)) - np.searchsorted(ordered, ordered)
    return ranks


def _disputed(rights: _Groups, by_left: Matches, free: Mask) -> Whole:
    """Returns rows that would take what a later one has already been given."""
    size = int(max(rights.gone.max(), rights.come.max())) + 1
    earliest, latest = np.full(size, NEVER), np.full(size, ABSENT)
    without = np.flatnonzero(free & (rights.gone != ABSENT))
    np.minimum.at(earliest, rights.gone[without], without)
    group = rights.come[by_left.right]
    np.maximum.at(latest, group[group != ABSENT], by_left.left[group != ABSENT])
    return earliest[earliest < latest]


def _in_turn(hands: tuple[_Groups, _Groups], gone: Whole, come: Whole) -> Whole:
    """Returns the successors of some rows that go, found one after the other."""
    waiting: defaultdict[tuple[int, int], deque[int]] = defaultdict(deque)
    for number in come.tolist():
        for hand, groups in enumerate(hands):
            waiting[hand, int(groups.come[number])].append(number)
    taken = {ABSENT}
    found = []
    for number in gone.tolist():
        keys = [(hand, int(groups.gone[number])) for hand, groups in enumerate(hands)]
        lines = [waiting[key] for key in keys if key[1] != ABSENT]
        found.append(_first(lines, taken))
        taken.add(found[-1])
    return np.array(found, np.int64)


def _first(lines: list[deque[int]], taken: set[int]) -> int:
    """Returns the first of the first line in which somebody is left, or ABSENT."""
    for line in lines:
        while line and line[0] in taken:
            line.popleft()
        if line:
            return line[0]
    return ABSENT
