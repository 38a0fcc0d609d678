"""`dovetail run` as a process of its own: signals stop it, and nothing is lost."""

import signal

import pytest

from tests.spark.processes import SETTINGS, Process, batches

FILES = """\
checkpoint = "state"
{more}

[join]
type = "inner"
clock = "event"
hard = [["l.id", "r.id"]]
select = {{ id = "l.id" }}
[join.left]
from = "Left"
window = {{ range = {{ preceding = "1 minute", following = "1 minute" }} }}
[join.right]
from = "Right"
window = {{ range = {{ preceding = "1 minute" }} }}

[streams.Left]
file = "left"
time = "at"
columns = {{ id = "bigint", at = "timestamp" }}

[streams.Right]
file = "right"
time = "at"
columns = {{ id = "bigint", at = "timestamp" }}

[sinks.matched]
folder = "out"
"""
GOES_ON = "stopped: a later run goes on from there"
ENDS = 'trigger = "available"\nfinish = true'


class Feed:
    """Two folders that get a file each, of rows that nobody has had before."""

    def __init__(self, folder):
        self.folder, self.sent = folder, 0
        for side in ("left", "right"):
            (folder / side).mkdir()

    def put(self, count=30):
        rows = range(self.sent, self.sent + count)
        lines = [f"{one},2026-03-02T12:{one // 60:02}:{one % 60:02}Z" for one in rows]
        for side in ("left", "right"):
            made = self.folder / f"{side}.new"
            made.write_text("\n".join(["id,at", *lines, ""]))
            # At its place it stands whole.
            made.rename(self.folder / side / f"{self.sent:06}.csv")
        self.sent += count


def job(folder, more):
    (folder / "job.toml").write_text(f"{FILES}\n{SETTINGS}".format(more=more))


def ids(spark, folder):
    found = spark.read.parquet(str(folder / "out")).select("id").collect()
    return sorted(row.id for row in found)


@pytest.mark.wide
@pytest.mark.timeout(1200)
def test_signals_stop_a_job_and_a_later_run_goes_on(spark, tmp_path):
    feed = Feed(tmp_path)
    job(tmp_path, 'trigger = "1 second"\nfinish = false')
    # All of a group get it, as from a terminal: Spark's Java and its workers, too.
    for number, sign in enumerate((signal.SIGINT, signal.SIGTERM), start=1):
        feed.put()
        known = batches(tmp_path)
        with Process(tmp_path) as running:
            running.wait_until(lambda known=known: batches(tmp_path) > known)
            assert running.stopped_by(sign, everywhere=True) == 0, running.told
        assert running.told.count(GOES_ON) == number, running.told
        # Of SIGTERM Spark's Java dies itself, of which PySpark has a word to say.
        assert number > 1 or "Traceback" not in running.told
    feed.put()
    job(tmp_path, ENDS)
    with Process(tmp_path) as running:
        assert running.ended() == 0, running.told
    assert ids(spark, tmp_path) == [*range(feed.sent)]


@pytest.mark.timeout(1200)
def test_who_stops_a_job_while_spark_starts_is_heard(tmp_path):
    feed = Feed(tmp_path)
    feed.put()
    job(tmp_path, ENDS)
    with Process(tmp_path) as running:
        running.wait_until(lambda: [*tmp_path.glob("spark/*")])
        assert running.stopped_by(signal.SIGTERM) == 128 + signal.SIGTERM
    assert running.told.count(GOES_ON) == 1, running.told


@pytest.mark.timeout(1200)
@pytest.mark.parametrize(
    ("kept", "more", "says"),
    [
        ("", "", "a later run begins anew"),
        ('checkpoint = "state"', "finish = true", "a later run goes on from there"),
    ],
)
def test_a_replay_that_ends_is_told_of_and_can_be_stopped(tmp_path, kept, more, says):
    Feed(tmp_path).put(3600)
    played = FILES.replace("file =", "replay =").replace('checkpoint = "state"', kept)
    (tmp_path / "job.toml").write_text(f"{played}\n{SETTINGS}".format(more=more))
    with Process(tmp_path) as running:
        running.wait_until(lambda: "note: join: batch 0" in running.told)
        # Its last row comes after an hour: who waits for it is heard before.
        assert running.stopped_by(signal.SIGTERM) == 128 + signal.SIGTERM
    assert running.told.count(says) == 1, running.told
