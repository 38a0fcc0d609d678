"""A picture shows every row once, every meeting as a link, and no text on text."""

import re
from itertools import pairwise

import pytest

from dovetail import draw
from dovetail.conformance import oracle
from dovetail.conformance.oracle import RowOutcome
from dovetail.draw.sheet import Sheet
from dovetail.errors import SpecError, UnsupportedError
from dovetail.expression import ALWAYS
from dovetail.spec.inputs import Clock, Pause
from dovetail.spec.join import Columns, Kind, Play, SetJoinSpec, SetKind
from dovetail.spec.spans import SECOND, Span
from dovetail.spec.windows import HopSize, Range, Rows, RowsPreceding, Seconds
from tests.draw.plays import TEN, arrive, crowd, play
from tests.draw.reading import (
    SVG,
    grouped,
    links_of,
    numbers_of,
    root_of,
    rows_of,
    texts_of,
)
from tests.plays import random_play

PLAYS = {
    **{f"seed {seed}": random_play(seed) for seed in range(25)},
    "crowd": crowd(30),
    "equal times": crowd(30, is_equal=True),
}


@pytest.fixture(params=PLAYS, name="played")
def _played(request):
    found = PLAYS[request.param]
    return found, oracle.trace(found)


def test_every_row_is_drawn_once_with_its_side_and_fate(played):
    one, trace = played
    root = root_of(one)
    assert len([0 for facts, _ in grouped(root, "row") if "data-row" in facts]) == len(
        trace.rows
    )
    words = {RowOutcome.OPEN: "open"}
    expected = {
        number: {"row", row.hand.value, words.get(row.outcome, row.outcome.value)}
        for number, row in enumerate(trace.rows)
    }
    assert rows_of(root) == expected


def test_links_are_the_meetings_of_the_oracle(played):
    one, trace = played
    found = sorted(links_of(root_of(one)))
    assert found == sorted((each.left, each.right) for each in trace.meetings)


def test_marks_and_labels_of_a_line_do_not_touch_and_stay_on_the_page(played):
    one, trace = played
    sheet = Sheet.of(one, one.join, trace)
    for lane in sheet.lanes.values():
        for line in range(len(lane.marks)):
            reaches = sorted(mark.reach for mark in lane.marks if mark.line == line)
            assert all(before[1] < after[0] for before, after in pairwise(reaches))
            assert all(0 <= start < stop <= 1000 for start, stop in reaches)


def test_nothing_is_drawn_outside_the_page(played):
    root = root_of(played[0])
    height = float(root.get("height"))
    assert all(-20 <= number <= max(1000, height) for number in numbers_of(root))


def test_rows_without_a_partner_say_why():
    root = root_of(
        play(
            arrive("left", 1, 10),
            arrive("right", 1, 40),
            arrive("left", None, 41),
            arrive("left", 2, 3),
            arrive("right", 2, None),
        )
    )
    texts = texts_of(root)
    assert "1 · a not alive together" in texts
    assert "null · a null in its key" in texts
    assert "2 · a late" in texts
    assert "2 · a null time" in texts


def test_a_late_row_tells_the_bound_that_it_was_behind():
    root = root_of(play(arrive("left", 1, 60), arrive("left", 2, 3)))
    [title] = [
        element.find(f"{SVG}title").text
        for _, element in grouped(root, "late")
        if "data-row" in element.attrib
    ]
    assert "late: late, behind the bound 1970-01-01T00:01:00Z" in title
    assert '"t": "1970-01-01T00:00:03Z"' in title


def test_the_title_says_kind_sides_windows_and_condition():
    root = root_of(play(arrive("left", 1, 60)), "my join")
    assert root.find(f"{SVG}title").text == "my join: left outer join of left and right"
    texts = texts_of(root)
    assert "my join: left outer join of left and right" in texts
    assert "on l.k = r.k; on the clock event" in texts
    assert "left: alive for 10 seconds from its time (t)" in texts


def test_who_cannot_see_it_is_told_what_it_shows():
    root = root_of(play(arrive("left", 1, 10), arrive("right", 1, 12)))
    named = root.get("aria-labelledby").split()
    told = {element.get("id"): element.text for element in root if element.get("id")}
    assert root.get("role") == "img"
    assert list(told) == named
    assert told[named[1]] == (
        "1 left rows and 1 right rows by row time; 1 meetings, 1 of them come out as "
        "pairs; rows: 2 matched."
    )


def test_colours_are_for_light_pages_and_for_dark_ones():
    style = root_of(play()).find(f"{SVG}style").text
    light, dark = style.split("@media (prefers-color-scheme: dark)")
    colours = [set(re.findall(r"#[0-9a-f]{6}", part)) for part in (light, dark)]
    assert len(colours[0]) == len(colours[1]) >= 9
    assert not colours[0] & colours[1]


def test_a_fate_is_told_by_more_than_colour():
    style = root_of(play()).find(f"{SVG}style").text
    dashes = dict(re.findall(r"\.(unmatched|open) \.bar.*?dasharray: ([^;]+)", style))
    assert len(set(dashes.values())) == 2


def test_the_legend_has_what_is_there_and_no_more():
    alone = texts_of(root_of(play(arrive("left", 1, 10))))
    assert "left, unmatched: comes out" in alone
    assert not any("they meet" in words or "right, " in words for words in alone)
    semi = play(arrive("left", 1, 10), arrive("right", 1, 12), kind=Kind.LEFT_SEMI)
    assert "they meet: no pair comes out" in texts_of(root_of(semi))


@pytest.mark.parametrize(
    ("kind", "told"),
    [(Kind.LEFT_ONLY, "comes out"), (Kind.RIGHT_OUTER, "does not come out")],
)
def test_the_legend_says_what_becomes_of_unmatched_rows(kind, told):
    found = texts_of(root_of(play(arrive("left", 1, 10), kind=kind)))
    assert f"left, unmatched: {told}" in found


def test_a_bound_that_is_open_is_a_line_in_its_lane():
    one = play(arrive("left", 1, 10), arrive("right", 1, 12))
    open_play = Play(one.join, one.inputs, one.events[:2])
    assert "bound 1970-01-01T00:00:10Z" in texts_of(root_of(open_play))
    assert len(grouped(root_of(open_play), "bound")) == 3  # and one in the legend
    assert grouped(root_of(one), "bound") == []


def test_a_life_longer_than_the_page_is_pointed():
    long = Range(Span(0, 86_400 * SECOND))
    events = arrive("left", 1, 10), arrive("left", 2, 20)
    assert "goes on beyond the page" in texts_of(
        root_of(play(*events, windows=(long, TEN)))
    )
    assert "goes on beyond the page" not in texts_of(root_of(play(*events)))


def test_a_row_of_hopping_windows_has_a_life_at_the_end_of_each():
    hop = HopSize(Span(0, 10 * SECOND), Span(0, 5 * SECOND))
    events = arrive("left", 1, 6), arrive("right", 1, 8)
    root = root_of(play(*events, windows=(hop, hop)))
    assert [len(grouped(one, "dot")) for _, one in grouped(root, "lives")] == [2, 2]
    assert links_of(root) == [(0, 1), (0, 1)]


def test_a_window_in_which_a_row_is_alone_is_hollow():
    hop = HopSize(Span(0, 10 * SECOND), Span(0, 5 * SECOND))
    events = arrive("left", 1, 6), arrive("right", 1, 11)
    root = root_of(play(*events, windows=(hop, hop)))
    assert len(grouped(root, "life")) == 4
    assert len(grouped(root, "hollow")) == 2
    assert links_of(root) == [(0, 1)]


def test_a_row_that_lives_later_is_tied_to_its_own_time():
    windows = RowsPreceding(2, 1), TEN
    events = [arrive("left", 1, time) for time in (0, 10, 20, 30)]
    root = root_of(play(*events, windows=windows))
    assert "the row's own time" in texts_of(root)
    assert len(grouped(root, "notch")) == 3


def test_rows_in_order_of_arrival_stand_at_the_number_of_their_event():
    one = play(
        arrive("left", 1, 0),
        arrive("right", 1, 0),
        windows=(Rows(1), Rows(0)),
        clock=Clock.ARRIVAL,
    )
    texts = texts_of(root_of(one))
    assert "order of arrival, by the number of the event" in texts
    assert {"0", "1"} <= set(texts)


def test_windows_of_seconds_are_drawn_in_processing_time():
    windows = Seconds(Span(0, 4 * SECOND)), Rows(1)
    one = play(
        arrive("left", 1, 0, clock=3),
        Pause(99 * SECOND),
        windows=windows,
        clock=Clock.ARRIVAL,
    )
    [found] = [one for one in grouped(root_of(one), "left") if "data-row" in one[0]]
    assert "processing time, in seconds" in texts_of(root_of(one))
    assert "alive from 3 s until before 7 s" in found[1].find(f"{SVG}title").text


def test_values_that_svg_cannot_hold_are_shown_all_the_same():
    found = texts_of(root_of(play(arrive("left", 1, 10, "<b>\x00&\ud83d"))))
    assert any("1 · <b> &" in words for words in found)


def test_a_play_without_rows_is_a_picture_too():
    assert rows_of(root_of(play())) == {}


def test_more_rows_than_anyone_could_tell_apart_are_refused():
    with pytest.raises(SpecError, match="the left side has 101 rows"):
        draw.picture(play(*(arrive("left", 1, number) for number in range(101))))


def test_a_join_of_several_sets_is_refused():
    spec = SetJoinSpec(("a",), SetKind.INNER, ("k",), (), Columns((("k", ALWAYS),)))
    with pytest.raises(UnsupportedError, match="no two sides"):
        draw.picture(Play(spec, {}))


def test_a_pair_that_waits_for_its_turn_has_not_come_out():
    one = play(arrive("left", 1, 10), arrive("right", 1, 12))
    still_open = Play(one.join, one.inputs, one.events[:2])
    assert "they meet: no pair has come out" in texts_of(root_of(still_open))
    assert len(grouped(root_of(still_open), "silent")) == 2  # and one in the legend
