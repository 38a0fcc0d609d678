"""A query that is killed again and again loses no row and writes none twice."""

import signal
import time
from collections import Counter
from random import Random

import pytest

import dovetail as dt
from dovetail.engines.spark_stream.checkpoint import read_checkpoint
from tests.chaos import events, killing, query
from tests.spark.rows import differences

SLOW = 400
"""Seconds after which a step of a child counts as hung, on a machine that is busy."""


def numbers(folder):
    """The batches that a log of the checkpoint has."""
    return [int(path.name) for path in folder.glob("[0-9]*") if path.name.isdigit()]


def committed(folder):
    return max(numbers(folder / "checkpoint/commits"), default=-1)


def written(folder, outlet):
    """The batches that an outlet's folder has in full."""
    told = folder.glob(f"{outlet}/batch=*/_SUCCESS")
    return {int(path.parent.name.removeprefix("batch=")) for path in told}


def run_child(folder, plan):
    """Runs the query until it is killed as planned; tells how it ended."""
    (folder / "started").unlink(missing_ok=True)
    before = committed(folder)
    if plan.get("between"):
        (folder / "between").write_text(str(before + 1 + plan["batches"]))
    child = killing.start("tests.chaos.query", folder, folder / "log")
    try:
        if plan.get("between") or not plan:
            killing.wait_for(lambda: child.poll() is not None, child, SLOW)
        else:
            _kill_later(folder, child, before, plan)
    finally:
        killing.kill_session(child.pid)
    return child.wait()


def _kill_later(folder, child, before, plan):
    """Kills after so many batches of this run and a part of the next one."""
    started = killing.wait_for((folder / "started").exists, child, SLOW)
    began = time.monotonic()
    wanted = before + plan["batches"]
    assert started, (folder / "log").read_text()[-4000:]
    assert killing.wait_for(lambda: committed(folder) >= wanted, child, SLOW)
    each = (time.monotonic() - began) / plan["batches"] if plan["batches"] else 6
    time.sleep(plan["part"] * min(each, 6))


def plans(kills, seed):
    """How each kill comes about; every third is between two outlets of a batch."""
    random = Random(seed)
    return [
        {
            "between": number % 3 == 2,
            "batches": random.choice([0, 1, 1]),
            "part": random.random(),
        }
        for number in range(kills)
    ]


def laid(folder, name, files, seed):
    """Lays the files of a join that shall be killed."""
    (folder / "shape").write_text(name)
    events.write(folder, query.SHAPES[name].letters, files, seed)


def chaos(folder, name, kills, seed):
    """Kills a query so many times, lets it end, and says what each kill met."""
    laid(folder, name, 2 * kills + 2, seed)
    met = Counter()
    first_outlet, second_outlet = query.SHAPES[name].outlets[:2]
    for plan in plans(kills, seed):
        known = written(folder, second_outlet)
        code = run_child(folder, plan)
        assert code == -signal.SIGKILL, (plan, (folder / "log").read_text()[-4000:])
        open_batch = committed(folder) + 1
        first = open_batch in written(folder, first_outlet)
        # A kill just before the commit leaves a batch that has all its outlets.
        second = open_batch in written(folder, second_outlet) - known
        # The first outlet has no folder for a batch in which it has no rows.
        is_between = plan["between"] or (first and not second)
        met["between" if is_between else "inside"] += 1
        assert not (plan["between"] and second), plan
    code = run_child(folder, {})
    assert code == 0, (folder / "log").read_text()[-4000:]
    return met


@pytest.mark.wide
@pytest.mark.timeout(1200)
def test_a_finish_that_is_killed_goes_on_to_the_same_rows(spark, tmp_path):
    laid(tmp_path, "outer", 1, seed=5)
    (tmp_path / "finish").touch()
    # Two batches read the two files; the third one finishes.
    (tmp_path / "between").write_text("2")
    code = run_child(tmp_path, {})
    assert code == -signal.SIGKILL, (tmp_path / "log").read_text()[-4000:]
    assert committed(tmp_path) == 1
    assert read_checkpoint(spark, str(tmp_path / "checkpoint")).is_ending
    joined = query.join(spark, tmp_path)
    with pytest.raises(dt.EngineError, match="stopped while it finished; expected fin"):
        query.write(joined, tmp_path)
    query.write(joined, tmp_path, finish=True).awaitTermination()
    assert committed(tmp_path) == 2
    assert differences(spark, tmp_path, 1, seed=5, finished=True) == {}
    for finish in (True, False, None):
        with pytest.raises(dt.EngineError, match="is of streams that have ended: the"):
            query.write(joined, tmp_path, finish=finish)


def kills(name, count, *marks):
    return pytest.param(name, count, marks=[*marks, pytest.mark.timeout(7200)])


@pytest.mark.parametrize(
    ("name", "count"),
    [
        kills("outer", 1, pytest.mark.narrow),
        kills("outer", 3, pytest.mark.wide),
        kills("kept", 1, pytest.mark.wide),
        kills("nested", 1, pytest.mark.wide),
        kills("taken_back", 1, pytest.mark.wide),
        kills("outer", 20, pytest.mark.long),
        kills("kept", 15, pytest.mark.long),
        kills("nested", 15, pytest.mark.long),
        kills("taken_back", 15, pytest.mark.long),
    ],
)
def test_every_outlet_is_exact_after_kills(spark, tmp_path, name, count):
    met = chaos(tmp_path, name, count, seed=count)
    assert met["between"] >= count // 3
    assert differences(spark, tmp_path, 2 * count + 2, seed=count) == {}
