"""Partitions that leave because all of them together hold too many rows.

    partition    a   b   a   b   c   d        at most four rows
    stored       1   2   3   4   5   4
                             [c is one too many: a goes, whose last row is oldest]

Which one leaves depends on what has left before, so evictions are found one after the
other: the next insertion that is one too many, then the partition whose last row is
oldest. Between two of them there are only sums. Both searches go forward for good, so
all rows are looked at in arrays a few times, however many partitions leave.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from dovetail.kernels.arrays.rows import NEVER, Whole
from dovetail.kernels.lifetimes.touches import Touches

_NEAR = 16
"""So few rows are looked at one by one, which is quicker; more are, as arrays."""


def by_rows(touches: Touches, old: int, most: int) -> Whole:
    """Returns the places behind which partitions leave, NEVER where they stay.

    Each stands at its partition's last row by then. The first `old` rows were there
    before, and were not too many.
    """
    stock = _Stock.of(touches, old)
    ends = np.full(len(touches.before), NEVER)
    at = stock.next_above(most)
    while at < len(ends):
        ends[stock.drop_oldest(at)] = touches.rows.place[at] + 1
        at = stock.next_above(most)
    return ends


@dataclass(slots=True)
class _Stock:
    """How many rows are stored, from insertion to insertion, while partitions leave.

    `falls` says before which insertion a row leaves its window, `gains` how many rows
    more there are after each insertion; both change for those that have left.
    `spot` is where an insertion stands by partition, `begins` where there the rows
    begin that have not left with their partition.
    """

    touches: Touches
    falls: Whole
    gains: Whole
    spot: Whole
    group: Whole
    begins: Whole
    stored: int
    following: int
    oldest: int = field(default=0)

    @classmethod
    def of(cls, touches: Touches, old: int) -> _Stock:
        """Returns what is stored once the first `old` rows have come."""
        places, order = touches.rows.place, touches.order
        numbers = np.arange(len(order))
        falls = np.searchsorted(places, touches.rows.death)
        spot = np.empty_like(order)
        spot[order] = numbers
        is_first = touches.before[order] < 0
        group = np.empty_like(order)
        group[order] = np.cumsum(is_first) - 1
        return cls(
            touches,
            falls,
            1 - np.bincount(falls, minlength=len(order) + 1)[:-1],
            spot,
            group,
            np.flatnonzero(is_first),
            stored=int((falls[:old] >= old).sum()),
            following=old,
        )

    def next_above(self, most: int) -> int:
        """Returns the next insertion after which more are stored, or how many it has.

        What is stored is counted up to there.
        """
        near = self.gains[self.following : self.following + _NEAR].tolist()
        for gain in near:
            self.stored += gain
            self.following += 1
            if self.stored > most:
                return self.following - 1
        return self._next_above(most)

    def _next_above(self, most: int) -> int:
        """Returns the same where it is not near: at twice as many rows each time."""
        width = 2 * _NEAR
        while self.following < len(self.gains):
            block = self.gains[self.following : self.following + width]
            stored = self.stored + np.cumsum(block)
            above = stored > most
            steps = int(above.argmax()) if above.any() else len(block) - 1
            self.stored = int(stored[steps])
            self.following += steps + 1
            if above[steps]:
                return self.following - 1
            width *= 2
        return len(self.gains)

    def drop_oldest(self, at: int) -> int:
        """Returns the last row of the partition that leaves behind an insertion."""
        self.oldest = self._first_last(at)
        group = self.group[self.oldest]
        behind = self.spot[self.oldest] + 1
        members = self.touches.order[self.begins[group] : behind]
        self.begins[group] = behind
        if len(members) > _NEAR:
            self._drop(members, at)
        else:
            self._drop_few(members.tolist(), at)
        return self.oldest

    def _drop(self, members: Whole, at: int) -> None:
        """Takes rows out of the stock that are still there.

        Who has left cannot leave its window any more.
        """
        there = members[self.falls[members] > at]
        later = self.falls[there]
        np.add.at(self.gains, later[later < len(self.gains)], 1)
        self.falls[there] = at
        self.stored -= len(there)

    def _drop_few(self, members: list[int], at: int) -> None:
        """Does the same for few rows."""
        for row in members:
            fall = int(self.falls[row])
            if fall > at:
                self.falls[row] = at
                self.stored -= 1
                if fall < len(self.gains):
                    self.gains[fall] += 1

    def _first_last(self, at: int) -> int:
        """Returns the first insertion that is the last of its partition, and there."""
        start = self.oldest
        while not (self.touches.after[start] > at and self.falls[start] > at):
            start += 1
            if start - self.oldest == _NEAR:
                return self._next_last(start, at)
        return start

    def _next_last(self, start: int, at: int) -> int:
        """Returns the same where it is not near: at twice as many rows each time."""
        width = 2 * _NEAR
        while True:
            part = slice(start, start + width)
            is_last = (self.touches.after[part] > at) & (self.falls[part] > at)
            if is_last.any():
                return start + int(is_last.argmax())
            start, width = start + width, 2 * width
