"""A key of many rows: its pairs come in pieces, and are those of Spark's own join."""

import pytest

import dovetail as dt
from dovetail.engines.spark_stream.worker import bucket

ROWS = 900
"""Of a side and batch: 2.4 million pairs in the second one, over the most of a step."""
HOUR = dt.range("1 hour", "1 hour")


@pytest.fixture
def sides(spark, tmp_path):
    """Two files a side, of one key but for the last left row; read one a batch."""
    for name, of_last in (("l", 2), ("r", 1)):
        key = f"IF(id = {2 * ROWS - 1}, {of_last}, 1) AS k"
        at = "timestamp_seconds(id % 60) AS at"
        rows = spark.range(2 * ROWS, numPartitions=2).selectExpr(key, "id", at)
        rows.write.parquet(str(tmp_path / name))
    return [str(tmp_path / name) for name in "lr"]


def test_all_pairs_of_a_key_come_out_and_are_counted(spark, tmp_path, sides):
    assert ROWS**2 < bucket.MOST_PAIRS < 3 * ROWS**2
    given, found = [spark.read.parquet(path) for path in sides], []
    schema = given[0].schema
    left, right = (
        dt.stream(
            spark.readStream.schema(schema)
            .option("maxFilesPerTrigger", 1)
            .parquet(path),
            time="at",
            lateness="1 hour",
        ).window(HOUR)
        for path in sides
    )

    def counted(rows, _):
        told = "count(*)", "count(DISTINCT l, r)", "sum(l * 1000 + r)"
        found.append(rows.selectExpr(*told).first())

    query = left.join(right, on="k", select={"l": "l.id", "r": "r.id"}).write(
        matched=counted,
        checkpoint=str(tmp_path / "checkpoint"),
        trigger={"availableNow": True},
    )
    (*_, last) = dt.follow(query)
    ours, theirs = (one.alias(letter) for one, letter in zip(given, "lr", strict=True))
    pairs = ours.join(theirs, "k").selectExpr("l.id AS l", "r.id AS r")
    expected = pairs.selectExpr("count(*)", "sum(l * 1000 + r)").first()
    assert [sum(one[at] for one in found) for at in (0, 2)] == [*expected]
    assert sum(one[1] for one in found) == expected[0]
    assert expected[0] == (2 * ROWS - 1) * 2 * ROWS
    assert last.matched == expected[0]
    # Whole, each row would count once in its batch: so the second came in pieces.
    assert last.right.met > ROWS + 2 * ROWS
    assert (last.left.came, last.right.came) == (2 * ROWS, 2 * ROWS)
    assert (last.left.alive, last.right.alive) == (2 * ROWS, 2 * ROWS)
