"""Joins of several sets without Spark equal the definition, to the order of the rows.

They do in any cut, out of a store, and over any number of buckets where keys are
spread.
A failing seed is played again with `random_set_play(seed)`.
"""

from random import Random

import pytest

from dovetail.conformance import local, oracle
from dovetail.conformance.local.play import Cut
from dovetail.conformance.local.stage import Stage
from dovetail.plan.stream import plan_play
from tests.conformance.local.agreement import bag, chunks, cut_play, lines, seeds_of
from tests.conformance.local.spread import spread_play
from tests.set_plays import random_set_play

pytestmark = pytest.mark.usefixtures("unmeasured")


@pytest.mark.parametrize("chunk", chunks(2, 20))
def test_kernels_equal_the_definition(chunk):
    for seed in seeds_of(chunk, 100):
        play = random_set_play(seed)
        assert lines(local.play(play)) == lines(oracle.play(play)), seed


@pytest.mark.parametrize("chunk", chunks(1, 20))
def test_any_cut_gives_the_rows_of_the_definition_in_their_order(chunk):
    for seed in seeds_of(chunk, 100):
        play = random_set_play(seed)
        found = cut_play(play, Random(seed))
        assert lines(found) == lines(oracle.play(play)), seed


@pytest.mark.parametrize("chunk", chunks(1, 20))
def test_any_number_of_buckets_gives_the_rows_of_the_definition(chunk):
    spread = set()
    for seed in seeds_of(chunk, 100):
        play, chance = random_set_play(seed), Random(seed)
        count = chance.choice([2, 3, 7]) if plan_play(play).spread.is_wide else 1
        ends = [end for end in (1, 3) if end < len(Stage.of(play).events)]
        found = spread_play(play, count, Cut(ends, most=chance.randrange(1, 5)))
        assert bag(found) == bag(oracle.play(play)), seed
        spread.add(count)
    assert {1, 2, 3, 7} == spread
