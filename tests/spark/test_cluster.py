"""On a cluster whose executors are killed a query goes on, and its rows are exact."""

import os
import signal
import time
from random import Random

import pytest

from tests.chaos import cluster, killing
from tests.spark.rows import differences
from tests.spark.test_exactly_once import SLOW, committed, laid


def kill_executors(folder, workers, child, kills):
    """Kills executors while batches run; returns the batches in which it did."""
    random = Random(kills)
    met = []
    for _ in range(kills):
        wanted = committed(folder) + random.choice([0, 1, 2])
        assert killing.wait_for(lambda w=wanted: committed(folder) >= w, child, SLOW)
        time.sleep(random.random())
        assert killing.wait_for(lambda: cluster.executors(workers), child, SLOW)
        os.kill(random.choice(cluster.executors(workers)), signal.SIGKILL)
        met.append(committed(folder) + 1)
    return met


@pytest.mark.timeout(7200)
@pytest.mark.parametrize(
    ("name", "kills"),
    [
        pytest.param("nested", 5, marks=pytest.mark.wide),
        pytest.param("outer", 10, marks=pytest.mark.long),
        pytest.param("kept", 10, marks=pytest.mark.long),
    ],
)
def test_rows_are_exact_though_executors_are_killed(spark, tmp_path, name, kills):
    files = 2 * kills + 2
    laid(tmp_path, name, files, seed=kills)
    with cluster.standalone(tmp_path / "cluster") as (master, workers):
        (tmp_path / "master").write_text(master)
        child = killing.start("tests.chaos.query", tmp_path, tmp_path / "log")
        try:
            met = kill_executors(tmp_path, workers, child, kills)
            code = child.wait(SLOW)
        finally:
            killing.kill_session(child.pid)
    assert code == 0, (tmp_path / "log").read_text()[-4000:]
    # Each was killed before the last batch was through.
    assert max(met) <= committed(tmp_path)
    (tmp_path / "master").unlink()
    assert differences(spark, tmp_path, files, seed=kills) == {}
