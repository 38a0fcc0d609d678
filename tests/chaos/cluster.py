"""A standalone cluster of Spark: a master and two workers, out of the PySpark package.

Each is a process of its own, as are the executors that the workers start.
"""

import os
import re
import subprocess
import time
from contextlib import contextmanager
from pathlib import Path

import pyspark

from dovetail.engines.spark_session import BRIEF
from tests.chaos.killing import kill_session, members

HOME = Path(pyspark.__file__).parent
DEPLOY = "org.apache.spark.deploy"
EXECUTOR = b"CoarseGrainedExecutorBackend"
SOON = 120
"""Seconds within which a master or a worker has started, on a machine that is busy."""


@contextmanager
def standalone(folder, workers=2):
    """Runs a cluster; gives its master's address and the sessions of its workers."""
    folder.mkdir()
    started = []
    try:
        started.append(_start(folder / "master", f"{DEPLOY}.master.Master"))
        master = _told(folder / "master", r"Starting Spark master at (spark://\S+)")
        for number in range(workers):
            place = folder / f"worker{number}"
            options = ["--cores", "1", "--memory", "1g", "--work-dir", str(place)]
            place.mkdir()
            name = f"{DEPLOY}.worker.Worker"
            started.append(_start(place.with_suffix(".log"), name, *options, master))
            _told(place.with_suffix(".log"), r"(Successfully registered with master)")
        yield master, [worker.pid for worker in started[1:]]
    finally:
        for process in started:
            kill_session(process.pid)
            process.wait()


def executors(workers):
    """The executors that are alive, by the numbers of their processes."""
    alive = [number for worker in workers for number in members(worker)]
    return [number for number in alive if EXECUTOR in _command(number)]


def _start(log, name, *options):
    """Starts a part of the cluster in a session of its own, on any free ports."""
    command = [str(HOME / "bin/spark-class"), name, "--host", "127.0.0.1"]
    with log.open("wb") as out:
        return subprocess.Popen(
            [*command, "--port", "0", "--webui-port", "0", *options],
            stdout=out,
            stderr=out,
            start_new_session=True,
            env={
                **os.environ,
                "SPARK_HOME": str(HOME),
                "SPARK_LOCAL_IP": "127.0.0.1",
                "SPARK_DAEMON_JAVA_OPTS": BRIEF,
            },
        )


def _told(log, pattern):
    """What a log says once it says it."""
    ends = time.monotonic() + SOON
    while time.monotonic() < ends:
        found = re.search(pattern, log.read_text(errors="replace"))
        if found:
            return found.group(1)
        time.sleep(0.1)
    raise AssertionError(log.read_text(errors="replace")[-4000:])


def _command(number):
    """The command line of a process; nothing where it has ended."""
    try:
        return Path(f"/proc/{number}/cmdline").read_bytes()
    except OSError:
        return b""
