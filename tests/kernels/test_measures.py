"""What drives a row out of a delta window is what subtraction and comparison say."""

from datetime import UTC, datetime, timedelta
from decimal import MAX_PREC, Decimal, localcontext

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dovetail.kernels.arrays.rows import flags_of, make_rows
from dovetail.kernels.arrays.search import NOWHERE, first_above
from dovetail.kernels.lifetimes.measures import compared, measures, names_of

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


def measured(values, width):
    """What rows of these values have that compares."""
    columns = measures(values, width)
    assert tuple(columns) == names_of(values.type)
    payload = pa.record_batch({name: pa.array(it) for name, it in columns.items()})
    none = np.zeros(len(values), np.int64)
    return compared(make_rows(none, none, none, flags_of(has_key=none > 0), payload), 0)


def judged(values, kind, width):
    """Every value against every other by measure and reach, and by definition."""
    measure, reach = measured(pa.array(values, kind), width)
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


GREATEST = 10**38 - 1
UNITS = (
    st.integers(-GREATEST, GREATEST)
    | st.integers(-(2**64), 2**64)
    | st.integers(-9, 9).map(lambda near: GREATEST - abs(near) if near else -GREATEST)
    | st.integers(-9, 9).map(lambda near: (1 << 63) + near)
    | st.integers(-9, 9).map(lambda near: -(1 << 63) + near)
    | st.integers(-9, 9)
)
FAR = WIDTHS | st.integers(0, 2 * GREATEST + 1).map(lambda it: exact(it, 18))


def exact(units, scale):
    """A decimal of so many units of its last place."""
    with localcontext(prec=MAX_PREC):
        return Decimal(units).scaleb(-scale)


@pytest.mark.parametrize("scale", [0, 9, 18, 38])
@given(st.lists(st.none() | UNITS, max_size=6), FAR)
def test_wide_decimals_are_measured_exactly(scale, units, width):
    values = [None if one is None else exact(one, scale) for one in units]
    found, expected = judged(values, pa.decimal128(38, scale), width)
    assert found == expected


@given(st.lists(st.none() | st.integers(-99, 99), max_size=6), WIDTHS)
def test_small_values_of_wide_decimals_need_no_ranks(units, width):
    values = [None if one is None else Decimal(one) for one in units]
    wide = measured(pa.array(values, pa.decimal128(38, 9)), width)
    kept = measures(pa.array(values, pa.decimal128(18, 9)), width).values()
    assert [it.tolist() for it in wide] == [it.tolist() for it in kept]


def test_a_width_has_all_its_digits():
    width = Decimal("1." + "9" * 40)
    found, expected = judged([0, 1, 2], pa.int64(), width)
    assert found == expected


@given(st.lists(st.integers(-5, 5), max_size=6), st.integers(0, 5))
def test_times_are_measured_in_seconds(halves, width):
    times = [
        datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=n / 2) for n in halves
    ]
    kind = pa.timestamp("us", tz="UTC")
    measure, reach = measured(pa.array(times, kind), Decimal(width) / 2)
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
