"""What a join keeps follows what may still meet somebody, however long it runs."""

from random import Random

import pytest

from dovetail.conformance.local.stage import Stage
from dovetail.expression import Expression
from dovetail.schema import from_microseconds
from dovetail.spec.inputs import Arrive, Order, OuterRows, Settings
from dovetail.spec.join import Kind, Play
from dovetail.spec.picks import AtMost, Keep, Picks
from dovetail.spec.spans import SECOND
from dovetail.spec.windows import (
    Delta,
    Forever,
    HopSize,
    HopUnit,
    Latest,
    Range,
    RowsPreceding,
    Seconds,
)
from tests.conformance.local.shelf import OnShelf
from tests.spark.stream_plays import (
    ARRIVAL,
    JOINS,
    NEAR,
    SOFT,
    join,
    random_input,
    random_row,
    seconds,
    side,
)

pytestmark = pytest.mark.usefixtures("unmeasured")

EVENTS, EACH = 400, 20


def both(window, kind=Kind.FULL_OUTER, per="", **changes):
    """A join of two streams in the same window."""
    return join(side("a", window, per), side("b", window, per), kind, **changes)


DELTA = Delta(Expression("n"), 5)
WINDOWS = [
    both(HopSize(seconds(10), seconds(5))),
    both(HopUnit("minute")),
    both(NEAR, Kind.LEFT_OUTER, picks=Picks(keep=Keep(1))),
    both(NEAR, Kind.LEFT_OUTER, picks=Picks(at_most=AtMost(1))),
    join(side("a", RowsPreceding(2, 0)), side("b", NEAR), Kind.FULL_OUTER),
    join(side("a", RowsPreceding(2, 0), "k"), side("b", NEAR), Kind.FULL_OUTER),
    join(side("a", NEAR), side("b", Latest(("k",))), Kind.LEFT_OUTER),
    join(side("a", Range()), side("v", Latest(("k",))), Kind.FULL_OUTER),
    both(Seconds(seconds(3)), **ARRIVAL),
    both(Range(seconds(3)), **ARRIVAL),
    both(DELTA, **ARRIVAL),
    both(DELTA, per="k", **ARRIVAL),
    both(Latest(("k",)), **ARRIVAL),
]
PLAYS = [
    (one, Settings())
    for one in (*JOINS, *SOFT, *WINDOWS)
    # A stream that lives for ever is kept for ever.
    if one.right.source.name != "b" or one.right.window != Forever()
]
PLAYS += [(both(NEAR), Settings(outer_rows=one)) for one in OuterRows]
PLAYS.append((both(NEAR), Settings(order=Order.ROW_TIME)))


def play_of(spec, settings):
    """Rows of few keys on each input, whose times go on about in order."""
    chance = Random(5)
    names = sorted({spec.left.source.name, spec.right.source.name})
    inputs = {name: random_input(chance, name) for name in names}
    moving, events = [name for name in names if name not in "uf"], []
    for number in range(EVENTS):
        row = random_row(chance, number, may_lack_time=False)
        time = max(0, number + 2 * chance.randrange(-3, 1)) // 2
        row = {**row, "t": from_microseconds(time * SECOND)}
        events.append(Arrive(chance.choice(moving), row, number * SECOND // 2))
    return Play(spec, inputs, tuple(events), (), settings)


@pytest.mark.parametrize("number", range(len(PLAYS)))
def test_a_join_keeps_no_more_after_twice_as_long(number):
    stage = Stage.of(play_of(*PLAYS[number]))
    memory, kept = OnShelf(stage), []
    stage.run(memory, stage.opening())
    for first in range(0, EVENTS, EACH):
        lines = stage.between(first, first + EACH, most=EACH)
        stage.run(memory, lines, stage.events[first + EACH - 1].clock)
        kept.append(sum(kind.alive for kind in memory.store.kinds))
    half = len(kept) // 2
    assert max(kept[-4:]) <= 1.3 * max(kept[half - 4 : half]) + 10
