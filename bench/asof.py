"""An as-of join of a batch: Dovetail, Spark's own ASOF JOIN, DuckDB.

Twice five million rows with equal keys: each left row with the last right row that is
not behind it. Spark's operator is behind a flag of its own. DuckDB reads the same files
and gives Arrow batches that are dropped.

    scripts/bench asof --rounds 3
    scripts/bench asof --rows 500000 --legs dovetail,spark
    scripts/bench asof --quick     little data: shows that it works, not how fast
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import DataFrame

import dovetail as dt
from bench.batch import (
    DuckLeg,
    Leg,
    Result,
    SparkLeg,
    agree,
    asked,
    duck,
    parquet,
    picked,
    ratio,
    session,
    told,
    turns,
)
from bench.data import kept

ROWS, QUICK = 5_000_000, 20_000
SIDES = "lr"
PER_KEY = 50
_START, _TIME = 1_700_000_000_000_000, pa.timestamp("us", "UTC")
FLAG = "spark.sql.join.asofJoin.enabled"
COLUMNS = {
    **{name: f"l.{name}" for name in ("key", "lid", "ts", "v")},
    "rid": "r.rid",
    "at": "r.ts",
    "price": "r.price",
}
_SHOWN = ", ".join(f"{text} AS {name}" for name, text in COLUMNS.items())
DUCK = f"SELECT {_SHOWN} FROM l ASOF JOIN r ON l.key = r.key AND l.ts >= r.ts"  # noqa: S608
SPARK = (
    f"SELECT {_SHOWN} FROM {{l}} AS l ASOF JOIN {{r}} AS r"  # noqa: S608
    " MATCH_CONDITION (l.ts >= r.ts) ON l.key = r.key"
)
# Not DuckDB's operator for it: the last of all right rows that are not behind.
TRUTH = (
    "SELECT l.key, lid, max_by(rid, r.ts) AS rid"
    " FROM l JOIN r ON l.key = r.key AND r.ts <= l.ts GROUP BY l.key, lid"
)


def dovetail(frames: Mapping[str, DataFrame]) -> DataFrame:
    """Returns the join as Dovetail does it."""
    left, right = (dt.dataset(frames[name], time="ts") for name in SIDES)
    nearest = dt.asof("l.ts", "r.ts")
    return left.join(right, on="key", asof=nearest, select=COLUMNS).matched


def spark(frames: Mapping[str, DataFrame]) -> DataFrame:
    """Returns the join as Spark does it, with its flag on."""
    session_of = frames[SIDES[0]].sparkSession
    session_of.conf.set(FLAG, "true")
    return session_of.sql(SPARK, **frames)


def made(rows: int) -> Path:
    """Returns the folder with both sides, written where it is not yet."""
    return kept(f"asof-{rows}", partial(_write, rows))


def _write(rows: int, folder: Path) -> None:
    """Writes both sides in the order of time; no two right rows of a key have one."""
    keys = max(1, rows // PER_KEY)
    for seed, (name, number, value) in enumerate(
        (("l", "lid", "v"), ("r", "rid", "price"))
    ):
        random = np.random.default_rng(seed)
        columns = {
            "key": random.integers(0, keys, rows),
            # Every microsecond of a day or so has one row at most.
            "ts": pa.array(_START + np.cumsum(random.integers(1, 40_000, rows)), _TIME),
            number: np.arange(rows),
            value: random.random(rows),
        }
        pq.write_table(pa.table(columns), folder / f"{name}.parquet")


def main() -> None:
    """Measures and prints a table, then one line of JSON."""
    wish = asked("asof", ROWS, QUICK)
    base, running = made(wish.rows), session(wish.rows / ROWS)
    frames, connection = parquet(running, base, SIDES), duck(base, SIDES)
    result = Result(TRUTH, ("key", "lid", "rid"), 2 * wish.rows)
    legs: dict[str, Leg] = {
        "dovetail": SparkLeg(partial(dovetail, frames), result),
        "spark": SparkLeg(partial(spark, frames), result),
        "duckdb": DuckLeg(connection, DUCK, result),
    }
    run = picked(legs, wish, always="dovetail")
    agree(run, connection)
    samples = turns(run, wish)
    running.stop()
    line = {
        f"vs_{name}": ratio(samples, "dovetail", name)
        for name in run
        if name != "dovetail"
    }
    told(f"As-of join, 2 x {wish.rows:,} rows", samples, line)


if __name__ == "__main__":
    main()
