"""Groups and windows of a text of streams, beside Spark's own groups of a minute.

One stream has a row a millisecond; a text counts, averages and looks for the highest
value of each key and minute (`STEP`), of 100 keys and of as many as there are (`many`).
Spark does the same with a watermark and `window`. `over` has for each row the average
of its key's last ten seconds, 100 rows; `sorted` puts rows of one time in order. What
comes out is dropped. Each leg reads one side of the files of `interval`.

    scripts/bench groups --rounds 3
    scripts/bench groups --quick     little data: shows that it works, not how fast
"""

from __future__ import annotations

from functools import partial

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812 - Spark's own name for it

import dovetail as dt
from bench.interval import ROCKSDB, SPARK_HDFS, SPARK_ROCKSDB, Leg, Source, compared

KEYS = 100
MINUTE = """
    SELECT STREAM k, COUNT(*) AS n, AVG(v) AS mean, MAX(v) AS high FROM s
    GROUP BY k, STEP(s.ROWTIME BY INTERVAL '1' MINUTE);"""
OVER = """
    SELECT STREAM k, v, AVG(v) OVER w AS mean FROM s
    WINDOW w AS (PARTITION BY k RANGE INTERVAL '10' SECOND PRECEDING);"""
SORTED = "SELECT STREAM k, v FROM s ORDER BY s.ROWTIME, k;"


def rows(source: Source, keys: int) -> DataFrame:
    """Returns the stream, with so many keys at most."""
    return source.side("l").selectExpr(f"key % {keys} AS k", "v", "ts")


def told(source: Source, text: str, keys: int = KEYS) -> DataFrame:
    """Returns what comes out of a text."""
    stream = dt.stream(rows(source, keys), time="ts", lateness="5 seconds")
    return dt.sql(text, {"s": stream}).frame("result")


def spark(source: Source, keys: int = KEYS) -> DataFrame:
    """Returns the groups as Spark makes them."""
    late = rows(source, keys).withWatermark("ts", "5 seconds")
    every = F.count("*").alias("n"), F.avg("v"), F.max("v")
    return late.groupBy("k", F.window("ts", "1 minute")).agg(*every)


def group_legs(files: int) -> dict[str, Leg]:
    """Returns all legs; Spark needs a batch without rows for its last minutes."""
    without, many = "spark.sql.streaming.noDataMicroBatches.enabled", 1 << 40
    own, rocksdb, heap = (
        {**one, without: str(one is not ROCKSDB).lower()}
        for one in (ROCKSDB, SPARK_ROCKSDB, SPARK_HDFS)
    )
    in_turn = partial(told, text=SORTED)
    return {
        "dovetail": Leg(partial(told, text=MINUTE), own, files),
        "spark": Leg(spark, rocksdb, files),
        "spark_hdfs": Leg(spark, heap, files),
        "many": Leg(partial(told, text=MINUTE, keys=many), own, files, apart=True),
        "spark_many": Leg(partial(spark, keys=many), rocksdb, files, apart=True),
        "over": Leg(partial(told, text=OVER), own, files, apart=True),
        "sorted": Leg(in_turn, own, files, apart=True),
    }


if __name__ == "__main__":
    checks = "count(*) AS pairs", "sum(n) AS sum"
    title = "Groups of a minute"
    compared("groups", title, group_legs, sides=1, checks=checks)
