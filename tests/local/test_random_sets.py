"""Joins of several sets without Spark equal the definition, to the order of the rows.

A failing seed is played again with `random_set_play(seed)`.
"""

import pytest

from dovetail import oracle
from dovetail.run import local
from tests.local.test_random_plays import CHUNK, CHUNKS, lines
from tests.set_plays import random_set_play


@pytest.mark.parametrize("chunk", CHUNKS)
def test_kernels_equal_the_definition(chunk):
    for seed in range(chunk * CHUNK, (chunk + 1) * CHUNK):
        play = random_set_play(seed)
        assert lines(local.play(play)) == lines(oracle.play(play)), seed
