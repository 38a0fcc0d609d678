"""Folders as sinks: a batch that comes again leaves its rows once."""

from datetime import UTC, datetime

import pytest

import dovetail as dt
from dovetail.bind.sinks import Calling, path_exists
from dovetail.engines.spark_stream.writing import RowsOfOne, Writing
from dovetail.spec.inputs import Outlet

MOMENT = datetime(2024, 5, 6, 7, 8, 9, 123456, tzinfo=UTC)
DDL = "n bigint, word string, at timestamp"
ROWS = [(1, "a", MOMENT), (2, None, MOMENT), (3, "", None)]


@pytest.fixture
def utc(spark):
    """The session as a query sees it, whatever a test makes of it."""
    yield spark
    spark.conf.unset("spark.sql.sources.partitionOverwriteMode")


def frame(spark, rows=ROWS, ddl=DDL):
    return spark.createDataFrame(rows, ddl)


def batches(folder):
    return sorted(path.name for path in folder.glob("batch=*"))


def read(spark, folder, form="parquet"):
    rows = spark.read.schema(DDL).option("header", "true").format(form)
    return sorted(tuple(row)[:3] for row in rows.load(str(folder)).collect())


def test_a_batch_that_comes_again_replaces_itself(spark, tmp_path):
    sink = dt.folder(str(tmp_path))
    sink.write(frame(spark).repartition(3), 4, is_empty=False)
    sink.write(frame(spark).coalesce(1), 4, is_empty=False)
    assert spark.read.parquet(str(tmp_path)).count() == len(ROWS)


def test_what_a_crash_left_of_a_batch_is_replaced(spark, tmp_path):
    sink = dt.folder(str(tmp_path))
    sink.write(frame(spark), 0, is_empty=False)
    sink.write(frame(spark).repartition(3), 1, is_empty=False)
    (tmp_path / "batch=1/_SUCCESS").unlink()
    (tmp_path / "batch=1/_temporary/0/task").mkdir(parents=True)
    (tmp_path / "batch=1/_temporary/0/task/part-7.parquet").write_bytes(b"half")
    assert spark.read.parquet(str(tmp_path)).count() == 2 * len(ROWS)
    sink.write(frame(spark).limit(1), 1, is_empty=False)
    assert spark.read.parquet(str(tmp_path)).count() == len(ROWS) + 1
    assert not (tmp_path / "batch=1/_temporary").exists()


def test_a_session_that_overwrites_dynamically_replaces_too(utc, tmp_path):
    utc.conf.set("spark.sql.sources.partitionOverwriteMode", "dynamic")
    sink = dt.folder(str(tmp_path))
    sink.write(frame(utc), 4, is_empty=False)
    sink.write(frame(utc).limit(1), 4, is_empty=False)
    assert utc.read.parquet(str(tmp_path)).count() == 1


def test_only_the_first_batch_is_written_though_it_is_empty(spark, tmp_path):
    sink, nothing = dt.folder(str(tmp_path)), frame(spark).limit(0)
    sink.write(nothing, 0, is_empty=True)
    assert spark.read.parquet(str(tmp_path)).columns == ["n", "word", "at", "batch"]
    for number in (1, 2):
        sink.write(nothing, number, is_empty=True)
    assert batches(tmp_path) == ["batch=0"]
    sink.write(frame(spark), 3, is_empty=False)
    assert spark.read.parquet(str(tmp_path)).count() == len(ROWS)


def test_an_empty_batch_replaces_what_is_there_of_it(spark, tmp_path):
    sink = dt.folder(str(tmp_path))
    sink.write(frame(spark), 5, is_empty=False)
    sink.write(frame(spark).limit(0), 5, is_empty=True)
    assert spark.read.parquet(str(tmp_path)).count() == 0


@pytest.mark.parametrize("form", ["parquet", "json"])
def test_values_come_back_as_they_were(spark, tmp_path, form):
    dt.folder(str(tmp_path), format=form).write(frame(spark), 0, is_empty=False)
    expected = sorted(tuple(row) for row in frame(spark).collect())
    assert read(spark, tmp_path, form) == expected


def test_csv_has_a_head_and_whole_times(spark, tmp_path):
    dt.folder(str(tmp_path), format="csv").write(
        frame(spark, ROWS[:1]).coalesce(1), 0, is_empty=False
    )
    (part,) = (tmp_path / "batch=0").glob("part-*.csv")
    head, line = part.read_text().splitlines()
    assert (head, line) == ("n,word,at", "1,a,2024-05-06T07:08:09.123456Z")


@pytest.mark.parametrize("form", ["csv", "json"])
def test_times_without_a_zone_are_whole_too(spark, tmp_path, form):
    row = spark.sql("SELECT timestamp_ntz'1969-12-31 23:59:59.000001' AS at")
    dt.folder(str(tmp_path), format=form).write(row, 0, is_empty=False)
    (part,) = (tmp_path / "batch=0").glob(f"part-*.{form}")
    assert "1969-12-31T23:59:59.000001" in part.read_text()
    back = spark.read.schema("at TIMESTAMP_NTZ").option("header", "true").format(form)
    assert back.load(str(tmp_path)).select("at").collect() == row.collect()


def test_json_shows_what_is_null(spark, tmp_path):
    dt.folder(str(tmp_path), format="json").write(
        frame(spark, ROWS[1:2]).coalesce(1), 0, is_empty=False
    )
    (part,) = (tmp_path / "batch=0").glob("part-*.json")
    assert '"word":null' in part.read_text()


def test_csv_refuses_columns_within_columns(spark, tmp_path):
    sink = dt.folder(str(tmp_path), format="csv")
    with pytest.raises(dt.SpecError, match='csv cannot hold the column "left" of'):
        sink.prepare(frame(spark, [], "side string, left struct<n: int>"), is_new=True)
    sink.prepare(frame(spark), is_new=True)


def test_the_batches_of_another_query_are_not_replaced(spark, tmp_path):
    sink = dt.folder(str(tmp_path))
    sink.prepare(frame(spark), is_new=True)
    sink.write(frame(spark), 0, is_empty=False)
    sink.prepare(frame(spark), is_new=False)
    with pytest.raises(dt.SpecError, match="has rows of another query") as refusal:
        sink.prepare(frame(spark), is_new=True)
    assert "or the checkpoint that belongs to it" in str(refusal.value)


def test_a_name_within_may_have_stars_and_a_path_has_none(spark, tmp_path):
    out = tmp_path / "out[*]"
    assert not path_exists(spark, f"{out}", "/batch=*")
    (out / "batch=3").mkdir(parents=True)
    assert path_exists(spark, f"{out}", "/batch=*")
    assert not path_exists(spark, f"{out}/batch=*")


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("nosuch://host/out", 'No FileSystem for scheme "nosuch"'),
        ("data:out", "Relative path in absolute URI: data:out"),
    ],
)
def test_a_path_that_spark_cannot_reach_is_told_in_words(spark, path, said):
    with pytest.raises(dt.EngineError, match="Spark cannot look at") as refusal:
        dt.folder(path).prepare(frame(spark), is_new=True)
    assert said in str(refusal.value)
    assert "s3a://bucket/out with its jar" in str(refusal.value)


@pytest.mark.parametrize("name", ["batch", "BATCH"])
def test_a_column_that_the_folders_would_replace_is_refused(spark, tmp_path, name):
    sink = dt.folder(tmp_path)
    with pytest.raises(dt.SpecError, match=f'have a column "{name}"') as refusal:
        sink.prepare(frame(spark).withColumnRenamed("n", name), is_new=True)
    assert 'select={"lot": "l.batch"}' in refusal.value.hint


# --- a query's batches, one after the other -----------------------------------------


def one_outlet(sink):
    return Writing(RowsOfOne(Outlet.MATCHED), {Outlet.MATCHED: sink})


def jobs(spark, writing, rows, number):
    """How many jobs a batch costs."""
    group = f"batch {number}"
    spark.sparkContext.setJobGroup(group, "")
    try:
        writing.write(rows, number)
        return len(spark.sparkContext.statusTracker().getJobIdsForGroup(group))
    finally:
        spark.sparkContext.setLocalProperty("spark.jobGroup.id", None)


def test_an_outlet_that_had_rows_is_written_without_a_look(spark, tmp_path):
    rows, writing = spark.range(3).toDF("n"), one_outlet(dt.folder(tmp_path))
    nothing = rows.where("n > 7")
    assert jobs(spark, writing, rows, 4) == 1
    assert jobs(spark, writing, rows, 5) == 1
    # It falls silent: one folder says so, and from there on it is looked at.
    assert jobs(spark, writing, nothing, 6) == 1
    jobs(spark, writing, nothing, 7)
    assert batches(tmp_path) == ["batch=4", "batch=5", "batch=6"]
    jobs(spark, writing, rows, 8)
    assert jobs(spark, writing, rows, 9) == 1
    assert spark.read.parquet(str(tmp_path)).count() == 4 * 3


def test_the_first_batch_of_a_run_replaces_what_is_there(spark, tmp_path):
    rows, sink = spark.range(3).toDF("n"), dt.folder(tmp_path)
    one_outlet(sink).write(rows, 3)
    one_outlet(sink).write(rows.where("n > 7"), 3)
    assert spark.read.parquet(str(tmp_path)).count() == 0


def test_a_function_hears_of_each_batch_and_reads_it_as_it_likes(spark):
    heard = []

    def take(rows, number):
        heard.append((number, rows.count(), rows.count()))

    writing = one_outlet(Calling(take))
    for number, few in ((0, 3), (1, 0), (2, 1)):
        writing.write(spark.range(few), number)
    assert heard == [(0, 3, 3), (1, 0, 0), (2, 1, 1)]


def test_what_breaks_in_a_worker_is_no_mistake_of_the_folder(spark, tmp_path):
    def broken(batches):
        raise ValueError(f"the operator broke, {next(batches).num_rows}")

    rows = spark.range(3).mapInArrow(broken, "id long")
    with pytest.raises(Exception, match="the operator broke") as error:
        one_outlet(dt.folder(tmp_path)).write(rows, 0)
    assert not isinstance(error.value, dt.EngineError)
    (tmp_path / "batch=1").touch()
    with pytest.raises(dt.EngineError, match=r'matched" is not written: the folder "'):
        one_outlet(dt.folder(tmp_path / "batch=1")).write(spark.range(3), 1)


class Ledger:
    """A sink of a user's own, which may refuse rows in its own words, or break."""

    place = "the ledger"
    reads_once = False

    def __init__(self, error=None):
        self.error, self.batches = error, []

    def prepare(self, *_, **__):
        if self.error:
            raise self.error

    def write(self, rows, batch, **_):
        self.batches.append((batch, rows.count()))


def written(spark, folder, sink):
    """A query that writes a row of a stream into a sink, to its end."""
    frame(spark).write.parquet(str(folder / "in"))
    rows = dt.stream(spark.readStream.schema(DDL).parquet(str(folder / "in")))
    right = dt.dataset(frame(spark))
    joined = rows.join(right, on="n", select={"n": "l.n"})
    now = {"availableNow": True}
    query = joined.write(matched=sink, checkpoint=folder / "state", trigger=now)
    query.awaitTermination()


class Shelf(dt.Folder):
    """A folder of a user's own, which breaks before it takes a row."""

    def prepare(self, *_, **__):
        raise LookupError("no page 7")


@pytest.mark.parametrize("kind", [Ledger, Shelf])
def test_a_sink_of_a_user_that_breaks_before_the_start_is_told(spark, tmp_path, kind):
    path = str(tmp_path / "out")
    sink = Shelf(path) if kind is Shelf else Ledger(LookupError("no page 7"))
    with pytest.raises(dt.EngineError) as caught:
        written(spark, tmp_path / "a", sink)
    assert str(caught.value) == (
        f"no rows are written: prepare of {kind.__name__}, which writes into "
        f"{sink.place}, failed: LookupError: no page 7; expected a sink that takes the "
        "rows, or refuses them with a DovetailError"
    )
    assert isinstance(caught.value.__cause__, LookupError)


def test_a_sink_of_a_user_may_refuse_rows_or_take_them(spark, tmp_path):
    with pytest.raises(dt.SpecError, match="no rows of mine"):
        written(spark, tmp_path / "b", Ledger(dt.SpecError("no rows of mine")))
    ledger = Ledger()
    written(spark, tmp_path / "c", ledger)
    assert ledger.batches == [(0, len(ROWS))]


class Deaf(Ledger):
    """A sink that says that it reads its rows, and does not."""

    reads_once = True

    def write(self, rows, batch, **_):
        self.batches.append((batch, rows.columns))


def test_a_sink_that_does_not_read_its_rows_is_told_and_not_waited_for(
    spark, monkeypatch
):
    monkeypatch.setattr("dovetail.engines.spark_stream.writing._PATIENCE", 0.5)
    with pytest.raises(dt.EngineError, match="of batch 0 are not read by the ledger"):
        one_outlet(Deaf()).write(spark.range(3), 0)


def test_what_breaks_while_rows_are_counted_is_no_fault_of_the_sink(spark, monkeypatch):
    def broken(_):
        raise RuntimeError("the session is over")

    seen = "dovetail.engines.spark_stream.writing.Observation.get"
    monkeypatch.setattr(seen, property(broken))
    with pytest.raises(RuntimeError, match="the session is over"):
        one_outlet(Deaf()).write(spark.range(3), 0)
