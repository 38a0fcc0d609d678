"""A query in the SQL of streams on Spark: joins in a row, a table beside them."""

from pathlib import Path

import pytest

import dovetail as dt
from dovetail.conformance.case import Script
from dovetail.conformance.check import Check, Status
from dovetail.conformance.engines import EngineName, parse_split
from tests.dialects.sqlstream.test_cases import CASES
from tests.spark.share import STREAMED, is_played_alone

DOCS = Path(__file__).parents[2] / "docs"

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


def test_the_application_of_the_page_goes_on_and_ends(spark, tmp_path):
    page = (DOCS / "sqlstream-flows.md").read_text()
    known = {}
    exec(page.split("```python")[1].split("```")[0], known)
    sources = {"SOURCE_SQL_STREAM_001": quotes(spark, tmp_path, 0)}
    flow = dt.sql(known["APPLICATION"], sources)
    assert flow.outputs == ("ALARMS", "SLIDING")
    assert "rows wait until no earlier one can come" in flow.explain()
    for start, finish in enumerate((False, True)):
        flow = dt.sql(known["APPLICATION"], {**sources})
        if start:
            quotes(spark, tmp_path, 1)
        queries = flow.write(
            {name: dt.folder(str(tmp_path / name)) for name in flow.outputs},
            checkpoint=str(tmp_path / "state"),
            trigger={"availableNow": True},
            finish=finish,
        )
        for query in queries:
            query.awaitTermination()
    found = spark.read.parquet(str(tmp_path / "SLIDING")).select("ticker", "mean")
    slid = sorted(map(tuple, found.collect()))
    assert slid == [("A", 1.0), ("A", 1.5), ("A", 5.0), ("B", 7.0)]
    alarms = spark.read.parquet(str(tmp_path / "ALARMS")).collect()
    assert alarms == []


def quotes(spark, folder, number):
    """One more file of quotes, and the stream of all of them."""
    rows = [
        [("2020-07-01 10:00:00", "A", 1.0), ("2020-07-01 10:00:08", "A", 2.0)],
        [("2020-07-01 10:00:30", "A", 5.0), ("2020-07-01 10:00:29", "B", 7.0)],
    ][number]
    texts = spark.createDataFrame(rows, "at string, ticker string, price double")
    frame = texts.selectExpr("CAST(at AS timestamp) AS at", "ticker", "price")
    place = str(folder / "quotes")
    frame.coalesce(1).write.mode("append").parquet(place)
    stream = spark.readStream.schema(frame.schema).parquet(place)
    return dt.stream(stream, time="at", lateness="10 seconds")


@pytest.mark.parametrize(
    ("engine", "split", "choose"),
    [
        *STREAMED,
        pytest.param(EngineName.BATCH, "whole", list, marks=pytest.mark.long),
    ],
)
@pytest.mark.usefixtures("spark")
@pytest.mark.timeout(3600)
def test_cases(engine, split, choose):
    scripts = choose([case for case in CASES if isinstance(case.join, Script)])
    verdicts = [*Check(engine, parse_split(split)).verdicts(scripts)]
    told = {it.case.name: it.reason for it in verdicts if it.status is Status.FAIL}
    assert told == {}
    skipped = {it.case.name for it in verdicts if it.status is Status.SKIP}
    unlike = {"sqlstream_rules/tables_alone"}
    unlike |= {"sqlstream_flows/an_explicit_bound_closes_groups"}
    if engine is EngineName.BATCH:
        unlike |= {case.name for case in scripts if is_played_alone(case)}
    assert skipped <= unlike
