"""Jobs in processes of their own, which are stopped, or die."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import dovetail as dt
from dovetail.engines.spark_session import BRIEF

# A machine that also does other things takes a minute to start a Spark.
PATIENCE = 300
SETTINGS = f"""\
[spark]
"spark.ui.enabled" = "false"
"spark.sql.shuffle.partitions" = 2
"spark.driver.extraJavaOptions" = "{BRIEF}"
"""
"""What a job file says, of which the Spark is to start soon."""

BROKER = Path(__file__).parents[2] / "scripts/broker"


def start_broker(folder, port):
    """Starts the broker of a folder."""
    subprocess.run([BROKER, "start", folder, str(port)], check=True)


class Process:
    """`dovetail run job.toml` in a folder, with all that it starts."""

    def __init__(self, folder, *words):
        self.folder = folder
        program = str(Path(sys.executable).with_name("dovetail"))
        env = {**os.environ, "PYTHONPATH": str(Path(dt.__file__).parents[1])}
        env.pop("SPARK_HOME", None)
        env["SPARK_LOCAL_DIRS"] = str(folder / "spark")
        # Into files: a pipe that nobody reads is full one day.
        with (folder / "out.log").open("ab") as out, self.log.open("ab") as log:
            self.running = subprocess.Popen(
                [program, "run", "job.toml", "--master", "local[2]", *words],
                cwd=folder,
                env=env,
                stdout=out,
                stderr=log,
                # Of its own group: it dies with its Java, as where a machine fails.
                start_new_session=True,
            )

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.running.poll() is None:
            self.die()

    @property
    def log(self):
        return self.folder / "err.log"

    @property
    def told(self):
        """What it, and those before it, have said."""
        return self.log.read_text()

    def die(self):
        """Ends it at once, with all that it has started."""
        os.killpg(self.running.pid, signal.SIGKILL)
        self.running.wait()

    def stopped_by(self, sign, *, everywhere=False):
        """Sends a signal, to its group as a terminal does, and returns its status."""
        (os.killpg if everywhere else os.kill)(self.running.pid, sign)
        return self.ended()

    def ended(self):
        """Waits for its end, and returns its status."""
        return self.running.wait(PATIENCE)

    def wait_until(self, has_come):
        """Waits for something, while it runs."""
        until = time.monotonic() + PATIENCE
        while not has_come():
            assert self.running.poll() is None, self.told
            assert time.monotonic() < until, self.told
            time.sleep(0.1)


def ran(folder, script):
    """Runs a program of Python in a process of its own, and returns how it ended."""
    (folder / "program.py").write_text(script)
    return subprocess.run(
        [sys.executable, "program.py"],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        env={
            **os.environ,
            "PYTHONPATH": str(Path(dt.__file__).parents[1]),
            "PYSPARK_PYTHON": sys.executable,
            # Workers start slowly on a machine that also does other things.
            "PYSPARK_SUBMIT_ARGS": "--master local[1] "
            "--conf spark.python.authenticate.socketTimeout=2m pyspark-shell",
        },
    )


def batches(folder):
    """The batches that a job has written, or begun to write."""
    return len([*folder.glob("out/batch=*")])
