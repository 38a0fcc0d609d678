"""A lookup beside a stream and a batch: the definition's rows, and what it asks for."""

import os
import socket
import subprocess
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path

import psycopg
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dovetail as dt
from dovetail import spec
from dovetail.bind.sinks import Folder
from dovetail.conformance import oracle
from tests.spark.rows import bag

NOW = {"availableNow": True}
SCRIPT = Path(__file__).parents[2] / "scripts/postgres"
PEOPLE = {"id": "bigint", "shop": "string", "name": "string", "level": "int"}
ORDERS = "number BIGINT, who INT, shop STRING, amount INT"
ARROW = pa.schema(
    [
        *(("number", pa.int64()), ("who", pa.int32())),
        *(("shop", pa.string()), ("amount", pa.int32())),
    ]
)


def orders_of(keys):
    """Orders by whom and where, numbered."""
    return [
        {"number": number, "who": who, "shop": shop, "amount": number % 4}
        for number, (who, shop) in enumerate(keys)
    ]


def people_of(keys):
    """People with names and levels."""
    return [
        {"id": who, "shop": shop, "name": f"n{number}", "level": number % 4}
        for number, (who, shop) in enumerate(keys)
    ]


KEYS = st.lists(
    st.tuples(
        st.none() | st.integers(0, 4), st.none() | st.sampled_from(["x", "y'", "é"])
    ),
    max_size=9,
)
WHERE = st.sampled_from(
    [
        "true",
        "r.level > 1",
        "r.level <= l.amount",
        "r.name <> 'n1' AND r.level IN (1, 2, 3) AND l.amount > 0",
        "r.name IS NOT NULL AND (r.level = 1 OR l.amount = 2)",
        "r.shop >= 'y' AND NOT isnull(r.level)",
    ]
)
ON = [("who", "id"), "shop"]


def defined(joined, orders, people, **more):
    """What the definition gives by outlet, of a join with all of the table there."""
    left, right = joined.inputs["left"], joined.inputs["right"]
    inputs = {"left": left, "right": replace(right, rows=tuple(people))}
    events = tuple(spec.Arrive("left", row) for row in orders)
    if not joined.is_streaming:
        inputs["left"], events = replace(left, rows=tuple(orders)), ()
    found = {}
    for one in oracle.play(spec.Play(joined.request, inputs, events, **more)):
        found.setdefault(one.outlet, []).append(one.row)
    found.pop(spec.Outlet.MARKS, None)
    return {outlet: bag(rows) for outlet, rows in found.items()}


def frame_of(spark, orders):
    """Orders as an ordinary DataFrame."""
    rows = [tuple(one.values()) for one in orders]
    return spark.createDataFrame(rows, ORDERS)


def looking(table, **how):
    """A lookup by both columns, in a table."""
    return dt.lookup(table, key=["id", "shop"], columns=PEOPLE, **how)


PLAYS = st.fixed_dictionaries(
    {
        "left": KEYS,
        "right": KEYS,
        "where": WHERE,
        "how": st.sampled_from(["inner", "left", "semi", "anti", "outlet"]),
        "is_files": st.booleans(),
        "is_swapped": st.booleans(),
    }
)


@settings(max_examples=12)
@given(PLAYS)
def test_a_lookup_gives_the_rows_of_a_join_with_all_of_the_table(spark, play):
    where, how, is_swapped = play["where"], play["how"], play["is_swapped"]
    left, right = play["left"], play["right"]
    orders, people = orders_of(left), people_of(right)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "people.parquet")
        types = [pa.int64(), pa.string(), pa.string(), pa.int32()]
        columns = pa.schema([*zip(PEOPLE, types, strict=True)])
        pq.write_table(pa.Table.from_pylist(people, schema=columns), path)
        table = path if play["is_files"] else (lambda _: people)
        told = {"unmatched": "outlet"} if how == "outlet" else {}
        how = "left" if how == "outlet" else how
        rows, side = dt.dataset(frame_of(spark, orders)), looking(table)
        given_words = {"on": ON, "where": where, "how": how, **told}
        if is_swapped and how != "semi":
            mirrored = {"left": "right", "anti": "right_only"}
            swapped = where.replace("l.", "?.").replace("r.", "l.").replace("?.", "r.")
            other = {**given_words, "where": swapped, "on": [("id", "who"), "shop"]}
            other["how"] = mirrored.get(how, how)
            joined = side.join(rows, **other, suffixes=("_l", "_r"))
            hands = {"left": people, "right": orders}
        else:
            joined = rows.join(side, **given_words, suffixes=("_l", "_r"))
            hands = {"left": orders, "right": people}
        inputs = {
            name: replace(joined.inputs[name], rows=tuple(hands[name]))
            for name in hands
        }
        expected = {}
        for one in oracle.play(spec.Play(joined.request, inputs, ())):
            expected.setdefault(one.outlet, []).append(one.row)
        for outlet in spec.outlets_of(joined.request):
            frame = getattr(joined, outlet.value)
            plain = frame.toArrow().to_pylist()
            assert bag(plain) == bag(expected.get(outlet, []))


class Shop:
    """A stream of orders in batches, and where its joins go."""

    def __init__(self, spark, folder):
        self.spark, self.folder = spark, folder
        (folder / "orders").mkdir()

    def give(self, orders, size=3):
        """Lets orders come, in batches of a size."""
        there = len(list((self.folder / "orders").glob("*.parquet")))
        for number, first in enumerate(range(0, len(orders), size), there):
            path = self.folder / "orders" / f"{number:03}.parquet"
            table = pa.Table.from_pylist(orders[first : first + size], schema=ARROW)
            pq.write_table(table, path)
            os.utime(path, (1000 + number, 1000 + number))

    def orders(self, **facts):
        """The stream."""
        files = self.spark.readStream.schema(ORDERS).option("maxFilesPerTrigger", 1)
        return dt.stream(files.parquet(str(self.folder / "orders")), **facts)

    def run(self, joined, **more):
        """Runs a join over what is there; returns the last progress."""
        sinks = {
            one.value: dt.folder(self.folder / "out" / one.value)
            for one in spec.outlets_of(joined.request)
        }
        query = joined.write(
            checkpoint=self.folder / "checkpoint", trigger=NOW, **sinks, **more
        )
        *_, last = dt.follow(query)
        return last

    def read(self, joined):
        """The rows of every outlet that has any."""
        found = {}
        for outlet in spec.outlets_of(joined.request):
            rows = self.spark.read.parquet(str(self.folder / "out" / outlet.value))
            found[outlet] = bag(rows.drop("batch").toArrow().to_pylist())
        return {outlet: rows for outlet, rows in found.items() if rows}


@pytest.fixture
def shop(spark, tmp_path):
    """A shop of this test."""
    return Shop(spark, tmp_path)


ALL = [(who, shop) for who in (1, 2, None, 3) for shop in ("x", "y'", None)]
THERE = [(1, "x"), (1, "x"), (2, "y'"), (None, "x"), (4, "x")]


def test_a_stream_gets_the_same_rows_over_batches_and_restarts(shop):
    orders, people = orders_of(ALL), people_of(THERE)
    select = {"number": "l.number", "name": "r.name"}

    def joined():
        side = looking(lambda _: people)
        words = {"on": ON, "how": "left", "unmatched": "outlet", "select": select}
        return shop.orders().join(side, **words)

    shop.give(orders[:7])
    first = shop.run(joined())
    assert (first.batch, first.matched, first.unmatched) == (2, 3, 5)
    told = first.right
    # Of keys with a null nobody need be asked.
    assert (told.asked, told.hits, told.fetched, told.misses) == (4, 0, 3, 2)
    shop.give(orders[7:])
    shop.run(joined())
    assert shop.read(joined()) == defined(joined(), orders, people)


@dataclass
class Breaks:
    """A folder that breaks where it should get a batch, after another outlet has it."""

    inner: Folder
    batch: int

    @property
    def place(self):
        return self.inner.place

    @property
    def reads_once(self):
        return self.inner.reads_once

    def prepare(self, rows, *, is_new):
        self.inner.prepare(rows, is_new=is_new)

    def write(self, rows, batch, *, is_empty):
        if batch == self.batch:
            raise OSError("the disk is full")
        self.inner.write(rows, batch, is_empty=is_empty)


def test_a_batch_that_is_cut_off_comes_again_with_each_row_once(shop):
    people, breaks = people_of(THERE), shop.folder / "breaks"
    outlets = [shop.folder / "out" / name for name in ("matched", "left_unmatched")]

    def found(keys):
        # In a worker, when a batch is half done: the first rows have been asked for.
        if breaks.exists() and any(one["id"] == 3 for one in keys):
            raise OSError("the table is gone")
        return people

    words = {"on": ON, "how": "left", "unmatched": "outlet"}
    select = {"number": "l.number", "name": "r.name"}
    joined = shop.orders().join(looking(found), **words, select=select)
    shop.give(orders_of(ALL))

    def cut_off(second, told):
        matched, unmatched = (dt.folder(one) for one in outlets)
        if second is not None:
            unmatched = Breaks(unmatched, second)
        query = joined.write(
            matched=matched,
            left_unmatched=unmatched,
            checkpoint=shop.folder / "checkpoint",
            trigger=NOW,
        )
        with pytest.raises(dt.EngineError, match=told):
            list(dt.follow(query))

    # Between its two outlets; then in the table that is asked, in the last batch.
    cut_off(1, "the disk is full")
    breaks.touch()
    cut_off(None, "the table is gone")
    breaks.unlink()
    shop.run(joined)
    assert shop.read(joined) == defined(joined, orders_of(ALL), people)


def test_lookups_stand_in_a_row_with_other_tables(shop, spark):
    people, orders = people_of(THERE), orders_of(ALL)
    towns = spark.createDataFrame(
        [("x", "Bern"), ("é", "Oslo")], "shop STRING, t STRING"
    )
    first = shop.orders().join(
        looking(lambda _: people),
        on=ON,
        select={"number": "l.number", "shop": "l.shop", "name": "r.name"},
    )
    second = first.join(
        dt.lookup(
            lambda keys: [
                {**key, "color": "red"} for key in keys if key["name"] != "n0"
            ],
            key="name",
            columns={"name": "string", "color": "string"},
        ),
        on="name",
        how="left",
        select={"number": "l.number", "shop": "l.shop", "color": "r.color"},
    )
    third = second.join(dt.dataset(towns), on="shop")
    shop.give(orders)
    shop.run(third)
    (rows,) = shop.read(third).values()
    plain = [
        {"number": one["number"], "shop": "x", "color": color, "t": "Bern"}
        for one in orders
        if (one["who"], one["shop"]) == (1, "x")
        for color in (None, "red")
    ]
    assert rows == bag(plain)


@pytest.mark.parametrize(
    ("make", "told"),
    [
        (
            lambda a, b: a.join(b, on=ON, how="full"),
            "rows of the table, the right side",
        ),
        (lambda a, b: a.join(b, on=ON, keep=1), "pairs are picked"),
        (
            lambda a, b: a.window(dt.rows(3)).join(b, on=ON),
            "the left rows have a window",
        ),
        (lambda _, b: b.join(b, on=["id", "shop"], suffixes=("", "2")), "both sides"),
        (lambda a, b: a.join(b.window(dt.latest("id")), on=ON), "has a window"),
    ],
)
def test_what_would_have_to_wait_is_refused_by_name(shop, make, told):
    joined = make(shop.orders(order="number"), looking(lambda _: []))
    with pytest.raises(dt.UnsupportedError) as raised:
        joined.explain()
    assert told in raised.value.found


def test_a_key_that_no_equality_gives_is_refused(shop):
    orders = shop.orders()
    with pytest.raises(dt.SpecError) as raised:
        orders.join(looking(lambda _: []), on="shop").explain()
    assert 'asked by "id", and no equality' in raised.value.found
    wrong = dt.lookup(lambda _: [], key="number", columns={"number": "double"})
    with pytest.raises(dt.SchemaError) as raised:
        orders.join(wrong, on="number").explain()
    assert "a value of the type bigint" in raised.value.found


@pytest.fixture(scope="module")
def server():
    """The address of a real server of this module."""
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        port = one.getsockname()[1]
    # Below /tmp: as root the server is another user, who must be let in.
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:
        subprocess.run([SCRIPT, "start", folder, str(port)], check=True)
        yield f"postgresql://postgres@127.0.0.1:{port}/postgres"
        subprocess.run([SCRIPT, "stop", folder], check=True)


@pytest.fixture
def people(server):
    """A connection to a server with a table of people."""
    with psycopg.connect(server, autocommit=True) as line:
        line.execute("DROP TABLE IF EXISTS people")
        line.execute(
            "CREATE TABLE people (id bigint, shop text, name varchar(9), level int)"
        )
        rows = [tuple(one.values()) for one in people_of(THERE)]
        with line.cursor() as cursor:
            cursor.executemany("INSERT INTO people VALUES (%s, %s, %s, %s)", rows)
        yield line


@pytest.mark.usefixtures("people")
def test_a_table_of_postgresql_gives_the_rows_of_a_join(server, shop):
    orders = orders_of(ALL)
    for number, where in enumerate(["true", 'r.level > 0 AND r.name <> "n\'; --"']):
        side = dt.lookup(dt.postgres(server, "public.people"), key=["id", "shop"])
        joined = dt.dataset(frame_of(shop.spark, orders)).join(
            side, on=ON, where=where, how="left", suffixes=("_l", "_r")
        )
        found = {spec.Outlet.MATCHED: bag(joined.matched.toArrow().to_pylist())}
        assert found == defined(joined, orders, people_of(THERE)), number


def test_a_table_that_changes_is_seen_after_ttl(server, people, shop):
    side = dt.lookup(
        dt.postgres(server, "people"), key=["id", "shop"], ttl="1 millisecond"
    )
    select = {"number": "l.number", "name": "r.name"}
    joined = shop.orders().join(side, on=ON, how="left", select=select)
    shop.give(orders_of([(9, "x"), (2, "y'")]), size=2)
    shop.run(joined)
    people.execute("INSERT INTO people VALUES (9, 'x', 'new', 1)")
    people.execute("UPDATE people SET name = 'other' WHERE id = 2")
    shop.give(
        [
            {**one, "number": one["number"] + 5}
            for one in orders_of([(9, "x"), (2, "y'")])
        ],
        size=2,
    )
    shop.run(joined)
    (rows,) = shop.read(joined).values()
    assert rows == bag(
        [
            {"number": 0, "name": None},
            {"number": 1, "name": "n2"},
            {"number": 5, "name": "new"},
            {"number": 6, "name": "other"},
        ]
    )


@pytest.mark.usefixtures("people")
def test_a_query_in_sql_looks_its_table_up(server, shop):
    text = (
        "SELECT STREAM o.number, p.name FROM Orders AS o JOIN People AS p "
        "ON o.who = p.id AND o.shop = p.shop AND p.level < 1"
    )
    orders = orders_of(ALL)
    shop.give(orders)
    frame = shop.orders().frame.selectExpr("timestamp_seconds(number) ROWTIME", "*")
    sources = {
        "Orders": dt.stream(frame, time="ROWTIME"),
        "People": dt.lookup(dt.postgres(server, "people"), key=["id", "shop"]),
    }
    joined = dt.sql(text, sources)
    shop.run(joined)
    (rows,) = shop.read(joined).values()
    assert rows == bag([{"number": 0, "name": "n0"}])
