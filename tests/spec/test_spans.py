"""Lengths of time: months stay months, all else is exact microseconds."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dovetail.errors import SpecError
from dovetail.schema import from_microseconds, read_moment, shown, to_microseconds
from dovetail.spec.spans import SECOND, Span, parse_span
from tests import strategies


@given(strategies.SPANS)
def test_a_span_survives_its_text(span):
    assert parse_span(str(span)) == span


@pytest.mark.parametrize(
    ("text", "span"),
    [
        ("10 minutes", Span(0, 600 * SECOND)),
        ("-5 seconds", Span(0, -5 * SECOND)),
        ("1 day 2 hours", Span(0, 26 * 3600 * SECOND)),
        ("0.5 SECONDS", Span(0, SECOND // 2)),
        ("1 year 1 month", Span(13, 0)),
    ],
)
def test_numbers_with_units_make_a_span(text, span):
    assert parse_span(text) == span


@pytest.mark.parametrize(
    "text",
    ["", "10", "minutes", "10 parsecs", "0.5 months", "0.1 microseconds", "1 day x"],
)
def test_what_is_no_length_of_time_is_refused(text):
    with pytest.raises(SpecError) as caught:
        parse_span(text)
    assert caught.value.rule == "span"


@pytest.mark.parametrize(
    ("start", "span", "end"),
    [
        ("2023-01-31", "1 month", "2023-02-28T00:00:00Z"),
        ("2024-01-31", "1 month", "2024-02-29T00:00:00Z"),
        ("2024-03-31T10:00", "-1 month", "2024-02-29T10:00:00Z"),
        ("2024-02-29", "1 year 1 second", "2025-02-28T00:00:01Z"),
    ],
)
def test_a_month_ends_on_the_last_day_of_a_shorter_one(start, span, end):
    moved = parse_span(span).after(read_moment(start, "start"))
    assert shown(from_microseconds(moved)) == end


@pytest.mark.parametrize(
    ("start", "span", "end"),
    [
        ("2023-01-27T20:00", "1 month", "2023-02-27T20:00:00Z"),
        ("2023-01-28T20:00", "1 month", "2023-02-28T00:00:00Z"),
        ("2023-01-30T20:00", "1 month 1 second", "2023-02-28T00:00:01Z"),
        ("2023-01-31T20:00", "1 month", "2023-02-28T20:00:00Z"),
        ("2023-03-29T20:00", "-1 month", "2023-02-28T00:00:00Z"),
        ("9999-12-30T20:00", "-1 month", "9999-11-30T00:00:00Z"),
        ("9999-12-30T20:00", "1 second", "9999-12-30T20:00:01Z"),
    ],
)
def test_a_later_moment_may_come_to_an_earlier_hour(start, span, end):
    moved = parse_span(span).least_after(read_moment(start, "start"))
    assert shown(from_microseconds(moved)) == end


@given(strategies.SPANS, strategies.MOMENTS, st.integers(0, 5 * 86_400 * SECOND))
def test_no_later_moment_comes_below_the_least(span, start, ahead):
    moment = to_microseconds(start)
    assert span.least_after(moment) <= span.after(moment + ahead)


@given(strategies.SPANS)
def test_a_span_turned_twice_is_itself(span):
    assert span.negated().negated() == span


@given(strategies.SPANS)
def test_a_span_in_words_is_the_same_length(span):
    assert parse_span(span.in_words()) == span


def test_a_span_in_words_reads_as_people_say_it():
    told = [
        parse_span(text).in_words()
        for text in ("90 minutes", "1000 milliseconds", "-1 hour")
    ]
    assert told == ["1 hour 30 minutes", "1 second", "-1 hour"]
