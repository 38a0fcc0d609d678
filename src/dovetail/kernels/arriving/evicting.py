"""Eviction of whole partitions: the one least recently inserted into goes first.

    place        1    2    3    4    5         at most two partitions
    partition    a    b    a    c    b
                                [b goes after 4, a after 5: its last row came at 3]

Its rows leave without a word. A row goes with its partition's next eviction, and one
insertion into a partition may be followed by another before that comes, so evictions
are found for insertions first: each where its partition would go if it were the last.
"""

from __future__ import annotations

from dataclasses import replace
from typing import assert_never

import numpy as np

from dovetail.kernels.arrays.ranking import kth_smallest
from dovetail.kernels.arrays.rows import DROPPED, NEVER, Mask, Rows, Whole, flagged
from dovetail.kernels.arriving.passing import CLOCK
from dovetail.kernels.lifetimes.overflow import by_rows
from dovetail.kernels.lifetimes.touches import Touches
from dovetail.kernels.settings import SideSettings
from dovetail.spec import windows
from dovetail.spec.spans import SECOND


def evicted(side: SideSettings, rows: Rows, old: int) -> Rows:
    """Returns the rows with the deaths of those that leave with their partition.

    The first `old` rows were there before; none of them has driven out another. Those
    that are dead and only wait for their left rows are in no partition any more.
    """
    eviction, window = side.eviction, side.window
    is_stored = window != windows.Rows(0)
    if (
        isinstance(eviction, windows.KeepPartitions)
        or not is_stored
        or len(rows) == old
    ):
        return rows
    stays = rows.death >= rows.place[old:].min()
    if stays.all():
        return _evicted(eviction, window, rows, old)
    alive = int(np.count_nonzero(stays[:old]))
    found = _evicted(eviction, window, rows.take(stays), alive)
    death, flags = rows.death.copy(), rows.flags.copy()
    death[stays], flags[stays] = found.death, found.flags
    return replace(rows, death=death, flags=flags)


def _evicted(
    eviction: windows.EvictAge | windows.EvictCount | windows.EvictTuples,
    window: windows.Window,
    rows: Rows,
    old: int,
) -> Rows:
    """Returns rows with the deaths of those that leave with their partition."""
    order = np.argsort(rows.place, kind="stable")
    touches = Touches.of(rows.take(order))
    match eviction:
        case windows.EvictCount(most):
            ends = _by_count(touches, most)
        case windows.EvictTuples(most):
            ends = by_rows(touches, old, most)
        case windows.EvictAge(age):
            seconds = age.microseconds // SECOND  # ages are told in whole seconds
            ends = _by_age(touches, order >= old, seconds, closes=window)
        case _:
            assert_never(eviction)
    death = np.empty(len(rows), np.int64)
    death[order] = touches.next_of(ends)
    # An age is looked at before an insertion drives out rows, but after time has.
    is_first = isinstance(eviction, windows.EvictAge) and isinstance(
        window, windows.Seconds
    )
    dropped = death < rows.death if is_first else death <= rows.death
    dropped &= death < NEVER
    flags = rows.flags | flagged(dropped, DROPPED)
    ended = replace(rows, flags=flags)
    return ended.with_arrays(death=np.where(dropped, death, rows.death))


def _by_count(touches: Touches, most: int) -> Whole:
    """Returns the places behind which partitions are too many, NEVER where not.

    A partition goes when so many others have had a row since. Behind an insertion they
    are the rows that had none of their partition since it.
    """
    count = len(touches.before)
    earliest = np.argsort(touches.before, kind="stable")
    lengths = np.searchsorted(touches.before[earliest], np.arange(count), "right")
    ranks = np.arange(count) + most
    known = ranks < lengths
    at = np.where(known, kth_smallest(earliest, lengths, ranks), 0)
    goes = known & (at < touches.after)
    return np.where(goes, touches.rows.place[at] + 1, NEVER)


def _by_age(touches: Touches, fresh: Mask, age: int, closes: windows.Window) -> Whole:
    """Returns the places at which partitions are too old, NEVER where they are not."""
    places = np.append(touches.rows.place, NEVER)
    own, until = places[:-1], places[touches.after]
    if isinstance(closes, windows.Seconds):
        until = np.minimum(until, touches.rows.death - 1)
    second = touches.rows.hidden(CLOCK) // SECOND
    limits, firsts = np.unique(second[fresh] - age, return_index=True)
    starts = own[fresh][firsts]
    purges = _purges((limits, starts), own, second, until)
    limits, starts = limits[purges], starts[purges]
    at = np.maximum(
        np.searchsorted(limits, second), np.searchsorted(starts, own, "right")
    )
    ends = np.append(starts, NEVER)[at]
    return np.where(ends <= until, ends, NEVER)


def _purges(
    groups: tuple[Whole, Whole], own: Whole, second: Whole, until: Whole
) -> Mask:
    """Tells at which insertions partitions go, of those that first reach a limit.

    Something must be below the limit. What stood at the limit before is that only if
    it did not go then.
    """
    limits, starts = groups
    cause = np.searchsorted(limits, second, "right")
    due = np.append(starts, NEVER)[cause]
    is_cause = (due <= until) & (due < NEVER)
    previous = np.maximum(cause - 1, 0)
    at_limit = (cause > 0) & (limits[previous] == second) & (own < starts[previous])
    sure, perhaps = np.zeros(len(limits), bool), np.zeros(len(limits), bool)
    sure[cause[is_cause & ~at_limit]] = True
    perhaps[cause[is_cause & at_limit]] = True
    # Those that only may be are every other one behind the last that is known.
    numbers = np.arange(len(limits))
    known = np.maximum.accumulate(np.where(sure | ~perhaps, numbers, 0))
    purges: Mask = sure[known] ^ ((numbers - known) % 2 == 1)
    return purges
