"""Lives that are told from outside only become shorter, and are sure by groups."""

import numpy as np
import pyarrow as pa
import pytest

from dovetail.kernels.arrays.rows import BEGINNING, NEVER, Flag, make_rows
from dovetail.kernels.lifetimes.lives import (
    GROUP,
    LIFE,
    NO_LIVES,
    Lives,
    join_lives,
    shortened,
    sure_until,
)


def numbers(*values):
    return np.array(values, np.int64)


def rows(*lives):
    """Rows of these lives, each with its group and its end by now."""
    life, group, death = (numbers(*values) for values in zip(*lives, strict=True))
    payload = pa.RecordBatch.from_pydict({LIFE: life, GROUP: group})
    nothing = np.zeros(len(life), np.int64)
    made = make_rows(nothing, nothing, nothing, nothing.astype(Flag), payload)
    return made.with_arrays(death=death)


@pytest.mark.parametrize(
    ("told", "ends"),
    [
        (Lives(numbers(7), numbers(10)), [10, 50]),
        (Lives(numbers(7, 9, 7), numbers(30, 40, 20)), [20, 50]),
        (Lives(numbers(8, 3), numbers(60, 1)), [NEVER, 50]),
        (NO_LIVES, [NEVER, 50]),
    ],
)
def test_a_life_becomes_no_longer_by_what_is_told(told, ends):
    there = rows((7, 1, NEVER), (8, 1, 50))
    assert shortened(there, told).death.tolist() == ends


def test_a_group_is_sure_until_what_was_told_of_it():
    there = rows((1, 0, 5), (2, 2, 5), (3, 1, 5), (4, 3, 5))
    assert sure_until(there, (11, 22)).tolist() == [NEVER, 22, 11, BEGINNING]
    assert sure_until(there, ()).tolist() == [NEVER, *[BEGINNING] * 3]


def test_what_was_told_last_of_groups_holds():
    first = Lives(numbers(1), numbers(10), (5,))
    joined = join_lives([first, NO_LIVES, Lives(numbers(2), numbers(20))])
    assert (joined.number.tolist(), joined.death.tolist()) == ([1, 2], [10, 20])
    assert joined.holds == (5,)
    later = Lives(numbers(), numbers(), (6, 7))
    assert join_lives([first, later]).holds == (6, 7)
    assert join_lives([]).says_nothing
