"""Plays to draw: two streams of rows `k`, `t` and a name, on any windows."""

from dovetail.expression import Expression
from dovetail.schema import Schema, from_microseconds
from dovetail.spec.inputs import Arrive, Clock, Finish, Input, InputKind
from dovetail.spec.join import HANDS, JoinSpec, Kind, Named, Play, Side
from dovetail.spec.picks import Equality
from dovetail.spec.spans import SECOND, Span
from dovetail.spec.windows import Range

SCHEMA = Schema.of({"k": "int", "t": "timestamp", "name": "string"})
TEN = Range(Span(0, 10 * SECOND))
ON_K = (Equality(Expression("l.k"), Expression("r.k")),)


def row(key, time, name="a"):
    moment = None if time is None else from_microseconds(time * SECOND)
    return {"k": key, "t": moment, "name": name}


def arrive(hand, key, time, name="a", clock=0):
    return Arrive(hand, row(key, time, name), clock * SECOND)


def play(*events, windows=(TEN, TEN), kind=Kind.LEFT_OUTER, clock=Clock.EVENT):
    """A join of two streams that end."""
    sides = [
        Side(Named(hand.value), window)
        for hand, window in zip(HANDS, windows, strict=True)
    ]
    inputs = {
        hand.value: Input(hand.value, InputKind.STREAM, SCHEMA, time="t")
        for hand in HANDS
    }
    ends = [Finish(hand.value) for hand in HANDS]
    join = JoinSpec(*sides, kind, clock, ON_K)
    return Play(join, inputs, (*events, *ends))


def crowd(count, *, is_equal=False):
    """So many rows a side: long names, late ones, null ones, and equal times."""
    events = []
    for number in range(count):
        time = number // 6 * 6 if is_equal else number
        name = f"number {number} of a very long name, \u738b\u5c0f\u660e" * (number % 3)
        key = None if number % 11 == 5 else number
        late = time - 40 if number % 9 == 8 else time
        events.append(arrive("left", key, late, name))
        partner = None if number % 13 == 4 else time
        events.append(arrive("right", number * 7 % count, partner, name))
    return play(*events)
