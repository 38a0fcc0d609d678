"""Every case in the SQL of streams, on the engines that need no Spark, and mistakes.

A text with a mistake is refused at its place, or gives the same rows on both.
"""

from random import Random

import pytest

from dovetail.conformance import local, oracle
from dovetail.conformance.case import Script, read_cases
from dovetail.conformance.check import Check, Status
from dovetail.conformance.compare import describe
from dovetail.conformance.engines import EngineName, parse_split
from dovetail.conformance.flows import NamedJoin, RowTimeText, sql_play
from dovetail.conformance.programs import ProgramPlay
from dovetail.errors import DovetailError
from tests.conformance.oracle.test_cases import SAMPLES, TESTS
from tests.mistakes import attempted, is_told, mutated

FILES = sorted(
    [*TESTS.glob("cases/sqlstream*.json"), *SAMPLES.glob("*sqlstream*.json")]
)
CASES = [case for case in read_cases(FILES) if isinstance(case.join, Script)]
WRITTEN = [case.join for case in CASES]


@pytest.mark.parametrize("engine", [EngineName.ORACLE, EngineName.LOCAL])
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_cases(case, engine):
    (verdict,) = Check(engine, parse_split("whole")).verdicts([case])
    assert (verdict.status, verdict.reason, describe(verdict.difference)) == (
        Status.OK,
        "",
        [],
    )


def outcome(play, engine):
    """What comes out of a play, or the sentence that tells why nothing does."""
    player = {EngineName.ORACLE: oracle, EngineName.LOCAL: local}[engine]
    try:
        if isinstance(play, RowTimeText):
            rows = play.lines(engine, parse_split("whole"))
        elif isinstance(play, ProgramPlay):
            rows = play.lines(engine)
        else:
            rows = player.play(play)
    except DovetailError as error:
        return error.found.replace(engine.value, "engine")
    shown = ({name: str(value) for name, value in one.row.items()} for one in rows)
    return sorted(map(repr, shown))


def play_of(text, given):
    """What a text is played as."""
    found = sql_play(text, given)
    return found.play if isinstance(found, NamedJoin) else found


@pytest.mark.parametrize("number", range(500))
def test_a_mistake_is_told_at_its_place_or_is_none(number):
    chance = Random(number)
    script = chance.choice(WRITTEN)
    wrong = mutated(chance, script.text, "'\";:(),.$0a+*", "\n")
    found = attempted(play_of, wrong, script.given)
    if isinstance(found, DovetailError):
        assert is_told(wrong, found), found
    else:
        assert outcome(found, EngineName.LOCAL) == outcome(found, EngineName.ORACLE)
