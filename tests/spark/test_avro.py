"""Topics of Avro on a real broker, with a schema or with a registry of schemas."""

import socket
import subprocess
import tempfile
from contextlib import contextmanager
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from threading import Event

import pytest
from pyspark import cloudpickle
from pyspark.sql import functions as F  # noqa: N812 - Spark's own name for it

import dovetail as dt
from dovetail.api import jobs, runs
from dovetail.bind.jobs import read_job
from dovetail.errors import EngineError, SchemaError, SpecError
from tests.bind.registry_server import make_known, registry
from tests.spark.topics import coming, decoded, raw, read

REGISTRY = Path(__file__).parents[2] / "scripts/registry"
AVRO = """{"type": "record", "name": "Row", "fields": [
    {"name": "id", "type": "long"},
    {"name": "name", "type": ["null", "string"], "default": null}]}"""


@contextmanager
def real_registry():
    """Apicurio's registry, at its address for clients of Confluent's."""
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        port = one.getsockname()[1]
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([REGISTRY, "start", folder, str(port)], check=True)
        try:
            yield f"http://127.0.0.1:{port}/apis/ccompat/v7", None, None
        finally:
            subprocess.run([REGISTRY, "stop", folder], check=True)


@pytest.mark.parametrize(
    "made", [registry, pytest.param(real_registry, marks=pytest.mark.long)]
)
def test_a_registry_knows_the_schemas_of_avro(spark, broker, made):
    """Records of each schema are read in the newest, in which rows go out."""
    _, servers = broker
    name = f"known_{made.__name__}"
    how = {"servers": servers, "format": "avro", "columns": {"id": "bigint"}}
    more = {**how, "columns": {"id": "bigint", "name": "string"}}
    key = {"key": {"k": "bigint"}, "key_format": "avro"}
    old = (
        '{"type": "record", "name": "Row", "fields": [{"name": "id", "type": "long"}]}'
    )
    with made() as (url, *_):
        ids = [make_known(url, f"{name}-value", old)]
        keys = make_known(url, f"{name}-key", old.replace('"id"', '"k"'))
        first = dt.kafka(name, registry=url, **how, **key)
        first.write(spark.sql("SELECT 7L AS k, 1L AS id"), 0, is_empty=False)
        ids.append(make_known(url, f"{name}-value", AVRO))
        then = dt.kafka(name, registry=url, **more, **key)
    rows = spark.sql("SELECT 8L AS k, 2L AS id, 'n' AS name")
    then.write(rows, 1, is_empty=False)
    behind = bytes([0, *keys.to_bytes(4)])
    assert sorted(raw(spark, name, servers)) == [
        (behind + b"\x0e", bytes([0, *ids[0].to_bytes(4)]) + b"\x02"),
        (behind + b"\x10", bytes([0, *ids[1].to_bytes(4)]) + b"\x04\x02\x02n"),
    ]
    assert sorted(read(spark, then)) == [(7, 1, None), (8, 2, "n")]
    # A schema that came after the query was made is one of none that it knows.
    told = (
        f'the topic "{name}" has "00{ids[1]:08X}0402026E" in partition '
        r"\d, offset \d; expected Avro behind the number of a schema of "
        f"{name}-value: {ids[0]}"
    )
    with pytest.raises(Exception, match=told):
        read(spark, first)
    lenient = replace(first, misfits="null")
    assert sorted(read(spark, lenient), key=str) == [(7, 1), (8, None)]


@pytest.mark.parametrize(
    "made", [registry, pytest.param(real_registry, marks=pytest.mark.long)]
)
def test_a_schema_of_avro_refers_to_others(spark, broker, made):
    """Records are read and written by a schema whose types stand in others."""
    _, servers = broker
    name = f"refers_{made.__name__}"
    color = '{"type": "enum", "name": "Color", "symbols": ["RED", "BLUE"]}'
    shop = """{"type": "record", "name": "Shop", "namespace": "a.b", "fields": [
        {"name": "color", "type": "Color"}, {"name": "spare", "type": "Color"}]}"""
    sale = """{"type": "record", "name": "Sale", "namespace": "a.b", "fields": [
        {"name": "shop", "type": "Shop"},
        {"name": "others", "type": {"type": "array", "items": "a.b.Shop"}}]}"""
    shown = "struct<color:string,spare:string>"
    columns = {"shop": shown, "others": f"array<{shown}>"}
    how = {"servers": servers, "format": "avro", "columns": columns}
    with made() as (url, *_):
        make_known(url, "Color", color)
        make_known(url, "a.b.Shop", shop, "Color")
        number = make_known(url, f"{name}-value", sale, "a.b.Shop")
        topic = dt.kafka(name, registry=url, **how)
    red = "struct('RED' AS color, 'BLUE' AS spare)"
    rows = spark.sql(f"SELECT {red} AS shop, array({red}) AS others")
    topic.prepare(rows, is_new=True)
    topic.write(rows, 0, is_empty=False)
    ((_, value),) = raw(spark, name, servers)
    assert value == bytes([0, *number.to_bytes(4)]) + b"\0\2\2\0\2\0"
    assert read(spark, topic) == [(("RED", "BLUE"), [("RED", "BLUE")])]


TYPES = """SELECT CAST(1 AS tinyint) AS tiny, CAST(2 AS smallint) AS small, 3 AS whole,
    4L AS wide, 0.5D AS double, 0.25F AS float, true AS truth, 'a' AS text,
    X'00ff' AS bytes, DATE '1960-01-02' AS day, -12.34BD AS price,
    TIMESTAMP '1960-01-02 03:04:05.000006' AS at,
    TIMESTAMP_NTZ '2026-01-02 03:04:05.000006' AS here,
    array(1, NULL) AS some, map('a', 1, 'b', NULL) AS by,
    named_struct('a', array(named_struct('b', 'x')), 'c', 1L) AS parts"""


@pytest.mark.parametrize(
    "made", [registry, pytest.param(real_registry, marks=pytest.mark.long)]
)
def test_a_sink_registers_the_schema_of_its_rows(spark, broker, made):
    """Rows of all types, and of nothing but nulls, come back as they went out."""
    _, servers = broker
    name = f"registers-{made.__name__}"
    rows = spark.sql(TYPES).selectExpr("1L AS k", "*")
    none = [f"CAST(NULL AS {kind}) AS {it}" for it, kind in rows.dtypes if it != "k"]
    rows = rows.unionByName(spark.range(2, 3).selectExpr("id AS k", *none))
    how = {"servers": servers, "format": "avro"}
    key = {"key": {"k": "bigint"}, "key_format": "avro"}
    with made() as (url, *_):
        with pytest.raises(SpecError, match="sink does with register=True"):
            dt.kafka(name, registry=url, **how, **key)
        sink = dt.kafka(name, registry=url, register=True, **how, **key)
        sink.prepare(rows, is_new=True)
        columns = dict(rows.dtypes)
        topic = dt.kafka(name, registry=url, columns=columns, **how, **key)
    # Who writes the rows, at a server of Connect too, needs no registry any more.
    sink = cloudpickle.loads(cloudpickle.dumps(sink))
    sink.write(rows, 0, is_empty=False)
    sink.write(rows.where("k = 1"), 1, is_empty=False)
    assert (len(topic.value.subject.schemas), len(topic.key.subject.schemas)) == (1, 1)
    first, none = rows.collect()
    assert sorted(read(spark, topic), key=str) == [first, first, none]
    # As clients of Confluent's write it, a key is one value.
    keys = {key[5:] for key, _ in raw(spark, name, servers)}
    assert keys == {b"\2", b"\4"}


def test_avro_may_be_one_value_that_is_no_record(spark, broker):
    """As Confluent's serializers write a key that is a number or a text."""
    _, servers = broker
    how = {"servers": servers, "format": "avro", "key_format": "avro"}
    words = {"columns": {"it": "string"}, "key": {"k": "bigint"}}
    rows = spark.sql("SELECT 1L AS k, 'a' AS it UNION ALL SELECT 2L, NULL")
    told = {"avro": '["null", "string"]', "key_avro": '"long"'}
    topic = dt.kafka("plain-avro", **how, **words, **told)
    topic.prepare(rows, is_new=True)
    topic.write(rows, 0, is_empty=False)
    # Of a null Spark writes no bytes.
    found = [(b"\x02", b"\x02\x02a"), (b"\x04", None)]
    assert sorted(raw(spark, "plain-avro", servers)) == found
    assert read(spark, topic) == [(1, "a")]
    with registry() as (url, *_):
        for part, schema in (("value", '"string"'), ("key", '"long"')):
            make_known(url, f"known-avro-{part}", schema)
        topic = dt.kafka("known-avro", registry=url, **how, **words)
    topic.write(rows.where("k = 1"), 0, is_empty=False)
    assert read(spark, topic) == [(1, "a")]


FITS = """SELECT 1 AS k, 5L AS wide, '7' AS text, 2D AS part, 1.20BD AS price,
    named_struct('a', 'a', 'b', 'b') AS pair, array(named_struct('a', 'x', 'b', 'y')) AS
    pairs, map('m', named_struct('a', 'p', 'b', 'q')) AS by, 9L AS micros"""
MISFITS = {"wide": "1L << 40", "text": "'x'", "part": "1.5D", "price": "1.25BD"}
ODD = """{"type": "record", "name": "R", "fields": [
    {"name": "k", "type": "int"}, {"name": "wide", "type": "long"},
    {"name": "text", "type": "string"}, {"name": "part", "type": "double"},
    {"name": "price", "type":
        {"type": "bytes", "logicalType": "decimal", "precision": 3, "scale": 2}},
    {"name": "pair", "type": {"type": "record", "name": "P", "fields": [
        {"name": "a", "type": "string"}, {"name": "b", "type": "string"}]}},
    {"name": "pairs", "type": {"type": "array", "items": ["P", "null"]}},
    {"name": "by", "type": {"type": "map", "values": "P"}},
    {"name": "micros", "type": {"type": "long", "logicalType": "time-micros"}}]}"""


@pytest.mark.parametrize("ansi", ["true", "false"])
def test_avro_of_other_types_is_fitted_or_misfits(spark, broker, ansi):
    """Records within a value are known by the names of their fields, not by places."""
    _, servers = broker
    name = f"fitted-{ansi}"
    pair = "struct<b:string,a:string>"
    columns = {"k": "bigint", **dict.fromkeys(("wide", "text", "part"), "int")}
    columns |= {"price": "decimal(3,1)", "pair": pair, "pairs": f"array<{pair}>"}
    columns |= {"by": f"map<string,{pair}>", "micros": "bigint"}
    how = {"servers": servers, "format": "avro", "avro": ODD}
    rows = spark.sql(FITS)
    dt.kafka(name, **how).write(rows, 0, is_empty=False)
    topic = dt.kafka(name, columns=columns, **how)
    before = spark.conf.get("spark.sql.ansi.enabled")
    spark.conf.set("spark.sql.ansi.enabled", ansi)
    try:
        price = Decimal("1.2")
        kept = ("b", "a"), [("y", "x")], {"m": ("q", "p")}
        assert [tuple(it) for it in read(spark, topic)] == [
            (1, 5, 7, 2, price, *kept, 9)
        ]
        for odd, sql in MISFITS.items():
            misfit = spark.sql(FITS).withColumn(odd, F.expr(sql))
            own = dt.kafka(f"{name}-{odd}", **how)
            own.write(misfit, 0, is_empty=False)
            topic = dt.kafka(f"{name}-{odd}", columns={odd: columns[odd]}, **how)
            with pytest.raises(Exception, match="expected Avro that fits the columns"):
                read(spark, topic)
            assert read(spark, replace(topic, misfits="null")) == [(None,)]
    finally:
        spark.conf.set("spark.sql.ansi.enabled", before)


WHOLE, TORN = b"\2\2\2n", (b"", b"\2", b"\2\2\x12n", b"\2\4", b"\xff" * 12)


@pytest.mark.parametrize("avro", [AVRO, f'["null", {AVRO}]', f'[{AVRO}, "null"]'])
def test_avro_that_is_torn_is_told_with_its_place_or_null(spark, avro):
    how = {"avro": avro, "columns": {"id": "bigint", "name": "string"}}
    how["format"] = "avro"
    is_null = avro.endswith('"null"]')
    whole = (b"\0" if is_null else b"\2" if avro.startswith("[") else b"") + WHOLE
    values, nothing = [whole, None, whole, b"\2\0"], (None, None)
    expected = [(1, "n"), nothing, (1, "n"), (1, None)]
    if avro != AVRO:
        values[3], expected[3] = b"\2" if is_null else b"\0", nothing
    for misfits in ("fail", "null"):
        assert decoded(spark, *values, misfits=misfits, **how) == expected
    for torn in TORN:
        bytes_ = whole[: len(whole) - len(WHOLE)] + torn
        found = decoded(spark, whole, bytes_, whole, misfits="null", **how)
        assert found == [(1, "n"), nothing, (1, "n")]
        told = f'the topic "t" has "{bytes_.hex().upper()}" in partition 2, offset 18'
        with pytest.raises(SchemaError) as caught:
            decoded(spark, whole, bytes_, **how)
        assert caught.value.found == told
        assert caught.value.expected.startswith("a whole record of its schema of Avro")


@pytest.mark.parametrize("misfits", ["fail", "null"])
@pytest.mark.parametrize("written", ["avro", "json"])
def test_a_record_is_read_once_and_not_once_a_column(spark, written, misfits):
    """Else a plan grows with the square of its columns: with 300 it took a minute."""
    how = {"columns": {"id": "bigint", "name": "string"}, "misfits": misfits}
    how |= {"format": written, "avro": AVRO if written == "avro" else ""}
    run = coming(spark, b"{}", **how)._jdf.queryExecution()  # noqa: SLF001 - to be read
    # JSON of which a number may lose digits is read once more, for all columns.
    times = {"avro": 1, "json": 2}[written]
    assert run.optimizedPlan().toString().count(f"from_{written}(") == times


def test_a_null_among_values_of_avro_is_null(spark):
    how = {"format": "avro", "avro": '["null", "long"]', "columns": {"id": "bigint"}}
    for misfits in ("fail", "null"):
        found = decoded(spark, b"\2\x0a", b"\0", b"\2\x0c", misfits=misfits, **how)
        assert found == [(5,), (None,), (6,)]


INTS = {
    '"int"': ("int", lambda it: it),
    '["null", "int"]': ("int", lambda it: b"\2" + it),
    '{"type": "int", "logicalType": "date"}': ("date", lambda it: it),
    '{"type": "array", "items": "int"}': ("array<int>", lambda it: b"\2" + it + b"\0"),
    '{"type": "map", "values": {"type": "int"}}': (
        "map<string,int>",
        lambda it: b"\2\2k" + it + b"\0",
    ),
    """{"type": "record", "name": "Inner", "fields": [
        {"name": "n", "type": ["int", "null"], "default": 7}]}""": (
        "struct<n:int>",
        lambda it: b"\0" + it,
    ),
    '["int", "string", "long"]': ("struct<member0:int,member1:string>", None),
}


@pytest.mark.parametrize("kind", INTS)
def test_an_int_of_avro_that_is_none_misfits(spark, kind):
    """Its bytes say 2 ** 32 + 5: Avro leaves out what is more than 32 bits."""
    column, written = INTS[kind]
    schema = f"""{{"type": "record", "name": "Row", "fields": [
        {{"name": "x", "type": {kind}}}, {{"name": "y", "type": "int"}}]}}"""
    how = {"format": "avro", "avro": schema, "columns": {"x": column, "y": "int"}}
    if written is None:
        # Beside a long it stays one: Spark tells them apart by their types.
        found = decoded(spark, b"\0\x0a\x0c", b"\2\2a\x0c", **how)
        assert [tuple(it[0]) for it in found] == [(5, None), (None, "a")]
        return
    large, known = (
        b"\x8a\x80\x80\x80\x20",
        {b"\x0a": "5", b"\xff\xff\xff\xff\x0f": "-2147483648"},
    )
    if column == "date":
        known = {b"\x0a": "date(1970, 1, 6)", b"\x09": "date(1969, 12, 27)"}
    for bytes_, shown in known.items():
        ((found, _),) = decoded(spark, written(bytes_) + b"\x0c", **how)
        assert shown in repr(found)
    misfit = written(large) + b"\x0c"
    (found,) = decoded(spark, misfit, misfits="null", **how)
    assert "5" not in repr(found)
    assert found[1] == 6
    told = f'the topic "t" has "{misfit.hex().upper()}" in partition 2, offset 17'
    with pytest.raises(SchemaError) as caught:
        decoded(spark, misfit, **how)
    assert caught.value.found == told


MISFIT = """\
[join]
type = "inner"
clock = "batch"
hard = [["l.id", "r.id"]]
select = {{ name = "l.name", id = "r.id" }}
left = {{ from = "Left" }}
right = {{ from = "Right" }}
[{0}.Left]
file = "rows"
columns = {{ id = "int", name = "string" }}
[{0}.Right]
file = "rows"
columns = {{ id = "int", name = "string" }}
[sinks.matched]
kafka = "unfit"
servers = "{1}"
format = "avro"
avro = "row.avsc"
columns = {{ name = "string" }}
key = {{ id = "int" }}
"""
NARROW = """{"type": "record", "name": "R", "fields": [
    {"name": "at", "type": {"type": "long", "logicalType": "timestamp-millis"}},
    {"name": "id", "type": "long"}, {"name": "n", "type": "int"},
    {"name": "price", "type":
        {"type": "bytes", "logicalType": "decimal", "precision": 3, "scale": 2}}]}"""


def test_rows_for_avro_are_made_wider_or_refused_before_they_go_out(spark, broker):
    _, servers = broker
    how = {"servers": servers, "format": "avro", "avro": NARROW}
    rows = spark.sql(
        "SELECT TIMESTAMP_MILLIS(5) AS at, 1 AS id, 2S AS n, 1.20BD AS price"
    )
    key = {"key": {"n": "int"}, "key_format": "avro", "key_avro": '"long"'}
    wide = {"at": "timestamp", "id": "int", "n": "int", "price": "decimal(3,2)"}
    for name, columns in (("wider", {}), ("wider-told", {**wide, "id": "bigint"})):
        sink = dt.kafka(name, columns=columns, **how, **key)
        sink.prepare(rows, is_new=True)
        sink.write(rows, 0, is_empty=False)
        found = read(spark, dt.kafka(name, columns=wide, **how, **key))
        assert [(it.n, it.id, it.price) for it in found] == [(2, 1, Decimal("1.20"))]
    odd = {"id": "1D", "n": "1L", "price": "12.2BD", "more": "1"}
    told = (
        "type double, its field in the schema of Avro is not",
        "type bigint, ",
        r"decimal.3,1., ",
        "no field",
    )
    for (name, sql), says in zip(odd.items(), told, strict=True):
        misfits = rows.withColumn(name, F.expr(sql))
        with pytest.raises(SchemaError, match=f'column "{name}" .*{says}'):
            dt.kafka("wider", **how).prepare(misfits, is_new=True)
    with pytest.raises(SchemaError, match='for the field "n", never null'):
        dt.kafka("wider", **how).prepare(rows.drop("n"), is_new=True)


def test_avro_comes_back_with_a_key_and_headers(spark, broker):
    _, servers = broker
    columns = {"id": "bigint", "name": "string"}
    how = {"servers": servers, "format": "avro", "avro": AVRO, "columns": columns}
    key = {"key": {"id": "bigint"}, "key_format": "long"}
    told = {"more": "headers"}
    rows = spark.sql(
        "SELECT id, IF(id = 1, NULL, 'n' || id) AS name, "
        "array(struct('trace' AS key, X'00FF' AS value)) AS more FROM range(3)"
    )
    sink = dt.kafka("avro", meta=told, **how, **key)
    sink.prepare(rows, is_new=True)
    sink.write(rows, 0, is_empty=False)
    # Of a tombstone the key alone is there.
    gone = spark.sql("SELECT X'0000000000000009' AS key, CAST(NULL AS BINARY) AS value")
    writer = gone.write.format("kafka").option("topic", "avro")
    writer.option("kafka.bootstrap.servers", servers).save()
    assert len(raw(spark, "avro", servers)) == 4
    assert (b"\0" * 7 + b"\2", b"\x04\x02\x04n2") in raw(spark, "avro", servers)
    told["at"] = "timestamp"
    found = read(spark, dt.kafka("avro", meta=told, **how, **key))
    assert sorted(row[:3] for row in found) == sorted(map(tuple, rows.collect()))
    assert all(row.at for row in found)
    with pytest.raises(SpecError) as caught:
        dt.kafka("avro", meta=told, **how, **key).prepare(rows, is_new=True)
    assert caught.value.expected == "partition or headers"


ENUM = """{"type": "record", "name": "R", "fields": [{"name": "name", "type":
    {"type": "enum", "name": "Name", "symbols": ["a", "b"]}}]}"""


@pytest.mark.parametrize("is_stream", [True, False])
def test_a_value_that_has_no_place_is_told_with_its_outlet(
    spark, broker, tmp_path, is_stream
):
    (tmp_path / "rows").mkdir()
    (tmp_path / "rows/one.csv").write_text("id,name\n1,a\n7,c\n")
    (tmp_path / "row.avsc").write_text(ENUM)
    job = tmp_path / "job.toml"
    job.write_text(MISFIT.format("streams" if is_stream else "datasets", broker[1]))
    found = jobs.prepared(read_job(job))
    with pytest.raises(EngineError) as told, runs.outcome_of(spark, found) as outcome:
        outcome.run(lambda *_: None, Event())
    found = 'the outlet "matched" is not written: the topic "unfit" of '
    assert told.value.found.startswith(found)
    says = 'the field "name" of the schema of Avro has "c" in the row {"id":7}'
    assert says in told.value.found
