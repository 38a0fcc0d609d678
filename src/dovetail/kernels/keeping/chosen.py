"""Which value of a window that slides stands before all others, over whole columns.

    values     4  2  5  3  1      of one partition, as they come
    greatest   4  4  5  5  5
    behind           5  3  1      once 5 is too old, 3 is the greatest, then 1

Of a stretch of rows the greatest is that of two, each of 1, 2, 4, 8 .. rows, that
overlap: so for each of these lengths one column says it of all stretches. A batch reads
no row of before; what may still stand in front it knows.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from dovetail.kernels.arrays.rows import Whole
from dovetail.kernels.keeping.folds import scores
from dovetail.spec.firing import Fold


@dataclass(frozen=True, slots=True)
class Contenders:
    """Rows that may stand in front: of which group each is, when it came, its value.

    Those of a group stand as they came.
    """

    groups: Whole
    times: Whole
    values: pa.Array

    def take(self, places: Whole) -> Contenders:
        """Returns some of them."""
        values = self.values.take(pa.array(places))
        return Contenders(self.groups[places], self.times[places], values)

    def then(self, other: Contenders) -> Contenders:
        """Returns them, and others behind them."""
        return Contenders(
            np.append(self.groups, other.groups),
            np.append(self.times, other.times),
            pa.concat_arrays([self.values, other.values]),
        )


def chosen(
    fold: Fold, rows: Contenders, *, length: int, limit: int
) -> tuple[Whole, Contenders]:
    """Returns which row stands in front at each one, and who may do so later.

    It is at most so old then, and -1 where all values are null. Who came before the
    `limit` has left.
    """
    scored = scores(fold, rows.values)
    by_score = np.argsort(scored, kind="stable")
    ranks = np.empty_like(by_score)
    ranks[by_score] = np.arange(len(ranks))
    order = np.argsort(rows.groups, kind="stable")
    groups, times, ranks = rows.groups[order], rows.times[order], ranks[order]
    moments, numbers = np.unique(times, return_inverse=True)
    oldest, room = np.searchsorted(moments, times - length), len(moments) + 1
    # The first row of a group that is no older, found by group and time as one number.
    firsts = np.searchsorted(groups * room + numbers, groups * room + oldest)
    nulls, highest = np.count_nonzero(scored < 0), _highest(ranks, firsts)
    found = np.empty_like(order)
    found[order] = np.where(highest < nulls, -1, by_score[highest])
    # Whom a later one of the group stands before comes in front no more: groups fall
    # from the end on, so that each one's ranks are above those of all behind it.
    line = (groups.max(initial=0) - groups) * (len(ranks) + 1) + ranks
    behind = np.maximum.accumulate(line[::-1])[::-1]
    stay = (behind == line) & (ranks >= nulls) & (times >= limit)
    return found, rows.take(order[stay])


def _highest(ranks: Whole, firsts: Whole) -> Whole:
    """Returns the highest rank from a first row up to each one."""
    places = np.arange(len(ranks))
    highest = np.empty_like(ranks)
    # A number is 2 to the power of it, and less than twice as much.
    halves = np.frexp(places - firsts + 1)[1] - 1
    stretches = ranks
    for half in range(int(halves.max(initial=-1)) + 1):
        own, size = np.flatnonzero(halves == half), 1 << half
        ends = stretches[firsts[own]], stretches[places[own] - size + 1]
        highest[own] = np.maximum(*ends)
        stretches = np.maximum(stretches[:-size], stretches[size:])
    return highest
