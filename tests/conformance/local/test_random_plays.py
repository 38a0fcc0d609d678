"""Kernels equal the definition on plays of any kind, window, clock, key and cut.

A failing seed is played again with `random_play(seed)`; 200 seeds by default, 2,000
with --long.
"""

import pytest

from dovetail.conformance import local
from tests.conformance.local.agreement import (
    MOVING,
    chunks,
    is_defined,
    is_uncut,
    seeds_of,
)
from tests.plays import random_play

pytestmark = pytest.mark.usefixtures("unmeasured")


@pytest.mark.parametrize("chunk", chunks(2, 20))
def test_kernels_equal_the_definition_and_no_cut_changes_a_row(chunk):
    for seed in seeds_of(chunk, 100):
        play = random_play(seed)
        found = local.play(play)
        assert is_defined(play, found), seed
        assert play.join.clock not in MOVING or is_uncut(play, found, seed), seed
