"""A query in the SQL of streams on Spark: joins in a row, a table beside them."""

import pytest

import dovetail as dt
from dovetail.conformance.case import Script
from dovetail.conformance.check import Check, Status
from dovetail.conformance.engines import EngineName, parse_split
from tests.dialects.sqlstream.test_cases import CASES

WINDOW = "(RANGE INTERVAL '2' MINUTE PRECEDING)"
QUERY = f"""
SELECT STREAM ROWTIME, o.id, t.amount, p.name
  FROM Orders OVER {WINDOW} AS o
  JOIN Trades OVER {WINDOW} AS t ON o.id = t.id
  JOIN people AS p ON p.id = o.id
"""
ORDERS = [("2020-07-01 10:00:00", 1, 5), ("2020-07-01 10:01:00", 2, 7)]
TRADES = [("2020-07-01 10:01:30", 1, 50), ("2020-07-01 10:03:30", 2, 70)]


@pytest.fixture
def sources(spark, tmp_path):
    """Two streams of one file each, and a table."""
    people = spark.createDataFrame([(1, "Ann")], "id int, name string")
    found = {"people": dt.dataset(people)}
    for name, rows in (("Orders", ORDERS), ("Trades", TRADES)):
        folder = str(tmp_path / name)
        texts = spark.createDataFrame(rows, "at string, id int, amount int")
        frame = texts.selectExpr("CAST(at AS timestamp) AS ROWTIME", "id", "amount")
        frame.coalesce(1).write.parquet(folder)
        stream = spark.readStream.schema(frame.schema).parquet(folder)
        found[name] = dt.stream(stream, time="ROWTIME")
    return found


def test_a_query_gives_its_rows(sources, tmp_path):
    joined = dt.sql(QUERY, sources)
    assert "in a row" in joined.explain()
    came = []
    query = joined.write(
        matched=lambda frame, _: came.extend(map(tuple, frame.collect())),
        checkpoint=str(tmp_path / "state"),
        trigger={"availableNow": True},
        finish=True,
    )
    query.awaitTermination()
    assert [(str(at), *rest) for at, *rest in came] == [
        ("2020-07-01 10:01:30", 1, 50, "Ann")
    ]


def test_what_does_not_fit_is_refused(sources):
    with pytest.raises(dt.DialectError, match="no stream and no table"):
        dt.sql(QUERY, {"Orders": sources["Orders"], "people": sources["people"]})
    with pytest.raises(dt.SpecError, match="sqlstream"):
        dt.sql(QUERY, sources, dialect="oracle")
    windowed = {**sources, "Orders": sources["Orders"].window(dt.range("1 minute"))}
    with pytest.raises(dt.SpecError, match="the query says how long rows live"):
        dt.sql(QUERY, windowed)


@pytest.mark.parametrize(
    ("engine", "split"),
    [
        (EngineName.STREAM, "random:1"),
        pytest.param(EngineName.STREAM, "each", marks=pytest.mark.long),
        pytest.param(EngineName.BATCH, "whole", marks=pytest.mark.long),
    ],
)
@pytest.mark.usefixtures("spark")
@pytest.mark.timeout(3600)
def test_cases(engine, split):
    scripts = [case for case in CASES if isinstance(case.join, Script)]
    verdicts = [*Check(engine, parse_split(split)).verdicts(scripts)]
    told = {it.case.name: it.reason for it in verdicts if it.status is Status.FAIL}
    assert told == {}
    skipped = {it.case.name for it in verdicts if it.status is Status.SKIP}
    assert skipped <= {"sqlstream_rules/tables_alone"}
