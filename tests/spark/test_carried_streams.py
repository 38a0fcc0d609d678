"""Columns of types that we do not compute with, through streams: the very same rows."""

from operator import itemgetter

import pytest
from pyspark.ml.linalg import Vectors, VectorUDT
from pyspark.sql.types import ArrayType, Row, StructType, VariantVal
from pyspark.testing.objects import (
    ExamplePoint,
    ExamplePointUDT,
    PythonOnlyPoint,
    PythonOnlyUDT,
)

import dovetail as dt
from dovetail.plan.keys import hash_of
from dovetail.schema import AtomicType, MapType

VALUES = {
    "days": [
        "interval '-106751991 04:00:54.775808' day to second",
        "interval '106751991 04:00:54.775807' day to second",
    ],
    "hours": ["interval '5:07' hour to minute", "interval '-0:00' hour to minute"],
    "months": [
        "interval '-178956970-8' year to month",
        "interval '178956970-7' year to month",
    ],
    "years": ["interval '3' year", "interval '-3' year"],
    "collated": ["'Zoë ' collate unicode_ci", "'zoë' collate unicode_ci"],
    "variant": [
        """parse_json('{"x": 1, "y": [1.50, 2e0, null, "a"]}')""",
        (
            "to_variant_object(named_struct('d', date'2020-01-01', 'b', x'00ff', 'f', "
            "cast(1.1 as float), 't', timestamp_ntz'2020-01-01 00:00:00.000001'))"
        ),
        "parse_json('null')",
    ],
    "inside": [
        (
            "array(named_struct('v', parse_json('[1]'), 'i', interval '1' day, "
            "'c', 'A' collate utf8_lcase), null)"
        ),
        "array()",
    ],
}


USERS = (
    StructType()
    .add("k", "integer")
    .add("point", ExamplePointUDT())
    .add("own", PythonOnlyUDT())
    .add("vector", VectorUDT())
    .add("points", ArrayType(ExamplePointUDT()))
)
NAMES = [*VALUES, *USERS.names[1:]]


@pytest.fixture
def rows(spark):
    """One row for each of the values, then one of nulls."""
    count = 1 + max(map(len, VALUES.values()))
    lines = []
    for number in range(count):
        shown = (
            f"{values[number] if number < len(values) else 'null'} {name}"
            for name, values in VALUES.items()
        )
        lines.append(f"select {number} k, {', '.join(shown)}")
    many = [ExamplePoint(5.0, 6.0), None]
    users = [
        (
            0,
            ExamplePoint(1.0, -0.0),
            PythonOnlyPoint(3.0, 4.0),
            Vectors.dense([1]),
            many,
        ),
        (1, None, None, Vectors.sparse(3, {1: 2.0}), []),
        (count - 1, None, None, None, None),
    ]
    made = spark.createDataFrame(users, USERS)
    plain = spark.sql(" union all ".join(lines))
    return plain.join(made, "k", "left").selectExpr("*", "timestamp_seconds(k) at")


@pytest.fixture
def streamed(spark, tmp_path):
    def stream(frame, name):
        folder = str(tmp_path / name)
        frame.coalesce(1).write.parquet(folder)
        return spark.readStream.schema(frame.schema).parquet(folder)

    return stream


def told(frame):
    """The rows of a frame by k, variants by their bytes, with their types."""
    texts = [
        f"cast({name} as string) {name}" if kind.startswith("interval year") else name
        for name, kind in frame.dtypes
    ]
    found = [
        [exact(value) for value in row] for row in frame.selectExpr(*texts).collect()
    ]
    return frame.dtypes, sorted(found, key=itemgetter(0))


def exact(value):
    match value:
        case VariantVal():
            return ("variant", value.value, value.metadata)
        case list() | Row():
            return [exact(part) for part in value]
        case _:
            return value


def test_a_stream_carries_them_through(rows, streamed, tmp_path):
    sides = [
        dt.stream(streamed(rows, one), time="at", order="k").window(dt.range("1 hour"))
        for one in "lr"
    ]
    columns = {
        "k": "l.k",
        **{n: f"l.{n}" for n in NAMES},
        **{f"right_{n}": f"r.{n}" for n in NAMES},
    }
    joined = sides[0].join(sides[1], on="k", select=columns)
    got = []
    query = joined.write(
        matched=lambda batch, _: got.append(told(batch)),
        checkpoint=str(tmp_path / "checkpoint"),
        trigger={"availableNow": True},
    )
    query.awaitTermination()
    # A file may write a variant anew: its rows are what the stream was given.
    given = rows.sparkSession.read.schema(rows.schema).parquet(str(tmp_path / "l"))
    expected = given.selectExpr("k", *NAMES, *(f"{n} right_{n}" for n in NAMES))
    kinds, found = told(expected)
    assert [names for names, _ in got] == [kinds] * len(got)
    rows_got = sorted((row for _, some in got for row in some), key=itemgetter(0))
    pairs = zip(rows_got, found, strict=True)
    cells = [(a, b) for one, other in pairs for a, b in zip(one, other, strict=True)]
    assert [(a, b) for a, b in cells if a != b] == []


MAPS = (
    "map('b', 2, 'a', 1) m, named_struct('n', array(map(1, map(date'2020-01-01', "
    "x'00')), null)) inside"
)


def test_maps_go_through_joins_in_a_row(spark, streamed, tmp_path):
    other = "map('a', 1, 'b', 2) m, cast(null as {}) inside"
    kind = spark.sql(f"select {MAPS}").schema["inside"].dataType.simpleString()
    rows = spark.sql(
        f"select 1 k, timestamp_seconds(5) at, {MAPS} union all "
        f"select 1 k, timestamp_seconds(5) at, {other.format(kind)}"
    )
    first, second, third = (
        dt.stream(streamed(rows, name), time="at").window(dt.range("1 hour"))
        for name in "abc"
    )
    many = {"k": "l.k", "m": "l.m", "inside": "l.inside"}
    both = first.join(second, on="k", select=many).window(dt.range("1 hour"))
    got = []
    both.join(third, on="k", select={**many, "other": "r.inside"}).write(
        matched=lambda batch, _: got.extend(batch.collect()),
        checkpoint=str(tmp_path / "checkpoint"),
        trigger={"availableNow": True},
    ).awaitTermination()
    values = [row.inside for row in rows.collect()]
    assert sorted(map(repr, got)) == sorted(
        repr(Row(k=1, m={"a": 1, "b": 2}, inside=inside, other=last))
        for inside in values
        for last in values
        for _ in values
    )


def test_equal_maps_hash_alike(spark):
    maps = ["map('b', 2, 'a', null)", "map('a', null, 'b', 2)", "map('b', 2)", "map()"]
    kind = MapType(AtomicType.STRING, AtomicType.INT)
    text = hash_of([("m", kind)])
    hashes = [
        spark.sql(f"select {text} h from (select cast({one} as {kind}) m)")
        for one in maps
    ]
    one, same, less, none = (frame.first().h for frame in hashes)
    assert one == same
    assert len({one, less, none}) == 3


def test_a_batch_carries_types_of_users(rows):
    left, right = rows.select("k", *USERS.names[1:]), rows.select("k")
    found = dt.dataset(left).join(dt.dataset(right), on="k").matched
    assert told(found) == told(left)
