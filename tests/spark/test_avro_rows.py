"""Rows that leave as Avro: each value as it is, or a sentence, on no broker."""

import json

import pytest
from pyspark.errors import PySparkException

import dovetail as dt
from dovetail.bind.failures import said
from dovetail.bind.schemas import schema_of
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
    topic = dt.kafka("t", servers="b", format="avro", avro=avro, **how)
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
        f'the value of the topic "t" of b: the field "{field}" of the schema of Avro '
        f'has "{value}" in the row {{"k":"k7"}}; expected {expected}'
    )
