"""Joins of several sets: which rows stand together, one of each active set.

A set is active for a key where it has a row of it. Each key's rows are combined, one of
each active set, and neighbours must fit:

    key    set 1   set 2   set 3      at least 2 of 3
    10     A B     C       D          A C D, B C D
    11     E               F          E F
    12             G                  none

Sets are gone through one after the other: each finds its rows by sorted search.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from dovetail.kernels.arrays.rows import Mask, Whole

NO_KEY = -1
"""The code of a row whose key has a null: it is equal to nobody's."""


@dataclass(frozen=True, slots=True)
class Neighbours:
    """Rows of two sets that follow each other among the active ones, pair by pair."""

    sets: tuple[int, int]
    rows: tuple[Whole, Whole]


Fits = Callable[[Neighbours], Mask]


@dataclass(frozen=True, slots=True)
class Combinations:
    """Rows that stand together: for each active set the number of its row."""

    active: tuple[int, ...]
    rows: tuple[Whole, ...]

    def __len__(self) -> int:
        """Returns how many combinations there are."""
        return len(self.rows[0])

    def take(self, chosen: Whole | Mask) -> Combinations:
        """Returns the chosen ones."""
        return Combinations(self.active, tuple(rows[chosen] for rows in self.rows))


def of_all(codes: Sequence[Whole], fits: Fits) -> Combinations:
    """Returns the combinations with a row of every set, in the order of the rows."""
    first = np.flatnonzero(codes[0] != NO_KEY)
    return _combined(codes, tuple(range(len(codes))), first, fits)


def of_some(
    codes: Sequence[Whole], bounds: tuple[int, int], fits: Fits
) -> Iterator[Combinations]:
    """Gives the combinations of keys that so many sets have, one by who has them."""
    keys = np.unique(np.concatenate(codes))
    has = np.stack([np.isin(keys, code) for code in codes])
    counts = has.sum(axis=0)
    least, most = bounds
    chosen = (least <= counts) & (counts <= most) & (keys != NO_KEY)
    keys, has = keys[chosen], has[:, chosen]
    # Keys of one pattern of sets are combined together: there are few patterns.
    patterns, pattern = np.unique(has, axis=1, return_inverse=True)
    for number, column in enumerate(patterns.T):
        active = tuple(np.flatnonzero(column).tolist())
        first = codes[active[0]]
        of_pattern = keys[pattern.reshape(-1) == number]
        rows = np.flatnonzero(np.isin(first, of_pattern))
        yield _combined(codes, active, rows, fits)


def without(count: int, found: Combinations) -> Combinations:
    """Returns the rows of the first set that are in no combination, each alone."""
    unmatched = np.ones(count, bool)
    unmatched[found.rows[0]] = False
    return Combinations((0,), (np.flatnonzero(unmatched),))


def _combined(
    codes: Sequence[Whole], active: tuple[int, ...], first: Whole, fits: Fits
) -> Combinations:
    """Returns the combinations of the active sets that begin with the first rows."""
    columns = [first]
    for before, after in pairwise(active):
        wanted = codes[before][columns[-1]]
        order = np.argsort(codes[after], kind="stable")
        ordered = codes[after][order]
        first_of = np.searchsorted(ordered, wanted, "left")
        counts = np.searchsorted(ordered, wanted, "right") - first_of
        # Each run of equal codes one by one: where it starts, less what stands before.
        starts = np.repeat(first_of - np.cumsum(counts) + counts, counts)
        partners = order[starts + np.arange(len(starts))]
        columns = [np.repeat(column, counts) for column in columns]
        fit = fits(Neighbours((before, after), (columns[-1], partners)))
        columns = [column[fit] for column in (*columns, partners)]
    return Combinations(active, tuple(columns))
