"""Every case that is written down, on the oracle."""

import pytest

from dovetail.errors import UnsupportedError
from dovetail.session.difference import describe
from tests.oracle.neutral_cases import OWN, SAMPLES, difference, read_cases


def name_of(case):
    return case["name"]


@pytest.mark.parametrize("case", read_cases(OWN), ids=name_of)
def test_own_cases(case):
    found = difference(case)
    assert not found, "\n".join(describe(found))


@pytest.mark.parametrize("case", read_cases(SAMPLES), ids=name_of)
def test_sample_cases(case):
    try:
        found = difference(case)
    except UnsupportedError as error:
        pytest.skip(str(error))
    assert not found, "\n".join(describe(found))
