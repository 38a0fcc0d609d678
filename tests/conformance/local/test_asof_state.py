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
from dovetail.spec.picks import AsOf, Direction, Equality, Picks, Tie
from dovetail.spec.spans import SECOND, Span
from dovetail.spec.windows import Forever, Range, Rows
from tests.conformance.local.agreement import bag, lines
from tests.conformance.oracle.strategies import stream

pytestmark = pytest.mark.usefixtures("unmeasured")

SECONDS = Span(0, 2 * SECOND)
SHOWN = Columns((("l", Expression("l.n")), ("r", Expression("r.n"))))
KEY = Equality(Expression("l.k"), Expression("r.k"))


def asof_play(kind, pick, left, size, seed):
    """Two streams whose rows come about in order, a few keys."""
    chance = Random(seed)
    sides = [Side(Named("a"), left), Side(Named("b"), Forever())]
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


@pytest.mark.parametrize("left", [Forever(), Range(), Rows(0)])
@pytest.mark.parametrize("kind", [Kind.INNER, Kind.LEFT_OUTER, Kind.LEFT_SEMI])
def test_what_is_dropped_is_never_missed(kind, left):
    shown = Columns(SHOWN.columns[:1]) if kind is Kind.LEFT_SEMI else SHOWN
    for seed in range(8):
        chance = Random(seed)
        pick = pick_of(exact=chance.random() < 0.5, tie=chance.choice(list(Tie)))
        play = asof_play(kind, pick, left, 30, seed)
        play = replace(play, join=replace(play.join, select=shown))
        found = local.play(play)
        assert sorted(lines(found)) == sorted(lines(oracle.play(play))), seed
        stage = Stage.of(play)
        cut = Cut(range(0, 30, 7), most=3)
        assert bag(play_cut(stage, InPlace(stage), cut)) == bag(found), seed


NEAR = Span(0, 5 * SECOND)
FORMS = {
    "endless": (pick_of(), Forever()),
    "as it is by itself": (pick_of(), Range()),
    "never kept": (pick_of(), Rows(0)),
    "not exact": (pick_of(exact=False, tie=Tie.FIRST), Range()),
    "near": (pick_of(tolerance=NEAR), Range()),
    "forward": (pick_of(direction=Direction.FORWARD, tolerance=NEAR), Range(NEAR)),
    "nearest": (pick_of(direction=Direction.NEAREST, tolerance=NEAR), Range(NEAR)),
    "a month": (pick_of(tolerance=Span(1, 0)), Range()),
}


@pytest.mark.parametrize("form", FORMS)
def test_state_does_not_grow_with_the_stream(form):
    assert most_kept(asof_play(Kind.LEFT_OUTER, *FORMS[form], 1500, 1)) < 60


def most_kept(play):
    """How many rows are alive at most, where a step is fifty events."""
    stage = Stage.of(play)
    memory, most = InPlace(stage), 0
    for first in range(0, len(play.events) - 2, 50):
        stage.run(memory, stage.between(first, first + 50, most=50))
        most = max(most, sum(len(rows) for rows in memory.state.alive))
    return most


@pytest.mark.parametrize("form", ["near", "forward", "nearest"])
@pytest.mark.parametrize("soft", ["true", "l.n <> r.n"])
def test_what_is_near_is_not_kept_for_keys_that_never_come_again(form, soft):
    play = asof_play(Kind.LEFT_OUTER, *FORMS[form], 1500, 2)
    events = tuple(
        replace(one, row={**one.row, "k": one.row["n"] // 2})
        if isinstance(one, Arrive)
        else one
        for one in play.events
    )
    join = replace(play.join, soft=Expression(soft))
    assert most_kept(replace(play, events=events, join=join)) < 60


def test_rows_of_keys_that_are_hashed_are_dropped_too():
    text = Equality(Expression("string(l.k)"), Expression("string(r.k)"))
    play = asof_play(Kind.LEFT_OUTER, pick_of(), Range(), 1500, 3)
    play = replace(play, join=replace(play.join, hard=(text,)))
    assert most_kept(play) < 60
