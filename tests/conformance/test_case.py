"""Case files become cases; a broken file is a sentence with file, case and field."""

import json
from decimal import Decimal
from pathlib import Path

import pytest

from dovetail.conformance.case import Neutral, Refusal, Script, read_cases
from dovetail.conformance.lines import Count, Order
from dovetail.errors import DovetailError, LimitError, SchemaError, SpecError
from dovetail.schema import Schema
from dovetail.spec.inputs import Arrive, EmitLateTableRows, Finish, Settings
from dovetail.spec.reader import read_join
from dovetail.spec.windows import Forever, Latest, Rows
from dovetail.spec.writer import write_join

COLUMNS = {"id": "int", "at": "timestamp"}
STREAM = {"kind": "stream", "schema": COLUMNS, "time": "at"}
TABLE = {"kind": "table", "schema": COLUMNS, "key": ["id"]}
DATA = {"kind": "dataset", "schema": COLUMNS}
JOIN = {
    "left": {"from": "left"},
    "right": {"from": "right"},
    "type": "inner",
    "hard": [["l.id", "r.id"]],
    "clock": "arrival",
}
CASE = {
    "name": "group/case",
    "source": "a page",
    "join": JOIN,
    "inputs": {"left": STREAM, "right": TABLE},
    "events": [],
    "expect": [],
}
TEXT = {"name": "spl/text", "dialect": "spl", "text": "..", "inputs": {}, "expect": []}


def row(number, second):
    return {"id": number, "at": f"00:00:0{second}"}


@pytest.fixture
def cases_of(tmp_path):
    """Writes a value as a case file and reads it."""

    def read(data):
        file = tmp_path / "cases.json"
        file.write_text(json.dumps(data))
        return read_cases([file])

    return read


@pytest.fixture
def played(cases_of):
    """Reads a case and returns its play."""

    def play(**changes):
        (case,) = cases_of(CASE | changes)
        return case.join.play()

    return play


def test_a_file_has_one_case_or_many(cases_of):
    assert [case.name for case in cases_of(CASE)] == ["group/case"]
    other = CASE | {"name": "group/other"}
    assert [case.name for case in cases_of([CASE, other])] == [
        "group/case",
        "group/other",
    ]


def test_a_folder_is_read_with_all_below_it_in_order(tmp_path):
    for number, folder in enumerate(["b", "a/c", "a"]):
        (tmp_path / folder).mkdir(parents=True, exist_ok=True)
        data = CASE | {"name": f"group/{number}"}
        (tmp_path / folder / "some.json").write_text(json.dumps(data))
    (tmp_path / "README.md").write_text("no case")
    names = [case.name for case in read_cases([tmp_path])]
    assert sorted(names) == ["group/0", "group/1", "group/2"]
    assert names[-1] == "group/0"


def test_a_case_is_a_spec_or_a_text(cases_of):
    neutral, script = cases_of([CASE, TEXT])
    assert isinstance(neutral.join, Neutral)
    assert isinstance(script.join, Script)
    assert (script.join.dialect, script.join.text) == ("spl", "..")
    assert neutral.source == "a page"


def test_a_play_is_checked_and_has_its_windows(played):
    join = played().join
    assert (join.left.window, join.right.window) == (Rows(0), Latest(("id",)))
    with pytest.raises(SpecError) as caught:
        played(inputs={"left": STREAM, "right": STREAM})
    assert caught.value.rule == "stated_window"


def test_rows_of_a_stream_arrive_before_the_first_event(played):
    rows = [row(2, 2), row(1, 1)]
    play = played(
        inputs={"left": STREAM | {"rows": rows}, "right": TABLE | {"rows": rows}}
    )
    assert [event.row["id"] for event in play.opening] == [2, 1]
    assert play.inputs["left"].rows == ()
    assert len(play.inputs["right"].rows) == 2


def test_a_bounded_play_comes_in_row_time_order_and_ends(cases_of):
    versions = TABLE | {"time": "at", "rows": [row(9, 2), {"id": 7}]}
    left = STREAM | {"rows": [row(3, 3), row(1, 1), row(2, 2)]}
    inputs = {"left": left, "right": versions, "other": DATA | {"rows": [row(0, 0)]}}
    data = {**CASE, "inputs": inputs, "join": JOIN | {"clock": "event"}}
    del data["events"]
    (case,) = cases_of(data)
    play = case.join.play()
    arrived = [event.row["id"] for event in play.opening if isinstance(event, Arrive)]
    assert arrived == [7, 1, 2, 9, 3]
    assert play.opening[-3:] == (Finish("left"), Finish("right"), Finish("other"))
    assert len(play.inputs["other"].rows) == 1
    assert play.inputs["right"].rows == ()


def test_a_batch_ends_nothing(played):
    inputs = {"left": STREAM | {"rows": [row(1, 1)]}, "right": DATA}
    play = played(join=JOIN | {"clock": "batch"}, inputs=inputs, events=None)
    assert [type(event) for event in play.opening] == [Arrive]
    assert play.join.left.window == Forever()


def test_numbers_are_as_exact_as_they_are_written(tmp_path):
    kind = {"kind": "dataset", "schema": {"v": "decimal(30,20)"}}
    data = {**TEXT, "inputs": {"d": kind | {"rows": [{"v": 0}]}}}
    exact = "1.00000000000000000001"
    text = json.dumps(data).replace('"v": 0', f'"v": {exact}')
    (tmp_path / "case.json").write_text(text)
    (case,) = read_cases([tmp_path])
    assert case.join.given.inputs()["d"].rows[0]["v"] == Decimal(exact)


def test_a_text_declares_schemas_and_usual_switches(cases_of):
    stream = {"kind": "stream", "time": "AT"}
    inputs = {"s": stream, "right": TABLE}
    events = [{"in": "s", "row": row(1, 1)}]
    (case,) = cases_of(TEXT | {"inputs": inputs, "events": events})
    given = case.join.given
    declared = given.inputs({"s": Schema.of(COLUMNS)})
    usual = Settings(late_table_rows=EmitLateTableRows())
    join = read_join(JOIN | {"left": {"from": "s"}})
    play = given.play(join, declared, given.settings(usual))
    assert play.events[0].row["at"].second == 1
    assert play.settings == usual


def test_expected_lines_have_the_facts_that_are_listed(cases_of):
    lines = [
        {"row": {"id": 1}},
        {"row": {}, "out": "late", "after": 0, "change": "delete"},
        {"mark": "window", "after": 3, "out": "matched"},
    ]
    data = CASE | {"expect": lines, "compare": "by_time", "time_column": "at"}
    (case,) = cases_of(data)
    assert [line.facts for line in case.expect.lines] == [
        {},
        {"out": "late", "after": 0, "change": "delete"},
        {"mark": "window", "after": 3, "out": "matched"},
    ]
    assert (case.expect.order, case.expect.time_column) == (Order.BY_TIME, "at")


def test_only_the_number_of_rows_may_be_known(cases_of):
    (case,) = cases_of(CASE | {"expect": {"count": 3}})
    assert case.expect == Count(3)


@pytest.mark.parametrize(
    ("expected", "error", "is_met"),
    [
        ({}, SpecError("anything"), True),
        ({"kind": "SpecError"}, SchemaError("anything"), False),
        ({"kind": "EngineError"}, LimitError("anything"), True),
        ({"says": "keep"}, SpecError("no keep here"), True),
        ({"says": "keep"}, SpecError("no limit here"), False),
    ],
)
def test_an_error_is_expected_by_kind_and_message(cases_of, expected, error, is_met):
    (case,) = cases_of(CASE | {"expect": {"error": expected}})
    assert case.expect.is_met_by(error) is is_met


def test_a_join_that_must_be_refused_is_read_without_complaint(cases_of):
    refused = {"error": {"kind": "SpecError", "says": "clock"}}
    (case,) = cases_of(CASE | {"join": JOIN | {"clock": None}, "expect": refused})
    with pytest.raises(DovetailError) as caught:
        case.join.play()
    assert case.expect == Refusal(SpecError, "clock")
    assert case.expect.is_met_by(caught.value)


@pytest.mark.parametrize(
    ("data", "found"),
    [
        (CASE | {"name": None}, 'case 0" has no "name"'),
        ([CASE, 5], 'cases.json: case 1" is 5'),
        (CASE | {"expects": []}, 'cases.json: group/case" has the key "expects"'),
        (CASE | {"expect": None}, 'group/case" has no "expect"'),
        (CASE | {"expect": 3}, 'group/case.expect" is 3'),
        (CASE | {"expect": {"count": "3"}}, 'group/case.expect.count" is "3"'),
        (CASE | {"expect": [{"out": "late"}]}, 'group/case.expect[0]" has no "row"'),
        (CASE | {"expect": [{"row": 1}]}, 'group/case.expect[0].row" is 1'),
        (CASE | {"expect": [{"row": {}, "out": "x"}]}, 'expect[0].out" is "x"'),
        (CASE | {"expect": [{"mark": "final"}]}, 'expect[0].mark" is "final"'),
        (
            CASE | {"expect": [{"row": {}, "change": "new"}]},
            'expect[0].change" is "new"',
        ),
        (
            CASE | {"expect": {"error": {"kind": "Oops"}}},
            'error.kind" is "Oops"',
        ),
        (CASE | {"compare": "sorted"}, 'group/case.compare" is "sorted"'),
        (CASE | {"compare": "by_time"}, 'group/case.compare" is "by_time"'),
        (CASE | {"text": "..", "dialect": "spl"}, 'group/case" has a join and a text'),
        (TEXT | {"dialect": None}, 'spl/text" has no "dialect"'),
        (CASE | {"inputs": None}, 'group/case" has no "inputs"'),
        (CASE | {"events": {}}, 'group/case.events" is {}'),
        ([CASE, CASE], 'has a second case "group/case"'),
    ],
)
def test_a_broken_case_is_named_with_its_field(cases_of, data, found):
    with pytest.raises(SpecError) as caught:
        cases_of(data)
    assert found in caught.value.found
    assert "cases.json" in caught.value.found
    assert caught.value.expected


@pytest.mark.parametrize("content", ["{", "", "\xff"])
def test_a_file_that_is_no_json_is_named(tmp_path, content):
    (tmp_path / "cases.json").write_text(content, encoding="latin-1")
    with pytest.raises(SpecError) as caught:
        read_cases([tmp_path])
    assert "cases.json" in caught.value.found
    assert caught.value.rule == "case_file"


def test_a_place_without_cases_is_named(tmp_path):
    for place in (tmp_path, tmp_path / "nowhere.json"):
        with pytest.raises(SpecError) as caught:
            read_cases([place])
        assert str(place) in caught.value.found


OWN = Path(__file__).parents[1] / "cases"


@pytest.mark.parametrize("case", read_cases([OWN]), ids=lambda case: case.name)
def test_our_own_cases_are_sound_and_survive_json(case):
    if isinstance(case.join, Neutral) and not isinstance(case.expect, Refusal):
        join = case.join.play().join
        assert read_join(json.loads(json.dumps(write_join(join)))) == join
