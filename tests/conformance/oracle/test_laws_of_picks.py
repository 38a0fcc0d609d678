"""Laws of picks and of null rows that come early: they need not be in a stream."""

from collections import Counter
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from dovetail.conformance import oracle
from dovetail.expression import NEVER, Expression
from dovetail.schema import from_microseconds, to_microseconds
from dovetail.spec.inputs import (
    Arrive,
    Change,
    Clock,
    Finish,
    OuterRows,
    Outlet,
    Settings,
)
from dovetail.spec.join import Hand, Kind
from dovetail.spec.picks import (
    AsOf,
    AtMost,
    Direction,
    Keep,
    Limit,
    OnExceed,
    Picks,
    Tie,
)
from dovetail.spec.spans import SECOND, Span
from tests.conformance.oracle.strategies import arrival_plays, event_plays, ranges

LEFT = [Kind.INNER, Kind.LEFT_OUTER, Kind.LEFT_ONLY, Kind.LEFT_SEMI]
OUTER = [Kind.INNER, Kind.LEFT_OUTER, Kind.RIGHT_OUTER, Kind.FULL_OUTER]
PRESERVING = [*OUTER[1:], Kind.LEFT_ONLY, Kind.RIGHT_ONLY, Kind.FULL_ONLY]
TIMES = Expression("l.t"), Expression("r.t")
COUNTS = st.integers(1, 2)
KEEPS = st.builds(lambda count: Picks(Keep(count)), COUNTS)
AT_MOSTS = st.builds(lambda count: Picks(at_most=AtMost(count)), COUNTS)
SKIPS = st.builds(lambda count: Picks(limit=Limit(count, OnExceed.SKIP)), COUNTS)
TRANSFORM = (("l", Expression("-l.n")), ("time", Expression("row_time")))
TRANSFORMS = st.builds(
    lambda count: Picks(limit=Limit(count, OnExceed.TRANSFORM, TRANSFORM)), COUNTS
)
ASOFS = st.builds(
    lambda direction, exact, tie: Picks(
        asof=AsOf(*TIMES, direction, Span(0, 3 * SECOND), exact=exact, tie=tie)
    ),
    st.sampled_from(Direction),
    st.booleans(),
    st.sampled_from(Tie),
)
WHOLE = [
    (KEEPS, [Kind.INNER, Kind.LEFT_OUTER, Kind.FULL_OUTER, Kind.LEFT_SEMI]),
    (AT_MOSTS, [*LEFT, Kind.RIGHT_SEMI]),
    (SKIPS, [*OUTER, Kind.LEFT_SEMI, Kind.RIGHT_SEMI]),
    (TRANSFORMS, [*OUTER, Kind.LEFT_SEMI]),
    (ASOFS, LEFT),
]
MILLISECOND = 1000


@st.composite
def picking_plays(draw):
    """Plays in ranges whose rows come in row time order, with one pick."""
    play = draw(event_plays(windows=ranges()))
    picks, kinds = draw(st.sampled_from(WHOLE))
    kind = draw(st.sampled_from(kinds))
    skip = NEVER
    if kind not in {Kind.LEFT_SEMI, Kind.RIGHT_SEMI}:
        skip = draw(st.sampled_from([NEVER, Expression("r.n % 3 = 0")]))
    arrivals = [event for event in play.events if isinstance(event, Arrive)]
    arrivals.sort(key=lambda event: event.row["t"])
    columns = play.join.select.columns
    if kind in {Kind.LEFT_SEMI, Kind.RIGHT_SEMI}:
        columns = tuple(one for one in columns if one[0] in {kind.value[0], "time"})
    join = replace(
        play.join,
        kind=kind,
        select=replace(play.join.select, columns=columns),
        picks=replace(draw(picks), skip_when=skip),
    )
    return replace(play, join=join, events=(*arrivals, Finish("a"), Finish("b")))


def rows(play):
    """Returns what comes out for good: what was taken back is not there."""
    found = Counter()
    for one in oracle.play(play):
        if one.outlet not in {Outlet.LATE, Outlet.MARKS}:
            sign = -1 if one.change is Change.DELETE else 1
            found[one.outlet, *one.row.values()] += sign
    return +found


def with_outer_rows(play, choice):
    return replace(play, settings=Settings(choice))


@given(picking_plays())
def test_a_stream_picks_what_a_batch_picks(play):
    batch = replace(play, join=replace(play.join, clock=Clock.BATCH))
    assert rows(play) == rows(batch)


@given(event_plays(windows=ranges()), st.sampled_from(PRESERVING))
def test_early_null_rows_less_those_taken_back_are_the_usual_ones(play, kind):
    play = replace(play, join=replace(play.join, kind=kind))
    assert rows(with_outer_rows(play, OuterRows.EAGER_RETRACT)) == rows(play)


@given(arrival_plays(), st.sampled_from(PRESERVING))
def test_early_null_rows_in_order_of_arrival_are_no_fewer(play, kind):
    play = replace(play, join=replace(play.join, kind=kind))
    usual = rows(play)
    kept = rows(with_outer_rows(play, OuterRows.EAGER_RETRACT))
    early = rows(with_outer_rows(play, OuterRows.EAGER))
    assert usual <= kept <= early


@given(event_plays(windows=ranges()))
def test_null_rows_per_millisecond_begin_where_the_partners_are_gone(play):
    whole = with_kind(play, Kind.FULL_ONLY)
    found = rows(with_outer_rows(whole, OuterRows.PER_MILLISECOND))
    assert found == stretches(play, Hand)


@given(event_plays(windows=ranges()), AT_MOSTS | ASOFS)
def test_null_rows_per_millisecond_wait_until_the_picks_have_judged(play, picks):
    play = replace(play, join=replace(play.join, picks=picks))
    whole = with_kind(play, Kind.LEFT_ONLY)
    found = rows(with_outer_rows(whole, OuterRows.PER_MILLISECOND))
    assert found == stretches(play, [Hand.LEFT])


def stretches(play, hands):
    """Returns the null rows of some sides, by the pairs that there are in the end."""
    pairs = {key[1:3] for key in rows(with_kind(play, Kind.INNER))}
    lives = {hand: lives_of(play, hand) for hand in Hand}
    return Counter(
        (Outlet.MATCHED, *hand_row(hand, number), from_microseconds(start))
        for hand in hands
        for number, life in lives[hand].items()
        for start in starts(life, partners(lives, hand, number, pairs))
    )


def with_kind(play, kind):
    return replace(play, join=replace(play.join, kind=kind))


def lives_of(play, hand):
    """Returns the first and last moment of every row of a side that is not late."""
    side = play.join.side(hand)
    late = {one.row["n"] for one in oracle.play(play) if one.outlet is Outlet.LATE}
    return {
        event.row["n"]: (
            side.window.following.negated().after(to_microseconds(event.row["t"])),
            side.window.preceding.after(to_microseconds(event.row["t"])),
        )
        for event in play.events
        if isinstance(event, Arrive) and event.input == side.source.name
        if event.row["n"] not in late
    }


def partners(lives, hand, number, pairs):
    place = list(Hand).index(hand)
    met = {pair[1 - place] for pair in pairs if pair[place] == number}
    return [lives[hand.other][other] for other in met]


def hand_row(hand, number):
    return (number, None) if hand is Hand.LEFT else (None, number)


def starts(life, others):
    """Returns the milliseconds of a life without a partner behind one with one."""
    moments = {life[0], *(end + MILLISECOND for _, end in others)}
    return [
        moment
        for moment in moments
        if life[0] <= moment <= life[1] and is_alone(moment, others)
        if moment == life[0] or not is_alone(moment - MILLISECOND, others)
    ]


def is_alone(moment, others):
    return not any(first <= moment <= last for first, last in others)
