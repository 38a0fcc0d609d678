"""Kernels as a stream runs them: what needs no order among keys is not held for one.

Rows may then leave earlier, and by the end the same rows have left as the definition
gives. Plays are drawn that the engine `stream` supports.
"""

from dataclasses import replace
from functools import partial
from random import Random

import pytest

from dovetail import oracle
from dovetail.errors import UnsupportedError
from dovetail.kernels.settings import Arrival
from dovetail.oracle import playing
from dovetail.plan import local as plan_local
from dovetail.plan import stream as plan_stream
from dovetail.run.kernel_settings import Manner, kernel_settings
from dovetail.run.local.playing import Cut, play_cut
from dovetail.run.local.stage import InPlace, Stage
from dovetail.spec.inputs import Finish, InputKind
from dovetail.spec.join import Clock
from tests.chance.plays import random_play
from tests.local.test_chance import outcome
from tests.local.test_random_plays import bag

CHUNK = 100
CHUNKS = [
    pytest.param(chunk, marks=[] if chunk < 1 else [pytest.mark.long])
    for chunk in range(20)
]


def accepted(play):
    """Raises what streams cannot do, or what is not known before all has come."""
    playing.playable(play)
    plan_local.refuse(play)
    plan_stream.refuse(play)
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
    manner = Manner(Arrival.SEQUENCE)
    stage = replace(stage, settings=kernel_settings(stage.join, play.inputs, manner))
    ends = [end for end in range(len(stage.events)) if chance.random() < 0.3]
    return play_cut(stage, InPlace(stage), Cut(ends, most=chance.randrange(1, 5)))


def is_same(seed):
    play = random_play(seed, accepted, Clock.EVENT)
    found = outcome(partial(streamed, play, Random(seed)), bag)
    return found == outcome(partial(oracle.play, play), bag)


@pytest.mark.parametrize("chunk", CHUNKS)
def test_a_stream_gives_the_rows_of_the_definition(chunk):
    seeds = range(chunk * CHUNK, (chunk + 1) * CHUNK)
    assert [seed for seed in seeds if not is_same(seed)] == []
