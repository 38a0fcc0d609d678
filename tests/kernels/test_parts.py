"""A source of several parts is as far as its slowest one that is not idle."""

import pytest

from dovetail.kernels.arrays.rows import BEGINNING
from dovetail.kernels.arrival.arrival import WHOLE, Report, Watch


class Bare:
    """A parcel of which only the report counts."""

    def __init__(self, *, part, bound):
        self.report = Report(0, 0, bound, bound, seen=True, part=part)
        self.lives = type("", (), {"holds": ()})


def after(*told):
    """The watch after some parts have told their bounds, each at a moment."""
    watch = Watch()
    for part, bound, now in told:
        watch = watch.after(Bare(part=part, bound=bound), now)
    return watch


@pytest.mark.parametrize(
    ("told", "idle", "now", "bound"),
    [
        ([(0, 60, 1)], 0, 1, 60),
        ([(0, 60, 1), (1, 12, 1)], 0, 1, 12),
        ([(0, 60, 1), (1, 12, 1), (1, 70, 2)], 0, 2, 60),
        ([(0, 60, 1), (0, 50, 2)], 0, 2, 60),
        ([(1, 12, 1), (0, 60, 9)], 5, 9, 60),
        ([(1, 12, 4), (0, 60, 9)], 5, 9, 12),
        ([(1, 12, 1), (0, 60, 1)], 5, 9, BEGINNING),
        ([(WHOLE, 30, 1), (0, 20, 1)], 0, 1, 30),
    ],
)
def test_the_least_part_counts(told, idle, now, bound):
    assert after(*told).reached(idle, now) == bound
