"""Joins of joins without Spark equal the definition, on every clock.

A failing seed is played again with `random_nested_play(seed, clock)`.
"""

import pytest

from dovetail import oracle
from dovetail.run import local
from dovetail.spec.join import Clock
from tests.local.test_random_plays import comparable
from tests.nested_plays import random_nested_play, random_static_play

CHUNK = 20
CHUNKS = [
    pytest.param(chunk, marks=[] if chunk < 1 else [pytest.mark.long])
    for chunk in range(20)
]


@pytest.mark.parametrize("clock", [Clock.ARRIVAL, Clock.EVENT])
@pytest.mark.parametrize("chunk", CHUNKS)
def test_a_batch_inside_a_join_that_moves_is_a_data_set(chunk, clock):
    for seed in range(chunk * CHUNK, (chunk + 1) * CHUNK):
        play = random_static_play(seed, clock)
        found, expected = local.play(play), oracle.play(play)
        assert comparable(play, found) == comparable(play, expected), seed


@pytest.mark.parametrize("clock", list(Clock))
@pytest.mark.parametrize("chunk", CHUNKS)
def test_kernels_equal_the_definition(chunk, clock):
    for seed in range(chunk * CHUNK, (chunk + 1) * CHUNK):
        play = random_nested_play(seed, clock)
        found, expected = local.play(play), oracle.play(play)
        assert comparable(play, found) == comparable(play, expected), seed
