"""`dovetail check` tells each case on a line, then the counts, and exits to match."""

import json

import pytest
from rich.console import Console
from typer.testing import CliRunner

from dovetail.cli.check import table
from dovetail.cli.main import app
from dovetail.conformance.compare import Cell, Difference, Near
from dovetail.conformance.lines import Line

JOIN = {
    "left": {"from": "a"},
    "right": {"from": "a"},
    "type": "inner",
    "hard": [["l.k", "r.k"]],
    "select": {"k": "l.k"},
    "clock": "batch",
}
INPUTS = {
    "a": {"kind": "dataset", "schema": {"k": "int", "s": "string"}, "rows": [{"k": 1}]}
}


def case(name, expect, **more):
    return {"name": name, "join": JOIN, "inputs": INPUTS, "expect": expect} | more


GOOD = case("t/good", [{"row": {"k": 1}}])
BAD = case("t/bad", [{"row": {"k": 2}}])
TEXT = {"name": "t/text", "dialect": "ksql", "text": "…", "inputs": {}, "expect": []}


@pytest.fixture
def check(tmp_path):
    """Runs the command on cases; paths and options may follow."""

    def run(cases, *options):
        file = tmp_path / "cases.json"
        file.write_text(cases if isinstance(cases, str) else json.dumps(cases))
        words = ["check", str(file), "--engine", "oracle", *options]
        return CliRunner().invoke(app, words)

    return run


def test_a_line_a_case_and_the_counts_last(check):
    found = check([GOOD, TEXT])
    assert found.stdout.splitlines() == [
        "skip  t/text: the dialect ksql is not yet supported",
        "ok    t/good",
        "1 passed, 0 failed, 1 skipped",
    ]
    assert found.exit_code == 0


def test_a_failure_shows_what_differs_and_the_exit_status_says_so(check):
    found = check([BAD, GOOD])
    assert found.stdout.splitlines() == [
        "FAIL  t/bad",
        "      differs     k = 2: k: expected 2, found 1",
        "ok    t/good",
        "1 passed, 1 failed, 0 skipped",
    ]
    assert found.exit_code == 1


def test_a_reason_of_several_lines_is_indented(check):
    odd = case("t/odd", [])
    odd["join"] = JOIN | {"type": "left_outre"}
    first, second, _ = check([odd]).stdout.splitlines()
    assert first.startswith("FAIL  t/odd: SpecError: ")
    assert second.startswith("      hint: ")


def test_json_is_one_object_a_case_and_nothing_else_on_stdout(check):
    found = check([GOOD, BAD, TEXT], "--json")
    told = [json.loads(line) for line in found.stdout.splitlines()]
    assert [(one["name"], one["status"]) for one in told] == [
        ("t/text", "skip"),
        ("t/good", "ok"),
        ("t/bad", "FAIL"),
    ]
    assert told[2]["difference"] == ["differs     k = 2: k: expected 2, found 1"]
    assert told[0]["reason"] == "the dialect ksql is not yet supported"
    assert {one["engine"] for one in told} == {"oracle"}
    assert found.stderr == "1 passed, 1 failed, 1 skipped\n"


@pytest.mark.parametrize(
    ("cases", "says"),
    [
        ([{"name": "t/none"}], '"inputs"'),
        ([GOOD | {"name": "t/more", "expects": []}], '"expects"'),
        ([GOOD | {"name": "t/time", "compare": "by_time"}], "time_column"),
        ([GOOD | {"name": "t/out", "expect": [{"out": "none"}]}], '"none"'),
        (["t/text"], "expected an object"),
        ([GOOD], 'a second case "t/good"'),
    ],
)
def test_a_broken_case_fails_by_itself(check, cases, says):
    found = check([GOOD, *cases])
    *told, count = found.stdout.splitlines()
    assert count == "1 passed, 1 failed, 0 skipped"
    assert "ok    t/good" in told
    assert told[0].startswith("FAIL  ")
    assert says in told[0]
    assert found.exit_code == 1


@pytest.mark.parametrize(
    ("text", "says"),
    [("{", "is no JSON"), ("[" * 9999, "is no JSON"), ("[]", "has no case")],
)
def test_a_broken_file_is_told_in_a_sentence(check, text, says):
    found = check(text)
    assert found.exit_code == 2
    assert found.stdout == ""
    assert found.stderr.startswith("dovetail check: ")
    assert says in found.stderr
    assert "Traceback" not in found.stderr


def test_a_path_without_cases_and_an_odd_split_are_told_too(check, tmp_path):
    nowhere = CliRunner().invoke(app, ["check", str(tmp_path / "nowhere.json")])
    assert (nowhere.exit_code, "is not there" in nowhere.stderr) == (2, True)
    odd = check([GOOD], "--split", "often")
    assert (odd.exit_code, 'no split "often"' in odd.stderr) == (2, True)


def test_a_folder_is_checked_as_a_whole(tmp_path):
    for one in GOOD, BAD:
        (tmp_path / f"{one['name'][2:]}.json").write_text(json.dumps(one))
    words = ["check", str(tmp_path), "--engine", "oracle"]
    counts = CliRunner().invoke(app, words).stdout.splitlines()[-1]
    assert counts == "1 passed, 1 failed, 0 skipped"


def test_without_a_command_there_is_help():
    found = CliRunner().invoke(app, [])
    assert "check" in found.output


def test_a_terminal_gets_a_table():
    near = Near(Line({"k": 2}, {}), Line({"k": 1}, {}), (Cell("k", 2, 1),))
    line = Line({"k": "x"}, {"out": "matched"})
    console = Console(width=100, record=True, file=None, quiet=True)
    shown = table(Difference((line,), (line,), (near,), ("the order is not",)))
    with console.capture() as captured:
        console.quiet = False
        console.print(shown)
    lines = [text.split() for text in captured.get().splitlines()]
    assert ["differs", "k", "=", "2", "k", "2", "1"] in lines
    assert ["missing", "k", "=", "'x'", "[out", "matched]"] in lines
    assert ["unexpected", "k", "=", "'x'", "[out", "matched]"] in lines
    assert ["order", "the", "order", "is", "not"] in lines
