"""Texts with a mistake: each is told at its place, or runs like any other.

What still is SPL may say something else than before: all engines must then say the
same.
"""

from random import Random

import pytest

from dovetail.conformance import local, oracle
from dovetail.conformance.case import Script, read_cases
from dovetail.conformance.engines import EngineName
from dovetail.conformance.flows import FlowPlay, JoinPlay, spl_play
from dovetail.errors import DovetailError
from tests.conformance.oracle.test_cases import TESTS
from tests.dialects.spl.test_laws import lines
from tests.mistakes import attempted, is_told, mutated
from tests.spl_texts import drawn

COUNT = 500
FILES = [
    TESTS / f"cases/spl_{name}.json"
    for name in ("document", "steps", "language", "code")
]
WRITTEN = [case.join for case in read_cases(FILES) if isinstance(case.join, Script)]
SIGNS = ';:{}()<>,."$0a+'


def source(chance, number):
    """A text that is right, and what arrives."""
    if number % 2:
        return drawn(number, count=8)
    script = chance.choice(WRITTEN)
    return script.text, script.given


def outcome(play, engine):
    """What comes out, or the sentence that tells why nothing does."""
    try:
        match play:
            case JoinPlay(one):
                player = oracle if engine is EngineName.ORACLE else local
                return lines(player.play(one))
            case FlowPlay():
                return [(repr(one.row), one.facts) for one in play.lines(engine)]
    except DovetailError as error:
        return error.found


@pytest.mark.parametrize("number", range(COUNT))
def test_a_mistake_is_told_at_its_place_or_is_none(number):
    chance = Random(number)
    text, given = source(chance, number)
    wrong = mutated(chance, text, SIGNS, ";")
    found = attempted(spl_play, wrong, given)
    if isinstance(found, DovetailError):
        assert is_told(wrong, found)
    else:
        assert outcome(found, EngineName.LOCAL) == outcome(found, EngineName.ORACLE)
