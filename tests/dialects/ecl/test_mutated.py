"""Texts with a mistake: the error has its place, or the text is one that is right."""

import re
from random import Random

import pytest

from dovetail.conformance.engines import EngineName
from dovetail.conformance.programs import ecl_play
from dovetail.errors import DovetailError
from tests.dialects.ecl.test_cases import CASES
from tests.mistakes import attempted, is_told, mutated

WRITTEN = [case.join for case in CASES]
SIGNS = "'\";:(),.$0a+*={}[]xe"


def outcome(play, engine):
    """What comes out of a program, or the sentence that tells why nothing does."""
    try:
        return [repr((one.row, one.facts)) for one in play.lines(engine)]
    except DovetailError as error:
        told = error.found.replace(engine.value, "engine")
        # One that takes rows as they come has not seen all when a LIMIT fails.
        return re.sub(r"has \d+ candidates", "has too many candidates", told)


@pytest.mark.parametrize("number", range(500))
def test_a_mistake_is_told_at_its_place_or_is_none(number):
    chance = Random(number)
    script = chance.choice(WRITTEN)
    wrong = mutated(chance, script.text, SIGNS, "\n")
    found = attempted(ecl_play, wrong, script.given)
    if isinstance(found, DovetailError):
        assert is_told(wrong, found), found
    else:
        assert outcome(found, EngineName.LOCAL) == outcome(found, EngineName.ORACLE)
