"""Small batches on much state: milliseconds a batch, beside Spark's own join.

Each size fills the state of a join first, in large batches, as many rows a side as it
says, of as many keys, none of which leaves its window. Then the query starts again and
small batches come; these are measured, without the first ones. Legs of one size take
turns; the joins must agree on how many rows come out.

    scripts/bench state
    scripts/bench state --sizes 250000,1000000 --batch 20000 --kinds inner
    scripts/bench state --quick        little data: shows that it works, not how fast
"""

from __future__ import annotations

import argparse
import json
import shutil
import statistics
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - Spark's own name for it
from rich.console import Console
from rich.table import Table

from bench.data import SCHEMA, kept
from bench.interval import ROCKSDB, SPARK_ROCKSDB, dovetail, native, session
from bench.measure import measured

WINDOW = "1000000 seconds"
FILL = 250_000
"""So many rows a side has a batch that fills."""
WARM = 3
_START, _SECOND = 1_700_000_000, 1_000_000


@dataclass(frozen=True, slots=True)
class Data:
    """What comes: so many rows a side at first, then so many batches of so many."""

    kept: int
    batch: int
    batches: int

    @property
    def fills(self) -> int:
        """Returns in how many files the first rows come."""
        return -(-self.kept // FILL)

    def folder(self) -> Path:
        """Returns the folder with the folders `l` and `r`."""
        name = f"state-{self.kept}-{self.batch}x{self.batches}"
        return kept(name, self._write)

    def _write(self, folder: Path) -> None:
        """Writes both sides."""
        sizes = [self.kept // self.fills] * self.fills + [self.batch] * self.batches
        for seed, side in enumerate("lr", start=1):
            random = np.random.default_rng(seed)
            (folder / side).mkdir(parents=True)
            for number, rows in enumerate(sizes):
                moments = np.sort(random.integers(0, _SECOND, rows))
                moments += (_START + number) * _SECOND
                table = pa.table(
                    {
                        "key": pa.array(random.integers(0, self.kept, rows)),
                        "ts": pa.array(moments, pa.timestamp("us", "UTC")),
                        "v": pa.array(random.random(rows)),
                        "seq": pa.array(np.arange(rows)),
                    }
                )
                pq.write_table(table, folder / side / f"{number:04d}.parquet")


@dataclass(frozen=True, slots=True)
class Source:
    """Both sides' files, as far as they have come; one is a batch."""

    spark: SparkSession
    data: Data
    files: int

    def side(self, letter: str) -> DataFrame:
        """Returns one side as a stream."""
        names = ",".join(f"{number:04d}" for number in range(self.files))
        schema = ", ".join(f"{name} {kind}" for name, kind in SCHEMA.items())
        reader = self.spark.readStream.schema(schema).option("maxFilesPerTrigger", 1)
        return reader.parquet(f"{self.data.folder()}/{letter}/{{{names}}}.parquet")


@dataclass(frozen=True, slots=True)
class Leg:
    """One of the joins, and of which kind it is."""

    name: str
    kind: str

    def frame(self, source: Source) -> DataFrame:
        """Returns what comes out."""
        join = dovetail if self.name == "dovetail" else native
        return join(source, self.kind, WINDOW)

    @property
    def settings(self) -> dict[str, str]:
        """Returns what is set for it."""
        return ROCKSDB if self.name == "dovetail" else SPARK_ROCKSDB


@dataclass(frozen=True, slots=True)
class Cost:
    """What small batches of a leg cost: the middle one, the worst, CPU each."""

    size: int
    kind: str
    leg: str
    milliseconds: int
    worst: int
    first: int
    cpu_milliseconds: int
    fill_seconds: int
    pairs: int


def drained(leg: Leg, source: Source, checkpoint: str) -> list:
    """Runs a leg over the files that have come; returns what Spark tells of batches."""
    for name, value in leg.settings.items():
        source.spark.conf.set(name, value)
    frame = leg.frame(source).observe("check", F.count(F.lit(1)).alias("pairs"))
    writer = frame.writeStream.format("noop").option("checkpointLocation", checkpoint)
    query = writer.trigger(availableNow=True).start()
    query.awaitTermination()
    return [told for told in query.recentProgress if told.numInputRows]


def cost(leg: Leg, spark: SparkSession, data: Data) -> Cost:
    """Returns what a leg costs on a size."""
    checkpoint = tempfile.mkdtemp(prefix="dovetail-bench-")
    told: list = []

    def run(files: int) -> int:
        told[:] = drained(leg, Source(spark, data, files), checkpoint)
        return sum(one.numInputRows for one in told)

    filled = measured(partial(run, data.fills))
    took = measured(partial(run, data.fills + data.batches))
    shutil.rmtree(checkpoint)
    each = [one.durationMs["triggerExecution"] for one in told]
    return Cost(
        data.kept,
        leg.kind,
        leg.name,
        round(statistics.median(each[WARM:])),
        max(each[WARM:]),
        each[0],
        round(1000 * took.cpu / len(each)),
        round(filled.wall),
        sum(one.observedMetrics["check"].pairs for one in told),
    )


def costs(spark: SparkSession, asked: argparse.Namespace) -> Iterator[Cost]:
    """Gives what all legs cost, size by size."""
    for size in map(int, asked.sizes.split(",")):
        data = Data(size, asked.batch, asked.batches)
        for kind in asked.kinds.split(","):
            known = []
            for name in asked.legs.split(","):
                known.append(cost(Leg(name, kind), spark, data))
                print(json.dumps(asdict(known[-1])), flush=True)
            if len({one.pairs for one in known}) > 1:
                sys.exit("the joins do not agree on what comes out")
            yield from known


def show(batch: int, known: list[Cost]) -> None:
    """Prints what small batches cost as a table."""
    table = Table(title=f"Batches of 2 x {batch:,} rows, milliseconds")
    heads = ("rows a side", "kind", "leg", "median", "worst", "first", "CPU", "fill s")
    for name in heads:
        table.add_column(name, justify="right")
    for one in known:
        numbers = (one.milliseconds, one.worst, one.first, one.cpu_milliseconds)
        table.add_row(
            f"{one.size:,}",
            one.kind,
            one.leg,
            *map(str, numbers),
            str(one.fill_seconds),
        )
    Console(width=100).print(table)


def main() -> None:
    """Measures and prints a table, then one line of JSON."""
    parser = argparse.ArgumentParser(prog="scripts/bench state")
    parser.add_argument("--sizes", default="250000,1000000,4000000")
    parser.add_argument("--kinds", default="inner,left_outer")
    parser.add_argument("--legs", default="dovetail,rocksdb")
    parser.add_argument("--batch", type=int, default=2000)
    parser.add_argument("--batches", type=int, default=20)
    parser.add_argument("--quick", action="store_true", help="little data")
    asked = parser.parse_args()
    if asked.quick:
        asked.sizes, asked.kinds = "2000", "left_outer"
        asked.batch, asked.batches = 100, 5
    spark = session()
    spark.conf.set("spark.sql.streaming.numRecentProgressUpdates", 1000)
    # Who runs first would pay for Java, which compiles meanwhile.
    warm = argparse.Namespace(**{**vars(asked), "sizes": "20000"})
    for one in costs(spark, warm):
        print(f"warm: {one.kind} {one.leg} {one.milliseconds} ms", flush=True)
    known = list(costs(spark, asked))
    spark.stop()
    show(asked.batch, known)
    least, most = (
        {(one.kind, one.leg): one.milliseconds for one in known if one.size == size}
        for size in (min(one.size for one in known), max(one.size for one in known))
    )
    growth = {
        f"{k}_{leg}_growth": round(most[k, leg] / least[k, leg], 2) for k, leg in least
    }
    ours = {(one.size, one.kind, one.leg): one.milliseconds for one in known}
    beside = {
        f"{kind}_{size}_vs_rocksdb": round(of_leg / ours[size, kind, "rocksdb"], 2)
        for (size, kind, leg), of_leg in ours.items()
        if leg == "dovetail" and (size, kind, "rocksdb") in ours
    }
    print(json.dumps({**growth, **beside, "costs": list(map(asdict, known))}))


if __name__ == "__main__":
    main()
