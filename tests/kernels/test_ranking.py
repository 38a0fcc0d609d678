"""Ranks within prefixes are those that sorting each prefix gives."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from dovetail.kernels.arrays.search import kth_smallest


@given(
    st.permutations(range(12)),
    st.lists(st.tuples(st.integers(1, 12), st.integers(0, 11))),
)
def test_the_kth_smallest_of_a_prefix_is_found(numbers, searches):
    known = [(length, rank) for length, rank in searches if rank < length]
    lengths, ranks = (np.array([one[at] for one in known], np.int64) for at in (0, 1))
    found = kth_smallest(np.array(numbers, np.int64), lengths, ranks)
    assert found.tolist() == [sorted(numbers[:length])[rank] for length, rank in known]
