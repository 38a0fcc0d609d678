"""Topics of a real broker: in, out, per partition, over crashes of both ends."""

import json
import signal
import struct
import subprocess
from datetime import datetime
from pathlib import Path
from threading import Event

import pytest
from pyspark.errors import PySparkException
from pyspark.sql import functions as F  # noqa: N812 - Spark's own name for it

import dovetail as dt
from dovetail.api import jobs, runs
from dovetail.bind.document import Document
from dovetail.bind.jobs import read_document, read_job
from dovetail.errors import SchemaError
from dovetail.schema import Schema
from dovetail.spec import Given
from tests.spark.processes import BROKER, SETTINGS, Process, ran, start_broker
from tests.spark.topics import decoded, raw, read

ROOT = Path(__file__).parents[2]
RECORD = "key binary, value binary, topic string, partition int, offset bigint"
KEY = {"id": "bigint"}
COLUMNS = {"id": "bigint", "at": "timestamp"}
JOB = """\
checkpoint = "state"
{more}
[kafka]
servers = "{servers}"

[join]
type = "inner"
clock = "event"
hard = [["l.id", "r.id"]]
select = {{ id = "l.id", at = "r.at" }}
[join.left]
from = "Left"
window = {{ range = {{ preceding = "1 minute", following = "1 minute" }} }}
[join.right]
from = "Right"
window = {{ range = {{ preceding = "1 minute" }} }}

[streams.Left]
kafka = "left{run}"
columns = {{ at = "timestamp" }}
key = {{ id = "bigint" }}
time = "at"

[streams.Right]
kafka = "right{run}"
columns = {{ id = "bigint", at = "timestamp" }}
time = "at"

[sinks.matched]
{sink}
"""


TABLES = """\
trigger = "available"
[kafka]
servers = "{servers}"

[join]
type = "inner"
clock = "arrival"
hard = [["l.id", "r.id"]]
select = {{ id = "l.id", at = "r.at" }}
left = {{ from = "Left", window = {{ latest = ["id"] }} }}
right = {{ from = "Right", window = {{ latest = ["id"] }} }}

[tables.Left]
kafka = "leftscript"
columns = {{ at = "timestamp" }}
key = {{ id = "bigint" }}
streams = true

[tables.Right]
kafka = "rightscript"
columns = {{ at = "timestamp" }}
key = {{ id = "bigint" }}
streams = true

[sinks.matched]
kafka = "{sink}"
key = {{ id = "bigint" }}
upsert = true
"""


def send(spark, topic, servers, rows, **more):
    """Writes rows of a number and seconds behind noon into a topic."""
    frame = spark.createDataFrame(rows, "id bigint, seconds bigint")
    noon = F.lit("2026-03-02 12:00:00").cast("timestamp")
    frame = frame.select("id", F.timestamp_add("second", "seconds", noon).alias("at"))
    sink = dt.kafka(topic, servers=servers, columns=COLUMNS, key=KEY, **more)
    sink.write(frame.coalesce(1), 0, is_empty=False)


def received(spark, topic, servers):
    """The records of a topic: key and value as texts."""
    found = spark.read.format("kafka").option("subscribe", topic)
    rows = found.option("kafka.bootstrap.servers", servers).load()
    texts = rows.selectExpr("CAST(key AS STRING)", "CAST(value AS STRING)")
    return sorted(map(tuple, texts.collect()), key=repr)


def run(spark, path):
    """Carries a job out to its end."""
    whole = jobs.prepared(read_job(path))
    with runs.outcome_of(spark, whole) as outcome:
        outcome.run(lambda *_: None, Event())


def test_rows_go_in_and_out_and_a_later_run_goes_on(spark, broker, tmp_path):
    _, servers = broker
    sink = 'kafka = "out1"\nkey = { id = "bigint" }\nkey_format = "long"'
    job = JOB.format(more='trigger = "available"', servers=servers, run=1, sink=sink)
    path = tmp_path / "job.toml"
    path.write_text(job)
    send(spark, "left1", servers, [(1, 0), (2, 10)])
    send(spark, "right1", servers, [(1, 30), (2, 200)])
    run(spark, path)
    send(spark, "left1", servers, [(3, 400)])
    send(spark, "right1", servers, [(3, 401), (9, 900)])
    send(spark, "left1", servers, [(9, 2000)])
    run(spark, path)
    found = [value for _, value in received(spark, "out1", servers)]
    assert found == [
        '{"id":1,"at":"2026-03-02T12:00:30.000000Z"}',
        '{"id":3,"at":"2026-03-02T12:06:41.000000Z"}',
    ]


def test_a_topic_that_is_missing_is_told(spark, broker, tmp_path):
    _, servers = broker
    sink = 'kafka = "nowhere"\nkey = { id = "bigint" }\nkey_format = "long"'
    path = tmp_path / "job.toml"
    more = 'trigger = "available"'
    path.write_text(JOB.format(more=more, servers=servers, run="missing", sink=sink))
    with pytest.raises(dt.EngineError, match="a topic that is there before the query"):
        run(spark, path)


def test_a_script_of_topics_gives_the_rows_of_its_run(spark, broker, tmp_path):
    """A table of a topic loses keys there too, which its reader alone would not see."""
    _, servers = broker
    text = TABLES.format(servers=servers, sink="ran")
    path = tmp_path / "job.toml"
    path.write_text(text)
    send(spark, "leftscript", servers, [(1, 0), (2, 10)])
    send(spark, "rightscript", servers, [(1, 30), (2, 200)])
    gone = spark.sql("SELECT X'32' AS key, CAST(NULL AS BINARY) AS value")
    writer = gone.write.format("kafka").option("topic", "rightscript")
    writer.option("kafka.bootstrap.servers", servers).save()
    run(spark, path)
    expected = received(spark, "ran", servers)
    assert expected == [("1", '{"id":1,"at":"2026-03-02T12:00:30.000000Z"}')]
    path.write_text(TABLES.format(servers=servers, sink="scripted"))
    done = ran(tmp_path, jobs.script_of(jobs.prepared(read_job(path))))
    assert done.returncode == 0, done.stderr
    assert received(spark, "scripted", servers) == expected


WITHIN = "OVER (RANGE INTERVAL '1' MINUTE PRECEDING)"


def put(spark, topic, servers, rows):
    """Puts rows of an id and a minute into two partitions of a topic."""
    frame = spark.createDataFrame(rows, "id bigint, minute int")
    at = "CAST('2026-03-02 12:00:00' AS TIMESTAMP) + make_dt_interval(0, 0, minute)"
    wide = "CAST(id % 2 AS INT) AS partition", "to_json(struct(id, at)) AS value"
    # One task: several would put them into a partition in any order.
    written = frame.coalesce(1).selectExpr("id", f"{at} AS at").selectExpr(*wide)
    kafka = written.write.format("kafka").option("topic", topic)
    kafka.option("kafka.bootstrap.servers", servers).save()


BEHIND = [(0, 0), (1, 0), (2, 50)], [(3, 1), (5, 2)]
"""One partition is at minute 50 while the other one is at its beginning."""


def test_a_partition_that_is_behind_makes_no_row_of_its_late(spark, broker, tmp_path):
    _, servers = broker
    left = dt.kafka("parts", servers=servers, columns=COLUMNS)
    late = []
    for rows in BEHIND:
        put(spark, "parts", servers, rows)
        joined = (
            dt.stream(left, time="at")
            .window(dt.range(preceding="1 minute"))
            .join(
                dt.stream(left, time="at").window(dt.range(preceding="1 minute")),
                on="id",
                select={"id": "l.id"},
            )
        )
        joined.write(
            matched=dt.folder(tmp_path / "out"),
            late=lambda found, _: late.extend(found.collect()),
            checkpoint=tmp_path / "state",
            trigger={"availableNow": True},
        ).awaitTermination()
    assert late == []
    assert "the least" in joined.explain()


FLOWS = {
    "spread": """
        SELECT STREAM id, COUNT(*) AS n FROM topic
        GROUP BY id, STEP(topic.ROWTIME BY INTERVAL '1' MINUTE)""",
    "together": "SELECT STREAM id, 1 AS n FROM topic ORDER BY ROWTIME",
    "unfolded": """
        WITH x AS (SELECT STREAM one FROM topic LATERAL ARRAY(id) AS one);
        INSERT INTO result SELECT STREAM x.one AS id, 1 AS n
        FROM x INNER JOIN topic AS y ON x.one = y.id WITHIN 1m""",
}


@pytest.mark.parametrize("name", FLOWS)
def test_no_text_makes_rows_of_a_partition_late_that_is_behind(
    spark, broker, tmp_path, name
):
    _, servers = broker
    topic = dt.kafka(f"behind-{name}", servers=servers, columns=COLUMNS)
    stream, late = dt.stream(topic, time="at"), []
    dialect = "lenses" if name == "unfolded" else "sqlstream"
    for rows, finish in zip(BEHIND, (False, True), strict=True):
        put(spark, f"behind-{name}", servers, rows)
        flow = dt.sql(FLOWS[name], {"topic": stream}, dialect=dialect)
        sinks = {
            "result": dt.folder(tmp_path / "out"),
            "late": lambda found, _: late.extend(found.collect()),
        }
        how = {"checkpoint": tmp_path / "state", "finish": finish}
        for query in flow.write(sinks, **how, trigger={"availableNow": True}):
            query.awaitTermination()
    found = spark.read.parquet(str(tmp_path / "out")).select("id", "n").collect()
    assert late == []
    assert sorted(found) == [(it, 1) for it in (0, 1, 2, 3, 5)]


def test_a_tombstone_takes_a_key_out_and_goes_on(spark, broker, tmp_path):
    _, servers = broker
    for topic, rows in (("names", [(1, 0), (2, 0)]), ("places", [(1, 5), (2, 6)])):
        send(spark, topic, servers, rows)
    tables = [
        dt.table(dt.kafka(topic, servers=servers, columns=COLUMNS, key=KEY), key="id")
        for topic in ("names", "places")
    ]

    def write():
        select = {"id": "l.id", "at": "r.at"}
        joined = tables[0].join(tables[1], on="id", select=select)
        joined.write(
            matched=dt.kafka("both", servers=servers, key=KEY, upsert=True),
            checkpoint=tmp_path / "state",
            trigger={"availableNow": True},
        ).awaitTermination()

    write()
    gone = spark.createDataFrame([("1",)], "key string")
    writer = gone.selectExpr(
        "CAST(key AS BINARY) AS key", "CAST(NULL AS BINARY) AS value"
    )
    kafka = writer.write.format("kafka").option("topic", "names")
    kafka.option("kafka.bootstrap.servers", servers).save()
    write()
    assert received(spark, "both", servers) == [
        ("1", '{"id":1,"at":"2026-03-02T12:00:05.000000Z"}'),
        ("1", None),
        ("2", '{"id":2,"at":"2026-03-02T12:00:06.000000Z"}'),
    ]


def test_an_update_that_moves_a_row_to_another_key_takes_it_out_of_its_own(
    spark, broker, tmp_path
):
    _, servers = broker
    for topic, rows in (("orders", [(1, 7), (2, 7), (3, 8)]), ("shops", [(7, 0)])):
        send(spark, topic, servers, rows)
    send(spark, "shops", servers, [(8, 0)])
    orders, shops = (
        dt.table(dt.kafka(topic, servers=servers, columns=COLUMNS, key=KEY), key="id")
        for topic in ("orders", "shops")
    )
    key = {"shop": "bigint", "order": "bigint"}

    def write():
        select = {"shop": "r.id", "order": "l.id"}
        shop = "CAST(extract(second FROM l.at) AS bigint) = r.id"
        orders.join(shops, where=shop, select=select).write(
            matched=dt.kafka("moved", servers=servers, key=key, upsert=True),
            checkpoint=tmp_path / "state",
            trigger={"availableNow": True},
        ).awaitTermination()

    write()
    # Order 1 goes to another shop; 2 comes again as it was, which is no news.
    send(spark, "orders", servers, [(1, 8), (2, 7)])
    write()
    there = ['{"shop":7,"order":1}', '{"shop":7,"order":2}', '{"shop":8,"order":3}']
    assert received(spark, "moved", servers) == sorted(
        [
            *((one, one) for one in there),
            (there[0], None),
            ('{"shop":8,"order":1}', '{"shop":8,"order":1}'),
        ],
        key=repr,
    )


def test_a_row_without_a_key_is_no_record_of_upsert(spark, broker):
    _, servers = broker
    rows = spark.sql("SELECT CAST(NULL AS bigint) AS id, 1 AS x, 'insert' AS change")
    how = {"servers": servers, "key": KEY, "upsert": True}
    told = 'a record without a key for the topic "keyless" of .*"x":1,.*expected a key'
    with pytest.raises(Exception, match=told):
        dt.kafka("keyless", **how).write(rows, 0, is_empty=False)
    dt.kafka("keyless", misfits="null", **how).write(rows, 0, is_empty=False)
    assert received(spark, "keyless", servers) == [(None, '{"id":null,"x":1}')]


def test_the_examples_fill_topics_and_join_them(spark, broker, tmp_path):
    _, servers = broker
    folder = ROOT / "examples/jobs"
    for name in ("feed.toml", "topics.toml"):
        text = (folder / name).read_text().replace("localhost:9092", servers)
        # As it stands it goes on until somebody stops it.
        text = text.replace('"2 seconds"', '"available"\nfinish = true')
        text = text.replace('"state/topics"', f'"{tmp_path}/state"')
        (tmp_path / name).write_text(text)
        job = read_document(Document.read(tmp_path / name), folder)
        with runs.outcome_of(spark, jobs.prepared(job)) as outcome:
            outcome.run(lambda *_: None, Event())
    paid = [(key, json.loads(value)) for key, value in received(spark, "paid", servers)]
    assert [(key, value["article"], value["sum"]) for key, value in paid] == [
        ("1", "A", 30.0),
        ("2", "B", 7.5),
    ]


FORMATS = [
    ("int", "int", [-(2**31), -2, -1, 0, 1, 2**31 - 1], struct.Struct(">i").pack),
    ("long", "bigint", [-(2**63), -1, 0, 1, 2**63 - 1], struct.Struct(">q").pack),
    ("string", "string", ["", "a", "\u00fc\U0001f600"], str.encode),
    ("bytes", "binary", [b"", b"\x00\xff"], bytes),
]


@pytest.mark.parametrize("case", FORMATS, ids=lambda case: f"as-{case[0]}")
def test_a_format_is_as_kafka_has_it_and_comes_back(spark, broker, case):
    written, kind, values, packed = case
    _, servers = broker
    how = {"servers": servers, "format": written, "key_format": written}
    columns, topic = {"it": kind}, f"format-{written}"
    rows = spark.createDataFrame([(one,) for one in values], f"it {kind}")
    sink = dt.kafka(topic, columns=columns, key=columns, **how)
    sink.prepare(rows, is_new=True)
    sink.write(rows, 0, is_empty=False)
    assert sorted(raw(spark, topic, servers)) == sorted(
        (packed(one), packed(one)) for one in values
    )
    found = read(spark, dt.kafka(topic, columns=columns, key={"own": kind}, **how))
    assert sorted((row.own, row.it) for row in found) == sorted(
        (it, it) for it in values
    )


DOUBLES = [
    0.0,
    -0.0,
    1.5,
    -0.1,
    5e-324,
    2.2250738585072014e-308,
    1.7976931348623157e308,
]
DOUBLES += [float("inf"), float("-inf"), float("nan")]


@pytest.mark.parametrize(
    ("name", "kind", "key"),
    [("twstring", "string", "\u00fc"), ("swlong", "bigint", -2), ("twjson", "int", 7)],
)
def test_a_key_has_its_window_as_kafka_streams_writes_it(
    spark, broker, name, kind, key
):
    """The key, the end of a session, and the start: milliseconds in eight bytes."""
    _, servers = broker
    inner = {"string": str.encode, "bigint": struct.Struct(">q").pack}
    packed = inner.get(kind, lambda one: b'{"k":%d}' % one)(key)
    start, end = 1_700_000_000_123, 1_700_000_060_000
    behind = {"t": [start], "s": [end, start]}[name[0]]
    columns = {"k": kind, "start": "timestamp", "end": "bigint"}
    # A time window ends where its length says: its end is no part of the key.
    keys = dict([*columns.items()][: 2 if name[0] == "t" else 3])
    schema = f"k {kind}, s long, end long, x int"
    rows = spark.createDataFrame([(key, start, end, 1)], schema)
    rows = rows.selectExpr("k", "timestamp_millis(s) AS start", "end", "x")
    topic = dt.kafka(
        f"w{name}", servers=servers, key=keys, key_format=name, columns={"x": "int"}
    )
    topic.write(rows, 0, is_empty=False)
    ((written, _),) = raw(spark, topic.topic, servers)
    assert written == packed + b"".join(map(struct.Struct(">q").pack, behind))
    (found,) = read(spark, topic)
    (expected,) = rows.select(*keys, "x").collect()
    assert found == expected


@pytest.mark.parametrize("column", ["date", "timestamp", "timestamp_ntz"])
@pytest.mark.parametrize("text", ["+12345-01-01", "-0001-01-01", "2026-13-01"])
def test_what_is_of_no_year_with_four_digits_does_not_fit(spark, column, text):
    told = '"x" has "12:00"; expected timestamp'
    with pytest.raises(SchemaError, match=told):
        decoded(spark, b"12:00", columns={"x": "timestamp"}, format="string")
    for kind, value in (("string", text), ("json", f'{{"x": "{text}"}}')):
        how = {"format": kind, "columns": {"x": column}}
        assert decoded(spark, value.encode(), misfits="null", **how) == [(None,)]
        with pytest.raises(SchemaError, match='the topic "t"'):
            decoded(spark, value.encode(), **how)


@pytest.mark.parametrize("key", [b"\0\1", b"\0" * 16 + b"\x7f" + b"\xff" * 7])
@pytest.mark.parametrize("name", ["twlong", "swstring"])
def test_a_key_without_its_window_does_not_fit(spark, name, key):
    keys = {"k": "bigint" if name[0] == "t" else "string", "s": "timestamp"}
    if name[0] == "s":
        keys["e"] = "bigint"
    how = {"servers": "b:1", "key": keys, "key_format": name, "columns": {"x": "int"}}
    values = [(key[-8 * len(keys) :], b'{"x": 1}', "t", 0, 1)]
    records = spark.createDataFrame(values, RECORD)
    for misfits in ("fail", "null"):
        topic = dt.kafka("t", misfits=misfits, **how)
        (scan,) = topic.scans(Given("t", topic.columns(Schema(()))), streams=True)
        rows = scan.of(records).select("s")
        if misfits == "null":
            assert rows.collect() == [(None,)]
            continue
        with pytest.raises(PySparkException, match='the column "s" has "'):
            rows.collect()


def test_doubles_are_read_bit_by_bit(spark, broker):
    _, servers = broker
    bytes_of = struct.Struct(">d").pack
    rows = [(bytes_of(one),) for one in DOUBLES]
    columns = {"it": "binary"}
    sink = dt.kafka("doubles", servers=servers, columns=columns, format="bytes")
    sink.write(spark.createDataFrame(rows, "it binary"), 0, is_empty=False)
    columns = {"it": "double"}
    topic = dt.kafka("doubles", servers=servers, columns=columns, format="double")
    found = sorted(bytes_of(row.it) for row in read(spark, topic))
    assert found == sorted(one for (one,) in rows)


IN_ORDER = {
    "flow": "SELECT STREAM ROWTIME AS at, id % 4 AS k FROM a ORDER BY ROWTIME, id",
    "join": "SELECT STREAM ROWTIME AS at, a.id % 4 AS k "
    f"FROM a {WITHIN} JOIN b {WITHIN} ON a.id % 3 = b.id % 3",
}


@pytest.mark.parametrize("name", IN_ORDER)
def test_row_time_order_goes_into_each_partition_of_a_topic(
    spark, broker, jumbled, tmp_path, name
):
    _, servers = broker
    topic = f"in-order-{name}"
    columns = {"at": "timestamp", "k": "int"}
    sink = dt.kafka(topic, servers=servers, columns=columns, key={"k": "int"})
    made = dt.sql(IN_ORDER[name], jumbled)
    how = {"checkpoint": str(tmp_path / "state"), "finish": True}
    if name == "flow":
        queries = made.write({"result": sink}, **how)
    else:
        queries = [made.emit(order="row_time").write(matched=sink, **how)]
    for query in queries:
        query.awaitTermination()
    found = spark.read.format("kafka").option("subscribe", topic)
    records = found.option("kafka.bootstrap.servers", servers).load()
    told = records.selectExpr(
        "partition", "offset", "get_json_object(CAST(value AS STRING), '$.at') AS at"
    ).collect()
    assert len(told) >= 40
    for partition in {row.partition for row in told}:
        own = sorted((row.offset, row.at) for row in told if row.partition == partition)
        times = [at for _, at in own]
        assert times == sorted(times)


SPL = """\
stream<int64 id> Left = Beacon() {}
stream<int64 id> Right = Beacon() {}
stream<int64 id> Even = Filter(Left) { param filter : id % 2l == 0l; }
stream<int64 id> Met = Join(Even; Right) {
  window Even : sliding, count(99); Right : sliding, count(99);
  param match : Even.id == Right.id; output Met : id = Even.id;
}
stream<int64 id> Again = Join(Met, Right as Both; Left) {
  window Both : sliding, count(99); Left : sliding, count(99);
  param match : Both.id == Left.id; output Again : id = Left.id;
}
"""


def test_topics_of_a_program_need_no_sequence(spark, broker, tmp_path):
    _, servers = broker
    for side, ids in (("left", range(6)), ("right", range(2, 8))):
        send(spark, f"spl{side}", servers, [(one, 0) for one in ids])
    (tmp_path / "both.spl").write_text(SPL)
    streams = (
        f'[streams.{one.title()}]\nkafka = "spl{one}"' for one in ("left", "right")
    )
    head = f'program = "both.spl"\ntrigger = "available"\nkafka.servers = "{servers}"'
    path = tmp_path / "job.toml"
    path.write_text("\n".join([head, *streams, '[sinks.Again]\nfolder = "out"']))
    run(spark, path)
    found = spark.read.parquet(str(tmp_path / "out")).collect()
    # Each right row meets its left one, and so does each of both that are even.
    assert sorted(row.id for row in found) == [2, 2, 3, 4, 4, 5]
    # The text has said what their columns are, and so does the program in Python.
    told = jobs.script_of(jobs.prepared(read_job(path)))
    assert "columns={'id': 'bigint'}" in told


NO_OBJECTS = ["", " ", "null", '{"x":1},{"x":2}', '{"x":1}{"x":2}', '{"x":1} no']
NO_OBJECTS += ['{"x":128}', '{"x":-129}', '{"x":1.5}', '{"x":"1"}']
TIMES = ["12:00:05Z", "12:00:05.000Z", "12:00:05.000000Z", "14:00:05+02:00", "12:00:05"]
NO_KEYS = [
    ("x", "string", "bigint"),
    ("17.5", "string", "bigint"),
    ("", "string", "int"),
    ("4444", "long", "bigint"),
    ("999999999", "long", "bigint"),
    ("88888888", "int", "int"),
    ("4444", "double", "double"),
]


def test_what_is_no_json_fails_or_is_null(spark, broker):
    _, servers = broker
    how = {"servers": servers, "columns": {"id": "bigint"}}
    texts = spark.createDataFrame([('{"id": 1}',), ("no",)], "it string")
    dt.kafka("misfits", **how | {"columns": {"it": "string"}}, format="string").write(
        texts, 0, is_empty=False
    )
    found = read(spark, dt.kafka("misfits", misfits="null", **how))
    assert {row.id for row in found} == {1, None}
    told = 'the topic "misfits" has "no"; expected one object of JSON'
    with pytest.raises(Exception, match=told):
        read(spark, dt.kafka("misfits", **how))


@pytest.mark.parametrize("text", NO_OBJECTS)
def test_a_record_is_one_object_of_json(spark, broker, text):
    """Spark alone makes nulls of nothing, and reads no further than the first."""
    _, servers = broker
    name = f"objects{NO_OBJECTS.index(text)}"
    sent = dt.kafka(name, servers=servers, format="string")
    sent.write(spark.createDataFrame([(text,)], "it string"), 0, is_empty=False)
    how = {"servers": servers, "columns": {"x": "tinyint"}}
    told = f'the topic "{name}" has "{text}"; expected one object of JSON'
    if text.removeprefix('{"x":').strip("-}") in {"128", "129"}:
        told = f': the column "x" has "{text[5:-1]}"; expected tinyint'
    with pytest.raises(Exception) as caught:  # noqa: PT011 - Spark's own, of any kind
        read(spark, dt.kafka(name, **how))
    assert told in str(caught.value)
    assert read(spark, dt.kafka(name, misfits="null", **how)) == [(None,)]


def test_a_moment_in_json_is_read_however_it_is_written(spark, broker):
    """Java leaves out a fraction that is zero; of no zone it is one of UTC."""
    _, servers = broker
    sent = dt.kafka("moments", servers=servers, format="string")
    texts = [(f'{{"at":"2026-03-02T{one}"}}',) for one in TIMES]
    sent.write(spark.createDataFrame(texts, "it string"), 0, is_empty=False)
    columns = {"at": "timestamp"}
    found = read(spark, dt.kafka("moments", servers=servers, columns=columns))
    assert {row.at.timestamp() for row in found} == {1_772_452_805}
    assert len(found) == len(TIMES)


def test_a_time_alone_in_json_is_no_moment(spark, broker):
    """Spark would make one of the day on which it is read."""
    _, servers = broker
    how = {"servers": servers, "columns": {"at": "timestamp", "x": "string"}}
    texts = [('{"at":"12:00"}',), ('{"at":"2026-03-02T00:00:00","x":"12:00"}',)]
    sent = dt.kafka("times", servers=servers, format="string")
    sent.write(spark.createDataFrame(texts, "it string"), 0, is_empty=False)
    found = read(spark, dt.kafka("times", misfits="null", **how))
    assert {row.at and row.at.year for row in found} == {None, 2026}
    with pytest.raises(Exception, match='"times": the column "at" has "12:00"'):
        read(spark, dt.kafka("times", **how))


DAY = datetime.fromisoformat("2026-03-02")
WITHIN = {
    "struct<at:timestamp,x:int>": ('{"at":%s,"x":1}', lambda at: (at, 1)),
    "array<struct<x:string,at:timestamp>>": (
        '[{"x":"12:00","at":%s},{"at":"2026-03-02"}]',
        lambda at: [("12:00", at), (None, DAY)],
    ),
    "map<string,struct<at:array<timestamp>>>": (
        '{"a":{"at":["2026-03-02",%s]},"b":null}',
        lambda at: {"a": ([DAY, at],), "b": None},
    ),
}
NO_MOMENTS = ['"12:00"', '"T1:02:03.5Z"', r'"\u00312:00"', "1772452805000"]


@pytest.mark.parametrize("text", NO_MOMENTS)
@pytest.mark.parametrize("kind", WITHIN)
def test_what_is_no_moment_within_a_value_of_json_does_not_fit(spark, kind, text):
    """Whether it is in a record, a list or a map, as where it is a field by itself."""
    given, value = WITHIN[kind]
    how = {"columns": {"k": "int", "a": kind}}
    fit, misfit = (f'{{"a":{given % it},"k":1}}'.encode() for it in (f'"{DAY}"', text))
    found = decoded(spark, fit, None, misfit, misfits="null", **how)
    assert found == [(1, value(DAY)), (None, None), (1, value(None))]
    with pytest.raises(SchemaError) as told:
        decoded(spark, fit, None, misfit, **how)
    before, _, shown = told.value.found.partition(' has "')
    assert before == 'the topic "t": the column "a"'
    # Of a number that Spark has made a moment only that is known, far away.
    assert shown.startswith((f'{json.loads(text)}"', "+58136-10-17"))
    assert told.value.expected == "timestamp"


def test_moments_and_small_numbers_within_a_value_of_json_have_its_rules(spark):
    """Each moment is a number of the unit, and 200 is not the tinyint -56."""
    kind = "array<struct<at:timestamp,x:tinyint>>"
    how = {"columns": {"a": kind}, "epoch": "milliseconds", "misfits": "null"}
    moment = datetime.fromisoformat("2026-03-02T12:00:05")
    record = b'{"a":[{"at":1772452805000,"x":-128},{"at":"12:00","x":200}]}'
    assert decoded(spark, record, **how) == [([(moment, -128), (None, None)],)]
    rows = spark.createDataFrame([([(moment, 5)],)], f"a {kind}")
    part, key = dt.kafka("t", servers="b:1", **how).value, "''"
    ((found,),) = rows.selectExpr(f"CAST({part.written('', key)} AS STRING)").collect()
    assert found == '{"a":[{"at":1772452805000,"x":5}]}'


@pytest.mark.parametrize("unit", ["seconds", "milliseconds", "microseconds"])
def test_a_moment_in_json_may_be_a_number(spark, broker, unit):
    _, servers = broker
    scale = {"seconds": 1, "milliseconds": 10**3, "microseconds": 10**6}[unit]
    columns = {"at": "timestamp", "x": "int"}
    how = {"servers": servers, "columns": columns}
    key = {"key": {"at": "timestamp"}, "key_format": "json"}
    topic = dt.kafka(f"at-{unit}", epoch=unit, **how, **key)
    moments = [-(10**9), 0, 1_772_452_805]
    rows = spark.createDataFrame([(it,) for it in moments], "it bigint")
    rows = rows.selectExpr("timestamp_seconds(it) AS at", "1 AS x")
    topic.prepare(rows, is_new=True)
    topic.write(rows, 0, is_empty=False)
    assert sorted(received(spark, topic.topic, servers)) == sorted(
        (f'{{"at":{it * scale}}}', f'{{"at":{it * scale},"x":1}}') for it in moments
    )
    found = read(spark, topic)
    assert sorted(int(row.at.timestamp()) for row in found) == moments
    # Of another unit they are far off, in JSON without one they are seconds.
    other = {"seconds": "", "milliseconds": "seconds", "microseconds": ""}[unit]
    wrong = dt.kafka(topic.topic, epoch=other, **how)
    if unit == "seconds":
        assert sorted(int(row.at.timestamp()) for row in read(spark, wrong)) == moments
        return
    with pytest.raises(Exception, match=f'"at-{unit}": the column "at" has "'):
        read(spark, wrong)


@pytest.mark.parametrize(("text", "written", "kind"), NO_KEYS)
def test_a_key_that_does_not_fit_fails_or_is_null(spark, broker, text, written, kind):
    _, servers = broker
    name = f"keys-{written}{len(text)}{text[:1]}"
    key = {"k": "string"}
    rows = spark.createDataFrame([(text, 1), (None, 2)], "k string, x int")
    dt.kafka(name, servers=servers, key=key, columns={"x": "int"}).write(
        rows, 0, is_empty=False
    )
    how = {"servers": servers, "columns": {"x": "int"}, "key": {"k": kind}}
    how["key_format"] = written
    found = read(spark, dt.kafka(name, misfits="null", **how))
    assert sorted(map(tuple, found), key=repr) == [(None, 1), (None, 2)]
    told = f'the topic "{name}": the column "k" has ".*"; expected {kind}'
    with pytest.raises(Exception, match=told):
        read(spark, dt.kafka(name, **how))


@pytest.mark.parametrize(
    ("rounds", "into"),
    [
        pytest.param(1, "folder", id="once"),
        pytest.param(10, "folder", marks=pytest.mark.long, id="often"),
        pytest.param(2, "topic", marks=pytest.mark.long, id="into-a-topic"),
    ],
)
@pytest.mark.timeout(2400)
def test_nothing_is_lost_or_doubled_where_either_end_dies(
    spark, broker, tmp_path, rounds, into
):
    """Each round a driver dies with its Java, and the broker below the next one."""
    folder, servers = broker
    name = f"kills{rounds}{into}"
    sink = 'folder = "out"' if into == "folder" else f'kafka = "out{name}"'
    # A batch stands there before it runs: so a driver dies in the middle of it.
    offsets = tmp_path / "state/offsets"
    more = 'trigger = "1 second"\nfinish = false'
    path = tmp_path / "job.toml"
    job = f"{JOB}\n{SETTINGS}".format(more=more, servers=servers, run=name, sink=sink)
    path.write_text(job)
    sent = 0

    def put():
        nonlocal sent
        rows = [(one, 10 * one) for one in range(sent, sent + 50)]
        sent += 50
        for side in ("left", "right"):
            send(spark, f"{side}{name}", servers, rows)

    def wait_for_a_batch(running):
        known = {*offsets.glob("[0-9]*")}
        put()
        running.wait_until(lambda: {*offsets.glob("[0-9]*")} - known)

    put()  # makes the topics, which a job that starts must find
    for _ in range(rounds):
        with Process(tmp_path) as running:
            wait_for_a_batch(running)
            running.die()
        with Process(tmp_path) as running:
            wait_for_a_batch(running)
            subprocess.run([BROKER, "kill", folder], check=True)
            start_broker(folder, int(servers.partition(":")[2]))
            wait_for_a_batch(running)
            assert running.stopped_by(signal.SIGTERM) == 0, running.told
    assert running.told.count("stopped: a later run goes on from there") == rounds
    path.write_text(job.replace(more, 'trigger = "available"\nfinish = true'))
    run(spark, path)
    if into == "folder":
        rows = spark.read.parquet(str(tmp_path / "out"))
        assert sorted(row.id for row in rows.select("id").collect()) == [*range(sent)]
        return
    # A topic may have a row twice, and has each: that is what its sink says.
    rows = [json.loads(value) for _, value in received(spark, f"out{name}", servers)]
    assert {row["id"] for row in rows} == {*range(sent)}
