"""Buckets lie evenly in state partitions, in however many they are put later."""

from collections import Counter

import pytest

from dovetail.engines.spark_stream.labels import balanced_labels, partition_of


@pytest.mark.parametrize("buckets", [1, 8, 24, 256])
def test_each_partition_has_as_many_buckets(buckets):
    labels = balanced_labels(buckets, buckets)
    for partitions in (p for p in range(1, buckets + 1) if buckets % p == 0):
        found = Counter(partition_of(label, partitions) for label in labels)
        assert set(found.values()) == {buckets // partitions}
        assert len(found) == partitions
