"""`dovetail new` writes first joins that run."""

import pytest
from typer.testing import CliRunner

from dovetail.cli.main import app
from dovetail.cli.new import Template


def run(*words):
    return CliRunner().invoke(app, list(map(str, words)))


@pytest.mark.parametrize("template", Template)
@pytest.mark.parametrize("engine", ["oracle", "local"])
def test_a_new_join_plays_as_it_says(template, engine, tmp_path):
    place = tmp_path / "first.json"
    assert run("new", template.value, place).exit_code == 0
    found = run("check", place, "--engine", engine)
    assert found.exit_code == 0, found.output
    assert "1 passed, 0 failed, 0 skipped" in found.output


def test_a_file_that_is_there_stays(tmp_path):
    place = tmp_path / "first.json"
    place.write_text("mine")
    found = run("new", "spl-join", place)
    assert found.exit_code == 2
    assert "is there; expected a file that is not" in " ".join(found.output.split())
    assert place.read_text() == "mine"
