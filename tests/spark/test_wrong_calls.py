"""What only Spark can judge of a batch join: its words come in a sentence."""

import logging

import pytest
from pyspark.errors import AnalysisException
from pyspark.logger import PySparkLogger

import dovetail as dt


@pytest.fixture(scope="module")
def sides(spark):
    versions = [(1, 5, "five"), (1, 7, "seven"), (1, 6, "six"), (2, 1, "one")]
    left = spark.createDataFrame([(1, 9), (2, 9)], "id INT, n INT")
    right = spark.createDataFrame(versions, "id INT, version INT, word STRING")
    return left.coalesce(1), right.coalesce(1)


WRONG = {
    "unknown function": ({"select": {"x": "nofun(l.n)"}}, "nofun", 'select["x"]'),
    "bare name": ({"where": "n > 1 AND bare(n)"}, "", "where"),
    # Spark takes a word behind an expression for its alias.
    "a word behind": ({"where": "l.n > 1 rows", "keep": 1}, "Syntax error", "where"),
}


@pytest.mark.parametrize("name", WRONG)
def test_an_expression_that_spark_refuses_is_told(sides, name):
    wish, said, argument = WRONG[name]
    left, right = (dt.dataset(one) for one in sides)
    with pytest.raises(dt.SpecError, match="Spark refuses an expression") as refusal:
        _ = left.join(right, on="id", **wish).matched
    assert said in refusal.value.found
    assert "SQLSTATE" not in str(refusal.value)
    assert argument in refusal.value.hint


@pytest.mark.parametrize("where", ["l.n > ", "l.n > 1 AND", "l.n) or (l.n"])
def test_a_condition_that_is_none_is_told_before_spark_is_asked(sides, where):
    left, right = (dt.dataset(one) for one in sides)
    with pytest.raises(dt.SpecError, match="in where is no expression"):
        _ = left.join(right, on="id", where=where).matched


@pytest.mark.parametrize("name", ["skip_when", "left_condition"])
def test_a_condition_of_a_pick_that_spark_refuses_is_told(sides, name):
    left, right = (dt.dataset(one) for one in sides)
    joined = left.join(right, on="id", select={"n": "l.n"})
    with pytest.raises(dt.SpecError, match=f"(?s)Spark refuses.*hint: .*{name}"):
        _ = joined.pick(**{name: "bare(n) > 1"}).matched
    with pytest.raises(dt.SpecError, match=f"in {name} is no expression"):
        _ = joined.pick(**{name: "l.n > 1 OR"}).matched


def test_a_condition_of_sets_that_spark_refuses_is_told(sides):
    left, right = (dt.dataset(one) for one in sides)
    words = {"where": "l.n > 1 AND", "select": {"n": "l.n"}}
    with pytest.raises(dt.SpecError, match=r"(?s)Spark refuses.*hint: .*where"):
        _ = left.together(right, on="id", **words).matched


def test_a_condition_may_end_in_a_comment(sides):
    left, right = (dt.dataset(one) for one in sides)
    where = "l.n > r.version -- AND false"
    found = left.join(right, on="id", where=where, select={"id": "l.id"}).matched
    assert sorted(row.id for row in found.collect()) == [1, 1, 1, 2]


@pytest.fixture
def logged():
    """What PySpark writes into its own logs of refusals."""
    records = []
    handler = logging.Handler()
    handler.emit = records.append
    logs = [PySparkLogger.getLogger(f"{one}QueryContextLogger") for one in CONTEXTS]
    for log in logs:
        log.addHandler(handler)
    yield records
    for log in logs:
        log.removeHandler(handler)


CONTEXTS = ("DataFrame", "SQL")


def test_what_spark_refuses_is_told_once(sides, logged):
    left, right = (dt.dataset(one) for one in sides)
    spec = {"type": "inner", "clock": "batch", "hard": [["l.id", "r.id"]]}
    named = {"left": {"from": "a"}, "right": {"from": "b"}}
    data = {**spec, **named, "select": {"x": "nofun(l.n)"}}
    with pytest.raises(dt.SpecError, match="nofun"):
        _ = left.join(right, on="id", select={"x": "nofun(l.n)"}).matched
    ordered = dt.stream(sides[0], order="nofun(n)")
    with pytest.raises(dt.SpecError, match="refuses the order of rows, CAST"):
        _ = ordered.join(right, on="id").matched
    with pytest.raises(dt.SpecError, match="Spark refuses an expression of the join"):
        dt.join(data, {"a": sides[0], "b": sides[1]})
    assert not logged
    with pytest.raises(AnalysisException):
        sides[0].selectExpr("nofun(n)")
    assert logged


def test_a_stream_tells_what_spark_refuses_once(spark, logged):
    ticks = spark.readStream.format("rate").load()
    sides = [
        dt.stream(ticks.selectExpr("1 k", f"timestamp {name}"), time=name)
        for name in ("at", "seen")
    ]
    left, right = (side.window(dt.range("1 hour")) for side in sides)
    with pytest.raises(dt.SpecError, match='select of "x" is "nofun'):
        _ = left.join(right, on="k", select={"x": "nofun(l.k)"}).matched
    assert not logged


@pytest.mark.parametrize("streams", [False, True])
def test_keys_that_are_never_equal_are_named(spark, streams):
    text = "select 1 id, timestamp'2026-01-01' at"
    frame = spark.sql(text)
    if streams:
        rate = spark.readStream.format("rate").load()
        frame = rate.selectExpr("1 id", "timestamp at")
    one = dt.stream(frame, time="at").window(dt.range("1 hour"))
    told = r'"=" does not take \(timestamp, int\), the keys l.`?at`? and r.`?id`?'
    with pytest.raises(dt.SpecError, match=told):
        _ = one.join(one, on=[("at", "id")], select={"id": "l.id"}).matched


def test_a_table_of_a_batch_is_ordered_as_it_says(sides):
    left, right = dt.dataset(sides[0]), dt.table(sides[1], key="id", order="version")
    select = {"id": "l.id", "word": "r.word"}
    found = left.join(right, on="id", select=select).matched.collect()
    assert sorted(tuple(row) for row in found) == [(1, "seven"), (2, "one")]
    backward = dt.table(sides[1], key="id", order="-version")
    found = left.join(backward, on="id", select=select).matched.collect()
    assert sorted(tuple(row) for row in found) == [(1, "five"), (2, "one")]


def test_a_column_that_no_join_takes_is_named(spark):
    frame = spark.sql("select 1 id, make_interval(1) span")
    with pytest.raises(dt.SchemaError, match='the column "span": no type "interval"'):
        dt.dataset(frame)
    with pytest.raises(dt.SchemaError, match="a column without a name"):
        dt.dataset(spark.range(1).withColumnRenamed("id", ""))
