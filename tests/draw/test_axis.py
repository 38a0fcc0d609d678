"""Marks of the axis are round, few, and never say the same twice."""

from datetime import UTC, datetime

import pytest

from dovetail.conformance.oracle import Axis
from dovetail.draw.scale import MOST, SECOND, Scale, moment_words, ticks
from dovetail.schema import to_microseconds

NOON = to_microseconds(datetime(2026, 3, 2, 12, tzinfo=UTC))
MINUTE, HOUR, DAY = 60 * SECOND, 3600 * SECOND, 86_400 * SECOND


def marked(length, axis=Axis.ROW_TIME, start=NOON):
    return ticks(axis, Scale(start, start + length, 0, 1000))


def told(found):
    """The words of each mark, with the last date before it."""
    date = ""
    for tick in found:
        date = tick.date or date
        yield date, tick.words


@pytest.mark.parametrize("power", range(17))
@pytest.mark.parametrize("digit", [1, 3, 8])
def test_there_are_some_marks_and_not_too_many(power, digit):
    found = marked(digit * 10**power)
    assert 1 <= len(found) <= MOST + 1
    assert len(set(told(found))) == len(found)
    assert all(NOON <= tick.moment <= NOON + digit * 10**power for tick in found)


@pytest.mark.parametrize(
    ("length", "first", "second"),
    [
        (4, "12:00:00.000000", "12:00:00.000001"),
        (900, "12:00:00.0000", "12:00:00.0001"),
        (2 * SECOND, "12:00:00.0", "12:00:00.5"),
        (8 * SECOND, "12:00:00", "12:00:01"),
        (7 * MINUTE, "12:00", "12:01"),
        (9 * HOUR, "12:00", "13:00"),
        (4 * DAY, "12:00", "00:00"),
        (8 * DAY, "2026-03-03", "2026-03-04"),
        (300 * DAY, "2026-04-01", "2026-05-01"),
        (9000 * DAY, "2030-01-01", "2035-01-01"),
    ],
)
def test_words_have_the_digits_that_they_need(length, first, second):
    assert [tick.words for tick in marked(length)][:2] == [first, second]


def test_the_date_stands_where_a_new_one_begins():
    found = marked(30 * HOUR)
    assert [tick.date for tick in found if tick.date] == ["2026-03-02", "2026-03-03"]


@pytest.mark.parametrize(
    ("axis", "start", "length", "words"),
    [
        (Axis.ARRIVAL, -0.5, 4, ["0", "1", "2", "3"]),
        (Axis.ARRIVAL, -0.5, 1.2, ["0"]),
        (
            Axis.PROCESSING_TIME,
            0,
            3 * SECOND,
            ["0", "0.5", "1", "1.5", "2", "2.5", "3"],
        ),
        (Axis.AS_OF_NUMBER, 0.1, 0.2, ["0.1", "0.15", "0.2"]),
    ],
)
def test_numbers_are_round(axis, start, length, words):
    found = [tick.words for tick in marked(length, axis, start)]
    assert found[: len(words)] == words


@pytest.mark.parametrize(
    ("axis", "moment", "words"),
    [
        (Axis.ROW_TIME, NOON, "2026-03-02T12:00:00Z"),
        (Axis.ROW_TIME, float("inf"), "never"),
        (Axis.ROW_TIME, float("-inf"), "always"),
        (Axis.ROW_TIME, 1e20, "out of the calendar"),
        (Axis.PROCESSING_TIME, 2.5 * SECOND, "2.5 s"),
        (Axis.ARRIVAL, 3, "3"),
    ],
)
def test_a_moment_is_told_as_the_axis_has_it(axis, moment, words):
    assert moment_words(axis, moment) == words
