"""A join gives the same rows in every session, whatever rules the session has."""

from datetime import UTC, datetime

import dovetail as dt

NOON = datetime(2026, 3, 8, 12, tzinfo=UTC)


def frame(spark):
    rows = [(1, NOON, "7"), (2, NOON, "x")]
    return spark.createDataFrame(rows, "id INT, at TIMESTAMP, word STRING")


def test_sets_follow_the_plain_rules(odd_session):
    words = {
        "id": "l.ID",
        "hour": "hour(l.at)",
        "number": "CAST(ROWS_LAST(word) AS INT)",
        "wraps": "2147483647 + l.id",
    }
    one = dt.dataset(frame(odd_session))
    other = dt.dataset(frame(odd_session).withColumnRenamed("id", "ID"))
    found = one.together(other, on="id", select=words).matched.collect()
    least = -(2**31)
    assert sorted(tuple(row) for row in found) == [
        (1, 12, 7, least),
        (2, 12, None, least + 1),
    ]


def test_an_order_follows_the_plain_rules(odd_session):
    rows = [(1, "7"), (1, "x"), (1, "9")]
    versions = odd_session.createDataFrame(rows, "id INT, word STRING")
    table = dt.table(versions, key="id", order="CAST(WORD AS INT)")
    select = {"word": "l.word"}
    other = dt.dataset(versions.limit(1))
    for joined in (
        table.join(other, on="id", select=select),
        table.together(other, on="id", select=select),
    ):
        assert [tuple(row) for row in joined.matched.collect()] == [("9",)]


def test_what_looks_like_a_variable_of_spark_is_a_text(spark):
    rows = [(1, "${env:HOME}"), (2, "")]
    left = spark.createDataFrame(rows, "id INT, `${x}` STRING")
    joined = dt.dataset(left).join(
        dt.dataset(left.select("id")),
        on="id",
        where="l.`${x}` IN ('${env:HOME}', '${x}')",
        select={"id": "l.id", "text": "concat(l.`${x}`, '${env:HOME}')"},
    )
    found = [tuple(row) for row in joined.matched.collect()]
    assert found == [(1, "${env:HOME}${env:HOME}")]
