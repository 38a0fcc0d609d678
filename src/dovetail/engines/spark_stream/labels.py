"""Labels of buckets that spread evenly over Spark's state partitions.

Spark hashes a bucket's label once more to find its partition; labels 0 to 7 would put
no bucket into one of four partitions and four into another. So labels are chosen by
Spark's own hash, Murmur3 with seed 42. What is even among n partitions is so among any
number that divides n: labels for as many partitions as buckets suit them all.
"""

from __future__ import annotations

from itertools import count

_MASK = 0xFFFFFFFF


def balanced_labels(buckets: int, partitions: int) -> tuple[int, ...]:
    """Returns labels that go round the partitions: bucket n is in n mod partitions."""
    labels: list[int] = []
    found: list[list[int]] = [[] for _ in range(partitions)]
    numbers = count()
    for bucket in range(buckets):
        # Labels that fall into other partitions on the way are kept for their turn.
        wanted = found[bucket % partitions]
        while not wanted:
            label = next(numbers)
            found[partition_of(label, partitions)].append(label)
        labels.append(wanted.pop(0))
    return tuple(labels)


def partition_of(label: int, partitions: int) -> int:
    """Returns the partition to which Spark shuffles a row with this int as its key."""
    mixed = _rotate(label * 0xCC9E2D51 & _MASK, 15) * 0x1B873593 & _MASK
    state = (_rotate(42 ^ mixed, 13) * 5 + 0xE6546B64) & _MASK ^ 4
    for shift, factor in ((16, 0x85EBCA6B), (13, 0xC2B2AE35), (16, 1)):
        state = (state ^ state >> shift) * factor & _MASK
    signed = state - (1 << 32) if state >> 31 else state
    return signed % partitions


def _rotate(number: int, bits: int) -> int:
    """Returns a 32-bit number turned to the left."""
    return (number << bits | number >> (32 - bits)) & _MASK
