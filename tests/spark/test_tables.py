"""A stream beside an ordinary DataFrame: who joins, the copy, restarts, cuts."""

import os
from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.errors import StreamingQueryException

import dovetail as dt
from dovetail import spec
from dovetail.conformance import oracle
from dovetail.engines.spark.rules import plain_rules
from dovetail.engines.spark.sizes import LIMIT
from dovetail.engines.spark_stream.settings import PROVIDER, ROCKS_DB
from tests.spark.rows import bag

NOW = {"availableNow": True}
EPOCH = datetime(2026, 1, 1, tzinfo=UTC)
ORDERS = [
    {"id": number, "who": who, "at": EPOCH + timedelta(minutes=minute)}
    for number, (who, minute) in enumerate(
        [(1, 0), (2, 9), (1, 5), (None, 6), (3, 30), (4, 31), (1, 7), (2, 32)]
    )
]
PEOPLE = [
    {"key": key, "name": name, "since": EPOCH + timedelta(minutes=minute)}
    for key, name, minute in [
        (1, "Ada", 1),
        (2, "Ben", 2),
        (1, "Ann", 3),
        (None, "Cy", 4),
        (9, "Dan", 8),
        (3, "Eve", 40),
    ]
]
ARROW = {"at": pa.timestamp("us", "UTC"), "since": pa.timestamp("us", "UTC")}
DDL = "id BIGINT, who BIGINT, at TIMESTAMP"


def arrow(rows):
    """Rows as a table of Arrow."""
    kinds = [(name, ARROW.get(name, pa.int64())) for name in rows[0]]
    kinds = [(name, pa.string() if name == "name" else kind) for name, kind in kinds]
    return pa.Table.from_pylist(rows, schema=pa.schema(kinds))


class Shop:
    """Orders that come in batches of a size, beside a table of people."""

    def __init__(self, spark, folder):
        self.spark, self.folder = spark, folder
        for name in ("orders", "parcels"):
            (folder / name).mkdir(exist_ok=True)
        pq.write_table(arrow(PEOPLE), folder / "people.parquet")

    def give(self, rows, size=8, name="orders"):
        """Lets more orders come, in batches of a size."""
        there = len(list((self.folder / name).glob("*.parquet")))
        for number, first in enumerate(range(0, len(rows), size), there):
            path = self.folder / name / f"{number:03}.parquet"
            pq.write_table(arrow(rows[first : first + size]), path)
            os.utime(path, (1000 + number, 1000 + number))  # the oldest is read first

    def orders(self, name="orders", **facts):
        """The stream."""
        files = self.spark.readStream.schema(DDL).option("maxFilesPerTrigger", 1)
        return dt.stream(files.parquet(str(self.folder / name)), **facts)

    def people(self):
        """The table, as it is now."""
        return self.spark.read.parquet(str(self.folder / "people.parquet"))

    def write(self, joined, **how):
        """Runs a join over all that is there; returns its query."""
        sinks = {
            outlet.value: dt.folder(self.folder / "out" / outlet.value)
            for outlet in (*spec.outlets_of(joined.request), spec.Outlet.LATE)
        }
        asked = {"trigger": NOW, "checkpoint": self.folder / "checkpoint", **how}
        query = joined.write(**sinks, **asked)
        query.awaitTermination()
        return query

    def read(self, joined):
        """The rows of every outlet that has any, late rows as the definition has."""
        found = {}
        for outlet in (*spec.outlets_of(joined.request), spec.Outlet.LATE):
            rows = self.spark.read.parquet(str(self.folder / "out" / outlet.value))
            plain = rows.drop("batch").toArrow().to_pylist()
            if outlet is spec.Outlet.LATE:
                plain = [{**one[one["side"]], "reason": one["reason"]} for one in plain]
            found[outlet] = bag(plain)
        return {outlet: rows for outlet, rows in found.items() if rows}


def defined(joined, *, orders=ORDERS, people=PEOPLE, ends=True):
    """What the definition gives, by outlet."""
    hands = {
        hand: joined.inputs[hand.value]
        for hand in spec.HANDS
        if joined.feeds[hand].streams
    }
    (stream,) = hands
    kept = replace(joined.inputs[stream.other.value], rows=tuple(people))
    inputs = {**joined.inputs, stream.other.value: kept}
    events = [spec.Arrive(stream.value, row) for row in orders]
    events += [spec.Finish(name) for name in inputs] if ends else []
    play = spec.Play(joined.request, inputs, tuple(events))
    found = {}
    for one in oracle.play(play):
        found.setdefault(one.outlet, []).append(one.row)
    found.pop(spec.Outlet.MARKS, None)
    return {outlet: bag(rows) for outlet, rows in found.items()}


KEYS = {"on": [("who", "key")]}


def by_spark(shop):
    """Joins that Spark makes by itself."""
    orders, people = shop.orders(), dt.dataset(shop.people())
    table = dt.table(shop.people(), key="key")
    for how in ("inner", "left", "semi", "anti"):
        yield orders.join(people, how=how, **KEYS)
    yield orders.join(people, how="left", unmatched="outlet", **KEYS)
    yield orders.join(people, how="left", where="r.key > l.who - 1 and l.id > 2")
    yield orders.join(table, how="left", **KEYS)
    mirrored = {"on": [("key", "who")]}
    wish = {"n": "r.id", "name": "coalesce(l.name, '-')", "known": "matched_left"}
    yield people.join(orders, how="right", select=wish, **mirrored)
    yield people.join(orders, how="right_semi", **mirrored)


def by_us(shop):
    """Joins for which rows must be remembered, or may be late."""
    orders, people = shop.orders(), dt.dataset(shop.people())
    # A row is late behind the bound before its batch: that of order 6 is.
    timed = shop.orders(time="at", lateness="4 minutes")
    since = dt.dataset(shop.people(), time="since")
    versions = dt.table(shop.people().where("key is not null"), key="key", time="since")
    nearest = dt.asof("l.at", "r.since", direction="nearest")
    yield orders.join(people, how="full", unmatched="outlet", **KEYS)
    yield orders.join(people, how="right_semi", **KEYS)
    yield orders.join(people, how="left", asof=nearest, **KEYS)
    yield orders.join(people, keep=1, **KEYS)
    yield timed.join(people, how="left", unmatched="outlet", **KEYS)
    yield timed.join(since, how="left", **KEYS)
    yield timed.join(people, how="full", unmatched="outlet", **KEYS)
    yield timed.join(versions, how="left", unmatched="outlet", **KEYS)


@pytest.mark.parametrize("number", range(9))
def test_spark_joins_where_each_row_stands_alone(spark, tmp_path, number):
    shop = Shop(spark, tmp_path)
    shop.give(ORDERS, size=3)
    joined = [*by_spark(shop)][number]
    assert "Spark's own join" in joined.explain()
    shop.write(joined)
    assert shop.read(joined) == defined(joined)


@pytest.mark.parametrize(
    "number",
    [
        pytest.param(number, marks=[] if number in {0, 1, 6, 7} else [pytest.mark.long])
        for number in range(8)
    ],
)
def test_rows_that_are_remembered_go_through_the_operator(spark, tmp_path, number):
    shop = Shop(spark, tmp_path)
    shop.give(ORDERS, size=3)
    joined = [*by_us(shop)][number]
    assert "Spark does not join by itself" in joined.explain()
    # In order of arrival rows of the table that met nobody never come out.
    shop.write(joined, finish=True if number else None)
    people = [one for one in PEOPLE if number < 7 or one["key"] is not None]
    assert shop.read(joined) == defined(joined, people=people)


# --- in a row with other joins --------------------------------------------------------

PARCELS = [
    {"id": 10 + number, "who": who, "at": EPOCH + timedelta(minutes=minute)}
    for number, (who, minute) in enumerate([(1, 2), (2, 8), (3, 29), (1, 9), (5, 33)])
]
ALL = {"id": "l.id", "who": "l.who", "name": "r.name"}


def before(shop):
    """A stream beside a table, whose rows go on to a join with a stream."""
    orders, parcels = (
        shop.orders(name, time="at", lateness="1 hour").window(dt.range("5 minutes"))
        for name in ("orders", "parcels")
    )
    known = shop.orders(time="at", lateness="1 hour").join(
        dt.dataset(shop.people()), how="left", select=ALL, **KEYS
    )
    both = known.window(dt.range("5 minutes")).join(
        parcels, on="who", how="left", suffixes=("", "_sent")
    )
    yield both, [("left.left", ORDERS), ("left.right", PEOPLE), ("right", PARCELS)]
    met = orders.join(parcels, on="who", how="full", select=SENT)
    last = met.join(dt.dataset(shop.people()), how="left", **KEYS)
    yield last, [("left.left", ORDERS), ("left.right", PARCELS), ("right", PEOPLE)]


SENT = {"who": "coalesce(l.who, r.who)", "id": "l.id", "sent": "r.id"}


def played(joined, given):
    """What the definition gives of rows of inputs, in the order in which they come."""
    inputs = dict(joined.inputs)
    events = []
    for name, rows in given:
        if inputs[name].kind is spec.InputKind.STREAM:
            events += [spec.Arrive(name, row) for row in rows]
        else:
            inputs[name] = replace(inputs[name], rows=tuple(rows))
    events += [spec.Finish(name) for name in inputs]
    play = spec.Play(joined.request, inputs, tuple(events))
    rows = [one.row for one in oracle.play(play) if one.outlet is spec.Outlet.MATCHED]
    return {spec.Outlet.MATCHED: bag(rows)}


@pytest.mark.parametrize("number", [0, pytest.param(1, marks=pytest.mark.long)])
def test_a_table_stands_in_a_row_with_streams(spark, tmp_path, number):
    shop = Shop(spark, tmp_path)
    shop.give(ORDERS, size=3)
    shop.give(PARCELS, size=2, name="parcels")
    joined, given = [*before(shop)][number]
    shop.write(joined, finish=False)
    # Who is there at the first start is there for good.
    pq.write_table(arrow(PEOPLE[:1]), tmp_path / "people.parquet")
    joined, _ = [*before(shop)][number]
    shop.write(joined, finish=True)
    assert shop.read(joined) == played(joined, given)


def test_tables_in_a_row_are_joined_by_spark(spark, tmp_path):
    shop = Shop(spark, tmp_path)
    shop.give(ORDERS, size=3)
    people = dt.dataset(shop.people())
    known = shop.orders().join(people, how="left", select=ALL, **KEYS)
    joined = known.join(people, on="name", how="left", suffixes=("", "_again"))
    assert joined.explain().count("Spark's own join") == 2
    query = shop.write(joined)
    *_, last = dt.follow(query)
    assert last.came == len(ORDERS)
    given = [("left.left", ORDERS), ("left.right", PEOPLE), ("right", PEOPLE)]
    assert shop.read(joined) == played(joined, given)


def test_rows_in_the_order_of_a_number_meet_a_table_first(spark, tmp_path):
    shop = Shop(spark, tmp_path)
    shop.give(ORDERS, size=4)
    shop.give(PARCELS, size=3, name="parcels")
    orders, parcels = (shop.orders(name, order="id") for name in ("orders", "parcels"))
    known = orders.join(dt.dataset(shop.people()), select=ALL, **KEYS)
    newest = parcels.window(dt.rows(1))
    joined = known.window(dt.rows(2)).join(newest, on="who", suffixes=("", "_sent"))
    shop.write(joined)
    batches = [("left.left", ORDERS[:4]), ("right", PARCELS[:3])]
    batches += [("left.left", ORDERS[4:]), ("right", PARCELS[3:])]
    assert shop.read(joined) == played(joined, [("left.right", PEOPLE), *batches])
    loose = shop.orders().join(dt.dataset(shop.people()), select=ALL, **KEYS)
    unordered = loose.window(dt.rows(2)).join(newest, on="who", suffixes=("", "_sent"))
    with pytest.raises(dt.SpecError, match="the left side has no order"):
        unordered.explain()


# --- the copy ------------------------------------------------------------------------


def known(shop):
    """A join that Spark makes by itself."""
    return shop.orders().join(dt.dataset(shop.people()), how="left", **KEYS)


def timed(shop):
    """A join that goes through the operator."""
    orders = shop.orders(time="at", lateness="1 hour")
    return orders.join(dt.dataset(shop.people()), how="left", **KEYS)


@pytest.mark.parametrize("joining", [known, timed])
def test_a_restart_sees_the_table_of_the_first_start(spark, tmp_path, joining):
    # In a folder whose name would find others, were it a pattern of names.
    shop, kept = Shop(spark, tmp_path), tmp_path / "kept[1]{b}*?"
    shop.give(ORDERS[:3])
    shop.write(joining(shop), checkpoint=kept)
    pq.write_table(arrow(PEOPLE[:1]), tmp_path / "people.parquet")
    shop.give(ORDERS[3:], size=3)
    shop.write(joining(shop), checkpoint=kept)
    assert shop.read(joining(shop)) == defined(joining(shop))


def known_for(shop, refresh):
    """A join whose table a start reads anew that comes so long after the last copy."""
    people = dt.dataset(shop.people(), refresh=refresh)
    return shop.orders().join(people, how="left", **KEYS)


def breaks(_rows, _number):
    """A sink that cannot be written."""
    raise OSError


def test_a_start_reads_the_table_anew_where_that_is_asked(spark, tmp_path):
    shop = Shop(spark, tmp_path)
    assert "1 hour or more after" in known_for(shop, "1 hour").explain()
    expected = Counter()
    # Who asks for nothing keeps the copy that there is.
    for rows, seen, refresh, after in (
        (ORDERS[:3], PEOPLE, "1 hour", PEOPLE[:1]),
        (ORDERS[3:5], PEOPLE, "1 hour", PEOPLE[:1]),
        (ORDERS[5:7], PEOPLE[:1], "1 microsecond", PEOPLE[:4]),
        (ORDERS[7:], PEOPLE[:1], "", PEOPLE),
    ):
        shop.give(rows)
        joined = known_for(shop, refresh)
        shop.write(joined)
        expected += defined(joined, orders=rows, people=seen)[spec.Outlet.MATCHED]
        pq.write_table(arrow(after), tmp_path / "people.parquet")
    assert shop.read(known(shop)) == {spec.Outlet.MATCHED: expected}


def test_a_batch_that_has_begun_comes_again_with_the_copy_it_has_seen(spark, tmp_path):
    shop = Shop(spark, tmp_path)
    shop.give(ORDERS[:3])
    checkpoint = tmp_path / "checkpoint"
    query = known_for(shop, "1 hour").write(
        matched=breaks, checkpoint=checkpoint, trigger=NOW
    )
    with pytest.raises(StreamingQueryException):
        query.awaitTermination()
    pq.write_table(arrow(PEOPLE[:1]), tmp_path / "people.parquet")
    joined = known_for(shop, "1 microsecond")
    shop.write(joined)
    assert shop.read(joined) == defined(joined, orders=ORDERS[:3])


def test_what_is_never_read_anew_is_refused(spark, tmp_path):
    shop = Shop(spark, tmp_path)
    joined = known_for(shop, "1 hour")
    with pytest.raises(dt.EngineError, match="in a query that goes on"):
        shop.write(joined, trigger={"processingTime": "1 second"})
    with pytest.raises(dt.EngineError, match="has no folder for its copy"):
        _ = joined.matched
    people = dt.dataset(shop.people(), refresh="1 hour")
    late = shop.orders(time="at").join(people, **KEYS)
    with pytest.raises(dt.UnsupportedError, match="in the state of an operator"):
        late.explain()
    parcels = shop.orders("parcels", order="id").window(dt.rows(1))
    known_first = shop.orders(order="id").join(people, select=ALL, **KEYS)
    both = known_first.window(dt.rows(1)).join(parcels, on="who", how="semi")
    with pytest.raises(dt.UnsupportedError, match="meets another one"):
        both.explain()
    with pytest.raises(dt.SpecError, match="refresh of a table beside no stream"):
        dt.dataset(shop.people()).join(people, on="key", how="semi")


def test_what_does_not_fit_the_first_start_is_refused(spark, tmp_path):
    shop = Shop(spark, tmp_path)
    shop.give(ORDERS)
    shop.write(known(shop), finish=False)
    other = shop.orders().join(dt.dataset(shop.people()), **KEYS)
    with pytest.raises(dt.EngineError, match="has the state of another join"):
        shop.write(other)
    copy = tmp_path / "checkpoint" / "tables" / "right"
    copy.rename(tmp_path / "elsewhere")
    with pytest.raises(dt.EngineError, match="lacks the copy of its table"):
        shop.write(known(shop))
    (tmp_path / "elsewhere").rename(copy)
    shop.write(known(shop), finish=True)
    with pytest.raises(dt.EngineError, match="is of streams that have ended"):
        shop.write(known(shop))
    assert shop.read(known(shop)) == defined(known(shop))


def test_rows_without_their_time_are_refused_at_the_start(spark, tmp_path):
    shop = Shop(spark, tmp_path)
    shop.give(ORDERS)
    lacking = [*PEOPLE, {"key": 5, "name": "Fay", "since": None}]
    pq.write_table(arrow(lacking), tmp_path / "people.parquet")
    table = dt.table(shop.people(), key="key", time="since")
    joined = shop.orders(time="at").join(table, **KEYS)
    with pytest.raises(dt.EngineError, match='has 1 rows without the time "since"'):
        shop.write(joined)


def test_a_table_without_a_key_must_fit_into_every_task(spark, tmp_path):
    shop = Shop(spark, tmp_path)
    shop.give(ORDERS)
    joined = shop.orders().join(dt.dataset(shop.people()), where="l.who < r.key")
    refused = pytest.raises(dt.EngineError, match="too much to be broadcast; expected")
    with plain_rules(spark, **{LIMIT: "10"}), refused:
        shop.write(joined)
    shop.write(known(shop))


def test_where_nothing_is_kept_there_is_nothing_to_spread(spark, tmp_path):
    shop = Shop(spark, tmp_path)
    with pytest.raises(dt.EngineError, match="partitions=3 of a join that keeps no"):
        known(shop).write(
            matched=dt.folder(str(tmp_path / "out")),
            checkpoint=str(tmp_path / "checkpoint"),
            partitions=3,
        )


# --- as DataFrames --------------------------------------------------------------------


def test_an_outlet_is_a_dataframe_where_spark_joins(spark, tmp_path):
    shop = Shop(spark, tmp_path)
    shop.give(ORDERS, size=3)
    joined = known(shop)
    rows = []
    query = joined.matched.writeStream.trigger(**NOW).foreachBatch(
        lambda frame, _: rows.extend(frame.toArrow().to_pylist())
    )
    query.option("checkpointLocation", str(tmp_path / "c")).start().awaitTermination()
    assert {spec.Outlet.MATCHED: bag(rows)} == defined(joined)
    refused = pytest.raises(dt.EngineError, match="has no folder for its copy")
    with plain_rules(spark, **{PROVIDER: ROCKS_DB}), refused:
        _ = timed(shop).matched
    newest = shop.orders().join(dt.table(shop.people(), key="key"), **KEYS)
    with pytest.raises(dt.EngineError, match="has no folder for its copy"):
        _ = newest.matched
