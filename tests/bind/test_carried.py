"""A function that has travelled is opened once a process, whatever tasks call it."""

import sys

from pyspark import cloudpickle

from dovetail.bind.travel import MOST_OPENED, Carried


def arrived(number):
    """A function as a worker gets it: anew for every task."""
    return cloudpickle.loads(cloudpickle.dumps(Carried(lambda: [number])))


def test_it_is_opened_once_and_a_few_are_kept():
    kept = vars(sys).setdefault("dovetail_opened", {})
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
