"""Which later row of its partition ends a row: the nth one, or one that is far above.

Rows stand partition by partition in order of birth; what ends a row is further on in
its own run. Rows of which it is known that none of their own ends another need only
be compared with those that are new.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dovetail.kernels.arrays import search
from dovetail.kernels.arrays.rows import NEVER, Mask, Rows, Whole
from dovetail.kernels.arrays.sort import sorted_by
from dovetail.kernels.lifetimes import measures

_DENSE = 8


def in_partitions(rows: Rows) -> Whole:
    """Returns the order by partition, then birth, then place."""
    return _in_partitions(rows, rows.birth)


def _in_partitions(rows: Rows, times: Whole) -> Whole:
    """Returns the order by partition, then time, then place; times may be places."""
    # Places differ in all rows: nothing is left for a third key to decide.
    if times is rows.place:
        return sorted_by(rows.partition, times)
    return sorted_by(rows.partition, times, rows.place)


def birth_of_later(rows: Rows, count: int) -> Whole:
    """Returns the birth of the `count`th later row of the partition, or NEVER."""
    return later(rows, rows.birth, count)


def later(rows: Rows, times: Whole, count: int) -> Whole:
    """Returns the time of the `count`th later row of the partition, or NEVER.

    Rows stand in order of these times, then of arrival.
    """
    order = _in_partitions(rows, times)
    # In this order the row so many places further is it, if it is of the partition.
    result = np.full(len(rows), NEVER)
    before, after = order[: max(0, len(order) - count)], order[count:]
    same = rows.partition[before] == rows.partition[after]
    result[before[same]] = times[after[same]]
    return result


def birth_of_farther(rows: Rows, old: int) -> Whole:
    """Returns the birth of the first later row of the partition that is out of reach.

    Or NEVER. The first `old` rows are within the reach of each other.
    """
    fresh = rows.take(slice(old, None)).bare()
    order = in_partitions(fresh)
    runs = _Runs.of(fresh.partition[order])
    starts, stops = np.empty(len(rows), np.int64), np.empty(len(rows), np.int64)
    # An old row is compared with the whole run of new rows of its partition, a new row
    # with those behind it in the run.
    starts[:old], stops[:old] = runs.of_partitions(rows.partition[:old])
    starts[old:][order] = np.arange(1, len(order) + 1)
    stops[old:][order] = np.repeat(runs.bounds[1:], np.diff(runs.bounds))
    measure, reach = measures.compared(rows, old)
    found = search.first_above(measure[order], starts, stops, reach)
    ended = found != search.NOWHERE
    result = np.full(len(rows), NEVER)
    result[ended] = fresh.birth[order][found[ended]]
    return result


@dataclass(frozen=True, slots=True)
class _Runs:
    """Partitions in their order, and the bounds of their runs of rows."""

    partitions: Whole
    bounds: Whole

    @classmethod
    def of(cls, ordered: Whole) -> _Runs:
        """Returns the runs of ordered partitions."""
        first = np.flatnonzero(starts_of(ordered))
        return cls(ordered[first], np.append(first, len(ordered)))

    def of_partitions(self, wanted: Whole) -> tuple[Whole, Whole]:
        """Returns where the runs of partitions start and stop: nowhere if none."""
        if not len(self.partitions):
            return np.zeros_like(wanted), np.zeros_like(wanted)
        lowest, highest = int(self.partitions[0]), int(self.partitions[-1])
        inside = (wanted >= lowest) & (wanted <= highest)
        offset = np.where(inside, wanted - lowest, 0)
        if highest - lowest < _DENSE * (len(wanted) + len(self.partitions)):
            # numbers without large gaps are looked up in a table, not searched
            table = np.zeros(highest - lowest + 1, np.int64)
            table[self.partitions - lowest] = np.arange(len(self.partitions))
            group = table[offset]
        else:
            group = np.searchsorted(self.partitions, offset + lowest)
        known = self.partitions[group] == wanted
        return (
            np.where(known, self.bounds[group], 0),
            np.where(known, self.bounds[group + 1], 0),
        )


def starts_of(sorted_values: Whole) -> Mask:
    """Tells for each sorted value whether it is the first of its equals."""
    return np.concatenate(([True], sorted_values[1:] != sorted_values[:-1]))[
        : len(sorted_values)
    ]
