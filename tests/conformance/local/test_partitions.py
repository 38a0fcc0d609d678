"""How many partitions of a window have rows is known without reading all of them."""

import numpy as np
import pytest

from dovetail.conformance.local.stage import Stage, steps
from dovetail.errors import UnsupportedError
from dovetail.kernels.arrays.rows import NEVER
from dovetail.spec.inputs import Clock
from tests.chance.plays import random_play as play_by_chance
from tests.conformance.local.agreement import accepted
from tests.conformance.local.shelf import OnShelf
from tests.plays import random_play
from tests.spl_texts import play_of

pytestmark = pytest.mark.usefixtures("unmeasured")

SEEDS = range(40)


class Counted(OnShelf):
    """State on a shelf; after each step it is counted anew what the store counts."""

    judged = 0

    def save(self, stepped):
        saved = super().save(stepped)
        self.load([], 0)
        for hand, rows in enumerate(self.store.whole().alive):
            partitions = saved.sides[hand].partitions
            if partitions is not None:
                alive = rows.partition[rows.death == NEVER]
                assert partitions == len(np.unique(alive))
                Counted.judged += partitions > 1
        return saved


PLAYS = {
    "plays": lambda seed: random_play(f"partitions {seed}", Clock.ARRIVAL),
    "chance": lambda seed: play_by_chance(seed, accepted, Clock.ARRIVAL),
    "spl": play_of,
}


@pytest.mark.parametrize("maker", PLAYS)
def test_partitions_are_counted_as_rows_come_and_go(maker):
    Counted.judged = 0
    for seed in SEEDS:
        try:
            stage = Stage.of(PLAYS[maker](seed))
        except UnsupportedError:
            continue
        for _ in steps(stage, Counted(stage)):
            pass
    assert Counted.judged > 10
