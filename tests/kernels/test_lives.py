"""Lives that are told from outside only become shorter, and are sure by groups."""

import numpy as np
import pyarrow as pa
import pytest

from dovetail.kernels.arrays.rows import BEGINNING, NEVER, Flag, make_rows
from dovetail.kernels.lifetimes.lives import (
    BUCKET,
    GROUP,
    LEFT,
    NO_LIVES,
    NOBODY,
    RIGHT,
    Lives,
    are_open,
    join_lives,
    lives_of_all,
    shortened,
    sure_until,
)


def numbers(*values):
    return np.array(values, np.int64)


def lives(*ends, holds=()):
    """What is told: buckets, places and ends."""
    columns = zip(*ends, strict=True) if ends else [(), (), ()]
    return Lives(*(numbers(*one) for one in columns), holds)


def rows(*made):
    """Rows of a join: their bucket, the places they are of, their group and end."""
    *refs, group, death = (numbers(*values) for values in zip(*made, strict=True))
    columns = dict(zip((BUCKET, LEFT, RIGHT, GROUP), (*refs, group), strict=True))
    payload = pa.RecordBatch.from_pydict(columns)
    nothing = np.zeros(len(group), np.int64)
    found = make_rows(nothing, nothing, nothing, nothing.astype(Flag), payload)
    return found.with_arrays(death=death)


@pytest.mark.parametrize(
    ("told", "ends"),
    [
        (lives((1, 7, 10)), [10, 50, NEVER]),
        (lives((1, 8, 30), (1, 9, 40), (1, 7, 20)), [20, 40, NEVER]),
        (lives((1, 7, 30), (1, 7, 20)), [20, 50, NEVER]),
        (lives((2, 7, 5), (1, 3, 1)), [NEVER, 50, 5]),
        (NO_LIVES, [NEVER, 50, NEVER]),
    ],
)
def test_a_life_becomes_no_longer_by_what_is_told_of_its_rows(told, ends):
    there = rows((1, 7, 8, 1, NEVER), (1, NOBODY, 9, 1, 50), (2, 7, NOBODY, 1, NEVER))
    assert shortened(there, told).death.tolist() == ends


def test_a_group_is_sure_until_what_was_told_of_it():
    there = rows(*((0, 1, 2, group, 15) for group in (0, 2, 1, 3)))
    assert sure_until(there, (11, 22)).tolist() == [NEVER, 22, 11, BEGINNING]
    assert sure_until(there, ()).tolist() == [NEVER, *[BEGINNING] * 3]
    assert are_open(there, (11, 22)).tolist() == [False, False, True, True]


def test_what_was_told_last_of_groups_holds():
    first = lives((0, 1, 10), holds=(5,))
    joined = join_lives([first, NO_LIVES, lives((0, 2, 20))])
    assert (joined.place.tolist(), joined.death.tolist()) == ([1, 2], [10, 20])
    assert joined.holds == (5,)
    later = lives(holds=(6, 7))
    assert join_lives([first, later]).holds == (6, 7)
    assert join_lives([]).says_nothing


def test_of_what_buckets_tell_at_once_the_least_holds():
    told = lives_of_all([lives((4, 1, 10), holds=(5, 9)), lives(holds=(7, 8))])
    assert (told.bucket.tolist(), told.holds) == ([4], (5, 8))
    read = Lives.read(told.written())
    assert (read.bucket.tolist(), read.place.tolist()) == ([4], [1])
    assert (read.death.tolist(), read.holds) == ([10], (5, 8))
