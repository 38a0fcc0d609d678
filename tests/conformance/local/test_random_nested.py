"""Joins of joins without Spark equal the definition, on every clock.

A failing seed is played again with `random_nested_play(seed, clock)`.
"""

from functools import partial
from itertools import compress
from operator import not_
from random import Random

import pytest

from dovetail.conformance import local, oracle
from dovetail.conformance.local.nested import Flat
from dovetail.conformance.local.play import Cut, play_cut
from dovetail.conformance.local.stage import Stage
from dovetail.errors import UnsupportedError
from dovetail.spec.inputs import Clock, Outlet
from tests.chance.nests import nested_play
from tests.conformance.local.agreement import (
    MOVING,
    accepted,
    bag,
    chunks,
    comparable,
    is_defined,
    lines,
    of_kernels,
    outcome,
    seeds_of,
)
from tests.conformance.local.shelf import OnShelf
from tests.nested_plays import (
    random_nested_play,
    random_static_play,
    random_waiting_play,
)
from tests.timed_plays import random_timed_play

pytestmark = pytest.mark.usefixtures("unmeasured")

CHUNK = 20
CHUNKS = chunks(1, 20)


@pytest.mark.parametrize("clock", MOVING)
@pytest.mark.parametrize("chunk", CHUNKS)
def test_a_batch_inside_a_join_that_moves_is_a_data_set(chunk, clock):
    for seed in seeds_of(chunk, CHUNK):
        play = random_static_play(seed, clock)
        found, expected = local.play(play), oracle.play(play)
        assert comparable(play, found) == comparable(play, expected), seed


@pytest.mark.parametrize("clock", list(Clock))
@pytest.mark.parametrize("chunk", CHUNKS)
def test_kernels_equal_the_definition_and_no_cut_changes_a_row(chunk, clock):
    for seed in seeds_of(chunk, CHUNK):
        play = random_nested_play(seed, clock)
        found, expected = local.play(play), oracle.play(play)
        assert comparable(play, found) == comparable(play, expected), seed
        assert bag(cut_outer(play, seed)) == bag(found), seed


def late_last(emissions):
    """The same rows, the late ones apart: those of a batch are under no order."""
    if isinstance(emissions, str):
        return emissions
    is_late = [one.outlet is Outlet.LATE for one in emissions]
    others = compress(emissions, map(not_, is_late))
    return bag(compress(emissions, is_late)), lines(others)


@pytest.mark.parametrize("clock", list(Clock))
@pytest.mark.parametrize("chunk", CHUNKS)
def test_joins_of_joins_of_the_whole_spec_equal_the_definition(chunk, clock):
    for seed in seeds_of(chunk, CHUNK):
        play = nested_play(seed, accepted, clock)
        found = of_kernels(play)
        if clock is Clock.BATCH:
            defined = outcome(partial(oracle.play, play))
            assert late_last(found) == late_last(defined), seed
        else:
            assert is_defined(play, found), seed


def cut_outer(play, seed):
    """The rows of a play whose outer join takes many events in a few steps."""
    chance = Random(seed)
    flat = Flat.of(play)
    stage = Stage.of(flat.play, flat.told)
    ends = [end for end in range(len(stage.events)) if chance.random() < 0.2]
    cut = Cut(ends, most=chance.randrange(1, 5))
    return flat.whole(play_cut(stage, OnShelf(stage), cut), len(play.opening))


@pytest.mark.parametrize("chunk", CHUNKS)
def test_rows_of_a_join_wait_for_a_table(chunk):
    seen = 0
    for seed in seeds_of(chunk, CHUNK):
        play = random_waiting_play(seed)
        if play is None:
            continue
        try:
            expected = oracle.play(play)
            found = local.play(play)
        except UnsupportedError:
            continue
        assert comparable(play, found) == comparable(play, expected), seed
        seen += 1
    assert seen >= CHUNK // 4


@pytest.mark.parametrize("chunk", CHUNKS)
def test_time_that_lets_rows_out_passes_before_what_comes_with_it(chunk):
    for seed in seeds_of(chunk, CHUNK):
        play = random_timed_play(seed)
        found, expected = local.play(play), oracle.play(play)
        assert comparable(play, found) == comparable(play, expected), seed
