"""The demo shows what it says, and a query is followed to its end."""

import importlib.util
import io
import subprocess
import sys

import pytest
from pyspark.errors import StreamingQueryException
from pyspark.sql import Row
from rich.console import Console

import dovetail as dt
from dovetail.api.progress import Progress, SideProgress
from tests.house.source import TOP

DEMO = TOP / "examples/late_orders.py"
UNPAID = ["1004", "1010", "1014"]


@pytest.fixture(scope="module")
def screen(spark, tmp_path_factory):
    """What the demo prints to a pipe."""
    found = importlib.util.spec_from_file_location("late_orders", DEMO)
    demo = importlib.util.module_from_spec(found)
    found.loader.exec_module(demo)
    console = Console(file=io.StringIO(), width=88)
    demo.run(spark, tmp_path_factory.mktemp("demo"), console, 0)
    return console.file.getvalue()


def rows_of(screen, outlet):
    """The rows under an outlet's heading, as lists of words."""
    text = screen.rpartition(f"\n{outlet}  ")[2]
    rows = []
    for line in text.splitlines()[1:]:
        if line[:1].isalpha():
            break
        rows.append(line.split())
    return [row for row in rows if row and row[0].isdecimal()]


def test_every_row_is_in_the_outlet_that_the_story_says(screen):
    paid = [row[0] for row in rows_of(screen, "matched")]
    assert (len(paid), paid.count("1003"), paid[0]) == (15, 2, "1001")
    assert [row[0] for row in rows_of(screen, "left_unmatched")] == UNPAID
    assert [row[0] for row in rows_of(screen, "late")] == ["1010"]


def test_the_progress_ends_with_all_rows_counted(screen):
    counts = [[*map(int, row)] for row in rows_of(screen, "progress")]
    assert len(counts) == 7
    assert counts[-1] == [34, 15, 3, 1, 2]


def test_the_plan_is_told_and_the_end_says_where_to_go_on(screen):
    assert "alive for 30 minutes from its time (placed)" in screen
    assert screen.rstrip().endswith("the one idea behind every window.")
    assert "WARN" not in screen


def test_help_needs_no_spark():
    asked = [sys.executable, str(DEMO), "--help"]
    told = subprocess.run(asked, capture_output=True, text=True, check=True)
    assert "orders wait for their payments" in told.stdout
    assert "--pause SECONDS" in told.stdout


def batch(number, **counts):
    """One batch as Spark tells of it; without counts it had no rows."""
    metrics = {"dovetail.join": Row(**counts)}
    return {
        "batchId": number,
        "timestamp": "2026-03-02T10:00:00.000Z",
        "numInputRows": 0,
        "observedMetrics": metrics if counts else {},
    }


class Ended:
    """A query that has ended, for good or for ill."""

    isActive = False  # noqa: N815 - Spark's name

    def __init__(self, *batches, error=None):
        self.recentProgress = batches
        self.lastProgress = batches[-1] if batches else None
        self.error = error

    def awaitTermination(self):  # noqa: N802 - Spark's name
        if self.error:
            raise self.error


def test_counts_add_up_and_what_is_kept_does_not():
    first = batch(0, left_came=5, matched=1, left_alive=4, right_alive=1)
    second = batch(2, right_came=2, right_late=1, left_alive=2)
    *_, last = dt.follow(Ended(first, batch(1), first, second))
    left = SideProgress(came=5, alive=2)
    assert last == Progress(2, 1, left, SideProgress(came=2, late=1, alive=1))
    assert str(last) == ("batch 2: 7 rows in, 1 matched, 0 unmatched, 1 late, 3 kept")


def test_what_ended_a_query_badly_is_an_engine_error():
    broken = StreamingQueryException("the disk is full\n at somewhere")
    with pytest.raises(dt.EngineError) as caught:
        list(dt.follow(Ended(batch(0, left_came=1), error=broken)))
    assert (
        caught.value.found
        == "the stream broke: StreamingQueryException: the disk is full"
    )
    assert caught.value.__cause__ is broken


class Running(Ended):
    """A query that is seen to be active so many times; it counts readings."""

    def __init__(self, times, *batches):
        super().__init__(*batches)
        self.times, self.readings = times, 0

    @property
    def isActive(self):  # noqa: N802 - Spark's name
        self.times -= 1
        return self.times >= 0

    @property
    def recentProgress(self):  # noqa: N802 - Spark's name
        self.readings += 1
        return self.batches

    @recentProgress.setter
    def recentProgress(self, batches):  # noqa: N802 - Spark's name
        self.batches = batches


def test_a_running_query_is_looked_at_until_it_ends(monkeypatch):
    monkeypatch.setattr("dovetail.api.progress.PAUSE", 0)
    query = Running(2, batch(0, left_came=1))
    assert [one.came for one in dt.follow(query)] == [1]


def test_batches_are_read_again_only_where_there_is_a_new_one(monkeypatch):
    monkeypatch.setattr("dovetail.api.progress.PAUSE", 0)
    query = Running(9, batch(0, left_came=1), batch(1, left_came=2))
    assert [one.came for one in dt.follow(query)] == [1, 3]
    assert query.readings == 2  # to see that it is a query, and for both batches
    assert list(dt.follow(Running(9))) == []
