"""What drives a row out of a delta window is what subtraction and comparison say."""

from datetime import UTC, datetime, timedelta
from decimal import MAX_PREC, Decimal, localcontext

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dovetail.kernels.arrays.search import NOWHERE, first_above
from dovetail.kernels.lifetimes.measures import measures

SMALL = st.integers(-3, 3)
DOUBLES = st.floats() | st.floats(-1, 1) | st.sampled_from([0.0, -0.0, 0.1, 0.3])
WIDTHS = st.decimals(0, 3, places=1) | st.decimals(0, allow_nan=False, allow_infinity=0)
BIGINTS = st.integers(-(2**63), 2**63 - 1) | st.integers(-9, 9)


def is_far(old, new, width):
    """Tells whether a new value drives an old one out, by definition."""
    if old is None or new is None:
        return False
    with localcontext(prec=MAX_PREC):
        rise = new - old
    return rise == rise and rise > width  # noqa: PLR0124 - NaN is far from nothing


def judged(values, kind, width):
    """Every value against every other by measure and reach, and by definition."""
    measure, reach = measures(pa.array(values, kind), width)
    found = [[bool(one > far) for one in measure] for far in reach]
    return found, [[is_far(old, new, width) for new in values] for old in values]


@given(st.lists(st.none() | BIGINTS, max_size=6), WIDTHS)
def test_whole_numbers_are_measured_exactly(values, width):
    found, expected = judged(values, pa.int64(), width)
    assert found == expected


@pytest.mark.parametrize("width", [2**63 - 1, 2**63, 2**63 + 1, 2**64 - 1, 2**64])
def test_a_width_may_be_beyond_the_greatest_number(width):
    ends = [-(2**63), -(2**63) + 1, -2, -1, 0, 1, 2**63 - 2, 2**63 - 1]
    found, expected = judged(ends, pa.int64(), Decimal(width))
    assert found == expected


@given(st.lists(st.none() | DOUBLES, max_size=6), WIDTHS)
def test_doubles_are_measured_as_they_are_subtracted(values, width):
    found, expected = judged(values, pa.float64(), width)
    assert found == expected


@given(st.lists(st.none() | st.decimals(-99, 99, places=3), max_size=6), WIDTHS)
def test_decimals_are_measured_exactly(values, width):
    found, expected = judged(values, pa.decimal128(18, 3), width)
    assert found == expected


@given(st.lists(st.none() | st.integers(-(2**63), 2**63 - 1), max_size=6), WIDTHS)
def test_wide_decimals_are_measured_exactly(units, width):
    values = [None if one is None else Decimal(one).scaleb(-9) for one in units]
    found, expected = judged(values, pa.decimal128(28, 9), width)
    assert found == expected


@pytest.mark.parametrize("value", [2**63, -(2**63) - 1])
def test_a_decimal_that_is_too_large_is_told(value):
    values = pa.array([None, Decimal(1), Decimal(value)], pa.decimal128(20, 0))
    assert len(measures(values[:2], Decimal(1))[0]) == 2
    with pytest.raises(OverflowError, match=f"up to {2**63 - 1}, not to {value}"):
        measures(values, Decimal(1))


@given(st.lists(st.integers(-5, 5), max_size=6), st.integers(0, 5))
def test_times_are_measured_in_seconds(halves, width):
    times = [
        datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=n / 2) for n in halves
    ]
    kind = pa.timestamp("us", tz="UTC")
    measure, reach = measures(pa.array(times, kind), Decimal(width) / 2)
    found = [[bool(one > far) for one in measure] for far in reach]
    assert found == [[is_far(old, new, width) for new in halves] for old in halves]


@given(st.lists(SMALL, max_size=40), st.data())
def test_a_descent_finds_the_first_value_above_the_reach(values, data):
    places = st.integers(0, len(values))
    searches = data.draw(st.lists(st.tuples(places, places, SMALL), max_size=9))
    starts, stops, reach = (
        np.array([one[at] for one in searches], np.int64) for at in range(3)
    )
    found = first_above(np.array(values, np.int64), starts, stops, reach)
    assert found.tolist() == [
        next((at for at in range(start, stop) if values[at] > far), NOWHERE)
        for start, stop, far in searches
    ]
