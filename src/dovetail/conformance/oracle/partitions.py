"""Eviction of whole partitions: the one least recently inserted into goes first.

Its rows leave without a word: not even unmatched ones come out.
"""

from __future__ import annotations

from collections.abc import Sequence

from dovetail.conformance.oracle.life import LivingRow
from dovetail.conformance.oracle.sides import OneSide
from dovetail.spec.spans import SECOND
from dovetail.spec.windows import EvictAge, EvictCount, EvictTuples

Partitions = list[list[LivingRow]]


def least_recent_first(side: OneSide, stored: Sequence[LivingRow]) -> Partitions:
    """Returns the rows by partition, the least recently inserted into first."""
    partitions: dict[tuple[object, ...], list[LivingRow]] = {}
    for row in stored:
        partitions.setdefault(side.partition_of(row), []).append(row)
    return sorted(partitions.values(), key=lambda rows: rows[-1].place)


def too_old(side: OneSide, stored: Sequence[LivingRow], clock: int) -> Partitions:
    """Returns the partitions that an insertion finds too old, in whole seconds.

    Nothing goes before the oldest is older than the age; then all of that age go.
    """
    if not isinstance(side.partition_evict, EvictAge):
        return []
    limit = clock // SECOND - side.partition_evict.age.microseconds // SECOND
    partitions = least_recent_first(side, stored)
    inserted = [rows[-1].arrived // SECOND for rows in partitions]
    if not inserted or inserted[0] >= limit:
        return []
    return [
        rows for rows, last in zip(partitions, inserted, strict=True) if last <= limit
    ]


def too_many(side: OneSide, stored: Sequence[LivingRow]) -> Partitions:
    """Returns the partitions that are too many after an insertion."""
    partitions = least_recent_first(side, stored)
    match side.partition_evict:
        case EvictCount(partitions=most):
            return partitions[: max(0, len(partitions) - most)]
        case EvictTuples(rows=most) if len(stored) > most:
            return partitions[:1]
        case _:
            return []
