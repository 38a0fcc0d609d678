"""Every case in Lenses SQL, on the engines that need no Spark, and mistakes.

A text with a mistake is refused at its place, or gives the same rows on both.
"""

from random import Random

import pytest

from dovetail.conformance.case import Script, read_cases
from dovetail.conformance.check import Check, Status
from dovetail.conformance.compare import describe
from dovetail.conformance.engines import EngineName, parse_split
from dovetail.conformance.flows import lenses_play
from dovetail.errors import NOWHERE, DovetailError, SpecError
from tests.conformance.oracle.test_cases import SAMPLES, TESTS
from tests.mistakes import attempted, is_told, mutated

FILES = sorted([*TESTS.glob("cases/lenses*.json"), *SAMPLES.glob("*lenses*.json")])
CASES = [case for case in read_cases(FILES) if isinstance(case.join, Script)]
WHOLE = parse_split("whole")


@pytest.mark.parametrize("engine", [EngineName.ORACLE, EngineName.LOCAL])
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_cases(case, engine):
    (verdict,) = Check(engine, WHOLE).verdicts([case])
    assert (verdict.status, verdict.reason, describe(verdict.difference)) == (
        Status.OK,
        "",
        [],
    )


def outcome(play, engine):
    """What comes out of a play, or the sentence that tells why nothing does."""
    try:
        lines = play.lines(engine, WHOLE)
    except DovetailError as error:
        return error.found.replace(engine.value, "engine")
    shown = ({name: str(value) for name, value in one.row.items()} for one in lines)
    return sorted(map(repr, shown))


def has_a_place(text, error):
    """Whether an error has its place in the text, or is that of a row of the case."""
    if isinstance(error, SpecError):
        return error.place != NOWHERE or error.rule == "case_file"
    return is_told(text, error)


@pytest.mark.parametrize("number", range(500))
def test_a_mistake_is_told_at_its_place_or_is_none(number):
    chance = Random(number)
    script = chance.choice(CASES).join
    wrong = mutated(chance, script.text, "'\";:(),.$0a+*", "\n")
    found = attempted(lenses_play, wrong, script.given)
    if isinstance(found, DovetailError):
        assert has_a_place(wrong, found), found
    else:
        assert outcome(found, EngineName.LOCAL) == outcome(found, EngineName.ORACLE)
