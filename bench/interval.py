"""An interval join of two streams: Dovetail, Spark's own on two stores, the floor.

Both sides have equal keys and row times at most 60 seconds apart. All legs run on one
warm session with as many rows a trigger, two cores, two state partitions, a lateness
of 5 seconds and batches only where there is data. Dovetail carries all columns, and
Spark's joins carry those that come out. The floor reads, packs and
shuffles what Dovetail's operator would get, and drops it; `plain` packs the same
rows in a few plain lines of numpy, not as Dovetail does. `outer` is a left outer join,
`hot` has half its rows on one key, `near` the same join with keys that are all alike.
`wide` is the first join where rows have twenty more columns, which nobody reads.

    scripts/bench interval --rounds 3
    scripts/bench interval --legs flink     beside PyFlink, which it installs first
    scripts/bench interval --quick     little data: shows that it works, not how fast
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial, reduce
from itertools import pairwise
from typing import Any, Protocol

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - Spark's own name for it

import dovetail as dt
from bench import flink
from bench.data import Stretch, as_csv, made
from bench.measure import Sample, figures, in_turns, median_rate, show
from dovetail.api.joined import streaming_of
from dovetail.engines.kernel_settings import stream_settings
from dovetail.engines.spark_session import (
    BY_NAME,
    FOR_MANY_ROWS,
    MANAGER,
    local_session,
)
from dovetail.engines.spark_stream.dataflow import as_lines
from dovetail.engines.spark_stream.feeds import Buckets, packings
from dovetail.engines.spark_stream.labels import balanced_labels
from dovetail.engines.spark_stream.query import PER_PARTITION

PARTITIONS, REACH = 2, "60 seconds"
QUICK = Stretch(files=2, rows=1000, keys=100, seconds=100)
STATE = "spark.sql.streaming.stateStore"
PROVIDER = "org.apache.spark.sql.execution.streaming.state.{}StateStoreProvider"
VERSION = f"{STATE}.checkpointFormatVersion"
FORMAT = "spark.sql.streaming.join.stateFormatVersion"
_ROCKSDB = {f"{STATE}.providerClass": PROVIDER.format("RocksDB"), VERSION: "2"}
_ON_HEAP = {f"{STATE}.providerClass": PROVIDER.format("HDFSBacked"), VERSION: "1"}
_AS_SPARK = {MANAGER: BY_NAME.replace("FileSystem", "FileContext")}
"""How Spark renames files where nobody says another way; `write` does."""
ROCKSDB = {**_ROCKSDB, MANAGER: BY_NAME}
SPARK_ROCKSDB = {**_ROCKSDB, **_AS_SPARK, FORMAT: "4"}
SPARK_HDFS = {**_ON_HEAP, **_AS_SPARK, FORMAT: "2"}
MORE = 20
SELECT = {"key": "l.key", "ts": "l.ts", "lseq": "l.seq", "rseq": "r.seq"}
CHECK = (
    "count(*) AS pairs",
    "sum(CAST(xxhash64(key, ts, lseq, rseq) AS DECIMAL(38, 0))) AS sum",
)


@dataclass(frozen=True, slots=True)
class Source:
    """The two sides' files: so many in all, and so many a trigger."""

    spark: SparkSession
    stretch: Stretch
    each: int
    files: int

    def side(self, letter: str) -> DataFrame:
        """Returns one side as a stream."""
        names = ",".join(f"{number:04d}" for number in range(self.files))
        columns = self.stretch.schema.items()
        schema = ", ".join(f"{name} {kind}" for name, kind in columns)
        reader = self.spark.readStream.schema(schema)
        path = f"{made(self.stretch)}/{letter}/{{{names}}}.parquet"
        return reader.option("maxFilesPerTrigger", self.each).parquet(path)


@dataclass(frozen=True, slots=True)
class Leg:
    """One way to do it: the frame to drain, what to set, how many files it gets.

    What gives other pairs than the rest is `apart`: no check compares it. A part of the
    rows it reads, `hot`, has one key; they have so many `more` columns.
    """

    frame: Callable[[Source], DataFrame]
    settings: dict[str, str]
    files: int
    apart: bool = False
    hot: float = 0.0
    more: int = 0

    def source(self, spark: SparkSession, stretch: Stretch, each: int) -> Source:
        """Returns what the leg reads."""
        own = replace(stretch, hot=self.hot, more=self.more)
        return Source(spark, own, each, self.files)


class Sides(Protocol):
    """Whoever has both sides of a join."""

    def side(self, letter: str) -> DataFrame:
        """Returns one side as a stream."""


def joined(source: Sides, kind: str = "inner", reach: str = REACH) -> dt.Joined:
    """Returns a join of a kind, as a user writes it, whose rows are so far apart."""
    left, right = (
        dt.stream(source.side(letter), time="ts", lateness="5 seconds").window(
            dt.range(preceding=reach)
        )
        for letter in "lr"
    )
    return left.join(right, on="key", how=kind, select=SELECT)


def dovetail(source: Sides, kind: str = "inner", reach: str = REACH) -> DataFrame:
    """Returns the rows of such a join."""
    return joined(source, kind, reach).matched


def native(source: Sides, kind: str = "inner", reach: str = REACH) -> DataFrame:
    """Returns the join as Spark does it."""
    left, right = (
        source.side(letter).withWatermark("ts", "5 seconds").alias(letter)
        for letter in "lr"
    )
    near = f"r.ts BETWEEN l.ts - INTERVAL {reach} AND l.ts + INTERVAL {reach}"
    pairs = left.join(right, F.expr(f"l.key = r.key AND {near}"), kind)
    return pairs.selectExpr("l.key", "l.ts", "l.seq AS lseq", "r.seq AS rseq")


def floor(source: Sides, join: Callable[[Any], dt.Joined] = joined) -> DataFrame:
    """Returns the packed lines of both sides, shuffled as for the operator."""
    laid = streaming_of(join(source))
    buckets = PER_PARTITION * PARTITIONS
    spread = Buckets(balanced_labels(buckets, PARTITIONS), buckets)
    left, right = laid.frames
    assert isinstance(left, DataFrame)  # noqa: S101 - no join stands inside
    assert isinstance(right, DataFrame)  # noqa: S101
    packed = packings(laid.plan, stream_settings(laid.plan), (left, right), spread)
    ours, theirs = map(as_lines, packed)
    return ours.unionAll(theirs).repartition(PARTITIONS, "bucket")


def plain(source: Sides) -> DataFrame:
    """Returns rows packed by key as anybody would do it first, and shuffled."""

    def pack(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        parts: dict[int, list[pa.RecordBatch]] = {}
        for batch in batches:
            buckets = batch.column("key").to_numpy() % (PER_PARTITION * PARTITIONS)
            order = np.argsort(buckets, kind="stable")
            rows, edges = batch.take(order), np.flatnonzero(np.diff(buckets[order])) + 1
            for start, past in pairwise([0, *edges.tolist(), len(order)]):
                one = parts.setdefault(int(buckets[order[start]]), [])
                one.append(rows.slice(start, past - start))
        for bucket, some in parts.items():
            sink = pa.BufferOutputStream()
            with pa.ipc.new_stream(sink, some[0].schema) as writer:
                writer.write_batch(pa.concat_batches(some))
            yield pa.RecordBatch.from_pydict(
                {"bucket": [bucket], "blob": [sink.getvalue().to_pybytes()]}
            )

    lines = (
        source.side(it).mapInArrow(pack, "bucket bigint, blob binary") for it in "lr"
    )
    return reduce(DataFrame.unionAll, lines).repartition(PARTITIONS, "bucket")


def legs(files: int, rocksdb_files: int) -> dict[str, Leg]:
    """Returns all legs; Spark's join on RocksDB is slow, so it may get fewer files.

    Where half the rows have one key each meets all that are near: so those lie nearer,
    and beside them stands the same with keys that are all alike.
    """
    outer = partial(dovetail, kind="left_outer")
    near = partial(dovetail, reach="1 millisecond")
    return {
        "dovetail": Leg(dovetail, ROCKSDB, files),
        "rocksdb": Leg(native, SPARK_ROCKSDB, rocksdb_files),
        "hdfs": Leg(native, SPARK_HDFS, files),
        "floor": Leg(floor, ROCKSDB, files, apart=True),
        "plain": Leg(plain, ROCKSDB, files, apart=True),
        "outer": Leg(outer, ROCKSDB, files, apart=True),
        "near": Leg(near, ROCKSDB, files, apart=True),
        "hot": Leg(near, ROCKSDB, files, apart=True, hot=0.5),
        "wide": Leg(dovetail, ROCKSDB, files, more=MORE),
    }


def drained(leg: Leg, source: Source, checks: tuple[str, ...] = ()) -> dict[str, int]:
    """Runs a leg to its end; returns the rows read, and what `checks` say of pairs."""
    for name, value in leg.settings.items():
        source.spark.conf.set(name, value)
    frame = leg.frame(source)
    if checks:
        frame = frame.observe("check", *map(F.expr, checks))
    folder = tempfile.mkdtemp(prefix="dovetail-bench-")
    writer = frame.writeStream.format("noop").option("checkpointLocation", folder)
    query = writer.trigger(availableNow=True).start()
    query.awaitTermination()
    shutil.rmtree(folder)
    told = {"rows": 0, "pairs": 0, "sum": 0}
    for progress in query.recentProgress:
        told["rows"] += progress.numInputRows
        seen = progress.observedMetrics.get("check")
        told["pairs"] += seen.pairs if seen else 0
        told["sum"] += int(seen.sum or 0) if seen else 0
    return told


def checked(
    all_legs: dict[str, Leg],
    source: Callable[[Leg], Source],
    checks: tuple[str, ...] = CHECK,
) -> int:
    """Warms every leg up and returns how many pairs all joins agree on."""
    found = {
        name: drained(leg, source(leg), () if leg.apart else checks)
        for name, leg in all_legs.items()
    }
    joins = [told for name, told in found.items() if not all_legs[name].apart]
    if any(told != joins[0] for told in joins):
        sys.exit(f"the legs do not agree: {json.dumps(found)}")
    return joins[0]["pairs"]


def session() -> SparkSession:
    """Returns a session that all legs share."""
    # The HDFS-backed store keeps all state on the heap, twice.
    os.environ["PYSPARK_SUBMIT_ARGS"] = "--driver-memory 3g pyspark-shell"
    spark = local_session(**FOR_MANY_ROWS)
    # Spark's own joins run one more batch without data, which costs and gives nothing.
    spark.conf.set("spark.sql.streaming.noDataMicroBatches.enabled", "false")
    spark.conf.set("spark.sql.shuffle.partitions", PARTITIONS)
    return spark


def ratios(samples: dict[str, list[Sample]]) -> dict[str, float]:
    """Returns how Dovetail compares with each other leg, in rows per CPU second."""
    own = median_rate(samples["dovetail"])
    return {
        f"vs_{name}": round(own / median_rate(of_leg), 3)
        for name, of_leg in samples.items()
        if name != "dovetail"
    }


def asked(name: str) -> argparse.Namespace:
    """Returns what was asked of a benchmark on the command line."""
    parser = argparse.ArgumentParser(prog=f"scripts/bench {name}")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--quick", action="store_true", help="little data, one round")
    parser.add_argument("--legs", default="", help="only these, with commas between")
    parser.add_argument("--files-per-trigger", type=int, default=5)
    return parser.parse_args()


def chosen(names: str, all_legs: dict[str, Leg]) -> dict[str, Leg]:
    """Returns the named legs, all where none is named; Dovetail's is always there."""
    wanted = {"dovetail", *names.split(",")}
    return {name: leg for name, leg in all_legs.items() if not names or name in wanted}


def beside_flink(
    join: str, stretch: Stretch, files: int, pairs: int
) -> Callable[[], Sample]:
    """Returns a join in PyFlink, once it has found as many pairs in so many files."""
    _, found = flink.joined(join, as_csv(stretch, files), count=True)
    if found != pairs:
        sys.exit(
            f"the legs do not agree: PyFlink finds {found} pairs, all else {pairs}"
        )
    return lambda: flink.joined(join, as_csv(stretch, stretch.files))[0]


def compared(
    name: str,
    title: str,
    made_of: Callable[[int], dict[str, Leg]],
    *,
    sides: int = 2,
    checks: tuple[str, ...] = CHECK,
) -> None:
    """Measures legs over so many files; prints a table, then one line of JSON."""
    told = asked(name)
    stretch = QUICK if told.quick else Stretch()
    each = min(told.files_per_trigger, stretch.files // 2)
    run = chosen(told.legs, made_of(stretch.files))
    beside = "flink" in told.legs
    spark = session()
    half = stretch.files // 2
    pairs = checked(
        run, lambda leg: replace(leg, files=half).source(spark, stretch, each), checks
    )
    work: dict[str, Callable[[], int | Sample]] = {
        name: partial(_rows, leg, leg.source(spark, stretch, each))
        for name, leg in run.items()
    }
    if beside:
        work["flink"] = beside_flink("interval", stretch, half, pairs)
    samples = in_turns(work, 1 if told.quick else told.rounds)
    rows = sides * each * stretch.rows
    show(f"{title}, {rows:,} rows a trigger", samples)
    spark.stop()
    told_of = {name: figures(of_leg) for name, of_leg in samples.items()}
    line = {**ratios(samples), "rows_per_trigger": rows, "pairs_checked": pairs}
    print(json.dumps({**line, "rounds": told.rounds, "legs": told_of}))


def main() -> None:
    """Measures all legs of interval joins."""
    compared("interval", "Interval join", lambda files: legs(files, files // 2))


def _rows(leg: Leg, source: Source) -> int:
    """Runs a leg to its end; returns the rows read."""
    return drained(leg, source)["rows"]


if __name__ == "__main__":
    main()
