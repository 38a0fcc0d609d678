"""The job files of examples give the rows that their comments promise."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from dovetail.cli.main import app

FOLDER = Path(__file__).parents[2] / "examples/jobs"
# An order within ten minutes before its payment; that of the third comes later.
PAID = [
    ["2026-11-25T10:03:30Z", "2", "B", "7.5"],
    ["2026-11-25T10:04:00Z", "1", "A", "30.0"],
]


def printed(name):
    """The rows that a run of an example prints, as words, in order."""
    found = CliRunner().invoke(app, ["run", str(FOLDER / name)])
    assert found.exit_code == 0, found.stderr
    lines = [line.split() for line in found.stdout.splitlines()]
    return sorted(line for line in lines if line and line[0][0].isdigit())


@pytest.mark.usefixtures("spark")
@pytest.mark.parametrize("name", ["paid.toml", "replay.toml"])
def test_orders_that_are_paid_in_time_are_printed(name):
    assert printed(name) == PAID


@pytest.mark.usefixtures("spark")
def test_titles_are_looked_up():
    assert printed("named.toml") == [
        ["1", "lamp", "3"],
        ["2", "chair", "1"],
        ["3", "lamp", "2"],
        ["4", "null", "5"],
    ]


@pytest.mark.usefixtures("spark")
def test_orders_that_nobody_pays_are_printed():
    assert printed("unpaid.toml") == [
        ["1", "30.0"],
        ["2", "7.5"],
        ["3", "A", "2", "2026-11-25T10:02:00Z"],
        ["4", "C", "5", "2026-11-25T10:09:00Z"],
    ]
