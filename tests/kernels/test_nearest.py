"""The sorted search for the nearest row finds what nested loops find."""

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from dovetail.kernels.arrays.rows import flags_of, make_rows
from dovetail.kernels.candidates.nearest import nearest_pairs
from dovetail.kernels.settings import Formula, Nearest
from dovetail.spec.picks import Direction, Tie, Unlimited

TIMES = st.none() | st.integers(-4, 4) | st.sampled_from([2**61, -(2**61)])
ROWS = st.lists(st.tuples(st.sampled_from([0, 1, 2**60]), TIMES), max_size=9)
PICKS = st.builds(
    Nearest,
    st.just(Formula(("column", "l", "at", "bigint"), (("l", "at"),))),
    st.just(Formula(("column", "r", "at", "bigint"), (("r", "at"),))),
    st.sampled_from(Direction),
    st.just(Unlimited()) | st.integers(0, 5),
    st.booleans(),
    st.sampled_from(Tie),
    st.just(value=False),
)


def side_of(rows):
    count = len(rows)
    code = np.array([one[0] for one in rows], np.int64)
    payload = pa.RecordBatch.from_pydict(
        {"at": pa.array([one[1] for one in rows], pa.int64())}
    )
    place = np.arange(count)
    flags = flags_of(has_key=np.ones(count, bool))
    return make_rows(code, place, place, flags, payload)


def fits(pick, base, time):
    far = abs(time - base)
    is_near = pick.tolerance == Unlimited() or far <= pick.tolerance
    ways = {
        Direction.BACKWARD: time <= base,
        Direction.FORWARD: time >= base,
        Direction.NEAREST: True,
    }
    return ways[pick.direction] and is_near and (pick.exact or time != base)


def best(pick, base, able):
    """The nearest, of equal distance the earlier, of one time the first or the last."""
    sign = -1 if pick.takes_last else 1
    order = [(abs(time - base), time, sign * number) for number, time in able]
    return abs(min(order)[2])


@given(ROWS, ROWS, PICKS, st.integers(1, 3))
def test_the_nearest_that_passes_is_found(left, right, pick, passing):
    sides = side_of(left), side_of(right)
    every = tuple(np.ones(len(side), bool) for side in sides)
    found = nearest_pairs(
        pick,
        sides,
        every,
        sides[1].place,
        lambda pairs: (pairs.left + pairs.right) % passing == 0,
    )
    expected = []
    for number, (code, base) in enumerate(left):
        able = [
            (other, time)
            for other, (key, time) in enumerate(right)
            if key == code and None not in (base, time)
            if (number + other) % passing == 0 and fits(pick, base, time)
        ]
        if able:
            expected.append((number, best(pick, base, able)))
    assert sorted(zip(found.left, found.right, strict=True)) == expected
