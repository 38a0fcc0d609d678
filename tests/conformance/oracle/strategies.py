"""Random plays: two streams, a few keys, times that come a little out of order."""

from dataclasses import replace
from decimal import Decimal

from hypothesis import strategies as st

from dovetail.expression import Expression
from dovetail.schema import Schema, from_microseconds
from dovetail.spec.inputs import Arrive, Bound, Clock, Finish, Input, InputKind, Pause
from dovetail.spec.join import Columns, JoinSpec, Kind, Named, Nested, Play, Side
from dovetail.spec.picks import Equality
from dovetail.spec.spans import NO_TIME, SECOND, Span
from dovetail.spec.windows import (
    Between,
    Delta,
    Forever,
    HopSize,
    HopUnit,
    Inherited,
    Latest,
    Range,
    Rows,
    RowsPreceding,
    Seconds,
)

SCHEMA = Schema.of({"k": "int", "n": "int", "g": "int", "t": "timestamp"})
SELECT = Columns(
    (
        ("l", Expression("l.n")),
        ("r", Expression("r.n")),
        ("time", Expression("row_time")),
    )
)
GIVING = [Kind.INNER, Kind.LEFT_OUTER, Kind.FULL_OUTER, Kind.RIGHT_ONLY]
JOINED = Columns(
    (
        ("k", Expression("coalesce(l.k, r.k)")),
        ("n", Expression("coalesce(l.n, 50) * 100 + coalesce(r.n, 50)")),
        ("t", Expression("coalesce(l.t, r.t)")),
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
    st.integers(0, 3).map(Rows),
    st.integers(0, 4).map(lambda number: Seconds(Span(0, number * SECOND))),
    st.integers(0, 4).map(lambda width: Delta(Expression("n"), Decimal(width))),
    st.just(Forever()),
    st.just(Latest(("k",))),
)
PARTITIONS = st.sampled_from([(), (Expression("g"),)])


@st.composite
def counts(draw):
    last = draw(st.integers(0, 2))
    return RowsPreceding(last + draw(st.integers(0, 2)), last)


INTERVALS = [
    Between(Expression("t"), Expression("t + interval '4' second")),
    Between(
        Expression("t - interval '1' second * (n % 5 - 3)"),
        Expression("t + interval '1' second * (n % 3)"),
    ),
]
EVENT_WINDOWS = st.one_of(
    ranges(),
    counts(),
    st.sampled_from([Forever(), Latest(("k",)), HopUnit("second"), HopUnit("minute")]),
    st.sampled_from(INTERVALS),
)
HOPS = st.builds(HopSize, seconds(1, 6), seconds(1, 4))


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
    """Plays on the arrival clock in windows that do not look at row time."""
    join = JoinSpec(
        Side(Named("a"), draw(ARRIVAL_WINDOWS), draw(PARTITIONS)),
        Side(Named("b"), draw(ARRIVAL_WINDOWS), draw(PARTITIONS)),
        draw(st.sampled_from(Kind)),
        Clock.ARRIVAL,
        draw(hards()),
        draw(softs()),
        SELECT,
    )
    inputs = {name: stream(name, is_timed=False) for name in "ab"}
    clock, events = 0, []
    for event in draw(arrivals()):
        clock += draw(st.integers(0, 2)) * SECOND
        events.append(replace(event, clock=clock))
    return Play(join, inputs, (*events, Pause(clock + 9 * SECOND)))


@st.composite
def arrival_range_plays(draw):
    """Plays on the arrival clock in windows of row time."""
    plays = event_plays(windows=ranges(), lateness=draw(st.integers(1, 9)))
    play = draw(plays)
    return replace(play, join=replace(play.join, clock=Clock.ARRIVAL))


def hards():
    return st.sampled_from([(), (Equality(Expression("l.k"), Expression("r.k")),)])


def softs():
    return st.sampled_from([Expression("true"), Expression("l.n < r.n")])


@st.composite
def event_plays(draw, *, windows=EVENT_WINDOWS, lateness=0):
    """Plays on the event clock, with bounds in between, whose inputs all end."""
    join = JoinSpec(
        Side(Named("a"), draw(windows)),
        Side(Named("b"), draw(windows)),
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


@st.composite
def hop_plays(draw, lateness=0):
    """Plays on the event clock in windows of one size on both sides."""
    return draw(event_plays(windows=st.just(draw(HOPS)), lateness=lateness))


@st.composite
def nested_plays(draw, lateness=0):
    """Plays of three streams: `a` and `b` are joined, and their rows with `c`."""
    pairs = replace(
        draw(event_plays()).join, select=JOINED, kind=draw(st.sampled_from(GIVING))
    )
    left = Side(Nested(pairs, "pairs"), draw(st.just(Inherited()) | EVENT_WINDOWS))
    outer = draw(event_plays()).join
    right = replace(outer.right, source=Named("c"))
    span = Span(0, lateness * SECOND)
    events = [
        replace(event, input=draw(st.sampled_from("abc"))) for event in draw(arrivals())
    ]
    return Play(
        replace(outer, left=left, right=right),
        {name: stream(name, is_timed=True, lateness=span) for name in "abc"},
        (*events, *map(Finish, "abc")),
    )


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
