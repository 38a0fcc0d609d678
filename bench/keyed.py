"""A keyed join of few left rows: against an index on disk, and against plain files.

The right side has some million rows, three for each key. `keyed` reads of its index
what the left keys need, `ordinary` joins the same rows as plain Parquet files by the
same spec, `spark` is Spark's own join of those files. All legs must agree on the
checksum of their rows before anything is measured; the left keys differ each time.

    scripts/bench keyed --rounds 5
    scripts/bench keyed --rows 20000000 --left 1000
    scripts/bench keyed --quick        little data: shows that it works, not how fast
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from itertools import count
from statistics import median

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - Spark's own name for it

from bench.data import CACHE
from bench.measure import Sample, figures, in_turns, median_rate, show
from dovetail.engines.spark_batch.arrivals import Arrivals
from dovetail.engines.spark_batch.join import join_batch
from dovetail.engines.spark_index.layout import (
    NoBuild,
    Sizes,
    Sorted,
    newest,
    opened,
    write_index,
)
from dovetail.engines.spark_index.reads import Read, Term, read_by_keys
from dovetail.engines.spark_session import FOR_MANY_ROWS, local_session
from dovetail.plan.batch import plan_batch
from dovetail.spec.defaults import with_defaults
from dovetail.spec.inputs import Outlet
from dovetail.spec.reader import read_inputs, read_join

ROWS, LEFT = 5_000_000, 100
QUICK, FEW = 20_000, 5
PER_KEY = 3
_RIGHT = {"key": "bigint", "name": "string", "v": "double", "seq": "bigint"}
INPUTS = read_inputs(
    {
        "L": {"kind": "dataset", "schema": {"id": "bigint"}},
        "R": {"kind": "dataset", "schema": _RIGHT},
    }
)
JOIN = with_defaults(
    read_join(
        {
            "left": {"from": "L"},
            "right": {"from": "R"},
            "type": "inner",
            "hard": [["l.id", "r.key"]],
            "select": {"id": "l.id", "name": "r.name", "seq": "r.seq"},
            "clock": "batch",
            "strategy": "keyed",
            "limit": {"n": 10_000, "on_exceed": "fail"},
        }
    ),
    INPUTS,
)
CHECK = (
    "count(*) AS pairs",
    "sum(CAST(xxhash64(id, name, seq) AS DECIMAL(38, 0))) AS sum",
)


Leg = Callable[["Ground", int], DataFrame]


@dataclass(frozen=True, slots=True)
class Ground:
    """The right side on disk, as an index and as plain files; so many left rows."""

    spark: SparkSession
    rows: int
    left_rows: int

    @property
    def folder(self) -> str:
        """Returns where the rows lie."""
        return str(CACHE / f"keyed-{self.rows}")

    @property
    def sizes(self) -> Sizes:
        """Returns how many rows a file has, fewer where there is little data."""
        return Sizes() if self.rows > QUICK else Sizes(file=1000, group=100)

    def make(self) -> None:
        """Writes the rows both ways where they are not there yet."""
        index = f"{self.folder}/index"
        if not isinstance(newest(self.spark, index), NoBuild):
            return
        rows = self.spark.range(self.rows).selectExpr(
            f"pmod(id * 7919, {self.rows // PER_KEY}) AS key",
            "concat('name ', id) AS name",
            "rand(1) AS v",
            "id AS seq",
        )
        files = -(-self.rows // self.sizes.file)
        plain = rows.repartition(files).write.mode("overwrite")
        plain.parquet(f"{self.folder}/plain")
        started = time.monotonic()
        placed = self.plain().withColumn("place", F.col("seq"))
        write_index(Sorted(placed, ("key",), ("place",)), index, sizes=self.sizes)
        print(
            f"the index was written in {time.monotonic() - started:.0f} s", flush=True
        )

    def plain(self) -> DataFrame:
        """Returns the rows in plain files."""
        return self.spark.read.parquet(f"{self.folder}/plain")

    def left(self, turn: int) -> DataFrame:
        """Returns the left rows of a turn; their keys lie all over."""
        text = f"pmod((id + {turn * self.left_rows}) * 104729, {self.rows // PER_KEY})"
        return self.spark.range(self.left_rows).selectExpr(f"{text} AS id")

    def read(self, turn: int) -> Read:
        """Returns what the left rows of a turn need of the index."""
        build = opened(self.spark, f"{self.folder}/index")
        left = self.left(turn).alias("l")
        return read_by_keys(left, [Term("key", F.col("l.id"))], build)


def joined(ground: Ground, turn: int, right: DataFrame) -> DataFrame:
    """Returns the keyed join of the left rows of a turn with right rows."""
    frames = {"L": Arrivals(ground.left(turn)), "R": Arrivals(right)}
    return join_batch(plan_batch(JOIN, INPUTS), frames).outlets[Outlet.MATCHED]


def keyed(ground: Ground, turn: int) -> DataFrame:
    """Returns the join with what is needed of the index."""
    return joined(ground, turn, ground.read(turn).frame)


def ordinary(ground: Ground, turn: int) -> DataFrame:
    """Returns the same join with all rows."""
    return joined(ground, turn, ground.plain())


def native(ground: Ground, turn: int) -> DataFrame:
    """Returns the pairs as Spark joins them, without a limit."""
    right = ground.plain().alias("r")
    met = ground.left(turn).alias("l").join(right, F.expr("l.id = r.key"))
    return met.selectExpr("l.id", "r.name", "r.seq")


LEGS: dict[str, Leg] = {"keyed": keyed, "ordinary": ordinary, "spark": native}


def checked(ground: Ground) -> int:
    """Warms every leg up and returns how many pairs all of them agree on."""
    found = {}
    for name, leg in LEGS.items():
        [told] = leg(ground, 0).selectExpr(*CHECK).collect()
        found[name] = (told["pairs"], str(told["sum"]))
    if len(set(found.values())) > 1:
        sys.exit(f"the legs do not agree: {json.dumps(found)}")
    return found["keyed"][0]


def run(ground: Ground, leg: Leg, turns: count[int]) -> int:
    """Runs a leg for the next left rows; returns how many rows both sides have."""
    leg(ground, next(turns)).write.format("noop").mode("append").save()
    return ground.rows + ground.left_rows


def asked() -> argparse.Namespace:
    """Returns what was asked on the command line."""
    parser = argparse.ArgumentParser(prog="scripts/bench keyed")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--rows", type=int, default=ROWS, help="of the right side")
    parser.add_argument("--left", type=int, default=LEFT, help="left rows")
    parser.add_argument("--quick", action="store_true", help="little data, one round")
    return parser.parse_args()


def walls(samples: list[Sample]) -> float:
    """Returns the median of seconds that a leg takes."""
    return round(median(sample.wall for sample in samples), 3)


def main() -> None:
    """Measures and prints a table, then one line of JSON."""
    told = asked()
    rows, few = (QUICK, FEW) if told.quick else (told.rows, told.left)
    ground = Ground(local_session(**FOR_MANY_ROWS), rows, few)
    ground.make()
    pairs = checked(ground)
    legs = {name: partial(run, ground, leg, count(1)) for name, leg in LEGS.items()}
    samples = in_turns(legs, 1 if told.quick else told.rounds)
    title = f"Keyed join, {ground.left_rows:,} left rows, {ground.rows:,} right rows"
    show(title, samples)
    read = ground.read(1)
    print(read.told())
    ground.spark.stop()
    own = median_rate(samples["keyed"])
    line = {
        **{f"vs_{name}": round(own / median_rate(samples[name]), 2) for name in LEGS},
        **{f"seconds_{name}": walls(samples[name]) for name in LEGS},
        "pairs_checked": pairs,
        "files": [read.parts.files, read.of.files],
        "row_groups": [read.parts.groups, read.of.groups],
        "legs": {name: figures(of_leg) for name, of_leg in samples.items()},
    }
    print(json.dumps(line))


if __name__ == "__main__":
    main()
