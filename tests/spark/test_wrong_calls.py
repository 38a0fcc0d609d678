"""What only Spark can judge of a batch join: its words come in a sentence."""

import logging

import pytest
from pyspark.errors import AnalysisException
from pyspark.logger import PySparkLogger
from pyspark.sql import functions as F  # noqa: N812 - Spark's own name for it

import dovetail as dt
from dovetail.bind.sinks import folders_of


@pytest.fixture(scope="module")
def sides(spark):
    versions = [(1, 5, "five"), (1, 7, "seven"), (1, 6, "six"), (2, 1, "one")]
    left = spark.createDataFrame([(1, 9), (2, 9)], "id INT, n INT")
    right = spark.createDataFrame(versions, "id INT, version INT, word STRING")
    return left.coalesce(1), right.coalesce(1)


WRONG = {
    "unknown function": ({"select": {"x": "nofun(l.n)"}}, "nofun", 'select["x"]'),
    "bare name": ({"where": "n > 1 AND bare(n)"}, "", "where"),
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


def test_an_alias_is_told_before_spark_drops_it(sides):
    left, right = (dt.dataset(one) for one in sides)
    for wish in ({"select": {"a": "l.n as b"}}, {"where": "l.n > 1 b", "keep": 1}):
        with pytest.raises(dt.SpecError, match='has the name "b" of its own'):
            left.join(right, on="id", **wish)
    with pytest.raises(dt.SpecError, match='of "a" has the name "b" of its own'):
        left.together(right, on="id", select={"a": "l.n b"})
    joined = left.join(right, on="id", how="left", select={"n": "l.n"})
    with pytest.raises(dt.SpecError, match='of "n" has the name "b" of its own'):
        joined.pick(limit=1, exceeded={"n": "0 as b"})


def test_a_row_of_its_own_leaves_the_columns_in_their_types(sides):
    left, right = (dt.dataset(one) for one in sides)
    select = {"n": "CAST(l.n AS bigint)", "at": "CAST('2026-03-01' AS date)"}
    joined = left.join(right, on="id", select=select)
    types = [("n", "bigint"), ("at", "date")]
    assert joined.matched.dtypes == types
    own = joined.pick(limit=1, exceeded={"n": "0", "at": "'2026-01-02'"}).matched
    assert own.dtypes == types
    found = {(row.n, row.at.isoformat()) for row in own.collect()}
    assert found == {(0, "2026-01-02"), (9, "2026-03-01")}
    with pytest.raises(dt.SpecError) as caught:
        joined.pick(limit=1, exceeded={"n": "'many'"})
    told = """"'many'" in transform of "n" is string, and the column is bigint"""
    assert caught.value.found == told
    assert "CAST('many' AS bigint)" in caught.value.hint


@pytest.fixture(scope="module")
def functions(spark):
    """Two functions of the user: what one gives is chance, and he has said so."""
    spark.udf.register("dice", F.udf(lambda _: 4, "int").asNondeterministic())
    spark.udf.register("four", F.udf(lambda _: 4, "int"))


@pytest.mark.usefixtures("functions")
@pytest.mark.parametrize(
    "wish",
    [
        {"select": {"a": "{}(l.n)"}},
        {"select": {"a": "if(matched_left, {}(l.n), 0)"}},
        {"where": "{}(l.n) > 1", "select": {"a": "4"}},
    ],
)
def test_what_spark_takes_for_chance_is_refused_in_a_batch(sides, wish):
    left, right = (dt.dataset(one) for one in sides)

    def joined(name):
        said = {**wish, "select": {"a": wish["select"]["a"].format(name)}}
        said["where"] = wish.get("where", "true").format(name)
        return left.join(right, on="id", **said).matched

    with pytest.raises(dt.SpecError, match=r"dice.*is another value each time it is"):
        joined("dice")
    assert [row.a for row in joined("four").collect()] == [4] * 4


@pytest.mark.usefixtures("functions")
def test_what_spark_takes_for_chance_is_refused_of_an_order_and_a_stand_in(sides):
    left, right = (dt.dataset(one) for one in sides)
    with pytest.raises(
        dt.SpecError, match=r"order of rows, dice\(n\), is another value"
    ):
        dt.stream(sides[0], order="dice(n)")
    with pytest.raises(
        dt.SpecError, match=r'"rand\(\)" in order is another value each'
    ):
        dt.stream(sides[0], order="rand()")
    assert "four(n)" in repr(dt.stream(sides[0], order="four(n)"))
    joined = left.join(right, on="id", how="left", select={"n": "l.n"})
    with pytest.raises(dt.SpecError, match=r'exceeded\["n"\] is "dice\(l.n\)", which'):
        _ = joined.pick(limit=1, exceeded={"n": "dice(l.n)"}).matched


@pytest.mark.usefixtures("functions")
def test_what_spark_takes_for_chance_is_refused_on_streams(spark):
    ticks = spark.readStream.format("rate").load()
    sides = [
        dt.stream(ticks.selectExpr("1 k", f"timestamp {name}"), time=name)
        for name in ("at", "seen")
    ]
    left, right = (side.window(dt.range("1 hour")) for side in sides)
    with pytest.raises(dt.SpecError, match=r'select\["x"\] is "dice\(l.k\)", which is'):
        _ = left.join(right, on="k", select={"x": "dice(l.k)"}).matched
    assert left.join(right, on="k", select={"x": "four(l.k)"}).matched.isStreaming
    inner = left.join(right, on="k", select={"k": "l.k"}).window(dt.range("1 hour"))
    with pytest.raises(dt.SpecError, match=r'select\["x"\] is "dice\(l.k\)", which is'):
        _ = inner.join(right, on="k", select={"x": "dice(l.k)"}).matched


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
    with pytest.raises(dt.SpecError, match="refuses the order of rows, nofun"):
        dt.stream(sides[0], order="nofun(n)")
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


@pytest.fixture
def lying(spark, tmp_path):
    """Two folders of rows, as streams."""
    rows = spark.sql("select 1 k, timestamp'2026-01-01' at, 5 n")
    found = []
    for name in ("one", "other"):
        rows.write.parquet(str(tmp_path / name))
        source = spark.readStream.schema(rows.schema).parquet(str(tmp_path / name))
        found.append(source)
    return found


def met(lying, **facts):
    one, other = (dt.stream(it, time="at", **facts) for it in lying)
    hour = dt.range("1 hour")
    return one.window(hour).join(other.window(hour), on="k", select={"k": "l.k"})


@pytest.mark.parametrize(
    "order", ["nofun(n)", "sum(n)", "row_number() OVER (ORDER BY n)"]
)
def test_an_order_that_spark_refuses_is_told_whoever_looks_at_it(lying, order):
    with pytest.raises(
        dt.SpecError, match=r"(?s)refuses the order of rows.*hint: "
    ) as told:
        met(lying, order=order)
    assert order in told.value.found
    with pytest.raises(dt.SpecError, match="refuses the order of rows"):
        dt.table(lying[0], key="k", order=order)


def test_a_window_that_spark_refuses_is_told(lying):
    one, other = (dt.stream(it, time="at") for it in lying)
    span = one.window(dt.between("max(at)", "at"))
    joined = span.join(
        other.window(dt.between("at", "at")), on="k", select={"k": "l.k"}
    )
    told = r"(?s)Spark refuses what is computed of the rows of the left side.*hint: "
    with pytest.raises(dt.SpecError, match=told):
        joined.explain()


@pytest.mark.parametrize("where", ["one", "one/deep", "other"])
@pytest.mark.parametrize("is_sink", [True, False])
def test_nothing_is_written_into_what_is_read(lying, tmp_path, where, is_sink):
    place, free = tmp_path / where, tmp_path / "free"
    sink, checkpoint = (place, free) if is_sink else (free, place)
    before = sorted(tmp_path.rglob("*"))
    how = {"checkpoint": checkpoint, "trigger": {"availableNow": True}}
    with pytest.raises(
        dt.SpecError, match=r"from which rows come|, and rows come from"
    ):
        met(lying).write(matched=dt.folder(sink), **how)
    flow = dt.sql("SELECT STREAM k, n FROM a", {"a": replace_time(lying[0])})
    if where != "other":
        with pytest.raises(dt.SpecError, match="rows come"):
            flow.write({"result": dt.folder(sink)}, **how)
        sets = dt.stream(lying[1]), dt.stream(lying[0])
        together = dt.Rows.together(*sets, on="k", select={"k": "l.k"})
        with pytest.raises(dt.SpecError, match="rows come"):
            together.write(matched=dt.folder(sink), **how)
    assert sorted(tmp_path.rglob("*")) == before


def replace_time(frame):
    return dt.stream(frame.withColumnRenamed("at", "ROWTIME"), time="ROWTIME")


def test_folders_of_all_that_is_read_are_known(spark, lying, tmp_path):
    still = spark.read.parquet(str(tmp_path / "other"))
    both = lying[0].join(still.select("k"), "k")
    named = {it.removeprefix("file:") for it in folders_of(both.select("k"))}
    assert named == {str(tmp_path / "one"), str(tmp_path / "other")}
    assert not [*folders_of(spark.range(1))]
    assert not [*folders_of(spark.readStream.format("rate").load())]


def test_a_query_that_does_not_start_says_what_it_needs(lying, tmp_path):
    now, name = {"availableNow": True}, {"name": "one_name"}
    how = {"matched": dt.folder(tmp_path / "a"), "checkpoint": tmp_path / "b"}
    other = {"matched": dt.folder(tmp_path / "c"), "checkpoint": tmp_path / "d"}
    query = met(lying).write(**how, **name)
    try:
        with pytest.raises(dt.EngineError, match="a name that no running query has"):
            met(lying).write(**other, **name)
    finally:
        query.stop()
    lying[0] = lying[0].orderBy("k")
    with pytest.raises(dt.EngineError, match="expected streams of rows") as refused:
        met(lying).write(**other, trigger=now)
    assert "Sorting is not supported" in refused.value.found


@pytest.mark.parametrize("name", ["one", "none", "a_file"])
@pytest.mark.usefixtures("lying")
def test_a_result_is_read_where_there_is_one(spark, tmp_path, name):
    (tmp_path / "a_file").write_text("x")
    with pytest.raises(dt.EngineError, match=r"(?s)has no result.*hint: dt.folder"):
        dt.current(tmp_path / name).read(spark)
    with pytest.raises(dt.SpecError, match='spark="local"; expected a session'):
        dt.current(tmp_path / name).read("local")


def test_a_topic_without_a_connector_is_told():
    class Lacking:
        def __getattr__(self, _):
            return self

        def format(self, _):
            raise AnalysisException("Failed to find data source: kafka.")

    topic = dt.kafka("t", servers="b:1", columns={"k": "int"})
    with pytest.raises(dt.SpecError, match=r"(?s)Failed to find.*hint: docs/kafka.md"):
        topic.frame(Lacking())
