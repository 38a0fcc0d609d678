"""Which later row of its partition ends a row: the nth one, or one that is far above.

Rows stand partition by partition in order of birth; what ends a row is further on in
its own run. Rows of which it is known that none of their own ends another need only
be compared with those that are new.
"""

from __future__ import annotations

import numpy as np

from dovetail.kernels.descent import NOWHERE, first_above
from dovetail.kernels.measures import MEASURE, REACH
from dovetail.kernels.rows import NEVER, Mask, Rows, Whole
from dovetail.kernels.sorting import sorted_by


def in_partitions(rows: Rows) -> Whole:
    """Returns the order by partition, then birth, then place."""
    return sorted_by(rows.partition, rows.birth, rows.place)


def birth_of_later(rows: Rows, count: int) -> Whole:
    """Returns the birth of the `count`th later row of the partition, or NEVER."""
    return later(rows, rows.birth, count)


def later(rows: Rows, times: Whole, count: int) -> Whole:
    """Returns the time of the `count`th later row of the partition, or NEVER.

    Rows stand in order of these times, then of arrival.
    """
    order = sorted_by(rows.partition, times, rows.place)
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
    starts, stops = _runs(rows.partition, fresh.partition[order])
    own = np.empty(len(order), np.int64)
    own[order] = np.arange(1, len(order) + 1)
    starts[old:] = own
    measure = rows.hidden(MEASURE)[old:][order]
    found = first_above(measure, starts, stops, rows.hidden(REACH))
    ended = found != NOWHERE
    result = np.full(len(rows), NEVER)
    result[ended] = fresh.birth[order][found[ended]]
    return result


def _runs(partitions: Whole, ordered: Whole) -> tuple[Whole, Whole]:
    """Returns for each partition where its run starts among ordered ones, and stops."""
    first = np.flatnonzero(starts_of(ordered))
    bounds = np.append(first, len(ordered))
    group = np.searchsorted(ordered[first], partitions)
    inside = np.minimum(group, max(0, len(first) - 1))
    known = (
        (ordered[first][inside] == partitions)
        if len(first)
        else np.zeros(len(partitions), bool)
    )
    return np.where(known, bounds[inside], 0), np.where(known, bounds[group + known], 0)


def starts_of(sorted_values: Whole) -> Mask:
    """Tells for each sorted value whether it is the first of its equals."""
    return np.concatenate(([True], sorted_values[1:] != sorted_values[:-1]))[
        : len(sorted_values)
    ]
