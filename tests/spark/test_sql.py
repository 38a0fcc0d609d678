"""A query in the SQL of streams on Spark: joins in a row, a table beside them."""

from pathlib import Path
from threading import Event

import pyarrow.parquet as pq
import pytest
from pyspark.errors import PySparkException

import dovetail as dt
from dovetail.conformance.case import Script
from dovetail.conformance.check import Check, Status
from dovetail.conformance.engines import EngineName, parse_split
from tests.dialects.sqlstream.test_cases import CASES
from tests.spark.share import (
    STREAMED,
    is_of_tables,
    is_played_alone,
    more_texts,
    some_texts,
)

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


def test_queries_of_tables_give_frames(spark):
    """Nulls and blanks stay; a table that changes, and a job, are refused."""
    rows = [(1, "Ann "), (2, None), (3, "Ann ")]
    people = spark.createDataFrame(rows, "id int, name string")
    text = "SELECT name, COUNT(*) AS n, MAX(id) AS last FROM people GROUP BY name"
    found = dt.sql(text, {"people": dt.dataset(people)})
    assert isinstance(found, dt.Outputs)
    (frame,) = found.values()
    assert sorted(map(tuple, frame.collect()), key=str) == [
        ("Ann ", 2, 3),
        (None, 1, 2),
    ]
    ids = spark.readStream.format("rate").load()
    changing = {"people": dt.table(ids, key="value")}
    with pytest.raises(dt.SpecError, match='of which "people" changes'):
        dt.sql("SELECT COUNT(*) AS n FROM people", changing)


def test_what_does_not_fit_is_refused(sources):
    with pytest.raises(dt.DialectError, match="no stream and no table"):
        dt.sql(QUERY, {"Orders": sources["Orders"], "people": sources["people"]})
    with pytest.raises(dt.SpecError, match="sqlstream"):
        dt.sql(QUERY, sources, dialect="oracle")
    windowed = {**sources, "Orders": sources["Orders"].window(dt.range("1 minute"))}
    with pytest.raises(dt.SpecError, match="the text says how long rows live"):
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
    scripts = [case for case in CASES if isinstance(case.join, Script)]
    scripts = choose([case for case in scripts if not is_of_tables(case)])
    verdicts = [*Check(engine, parse_split(split)).verdicts(scripts)]
    told = {it.case.name: it.reason for it in verdicts if it.status is Status.FAIL}
    assert told == {}
    skipped = {it.case.name for it in verdicts if it.status is Status.SKIP}
    alone = {case.name for case in scripts if is_played_alone(case)}
    assert skipped <= (alone if engine is EngineName.BATCH else set())


@pytest.mark.parametrize(
    "choose",
    [
        some_texts,
        pytest.param(more_texts, marks=pytest.mark.wide),
        pytest.param(list, marks=pytest.mark.long),
    ],
)
@pytest.mark.usefixtures("spark")
def test_cases_of_tables_alone(choose):
    scripts = choose([case for case in CASES if is_of_tables(case)])
    verdicts = Check(EngineName.BATCH, parse_split("whole")).verdicts(scripts)
    told = {it.case.name: it.reason for it in verdicts if it.status is not Status.OK}
    assert scripts
    assert told == {}


TWO = """
CREATE STREAM counts (ticker VARCHAR(4), n INTEGER);
CREATE PUMP p AS INSERT INTO counts
  SELECT STREAM ticker, COUNT(*) FROM quotes GROUP BY ticker, FLOOR(ROWTIME TO MINUTE);
CREATE STREAM sums (total DOUBLE);
CREATE PUMP r AS INSERT INTO sums
  SELECT STREAM SUM(price) FROM quotes WHERE price < 8 GROUP BY FLOOR(ROWTIME TO MINUTE)
"""


COUNTED, _ = TWO.split("CREATE STREAM sums")
JOINED = f"""
CREATE STREAM counts (ticker VARCHAR(4), n INTEGER);
CREATE PUMP p AS INSERT INTO counts
  SELECT STREAM a.ticker, COUNT(*)
    FROM quotes OVER {WINDOW} AS a JOIN quotes OVER {WINDOW} AS b ON a.ticker = b.ticker
   GROUP BY a.ticker, FLOOR(ROWTIME TO MINUTE)
"""
IN_FRONT = f"""
CREATE VIEW v AS SELECT STREAM ticker, COUNT(*) AS n
  FROM quotes GROUP BY ticker, FLOOR(ROWTIME TO MINUTE);
CREATE STREAM counts (ticker VARCHAR(4), n INTEGER);
CREATE PUMP p AS INSERT INTO counts SELECT STREAM v.ticker, v.n
  FROM v OVER {WINDOW} AS v JOIN quotes OVER {WINDOW} AS q ON v.ticker = q.ticker
"""


@pytest.mark.parametrize("name", ["late", "error_stream"])
def test_late_rows_of_each_stream_go_into_their_outlet(spark, tmp_path, name):
    quotes(spark, tmp_path, 0)
    for number in range(2):
        # The second start brings a row below the bound that the first one has reached.
        late = "2020-07-01 09:59:59", "C", 3.0
        if number:
            rows = spark.createDataFrame(
                [late], "at string, ticker string, price double"
            )
            frame = rows.selectExpr("CAST(at AS timestamp) AS at", "ticker", "price")
            frame.write.mode("append").parquet(str(tmp_path / "quotes"))
        schema = "at timestamp, ticker string, price double"
        stream = spark.readStream.schema(schema).parquet(str(tmp_path / "quotes"))
        source = dt.stream(stream, time="at", lateness="5 seconds")
        flow = dt.sql(TWO, {"quotes": source})
        sinks = {one: dt.folder(str(tmp_path / one)) for one in flow.outputs}
        queries = flow.write(
            {**sinks, name: dt.folder(str(tmp_path / "lost"), "json")},
            checkpoint=str(tmp_path / "state"),
            trigger={"availableNow": True},
        )
        counted = [[one.late for one in dt.follow(query)] for query in queries]
    # Two queries, of which each counts its own.
    assert counted == [[1], [1]]
    lost = spark.read.json(str(tmp_path / "lost"))
    row = '{"at":"2020-07-01T09:59:59.000000Z","ticker":"C","price":3.0}'
    if name == "late":
        told = lost.select("stream", "reason", "row_time", "row").collect()
        assert sorted(map(tuple, told)) == [
            (one, "late", "2020-07-01T09:59:59.000000Z", row)
            for one in ("counts", "sums")
        ]
        return
    told = lost.select("PUMP_NAME", "ERROR_NAME", "ERROR_LEVEL", "DATA_ROW").collect()
    assert sorted(map(tuple, told)) == [
        (pump, "LATE", "ERROR", row.encode().hex().upper()) for pump in ("p", "r")
    ]
    assert {*lost.columns} >= {"ERROR_TIME", "MESSAGE", "DATA_ROWTIME"}


def test_a_sink_of_late_rows_that_cannot_be_is_refused(sources, tmp_path):
    flow = dt.sql(f"{QUERY.strip()}; SELECT STREAM id FROM Orders", sources)
    names = "result", "result 2", "late"
    sinks = {name: dt.folder(str(tmp_path / name)) for name in names}
    with pytest.raises(dt.SpecError, match="late rows both as"):
        flow.write({**sinks, "error_stream": dt.folder("x")}, checkpoint="state")


def test_late_rows_of_joins_in_a_row_are_told(spark, sources, tmp_path):
    """The same ones as of a join alone, into a sink that comes with a later start."""
    late = [("2020-07-01 10:00:00", 1, 9), (None, 2, 8)]
    text = f"{QUERY.strip()}; SELECT STREAM id FROM Orders"
    for is_told in (False, True):
        sinks = {name: dt.folder(str(tmp_path / name)) for name in ("result", "all")}
        sinks["result 2"] = sinks.pop("all")
        if is_told:
            sinks["late"] = dt.folder(str(tmp_path / "lost"), "json")
            texts = spark.createDataFrame(late, "at string, id int, amount int")
            rows = texts.selectExpr("CAST(at AS timestamp) AS ROWTIME", "id", "amount")
            rows.coalesce(1).write.mode("append").parquet(str(tmp_path / "Trades"))
        queries = dt.sql(text, sources).write(
            sinks, checkpoint=str(tmp_path / "state"), trigger={"availableNow": True}
        )
        for query in queries:
            query.awaitTermination()
    lost = spark.read.json(str(tmp_path / "lost"))
    found = lost.select("stream", "reason", "row_time", "row").collect()
    assert {*map(tuple, found)} == {
        (
            "result",
            "late",
            "2020-07-01T10:00:00.000000Z",
            '{"ROWTIME":"2020-07-01T10:00:00.000000Z","id":1,"amount":9}',
        ),
        ("result", "null_time", None, '{"ROWTIME":null,"id":2,"amount":8}'),
    }


SCHEMA = "at timestamp, ticker string, price double"


@pytest.mark.parametrize(
    ("text", "of_a"), [(COUNTED, [2]), (JOINED, [4]), (IN_FRONT, [2, 2])]
)
def test_a_sink_of_late_rows_comes_and_goes(spark, tmp_path, text, of_a):
    """A checkpoint without one goes on with it, and without it again."""
    quotes(spark, tmp_path, 0)
    came, place = [], str(tmp_path / "quotes")
    for number in range(3):
        if number == 1:
            late, last = "2020-07-01 09:59:59", "2020-07-01 10:05:00"
            texts = spark.createDataFrame(
                [(late, "C", 3.0), (last, "B", 5.0)], ["at", "ticker", "price"]
            )
            frame = texts.selectExpr("CAST(at AS timestamp) AS at", "ticker", "price")
            frame.write.mode("append").parquet(place)
        stream = spark.readStream.schema(SCHEMA).parquet(place)
        source = dt.stream(stream, time="at", lateness="5 seconds")
        sinks = {"counts": lambda rows, _: came.extend(map(tuple, rows.collect()))}
        if number == 1:
            sinks["late"] = dt.folder(str(tmp_path / "lost"), "json")
        (query,) = dt.sql(text, {"quotes": source}).write(
            sinks,
            checkpoint=str(tmp_path / "state"),
            trigger={"availableNow": True},
            finish=number == 2,
        )
        query.awaitTermination()
    lost = spark.read.json(str(tmp_path / "lost")).select("reason", "row")
    row = '{"at":"2020-07-01T09:59:59.000000Z","ticker":"C","price":3.0}'
    assert {*map(tuple, lost.collect())} == {("late", row)}
    assert sorted(came) == [*(("A", it) for it in of_a), ("B", 1)]


def test_casts_of_a_join_are_told_from_the_first_start_on(spark, tmp_path):
    quotes(spark, tmp_path, 0)
    text = JOINED.replace("a.ticker = b.ticker", "CAST(a.ticker AS INTEGER) = b.price")
    for is_told in (False, True):
        stream = spark.readStream.schema(SCHEMA).parquet(str(tmp_path / "quotes"))
        source = dt.stream(stream, time="at", lateness="5 seconds")
        sinks = {"counts": dt.folder(str(tmp_path / "counts"))}
        if is_told:
            sinks["late"] = dt.folder(str(tmp_path / "lost"), "json")
        (query,) = dt.sql(text, {"quotes": source}).write(
            sinks, checkpoint=str(tmp_path / "state"), trigger={"availableNow": True}
        )
        if is_told:
            with pytest.raises(dt.EngineError, match="reads 2 sources, and now 3"):
                [*dt.follow(query)]
        else:
            query.awaitTermination()
        quotes(spark, tmp_path, 1)


def test_a_silent_input_of_a_union_holds_no_other_back(spark, tmp_path):
    schema = "at timestamp, id int"
    frame = spark.range(3).selectExpr(
        "timestamp'2020-07-01 10:00:00' + make_dt_interval(0, 0, id) AS at",
        "CAST(id AS int) AS id",
    )
    frame.coalesce(1).write.parquet(str(tmp_path / "speaks"))
    (tmp_path / "is_silent").mkdir()
    found = {
        name: dt.stream(
            spark.readStream.schema(schema).parquet(str(tmp_path / name)),
            time="at",
            idle="2 seconds",
        )
        for name in ("speaks", "is_silent")
    }
    text = "SELECT STREAM id FROM speaks UNION ALL SELECT STREAM id FROM is_silent"
    came, is_there = [], Event()

    def take(rows, _):
        came.extend(row.id for row in rows.collect())
        if len(came) == 3:
            is_there.set()

    (query,) = dt.sql(text, found).write(
        {"result": take}, checkpoint=str(tmp_path / "s")
    )
    try:
        # Without idle it would be never: no row of the silent one can ever come.
        assert is_there.wait(120), came
    finally:
        query.stop()
    assert came == [0, 1, 2]


IN_ORDER = {
    "flow": "SELECT STREAM ROWTIME, id FROM a ORDER BY ROWTIME, id DESC",
    "join": f"SELECT STREAM ROWTIME, a.id, b.id AS other FROM a OVER {WINDOW} "
    f"JOIN b OVER {WINDOW} ON a.id % 3 = b.id % 3",
}


@pytest.mark.parametrize("name", IN_ORDER)
def test_rows_leave_in_row_time_within_batches_and_across_them(jumbled, tmp_path, name):
    made = dt.sql(IN_ORDER[name], jumbled)
    sink, how = dt.folder(str(tmp_path / "out")), {"finish": True}
    place = str(tmp_path / "state")
    if name == "flow":
        queries = made.write({"result": sink}, checkpoint=place, **how)
    else:
        in_order = made.emit(order="row_time")
        queries = [in_order.write(matched=sink, checkpoint=place, **how)]
    for query in queries:
        query.awaitTermination()
    found = []
    batches = (tmp_path / "out").glob("batch=*")
    for batch in sorted(batches, key=lambda one: int(one.name.split("=")[1])):
        for file in sorted(batch.glob("*.parquet")):
            # By itself: a folder would be a column of the table.
            found += pq.ParquetFile(file).read().to_pylist()
    assert len(found) == (60 if name == "flow" else len(set(map(str, found)))) > 50
    assert [one["ROWTIME"] for one in found] == sorted(one["ROWTIME"] for one in found)
    if name == "flow":
        wanted = sorted(found, key=lambda one: (one["ROWTIME"], -one["id"]))
        assert found == wanted


def test_a_query_for_one_value_that_gives_several_rows_stops(spark):
    rows = dt.dataset(spark.createDataFrame([(1, 5), (2, 7)], "i int, x int"))
    text = "SELECT i FROM t WHERE x > (SELECT x FROM t WHERE i {})"
    found = dt.sql(text.format("= 1"), {"t": rows})["result"]
    assert [row.i for row in found.collect()] == [2]
    with pytest.raises(PySparkException, match="one value gives several rows"):
        dt.sql(text.format("> 0"), {"t": rows})["result"].collect()


def test_tables_are_made_of_tables_beside_a_stream(sources, tmp_path):
    text = """
        SELECT STREAM o.id, p.n FROM Orders AS o
        JOIN (SELECT id, COUNT(*) AS n FROM people GROUP BY id) AS p ON p.id = o.id
        WHERE o.amount < (SELECT MAX(id) + 5 FROM people)"""
    flow = dt.sql(text, sources)
    told = flow.explain()
    assert "(SELECT ..)" in told
    assert "table  p: id, n\nmade   once, when the flow starts, of people" in told
    sink, how = dt.folder(str(tmp_path / "out")), {"trigger": {"availableNow": True}}
    queries = flow.write({"result": sink}, checkpoint=str(tmp_path / "state"), **how)
    for query in queries:
        query.awaitTermination()
    found = [
        row
        for file in (tmp_path / "out").glob("batch=*/*.parquet")
        for row in pq.ParquetFile(file).read().to_pylist()
    ]
    assert found == [{"id": 1, "n": 1}]
