"""Insertions into partitions, each with those next to it in its partition.

    place        1    2    3    4
    partition    a    b    a    b
    before       -    -    1    2
    after        3    4    -    -

Who leaves with a partition is known once one of its insertions has an end: all that
came before it and have not left with an earlier end.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dovetail.kernels.arrays.rows import NEVER, Rows, Whole
from dovetail.kernels.arrays.sorting import sorted_by


@dataclass(frozen=True, slots=True)
class Touches:
    """Insertions in order of arrival, each with those next to it in its partition."""

    rows: Rows
    order: Whole
    before: Whole
    after: Whole

    @classmethod
    def of(cls, rows: Rows) -> Touches:
        """Returns the insertions of rows that stand in order of arrival."""
        order = sorted_by(rows.partition, rows.place)
        same = rows.partition[order[1:]] == rows.partition[order[:-1]]
        before = np.full(len(rows), -1)
        after = np.full(len(rows), len(rows))
        before[order[1:][same]] = order[:-1][same]
        after[order[:-1][same]] = order[1:][same]
        return cls(rows, order, before, after)

    def next_of(self, ends: Whole) -> Whole:
        """Returns for each insertion the end of it or of a later one, or NEVER."""
        numbers = np.arange(len(ends))
        ended = np.where(ends[self.order] < NEVER, numbers, len(ends))
        following = np.minimum.accumulate(ended[::-1])[::-1]
        at = self.order[np.minimum(following, len(ends) - 1)]
        partition = self.rows.partition
        same = (following < len(ends)) & (partition[at] == partition[self.order])
        found = np.full(len(ends), NEVER)
        found[self.order] = np.where(same, ends[at], NEVER)
        return found
