"""Partitions leave when all hold too many rows, however far apart that happens.

Random plays are too short for a search that looks at few rows first, then at more.
"""

from random import Random

import numpy as np
import pyarrow as pa
import pytest

from dovetail.kernels.arrays.rows import NEVER, Flag, make_rows
from dovetail.kernels.arrival.eviction import evicted
from dovetail.kernels.settings import SideSettings
from dovetail.spec.spans import NO_TIME
from dovetail.spec.windows import EvictTuples, Forever


def rows_of(partitions, deaths):
    count = len(partitions)
    places = 3 * np.arange(count)
    flags = np.zeros(count, Flag)
    payload = pa.RecordBatch.from_pydict({"x": places})
    made = make_rows(np.zeros(count, np.int64), places, places, flags, payload)
    return made.with_arrays(
        partition=np.array(partitions, np.int64), death=np.array(deaths, np.int64)
    )


def drawn(chance):
    """Rows of few or many partitions that live for ever, long or shortly."""
    count, most = chance.randrange(1, 300), chance.randrange(60)
    parts, reach = chance.choice([2, 9, 99]), chance.choice([1, 20, 400])
    is_endless = chance.random() < 0.3
    partitions = [chance.randrange(parts) for _ in range(count)]
    deaths = [
        NEVER if is_endless else 3 * (place + chance.randrange(1, reach + 1))
        for place in range(count)
    ]
    return partitions, last_stays(partitions, deaths), most


def last_stays(partitions, deaths):
    """The deaths where a partition's last row outlives those before it."""
    latest = {}
    for number, partition in enumerate(partitions):
        deaths[number] = max(deaths[number], latest.get(partition, 0))
        latest[partition] = deaths[number]
    return deaths


def one_after_the_other(partitions, deaths, most):
    """The deaths as they come about, row by row."""
    deaths, stored = list(deaths), []
    for number in range(len(partitions)):
        stored = [row for row in stored if deaths[row] > 3 * number] + [number]
        if len(stored) <= most:
            continue
        last = {partitions[row]: row for row in stored}
        oldest = min(last, key=last.get)
        for row in [row for row in stored if partitions[row] == oldest]:
            deaths[row] = 3 * number + 1
            stored.remove(row)
    return deaths


def side(most):
    """A side that keeps so many rows."""
    return SideSettings(
        window=Forever(),
        preserved=False,
        once=False,
        timed=False,
        static=False,
        lateness=NO_TIME,
        idle=0,
        own_partition=True,
        eviction=EvictTuples(most),
    )


@pytest.mark.parametrize("seed", range(60))
def test_partitions_leave_one_after_the_other(seed):
    partitions, deaths, most = drawn(Random(seed))
    rows = rows_of(partitions, deaths)
    found = evicted(side(most), rows, 0)
    assert found.death.tolist() == one_after_the_other(partitions, deaths, most)
    assert found.dropped.tolist() == (found.death < rows.death).tolist()


@pytest.mark.parametrize("seed", range(60))
def test_a_cut_changes_nothing(seed):
    chance = Random(seed)
    partitions, deaths, most = drawn(chance)
    cut, rows = chance.randrange(len(partitions)), rows_of(partitions, deaths)
    begun = evicted(side(most), rows.take(slice(0, cut)), 0)
    rest = rows.take(slice(cut, None))
    kept = np.flatnonzero(begun.death > 3 * (cut - 1) + 1)
    joined = rows.with_arrays(death=np.append(begun.death, rest.death))
    later = np.append(kept, np.arange(cut, len(rows)))
    found = evicted(side(most), joined.take(later), len(kept))
    whole = evicted(side(most), rows, 0)
    assert found.death.tolist() == whole.death[later].tolist()
