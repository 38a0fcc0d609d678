"""One sort by several numbers is a sort by each of them, the last first."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dovetail.kernels.arrays import sort
from dovetail.kernels.arrays.rows import BEGINNING, MISSING, NEVER
from dovetail.kernels.arrays.sort import distinct, sorted_by

NUMBERS = st.sampled_from([MISSING, BEGINNING, -3, 0, 1, 2, 2**40, NEVER - 1, NEVER])
ROWS = st.lists(st.tuples(NUMBERS, NUMBERS, NUMBERS), max_size=12)


@given(ROWS, st.integers(0, 3))
def test_rows_stand_in_the_order_of_their_keys_and_equals_as_they_were(rows, standing):
    # They may stand by the last keys already; few are sorted another way than many.
    rows.sort(key=lambda row: row[standing:])
    keys = [np.array([row[one] for row in rows], np.int64) for one in range(3)]
    expected = sorted(range(len(rows)), key=lambda number: (rows[number], number))
    assert sorted_by(*keys).tolist() == expected
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(sort, "_FEW", 1)
        assert sorted_by(*keys).tolist() == expected


@pytest.mark.parametrize("spread", [3, 2**35, 2**61])
def test_however_far_apart_the_numbers_are(spread):
    random = np.random.default_rng(spread)
    keys = [random.integers(0, spread, 500), random.integers(0, 9, 500)]
    # Some rows are equal by the first key, and some by both.
    keys[0][:50] = keys[0][50:100]
    assert sorted_by(*keys).tolist() == np.lexsort(keys[::-1]).tolist()


@given(st.lists(NUMBERS | st.integers(10**9, 10**9 + 20), max_size=12))
def test_each_number_stands_once_and_in_order(numbers):
    found = distinct(np.array(numbers, np.int64))
    assert found.tolist() == sorted(set(numbers))
