"""Joins of several sets without Spark equal the definition, to the order of the rows.

A failing seed is played again with `random_set_play(seed)`.
"""

import pytest

from dovetail.conformance import local, oracle
from tests.conformance.local.agreement import chunks, lines, seeds_of
from tests.set_plays import random_set_play


@pytest.mark.parametrize("chunk", chunks(2, 20))
def test_kernels_equal_the_definition(chunk):
    for seed in seeds_of(chunk, 100):
        play = random_set_play(seed)
        assert lines(local.play(play)) == lines(oracle.play(play)), seed
