"""`dovetail explain` says what a join does and who can run it, and runs nothing."""

import json
import re

import pytest
from typer.testing import CliRunner

from dovetail.cli.main import app
from tests.house.source import TOP

COLUMNS = {"k": "int", "t": "timestamp"}
STREAM = {"kind": "stream", "schema": COLUMNS, "time": "t"}
INPUTS = {"a": STREAM, "b": {**STREAM, "lateness": "90 seconds"}}


def side(name, **window):
    return {"from": name, "window": window}


JOIN = {
    "left": side("a", range={"preceding": "30 minutes", "following": "1 hour"}),
    "right": side("b", range={"preceding": "0 seconds", "following": "1 day"}),
    "type": "left_outer",
    "hard": [["l.k", "r.k"]],
    "select": {"k": "l.k"},
    "clock": "event",
}
ROWS = {
    **JOIN,
    "left": {**side("a", rows=1), "partition_by": ["k"]},
    "right": side("b", rows=0),
    "clock": "arrival",
}
SETS = {
    "sets": ["a", "b"],
    "type": "inner",
    "stepped": ["k"],
    "select": {"k": "l.k"},
}


@pytest.fixture
def explain(tmp_path):
    """Runs the command on a file; options may follow."""

    def run(content, *options):
        file = tmp_path / "my_join.json"
        file.write_text(content if isinstance(content, str) else json.dumps(content))
        return CliRunner().invoke(app, ["explain", str(file), *options])

    return run


def told(found):
    """The sentences by their headings, lines joined again."""
    lines = {}
    for line in found.stdout.splitlines()[1:]:
        heading, text = re.fullmatch(r"(.*?)(?:\s{2,}(.*))?", line).groups()
        last = heading or next(reversed(lines), "")
        lines[last] = f"{lines.get(last, '')} {text or ''}".strip()
    return lines


def test_a_spec_without_name_and_expect_is_explained(explain):
    found = explain({"join": JOIN, "inputs": INPUTS})
    assert (found.exit_code, found.stderr) == (0, "")
    assert found.stdout.startswith("my_join\njoin")
    assert told(found) == {
        "join": "left_outer, on l.k = r.k",
        "left": "alive from 1 hour before its time (t) to 30 minutes after it",
        "right": "alive from 1 day before its time (t) to it",
        "out": "a pair comes out once both rows are there and neither can change; an "
        "unmatched left row comes out once no row that it could meet can still come",
        "late": "a row further behind the newest of its side than 0 seconds (left) or "
        "1 minute 30 seconds (right) goes to `late`",
        "left state": "rows up to 1 day 30 minutes older than the right side's bound",
        "right state": "rows up to 1 hour older than the left side's bound",
        "on oracle": "yes: the definition, over plain rows",
        "on local": "yes: the kernels, event by event, without Spark",
        "on batch": "yes: one native Spark plan; no row passes through Python",
        "on stream": "yes: a stateful operator on Spark; many buckets, by the "
        "equality; a batch reads rows of the keys that come, and rows that fall due",
    }


def test_what_an_engine_lacks_is_named(explain):
    lines = told(explain({"join": ROWS, "inputs": INPUTS, "events": []}))
    assert lines["left"] == "alive until 1 later row has come, for each k"
    assert lines["left state"] == "1 row a partition"
    assert lines["right state"] == "none: each row is met once"
    assert lines["on batch"].startswith("not yet: the clock arrival, ")


def test_a_join_of_sets_and_a_text_say_who_runs_them(explain):
    data = {"kind": "dataset", "schema": COLUMNS}
    found = explain({"join": SETS, "inputs": {"a": data, "b": data}})
    assert told(found)["join"] == "inner of the sets a, b"
    runs = {
        name: told(found)[f"on {name}"].partition(":")[0]
        for name in ("oracle", "local", "batch", "stream")
    }
    assert runs == dict.fromkeys(runs, "yes")
    text = explain({"dialect": "ksql", "text": "…", "inputs": {}})
    assert "the dialect ksql is not yet supported" in text.stdout


def test_a_nested_join_follows_the_one_it_feeds(explain):
    nested = {**JOIN, "left": {**JOIN["left"], "from": {"join": JOIN, "as": "c"}}}
    nested["left"]["window"] = "inherited"
    nested["select"] = {"k": "r.k"}
    found = explain({"join": nested, "inputs": INPUTS})
    assert told(found)["left"].endswith("30 minutes after it"), found.stdout
    assert "left is      a join of its own:\n" in found.stdout
    assert "alive while both rows of its own join are" in found.stdout


def test_a_broken_law_is_told_and_the_exit_status_says_so(explain):
    sound = {"name": "sound", "join": JOIN, "inputs": INPUTS}
    odd = {"name": "odd", "join": {**JOIN, "hard": [["l.q", "r.k"]]}, "inputs": INPUTS}
    found = explain([odd, sound])
    assert found.exit_code == 2
    assert found.stdout.startswith("odd\nSpecError: known_columns: ")
    assert "\nsound\njoin" in found.stdout
    assert explain([odd, sound], "--only", "sou").exit_code == 0


@pytest.mark.parametrize(
    ("content", "options", "says"),
    [
        ("{", (), "is no JSON"),
        ({"inputs": {}}, (), '"dialect"'),
        ({"join": JOIN, "inputs": INPUTS}, ("--only", "x"), 'no join has "x"'),
    ],
)
def test_a_broken_file_is_told_in_a_sentence(explain, content, options, says):
    found = explain(content, *options)
    assert (found.exit_code, found.stdout) == (2, "")
    assert found.stderr.startswith("dovetail explain: ")
    assert says in found.stderr


@pytest.mark.wide
def test_all_cases_of_the_project_are_explained():
    words = ["explain", str(TOP / "tests/cases")]
    assert "Traceback" not in CliRunner().invoke(app, words).stdout


ECL = """\
people := DATASET('~hr::people', {INTEGER id});
j := JOIN(people, people, LEFT.id = RIGHT.id, LOOKUP, LEFT OUTER);
OUTPUT(j);
"""


def test_a_program_is_explained_join_by_join_without_spark(tmp_path):
    (tmp_path / "sales.ecl").write_text(ECL)
    found = CliRunner().invoke(app, ["explain", str(tmp_path / "sales.ecl")])
    assert found.exit_code == 0, found.stderr
    lines = found.stdout.splitlines()
    assert lines[0] == "sales"
    assert told(found) == {
        "join": "j := JOIN in line 2, left outer",
        "hard": "l.`id` = r.`id`",
        "LOOKUP": "the first match counts; the right side is broadcast",
        "on Spark": "the right side is broadcast to every task, the left side stays "
        "where it is",
        "output": "Result 1: id",
    }


@pytest.mark.parametrize("options", [["--plan"], ["--files", "."]])
def test_what_only_programs_have_is_refused_for_cases(explain, options):
    found = explain({"join": JOIN, "inputs": INPUTS}, *options)
    assert (found.exit_code, found.stdout) == (2, "")
    assert "--plan or --files without a program" in found.stderr


@pytest.mark.parametrize(
    ("text", "options", "says"),
    [
        ("OUTPUT(nobody);", [], "line 1, column 8"),
        (ECL, ["--files", "nowhere"], '"nowhere" is no folder'),
    ],
)
def test_a_broken_program_is_told_in_a_sentence(tmp_path, text, options, says):
    (tmp_path / "sales.ecl").write_text(text)
    words = ["explain", str(tmp_path / "sales.ecl"), *options]
    found = CliRunner().invoke(app, words)
    assert (found.exit_code, found.stdout) == (2, "")
    assert says in found.stderr


@pytest.mark.parametrize(
    ("settings", "says"),
    [({}, "yes: 1 query"), ({"outer_rows": "eager"}, "not yet: a switch in a join of")],
)
def test_a_chain_of_tables_is_asked_of_its_plan(explain, settings, says):
    cases = json.loads((TOP / "tests/cases/lenses_rules.json").read_text())
    (case,) = (one for one in cases if one["name"] == "lenses_rules/three_tables")
    found = explain({**case, "settings": settings})
    assert found.exit_code == 0, found.stderr
    assert told(found)["on stream"].startswith(says)
