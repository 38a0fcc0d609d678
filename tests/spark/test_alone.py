"""One run at a time on a checkpoint, whoever starts it: a command, or Python."""

import subprocess
import sys

import pytest

import dovetail as dt
from dovetail.api import alone
from dovetail.bind.jobs import Document, read_document
from dovetail.errors import DialectError, SpecError

HOLDS = """\
import fcntl, os, sys
held = os.open(sys.argv[1], os.O_RDONLY)
fcntl.flock(held, fcntl.LOCK_EX)
print("held", flush=True)
sys.stdin.read()
"""


def joined(spark):
    """A join of a stream with itself; rows come as long as it is up."""
    rate = spark.readStream.format("rate").option("rowsPerSecond", 1).load()
    side = dt.stream(rate, time="timestamp").window(dt.range(preceding="1 second"))
    return side.join(side, on="value", select={"value": "l.value"})


def in_sql(spark):
    """A text of two queries over one stream."""
    rate = spark.readStream.format("rate").option("rowsPerSecond", 1).load()
    text = """INSERT INTO a SELECT STREAM value AS n FROM rate;
        INSERT INTO b SELECT STREAM value + 1 AS n FROM rate;"""
    return dt.sql(text, {"rate": dt.stream(rate, time="timestamp")}, dialect="lenses")


def begun(made, folder, checkpoint):
    """The queries that a write starts."""
    if hasattr(made, "matched"):
        sinks = {"matched": dt.folder(folder / "m"), "checkpoint": checkpoint}
        return (made.write(**sinks),)
    into = {it: dt.folder(folder / it) for it in "ab"}
    return made.write(into, checkpoint=checkpoint)


@pytest.mark.parametrize("make", [joined, in_sql])
def test_two_writes_do_not_share_a_checkpoint(spark, tmp_path, make, monkeypatch):
    made, state = make(spark), tmp_path / "state"
    monkeypatch.setattr(alone, "_PATIENCE", 0)
    queries = begun(made, tmp_path / "one", state)
    told = "with which another run goes on now; expected one run at a time"
    try:
        for again in (state, f"file:{state}"):
            with pytest.raises(SpecError, match=told):
                begun(made, tmp_path / "two", again)
        # Another one's checkpoint is nobody's affair.
        for one in begun(made, tmp_path / "two", tmp_path / "other"):
            one.stop()
        (tmp_path / "job.toml").write_text(f'checkpoint = "{state}"')
        job = read_document(Document.read(tmp_path / "job.toml"), tmp_path)
        refused = pytest.raises(DialectError, match="another run goes on now")
        with refused as caught, alone.job_alone(job):
            pass
        assert caught.value.place.line == 1
        assert all(one.isActive for one in queries)
    finally:
        for one in queries:
            one.stop()
    # What has been stopped is no other run, however slowly it lets go.
    monkeypatch.setattr(alone, "_PATIENCE", 100)
    for one in begun(made, tmp_path / "one", state):
        one.stop()


def test_another_process_is_told_and_a_failed_start_lets_go(
    spark, tmp_path, monkeypatch
):
    made, state = joined(spark), tmp_path / "state"
    monkeypatch.setattr(alone, "_PATIENCE", 0)
    state.mkdir()
    other = subprocess.Popen(
        [sys.executable, "-c", HOLDS, state],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    try:
        assert other.stdout.readline() == b"held\n"
        with pytest.raises(SpecError, match="another run goes on now"):
            begun(made, tmp_path, state)
    finally:
        other.communicate()
    (tmp_path / "m/batch=0").mkdir(parents=True)
    (tmp_path / "m/batch=0/x").touch()
    for _ in range(2):
        with pytest.raises(SpecError, match="has rows of another query"):
            begun(made, tmp_path, state)
