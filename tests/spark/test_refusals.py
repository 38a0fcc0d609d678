"""Joins as data that must be refused: Spark's engines say so, as the others do."""

from pathlib import Path

import pytest

from dovetail.conformance.case import Neutral, Refusal, read_cases
from dovetail.conformance.check import Check, Status
from dovetail.conformance.engines import EngineName, parse_split

TESTS = Path(__file__).parents[1]
SAMPLES = TESTS.parents[1] / "shared" / "cases"
CASES = [
    case
    for folder in (TESTS / "cases", SAMPLES)
    for case in read_cases(sorted(folder.glob("*.json")))
    if isinstance(case.join, Neutral) and isinstance(case.expect, Refusal)
]
NO_BATCH = {
    "picks_arrival/limit_fails_at_the_first_too_many",
    "picks_arrival/limit_fails_though_more_come_at_once",
    "picks_arrival/limit_names_the_left_key",
    "picks_event/limit_is_an_engine_error",
    "table_picks/limit_fail",
    "table_picks/limit_fail_from_the_start",
}
"""What fails as rows arrive, which a batch does not know."""


@pytest.mark.parametrize(
    ("engine", "split", "not_played"),
    [
        (EngineName.BATCH, "whole", NO_BATCH),
        pytest.param(EngineName.STREAM, "whole", set(), marks=pytest.mark.wide),
        pytest.param(EngineName.STREAM, "random:3", set(), marks=pytest.mark.long),
    ],
)
@pytest.mark.usefixtures("spark")
@pytest.mark.timeout(600)
def test_cases(engine, split, not_played):
    verdicts = [*Check(engine, parse_split(split)).verdicts(CASES)]
    told = {it.case.name: it.reason for it in verdicts if it.status is Status.FAIL}
    assert told == {}
    skipped = {it.case.name for it in verdicts if it.status is Status.SKIP}
    assert skipped == not_played
    assert len(verdicts) == len(CASES)
