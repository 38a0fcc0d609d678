"""Null rows that come early equal the definition, on plays of the whole spec.

The plays are those by chance, with each switch for null rows in turn: drawn alone
they would be few. A failing seed is played again with `early_play(seed)`.
"""

from dataclasses import replace
from functools import partial
from random import Random

import pytest

from dovetail.errors import SpecError, UnsupportedError
from dovetail.run import local
from dovetail.spec.inputs import OuterRows
from dovetail.spec.join import Clock
from dovetail.spec.rules import checked
from tests.chance.plays import random_play
from tests.local.test_chance import accepted, is_same, outcome
from tests.local.test_random_plays import bag, cut_play

CHUNK = 60
CHUNKS = [
    pytest.param(chunk, marks=[] if chunk < 1 else [pytest.mark.long])
    for chunk in range(40)
]
EARLY = [OuterRows.EAGER, OuterRows.EAGER_RETRACT]


def early_play(seed):
    """The play of a seed with null rows that come early; as it is where it cannot."""
    play = random_play(seed, accepted, Clock.EVENT)
    early = replace(
        play, settings=replace(play.settings, outer_rows=EARLY[seed % len(EARLY)])
    )
    try:
        accepted(checked(early))
    except (SpecError, UnsupportedError):
        return play
    return early


@pytest.mark.parametrize("chunk", CHUNKS)
def test_early_null_rows_equal_the_definition(chunk):
    for seed in range(chunk * CHUNK, (chunk + 1) * CHUNK):
        play = early_play(seed)
        assert is_same(play), seed
        runs = partial(local.play, play), partial(cut_play, play, Random(seed))
        whole, cut = (outcome(run, bag) for run in runs)
        assert cut == whole, seed
