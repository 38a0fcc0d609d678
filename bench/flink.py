"""The joins of benchmarks in PyFlink: a program for its own environment.

PyFlink brings another Java and other versions of what we use, so it has a virtual
environment of its own, made where it is first asked for, and this file imports nothing
of ours there but what measures.

    python -m bench.flink interval FOLDER COUNT      joins FOLDER/l.csv and FOLDER/r.csv

prints what the join cost once Flink runs and has joined a little, as a line of JSON;
where COUNT is 1, what it joins is counted too. Other joins are changelog and lookup.
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
_SMALL_BATCHES = "table.exec.mini-batch.enabled"
_OPTIONS = {
    "parallelism.default": "2",
    "taskmanager.numberOfTaskSlots": "2",
    "state.backend.type": "hashmap",
    "pipeline.object-reuse": "true",
    "table.local-time-zone": "UTC",
    # Only the count is told of in small batches: a join takes each row by itself.
    _SMALL_BATCHES: "true",
    "table.exec.mini-batch.allow-latency": "2 s",
    "table.exec.mini-batch.size": "5000",
}
_TABLE = """
CREATE TEMPORARY TABLE {side}_{name} (
  key BIGINT, ms BIGINT, v DOUBLE, seq BIGINT, ts AS TO_TIMESTAMP_LTZ(ms + {ahead}, 3),
  WATERMARK FOR ts AS ts - INTERVAL '5' SECOND
) WITH ('connector' = 'filesystem', 'path' = '{path}', 'format' = 'csv')
"""
# The newest row of each key: to Flink a table with a key, whose rows have a time.
_NEWEST = """
CREATE TEMPORARY VIEW {side}_newest_{name} AS
SELECT key, ts, seq FROM (
  SELECT *, ROW_NUMBER() OVER (PARTITION BY key ORDER BY ts DESC) AS place
  FROM {side}_{name}
) WHERE place = 1
"""
AHEAD = 10
"""Seconds that the table of a lookup is ahead: no row waits for it at the end."""
_COLUMNS = "l.key, l.ts AS ts, l.seq AS lseq, r.seq AS rseq"
_JOINS = {
    "interval": """
SELECT {columns} FROM l_{name} AS l JOIN r_{name} AS r ON l.key = r.key
AND r.ts BETWEEN l.ts - INTERVAL '60' SECOND AND l.ts + INTERVAL '60' SECOND
""",
    # A time that is one to Flink may be in no join of tables: so it is cast.
    "changelog": """
SELECT l.key, l.moment AS ts, l.seq AS lseq, r.seq AS rseq
FROM (SELECT key, seq, CAST(ts AS TIMESTAMP(3)) AS moment FROM l_newest_{name}) AS l
JOIN (SELECT key, seq FROM r_newest_{name}) AS r ON l.key = r.key
""",
    "lookup": """
SELECT {columns} FROM l_{name} AS l
JOIN r_newest_{name} FOR SYSTEM_TIME AS OF l.ts AS r ON l.key = r.key
""",
}
_NOWHERE = """
CREATE TEMPORARY TABLE nowhere (
  key BIGINT, ts {time}, lseq BIGINT, rseq BIGINT
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


def joined(join: str, folder: Path, *, count: bool = False) -> tuple[Sample, int]:
    """Returns what a join of a folder's files cost, and its pairs if asked for."""
    words = [join, str(folder), str(int(count))]
    told = _run([str(environment()), "-m", __name__, *words])
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


def _query(join: str, name: str) -> str:
    """Returns a join of the tables of a name."""
    return _JOINS[join].format(name=name, columns=_COLUMNS)


def main(join: str, folder: Path, *, count: bool) -> None:
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
    is_table = join == "changelog"
    if is_table:
        # Else a key that changes twice in a batch would have changed once.
        tables.get_config().set(_SMALL_BATCHES, "false")
    kind = "TIMESTAMP(3)" if is_table else "TIMESTAMP_LTZ(3)"
    tables.execute_sql(_NOWHERE.format(time=kind))
    lines = {side: (folder / f"{side}.csv").read_text().splitlines() for side in "lr"}
    rows = sum(map(len, lines.values()))
    for side, some in lines.items():
        few = folder / f"{side}.few.csv"
        few.write_text("\n".join(some[:1000]))
        for name, path in (("few", few), ("all", folder / f"{side}.csv")):
            ahead = 1000 * AHEAD if (join, side) == ("lookup", "r") else 0
            place = {"path": path.as_uri(), "ahead": ahead}
            tables.execute_sql(_TABLE.format(side=side, name=name, **place))
            tables.execute_sql(_NEWEST.format(side=side, name=name))
    lines.clear()
    # The first job pays for what Flink and its compiler start with.
    tables.execute_sql(f"INSERT INTO nowhere {_query(join, 'few')}").wait()

    def work() -> int:
        tables.execute_sql(f"INSERT INTO nowhere {_query(join, 'all')}").wait()
        return rows

    told = asdict(measured(work))
    pairs = 0
    if count:
        tables.get_config().set(_SMALL_BATCHES, "true")
        counted = f"SELECT COUNT(*) FROM ({_query(join, 'all')})"  # noqa: S608
        with tables.execute_sql(counted).collect() as changes:
            # Each change replaces the number before it.
            *_, (pairs,) = changes
    print(json.dumps({**told, "pairs": pairs}))


if __name__ == "__main__":
    os.environ.setdefault("_JAVA_OPTIONS", "-Xmx3g")
    main(sys.argv[1], Path(sys.argv[2]), count=sys.argv[3] == "1")
