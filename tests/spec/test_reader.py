"""Reading and writing specs: what is written is read back, what is wrong is refused."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dovetail.errors import SchemaError, SpecError
from dovetail.expression import Expression
from dovetail.schema import Schema
from dovetail.spec.inputs import (
    Arrive,
    Bound,
    Clock,
    EmitLateTableRows,
    Finish,
    OuterRows,
    Pause,
    Remove,
    Settings,
)
from dovetail.spec.join import BlankRow, GivenRow, Kind, NullRow
from dovetail.spec.picks import Unlimited
from dovetail.spec.reader import read_events, read_inputs, read_join, read_settings
from dovetail.spec.spans import Span, parse_span
from dovetail.spec.windows import (
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
from dovetail.spec.writer import (
    write_join,
    write_settings,
    write_window,
)
from tests import strategies
from tests.spec.written import write_events, write_inputs

SMALL = {
    "left": {"from": "orders"},
    "right": {"from": "trades"},
    "type": "inner",
    "clock": "batch",
}
ASOF = {"left": "l.t", "right": "r.t"}
SETS = {"sets": ["a", "b"], "type": "inner", "select": {"k": "l.k"}}
TABLE = {"kind": "table", "schema": {"ID": "int", "v": "string"}, "key": ["id"]}


def through_json(data):
    return json.loads(json.dumps(data))


def with_left(**side):
    return SMALL | {"left": {"from": "orders", **side}}


def window_of(data):
    return read_join(with_left(window=data)).left.window


@given(strategies.joins())
def test_a_join_survives_json(join):
    assert read_join(through_json(write_join(join))) == join


@given(strategies.inputs())
def test_inputs_survive_json(inputs):
    assert read_inputs(through_json(write_inputs(inputs))) == inputs


@given(strategies.SETTINGS)
def test_settings_survive_json(settings):
    assert read_settings(through_json(write_settings(settings))) == settings


@given(
    strategies.inputs().flatmap(
        lambda inputs: st.tuples(st.just(inputs), strategies.events(inputs))
    )
)
def test_events_survive_json(played):
    inputs, events = played
    assert read_events(through_json(write_events(events)), inputs) == events


def test_a_small_join_is_a_small_object():
    assert write_join(read_join(SMALL)) == {**SMALL, "hard": []}


def test_null_is_as_good_as_nothing():
    nothing = ("soft", "select", "keep", "atmost", "limit", "asof", "default_left")
    assert read_join(SMALL | dict.fromkeys(nothing)) == read_join(SMALL)


@pytest.mark.parametrize(
    ("data", "window"),
    [
        ({"rows": 0}, Rows(0)),
        ("forever", Forever()),
        ("inherited", Inherited()),
        ({"latest": ["k"]}, Latest(("k",))),
        ({"seconds": 1.5}, Seconds(parse_span("1.5 seconds"))),
        ({"range": {}}, Range()),
        ({"range": {"following": "-1 day"}}, Range(Span(), parse_span("-1 day"))),
        ({"rows_preceding": 3}, RowsPreceding(3)),
        ({"rows_preceding": {"from": 5, "to": 2}}, RowsPreceding(5, 2)),
        ({"hop": "hour"}, HopUnit("hour")),
        ({"hop": "10 minutes"}, HopUnit(parse_span("10 minutes"))),
        (
            {"hop": {"size": "10 seconds", "every": "5 seconds"}},
            HopSize(parse_span("10 seconds"), parse_span("5 seconds")),
        ),
    ],
)
def test_a_window_is_known_by_its_name(data, window):
    assert window_of(data) == window
    assert window_of(write_window(window)["window"]) == window


@pytest.mark.parametrize(
    "tolerance", ["5 seconds", 2, 0.5, "0.12345678901234567890123"]
)
def test_a_tolerance_is_a_length_of_time_or_a_number_without_loss(tolerance):
    join = SMALL | {"asof": ASOF | {"tolerance": tolerance}}
    assert write_join(read_join(join))["asof"]["tolerance"] == tolerance


@pytest.mark.parametrize("pick", ["keep", "atmost", "limit"])
def test_a_pick_of_0_is_no_pick(pick):
    data = 0 if pick == "keep" else {"n": 0}
    picks = read_join(SMALL | {pick: data}).picks
    assert {picks.keep, picks.at_most, picks.limit} == {Unlimited()}


def test_an_absent_row_is_given_blank_or_null():
    join = read_join(SMALL | {"default_left": {"k": 1}, "absent": "blank"})
    assert join.absent_left == GivenRow((("k", 1),), BlankRow())
    assert join.absent_right == BlankRow()
    assert read_join(SMALL).absent_right == NullRow()


REFUSED = [
    ("known_key", SMALL | {"softt": "true"}, '"join" has the key "softt"', "soft"),
    ("known_key", with_left(windw={}), '"join.left" has the key "windw"', "window"),
    (
        "known_key",
        with_left(window={"row": 1}),
        '"join.left.window" has the key "row"',
        "rows",
    ),
    ("known_key", SETS | {"keep": 1}, '"join" has the key "keep"', ""),
    ("needed_key", {**SMALL, "clock": None}, '"join" has no "clock"', ""),
    ("needed_key", {**SMALL, "left": {}}, '"join.left" has no "from"', ""),
    ("needed_key", {"sets": ["a"], "type": "inner"}, '"join" has no "select"', ""),
    ("value", [], '"join" is []', ""),
    (
        "value",
        SMALL | {"type": "lft_outer"},
        '"join.type" is "lft_outer"',
        "left_outer",
    ),
    ("value", SMALL | {"clock": "wall"}, '"join.clock" is "wall"', ""),
    ("value", SMALL | {"hard": "l.id = r.id"}, '"join.hard" is "l.id = r.id"', ""),
    ("value", SMALL | {"hard": [["l.id"]]}, '"join.hard[0]" is ["l.id"]', ""),
    ("value", SMALL | {"soft": True}, '"join.soft" is true', ""),
    ("value", SMALL | {"select": ["l.id"]}, '"join.select" is ["l.id"]', ""),
    ("value", SMALL | {"select": {"id": 1}}, '"join.select.id" is 1', ""),
    ("value", SMALL | {"ports": 4}, '"join.ports" is 4', ""),
    ("value", SMALL | {"ports": True}, '"join.ports" is true', ""),
    ("value", SMALL | {"keep": -1}, '"join.keep" is -1', ""),
    ("value", SMALL | {"absent": "zero"}, '"join.absent" is "zero"', ""),
    (
        "value",
        SMALL | {"atmost": {"n": 1, "optional": [{}]}},
        '"join.atmost.optional[0]"',
        "",
    ),
    (
        "value",
        SMALL | {"limit": {"n": 1, "on_exceed": "stop"}},
        '"join.limit.on_exceed"',
        "",
    ),
    (
        "value",
        SMALL | {"asof": ASOF | {"tolerance": "long"}},
        '"join.asof.tolerance" is "long"',
        "10 minutes",
    ),
    ("value", with_left(window="forevr"), '"join.left.window" is "forevr"', ""),
    ("value", with_left(window={"rows": "3"}), '"join.left.window.rows" is "3"', ""),
    ("value", with_left(window={"rows": 1, "seconds": 1}), '"join.left.window" is', ""),
    ("value", with_left(window={"seconds": True}), '"join.left.window.seconds"', ""),
    ("value", with_left(window={"seconds": "NaN"}), '"join.left.window.seconds"', ""),
    ("value", SMALL | {"asof": ASOF | {"exact": 1}}, '"join.asof.exact" is 1', ""),
    ("value", with_left(window={"seconds": "soon"}), '"join.left.window.seconds"', ""),
    (
        "value",
        with_left(window={"seconds": -1}),
        '"join.left.window.seconds" is -1',
        "",
    ),
    ("value", with_left(window={"hop": "fortnight"}), '"join.left.window.hop"', ""),
    ("value", with_left(window={"between": ["l.a"]}), '"join.left.window.between"', ""),
    (
        "value",
        with_left(window={"range": {"preceding": "3"}}),
        "range.preceding",
        "10 minutes",
    ),
    ("value", with_left(partition_evict={"count": 1, "age": 2}), "partition_evict", ""),
    ("value", SETS | {"clock": "event"}, '"join.clock" is "event"', ""),
    (
        "window_size",
        with_left(window={"rows_preceding": {"from": 1, "to": 2}}),
        "from 1",
        "",
    ),
    ("window_size", with_left(window={"delta": {"by": "t", "width": -1}}), "-1", ""),
    (
        "window_size",
        with_left(window={"hop": {"size": "1 month", "every": "1 day"}}),
        "1 months",
        "",
    ),
    ("nested_join", with_left(**{"from": {"join": SETS}}), '"join.left.from.join"', ""),
]


@pytest.mark.parametrize(("rule", "data", "found", "hint"), REFUSED)
def test_a_wrong_spec_is_refused_at_its_place(rule, data, found, hint):
    with pytest.raises(SpecError) as caught:
        read_join(data)
    assert caught.value.rule == rule
    assert found in caught.value.found
    assert caught.value.expected
    assert hint in caught.value.hint


def test_a_refusal_shows_the_choices():
    with pytest.raises(SpecError) as caught:
        read_join(SMALL | {"type": "outer"})
    assert all(kind.value in caught.value.expected for kind in Kind)


def test_a_join_of_sets_needs_no_clock():
    assert read_join(SETS) == read_join(SETS | {"clock": Clock.BATCH.value})


def test_columns_are_spelled_as_the_schema_spells_them():
    inputs = read_inputs({"t": TABLE | {"rows": [{"Id": 1, "V": "x"}]}})
    assert inputs["t"].key == ("ID",)
    assert inputs["t"].rows == ({"ID": 1, "v": "x"},)


def test_rows_without_known_columns_wait_for_a_declaration():
    data = {"s": {"kind": "stream", "time": "AT", "rows": [{"at": "10:00:05"}]}}
    assert read_inputs(data)["s"].rows == ({"at": "10:00:05"},)
    declared = read_inputs(data, {"s": Schema.of({"at": "timestamp"})})
    assert declared["s"].time == "at"
    assert declared["s"].rows[0]["at"].hour == 10


def test_a_row_that_does_not_fit_is_named():
    with pytest.raises(SchemaError) as caught:
        read_inputs({"t": TABLE | {"rows": [{}, {"ID": "x"}]}})
    assert caught.value.found == 'the column "ID" of inputs.t.rows[1] has "x"'


def test_settings_that_are_not_written_are_as_usual():
    usual = Settings(late_table_rows=EmitLateTableRows())
    read = read_settings({"outer_rows": "eager"}, usual)
    assert read == Settings(OuterRows.EAGER, EmitLateTableRows())


def test_settings_may_wait_for_a_time():
    settings = read_settings({"late_table_rows": {"emit": "1 day"}})
    assert settings.late_table_rows == EmitLateTableRows(parse_span("1 day"))


@pytest.mark.parametrize(
    "data", [{"late_table_rows": "never"}, {"order": "random"}, {"outer": "eager"}]
)
def test_wrong_settings_are_refused(data):
    with pytest.raises(SpecError):
        read_settings(data)


def test_every_event_has_the_clock_at_which_it_happens():
    inputs = read_inputs({"t": TABLE})
    row = {"ID": 1, "v": None}
    events = read_events(
        [
            {"in": "t", "row": {"id": 1}},
            {"at": 1.5, "in": "t", "row": {"id": 1}, "delete": True},
            {"in": "t", "key": {"id": 1}, "value": None},
            {"in": "t", "bound": "00:00:02"},
            {"at": 3},
            {"end": "t"},
        ],
        inputs,
    )
    assert events == (
        Arrive("t", row, 0),
        Remove("t", row, 1_500_000),
        Remove("t", row, 1_500_000),
        Bound("t", 2_000_000, 1_500_000),
        Pause(3_000_000),
        Finish("t", 3_000_000),
    )


STREAM = {"kind": "stream", "schema": {"id": "int"}}


@pytest.mark.parametrize(
    ("event", "found"),
    [
        ({"in": "nobody", "row": {}}, '"event 1.in" is "nobody"'),
        ({"in": "s", "row": {}, "bound": "10:00"}, "event 1 has the keys"),
        ({"at": 1}, '"event 1.at" is 1'),
        ({}, '"event 1" has no "at"'),
        ({"in": "s", "row": {"id": 1}, "delete": True}, 'event 1 takes a key from "s"'),
        ({"in": "t", "key": {"id": 1}, "value": {}}, '"event 1.value" is {}'),
        ({"in": "s", "rows": []}, '"event 1" has the key "rows"'),
    ],
)
def test_a_wrong_event_is_refused_by_its_number(event, found):
    inputs = read_inputs({"s": STREAM, "t": TABLE})
    with pytest.raises(SpecError) as caught:
        read_events([{"at": 2}, event], inputs)
    assert found in caught.value.found


def test_expressions_stay_the_texts_that_they_are():
    assert read_join(SMALL | {"soft": " l.a  =r.b "}).soft == Expression(" l.a  =r.b ")
