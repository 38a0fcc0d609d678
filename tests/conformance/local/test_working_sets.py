"""A step on its working set gives what a step on all rows gives, on plays of any kind.

Both memories are led through the same small steps: one keeps all rows in place, the
other on a shelf, where it reads what the step asks for. Joins on the event clock run
twice, with and without the order of row time.
"""

from dataclasses import replace
from functools import partial
from itertools import pairwise
from random import Random

import pytest

from dovetail.conformance.local.nested import Flat, has_inner
from dovetail.conformance.local.stage import InPlace, Stage
from dovetail.errors import LimitError, UnsupportedError
from dovetail.spec.inputs import OuterRows
from tests.chance.plays import random_play as play_by_chance
from tests.conformance.local.agreement import MOVING, accepted, chunks, seeds_of
from tests.conformance.local.shelf import OnShelf
from tests.late_plays import random_late_play
from tests.nested_plays import random_nested_play
from tests.plays import random_play
from tests.spark import stream_plays

pytestmark = pytest.mark.usefixtures("unmeasured")

JOINS = stream_plays.JOINS + stream_plays.SOFT


def any_outer_rows(seed, clock):
    play = play_by_chance(seed, accepted, clock)
    outer_rows = list(OuterRows)[seed % len(OuterRows)]
    return replace(play, settings=replace(play.settings, outer_rows=outer_rows))


def stream_play(seed, clock):
    join = [join for join in JOINS if join.clock is clock]
    return stream_plays.random_play(join[seed % len(join)], f"working set {seed}")


PLAYS = {
    "plays": random_play,
    "chance": lambda seed, clock: play_by_chance(seed, accepted, clock),
    "null_rows": any_outer_rows,
    "late": random_late_play,
    "nested": random_nested_play,
    "streams": stream_play,
}


def stages(play):
    """The stages of a play: as it is, and as streams run it; none that is refused."""
    try:
        if has_inner(play.join):
            flat = Flat.of(play)
            stage = Stage.of(flat.play, flat.told)
        else:
            stage = Stage.of(play)
    except UnsupportedError:
        return
    yield stage
    settings = stage.settings
    free = replace(settings, ordered=settings.picks.by_turn and settings.event_clock)
    if free != settings:
        yield replace(stage, settings=free)


def steps(stage, chance):
    """The lines of a play's steps, most of them short, and the clock."""
    opening = stage.opening()
    if opening:
        yield opening, 0
    count = len(stage.events)
    ends = [end for end in range(1, count) if chance.random() < 0.7]
    for first, past in pairwise(sorted({0, *ends, count})):
        clock = stage.events[past - 1].clock
        yield stage.between(first, past, most=chance.randrange(1, 4)), clock


def come_out(stage, memory, lines, clock):
    """What a step gives, in order where one can be seen, or the error that ends it."""
    try:
        rows = map(repr, stage.run(memory, lines, clock).rows)
    except LimitError as error:
        return str(error)
    return list(rows) if stage.settings.numbered else sorted(rows)


def agree(play, seed):
    """Whether both memories give the same in each step of all stages of a play."""
    for stage in stages(play):
        both = InPlace(stage), OnShelf(stage)
        for lines, clock in steps(stage, Random(seed)):
            run = partial(come_out, stage, lines=lines, clock=clock)
            whole, part = (run(memory=memory) for memory in both)
            if whole != part:
                return False
            if isinstance(whole, str):
                break
    return True


@pytest.mark.parametrize("clock", MOVING)
@pytest.mark.parametrize(
    "kind",
    [
        pytest.param(
            kind, marks=[] if kind in {"plays", "streams"} else pytest.mark.wide
        )
        for kind in PLAYS
    ],
)
@pytest.mark.parametrize("chunk", chunks(1, 50))
def test_the_working_set_gives_what_all_rows_give(chunk, kind, clock):
    wrong = [
        seed
        for seed in seeds_of(chunk, 50)
        if not agree(PLAYS[kind](seed, clock), seed)
    ]
    assert wrong == []
