"""An asof on streams keeps of the right rows only those that can still be picked."""

from dataclasses import replace
from random import Random

import pytest

from dovetail.conformance import local, oracle
from dovetail.conformance.local.play import Cut, play_cut
from dovetail.conformance.local.stage import InPlace, Stage
from dovetail.expression import ALWAYS, Expression
from dovetail.schema import from_microseconds
from dovetail.spec.inputs import Arrive, Clock, Finish
from dovetail.spec.join import Columns, JoinSpec, Kind, Named, Play, Side
from dovetail.spec.picks import AsOf, Equality, Picks, Tie
from dovetail.spec.spans import SECOND, Span
from dovetail.spec.windows import Forever
from tests.conformance.local.agreement import bag, lines
from tests.conformance.oracle.strategies import stream

pytestmark = pytest.mark.usefixtures("unmeasured")

SECONDS = Span(0, 2 * SECOND)
SHOWN = Columns((("l", Expression("l.n")), ("r", Expression("r.n"))))
KEY = Equality(Expression("l.k"), Expression("r.k"))


def asof_play(kind, pick, size, seed):
    """Two streams whose rows come about in order, a few keys."""
    chance = Random(seed)
    sides = [Side(Named(name), Forever()) for name in "ab"]
    picks = Picks(asof=pick)
    join = JoinSpec(*sides, kind, Clock.EVENT, (KEY,), ALWAYS, SHOWN, picks=picks)
    inputs = {name: stream(name, is_timed=True, lateness=SECONDS) for name in "ab"}
    events = []
    for number in range(size):
        moment = max(0, number + chance.randrange(-3, 1)) // 2 * SECOND
        row = {
            "k": chance.choice([None, 1, 2]),
            "n": number,
            "g": 0,
            "t": from_microseconds(moment),
        }
        events.append(Arrive(chance.choice("ab"), row))
    return Play(join, inputs, (*events, Finish("a"), Finish("b")))


def pick_of(**changes):
    return replace(AsOf(Expression("l.t"), Expression("r.t")), **changes)


@pytest.mark.parametrize("kind", [Kind.INNER, Kind.LEFT_OUTER, Kind.LEFT_SEMI])
def test_what_is_dropped_is_never_missed(kind):
    shown = Columns(SHOWN.columns[:1]) if kind is Kind.LEFT_SEMI else SHOWN
    for seed in range(8):
        chance = Random(seed)
        pick = pick_of(exact=chance.random() < 0.5, tie=chance.choice(list(Tie)))
        play = asof_play(kind, pick, 30, seed)
        play = replace(play, join=replace(play.join, select=shown))
        found = local.play(play)
        assert sorted(lines(found)) == sorted(lines(oracle.play(play))), seed
        stage = Stage.of(play)
        cut = Cut(range(0, 30, 7), most=3)
        assert bag(play_cut(stage, InPlace(stage), cut)) == bag(found), seed


def test_state_does_not_grow_with_the_stream():
    play = asof_play(Kind.LEFT_OUTER, pick_of(), 1500, 1)
    stage = Stage.of(play)
    memory = InPlace(stage)
    most = 0
    for first in range(0, 1500, 50):
        stage.run(memory, stage.between(first, first + 50, most=50))
        most = max(most, sum(len(rows) for rows in memory.state.alive))
    assert most < 60
