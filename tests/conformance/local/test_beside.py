"""A table beside a stream, in one step with the first rows: it was there before them.

On Spark the operator gets a table's rows in its first batch, among rows of the stream.
"""

import pytest

from dovetail.conformance.local.stage import InPlace, Stage
from dovetail.errors import UnsupportedError
from dovetail.spec.inputs import Arrive, Clock, InputKind, Outlet, Remove, Settings
from dovetail.spec.join import HANDS, JoinSpec, Named
from dovetail.spec.windows import Forever, Latest
from tests.chance.plays import random_play
from tests.conformance.local.agreement import (
    MOVING,
    accepted,
    bag,
    chunks,
    of_kernels,
    seeds_of,
)

pytestmark = pytest.mark.usefixtures("unmeasured")


def beside(play):
    """Raises where a play is not of one stream beside what does not change."""
    join = play.join
    is_plain = isinstance(join, JoinSpec) and join.clock in MOVING
    if not is_plain or play.settings != Settings():
        raise UnsupportedError.not_yet("this test", "another play")
    sources = [join.side(hand).source for hand in HANDS]
    known = [play.inputs[one.name] for one in sources if isinstance(one, Named)]
    still = [one.name for one in known if one.kind is not InputKind.STREAM]
    moves = {
        event.input
        for event in (*play.opening, *play.events)
        if isinstance(event, Arrive | Remove)
    }
    if len(known) != 2 or len(still) != 1 or moves & {*still} or not moves:
        raise UnsupportedError.not_yet("this test", "another play")
    hand = HANDS[[one.name for one in known].index(still[0])]
    window = join.side(hand).window
    stays = window == Forever()
    if isinstance(window, Latest):
        # The copy of a table has no older versions that would leave unmatched.
        stays = not join.kind.preserves(hand)
    if join.clock is Clock.ARRIVAL and not stays:
        raise UnsupportedError.not_yet("this test", "rows that drive out each other")
    accepted(play)


def in_two_steps(play):
    """What comes out where the table's rows are in one step with half of the events."""
    stage = Stage.of(play)
    memory, half = InPlace(stage), len(stage.events) // 2 + 1
    first = [*stage.opening(), *stage.between(0, half, most=99)]
    rest = stage.between(half, len(stage.events), most=99)
    found = [*stage.run(memory, first, stage.events[half - 1].clock).rows]
    found += stage.run(memory, rest, stage.events[-1].clock).rows
    return [stage.writer.emission(row) for row in found]


def on_time(emissions):
    """Rows that came out, but for those of the table that lack a time."""
    return bag(
        one
        for one in emissions
        if one.outlet is not Outlet.LATE or one.row["reason"] != "null_time"
    )


@pytest.mark.parametrize("chunk", chunks(1, 3))
@pytest.mark.parametrize("clock", MOVING, ids=lambda clock: clock.value)
def test_what_is_there_from_the_start_comes_before_all_that_streams(clock, chunk):
    for seed in seeds_of(chunk, 50):
        play = random_play(seed, beside, clock)
        found = of_kernels(play)
        if isinstance(found, str):
            continue
        assert on_time(in_two_steps(play)) == on_time(found), seed
