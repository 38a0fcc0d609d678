"""When rows have a partner: from when until when, several such covers a row.

Covers of one row that touch are one. The end of one whose partner may still be ended
by another row is not known, so it stands with its partner until it is.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dovetail.kernels.arrays.rows import Mask, Whole
from dovetail.kernels.arrays.sorting import sorted_by

NOBODY = -1
"""The partner of a cover whose end is known for good."""
COVERS = ("row", "partner", "begin", "end")


@dataclass(frozen=True, slots=True)
class Covers:
    """Rows that are covered, by whom, from when until when.

    Rows are known by their places between two steps, by their numbers during one.
    """

    row: Whole
    partner: Whole
    begin: Whole
    end: Whole

    def __len__(self) -> int:
        """Returns how many there are."""
        return len(self.row)

    def take(self, chosen: Whole | Mask) -> Covers:
        """Returns the chosen ones."""
        return Covers(*(getattr(self, name)[chosen] for name in COVERS))

    def merged(self) -> Covers:
        """Returns the covers of each row as few that do not touch, by row and time."""
        if not len(self):
            return self
        ordered = self.take(sorted_by(self.row, self.begin))
        known, rank = np.unique(ordered.end, return_inverse=True)
        starts = np.cumsum(np.append(0, ordered.row[1:] != ordered.row[:-1]))
        # Ranks of later rows are higher, so that the furthest end so far is its own.
        furthest = np.maximum.accumulate(starts * len(known) + rank)
        reached = known[furthest - starts * len(known)]
        is_first = np.ones(len(ordered), bool)
        is_first[1:] = starts[1:] != starts[:-1]
        is_first[1:] |= ordered.begin[1:] > reached[:-1]
        first = np.flatnonzero(is_first)
        last = np.append(first[1:], len(ordered)) - 1
        nobody = np.full(len(first), NOBODY)
        return Covers(ordered.row[first], nobody, ordered.begin[first], reached[last])


NO_COVERS = Covers(*(np.empty(0, np.int64) for _ in COVERS))


def join_covers(*parts: Covers) -> Covers:
    """Returns all covers of the parts."""
    return Covers(
        *(np.concatenate([getattr(part, name) for part in parts]) for name in COVERS)
    )
