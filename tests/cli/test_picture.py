"""`dovetail picture` draws a case, and tells what it cannot draw."""

import json
from xml.etree.ElementTree import fromstring

import pytest
from typer.testing import CliRunner

from dovetail.cli.main import app
from tests.house.source import TOP

RANGES = str(TOP / "tests/cases/event_range.json")
ONE = "event_range/seed001_q2"
SETS = str(TOP / "tests/cases/sets.json")


def picture(*words):
    return CliRunner().invoke(app, ["picture", *words])


def test_the_svg_is_printed():
    found = picture(RANGES, "--name", ONE)
    assert (found.exit_code, found.stderr) == (0, "")
    root = fromstring(found.stdout)
    assert root[0].text == f"{ONE}: inner join of Orders and Trades"


def test_a_name_may_be_its_last_part():
    assert picture(RANGES, "--name", "seed001_q2").stdout == (
        picture(RANGES, "--name", ONE).stdout
    )


@pytest.mark.parametrize("name", ["one.svg", "one.html"])
def test_it_goes_into_a_file(tmp_path, name):
    found = picture(RANGES, "--name", ONE, "-o", str(tmp_path / name))
    assert (found.exit_code, found.stdout) == (0, "")
    assert "<svg" in (tmp_path / name).read_text()


def test_a_case_alone_in_its_file_needs_no_name(tmp_path):
    cases = json.loads((TOP / "tests/cases/event_range.json").read_text())
    [case] = [case for case in cases if case["name"] == ONE]
    del case["name"], case["expect"]
    (tmp_path / "mine.json").write_text(json.dumps(case))
    found = picture(str(tmp_path / "mine.json"))
    assert ">mine: inner join of Orders and Trades<" in found.stdout


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ([RANGES], "cases; expected the name of one case"),
        ([RANGES, "--name", "nothing"], 'has no case "nothing"'),
        ([RANGES, "--name", ONE, "-o", "one.png"], "ends in .svg or .html"),
        (["nowhere.json"], "is not there"),
        ([SETS, "--name", "sets/inner"], "no two sides to draw"),
    ],
)
def test_what_cannot_be_drawn_is_told_in_a_sentence(words, says):
    found = picture(*words)
    assert (found.exit_code, found.stdout) == (2, "")
    assert found.stderr.startswith("dovetail picture: ")
    assert says in found.stderr


def test_a_text_is_not_drawn_yet(tmp_path):
    file = tmp_path / "text.json"
    file.write_text(json.dumps({"dialect": "ksql", "text": "…", "inputs": {}}))
    assert "the dialect ksql is not yet supported" in picture(str(file)).stderr
