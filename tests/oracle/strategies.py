"""Random plays: two streams, a few keys, times that come a little out of order."""

from dataclasses import replace

from hypothesis import strategies as st

from dovetail.expression import Expression
from dovetail.schema import Schema, from_microseconds
from dovetail.spec.inputs import Arrive, Bound, Finish, Input, InputKind
from dovetail.spec.join import Clock, Columns, JoinSpec, Kind, Named, Side
from dovetail.spec.picks import Equality
from dovetail.spec.play import Play
from dovetail.spec.spans import NO_TIME, SECOND, Span
from dovetail.spec.windows import Forever, Latest, Range, Rows

SCHEMA = Schema.of({"k": "int", "n": "int", "g": "int", "t": "timestamp"})
SELECT = Columns(
    (
        ("l", Expression("l.n")),
        ("r", Expression("r.n")),
        ("time", Expression("row_time")),
    )
)
KEYS = st.sampled_from([None, 1, 1, 2, 3])


def seconds(least, most):
    return st.integers(least, most).map(lambda number: Span(0, number * SECOND))


@st.composite
def ranges(draw):
    preceding = draw(st.integers(-3, 6))
    following = draw(st.integers(-preceding, 6))
    return Range(Span(0, preceding * SECOND), Span(0, following * SECOND))


ARRIVAL_WINDOWS = st.one_of(
    st.integers(0, 3).map(Rows), st.just(Forever()), st.just(Latest(("k",)))
)
EVENT_WINDOWS = st.one_of(ranges(), st.just(Forever()), st.just(Latest(("k",))))


@st.composite
def arrivals(draw, size=14):
    """Rows of the streams `a` and `b`, numbered so that no two are alike."""
    count = draw(st.integers(0, size))
    events = []
    for number in range(count):
        row = {
            "k": draw(KEYS),
            "n": number,
            "g": draw(st.integers(0, 1)),
            "t": from_microseconds(draw(st.integers(0, 15)) * SECOND),
        }
        events.append(Arrive(draw(st.sampled_from("ab")), row))
    return events


def stream(name, *, is_timed, lateness=NO_TIME):
    time = "t" if is_timed else ""
    return Input(name, InputKind.STREAM, SCHEMA, time=time, lateness=lateness)


@st.composite
def arrival_plays(draw):
    join = JoinSpec(
        Side(Named("a"), draw(ARRIVAL_WINDOWS)),
        Side(Named("b"), draw(ARRIVAL_WINDOWS)),
        draw(st.sampled_from(Kind)),
        Clock.ARRIVAL,
        draw(hards()),
        draw(softs()),
        SELECT,
    )
    inputs = {name: stream(name, is_timed=False) for name in "ab"}
    return Play(join, inputs, tuple(draw(arrivals())))


def hards():
    return st.sampled_from([(), (Equality(Expression("l.k"), Expression("r.k")),)])


def softs():
    return st.sampled_from([Expression("true"), Expression("l.n < r.n")])


@st.composite
def event_plays(draw, *, lateness=0):
    """Plays on the event clock, with bounds in between, whose inputs all end."""
    join = JoinSpec(
        Side(Named("a"), draw(EVENT_WINDOWS)),
        Side(Named("b"), draw(EVENT_WINDOWS)),
        draw(st.sampled_from(Kind)),
        Clock.EVENT,
        draw(hards()),
        draw(softs()),
        SELECT,
    )
    span = Span(0, lateness * SECOND)
    inputs = {name: stream(name, is_timed=True, lateness=span) for name in "ab"}
    bounds = st.builds(Bound, st.sampled_from("ab"), st.integers(0, 20 * SECOND))
    events = draw(arrivals())
    for bound in draw(st.lists(bounds, max_size=2)) if lateness == 0 else ():
        events.insert(draw(st.integers(0, len(events))), bound)
    return Play(join, inputs, (*events, Finish("a"), Finish("b")))


def mirrored(play):
    """Returns the play with its sides swapped; the condition still sees its rows."""
    join = play.join
    swapped = JoinSpec(
        join.right,
        join.left,
        join.kind.mirrored,
        join.clock,
        tuple(Equality(swap(one.right), swap(one.left)) for one in join.hard),
        swap(join.soft),
        Columns(tuple((name, swap(text)) for name, text in join.select.columns)),
    )
    return replace(play, join=swapped)


def swap(expression):
    return Expression(
        expression.text.replace("l.", "\0").replace("r.", "l.").replace("\0", "r.")
    )


def with_kind(play, kind):
    return replace(play, join=replace(play.join, kind=kind))
