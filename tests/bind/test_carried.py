"""A function that has travelled is opened once a process, whatever tasks call it."""

import sys
import zlib
from functools import partial

from pyspark import cloudpickle

from dovetail.bind.travel import MOST_OPENED, Carried
from dovetail.kernels.arrays.blobs import read_rows


def arrived(number):
    """A function as a worker gets it: anew for every task."""
    return cloudpickle.loads(cloudpickle.dumps(Carried(lambda: [number])))


def test_it_is_opened_once_and_a_few_are_kept():
    kept = vars(sys).setdefault("dovetail_functions", {})
    kept.clear()
    first, again = arrived(1), arrived(1)
    assert kept == {}
    assert first() == [1]
    (opened,) = kept.values()
    assert again() == [1]
    assert list(kept.values()) == [opened]
    for number in range(2, 2 + MOST_OPENED):
        assert arrived(number)() == [number]
    assert len(kept) == MOST_OPENED
    assert opened not in kept.values()


def test_our_code_travels_once_and_what_is_given_to_it_only_names_it():
    first, second = (
        Carried(partial(read_rows, given)).__reduce__()[1] for given in (b"1", b"2")
    )
    assert first[0] is second[0]
    assert first[1] != second[1]
    assert b"read_rows" in zlib.decompress(first[1])
    assert len(first[1]) < 200
