"""Values as Avro has them, out and in: each as it is, or a sentence; on no broker."""

import json
import time

import pytest
from pyspark.errors import PySparkException

import dovetail as dt
from dovetail.bind.failures import said
from dovetail.bind.schemas import schema_of
from dovetail.errors import SchemaError
from tests.bind.registry_server import make_known, registry
from tests.spark.topics import decoded

MILLIS = {"type": "long", "logicalType": "timestamp-millis"}
LOCAL = {"type": "long", "logicalType": "local-timestamp-millis"}
SIZE = {"type": "enum", "name": "Size", "symbols": ["S", "it_s"]}
FIXED = {"type": "fixed", "name": "Two", "size": 2}
PAIR = {"type": "record", "name": "P", "fields": [{"name": "A", "type": "long"}]}
PRICE = {"type": "bytes", "logicalType": "decimal", "precision": 9, "scale": 3}


def record(**fields):
    """A schema of Avro with some fields, as its JSON."""
    own = [
        {"name": it, **(one if isinstance(one, dict) and "default" in one else {})}
        | {"type": one["type"] if isinstance(one, dict) and "default" in one else one}
        for it, one in fields.items()
    ]
    return json.dumps({"type": "record", "name": "R", "namespace": "n", "fields": own})


def sent(spark, sql, avro, **how):
    """The bytes of rows as Avro, as they would go out."""
    topic = dt.kafka("t", servers="b:1", format="avro", avro=avro, **how)
    rows = spark.sql(sql)
    made = dict(topic.bytes_of(schema_of(rows)))
    return [bytes(row[0]) for row in rows.selectExpr(made["value"]).collect()]


FITS = [
    ("1 AS x", "long", "bigint", 1),
    ("1Y AS x", "int", "int", 1),
    ("7 AS x", "double", "double", 7.0),
    ("7S AS x", "float", "float", 7.0),
    ("CAST(0.1 AS float) AS x", "double", "double", 0.10000000149011612),
    ("1.25BD AS x", PRICE, "decimal(9,3)", "1.250"),
    ("'it_s' AS x", SIZE, "string", "it_s"),
    ("X'0102' AS x", FIXED, "binary", b"\1\2"),
    ("TIMESTAMP_MILLIS(-5) AS x", MILLIS, "bigint", -5),
    ("TIMESTAMP_NTZ '1969-12-31 23:59:59.995' AS x", LOCAL, "bigint", -5),
    ("named_struct('a', 1) AS x", PAIR, "struct<a:bigint>", (1,)),
    ("array(1, 2) AS x", {"type": "array", "items": "long"}, "array<bigint>", [1, 2]),
    (
        "map('k', 1) AS x",
        {"type": "map", "values": "double"},
        "map<string,double>",
        {"k": 1.0},
    ),
    ("CAST(NULL AS int) AS x", ["long", "null"], "bigint", None),
    (
        "array(named_struct('a', 1)) AS x",
        {"type": "array", "items": PAIR},
        "array<struct<a:bigint>>",
        [(1,)],
    ),
]


@pytest.mark.parametrize(("sql", "kind", "read_as", "value"), FITS)
def test_a_value_goes_out_as_it_is(spark, sql, kind, read_as, value):
    bytes_ = sent(spark, f"SELECT {sql}", record(x=kind))
    plain = json.loads(json.dumps(kind))
    if isinstance(plain, dict):
        plain.pop("logicalType", None) if read_as == "bigint" else None
    how = {"format": "avro", "avro": record(x=plain), "columns": {"x": read_as}}
    ((found,),) = decoded(spark, *bytes_, **how)
    assert (str(found) if isinstance(value, str) else found) == value


def test_a_field_without_a_column_has_its_default(spark):
    fields = {
        "s": {"type": "string", "default": "it_s"},
        "n": {"type": "long", "default": -3},
        "b": {"type": "boolean", "default": True},
        "e": {"type": SIZE, "default": "S"},
        "a": {"type": {"type": "array", "items": "long"}, "default": []},
        "o": {"type": ["string", "null"], "default": "x"},
        "z": {"type": ["null", "string"], "default": None},
    }
    kinds = ("string", "bigint", "boolean", "string", "array<bigint>", *["string"] * 2)
    columns = {"x": "int", **dict(zip(fields, kinds, strict=True))}
    avro = record(x="int", **fields)
    bytes_ = sent(spark, "SELECT 1 AS x", avro)
    found = decoded(spark, *bytes_, format="avro", avro=avro, columns=columns)
    assert found == [(1, "it_s", -3, True, "S", [], "x", None)]


DIGITS = "whole milliseconds, as date_trunc('MILLISECOND', ..) has"
MICROS = "2026-01-02 03:04:05.000006"
EARLY = "1960-01-02 03:04:05.123456"
INTS = {"type": "array", "items": "int"}
MISFITS = [
    ("CAST(NULL AS int) AS x", "int", ("x", "null", "none")),
    ("array(1, NULL) AS x", INTS, ("x[]", "null", "none")),
    (
        "map('k', CAST(NULL AS int)) AS x",
        {"type": "map", "values": "int"},
        ("x[]", "null", "none"),
    ),
    ("named_struct('a', CAST(NULL AS int)) AS x", PAIR, ("x.a", "null", "none")),
    ("'M' AS x", SIZE, ("x", "M", "one of S, it_s")),
    ("'M' AS x", ["null", SIZE], ("x", "M", "one of S, it_s")),
    ("X'010203' AS x", FIXED, ("x", "010203", "2 bytes")),
    (f"TIMESTAMP '{MICROS}' AS x", MILLIS, ("x", MICROS, DIGITS)),
    (f"TIMESTAMP_NTZ '{EARLY}' AS x", LOCAL, ("x", EARLY, DIGITS)),
]


@pytest.mark.parametrize(("sql", "kind", "facts"), MISFITS)
def test_a_value_that_is_none_of_its_field_is_told(spark, sql, kind, facts):
    text = f"SELECT {sql}, 'k7' AS k"
    with pytest.raises(PySparkException) as told:
        sent(spark, text, record(x=kind, k="string"), key={"k": "string"})
    field, value, expected = facts
    assert said(told.value) == (
        f'the value of the topic "t" of b:1: the field "{field}" of the schema of Avro '
        f'has "{value}" in the row {{"k":"k7"}}; expected {expected}'
    )


def number(value):
    """A whole number as Avro has it."""
    left = (value << 1 ^ value >> 63) % (1 << 64)
    found = b""
    while left > 0x7F:
        found += bytes([left & 0x7F | 0x80])
        left >>= 7
    return found + bytes([left])


DAY = {"type": "int", "logicalType": "date"}
MICRO = {"type": "long", "logicalType": "timestamp-micros"}
HERE = {"type": "long", "logicalType": "local-timestamp-micros"}
CENTS = {"type": "bytes", "logicalType": "decimal", "precision": 5, "scale": 2}
LONG = CENTS | {"type": "fixed", "name": "Long", "size": 12}
TRUTHS = {"type": "array", "items": "boolean"}
EITHER = ["boolean", "string"]
IN_ANY = "struct<member0:boolean,member1:string>"
BEHIND = b"\0" * 7 + b"\5"
"""Of eight bytes that make five, others may stand in front."""
COMES = [
    ("boolean", "boolean", b"\1", True),
    (["null", "boolean"], "boolean", b"\2\0", False),
    (["boolean", "null"], "string", b"\0\1", "true"),
    (TRUTHS, "array<boolean>", b"\4\1\0\0", [True, False]),
    (EITHER, IN_ANY, b"\0\1", (True, None)),
    (EITHER, IN_ANY, b"\2\2a", (None, "a")),
    (DAY, "date", number(-1), "1969-12-31"),
    (CENTS, "decimal(5,2)", b"\2\5", "0.05"),
    (CENTS, "decimal(5,2)", b"\x12\0" + BEHIND, "0.05"),
    (LONG, "decimal(5,2)", b"\xff" * 12, "-0.01"),
    ("string", "string", b"\4\xc3\xa4", "\xe4"),
    ({**CENTS, "precision": 50}, "binary", b"\2\5", b"\5"),
]
"""A type, a column, bytes, and what they are."""
NO_VALUES = [
    ("boolean", "boolean", b"\2"),
    ("boolean", "string", b"\xff"),
    (["null", "boolean"], "boolean", b"\2\5"),
    (DAY, "date", number(2**31 - 1)),
    (DAY, "date", number(-(2**31))),
    (DAY, "timestamp", number(3_000_000)),
    (MICRO, "timestamp", number(2**63 - 1)),
    (MICRO, "date", number(2**62)),
    (MILLIS, "timestamp", number(10**15)),
    (MILLIS, "timestamp", number(2**63 - 1)),
    (HERE, "timestamp_ntz", number(-(2**63))),
    ("long", "timestamp", number(1_700_000_000_000)),
    (CENTS, "decimal(5,2)", b"\x12\1" + BEHIND),
    (CENTS, "decimal(5,2)", b"\6\1\x86\xa0"),
    (LONG, "decimal(5,2)", b"\0\0\0\1" + BEHIND),
    (SIZE, "string", b"\4"),
    (SIZE, "string", b"\1"),
    (["null", "int"], "int", b"\4\2"),
    ("string", "string", b"\4\xff\xfe"),
    ("string", "string", b"\1"),
    ({"type": "map", "values": "int"}, "map<string,int>", b"\2\2\xff\2\0"),
    ("int", "int", b"\x8a\x80\x80\x80\x20"),
    ("long", "bigint", b"\2\2"),
    ("long", "bigint", b"\2\2DDovetail"),
    ("string", "string", b"\2a\0"),
]
"""A type, a column, and bytes of no value of it."""


@pytest.mark.parametrize(("kind", "column", "bytes_", "value"), COMES)
def test_a_value_comes_in_as_it_is(spark, kind, column, bytes_, value):
    how = {"format": "avro", "columns": {"x": column}}
    for avro in (record(x=kind), json.dumps(kind)):
        for misfits in ("fail", "null"):
            ((found,),) = decoded(spark, bytes_, avro=avro, misfits=misfits, **how)
            is_text = isinstance(value, str)
            assert (str(found) if is_text else found) == value


@pytest.mark.parametrize(("kind", "column", "bytes_"), NO_VALUES)
def test_bytes_of_no_value_are_told_or_null(spark, kind, column, bytes_):
    how = {"format": "avro", "avro": record(x=kind), "columns": {"x": column}}
    assert decoded(spark, bytes_, misfits="null", **how) == [(None,)]
    with pytest.raises(SchemaError) as told:
        decoded(spark, bytes_, **how)
    found = f'the topic "t" has "{bytes_.hex().upper()}" in partition 2, offset 17'
    assert told.value.found == found
    ends = "Avro that fits the columns", "a whole record of its schema of Avro, or misf"
    assert told.value.expected.startswith(ends)


@pytest.mark.parametrize("within", [TRUTHS, EITHER])
def test_a_truth_value_within_another_value_that_is_none_is_null(spark, within):
    column = "array<boolean>" if within is TRUTHS else IN_ANY
    how = {"format": "avro", "avro": record(x=within), "columns": {"x": column}}
    bytes_ = b"\2\7\0" if within is TRUTHS else b"\0\7"
    expected = [([None],)] if within is TRUTHS else [((None, None),)]
    assert decoded(spark, bytes_, misfits="null", **how) == expected
    with pytest.raises(SchemaError, match="expected Avro that fits the columns"):
        decoded(spark, bytes_, **how)


@pytest.mark.parametrize("kind", ["string", "json"])
def test_bytes_that_are_no_text_are_told_or_null(spark, kind):
    bytes_ = b"\xff" if kind == "string" else b'{"x": "\xff"}'
    how = {"format": kind, "columns": {"x": "string"}}
    assert decoded(spark, bytes_, misfits="null", **how) == [(None,)]
    with pytest.raises(SchemaError, match='the topic "t"'):
        decoded(spark, bytes_, **how)


def test_a_default_of_a_truth_value_is_read_in_a_newer_schema(spark):
    with registry() as (url, *_):
        fields = {"y": {"type": ["boolean", "null"], "default": True}}
        numbers = [
            make_known(url, "t-value", record(x="boolean", **more))
            for more in ({}, fields)
        ]
        how = {"format": "avro", "registry": url}
        how["columns"] = {"x": "boolean", "y": "boolean"}
        heads = [bytes([0, *it.to_bytes(4)]) for it in numbers]
        values = heads[0] + b"\0", heads[1] + b"\1\0\0"
        assert decoded(spark, *values, **how) == [(False, True), (True, False)]
        for odd in (heads[0][:4], b"\1" + heads[0][1:] + b"\0", heads[0]):
            assert decoded(spark, odd, misfits="null", **how) == [(None, None)]
            with pytest.raises(SchemaError, match='the topic "t" has "'):
                decoded(spark, odd, **how)


def test_a_wide_record_is_planned_in_a_moment(spark):
    names = [f"c{at}" for at in range(300)]
    how = {"format": "avro", "avro": record(**dict.fromkeys(names, "string"))}
    begun = time.monotonic()
    found = decoded(spark, b"\2a" * 300, columns=dict.fromkeys(names, "string"), **how)
    assert found == [("a",) * 300]
    assert time.monotonic() - begun < 20
