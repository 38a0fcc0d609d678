"""A trace tells of a play what comes out of it: it is the same play, watched."""

from dataclasses import replace

import pytest

from dovetail.conformance import oracle
from dovetail.conformance.case import read_cases
from dovetail.conformance.oracle import Axis, RowOutcome
from dovetail.errors import DovetailError, UnsupportedError
from dovetail.expression import ALWAYS, NEVER, Expression
from dovetail.schema import Schema, from_microseconds
from dovetail.spec.inputs import (
    Arrive,
    Bound,
    Clock,
    Finish,
    Input,
    InputKind,
    OuterRows,
    Outlet,
    Pause,
    Remove,
)
from dovetail.spec.join import (
    HANDS,
    Columns,
    Hand,
    JoinSpec,
    Kind,
    Named,
    Play,
    SetJoinSpec,
    SetKind,
    Side,
)
from dovetail.spec.picks import AsOf, Equality, Picks
from dovetail.spec.spans import SECOND, Span
from dovetail.spec.windows import Forever, Latest, Range, Rows, Seconds
from tests.house.source import TOP
from tests.plays import random_play

SCHEMA = Schema.of({"k": "int", "t": "timestamp"})
SEEDS = range(120)
INFINITY = float("inf")


def source(name, kind=InputKind.STREAM, **facts):
    return Input(name, kind, SCHEMA, **{"time": "t", **facts})


def row(key, time=0):
    return {"k": key, "t": None if time is None else from_microseconds(time * SECOND)}


def arrive(name, key, time=0, clock=0):
    return Arrive(name, row(key, time), clock * SECOND)


def play(windows, events, clock=Clock.EVENT, opening=(), **inputs):
    """A left outer join of two streams on `k`."""
    sides = [
        Side(Named(hand.value), window)
        for hand, window in zip(HANDS, windows, strict=True)
    ]
    equal = Equality(Expression("l.k"), Expression("r.k"))
    join = JoinSpec(*sides, Kind.LEFT_OUTER, clock, (equal,))
    known = {hand.value: source(hand.value) for hand in HANDS} | inputs
    return Play(join, known, tuple(events), tuple(opening))


def whole(moment, size):
    """A moment in whole units; what is infinite stays so."""
    return moment if abs(moment) == INFINITY else moment // size


def told(trace):
    """Key, place, life, fate and reason of each row, times in whole seconds."""
    is_time = trace.axis is not Axis.ARRIVAL
    size = SECOND if is_time else 1
    return [
        (
            one.values["k"],
            *(whole(moment, size) for moment in (one.at, one.birth, one.death)),
            one.outcome.value,
            one.reason,
        )
        for one in trace.rows
    ]


@pytest.mark.parametrize("seed", SEEDS)
def test_a_trace_says_what_comes_out(seed):
    play = random_play(seed)
    trace = oracle.trace(play)
    emissions = oracle.play(play)
    late = [one for one in emissions if one.outlet is Outlet.LATE]
    sides = {side.source.name for side in (play.join.left, play.join.right)}
    told = [one for one in trace.rows if one.outcome is RowOutcome.LATE]
    assert (
        len(told) == len(late) if len(sides) == len(HANDS) else len(told) >= len(late)
    )
    given = sum(one.outlet is Outlet.MATCHED for one in emissions)
    kinds = {one.kind for one in play.inputs.values()}
    is_changelog = play.join.clock is Clock.ARRIVAL and InputKind.STREAM not in kinds
    if play.join.kind in {Kind.INNER, Kind.CROSS} and not is_changelog:
        assert given == sum(one.comes_out for one in trace.meetings)
    is_over = all(one.outcome is not RowOutcome.OPEN for one in trace.rows)
    is_whole = play.join.picks.skip_when == NEVER and is_over and not is_changelog
    # What comes at once may meet somebody later, and may be taken back.
    is_whole &= play.settings.outer_rows is OuterRows.EXPIRY
    if play.join.kind is Kind.LEFT_ONLY and is_whole:
        assert given == sum(map(times_alone, trace.rows))


def times_alone(one):
    """How often a row leaves without a partner: once, or once for each such window."""
    if one.hand is Hand.RIGHT or one.outcome is RowOutcome.LATE:
        return 0
    is_over = (
        one.outcome is RowOutcome.UNMATCHED and one.reason != "between two windows"
    )
    return len(one.lonely_lives) if len(one.lives) > 1 else is_over


@pytest.mark.parametrize("seed", SEEDS)
def test_rows_that_meet_are_alive_together_and_the_others_have_a_reason(seed):
    trace = oracle.trace(random_play(seed))
    met = set()
    for meeting in trace.meetings:
        left, right = trace.rows[meeting.left], trace.rows[meeting.right]
        assert (left.hand, right.hand) == HANDS
        assert all(is_there(one, meeting.moment) for one in (left, right))
        met |= {meeting.left, meeting.right}
    for number, one in enumerate(trace.rows):
        assert (one.outcome is RowOutcome.MATCHED) is (number in met)
        assert (one.reason == "") is (number in met)


def is_there(one, moment):
    """Whether a row is there at a moment; who is not stored, when it comes."""
    lives = any(birth <= moment <= death for birth, death in one.lives)
    return lives or (not one.lives and one.at == moment)


def test_in_row_time_lives_are_those_of_the_window():
    events = [
        arrive("left", 1, 10),
        arrive("left", 2, 20),
        arrive("left", 3, 5),
        arrive("right", 1, 12),
        arrive("right", 2, None),
        Bound("right", 15 * SECOND),
    ]
    trace = oracle.trace(play((Range(Span(0, 4 * SECOND)), Range()), events))
    assert told(trace) == [
        (1, 10, 10, 14, "matched", ""),
        (2, 20, 20, 24, "still open", "no partner fits"),
        (1, 12, 12, 12, "matched", ""),
        (3, 5, INFINITY, -INFINITY, "late", "late"),
        (2, INFINITY, INFINITY, -INFINITY, "late", "null_time"),
    ]
    assert [one.bound for one in trace.rows[3:]] == [20 * SECOND, 12 * SECOND]
    assert trace.bounds == ((Hand.LEFT, 20 * SECOND), (Hand.RIGHT, 15 * SECOND))
    assert [(one.left, one.right, one.comes_out) for one in trace.meetings] == [
        (0, 2, True)
    ]


def test_in_order_of_arrival_a_life_is_that_of_the_store():
    opening = [arrive("left", 1)]
    events = [
        arrive("left", 2),
        arrive("right", 1),
        arrive("left", 3),
        arrive("left", 4),
        arrive("right", 1),
        arrive("right", None),
    ]
    trace = oracle.trace(play((Rows(2), Rows(0)), events, Clock.ARRIVAL, opening))
    assert trace.axis is Axis.ARRIVAL
    assert told(trace) == [
        (1, -1, -1, 2, "matched", ""),
        (2, 0, 0, 3, "unmatched", "no partner fits"),
        (1, 1, INFINITY, -INFINITY, "matched", ""),
        (3, 2, 2, INFINITY, "still open", "no partner fits"),
        (4, 3, 3, INFINITY, "still open", "no partner fits"),
        (1, 4, INFINITY, -INFINITY, "unmatched", "not alive together"),
        (None, 5, INFINITY, -INFINITY, "unmatched", "null in its key"),
    ]


def test_windows_of_seconds_are_told_in_processing_time():
    events = [
        arrive("left", 1, clock=3),
        arrive("right", 2, clock=5),
        Pause(99 * SECOND),
    ]
    windows = Seconds(Span(0, 4 * SECOND)), Rows(1)
    trace = oracle.trace(play(windows, events, Clock.ARRIVAL))
    assert trace.axis is Axis.PROCESSING_TIME
    assert told(trace) == [
        (1, 3, 3, 7, "unmatched", "no partner fits"),
        (2, 5, 5, INFINITY, "still open", "no partner fits"),
    ]


def test_what_is_there_from_the_start_has_no_place_in_the_order_of_arrival():
    table = source("right", InputKind.TABLE, key=("k",), time="", rows=(row(1),))
    state = play((Rows(0), Forever()), [arrive("left", 1)], Clock.ARRIVAL, right=table)
    assert told(oracle.trace(state))[0] == (
        1,
        -INFINITY,
        -INFINITY,
        INFINITY,
        "matched",
        "",
    )


@pytest.mark.parametrize(
    ("left", "right", "reason"),
    [
        (row(1, None), row(1), "no row time"),
        (row(None), row(1), "null in its key"),
        (row(2), row(1), "no partner fits"),
        (row(1), row(1, 9), "not alive together"),
    ],
)
def test_an_unmatched_row_of_a_batch_has_the_first_reason_that_holds(
    left, right, reason
):
    inputs = {
        name: source(name, InputKind.DATASET, rows=(one,))
        for name, one in (("left", left), ("right", right))
    }
    trace = oracle.trace(play((Range(), Range()), [], Clock.BATCH, **inputs))
    assert trace.rows[0].reason == reason
    assert {one.outcome for one in trace.rows} == {RowOutcome.UNMATCHED}
    assert trace.bounds == ((Hand.LEFT, INFINITY), (Hand.RIGHT, INFINITY))


def test_rows_that_a_play_ends_with_are_no_longer_open():
    windows = Range(Span(0, SECOND)), Range()
    over = play(windows, [arrive("left", 1), Finish("right"), Finish("left")])
    assert [one.outcome for one in oracle.trace(over).rows] == [RowOutcome.UNMATCHED]
    still = replace(over, events=over.events[:1])
    assert [one.outcome for one in oracle.trace(still).rows] == [RowOutcome.OPEN]


def test_a_batch_without_times_is_told_in_its_order():
    inputs = {
        name: source(name, InputKind.DATASET, time="", rows=(row(1), row(2)))
        for name in ("left", "right")
    }
    trace = oracle.trace(play((Forever(), Forever()), [], Clock.BATCH, **inputs))
    assert trace.axis is Axis.ARRIVAL
    assert [one.at for one in trace.rows] == [0, 1, 0, 1]
    assert [(one.left, one.right) for one in trace.meetings] == [(0, 2), (1, 3)]


def test_a_join_of_several_sets_is_refused():
    spec = SetJoinSpec(("a", "b"), SetKind.INNER, ("k",), (), Columns((("k", ALWAYS),)))
    with pytest.raises(UnsupportedError):
        oracle.trace(Play(spec, {}))


def test_rows_of_two_tables_meet_while_both_are_there():
    events = [arrive("left", 1), arrive("right", 1), Remove("left", {"k": 1})]
    tables = {
        name: source(name, InputKind.TABLE, key=("k",), time="")
        for name in ("left", "right")
    }
    latest = Latest(("k",))
    trace = oracle.trace(play((latest, latest), events, Clock.ARRIVAL, **tables))
    assert told(trace) == [
        (1, 0, 0, 2, "matched", ""),
        (1, 1, 1, INFINITY, "matched", ""),
    ]
    assert [one.comes_out for one in trace.meetings] == [True]


@pytest.mark.parametrize(
    ("columns", "axis"),
    [("t", Axis.AS_OF_TIME), ("k", Axis.AS_OF_NUMBER)],
)
def test_rows_of_an_asof_stand_where_it_compares_them(columns, axis):
    inputs = {
        name: source(name, InputKind.DATASET, time="", rows=rows)
        for name, rows in (("left", (row(7, 7),)), ("right", (row(5, 5), row(6, 6))))
    }
    base = play((Forever(), Forever()), [], Clock.BATCH, **inputs)
    compared = [Expression(f"{letter}.{columns}") for letter in "lr"]
    picks = Picks(asof=AsOf(*compared))
    trace = oracle.trace(replace(base, join=replace(base.join, hard=(), picks=picks)))
    assert trace.axis is axis
    size = SECOND if trace.axis.is_time else 1
    assert [one.at / size for one in trace.rows] == [7, 5, 6]
    assert [(one.left, one.right) for one in trace.meetings] == [(0, 2)]
    assert trace.rows[1].reason == "not picked"


def cases(file):
    """The plays of a file of cases that nobody refuses, by the last part of names."""
    found = {}
    for case in read_cases([TOP / f"tests/cases/{file}.json"]):
        try:
            played = case.join.play()
            oracle.play(played)
        except DovetailError:
            continue
        found[case.name.split("/")[1]] = played
    return found


def test_a_row_that_waits_for_a_table_meets_it_late():
    for file in ("settings_arrival", "settings_event"):
        played = cases(file)["late_emit"]
        trace = oracle.trace(played)
        given = [one.row for one in oracle.play(played) if one.outlet is Outlet.MATCHED]
        alone = [one for one in given if None in one.values()]
        assert len(given) - len(alone) == len(trace.meetings) == 2
        assert all(one.comes_out for one in trace.meetings)


def test_a_join_of_a_join_is_traced_with_the_rows_of_the_inner_one():
    for name, played in cases("nested").items():
        trace = oracle.trace(played)
        given = sum(one.outlet is Outlet.MATCHED for one in oracle.play(played))
        if played.join.kind is Kind.INNER:
            assert given == sum(one.comes_out for one in trace.meetings), name
        assert trace.rows


def test_a_row_of_an_inner_join_that_is_turned_away_is_told():
    trace = oracle.trace(cases("nested")["no_row_time_is_late"])
    [late] = [one for one in trace.rows if one.outcome is RowOutcome.LATE]
    assert (late.hand, late.reason) == (Hand.LEFT, "null_time")
