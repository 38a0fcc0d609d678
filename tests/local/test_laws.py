"""Laws of the kernels: they equal the definition, whatever the cut, with order and all.

230 random plays by default, 2,070 with --long; the seed of a play is in its name.
"""

import json
from collections import Counter
from random import Random

import pytest

from dovetail import oracle
from dovetail.run import local
from dovetail.run.local.playing import Cut, play_cut
from dovetail.run.local.stage import OnShelf, Stage
from dovetail.schema import shown_row
from dovetail.spec.inputs import Outlet
from tests.spark.stream_plays import JOINS, SOFT, random_play

SPECS = [*JOINS, *SOFT]
FEW, MANY = 10, 90


class Shelf:
    """Blobs in a dictionary, as a bucket keeps them in Spark's store."""

    def __init__(self):
        self.head = b""
        self.blobs = {}

    def directory(self):
        return self.head

    def keep_directory(self, data):
        self.head = data

    def get(self, number):
        return self.blobs[number]

    def put(self, number, data):
        self.blobs[number] = data

    def drop(self, number):
        del self.blobs[number]


SEEDS = [
    pytest.param(seed, marks=[pytest.mark.long] if seed >= FEW else [])
    for seed in range(MANY)
]


def bag(found, *, with_event):
    """Returns the rows by outlet, each with its event where that is known."""
    return Counter(
        (
            one.outlet.value,
            json.dumps(shown_row(one.row), sort_keys=True, default=str),
            one.after if with_event else 0,
        )
        for one in found
        if one.outlet is not Outlet.MARKS
    )


@pytest.mark.parametrize("seed", SEEDS)
def test_kernels_equal_the_definition(seed):
    for number, spec in enumerate(SPECS):
        play = random_play(spec, seed * 1000 + number, 24)
        expected = bag(oracle.play(play), with_event=True)
        assert bag(local.play(play), with_event=True) == expected, (number, seed)


@pytest.mark.parametrize("seed", SEEDS)
def test_any_cut_gives_the_same_rows_and_state_holds_only_what_lives(seed):
    chance = Random(seed)
    for number, spec in enumerate(SPECS):
        play = random_play(spec, seed * 1000 + number, 24)
        stage, shelf = Stage.of(play), Shelf()
        ends = sorted(chance.sample(range(30), k=4))
        cut = Cut([end for end in ends if end < len(stage.events)], most=5)
        found = play_cut(stage, OnShelf(stage, shelf), cut)
        expected = bag(oracle.play(play), with_event=False)
        assert bag(found, with_event=False) == expected, (number, seed)
