"""Windows that were not written follow from what meets what."""

import pytest
from hypothesis import given

from dovetail.spec.defaults import with_defaults
from dovetail.spec.join import Nested
from dovetail.spec.reader import read_inputs, read_join
from dovetail.spec.spans import SECOND, Span
from dovetail.spec.windows import Forever, Latest, Range, Rows, Unstated
from tests import strategies

COLUMNS = {"ID": "int", "at": "timestamp"}
INPUTS = {
    "stream": {"kind": "stream", "schema": COLUMNS, "time": "at"},
    "untimed": {"kind": "stream", "schema": COLUMNS},
    "table": {"kind": "table", "schema": COLUMNS, "key": ["id"]},
    "versions": {"kind": "table", "schema": COLUMNS, "key": ["id"], "time": "at"},
    "keyless": {"kind": "table", "schema": COLUMNS},
    "data": {"kind": "dataset", "schema": COLUMNS},
}
KEY = Latest(("ID",))
ASOF = {"left": "l.at", "right": "r.at"}


def join_of(left, right, clock, **more):
    sides = {"left": {"from": left}, "right": {"from": right}}
    return {**sides, "type": "inner", "clock": clock, **more}


def windows(*args, **more):
    join = with_defaults(read_join(join_of(*args, **more)), read_inputs(INPUTS))
    return join.left.window, join.right.window


@pytest.mark.parametrize(
    ("left", "right", "clock", "expected"),
    [
        ("table", "versions", "arrival", (KEY, KEY)),
        ("keyless", "data", "arrival", (Forever(), Forever())),
        ("stream", "table", "arrival", (Rows(0), KEY)),
        ("stream", "versions", "event", (Rows(0), KEY)),
        ("data", "stream", "event", (Forever(), Rows(0))),
        ("stream", "untimed", "arrival", (Unstated(), Unstated())),
        ("stream", "untimed", "batch", (Forever(), Forever())),
        ("stream", "table", "batch", (Range(), KEY)),
        ("stream", "versions", "batch", (Range(), KEY)),
        ("untimed", "versions", "batch", (Forever(), KEY)),
    ],
)
def test_a_window_follows_from_both_sides(left, right, clock, expected):
    assert windows(left, right, clock) == expected


@pytest.mark.parametrize(
    ("left", "right", "clock", "expected"),
    [
        ("stream", "stream", "event", (Range(), Forever())),
        ("stream", "stream", "arrival", (Rows(0), Forever())),
        ("stream", "stream", "batch", (Range(), Forever())),
        ("stream", "data", "event", (Rows(0), Forever())),
        ("data", "stream", "event", (Forever(), Forever())),
    ],
)
def test_an_asof_keeps_what_can_still_be_picked(left, right, clock, expected):
    assert windows(left, right, clock, asof=ASOF) == expected


@pytest.mark.parametrize(
    ("asof", "expected"),
    [
        (ASOF | {"direction": "forward"}, Range(Span(0, 5 * SECOND))),
        (ASOF | {"direction": "nearest"}, Range(Span(0, 5 * SECOND))),
        ({"left": "L.AT", "right": "r.at"}, Range()),
        ({"left": "l.id", "right": "r.at"}, Forever()),
        ({"left": "l.at + INTERVAL 1 DAY", "right": "r.at"}, Forever()),
    ],
)
def test_a_left_row_of_an_asof_lives_while_a_right_one_may_be_nearer(asof, expected):
    asof = {**asof, "tolerance": "5 seconds"}
    assert windows("stream", "stream", "event", asof=asof) == (expected, Forever())


def test_a_written_window_stays_but_its_key_is_spelled():
    join = join_of("stream", "stream", "event")
    join["left"]["window"] = {"latest": ["id"]}
    join["right"]["window"] = "forever"
    complete = with_defaults(read_join(join), read_inputs(INPUTS))
    assert (complete.left.window, complete.right.window) == (KEY, Forever())


@pytest.mark.parametrize(
    ("inner", "clock", "window"),
    [
        (join_of("stream", "table", "arrival"), "arrival", Rows(0)),
        (join_of("table", "table", "arrival"), "arrival", Forever()),
        (join_of("stream", "stream", "batch"), "arrival", Forever()),
    ],
)
def test_the_rows_of_a_join_are_a_stream_where_an_input_is_one(inner, clock, window):
    assert windows({"join": inner}, "data", clock)[0] == window


def test_a_join_inside_gets_its_windows_too():
    outer = join_of({"join": join_of("stream", "table", "arrival")}, "data", "arrival")
    complete = with_defaults(read_join(outer), read_inputs(INPUTS))
    assert isinstance(complete.left.source, Nested)
    assert complete.left.source.join.left.window == Rows(0)


def test_mofn_without_a_most_is_all_sets():
    sets = {"sets": ["data", "table"], "type": "mofn", "min": 1, "select": {}}
    assert with_defaults(read_join(sets), read_inputs(INPUTS)).most == 2


@given(strategies.joins(), strategies.inputs())
def test_defaults_refuse_nothing_and_are_filled_in_once(join, inputs):
    complete = with_defaults(join, inputs)
    assert with_defaults(complete, inputs) == complete
