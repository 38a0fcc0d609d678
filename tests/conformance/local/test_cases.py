"""Every case that is written down, on the kernels without Spark.

What is refused is what the engine says that it lacks.
"""

import pytest

from dovetail.conformance import local
from dovetail.conformance.case import Refusal
from dovetail.conformance.compare import compare, describe
from dovetail.conformance.lines import Sight
from dovetail.errors import DovetailError, UnsupportedError
from tests.conformance.local.agreement import is_uncut, of_kernels
from tests.conformance.oracle.test_cases import SAMPLES, TESTS, neutral_cases
from tests.plan.refused import LACKING

CASES = (*neutral_cases(TESTS / "cases"), *neutral_cases(SAMPLES))
CHANGELOGS = [case for case in CASES if case.name.startswith("table_changes/")]


def fault(case):
    """Returns how the rows differ from what a case expects, in words."""
    try:
        found = local.play(case.join.play())
    except DovetailError as error:
        if isinstance(case.expect, Refusal) and case.expect.is_met_by(error):
            return []
        raise
    if isinstance(case.expect, Refusal):
        return ["is not refused"]
    return describe(compare(case.expect, found, Sight.EVENTS))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_cases(case):
    try:
        assert fault(case) == []
    except UnsupportedError as error:
        assert set(error.missing) <= LACKING["local"]  # noqa: PT017
        pytest.skip(str(error))


@pytest.mark.parametrize("case", CHANGELOGS, ids=lambda case: case.name)
def test_changes_are_those_of_few_steps_of_several_rows(case):
    play = case.join.play()
    found = of_kernels(play)
    assert all(is_uncut(play, found, seed) for seed in range(4))
