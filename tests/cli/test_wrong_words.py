"""What a shell gets wrong is told in a sentence with a hint, and has a status."""

import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

import dovetail as dt
from dovetail.cli.main import app

COMMANDS = ("check", "explain", "picture", "run", "translate")
PROGRAM = "r := RECORD STRING id; STRING name; END;\nOUTPUT(DATASET('people', r, CSV));"
LATIN = "id,name\n1,René\n".encode("latin-1")
NO_FILE = "a path that is not whole begins where the command runs"

WRONG = {
    "check nope.json": ('"nope.json" is not there', NO_FILE),
    "check empty": ("is a folder without a file that ends in .json", NO_FILE),
    "check people.ecl": ("is no JSON", "programs in ECL end in .ecl"),
    "explain nope.json": ('"nope.json" is not there', NO_FILE),
    "explain nope.ecl": ('"nope.ecl" cannot be read', NO_FILE),
    "explain people.ecl --files nope": ('"nope" is no folder', "begins where"),
    "picture nope.json": ('"nope.json" is not there', NO_FILE),
    "translate nope.ecl": ('"nope.ecl" cannot be read', NO_FILE),
    "translate people.ecl --files nope": ('"nope" is no folder', "begins where"),
    "run nope.ecl": ('"nope.ecl" cannot be read', NO_FILE),
    "run nope.json": ('"nope.json" is no program', "dovetail check plays cases"),
    "run people.ecl --files nope": ('"nope" is no folder', "begins where"),
    "run people.ecl --files . --engine local": ("0xE9, which is no UTF-8", "iconv"),
    "run people.ecl --format csv": ("--format without --output", "--output says"),
}


@pytest.fixture
def here(tmp_path, monkeypatch):
    (tmp_path / "people.ecl").write_text(PROGRAM)
    (tmp_path / "people.csv").write_bytes(LATIN)
    (tmp_path / "empty").mkdir()
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize("words", WRONG)
def test_wrong_words_are_told_in_a_sentence(words):
    found = CliRunner().invoke(app, words.split())
    said, hint = WRONG[words]
    command = words.split()[0]
    assert found.exit_code == 2
    assert found.stderr.startswith(f"dovetail {command}: ")
    assert said in found.stderr
    assert hint in found.stderr.partition("hint: ")[2]


def test_an_output_that_cannot_be_written_is_told(here):
    (here / "people.csv").write_text("id,name\n1,Ren\n")
    (here / "taken").write_text("a file")
    words = "run people.ecl --files . --engine local --output"
    places = {"/proc/nope": (1, "cannot be written"), "taken/deeper": (2, '/taken" is')}
    for place, (code, told) in places.items():
        found = CliRunner().invoke(app, [*words.split(), place])
        assert found.exit_code == code
        assert told in found.stderr
        assert "hint: --output takes another folder" in found.stderr


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize("words", ["--help", "new spl-join"])
def test_a_full_disk_is_told_in_a_sentence(words):
    program = "from dovetail.cli import main; main()"
    with Path("/dev/full").open("w") as full:
        ran = subprocess.run(
            [sys.executable, "-c", program, *words.split()],
            stdout=full,
            stderr=subprocess.PIPE,
            check=False,
        )
    assert ran.returncode == 1
    told = "dovetail: what is printed has no place: No space left on device\n"
    assert ran.stderr.decode() == told


def test_the_version_is_that_of_the_package():
    found = CliRunner().invoke(app, ["--version"])
    assert (found.exit_code, found.stdout) == (0, f"dovetail {dt.__version__}\n")


@pytest.mark.parametrize("command", ["", *COMMANDS])
def test_help_is_asked_for_with_one_letter(command):
    found = CliRunner().invoke(app, [*command.split(), "-h"])
    assert found.exit_code == 0
    assert f"Usage: root {command}".strip() in found.stdout
