"""Changes of a result as records of a topic, which has the newest row of each key.

    update_before  key 1   row a         left out: there is a row of its key
    update_after   key 1   row b         key 1, row b
    delete         key 2   row c         key 2, nothing

    update_before  key 3   row d         in one bucket: the row moves to another key
    update_after   key 4   row d'
    update_before  key 4   row e         in another one, whose records may come first
    update_after   key 3   row e'        key 3, row e'; key 4, row d'

Of a batch only that goes out which it leaves: what counts is how often a row comes and
goes, and not in which order the buckets of the join are written.
"""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812 - Spark's own name for it

from dovetail.bind.sinks import CHANGE, TAKES


def without_replaced(records: DataFrame) -> DataFrame:
    """Returns the rows that a batch adds, and a tombstone of a key that has none left.

    A column of the records says what each one changes; of all of them the value is
    that of their row.
    """
    names = [it for it in records.columns if it != CHANGE]
    # A user who says the partitions of records has keys in each of them.
    place = ", ".join(it for it in names if it in {"key", "partition"})
    # Of several rows of a key, as of no result with keys of its own, the last is last.
    placed = records.withColumn("at", F.monotonically_increasing_id())
    summed = placed.repartition("key").groupBy(*names)
    adds = F.expr(f"CAST(IF({TAKES}, -1, 1) AS BIGINT)")
    left = summed.agg(F.max("at").alias("at"), F.sum(adds).alias("count"))
    most = f"max(count) OVER (PARTITION BY {place}) AS most"
    left = left.where("count <> 0").selectExpr("*", most)
    left = left.where("count > 0 OR most < 0").sortWithinPartitions("at")
    return left.withColumn("value", F.expr("IF(count > 0, value, NULL)")).select(*names)
