"""The interval join of `bench.interval` in PyFlink: a program for its own environment.

PyFlink brings another Java and other versions of what we use, so it has a virtual
environment of its own, made where it is first asked for, and this file imports nothing
of ours there but what measures.

    python -m bench.flink FOLDER COUNT      joins FOLDER/l.csv and FOLDER/r.csv

prints what the join cost once Flink runs and has joined a little, as a line of JSON;
where COUNT is 1, what it joins is counted as well.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import asdict
from pathlib import Path

from bench.measure import Sample, measured

VERSION = "2.3.0"
TOP = Path(__file__).parents[1]
HOME = TOP / ".cache" / "flink"
_MOST = 1800
_OPTIONS = {
    "parallelism.default": "2",
    "taskmanager.numberOfTaskSlots": "2",
    "state.backend.type": "hashmap",
    "pipeline.object-reuse": "true",
    "table.local-time-zone": "UTC",
    # Only the count is told of in small batches: a join takes each row by itself.
    "table.exec.mini-batch.enabled": "true",
    "table.exec.mini-batch.allow-latency": "2 s",
    "table.exec.mini-batch.size": "5000",
}
_TABLE = """
CREATE TEMPORARY TABLE {side}_{name} (
  key BIGINT, ms BIGINT, v DOUBLE, seq BIGINT, ts AS TO_TIMESTAMP_LTZ(ms, 3),
  WATERMARK FOR ts AS ts - INTERVAL '5' SECOND
) WITH ('connector' = 'filesystem', 'path' = '{path}', 'format' = 'csv')
"""
_JOIN = """
SELECT l.key, l.ts AS ts, l.seq AS lseq, r.seq AS rseq
FROM l_{name} AS l JOIN r_{name} AS r ON l.key = r.key
AND r.ts BETWEEN l.ts - INTERVAL '60' SECOND AND l.ts + INTERVAL '60' SECOND
"""
_NOWHERE = """
CREATE TEMPORARY TABLE nowhere (
  key BIGINT, ts TIMESTAMP_LTZ(3), lseq BIGINT, rseq BIGINT
) WITH ('connector' = 'blackhole')
"""


class MissingError(Exception):
    """PyFlink cannot be had here: its message says why."""


def environment() -> Path:
    """Returns the Python of PyFlink's environment, which is made where it is not."""
    python = HOME / "bin" / "python"
    if not (HOME / "made").exists():
        print(f"PyFlink {VERSION} is installed into {HOME}", flush=True)
        _run([sys.executable, "-m", "venv", str(HOME)])
        wanted = [f"apache-flink=={VERSION}", "rich"]
        _run([str(python), "-m", "pip", "install", "-q", *wanted])
        (HOME / "made").touch()
    return python


def joined(folder: Path, *, count: bool = False) -> tuple[Sample, int]:
    """Returns what the join of a folder's files cost, and its pairs if asked for."""
    told = _run([str(environment()), "-m", __name__, str(folder), str(int(count))])
    sample = json.loads(told.splitlines()[-1])
    pairs = sample.pop("pairs")
    return Sample(**sample), pairs


def _run(command: list[str]) -> str:
    """Returns what a program prints, or says that there is no PyFlink."""
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, check=True, timeout=_MOST, cwd=TOP
        )
    except (OSError, subprocess.SubprocessError) as error:
        said = (getattr(error, "stderr", "") or str(error)).strip().splitlines()
        raise MissingError(said[-1]) from error
    return done.stdout


def main(folder: Path, *, count: bool) -> None:
    """Joins the files and prints what it cost."""
    from pyflink.common import Configuration  # noqa: PLC0415 - its environment has it
    from pyflink.table import (  # noqa: PLC0415
        EnvironmentSettings,
        TableEnvironment,
    )

    options = Configuration()
    for name, value in _OPTIONS.items():
        options.set_string(name, value)
    made = EnvironmentSettings.new_instance().in_streaming_mode()
    tables = TableEnvironment.create(made.with_configuration(options).build())
    tables.execute_sql(_NOWHERE)
    lines = {side: (folder / f"{side}.csv").read_text().splitlines() for side in "lr"}
    rows = sum(map(len, lines.values()))
    for side, some in lines.items():
        few = folder / f"{side}.few.csv"
        few.write_text("\n".join(some[:1000]))
        for name, path in (("few", few), ("all", folder / f"{side}.csv")):
            tables.execute_sql(_TABLE.format(side=side, name=name, path=path.as_uri()))
    lines.clear()
    # The first job pays for what Flink and its compiler start with.
    tables.execute_sql(f"INSERT INTO nowhere {_JOIN.format(name='few')}").wait()

    def work() -> int:
        tables.execute_sql(f"INSERT INTO nowhere {_JOIN.format(name='all')}").wait()
        return rows

    told = asdict(measured(work))
    pairs = 0
    if count:
        counted = f"SELECT COUNT(*) FROM ({_JOIN.format(name='all')})"  # noqa: S608
        with tables.execute_sql(counted).collect() as changes:
            # Each change replaces the number before it.
            *_, (pairs,) = changes
    print(json.dumps({**told, "pairs": pairs}))


if __name__ == "__main__":
    os.environ.setdefault("_JAVA_OPTIONS", "-Xmx3g")
    main(Path(sys.argv[1]), count=sys.argv[2] == "1")
