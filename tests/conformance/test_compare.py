"""What an engine puts out is compared exactly as a case says, down to the cell."""

import pytest

from dovetail.conformance.compare import SAME, Cell, compare, describe
from dovetail.conformance.lines import Count, Line, Order, Rows, Sight
from dovetail.spec.inputs import UNKNOWN_EVENT, Change, Emission, Outlet

MARK = Line({}, {"mark": "window", "out": "matched", "after": 0})


def line(number, **facts):
    return Line({"n": number}, facts)


def emission(number, outlet=Outlet.MATCHED, after=UNKNOWN_EVENT, change=Change.NONE):
    return Emission(outlet, {"n": number}, after, change)


def differs(expected, found, order=Order.BAG, sight=Sight.EVENTS):
    return compare(Rows(tuple(expected), order, "n"), found, sight)


@pytest.mark.parametrize("order", Order)
def test_the_same_rows_in_the_same_order_do_not_differ(order):
    found = [emission(1), emission(2)]
    assert differs([line(1), line(2)], found, order) == SAME


def test_a_bag_has_no_order_but_counts():
    assert not differs([line(1), line(2)], [emission(2), emission(1)])
    assert differs([line(1), line(1)], [emission(1)]).missing == (line(1),)


def test_a_row_too_many_is_unexpected():
    (found,) = differs([line(1)], [emission(1), emission(7)]).unexpected
    assert found.row == {"n": 7}


def test_rows_that_are_alike_are_shown_with_the_cells_that_differ():
    expected = [Line({"id": 1, "n": 2, "s": "a"}, {})]
    found = [Emission(Outlet.MATCHED, {"ID": 1, "N": 5, "S": "a"})]
    (near,) = differs(expected, found).near
    assert near.cells == (Cell("n", 2, 5),)


def test_rows_that_share_nothing_are_no_pair():
    expected = [Line({"a": 1, "b": 2}, {})]
    found = [Emission(Outlet.MATCHED, {"a": 3, "c": 4})]
    difference = differs(expected, found)
    assert not difference.near
    assert difference.missing
    assert difference.unexpected


def test_an_outlet_that_is_listed_must_be_the_one():
    expected = [line(1, out="left_unmatched")]
    (near,) = differs(expected, [emission(1)]).near
    assert near.cells == (Cell("out", "left_unmatched", "matched"),)
    assert not differs(expected, [emission(1, Outlet.LEFT_UNMATCHED)])


def test_an_outlet_that_is_not_listed_may_be_any():
    assert not differs([line(1)], [emission(1, Outlet.RIGHT_UNMATCHED)])


def test_an_event_counts_where_the_engine_knows_it():
    expected, found = [line(1, after=3)], [emission(1, after=4)]
    assert differs(expected, found)
    assert not differs(expected, found, sight=Sight.OUTLETS)
    assert not differs(expected, [emission(1)])
    assert not differs([line(1)], found)


def test_a_line_that_lists_its_event_chooses_first():
    expected = [line(1), line(1, after=3)]
    assert not differs(expected, [emission(1, after=3), emission(1, after=4)])


def test_a_change_counts():
    expected = [line(1, change="insert"), line(1, change="delete")]
    assert not differs(expected, [emission(1), emission(1, change=Change.DELETE)])
    assert differs(expected, [emission(1), emission(1)])


def test_late_rows_count_where_one_is_listed():
    found = [emission(1), emission(2, Outlet.LATE)]
    assert not differs([line(1)], found)
    assert not differs([line(1), line(2, out="late")], found)
    assert differs([line(1), line(3, out="late")], found)


def test_marks_count_where_one_is_listed():
    found = [emission(1, after=0), emission(0, Outlet.MARKS, after=0)]
    assert not differs([line(1)], found)
    assert not differs([line(1), MARK], found)
    assert differs([line(1), MARK, MARK], found)


def test_an_order_that_is_asked_for_counts():
    difference = differs([line(1), line(2)], [emission(2), emission(1)], Order.ORDERED)
    assert difference.notes == ("the rows are right, their order is not: see row 0",)


def test_the_order_across_outlets_is_known_to_some_engines_only():
    expected = [line(1, out="matched"), line(2, out="left_unmatched"), line(3)]
    found = [emission(2, Outlet.LEFT_UNMATCHED), emission(1), emission(3)]
    assert differs(expected, found, Order.ORDERED)
    named = [*expected[:2], line(3, out="matched")]
    assert not differs(named, found, Order.ORDERED, Sight.OUTLETS)
    assert differs(named, found[::-1], Order.ORDERED, Sight.OUTLETS)


def test_streams_that_run_apart_know_the_order_of_events_and_in_each_that_of_outlets():
    right = Outlet.RIGHT_UNMATCHED
    found = [emission(1, after=0), emission(2, right, after=0), emission(3, after=1)]
    named = [line(one.row["n"], out=one.outlet.value) for one in found]
    first, second, last = named
    swapped = [second, first, last]
    assert not differs(named, found, Order.ORDERED, Sight.STREAMS)
    assert not differs(swapped, found, Order.ORDERED, Sight.STREAMS)
    assert differs([second, last, first], found, Order.ORDERED, Sight.STREAMS)
    other = [emission(2, after=0), emission(1, after=0)]
    assert differs([line(1), line(2)], other, Order.ORDERED, Sight.STREAMS)


def test_marks_have_no_place_among_the_rows_of_an_outlet():
    expected = [line(1), MARK, line(2)]
    found = [emission(0, Outlet.MARKS), emission(1), emission(2)]
    assert not differs(expected, found, Order.ORDERED, Sight.OUTLETS)
    assert differs(expected, found, Order.ORDERED)


def test_a_line_without_an_outlet_has_no_order_among_several():
    found = [emission(2, Outlet.LEFT_UNMATCHED), emission(1)]
    assert not differs([line(1), line(2)], found, Order.ORDERED, Sight.OUTLETS)


def test_by_time_the_time_never_falls():
    found = [emission(2), emission(None), emission(1)]
    expected = [line(1), line(2), line(None)]
    assert not differs(expected, found[::-1], Order.BY_TIME)
    (note,) = differs(expected, found, Order.BY_TIME).notes
    assert note == 'the rows are right, but not in the order of "n": 1 comes after 2'


def test_only_a_number_of_rows():
    assert not compare(Count(2), [emission(1), emission(1)], Sight.EVENTS)
    late = emission(1, Outlet.LATE)
    (note,) = compare(Count(2), [emission(1), late], Sight.EVENTS).notes
    assert note == "expected 2 rows, found 1"


def test_doubles_that_round_apart_are_the_same():
    assert not differs([line(1.0000000005)], [emission(1.00000000050001)])


def test_a_difference_in_words():
    expected = [
        Line({"id": 1, "s": None, "ok": True}, {}),
        Line({"a": "x"}, {"after": 3}),
        Line({"m": 1, "b": 2}, {"out": "matched"}),
    ]
    found = [
        Emission(Outlet.MATCHED, {"id": 1, "s": None, "ok": False}),
        Emission(Outlet.MATCHED, {"m": 1}),
        Emission(Outlet.LEFT_UNMATCHED, {"q": 1}),
    ]
    assert describe(differs(expected, found)) == [
        "differs     m = 1, b = 2  [out matched]: b: expected 2, found no such column",
        "differs     id = 1, s = null, ok = true: ok: expected true, found false",
        "missing     a = 'x'  [after 3]",
        "unexpected  q = 1  [out left_unmatched, change insert]",
    ]


def test_a_long_difference_is_cut():
    texts = describe(differs([line(n) for n in range(20)], []))
    assert len(texts) == 11
    assert texts[-1] == "... and 10 more like these"
