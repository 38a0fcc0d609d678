"""A result that changes, kept as it stands: dt.current beside what one writes oneself.

The result has a million rows, and each batch replaces some of them. `current` is
`dt.current`, which writes all rows anew in one of 16 batches, `always` the same in all
of them. The peer `rewrite` is the function that one would give as a sink: all rows but
the replaced ones, and the new ones, written into a folder a batch. The floor `append`
is `dt.folder`, which keeps the changes themselves. All but the floor must hold the same
rows before anything is measured.

`upsert` makes the records of `dt.kafka(.., upsert=True)`: of each key what a batch
leaves, for which Spark shuffles. Its floor `records` makes one of each change. No
broker takes them.

    scripts/bench current --rounds 16
    scripts/bench current --changes 50
    scripts/bench current --quick      little data: shows that it works, not how fast
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import tempfile
from dataclasses import dataclass, field
from itertools import count
from statistics import fmean

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - Spark's own name for it

import dovetail as dt
from bench.measure import Sample, figures, in_turns, show
from dovetail.engines.spark_session import FOR_MANY_ROWS, local_session

ROWS, CHANGES = 1_000_000, 2_000
QUICK, FEW = 4_000, 20
CHECK = (
    "count(*) AS rows",
    "sum(CAST(xxhash64(id, name, v) AS DECIMAL(38, 0))) AS sum",
)


@dataclass(frozen=True, slots=True)
class Ground:
    """The rows that a result begins with, and how many of them a batch replaces."""

    spark: SparkSession
    rows: int
    changes: int

    def batch(self, number: int) -> DataFrame:
        """Returns the changes of a batch: the first has all rows, the others few."""
        if not number:
            rows = self.spark.range(self.rows)
            return rows.selectExpr(*_row(0), "'insert' AS change")
        # Each row is replaced once in so many batches: what it was is known.
        first = (number - 1) * self.changes
        chosen = self.spark.range(first, first + self.changes)
        chosen = chosen.selectExpr(f"pmod(id * 7919, {self.rows}) AS id")
        old = chosen.selectExpr(*_row(0), "'update_before' AS change")
        new = chosen.selectExpr(*_row(number), "'update_after' AS change")
        return old.unionAll(new)


def _row(version: int) -> tuple[str, str, str]:
    """Returns the columns of a row as a batch has left it."""
    return "id", "concat('name ', id) AS name", f"id * 0.5 + {version} AS v"


@dataclass(slots=True)
class Rewrite:
    """What one would write oneself: all rows anew, by their key, a folder a batch."""

    folder: str
    newest: str = field(default="", init=False)

    def write(self, rows: DataFrame, batch: int, *, is_empty: bool) -> None:  # noqa: ARG002
        """Writes what stays and what comes."""
        comes = rows.where("change IN ('insert', 'update_after')").drop("change")
        if self.newest:
            known = rows.sparkSession.read.parquet(self.newest)
            gone = F.broadcast(rows.select("id").distinct())
            comes = comes.unionAll(known.join(gone, "id", "left_anti"))
        before, self.newest = self.newest, f"{self.folder}/{batch}"
        comes.write.mode("overwrite").parquet(self.newest)
        if before:
            shutil.rmtree(before)

    def read(self, spark: SparkSession) -> DataFrame:
        """Returns the rows."""
        return spark.read.parquet(self.newest)


@dataclass(frozen=True, slots=True)
class Records:
    """What a topic gets of a batch; nobody takes it."""

    topic: dt.Topic

    def write(self, rows: DataFrame, batch: int, *, is_empty: bool) -> None:  # noqa: ARG002
        """Makes the records."""
        self.topic.records(rows).write.format("noop").mode("overwrite").save()


Sink = Rewrite | Records | dt.Current | dt.Folder


@dataclass(frozen=True, slots=True)
class Leg:
    """One way to keep the result, and its batches so far."""

    sink: Sink
    ground: Ground
    turns: count[int]

    def run(self) -> int:
        """Writes the next batch; returns how many changes it had."""
        number = next(self.turns)
        rows = self.ground.batch(number)
        self.sink.write(rows, number, is_empty=False)
        return 2 * self.ground.changes


def asked() -> argparse.Namespace:
    """Returns what was asked on the command line."""
    parser = argparse.ArgumentParser(prog="scripts/bench current")
    parser.add_argument("--rounds", type=int, default=16)
    parser.add_argument("--rows", type=int, default=ROWS, help="of the result")
    parser.add_argument("--changes", type=int, default=CHANGES, help="rows a batch")
    parser.add_argument("--quick", action="store_true", help="little data, one round")
    return parser.parse_args()


def checked(legs: dict[str, Leg]) -> int:
    """Writes the first batches; returns the rows that all results agree on."""
    found = {}
    for name, leg in legs.items():
        for _ in range(2):
            leg.run()
        if isinstance(leg.sink, Rewrite | dt.Current):
            [told] = leg.sink.read(leg.ground.spark).selectExpr(*CHECK).collect()
            found[name] = (told["rows"], str(told["sum"]))
    if len(set(found.values())) > 1:
        sys.exit(f"the legs do not agree: {json.dumps(found)}")
    return found["current"][0]


def milliseconds(samples: list[Sample]) -> dict[str, int]:
    """Returns the mean milliseconds of a batch, by the clock and of CPUs."""
    return {
        "wall_ms": round(1000 * fmean(sample.wall for sample in samples)),
        "cpu_ms": round(1000 * fmean(sample.cpu for sample in samples)),
    }


def main() -> None:
    """Measures and prints a table, then one line of JSON."""
    told = asked()
    rows, few = (QUICK, FEW) if told.quick else (told.rows, told.changes)
    ground = Ground(local_session(**FOR_MANY_ROWS), rows, few)
    folder = tempfile.mkdtemp(prefix="dovetail-bench-")
    topic = {"servers": "nobody:1", "key": {"id": "bigint"}}
    sinks: dict[str, Sink] = {
        "current": dt.current(f"{folder}/current"),
        "always": dt.current(f"{folder}/always", every=1),
        "rewrite": Rewrite(f"{folder}/rewrite"),
        "append": dt.folder(f"{folder}/append"),
        "upsert": Records(dt.kafka("t", upsert=True, **topic)),
        "records": Records(dt.kafka("t", **topic)),
    }
    legs = {name: Leg(sink, ground, count()) for name, sink in sinks.items()}
    held = checked(legs)
    work = {name: leg.run for name, leg in legs.items()}
    samples = in_turns(work, 1 if told.quick else told.rounds)
    title = f"{2 * few:,} changes of a result of {rows:,} rows"
    took = {name: milliseconds(of_leg) for name, of_leg in samples.items()}
    facts = {
        name: {head: f"{value:,}" for head, value in of_leg.items()}
        for name, of_leg in took.items()
    }
    show(title, samples, facts)
    ground.spark.stop()
    shutil.rmtree(folder)
    line = {"checked": held, "changes": 2 * few, "batches": took}
    told_of = {name: figures(of_leg) for name, of_leg in samples.items()}
    print(json.dumps({**line, "legs": told_of}))


if __name__ == "__main__":
    main()
