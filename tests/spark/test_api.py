"""Joins written in Python, run on Spark: restarts, outlets, silence, batches."""

import os
import time
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import dovetail as dt
from dovetail.conformance import oracle
from dovetail.engines.spark_stream.checkpoint import kept_in, read_checkpoint
from dovetail.expression import Expression
from dovetail.spec.inputs import Outlet
from dovetail.spec.join import Columns, Play
from tests.chaos import events, query
from tests.spark.rows import bag, differences

NOW = {"availableNow": True}
PARTITIONS = "spark.sql.shuffle.partitions"
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
PATIENCE = 600
"""Seconds that a busy machine may need for a few batches."""


# --- one query, started again and again ---------------------------------------------

RECORDS = "spark.sql.execution.arrow.maxRecordsPerBatch"


def sinks(folder):
    names = query.SHAPES["outer"].outlets
    return {name: dt.folder(str(folder / name)) for name in names}


def run(joined, folder, **others):
    """Runs a join over all that is there; returns how many batches it took."""
    checkpoint = str(folder / "checkpoint")
    written = joined.write(
        checkpoint=checkpoint, trigger=NOW, **{**sinks(folder), **others}
    )
    written.awaitTermination()
    return len([one for one in written.recentProgress if one["numInputRows"]])


def give(folder, numbers):
    """Lets the query see some of the files."""
    for hand in "lr":
        (folder / hand).mkdir(exist_ok=True)
        for number in numbers:
            name = f"{hand}/{number:04}.parquet"
            (folder / "all" / name).rename(folder / name)


@pytest.fixture
def recorded(tmp_path):
    """Five files a side, of which the query sees the first two."""
    events.write(tmp_path / "all", "lr", 4, seed=2)
    (tmp_path / "shape").write_text("outer")
    give(tmp_path, (0, 1))
    return tmp_path


@pytest.fixture
def partitions(spark):
    """Sets how many partitions the session asks for, and puts it back."""
    before = spark.conf.get(PARTITIONS)
    yield lambda count: spark.conf.set(PARTITIONS, str(count))
    spark.conf.set(PARTITIONS, before)


def test_a_query_goes_on_where_it_stopped(spark, recorded, partitions):
    assert kept_in(spark, str(recorded / "checkpoint")) == ()
    assert run(query.join(spark, recorded), recorded) == 2
    kept = kept_in(spark, str(recorded / "checkpoint"))
    assert [one.buckets for one in kept] == [8]
    give(recorded, (2, 3, 4))
    # Keys stay in their buckets, however many partitions are asked for now.
    partitions(5)
    assert run(query.join(spark, recorded), recorded) == 3
    assert kept_in(spark, str(recorded / "checkpoint")) == kept
    assert differences(spark, recorded, 4, seed=2) == {}
    refused_on(recorded, query.join(spark, recorded))


def test_state_moves_into_the_partitions_that_a_start_asks_for(spark, recorded):
    checkpoint = str(recorded / "checkpoint")
    run(query.join(spark, recorded), recorded)
    before = read_checkpoint(spark, checkpoint)
    assert (before.partitions, before.buckets) == (2, 8)
    with pytest.raises(dt.EngineError, match="=8 at most, got 9"):
        run(query.join(spark, recorded), recorded, partitions=9)
    for numbers, asked, found in (((2,), 4, 4), ((3,), None, 4), ((4,), 1, 1)):
        give(recorded, numbers)
        assert run(query.join(spark, recorded), recorded, partitions=asked) == 1
        after = read_checkpoint(spark, checkpoint)
        assert (after.partitions, after.kept) == (found, before.kept)
    assert differences(spark, recorded, 4, seed=2) == {}


SAID = {
    "window": r"preceding of the left window is .9 seconds. and was",
    "key": r"the left key 1 is not said and was",
    "condition": r"the condition is .* and was",
    "select": r"the output column \"\w+\" is not said and was",
}


def refused_on(folder, joined):
    """Starts of other joins on a checkpoint are refused, before anything runs."""
    spec = joined.request
    others = {
        "window": replace(spec, left=replace(spec.left, window=dt.range("9 seconds"))),
        "key": replace(spec, hard=()),
        "condition": replace(spec, soft=replace(spec.soft, text="l.l_n < r.r_n")),
        "select": replace(spec, select=Columns(spec.select.columns[1:])),
    }
    for name, other in others.items():
        told = f"has the state of another join: .*{SAID[name]}"
        with pytest.raises(dt.EngineError, match=told):
            run(replace(joined, request=other), folder)
    with pytest.raises(dt.SpecError, match="has rows of another query"):
        joined.write(checkpoint=str(folder / "new"), trigger=NOW, **sinks(folder))
    assert not (folder / "new").exists()
    # What comes out is no part of the state: there may be more of it, elsewhere.
    more = Columns((*spec.select.columns, ("more", Expression("l.l_n + 1"))))
    wider = replace(joined, request=replace(spec, select=more))
    assert run(wider, folder, matched=lambda _rows, _batch: None) == 0


def minutes(spark, folder, *times):
    """A stream of rows at these minutes, a batch each; the last moves the bound."""
    folder.mkdir()
    for number, minute in enumerate(times):
        at = pa.array([EPOCH + timedelta(minutes=minute)], pa.timestamp("us", "UTC"))
        lines = pa.table({"k": [minute // 100], "at": at, "n": [minute]})
        path = folder / f"{number}.parquet"
        pq.write_table(lines, path)
        # Files are read by age, and these are of one moment.
        os.utime(path, (number, number))
    files = spark.readStream.schema("k BIGINT, at TIMESTAMP, n BIGINT")
    feed = files.option("maxFilesPerTrigger", 1).parquet(str(folder))
    return dt.stream(feed, time="at", lateness="1 hour")


def test_the_nearest_row_and_the_first_two(spark, tmp_path):
    left = minutes(spark, tmp_path / "l", 10, 30, 500)
    right = minutes(spark, tmp_path / "r", 40, 9, 25, 29, 12, 500)
    hour, wish = dt.range(preceding="1 hour"), {"l": "l.n", "r": "r.n"}
    nearest = left.join(right, on="k", asof=dt.asof("l.at", "r.at"), select=wish)
    counted = {**wish, "n": "counter"}
    first = left.window(hour).join(right.window(hour), on="k", keep=2, select=counted)
    found = []
    for number, joined in enumerate((nearest, first)):
        out, checkpoint = (str(tmp_path / f"{name}{number}") for name in ("out", "c"))
        query = joined.write(matched=dt.folder(out), checkpoint=checkpoint, trigger=NOW)
        query.awaitTermination()
        rows = spark.read.parquet(out).drop("batch").collect()
        found.append(sorted(tuple(row) for row in rows))
    both = [(10, 9, 1), (10, 12, 2), (30, 9, 1), (30, 12, 2)]
    assert found == [[(10, 9), (30, 29)], both]


def test_a_checkpoint_of_another_program_is_refused(spark, tmp_path):
    rate = spark.readStream.format("rate").load().groupBy("value").count()
    writer = rate.writeStream.format("noop").outputMode("update").trigger(**NOW)
    writer.option("checkpointLocation", str(tmp_path)).start().awaitTermination()
    with pytest.raises(dt.EngineError, match="has no state of a join; expected a"):
        kept_in(spark, str(tmp_path))


@pytest.mark.parametrize(("own", "used"), [("", "1000"), ("500", "500")])
def test_rows_go_to_python_by_the_thousand_unless_the_session_says_how(
    spark, recorded, own, used
):
    seen = []

    def take(rows, _):
        seen.append(rows.sparkSession.conf.get(RECORDS))

    if own:
        spark.conf.set(RECORDS, own)
    try:
        run(query.join(spark, recorded), recorded, matched=take)
        assert spark.conf.get(RECORDS) == (own or "10000")
    finally:
        spark.conf.unset(RECORDS)
    assert set(seen) == {used}


def test_functions_are_sinks_and_need_not_look_at_the_rows(spark, recorded):
    seen = []
    run(
        query.join(spark, recorded),
        recorded,
        matched=lambda rows, number: seen.append((number, rows.columns)),
        left_unmatched=lambda rows, _: rows.limit(1).collect(),
    )
    columns = ["k", "at_l", "l_n", "sequence_l", "at_r", "r_n", "sequence_r"]
    assert seen == [(number, columns) for number in (0, 1)]


# --- silence ------------------------------------------------------------------------


def seconds(*numbers):
    return [{"k": 1, "at": EPOCH + timedelta(seconds=one)} for one in numbers]


def put(folder, rows):
    """Writes rows as one more file, visible at once."""
    folder.mkdir(exist_ok=True)
    number = len(list(folder.glob("*.parquet")))
    schema = pa.schema([("k", pa.int64()), ("at", pa.timestamp("us", "UTC"))])
    made = folder / f".{number}"
    pq.write_table(pa.Table.from_pylist(rows, schema=schema), made)
    os.utime(made, (number, number))  # Spark reads the oldest first
    made.rename(folder / f"{number}.parquet")


def sided(spark, folder, idle):
    """A left join in which either side may fall silent."""
    left, right = (
        dt.stream(
            spark.readStream.schema("k bigint, at timestamp")
            .option("maxFilesPerTrigger", 1)
            .parquet(str(folder / hand)),
            time="at",
            idle=idle,
        ).window(dt.range(preceding="4 seconds"))
        for hand in "lr"
    )
    return left.join(right, on="k", how="left", suffixes=("", "_r"), unmatched="outlet")


def read_seconds(folder, side=""):
    """The times of all rows in batches that are written in full."""
    batches = [path.parent for path in folder.glob("batch=*/_SUCCESS")]
    tables = [pq.read_table(path, partitioning=None) for path in batches]
    rows = [row for table in tables for row in table.to_pylist()]
    times = [(row[side] if side else row)["at"] for row in rows]
    return sorted((one - EPOCH).total_seconds() for one in times)


def wait_for(told):
    ends = time.monotonic() + PATIENCE
    while not told():
        assert time.monotonic() < ends
        time.sleep(0.1)


def test_a_side_that_falls_silent_lets_the_other_go(spark, tmp_path):
    put(tmp_path / "l", seconds(0, 50, 100))
    put(tmp_path / "r", seconds(0, 1))
    joined = sided(spark, tmp_path, "1 second")
    written = joined.write(checkpoint=str(tmp_path / "checkpoint"), **sinks(tmp_path))
    try:
        wait_for(lambda: read_seconds(tmp_path / "left_unmatched"))
        # The right side counts as being where the left one is: 30 comes too late.
        put(tmp_path / "r", seconds(30, 103))
        wait_for(lambda: read_seconds(tmp_path / "late", side="right"))
        wait_for(lambda: len(read_seconds(tmp_path / "matched")) == 3)
    finally:
        written.stop()
    assert written.exception() is None
    assert read_seconds(tmp_path / "left_unmatched") == [50]
    assert read_seconds(tmp_path / "matched") == [0, 0, 100]
    assert read_seconds(tmp_path / "late", side="right") == [30]


def test_rows_that_are_bounds_are_no_rows_and_say_how_far_a_side_is(spark, tmp_path):
    put(tmp_path / "l", seconds(0, 50, 100))
    # The right side is as far as its second row says, which is none.
    beat = {"k": -1, "at": EPOCH + timedelta(seconds=55)}
    put(tmp_path / "r", [*seconds(1), beat])
    left, right = (
        dt.stream(
            spark.readStream.schema("k bigint, at timestamp").parquet(
                str(tmp_path / hand)
            ),
            time="at",
            lateness="1 minute" if hand == "r" else "0 seconds",
            bounds="k = -1",
        ).window(dt.range(preceding="4 seconds"))
        for hand in "lr"
    )
    joined = left.join(
        right, on="k", how="full", suffixes=("", "_r"), unmatched="outlet"
    )
    run(joined, tmp_path, right_unmatched=dt.folder(str(tmp_path / "right")))
    assert read_seconds(tmp_path / "matched") == [0]
    # 100 waits: a partner may still come.
    assert read_seconds(tmp_path / "left_unmatched") == [50]
    assert read_seconds(tmp_path / "right") == []


def test_a_heartbeat_neither_ends_nor_joins_the_batches_of_what_is_there(
    spark, tmp_path
):
    for number in range(3):
        put(tmp_path / "l", seconds(number * 10))
        put(tmp_path / "r", seconds(number * 10 + 1))
    assert run(sided(spark, tmp_path, "1 hour"), tmp_path) == 3
    assert read_seconds(tmp_path / "matched") == [0, 10, 20]


# --- batches ------------------------------------------------------------------------

KINDS = ["inner", "left", "right", "full", "semi", "anti", "right_only", "full_only"]
ROWS = {
    hand: [row for of, row in events.rows("lr", 2, seed=4) if of == hand]
    for hand in "lr"
}


def finite(spark, hand):
    kinds = events.columns(hand).items()
    schema = pa.schema([(name, kind) for name, (_, kind) in kinds])
    return spark.createDataFrame(pa.Table.from_pylist(ROWS[hand], schema=schema))


@pytest.mark.parametrize("how", KINDS)
def test_a_join_of_finite_rows_is_the_definition(spark, how):
    left, right = (
        dt.stream(finite(spark, hand), time="at").window(dt.range("2 seconds"))
        for hand in "lr"
    )
    preserving = how in {"left", "right", "full"}
    joined = left.join(
        right,
        on="k",
        where="l.l_n <> r.r_n",
        how=how,
        suffixes=("", "_r"),
        unmatched="outlet" if preserving else "joined",
    )
    inputs = {
        name: replace(joined.inputs[name], rows=tuple(ROWS[name[0]]))
        for name in joined.inputs
    }
    found = oracle.play(Play(joined.request, inputs))
    for outlet in {one.outlet for one in found} - {Outlet.LATE}:
        rows = [one.row for one in found if one.outlet is outlet]
        frame = getattr(joined, outlet.value)
        assert bag(frame.toArrow().to_pylist()) == bag(rows)


# --- two tables that change ----------------------------------------------------------


def versions(spark, folder, *batches):
    """A table's versions: a file, and so a batch, for each list of rows (k, n)."""
    folder.mkdir(parents=True)
    for number, rows in enumerate(batches):
        path = folder / f"{number}.parquet"
        keys, numbers = zip(*rows, strict=True)
        pq.write_table(pa.table({"k": keys, folder.name: numbers}), path)
        os.utime(path, (number, number))
    files = spark.readStream.schema(f"k BIGINT, {folder.name} BIGINT")
    read = files.option("maxFilesPerTrigger", 1).parquet(str(folder))
    return dt.table(read, key="k", order=folder.name)


def test_two_tables_tell_the_changes_of_their_join(spark, tmp_path):
    stock = versions(spark, tmp_path / "stock", [(1, 10), (2, 20)], [(1, 11)])
    price = versions(spark, tmp_path / "price", [(1, 5)], [(2, 6)])
    columns = {"k": "l.k", "stock": "l.stock", "price": "r.price"}
    joined = stock.join(price, on="k", how="left", select=columns)
    found = []

    def take(rows, _):
        found.append(sorted(map(tuple, rows.collect()), key=str))

    checkpoint = str(tmp_path / "checkpoint")
    joined.write(matched=take, checkpoint=checkpoint, trigger=NOW).awaitTermination()
    first, second = found
    # Of a batch the left rows come first: each is there before it has a price.
    assert first == [
        (1, 10, 5, "update_after"),
        (1, 10, None, "insert"),
        (1, 10, None, "update_before"),
        (2, 20, None, "insert"),
    ]
    assert second == [
        (1, 10, 5, "update_before"),
        (1, 11, 5, "update_after"),
        (2, 20, 6, "update_after"),
        (2, 20, None, "update_before"),
    ]
    taken = stock.join(price, on="k", select={"change": "l.k"})
    with pytest.raises(dt.SpecError, match='a column is called "change"'):
        taken.write(matched=take, checkpoint=str(tmp_path / "b"), trigger=NOW)
