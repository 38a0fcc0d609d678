"""First and nearly empty batches of a stream join: Dovetail, and Spark's own join.

All legs join the same two streams, 20 rows a side and batch, state in RocksDB, on two
cores. `written` is what a user runs, `write` into a folder; `noop` drops what comes
out; `spark` and `spark_written` are Spark's own join into the same two places.

*cold* is a fresh session: seconds from building the join until the first batch is
through. *warm* is the same where every leg has run once. *batch* are the milliseconds
of later batches, *cpu* the CPU seconds of the process tree for each.

    scripts/bench empty --rounds 3
    scripts/bench empty --partitions 8,64,256    what more partitions cost a batch
    scripts/bench empty --quick     few batches, no fresh session: shows that it works
"""

from __future__ import annotations

import argparse
import json
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

from pyspark.sql import DataFrame
from pyspark.sql.streaming.query import StreamingQuery
from rich.console import Console
from rich.table import Table

import dovetail as dt
from bench.data import Stretch
from bench.interval import (
    FORMAT,
    ROCKSDB,
    SPARK_ROCKSDB,
    Source,
    dovetail,
    joined,
    native,
    session,
)
from bench.measure import cpu_seconds
from dovetail.engines.spark_stream.query import PER_PARTITION

ROWS, SETTLED = 20, 3
"""Rows of a side in a batch, and how many batches pass before they are measured."""


@dataclass(frozen=True, slots=True)
class Ran:
    """One query: seconds to its first batch, milliseconds and CPU seconds of later."""

    first: float
    batches: list[float]
    cpu: float


def written(source: Source, place: str, partitions: int = 0) -> StreamingQuery:
    """Starts the join as a user does, into a folder."""
    return joined(source).write(
        matched=dt.folder(f"{place}/matched"),
        checkpoint=f"{place}/checkpoint",
        trigger={"availableNow": True},
        partitions=partitions or None,
    )


def noop(source: Source, place: str) -> StreamingQuery:
    """Starts the join into nothing."""
    return _dropped(dovetail(source), place)


def spark(source: Source, place: str) -> StreamingQuery:
    """Starts Spark's own join into nothing."""
    return _dropped(native(source), place)


def spark_written(source: Source, place: str) -> StreamingQuery:
    """Starts Spark's own join into a folder."""
    writer = native(source).writeStream.format("parquet")
    writer = writer.option("checkpointLocation", f"{place}/checkpoint")
    return writer.trigger(availableNow=True).start(f"{place}/matched")


def _dropped(frame: DataFrame, place: str) -> StreamingQuery:
    """Starts a frame into nothing."""
    writer = frame.writeStream.format("noop")
    writer = writer.option("checkpointLocation", f"{place}/checkpoint")
    return writer.trigger(availableNow=True).start()


Leg = tuple[Callable[[Source, str], StreamingQuery], dict[str, str]]
LEGS: dict[str, Leg] = {
    "written": (written, ROCKSDB),
    "noop": (noop, ROCKSDB),
    "spark": (spark, SPARK_ROCKSDB),
    "spark_written": (spark_written, SPARK_ROCKSDB),
    "spark_by_name": (spark_written, {**ROCKSDB, FORMAT: "4"}),
}


def ran(leg: Leg, source: Source) -> Ran:
    """Runs a leg to its end."""
    begin, settings = leg
    for name, value in settings.items():
        source.spark.conf.set(name, value)
    place = tempfile.mkdtemp(prefix="dovetail-bench-")
    began = time.monotonic()
    query = begin(source, place)
    while not query.lastProgress and query.isActive:
        time.sleep(0.01)
    first, used = time.monotonic() - began, cpu_seconds()
    query.awaitTermination()
    batches = [told.durationMs["triggerExecution"] for told in query.recentProgress]
    shutil.rmtree(place)
    return Ran(
        first, batches[SETTLED:], (cpu_seconds() - used) / max(1, len(batches) - 1)
    )


def in_session(names: list[str], rounds: int, batches: int) -> dict[str, list[Ran]]:
    """Returns what the legs took, in turns on one session: the first round is cold."""
    stretch = Stretch(files=batches, rows=ROWS, keys=100, seconds=20 * batches)
    source = Source(session(), stretch, 1, batches)
    few = replace(source, files=2)
    told: dict[str, list[Ran]] = {name: [] for name in names}
    for turn in range(rounds + 1):
        for name in names[turn % len(names) :] + names[: turn % len(names)]:
            told[name].append(ran(LEGS[name], source if turn else few))
            print(f"round {turn}: {name} {told[name][-1].first:.2f} s", flush=True)
    source.spark.stop()
    return told


def over_partitions(counts: list[int]) -> None:
    """Prints what a nearly empty batch costs in so many partitions."""
    batches = SETTLED + 3
    stretch = Stretch(files=batches, rows=ROWS, keys=100, seconds=20 * batches)
    source = Source(session(), stretch, 1, batches)
    ran(LEGS["written"], replace(source, files=2))
    lines = []
    for count in counts:
        told = ran((partial(written, partitions=count), ROCKSDB), source)
        lines.append(
            {
                "partitions": count,
                "tasks": 2 + count,
                "lines": 2 * count * PER_PARTITION,
                "batch_ms": round(statistics.median(told.batches)),
                "batch_cpu_s": round(told.cpu, 2),
            }
        )
        print(json.dumps(lines[-1]), flush=True)
    source.spark.stop()
    print(json.dumps({"by_partitions": lines}))


def cold(name: str) -> float:
    """Returns the seconds to the first batch in a process of its own."""
    command = [sys.executable, "-m", "bench.empty", "--cold", name]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return float(json.loads(done.stdout.splitlines()[-1]))


def asked() -> argparse.Namespace:
    """Returns what was asked on the command line."""
    parser = argparse.ArgumentParser(prog="scripts/bench empty")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--batches", type=int, default=20, help="of each warm query")
    parser.add_argument("--quick", action="store_true", help="few batches, one round")
    parser.add_argument("--partitions", default="", help="with commas between")
    parser.add_argument("--legs", default=",".join(LEGS), help="with commas between")
    parser.add_argument("--cold", default="", help=argparse.SUPPRESS)
    return parser.parse_args()


def main() -> None:
    """Measures and prints a table, then one line of JSON."""
    told = asked()
    if told.cold:
        print(json.dumps(in_session([told.cold], 0, 2)[told.cold][0].first))
        return
    if told.partitions:
        over_partitions([int(count) for count in told.partitions.split(",")])
        return
    names = told.legs.split(",")
    rounds, batches = (1, SETTLED + 2) if told.quick else (told.rounds, told.batches)
    # A session for each leg and round takes longest by far.
    colds = {
        name: [cold(name) for _ in range(0 if told.quick else rounds)] for name in names
    }
    warm = in_session(names, rounds, batches)
    lines = {name: _figures(colds[name], warm[name][1:]) for name in names}
    table = Table("leg", *lines[names[0]], title="First and nearly empty batches")
    for name, line in lines.items():
        table.add_row(name, *map(str, line.values()))
    Console(width=96).print(table)
    print(json.dumps({"rounds": rounds, "legs": lines}))


def _figures(colds: list[float], warm: list[Ran]) -> dict[str, float]:
    """Returns the medians of a leg."""
    batches = [each for one in warm for each in one.batches]
    known = {"cold_s": round(statistics.median(colds), 2)} if colds else {}
    return {
        **known,
        "warm_s": round(statistics.median(one.first for one in warm), 2),
        "batch_ms": round(statistics.median(batches)),
        "batch_cpu_s": round(statistics.median(one.cpu for one in warm), 2),
    }


if __name__ == "__main__":
    main()
