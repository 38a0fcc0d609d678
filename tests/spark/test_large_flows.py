"""Operators beside joins that keep more than one piece of a blob, and many groups."""

import os
import shutil

import pytest
from pyspark.sql import Window
from pyspark.sql import functions as F  # noqa: N812 - Spark's own name for it

import dovetail as dt
from dovetail.engines.spark_stream.checkpoint import read_checkpoint, state_of

FILES, ROWS, GROUPS = 4, 25_000, 20_000
TYPES = "k bigint, v bigint, at timestamp"
HOUR = """
    SELECT STREAM k, COUNT(*) AS n, SUM(v) AS total FROM S
    GROUP BY k, STEP(S.ROWTIME BY INTERVAL '1' HOUR);"""
SORTED = """
    SELECT STREAM k, 1 AS n, v AS total FROM S
    ORDER BY FLOOR(S.ROWTIME TO HOUR), v;"""
OVER = """
    SELECT STREAM k, COUNT(*) OVER w AS n,
           SUM(v) OVER w + MIN(MOD(v, 997)) OVER w + MAX(MOD(v, 991)) OVER w
           + CAST(ROUND(36 * VAR_POP(MOD(v, 983)) OVER w) AS BIGINT)
           + COUNT(DISTINCT MOD(v, 3)) OVER w AS total
    FROM S
    WINDOW w AS (PARTITION BY k RANGE INTERVAL '30' MINUTE PRECEDING);"""
JOINED = """
    SELECT STREAM x.k, COUNT(*) AS n, SUM(y.v) AS total
    FROM S OVER (RANGE CURRENT ROW) AS x JOIN S OVER (RANGE CURRENT ROW) AS y
    ON x.v = y.v GROUP BY x.k, STEP(x.ROWTIME BY INTERVAL '1' HOUR);"""
LEAST_AND_MOST = ("min", 997), ("max", 991)
SUMS = "count(*)", "sum(n)", "sum(total)", "sum(CAST(n * total AS DECIMAL(38, 0)))"


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


def run(spark, tmp_path, folder, text, **how):
    """Runs a text to the end of what is there, a file a batch; returns its plan."""
    stream = spark.readStream.schema(TYPES).option("maxFilesPerTrigger", 1)
    flow = dt.sql(text, {"S": dt.stream(stream.parquet(folder), time="at")})
    sinks = {"result": dt.folder(str(tmp_path / "out"))}
    how |= {"trigger": {"availableNow": True}, "checkpoint": str(tmp_path / "c")}
    for query in flow.write(sinks, **how):
        query.awaitTermination()
    return flow.explain()


def told(spark, tmp_path, folder, text):
    """What comes out of a text, a file a batch, as sums."""
    run(spark, tmp_path, folder, text, finish=True)
    return spark.read.parquet(str(tmp_path / "out")).selectExpr(*SUMS).first()


@pytest.mark.parametrize(("text", "alike"), [(HOUR, "k, at"), (SORTED, "v")])
def test_many_kept_rows_and_groups_come_out(spark, tmp_path, folder, text, alike):
    rows = spark.read.parquet(folder).selectExpr("k", "v", "date_trunc('HOUR', at) at")
    expected = rows.groupBy(*alike.split(", ")).agg(
        F.count("*").alias("n"), F.sum("v").alias("total")
    )
    found = told(spark, tmp_path, folder, text)
    assert found == expected.selectExpr(*SUMS).first()
    assert found[1] == FILES * ROWS


def test_a_window_over_batches_forgets_what_is_too_old(spark, tmp_path, folder):
    # Each key has a row every 800 seconds: half an hour has three, of two or three
    # batches, of which Spark's own window function knows the same.
    half = Window.partitionBy("k").orderBy("second").rangeBetween(-1800, 0)
    rows = spark.read.parquet(folder).selectExpr("k", "v", "unix_seconds(at) second")
    least, most = (F.expr(f"{fold}(v % {by})") for fold, by in LEAST_AND_MOST)
    variance = F.round(36 * F.expr("var_pop(v % 983)").over(half)).cast("bigint")
    distinct = F.size(F.expr("collect_set(v % 3)").over(half))
    total = F.sum("v").over(half) + least.over(half) + most.over(half)
    total += variance + distinct
    expected = rows.select(F.count("*").over(half).alias("n"), total.alias("total"))
    found = told(spark, tmp_path, folder, OVER)
    assert found == expected.selectExpr(*SUMS).first()
    assert found[1] > 2 * FILES * ROWS


@pytest.mark.parametrize(
    "text",
    [
        HOUR,
        pytest.param(JOINED, marks=pytest.mark.wide),
        pytest.param(OVER, marks=pytest.mark.long),
    ],
)
def test_keys_of_windows_are_spread_and_move_into_more_partitions(
    spark, tmp_path, folder, text
):
    expected = told(spark, tmp_path / "once", folder, text)
    # The first two files, then the others with the state in twice as many partitions.
    half = tmp_path / "half"
    half.mkdir()
    files = sorted((tmp_path / "rows").glob("part-*"))
    for path, partitions in zip(files, (2, None, 4, None), strict=True):
        shutil.copy2(path, half)
        how = {"finish": False, "partitions": partitions}
        plan = run(spark, tmp_path, str(half), text, **how)
    assert "each has some of their partitions or groups" in " ".join(plan.split())
    run(spark, tmp_path, str(half), text, finish=True)
    found = spark.read.parquet(str(tmp_path / "out")).selectExpr(*SUMS).first()
    assert found == expected
    known = read_checkpoint(spark, str(tmp_path / "c" / "result"))
    assert (known.partitions, known.buckets) == (4, 8)
    # Each operator has them all.
    for operator in range(2 if text is JOINED else 1):
        rows = state_of(spark, known.path, operator)
        assert rows.select("key").distinct().count() == 8
