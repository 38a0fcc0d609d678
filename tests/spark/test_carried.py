"""Columns of types that we do not compute with: carried, or refused by name."""

import pytest

import dovetail as dt

TYPES = {
    "variant": "parse_json('{\"x\": 1}')",
    "interval day to second": "interval '1 02:03:04.5' day to second",
    "interval year to month": "interval '1-2' year to month",
    "string collate UTF8_LCASE": "cast('A' as string) collate utf8_lcase",
}


@pytest.fixture
def frames(spark):
    columns = ", ".join(f"{text} c{place}" for place, text in enumerate(TYPES.values()))
    left = spark.sql(f"select 1 k, {columns}, array(interval '1' day) many")
    return left, spark.sql("select explode(array(1, 2)) k, 7 w")


def told(frame):
    names = [
        f"cast({name} as string) {name}" for name in frame.columns if name != "many"
    ]
    return sorted(
        map(tuple, frame.selectExpr(*names, "cast(many[0] as string)").collect())
    )


def test_a_batch_carries_them_through(frames):
    left, right = frames
    joined = dt.dataset(right).join(dt.dataset(left), on="k", how="left").matched
    expected = right.join(left, "k", "left").select(*joined.columns)
    assert told(joined) == told(expected)
    kinds = dict(joined.dtypes)
    assert [kinds[f"c{place}"] for place in range(len(TYPES))] == list(TYPES)


def test_spark_compares_what_it_can_in_a_batch(frames):
    left, _ = frames
    for place in range(1, len(TYPES)):
        other = left.select(f"c{place}")
        found = dt.dataset(left).join(dt.dataset(other), on=f"c{place}").matched
        assert found.count() == 1


def test_a_variant_is_no_key(frames):
    sides = [dt.dataset(frame) for frame in (frames[0], frames[0].select("c0"))]
    with pytest.raises(dt.SchemaError, match=r"the key .* is variant"):
        sides[0].join(sides[1], on="c0")


def test_a_stream_compares_none_of_them(spark, frames):
    left, _ = frames
    ticks = spark.readStream.format("rate").load().selectExpr("timestamp at", "1 k")
    stream = dt.stream(ticks, time="at")
    for place, kind in enumerate(TYPES):
        some = dt.dataset(left.select("k", f"c{place}"))
        told = f'compares the column "c{place}" of the type {kind}'
        with pytest.raises(
            dt.SchemaError, match=told if place else "is variant|" + told
        ):
            stream.join(dt.dataset(left.select(f"c{place}")), on=[("k", f"c{place}")])
        with pytest.raises(dt.SchemaError, match=told):
            stream.join(some, on="k", where=f"r.c{place} is not null")


def test_spans_of_months_inside_others_are_refused_on_streams(spark, frames):
    ticks = spark.readStream.format("rate").load().selectExpr("1 k", "timestamp at")
    inside = frames[0].selectExpr("k", "array(c2) many")
    with pytest.raises(dt.SchemaError, match='"many" of the type array<interval year'):
        dt.stream(ticks, time="at").join(dt.dataset(inside), on="k")


def test_rows_are_not_told_apart_by_variants(spark):
    ticks = spark.readStream.format("rate").load()
    some = ticks.selectExpr("1 k", "timestamp at", "parse_json('1') v")
    sides = [
        dt.stream(one, time=one.columns[1])
        for one in (some, some.selectExpr("k", "at at2"))
    ]
    sides = [one.window(dt.range("1 hour")) for one in sides]
    with pytest.raises(dt.SpecError, match='the column "v" holds a variant'):
        _ = sides[0].join(sides[1], on="k").matched
