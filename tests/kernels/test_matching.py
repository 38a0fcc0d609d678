"""The pairs that the sorted search finds are those that nested loops find."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from dovetail.kernels.arrays.rows import (
    BEGINNING,
    NEVER,
    Rows,
    flags_of,
    make_rows,
)
from dovetail.kernels.pairs.matches import overlaps

TIMES = st.integers(-6, 6) | st.sampled_from([BEGINNING, 2**45, -(2**45)])
LENGTHS = st.integers(0, 7) | st.just(NEVER)
LIVES = st.tuples(st.integers(-2, 2), TIMES, LENGTHS, st.booleans())
SIDES = st.lists(LIVES, max_size=12)


def side_of(lives: list[tuple[int, int, int, bool]]) -> Rows:
    """Returns rows with the codes, births, lengths and keys that were drawn."""
    code, birth = (np.array([life[at] for life in lives], np.int64) for at in (0, 1))
    death = np.array(
        [NEVER if life[2] == NEVER else life[1] + life[2] for life in lives], np.int64
    )
    flags = flags_of(has_key=np.array([life[3] for life in lives], bool))
    payload = pa.RecordBatch.from_pydict({"number": np.arange(len(lives))})
    return make_rows(code, birth, birth, flags, payload).with_arrays(death=death)


def nested_loops(left: Rows, right: Rows) -> list[tuple[int, int]]:
    """Returns the pairs by definition."""
    return sorted(
        (one, two)
        for one in range(len(left))
        for two in range(len(right))
        if left.code[one] == right.code[two]
        and left.has_key[one] & right.has_key[two]
        and left.birth[one] < left.death[one]
        and right.birth[two] < right.death[two]
        and max(left.birth[one], right.birth[two])
        < min(left.death[one], right.death[two])
    )


@given(SIDES, SIDES)
def test_overlaps_finds_each_pair_once(
    left: list[tuple[int, int, int, bool]], right: list[tuple[int, int, int, bool]]
) -> None:
    ours, theirs = side_of(left), side_of(right)
    found = overlaps(ours, theirs)
    pairs = sorted(zip(found.left.tolist(), found.right.tolist(), strict=True))
    assert pairs == nested_loops(ours, theirs)


@given(SIDES, SIDES)
def test_swapping_the_sides_mirrors_the_pairs(
    left: list[tuple[int, int, int, bool]], right: list[tuple[int, int, int, bool]]
) -> None:
    ours, theirs = side_of(left), side_of(right)
    there, back = overlaps(ours, theirs), overlaps(theirs, ours).swapped()
    assert sorted(zip(there.left, there.right, strict=True)) == sorted(
        zip(back.left, back.right, strict=True)
    )


@given(SIDES, SIDES, st.integers(0, 12), st.integers(0, 12))
def test_pairs_of_two_old_rows_are_left_out(
    left: list[tuple[int, int, int, bool]],
    right: list[tuple[int, int, int, bool]],
    old_left: int,
    old_right: int,
) -> None:
    ours, theirs = side_of(left), side_of(right)
    found = overlaps(ours, theirs, (old_left, old_right))
    pairs = sorted(zip(found.left.tolist(), found.right.tolist(), strict=True))
    assert pairs == [
        (one, two)
        for one, two in nested_loops(ours, theirs)
        if one >= old_left or two >= old_right
    ]
