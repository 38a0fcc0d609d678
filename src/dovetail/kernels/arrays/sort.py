"""Sorting by several numbers at once, with as few looks at them as can be.

What stands in order needs no look: rows that stand by the last keys, or that came in a
few rising runs. The rest is sorted by sixteen bits at a time from the lowest on, and
each look leaves equals as they are:

    rows            (2, 7) (1, 9) (2, 3)
    by 7, 9, 3      (2, 3) (2, 7) (1, 9)
    by 2, 2, 1      (1, 9) (2, 3) (2, 7)

Numbers that fit beside each other into 62 bits are folded into one before. Where the
first of these decides but for few rows, only those are sorted by the others.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from dovetail.kernels.arrays.rows import Whole

_ROOM = 2**62
_DIGIT = 16
_FEW = 256
"""So few rows are sorted key by key: folding would cost more."""
_DENSE = 8
"""In so many times the room that they take numbers lie close together."""
_RUNS = 16
"""So many rising runs are merged as quickly as they are sorted."""

_RARE = 4
"""Where fewer than one of so many rows is equal to others by the first number, only
those are looked at again."""

Distance = npt.NDArray[np.uint64]
Folded = list[tuple[Distance, int]]


def sorted_by(*keys: Whole) -> Whole:
    """Returns the order by the first key, then the next; equals stay as they are."""
    if len(keys[0]) < _FEW:
        by_keys: Whole = np.lexsort(keys[::-1])
        return by_keys
    # Sorts are stable: rows that already stand by the last keys keep that order.
    wanted = keys[: _unsorted(keys)]
    if not wanted:
        return np.arange(len(keys[0]))
    folded = _folded(wanted)
    if len(folded) == 1:
        return _order(*folded[0])
    return _by_the_first(folded) if folded[0][1] > len(keys[0]) else _by_all(folded)


def _by_the_first(folded: Folded) -> Whole:
    """Returns the order by several numbers, of which the first mostly decides."""
    number, room = folded[0]
    order = _order(number, room)
    ordered = number[order]
    is_same = ordered[1:] == ordered[:-1]
    tied = np.append(is_same, False) | np.append(False, is_same)
    if np.count_nonzero(tied) * _RARE > len(tied):
        return _by_all(folded)
    # Only rows that are equal by it are looked at by the others.
    rows = order[tied]
    order[tied] = rows[sorted_by(*(one[rows].view(np.int64) for one, _ in folded))]
    return order


def _by_all(folded: Folded) -> Whole:
    """Returns the order by several numbers, the last first.

    Each later sort keeps the order of its equals.
    """
    *others, last = folded
    order = _order(*last)
    for number, room in reversed(others):
        order = order[_order(number[order], room)]
    return order


def never_falls(numbers: Whole) -> bool:
    """Tells whether no number is below the one before it."""
    return bool((numbers[1:] >= numbers[:-1]).all())


def _unsorted(keys: Sequence[Whole]) -> int:
    """Returns by how many of the keys rows do not stand yet: by the rest they do."""
    count, stands = len(keys), np.ones(len(keys[0]) - 1, bool)
    for number in reversed(range(len(keys))):
        before, behind = keys[number][:-1], keys[number][1:]
        stands = (before < behind) | ((before == behind) & stands)
        if stands.all():
            count = number
    return count


def distinct(numbers: Whole) -> Whole:
    """Returns each number once, in order."""
    if not len(numbers):
        return numbers
    least = int(numbers.min())
    room = int(numbers.max()) - least + 1
    if room > _DENSE * len(numbers):
        return np.unique(numbers)
    # Numbers that lie close together are ticked off, which takes no sort.
    there = np.zeros(room, bool)
    there[numbers - least] = True
    return np.flatnonzero(there) + least


def _order(number: Distance, room: int) -> Whole:
    """Returns the order by numbers below a room; equals stay as they are."""
    if np.count_nonzero(number[1:] < number[:-1]) < _RUNS:
        return np.argsort(number, kind="stable")  # it merges the runs
    # Numbers of sixteen bits numpy sorts by counting, without comparing any.
    order: Whole = np.argsort(number.astype(np.uint16), kind="stable")
    for shift in range(_DIGIT, (room - 1).bit_length(), _DIGIT):
        digit = (number >> np.uint64(shift)).astype(np.uint16)
        order = order[np.argsort(digit[order], kind="stable")]
    return order


def _folded(keys: Sequence[Whole]) -> Folded:
    """Returns the keys in as few numbers as can be, and below what room each is."""
    distances = []
    for key in keys:
        # From the least on: unsigned, the difference of any two numbers has room.
        least = int(key.min())
        distances.append(((key - least).view(np.uint64), int(key.max()) - least + 1))
    (number, room), *others = distances
    folded = []
    for distance, width in others:
        if width == 1:
            continue  # one value says nothing
        if room * width <= _ROOM:
            number, room = number * np.uint64(width) + distance, room * width
        else:
            folded.append((number, room))
            number, room = distance, width
    return [*folded, (number, room)]
