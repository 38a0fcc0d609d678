"""Rows that wait for a table's late rows, without Spark, equal the definition.

A failing seed is played again with `random_late_play(seed, clock)`; 25 seeds a
clock by default, 1,000 with --long.
"""

from collections import Counter
from random import Random

import pytest

from dovetail import oracle
from dovetail.run import local
from dovetail.spec.inputs import EmitLateTableRows, Unending
from dovetail.spec.windows import HopSize
from tests.late_plays import random_late_play
from tests.local.test_random_plays import MOVING, bag, comparable, cut_play

CHUNK = 25
CHUNKS = [
    pytest.param(chunk, marks=[] if chunk < 1 else [pytest.mark.long])
    for chunk in range(40)
]


def shape(play):
    """What rows wait for, and how: whether for some time, without times, in hops."""
    late = play.settings.late_table_rows
    if not isinstance(late, EmitLateTableRows):
        return "no wait"
    ends = late.wait != Unending()
    is_timed = all(source.is_timed for source in play.inputs.values())
    return ends, is_timed, isinstance(play.join.left.window, HopSize)


@pytest.mark.parametrize("clock", MOVING)
@pytest.mark.parametrize("chunk", CHUNKS)
def test_kernels_equal_the_definition(chunk, clock):
    for seed in range(chunk * CHUNK, (chunk + 1) * CHUNK):
        play = random_late_play(seed, clock)
        found, expected = local.play(play), oracle.play(play)
        assert comparable(play, found) == comparable(play, expected), seed
        assert bag(cut_play(play, Random(seed))) == bag(found), seed


def test_every_shape_is_drawn():
    shapes = Counter(shape(random_late_play(seed)) for seed in range(2 * CHUNK))
    every = [(ends, False, False) for ends in (False, True)]
    every += [(ends, True, hops) for ends in (False, True) for hops in (False, True)]
    assert {*every} <= {*shapes}
