"""A query in Lenses SQL on Spark: streams, a table that changes, DataFrames."""

import pytest

import dovetail as dt
from dovetail.conformance.check import Check, Status
from dovetail.conformance.engines import EngineName, parse_split
from tests.dialects.lenses.test_cases import CASES
from tests.spark.share import STREAMED, some_texts

TABLE = """
WITH t AS (SELECT TABLE * FROM customers);
INSERT INTO r SELECT STREAM t.name, o.item
  FROM orders AS o LEFT JOIN t ON t.id = o.customer_id
"""
WITHIN = """
SELECT STREAM c.name, o.item
  FROM customers c LEFT JOIN orders o ON c.id = o.customer_id WITHIN 5s
"""


def frame_of(spark, rows, columns):
    """Rows with their time, whose columns have types."""
    told = [f"CAST({name} AS {kind}) AS {name}" for name, kind in columns.items()]
    return spark.createDataFrame(
        rows, ", ".join(f"{it} string" for it in columns)
    ).selectExpr(*told)


ORDERS = {"_time": "timestamp", "_key": "int", "customer_id": "int", "item": "string"}
CUSTOMERS = {"_time": "timestamp", "_key": "int", "id": "int", "name": "string"}


@pytest.fixture
def streamed(spark, tmp_path):
    """A function that gives rows as a stream, a file for each list of them."""

    def make(name, columns, *files):
        folder = str(tmp_path / name)
        for rows in files:
            frame = frame_of(spark, rows, columns)
            frame.coalesce(1).write.mode("append").parquet(folder)
        return spark.readStream.schema(frame.schema).parquet(folder)

    return make


def rows_of(joined, tmp_path):
    """What a join lets out until all that is there has been read."""
    came = []
    query = joined.write(
        matched=lambda frame, _: came.extend(map(tuple, frame.collect())),
        checkpoint=str(tmp_path / "state"),
        trigger={"availableNow": True},
        finish=True,
    )
    query.awaitTermination()
    return sorted(came, key=repr)


def test_a_stream_keeps_its_rows_beside_a_table_that_comes_later(streamed, tmp_path):
    orders = [("2020-07-01 10:00:01", "1", "1", "pen")]
    people = [("2020-07-01 10:00:05", "1", "1", "Ann")]
    sources = {
        "orders": dt.stream(streamed("orders", ORDERS, orders), time="_time"),
        "customers": dt.table(
            streamed("customers", CUSTOMERS, people), key="_key", time="_time"
        ),
    }
    joined = dt.sql(TABLE, sources, dialect="lenses")
    assert "wait" in joined.explain()
    assert rows_of(joined, tmp_path) == [("Ann", "pen"), (None, "pen")]


def test_two_streams_meet_within_a_length_of_time(streamed, tmp_path):
    people = [("2020-07-01 10:00:06", "1", "1", "Frank")]
    people += [("2020-07-01 10:00:20", "2", "2", "John")]
    orders = [("2020-07-01 10:00:10", "1", "1", "Computer")]
    orders += [("2020-07-01 10:00:11", "2", "2", "Keyboard")]
    sources = {
        "customers": dt.stream(streamed("customers", CUSTOMERS, people), time="_time"),
        "orders": dt.stream(streamed("orders", ORDERS, orders), time="_time"),
    }
    joined = dt.sql(WITHIN, sources, dialect="lenses")
    assert rows_of(joined, tmp_path) == [("Frank", "Computer"), ("John", None)]


ROW = """
WITH named AS (SELECT STREAM o.item, o.customer_id, c.name
  FROM orders o JOIN customers c ON o.customer_id = c.id);
"""
BEHIND = {
    "a join": "SELECT STREAM named.item, p.customer_id FROM named JOIN paid p "
    "ON named.item = p.item WITHIN 5s",
    "a window": "SELECT STREAM item, COUNT(*) AS n FROM named WINDOW BY TUMBLE 10s "
    "GROUP BY item",
}


@pytest.mark.parametrize("behind", BEHIND)
def test_rows_of_a_join_with_a_table_need_no_number(spark, streamed, tmp_path, behind):
    """None of a batch is late: nobody knows which of them came first."""
    numbers = range(40)
    rows = [(f"2020-07-01 10:00:{it:02}", it, it % 7, f"pen {it}") for it in numbers]
    people = [(None, it, it, f"Ann {it}") for it in range(7)]
    sources = {
        name: dt.stream(streamed(name, ORDERS, rows), time="_time")
        for name in ("orders", "paid")
    }
    sources["customers"] = dt.table(frame_of(spark, people, CUSTOMERS), key="_key")
    if behind == "a window":
        del sources["paid"]
    flow = dt.sql(ROW + BEHIND[behind], sources, dialect="lenses")
    found = [item for item, _ in written(flow, spark, tmp_path)["result"]]
    assert found == sorted(f"pen {it}" for it in numbers)


def test_dataframes_are_joined_as_they_are(spark):
    people = frame_of(spark, [("2020-07-01 10:00:05", "1", "1", "Ann")], CUSTOMERS)
    orders = frame_of(spark, [("2020-07-01 10:00:01", "1", "1", "pen")], ORDERS)
    sources = {"orders": dt.dataset(orders), "customers": dt.table(people, key="_key")}
    text = TABLE.replace("STREAM t", "TABLE t")
    joined = dt.sql(text, sources, dialect="lenses")
    assert [tuple(one) for one in joined.matched.collect()] == [("Ann", "pen")]


def test_what_does_not_fit_is_refused(spark):
    people = frame_of(spark, [("2020-07-01 10:00:05", "1", "1", "Ann")], CUSTOMERS)
    with pytest.raises(dt.DialectError, match='no topic "orders"'):
        dt.sql(TABLE, {"customers": dt.table(people, key="_key")}, dialect="lenses")


@pytest.mark.parametrize(
    ("engine", "split", "choose"),
    [
        *STREAMED,
        pytest.param(EngineName.BATCH, "whole", some_texts, marks=pytest.mark.wide),
        pytest.param(EngineName.BATCH, "whole", list, marks=pytest.mark.long),
    ],
)
@pytest.mark.usefixtures("spark")
@pytest.mark.timeout(3600)
def test_cases(engine, split, choose):
    scripts = choose(CASES)
    verdicts = [*Check(engine, parse_split(split)).verdicts(scripts)]
    told = {it.case.name: it.reason for it in verdicts if it.status is Status.FAIL}
    assert told == {}
    skipped = {it.case.name: it.reason for it in verdicts if it.status is Status.SKIP}
    if engine is EngineName.STREAM:
        assert skipped == {}
        return
    # What comes in an order of arrival is no batch, nor is what changes or goes on.
    known = (
        "the clock arrival",
        "changelog of two tables",
        "more than one join",
        "eager",
        "table rows that come late",
    )
    assert all(any(one in told for one in known) for told in skipped.values())


def written(flow, spark, tmp_path):
    """What the results of a text are when all that is there has been read."""
    for query in flow.write(
        {name: dt.folder(str(tmp_path / name)) for name in flow.outputs},
        checkpoint=str(tmp_path / "state"),
        trigger={"availableNow": True},
        finish=True,
    ):
        query.awaitTermination()
    return {
        name: sorted(
            tuple(one)
            for one in spark.read.parquet(str(tmp_path / name)).drop("batch").collect()
        )
        for name in flow.outputs
    }


def test_each_result_of_a_text_is_a_stream(streamed, spark, tmp_path):
    orders = [("2020-07-01 10:00:01", "1", "1", "pen")]
    people = [("2020-07-01 10:00:00", "1", "1", "Ann")]
    sources = {
        "orders": dt.stream(streamed("orders", ORDERS, orders), time="_time"),
        "customers": dt.table(
            streamed("customers", CUSTOMERS, people), key="_key", time="_time"
        ),
    }
    more = "SELECT STREAM t.id FROM orders JOIN t ON t.id = customer_id"
    text = f"{TABLE}; INSERT INTO s {more}"
    flow = dt.sql(text, sources, dialect="lenses")
    assert flow.outputs == ("r", "s")
    assert "key made of what ON says is equal" in flow.explain()
    found = written(flow, spark, tmp_path)
    assert found == {"r": [("Ann", "pen")], "s": [(1,)]}


SOLD = [
    ("2020-07-01 10:00:01", "1", "1", "pen"),
    ("2020-07-01 10:00:08", "2", "1", "cup"),
    ("2020-07-01 10:00:12", "3", "2", "pen"),
]
GROUPED = """
WITH t AS (SELECT TABLE * FROM customers);
WITH joined AS (SELECT STREAM t.name, o.item FROM orders o LEFT JOIN t
                ON t.id = o.customer_id);
INSERT INTO totals SELECT STREAM name, COUNT(*) AS n FROM joined GROUP BY name;
INSERT INTO windows SELECT STREAM item, COUNT(*) AS n
  FROM orders WINDOW BY HOP 10s,5s GROUP BY item
"""


def test_groups_run_behind_joins_and_in_windows(streamed, spark, tmp_path):
    people = [("2020-07-01 10:00:00", "1", "1", "Ann")]
    people += [("2020-07-01 10:00:20", "2", "2", "Bob")]
    sources = {
        "orders": dt.stream(streamed("orders", ORDERS, SOLD), time="_time"),
        "customers": dt.table(
            streamed("customers", CUSTOMERS, people), key="_key", time="_time"
        ),
    }
    flow = dt.sql(GROUPED, sources, dialect="lenses")
    assert "dovetail.join.late" in flow.explain()
    found = written(flow, spark, tmp_path)
    assert found == {
        "totals": [("Ann", 1), ("Ann", 2), ("Bob", 1)],
        "windows": [("cup", 1)] * 2 + [("pen", 1)] * 4,
    }


CHANGED = """
INSERT INTO named SELECT TABLE name FROM customers WHERE id > 0;
INSERT INTO totals SELECT TABLE name, COUNT(*) AS n FROM customers GROUP BY name
"""


def test_a_table_alone_is_told_by_its_changes(streamed, spark, tmp_path):
    first = [("2020-07-01 10:00:05", "1", "1", "Ann")]
    first += [("2020-07-01 10:00:06", "1", "1", "Bob")]
    second = [("2020-07-01 10:00:04", "2", "2", "Ann")]
    table = streamed("customers", CUSTOMERS, first, second)
    sources = {"customers": dt.table(table, key="_key", time="_time")}
    flow = dt.sql(CHANGED, sources, dialect="lenses")
    found = written(flow, spark, tmp_path)
    # By time the second file comes first: a table needs no other order.
    assert found == {
        "named": [
            *[("Ann", "insert")] * 2,
            ("Ann", "update_before"),
            ("Bob", "update_after"),
        ],
        "totals": [
            ("Ann", 1, "insert"),
            ("Ann", 1, "update_after"),
            ("Ann", 1, "update_before"),
            ("Ann", 2, "update_after"),
            ("Ann", 2, "update_before"),
            ("Bob", 1, "insert"),
        ],
    }
