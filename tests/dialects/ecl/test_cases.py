"""Every ECL case that is written down, on the engines that play programs."""

import pytest

from dovetail.conformance.case import Script, read_cases
from dovetail.conformance.check import Check, Status
from dovetail.conformance.compare import describe
from dovetail.conformance.engines import EngineName, parse_split
from tests.conformance.oracle.test_cases import SAMPLES, TESTS

FILES = sorted([*TESTS.glob("cases/ecl*.json"), *SAMPLES.glob("seeds_ecl*.json")])
CASES = [case for case in read_cases(FILES) if isinstance(case.join, Script)]


@pytest.mark.parametrize("engine", [EngineName.ORACLE, EngineName.LOCAL])
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_cases(case, engine):
    (verdict,) = Check(engine, parse_split("whole")).verdicts([case])
    assert (verdict.status, verdict.reason, describe(verdict.difference)) == (
        Status.OK,
        "",
        [],
    )


def test_streams_play_no_programs_yet_and_say_so():
    (verdict,) = Check(EngineName.STREAM, parse_split("whole")).verdicts(CASES[:1])
    assert verdict.status is Status.SKIP
    assert "a program in ECL is not yet supported" in verdict.reason
