"""A large batch through a small heap: python -m tests.spark.large_batch FOLDER ROWS.

Prints how many rows came out, and how many bytes of state the join keeps.
"""

import sys

import dovetail as dt
from dovetail.engines.spark_session import local_session

SCHEMA = "k LONG, t TIMESTAMP, v STRING"


def main(folder, rows):
    """Joins two streams of so many rows in one batch."""
    spark = local_session(**{"spark.driver.memory": "1g"})

    def stream(side):
        made = spark.range(rows).selectExpr(
            "id AS k",
            "timestamp_millis(1767225600000 + id) AS t",
            "lpad(string(id), 150, '0') AS v",
        )
        made.write.parquet(f"{folder}/{side}")
        frame = spark.readStream.schema(SCHEMA).parquet(f"{folder}/{side}")
        return dt.stream(frame, time="t").window(dt.range("10 hours"))

    left, right = stream("left"), stream("right")
    query = left.join(right, on="k", how="left", suffixes=("", "_r")).write(
        matched=dt.folder(f"{folder}/matched"),
        checkpoint=f"{folder}/checkpoint",
        trigger={"availableNow": True},
    )
    query.awaitTermination()
    assert len(query.recentProgress) == 1
    (join,) = dt.state(f"{folder}/checkpoint", key=77).joins
    assert [one.row["k"] for one in join.found] == [77, 77]
    came = spark.read.parquet(f"{folder}/matched").count()
    print(came, join.bytes)  # noqa: T201 - that is how it tells


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
