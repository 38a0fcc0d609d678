"""Rows spread over buckets, where those that rows of other keys end are told of it.

The operator in front of the buckets finds the lives that the definition has: so rows
that come out are those of the definition, in any cut, over any number of buckets.
"""

from functools import partial
from random import Random

import pytest

from dovetail.conformance import oracle
from dovetail.conformance.compare import compare, describe
from dovetail.conformance.engines import batch_ends, parse_split
from dovetail.conformance.lines import Order, Rows, Sight
from dovetail.conformance.local.play import Cut
from dovetail.errors import DovetailError, UnsupportedError
from dovetail.plan.stream import plan_play
from dovetail.spec.inputs import Clock
from tests.chance.plays import random_play
from tests.conformance.local import agreement, test_streams
from tests.conformance.local.agreement import bag, chunks, outcome, seeds_of, seen
from tests.conformance.local.spread import spread_play
from tests.conformance.oracle.test_cases import SAMPLES, TESTS, neutral_cases

pytestmark = pytest.mark.usefixtures("unmeasured")


def accepted(play, told):
    """Raises what streams cannot do, or do in one bucket, or untold where they must."""
    # In row time only inputs that end let all rows go, whatever the order of keys.
    by_time = play.join.clock is Clock.EVENT
    (test_streams if by_time else agreement).accepted(play)
    spread = plan_play(play).spread
    if not spread.is_wide or (told and not spread.told):
        raise UnsupportedError.not_yet("this test", f"a join of {spread.reason}")


def is_same(clock, told, seed):
    play = random_play(seed, partial(accepted, told=told), clock)
    chance = Random(seed)
    ends = [end for end in range(len(play.events)) if chance.random() < 0.3]
    cut, count = Cut(ends, chance.randrange(1, 5)), chance.choice([1, 2, 7])
    runs = partial(spread_play, play, count, cut), partial(oracle.play, play)
    found, expected = (seen(bag, outcome(run)) for run in runs)
    return found == expected


@pytest.mark.parametrize("chunk", chunks(1, 20))
@pytest.mark.parametrize(
    ("clock", "told"),
    [(Clock.ARRIVAL, True), (Clock.ARRIVAL, False), (Clock.EVENT, False)],
)
def test_any_number_of_buckets_gives_the_rows_of_the_definition(clock, told, chunk):
    seeds = seeds_of(chunk, 60)
    assert [seed for seed in seeds if not is_same(clock, told, seed)] == []


def is_told(case):
    """Whether the rows of a case end those of other keys, and leave in any order."""
    if not isinstance(case.expect, Rows) or case.expect.order is not Order.BAG:
        return False
    try:
        plan = plan_play(case.join.play())
    except DovetailError:
        return False
    # Rows of a join inside come by way of Spark.
    return bool(plan.spread.told) and not plan.inside


CASES = (*neutral_cases(TESTS / "cases"), *neutral_cases(SAMPLES))
TOLD = [case for case in CASES if is_told(case)]


@pytest.mark.parametrize(
    ("split", "count"),
    [pytest.param("each", 2, marks=pytest.mark.wide), ("random:1", 7)],
)
def test_cases_of_which_buckets_are_told_give_what_they_expect(split, count):
    faults = {}
    for case in TOLD:
        play = case.join.play()
        ends = batch_ends(parse_split(split), len(play.events), case.name)
        found = spread_play(play, count, Cut(ends, most=3))
        faults[case.name] = describe(compare(case.expect, found, Sight.OUTLETS))
    assert {name: fault for name, fault in faults.items() if fault} == {}
    assert len(faults) > 100
