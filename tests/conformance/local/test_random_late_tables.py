"""Rows that wait for a table's late rows, without Spark, equal the definition.

A failing seed is played again with `random_late_play(seed, clock)`; 25 seeds a
clock by default, 1,000 with --long.
"""

from collections import Counter

import pytest

from dovetail.conformance import local
from dovetail.spec.inputs import EmitLateTableRows, Unending
from dovetail.spec.windows import HopSize
from tests.conformance.local.agreement import (
    MOVING,
    chunks,
    is_defined,
    is_uncut,
    seeds_of,
)
from tests.late_plays import random_late_play

pytestmark = pytest.mark.usefixtures("unmeasured")

CHUNK = 25


def shape(play):
    """What rows wait for, and how: whether for some time, without times, in hops."""
    late = play.settings.late_table_rows
    if not isinstance(late, EmitLateTableRows):
        return "no wait"
    ends = late.wait != Unending()
    is_timed = all(source.is_timed for source in play.inputs.values())
    return ends, is_timed, isinstance(play.join.left.window, HopSize)


@pytest.mark.parametrize("clock", MOVING)
@pytest.mark.parametrize("chunk", chunks(1, 40))
def test_kernels_equal_the_definition(chunk, clock):
    for seed in seeds_of(chunk, CHUNK):
        play = random_late_play(seed, clock)
        found = local.play(play)
        assert is_defined(play, found), seed
        assert is_uncut(play, found, seed), seed


def test_every_shape_is_drawn():
    shapes = Counter(shape(random_late_play(seed)) for seed in range(2 * CHUNK))
    every = [(ends, False, False) for ends in (False, True)]
    every += [(ends, True, hops) for ends in (False, True) for hops in (False, True)]
    assert {*every} <= {*shapes}
