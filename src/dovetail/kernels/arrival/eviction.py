"""Eviction of whole partitions: the one least recently inserted into goes first.

    place        1    2    3    4    5         at most two partitions
    partition    a    b    a    c    b
                                [b goes after 4, a after 5: its last row came at 3]

Its rows leave without a word. A row goes with its partition's next eviction, and one
insertion into a partition may be followed by another before that comes, so evictions
are found for insertions first: each where its partition would go if it were the last.

Partitions that leave because all of them together hold too many rows.

    partition    a   b   a   b   c   d        at most four rows
    stored       1   2   3   4   5   4
                             [c is one too many: a goes, whose last row is oldest]

Which one leaves depends on what has left before, so evictions are found one after the
other: the next insertion that is one too many, then the partition whose last row is
oldest. Between two of them there are only sums. Both searches go forward for good, so
all rows are looked at in arrays a few times, however many partitions leave.

Insertions into partitions, each with those next to it in its partition.

    place        1    2    3    4
    partition    a    b    a    b
    before       -    -    1    2
    after        3    4    -    -

Who leaves with a partition is known once one of its insertions has an end: all that
came before it and have not left with an earlier end.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import assert_never

import numpy as np

from dovetail.kernels.arrays.names import CLOCK
from dovetail.kernels.arrays.rows import NEVER, Mask, Rows, Whole
from dovetail.kernels.arrays.search import kth_smallest
from dovetail.kernels.arrays.sort import sorted_by
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
        or side.told
        or len(rows) == old
    ):
        return rows
    # Who was gone before the first newcomer is in no partition any more.
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
    # Its own end and the eviction at one place: which of them comes first says whether
    # the row leaves with a word.
    dropped = death < rows.death if is_first else death <= rows.death
    dropped &= death < NEVER
    ended = rows.with_flags(dropped=rows.dropped | dropped)
    return ended.with_arrays(death=np.where(dropped, death, rows.death))


def _by_count(touches: Touches, most: int) -> Whole:
    """Returns the places behind which partitions are too many, NEVER where not.

    A partition goes when so many others have had a row since. Behind an insertion they
    are the rows that had none of their partition since it.
    """
    count = len(touches.before)
    # Insertions in the order of those before them in their partitions: those whose is
    # no later than a given one are a prefix, and all up to that one are among them.
    earliest = np.argsort(touches.before, kind="stable")
    lengths = np.searchsorted(touches.before[earliest], np.arange(count), "right")
    ranks = np.arange(count) + most
    # The insertion at which the partition becomes one too many, if it is not touched
    # again before.
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
    # Of insertions in one second the first one purges; the others find nothing left.
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
        # A death is a place: the first insertion from there on finds the row gone.
        falls = np.searchsorted(places, touches.rows.death)
        spot = np.empty_like(order)
        spot[order] = numbers
        is_first = touches.before[order] < 0
        group = np.empty_like(order)
        group[order] = np.cumsum(is_first) - 1
        return cls(
            touches,
            falls,
            # Each insertion adds a row, less those that leave before it.
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
        # It is not near: looked at in blocks, twice as long each time.
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
        # Whoever stands before has left with this eviction, and is not looked at again.
        self.begins[group] = behind
        if len(members) > _NEAR:
            # Who has left with its partition cannot leave its window any more.
            there = members[self.falls[members] > at]
            later = self.falls[there]
            np.add.at(self.gains, later[later < len(self.gains)], 1)
            self.falls[there] = at
            self.stored -= len(there)
        else:
            for row in members.tolist():
                fall = int(self.falls[row])
                if fall > at:
                    self.falls[row] = at
                    self.stored -= 1
                    if fall < len(self.gains):
                        self.gains[fall] += 1
        return self.oldest

    def _first_last(self, at: int) -> int:
        """Returns the first insertion that is the last of its partition, and there."""
        start = self.oldest
        while not (self.touches.after[start] > at and self.falls[start] > at):
            start += 1
            if start - self.oldest == _NEAR:
                # Not near either: blocks that are twice as long each time.
                width = 2 * _NEAR
                while True:
                    part = slice(start, start + width)
                    is_last = (self.touches.after[part] > at) & (self.falls[part] > at)
                    if is_last.any():
                        return start + int(is_last.argmax())
                    start, width = start + width, 2 * width
        return start


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
        # Neighbours in the order by partition are each other's next in it.
        before[order[1:][same]] = order[:-1][same]
        after[order[:-1][same]] = order[1:][same]
        return cls(rows, order, before, after)

    def next_of(self, ends: Whole) -> Whole:
        """Returns for each insertion the end of it or of a later one, or NEVER."""
        numbers = np.arange(len(ends))
        ended = np.where(ends[self.order] < NEVER, numbers, len(ends))
        # Backward, the least so far is the next insertion that has an end.
        following = np.minimum.accumulate(ended[::-1])[::-1]
        at = self.order[np.minimum(following, len(ends) - 1)]
        partition = self.rows.partition
        same = (following < len(ends)) & (partition[at] == partition[self.order])
        found = np.full(len(ends), NEVER)
        found[self.order] = np.where(same, ends[at], NEVER)
        return found
