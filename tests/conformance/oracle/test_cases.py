"""Every case that is written down, on the oracle."""

from pathlib import Path

import pytest

from dovetail.conformance import oracle
from dovetail.conformance.case import Neutral, Refusal, read_cases
from dovetail.conformance.compare import compare, describe
from dovetail.conformance.lines import Sight
from dovetail.errors import DovetailError

TESTS = Path(__file__).parents[2]
SAMPLES = TESTS.parents[1] / "shared" / "cases"


def neutral_cases(folder):
    files = sorted(folder.glob("*.json"))
    return [case for case in read_cases(files) if isinstance(case.join, Neutral)]


def fault(case):
    """Returns how the oracle's rows differ from what a case expects, in words."""
    try:
        found = oracle.play(case.join.play())
    except DovetailError as error:
        if isinstance(case.expect, Refusal) and case.expect.is_met_by(error):
            return []
        raise
    if isinstance(case.expect, Refusal):
        return ["is not refused"]
    return describe(compare(case.expect, found, Sight.EVENTS))


@pytest.mark.parametrize(
    "case", neutral_cases(TESTS / "cases"), ids=lambda case: case.name
)
def test_own_cases(case):
    assert fault(case) == []


@pytest.mark.parametrize("case", neutral_cases(SAMPLES), ids=lambda case: case.name)
def test_sample_cases(case):
    assert fault(case) == []
