"""Kernels as a stream runs them: what needs no order among keys is not held for one.

Rows may then leave earlier, and by the end the same rows have left as the definition
gives. Plays are drawn that the engine `stream` supports.
"""

from dataclasses import replace
from functools import partial
from random import Random

import pytest

from dovetail.conformance import oracle
from dovetail.conformance.local.play import Cut, play_cut
from dovetail.conformance.local.stage import Stage
from dovetail.engines.kernel_settings import kernel_settings, stream_manner
from dovetail.errors import UnsupportedError
from dovetail.plan.stream import plan_play
from dovetail.spec.inputs import Clock, Finish, InputKind
from tests.chance.plays import RARE, crowded_play, random_play
from tests.conformance.local import agreement
from tests.conformance.local.agreement import bag, chunks, outcome, seeds_of, seen
from tests.conformance.local.shelf import OnShelf


def accepted(play):
    """Raises what streams cannot do, or what is not known before all has come."""
    agreement.accepted(play)
    plan_play(play)
    ended = {one.input for one in play.events if isinstance(one, Finish)}
    moving = {
        source.name
        for source in play.inputs.values()
        if source.kind is not InputKind.DATASET
    }
    if moving - ended:
        raise UnsupportedError.not_yet("this test", "an input that does not end")


def streamed(play, chance):
    """What a stream gives, whatever the cut."""
    stage = Stage.of(play)
    # Keys are numbers here, of which none need be compared once more by value.
    manner = replace(stream_manner(plan_play(play)), key_columns=0)
    stage = replace(stage, settings=kernel_settings(stage.join, play.inputs, manner))
    ends = [end for end in range(len(stage.events)) if chance.random() < 0.3]
    return play_cut(stage, OnShelf(stage), Cut(ends, most=chance.randrange(1, 5)))


def is_same(play, seed):
    runs = partial(streamed, play, Random(seed)), partial(oracle.play, play)
    found, expected = (seen(bag, outcome(run)) for run in runs)
    return found == expected


@pytest.mark.parametrize("chunk", chunks(1, 20))
def test_a_stream_gives_the_rows_of_the_definition(chunk):
    for seed in seeds_of(chunk, 100):
        assert is_same(random_play(seed, accepted, Clock.EVENT), seed), seed


@pytest.mark.parametrize("chunk", chunks(1, 20))
@pytest.mark.parametrize("name", RARE)
def test_a_stream_gives_the_rows_of_the_definition_where_much_is_rare(name, chunk):
    for seed in seeds_of(chunk, 3):
        assert is_same(crowded_play(seed, accepted, Clock.EVENT, name), seed), seed
