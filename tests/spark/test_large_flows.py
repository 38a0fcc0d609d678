"""Operators beside joins that keep more than one piece of a blob, and many groups."""

import os

import pytest
from pyspark.sql import functions as F  # noqa: N812 - Spark's own name for it

import dovetail as dt

FILES, ROWS, GROUPS = 4, 25_000, 20_000
TYPES = "k bigint, v bigint, at timestamp"
HOUR = """
    SELECT STREAM k, COUNT(*) AS n, SUM(v) AS total FROM S
    GROUP BY k, STEP(S.ROWTIME BY INTERVAL '1' HOUR);"""
SORTED = """
    SELECT STREAM k, 1 AS n, v AS total FROM S
    ORDER BY FLOOR(S.ROWTIME TO HOUR), v;"""


@pytest.fixture
def folder(spark, tmp_path):
    """Rows of one hour and the next, in files of which each is a batch."""
    every = spark.range(FILES * ROWS, numPartitions=FILES).selectExpr(
        f"id % {GROUPS} AS k",
        "id AS v",
        f"timestamp_seconds(id * 4000 DIV {FILES * ROWS}) AS at",
    )
    every.write.parquet(str(tmp_path / "rows"))
    # A stream reads files in the order of their times of change.
    for second, path in enumerate(sorted((tmp_path / "rows").glob("part-*"))):
        os.utime(path, (second, second))
    return str(tmp_path / "rows")


@pytest.mark.parametrize(("text", "told"), [(HOUR, "k, at"), (SORTED, "v")])
def test_many_kept_rows_and_groups_come_out(spark, tmp_path, folder, text, told):
    stream = spark.readStream.schema(TYPES).option("maxFilesPerTrigger", 1)
    flow = dt.sql(text, {"S": dt.stream(stream.parquet(folder), time="at")})
    sink = dt.folder(str(tmp_path / "out"))
    how = {"trigger": {"availableNow": True}, "finish": True}
    for query in flow.write({"result": sink}, checkpoint=str(tmp_path / "c"), **how):
        query.awaitTermination()
    rows = spark.read.parquet(folder).selectExpr("k", "v", "date_trunc('HOUR', at) at")
    expected = rows.groupBy(*told.split(", ")).agg(
        F.count("*").alias("n"), F.sum("v").alias("total")
    )
    sums = "count(*)", "sum(n)", "sum(total)", "sum(CAST(n * total AS DECIMAL(38, 0)))"
    found = spark.read.parquet(str(tmp_path / "out")).selectExpr(*sums).first()
    assert found == expected.selectExpr(*sums).first()
    assert found[1] == FILES * ROWS
