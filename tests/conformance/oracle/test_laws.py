"""Laws that hold whatever the rows are."""

import re
from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from dovetail.conformance import oracle
from dovetail.spec.inputs import Arrive, Clock, Finish, Outlet
from dovetail.spec.join import Kind
from dovetail.spec.picks import Keep
from tests.conformance.oracle.strategies import (
    arrival_plays,
    arrival_range_plays,
    event_plays,
    hop_plays,
    mirrored,
    nested_plays,
    with_kind,
)

ARRIVALS = st.one_of(arrival_plays(), arrival_range_plays())
PLAYS = st.one_of(ARRIVALS, event_plays(), event_plays(lateness=30))
EVENT_PLAYS = st.one_of(event_plays(), hop_plays(), nested_plays())
LATE_PLAYS = st.one_of(
    event_plays(lateness=30), hop_plays(lateness=30), nested_plays(lateness=30)
)


def bag(play, *, timed=True):
    """Returns the rows that come out, with their events where these are the law."""
    return Counter(
        (one.outlet, *one.row.values(), one.after if timed else None)
        for one in oracle.play(play)
        if one.outlet is not Outlet.MARKS
    )


def matched(play, kind):
    rows = bag(with_kind(play, kind))
    return Counter({row: rows[row] for row in rows if row[0] is Outlet.MATCHED})


@given(PLAYS)
def test_swapped_sides_mirror_the_kind(play):
    assert bag(mirrored(play)) == bag(play)


@given(ARRIVALS)
def test_inner_is_part_of_left_is_part_of_full(play):
    inner, left, full = (
        matched(play, kind) for kind in (Kind.INNER, Kind.LEFT_OUTER, Kind.FULL_OUTER)
    )
    assert inner <= left <= full


@given(event_plays())
def test_outer_rows_wait_but_are_no_fewer_on_the_event_clock(play):
    rows = [
        bag(with_kind(play, kind), timed=False)
        for kind in (Kind.INNER, Kind.LEFT_OUTER, Kind.FULL_OUTER)
    ]
    assert rows[0] <= rows[1] <= rows[2]


@given(PLAYS)
def test_outer_is_pairs_and_what_is_left_over(play):
    outer = bag(with_kind(play, Kind.FULL_OUTER), timed=False)
    pairs = bag(with_kind(play, Kind.INNER), timed=False)
    alone = bag(with_kind(play, Kind.FULL_ONLY), timed=False)
    late = Counter({row: pairs[row] for row in pairs if row[0] is Outlet.LATE})
    assert outer == pairs + alone - late


@given(event_plays())
def test_semi_and_only_are_the_whole_side(play):
    semi = bag(with_kind(play, Kind.LEFT_SEMI), timed=False)
    only = bag(with_kind(play, Kind.LEFT_ONLY), timed=False)
    found = Counter(
        row[1] for row in (semi + only).elements() if row[0] is not Outlet.LATE
    )
    late = {row[2] for row in semi if row[0] is Outlet.LATE}
    lefts = [
        event.row["n"]
        for event in play.events
        if isinstance(event, Arrive) and event.input == "a"
    ]
    assert found == Counter(number for number in lefts if number not in late)


@given(LATE_PLAYS, st.randoms(use_true_random=False))
def test_order_of_arrival_does_not_matter_where_nothing_is_late(play, chance):
    rows = [event for event in play.events if isinstance(event, Arrive)]
    ends = [event for event in play.events if isinstance(event, Finish)]
    names = [event.row["t"] for event in rows]
    has_ties = len(set(names)) < len(names) or "Nested" in str(play.join)
    assume(not (has_ties and has_versions(play)))
    chance.shuffle(rows)
    shuffled = replace(play, events=(*rows, *ends))
    assert bag(shuffled, timed=False) == bag(play, timed=False)


def has_versions(play):
    told = str(play.join)
    return "Latest" in told or "RowsPreceding" in told


@given(event_plays(lateness=30) | hop_plays(lateness=30))
def test_batch_is_the_limit_of_the_stream(play):
    join = play.join
    assume(not re.search("Forever|RowsPreceding", str(join)))
    batch = replace(play, join=replace(join, clock=Clock.BATCH))
    assert bag(batch, timed=False) == bag(play, timed=False)


@given(EVENT_PLAYS)
def test_rows_come_out_in_the_order_of_row_time(play):
    rows = [one.row for one in oracle.play(play) if one.outlet is Outlet.MATCHED]
    times = [row["time"] for row in rows if row["time"] is not None]
    assert times == sorted(times)


@given(EVENT_PLAYS, st.data())
def test_what_has_come_out_was_right_whatever_follows(play, data):
    cut = data.draw(st.integers(0, len(play.events)))
    first = oracle.play(replace(play, events=play.events[:cut]))
    whole = [one for one in oracle.play(play) if one.after < cut]
    assert [(one.outlet, one.row) for one in first] == [
        (one.outlet, one.row) for one in whole
    ]


@given(PLAYS, st.integers(1, 3))
def test_keep_gives_each_left_row_so_many_of_its_pairs(play, count):
    play = with_kind(play, Kind.INNER)
    picks = replace(play.join.picks, keep=Keep(count))
    kept = matched(replace(play, join=replace(play.join, picks=picks)), Kind.INNER)
    pairs = matched(play, Kind.INNER)
    of_left = Counter(row[1] for row in untimed(pairs).elements())
    assert untimed(kept) <= untimed(pairs)
    assert Counter(row[1] for row in kept.elements()) == {
        left: min(count, number) for left, number in of_left.items()
    }


def untimed(rows):
    return Counter(row[:-1] for row in rows.elements())


@given(event_plays(lateness=30), st.integers(1, 3))
def test_keep_does_not_depend_on_the_cut_of_the_end(play, count):
    picks = replace(play.join.picks, keep=Keep(count))
    join = replace(play.join, picks=picks, kind=Kind.LEFT_OUTER)
    *rows, end, other_end = play.events
    results = [
        bag(replace(play, join=join, events=(*rows, *ends)), timed=False)
        for ends in ((end, other_end), (other_end, end))
    ]
    assert results[0] == results[1]


@pytest.mark.parametrize("kind", Kind)
def test_mirroring_twice_is_the_kind_itself(kind):
    assert kind.mirrored.mirrored is kind
