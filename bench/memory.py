"""How much a long interval join keeps: state by alive row, and memory, over time.

Sixty batches of one stream join; state and memory should level off once as much leaves
the windows as comes in, and the last quarter go as fast as the first.

    scripts/bench memory
    scripts/bench memory --rows 170000      rows a side and batch: 20 million in all
"""

from __future__ import annotations

import argparse
import json
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from statistics import median

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - Spark's own name for it

from bench.data import Stretch
from bench.interval import PARTITIONS, ROCKSDB, Source, dovetail, session
from bench.measure import memory_by_kind
from dovetail.engines.spark_stream.dataflow import COUNTERS
from dovetail.engines.spark_stream.worker.operator import VARIABLE

BATCHES, LATER = 60, 40
FIRST = 3
"""So many batches pass before they are timed: Java and workers grow warm."""


def state(spark: SparkSession, checkpoint: str, batch: int) -> int:
    """Returns the bytes of all blobs that a batch left behind."""
    reader = spark.read.format("statestore").option("path", checkpoint)
    kept = reader.option("stateVarName", VARIABLE).option("batchId", batch).load()
    size = F.sum(F.length("user_map_value.data"))
    return int(kept.select(size).first()[0] or 0)


def played(frame: DataFrame, checkpoint: str) -> list[dict]:
    """Runs the stream to its end; returns what is alive and used after each batch."""
    used: dict[int, dict[str, int]] = {}
    writer = frame.writeStream.option("checkpointLocation", checkpoint)

    def drop(rows: DataFrame, batch: int) -> None:
        rows.write.format("noop").mode("append").save()
        used[batch] = {kind: held >> 20 for kind, held in memory_by_kind().items()}

    query = writer.foreachBatch(drop).trigger(availableNow=True).start()
    query.awaitTermination()
    return [
        {
            "batch": told.batchId,
            "alive": sum(
                counted[f"{hand}_alive"]
                for name, counted in told.observedMetrics.items()
                if name.startswith(COUNTERS)
                for hand in ("left", "right")
            ),
            "memory_mb": sum(used[told.batchId].values()),
            **used[told.batchId],
            "rows": told.numInputRows,
            "ms": told.durationMs["triggerExecution"],
        }
        for told in query.recentProgress
    ]


def sampled(lines: list[dict], spark: SparkSession, checkpoint: str) -> Iterator[dict]:
    """Gives every tenth batch with the bytes of its state."""
    for line in lines[9::10]:
        size = state(spark, checkpoint, line["batch"])
        each = round(size / line["alive"], 1)
        yield {**line, "state_bytes": size, "bytes_a_row": each}


def rate(lines: list[dict]) -> float:
    """Returns how many rows a second some batches took."""
    return sum(one["rows"] for one in lines) * 1000 / sum(one["ms"] for one in lines)


def main() -> None:
    """Runs the join and prints every tenth batch, then one line of JSON."""
    parser = argparse.ArgumentParser(prog="scripts/bench memory")
    parser.add_argument("--rows", type=int, default=10_000, help="a side and batch")
    parser.add_argument("--quick", action="store_true", help="few rows")
    given = parser.parse_args()
    rows = 200 if given.quick else given.rows
    stretch = Stretch(BATCHES, rows, keys=20_000, seconds=600)
    spark = session()
    for name, value in ROCKSDB.items():
        spark.conf.set(name, value)
    spark.conf.set("spark.sql.streaming.numRecentProgressUpdates", BATCHES)
    spark.conf.set("spark.sql.shuffle.partitions", PARTITIONS)
    checkpoint = tempfile.mkdtemp(prefix="dovetail-bench-")
    lines = played(dovetail(Source(spark, stretch, 1, BATCHES)), checkpoint)
    told = list(sampled(lines, spark, checkpoint))
    for line in told:
        print(json.dumps(line))
    late = [line["memory_mb"] for line in lines[LATER:]]
    early = [line["memory_mb"] for line in lines[BATCHES - LATER : LATER]]
    spark.stop()
    shutil.rmtree(Path(checkpoint))
    growth = round(median(late) / median(early), 3)
    quarter = (BATCHES - FIRST) // 4
    first, last = rate(lines[FIRST:][:quarter]), rate(lines[-quarter:])
    held = [
        {kind: line[kind] for kind in ("batch", "java", "workers", "driver")}
        for line in lines[9::10]
    ]
    told_of = {"first_quarter_rows_s": round(first), "last_quarter_rows_s": round(last)}
    told_of["last_to_first"] = round(last / first, 3)
    print(json.dumps({"memory_growth": growth, **told_of, "memory_mb": held}))


if __name__ == "__main__":
    main()
