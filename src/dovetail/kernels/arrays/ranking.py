"""Finds for many prefixes at once the kth smallest of the numbers in each.

The numbers are looked at bit by bit from the highest: those without the bit go to the
front, the others behind them, and how many of a range go where is known by counting.
Each search follows its range down, so a million cost as many array operations as one.
"""

from __future__ import annotations

import numpy as np

from dovetail.kernels.arrays.rows import Whole


def kth_smallest(numbers: Whole, lengths: Whole, ranks: Whole) -> Whole:
    """Returns for each length the number of that rank, from 0, in so long a prefix.

    Numbers are at least 0; where a rank is not below its length, the answer is none.
    """
    level, found = numbers, np.zeros(len(lengths), np.int64)
    first, past, rank = np.zeros_like(lengths), lengths, ranks
    for bit in reversed(range(int(numbers.max(initial=0)).bit_length())):
        high = (level >> bit) & 1 == 1
        lows = np.concatenate(([0], np.cumsum(~high)))
        count = lows[past] - lows[first]
        goes_up = rank >= count
        behind = lows[-1]
        first = np.where(goes_up, behind + first - lows[first], lows[first])
        past = np.where(goes_up, behind + past - lows[past], lows[past])
        rank = np.where(goes_up, rank - count, rank)
        found |= goes_up.astype(np.int64) << bit
        level = np.concatenate((level[~high], level[high]))
    return found
