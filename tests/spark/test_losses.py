"""What a type has no room for: on its way out of a topic, and into one."""

import pytest
from pyspark.errors import PySparkException

import dovetail as dt
from dovetail.bind.schemas import schema_of
from dovetail.errors import SchemaError
from tests.spark.topics import decoded

LOSSES = [
    ("json", "decimal(5,2)", "1.255"),
    ("json", "decimal(5,2)", '"0.001"'),
    ("json", "decimal(5,2)", "125e-3"),
    ("json", "decimal(5,2)", "1e-40"),
    ("json", "decimal(38,10)", "1234567890123456789012345678.12345678901"),
    ("json", "decimal(38,37)", "0.00000000000000000000000000000000000000001"),
    ("json", "double", "-1e999"),
    ("json", "double", f"1{'0' * 400}"),
    ("json", "double", "-1e-400"),
    ("json", "double", f"0.{'0' * 330}1"),
    ("json", "double", f"0.{'0' * 230}1e-99"),
    ("json", "float", "1e-46"),
    ("json", "float", f"0.{'0' * 36}1e-9"),
    ("json", "float", f"1{'0' * 31}e9"),
    ("json", "float", "1e39"),
    ("json", "float", f"1{'0' * 40}"),
    ("json", "date", '"2026-03-02T23:00"'),
    ("json", "timestamp", '"2026-03-02T12:00:00.1234567Z"'),
    ("json", "timestamp_ntz", '"2026-03-02T12:00:00.1234567"'),
    ("json", "date", '"2026-02-30"'),
    ("json", "date", '"12026-02-01"'),
    ("json", "timestamp", '"12:00"'),
    ("json", "timestamp", '"no"'),
    ("json", "timestamp_ntz", '"2026-03-02T12:00:00+05:00"'),
    ("json", "tinyint", "200"),
    ("json", "bigint", "9223372036854775808"),
    ("string", "decimal(5,2)", "1.255"),
    ("string", "decimal(5,2)", "125e-3"),
    ("string", "double", "1e999"),
    ("string", "double", "1e-999"),
    ("string", "float", "-1e39"),
    ("string", "date", "2026-03-02 23:00:00"),
    ("string", "timestamp", "2026-03-02T12:00:00.1234567Z"),
    ("string", "timestamp_ntz", "2026-03-02T12:00:00+05:00"),
]


@pytest.mark.parametrize(("how", "kind", "text"), LOSSES)
def test_what_a_type_has_no_room_for_does_not_fit(spark, how, kind, text):
    """Spark leaves out digits, hours, zones, and has infinity, or 0, for numbers."""
    value = f'{{"a":"1.999","x":{text}}}' if how == "json" else text
    words = {"columns": {"x": kind}, "format": how}
    assert decoded(spark, value.encode(), misfits="null", **words) == [(None,)]
    with pytest.raises(SchemaError, match='the topic "t"') as caught:
        decoded(spark, value.encode(), **words)
    # Of other columns Spark does not tell which one is wrong.
    if kind != "bigint" or how == "string":
        # 125e-3 is read as a decimal before it is seen that it does not fit.
        shown = "0.125" if (how, text) == ("json", "125e-3") else text.strip('"')
        assert f'the column "x" has "{shown[:60]}"' in caught.value.found
        assert caught.value.expected == kind


def test_a_moment_within_a_column_is_told_with_it(spark):
    words = {"columns": {"n": "int", "x": "array<date>"}}
    told = r'the column "x" has "\[2026-03-02, no\]"'
    with pytest.raises(SchemaError, match=told):
        decoded(spark, b'{"n": 1, "x": ["2026-03-02", "no"]}', **words)
    # Where anything else is wrong the column is not blamed.
    for record in (b'{"n": "a", "x": ["2026-03-02"]}', b'{"x": ["2026-03-02"], oops'):
        with pytest.raises(SchemaError) as caught:
            decoded(spark, record, **words)
        assert "the column" not in caught.value.found


def test_a_number_that_is_zero_is_one_however_it_is_written(spark):
    words = {"columns": {"x": "double", "y": "float"}}
    record = b'{"x": 0e-999, "y": -0.000E-50}'
    assert decoded(spark, record, **words) == [(0.0, 0.0)]
    record = b'{"x": 5e-324, "y": 1.5e-45}'
    ((least, small),) = decoded(spark, record, **words)
    assert least == 5e-324
    assert 0 < small < 2e-45


def test_what_a_type_has_room_for_is_read_as_it_is_written(spark):
    columns = {
        "price": "decimal(5,2)",
        "wide": "decimal(38,10)",
        "ratio": "double",
        "day": "date",
        "at": "timestamp",
        "text": "string",
        "deep": "array<struct<n:string,x:decimal(9,1)>>",
    }
    # The exponent lets each be looked at closely.
    record = b"""{"id": 1e2, "price": 1.2500e0, "wide": 1234567890123456789012345678,
    "ratio": "Infinity", "day": "2026-03-02T00:00:00", "text": 0.12345678901234567890,
    "at": "2026-03-02T12:00:00.1234560Z", "deep": [{"n": {"a": [-1e3, "2\\""]},
    "x": "1.50"}, {"n": true, "x": null}]}"""
    ((price, wide, ratio, day, at, text, deep),) = decoded(
        spark, record, columns=columns
    )
    assert (str(price), str(day), text) == (
        "1.25",
        "2026-03-02",
        "0.12345678901234567890",
    )
    assert str(wide) == "1234567890123456789012345678.0000000000"
    assert (ratio, at.microsecond) == (float("inf"), 123456)
    assert [it.n for it in deep] == ['{"a":[-1e3,"2\\""]}', "true"]
    assert [str(it.x) for it in deep] == ["1.5", "None"]


@pytest.mark.parametrize(
    ("how", "unit"),
    [
        ({"key": {"k": "int", "at": "timestamp"}, "key_format": "twlong"}, 1000),
        ({"key": {"k": "int", "at": "timestamp", "to": "timestamp"}}, 1000),
        ({"epoch": "milliseconds"}, 1000),
        ({"epoch": "seconds", "columns": {"within": "array<timestamp>"}}, 1_000_000),
    ],
)
def test_a_moment_that_a_sink_would_cut_ends_the_query(spark, how, unit):
    """A window's start is in whole milliseconds, a moment in those of its epoch."""
    if len(how.get("key", ())) == 3:
        how["key_format"] = "swstring"
    if how.get("key_format") == "twlong":
        how["key"] = how["key"] | {"k": "bigint"}
    topic = dt.kafka("t", servers="b:1", **how)

    def written(micros):
        moment = f"timestamp_micros({micros})"
        rows = spark.sql(
            f"SELECT 7L AS k, {moment} AS at, {moment} AS to, array({moment}) AS within"
        )
        found = rows.selectExpr(*(sql for _, sql in topic.bytes_of(schema_of(rows))))
        return found.collect()

    assert written(5 * unit)
    told = 'of the topic "t" of b:1: the column ".*" .*has "1970-01-01 00:00:0'
    with pytest.raises(PySparkException, match=told) as caught:
        written(5 * unit + 1)
    assert "whole " in str(caught.value)
    assert '"k":7' in str(caught.value)
