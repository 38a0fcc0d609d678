"""Kernels equal the definition where the result is told by its changes: no streams.

A failing seed is played again with `random_play(seed, told, Clock.ARRIVAL)`; 100 seeds
by default, 2,000 with --long.
"""

from functools import partial
from random import Random

import pytest

from dovetail import oracle
from dovetail.errors import UnsupportedError
from dovetail.kernels.tables import chosen
from dovetail.run import local
from dovetail.spec.inputs import InputKind
from dovetail.spec.join import Clock
from tests.chance.plays import random_play
from tests.local.test_chance import accepted, outcome
from tests.local.test_random_plays import bag, comparable, cut_play

CHUNK = 50
CHUNKS = [
    pytest.param(chunk, marks=[] if chunk < 2 else [pytest.mark.long])
    for chunk in range(40)
]


def told(play):
    """Raises where a stream is joined, or what the kernels cannot do yet."""
    if any(source.kind is InputKind.STREAM for source in play.inputs.values()):
        raise UnsupportedError.not_yet("this test", "a stream")
    accepted(play)


def outcomes(play, seed):
    """What the definition says, the kernels, and both whole and in a few steps."""
    seen = partial(comparable, play)
    whole = [outcome(partial(one.play, play), seen) for one in (oracle, local)]
    cut = partial(cut_play, play, Random(seed))
    return *whole, *(outcome(run, bag) for run in (partial(local.play, play), cut))


@pytest.mark.parametrize("chunk", CHUNKS)
def test_kernels_equal_the_definition_and_no_cut_changes_a_row(chunk):
    for seed in range(chunk * CHUNK, (chunk + 1) * CHUNK):
        play = random_play(seed, told, Clock.ARRIVAL)
        expected, found, whole, cut = outcomes(play, seed)
        assert (found, cut) == (expected, whole), seed


def test_a_few_left_rows_at_a_time_are_as_good_as_all(monkeypatch):
    plays = [random_play(seed, told, Clock.ARRIVAL) for seed in range(40)]
    whole = [outcome(partial(local.play, play), list) for play in plays]
    monkeypatch.setattr(chosen, "_ROOM", 4)
    assert [outcome(partial(local.play, play), list) for play in plays] == whole
