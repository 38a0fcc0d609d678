"""Finds for many starts at once the first value above each one's reach.

The values are paired into blocks, the blocks into larger ones, and each block knows
its maximum. A search climbs while the blocks before it are too low, then goes down:

    7                      all searches take each step together, so that a million of
    5       7              them cost as many array operations as a single one does
    5   2   4   7
    1 5 2 0 4 3 7 6        first above 5 from the third on: up, up, down, down: the 7

Finds for many prefixes at once the kth smallest of the numbers in each.

The numbers are looked at bit by bit from the highest: those without the bit go to the
front, the others behind them, and how many of a range go where is known by counting.
Each search follows its range down, so a million cost as many array operations as one.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from dovetail.kernels.arrays.rows import MISSING, Whole

NOWHERE = -1


def first_above(values: Whole, starts: Whole, stops: Whole, reach: Whole) -> Whole:
    """Returns for each start the first index before its stop above its reach.

    Where there is none, NOWHERE.
    """
    found = np.full(len(starts), NOWHERE)
    # The values themselves, the maxima of pairs, of fours, up to the maximum of all.
    levels = [values]
    while len(levels[-1]) > 1:
        below = levels[-1]
        if len(below) % 2:
            below = np.concatenate((below, [MISSING]))
        levels.append(np.maximum(below[::2], below[1::2]))
    # An empty range finds nothing, and would look at a place that is not its own.
    climb = _Climb(starts, stops, reach, np.flatnonzero(starts < stops))
    for level, maxima in enumerate(levels):
        climb.look(level, maxima)
    for level in range(len(levels) - 1, -1, -1):
        climb.go_down(level, levels[level])
    searches, places = climb.landed()
    inside = places < stops[searches]
    found[searches[inside]] = places[inside]
    return found


@dataclass(slots=True)
class _Climb:
    """Searches on their way: those that still climb, and those that found a block."""

    starts: Whole
    stops: Whole
    reach: Whole
    active: Whole
    at: Whole = field(init=False)
    stopped: dict[int, tuple[Whole, Whole]] = field(default_factory=dict)
    falling: tuple[Whole, Whole] = field(init=False)

    def __post_init__(self) -> None:
        self.at = self.starts[self.active]
        self.falling = (self.active[:0], self.at[:0])

    def look(self, level: int, maxima: Whole) -> None:
        """Looks into one block of a level, if it is the right one of its pair."""
        # A left half is covered by the block above it, which is looked into next.
        looks = ((self.at & 1) == 1) | (len(maxima) == 1)
        high = looks & (maxima[self.at] > self.reach[self.active])
        self.stopped[level] = (self.active[high], self.at[high])
        upper = (self.at + looks) >> 1
        # Blocks of a level are twice as long as those below: shifted back, the place in
        # values.
        goes_on = ~high & ((upper << (level + 1)) < self.stops[self.active])
        self.active, self.at = self.active[goes_on], upper[goes_on]

    def go_down(self, level: int, maxima: Whole) -> None:
        """Goes from a block to the first of its two halves that is high enough."""
        searches, at = self.falling
        if len(searches):
            # To the left half, or to the right one where the left is too low.
            at = at << 1
            at += maxima[at] <= self.reach[searches]
        more, places = self.stopped[level]
        self.falling = (np.append(searches, more), np.append(at, places))

    def landed(self) -> tuple[Whole, Whole]:
        """Returns the searches that found something, and what they found."""
        return self.falling


def kth_smallest(numbers: Whole, lengths: Whole, ranks: Whole) -> Whole:
    """Returns for each length the number of that rank, from 0, in so long a prefix.

    Numbers are at least 0; where a rank is not below its length, the answer is none.
    """
    # All lengths are prefixes of one array; `first` and `past` follow each one's
    # numbers.
    level, found = numbers, np.zeros(len(lengths), np.int64)
    first, past, rank = np.zeros_like(lengths), lengths, ranks
    for bit in reversed(range(int(numbers.max(initial=0)).bit_length())):
        high = (level >> bit) & 1 == 1
        lows = np.concatenate(([0], np.cumsum(~high)))
        count = lows[past] - lows[first]
        goes_up = rank >= count
        # Numbers with the bit stand behind all without it, in their old order.
        behind = lows[-1]
        first = np.where(goes_up, behind + first - lows[first], lows[first])
        past = np.where(goes_up, behind + past - lows[past], lows[past])
        rank = np.where(goes_up, rank - count, rank)
        found |= goes_up.astype(np.int64) << bit
        level = np.concatenate((level[~high], level[high]))
    return found
