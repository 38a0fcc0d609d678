"""Lengths of arrays of moments are the spans of the spec, moment by moment."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dovetail.kernels.arrays.rows import BEGINNING, NEVER
from dovetail.kernels.lifetimes.calendar import least_shifted, shift
from dovetail.schema import to_microseconds
from dovetail.spec.spans import SECOND, Span
from tests import strategies

MOMENTS = strategies.MOMENTS.map(to_microseconds)


@given(strategies.SPANS, st.lists(MOMENTS))
def test_moments_are_shifted_as_by_the_spec(span, moments):
    shifted = shift(np.array(moments, np.int64), span)
    assert shifted.tolist() == [span.after(moment) for moment in moments]


@given(strategies.SPANS, st.lists(MOMENTS))
def test_the_least_of_later_moments_is_that_of_the_spec(span, moments):
    least = least_shifted(np.array(moments, np.int64), span)
    assert least.tolist() == [span.least_after(moment) for moment in moments]


@pytest.mark.parametrize("edge", [BEGINNING, NEVER])
def test_what_is_before_and_after_all_time_stays(edge):
    assert least_shifted(np.array([edge]), Span(1, SECOND)).tolist() == [edge]
