"""What is wrong in a job is told before Spark starts, in the line that says it."""

import socket
import threading
from dataclasses import replace

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.errors import IllegalArgumentException
from pyspark.sql import SparkSession
from typer.testing import CliRunner

from dovetail.api.alone import job_alone
from dovetail.api.jobs import prepared
from dovetail.api.places import refuse_silent, told_in_job
from dovetail.bind.jobs import read_job
from dovetail.cli.main import app
from dovetail.errors import DialectError, EngineError

TEXT = '''\
text = """
INSERT INTO result
SELECT STREAM c.name, o.item FROM orders o LEFT JOIN customers c ON c.id = o.cid;
"""
'''
SQL = (
    TEXT
    + """\
dialect = "lenses"
partitions = 1

[streams.orders]
file = "orders.csv"
columns = { cid = "int", item = "string", placed = "timestamp" }
time = "placed"

[tables.customers]
file = "customers.csv"
columns = { id = "int", name = "string", at = "timestamp" }
key = "id"
time = "at"

[sinks.matched]
folder = "out"
format = "json"
"""
)
JOIN = SQL.replace(
    TEXT + 'dialect = "lenses"\n',
    """\
[join]
type = "left_outer"
clock = "event"
hard = [["l.cid", "r.id"]]
soft = "l.item > ''"
select = { item = "l.item", name = "r.name" }
left = { from = "orders" }
right = { from = "customers" }
""",
).replace("partitions = 1\n", "")
ORDERS, FOLDER = 'file = "orders.csv"\n', 'folder = "out"\nformat = "json"\n'
JDBC = (
    'file = "customers.csv"\n',
    'jdbc = "jdbc:postgresql://host/shop"\ntable = "t"\n',
)
TOPIC = 'kafka = "t"\nservers = "b:1"\n'


@pytest.fixture
def explained(tmp_path):
    """Explains a job of which parts are other ones, and returns what is told."""
    (tmp_path / "orders.csv").write_text("cid,item,placed\n1,pen,2024-01-01\n")
    (tmp_path / "customers.csv").write_text("id,name,at\n1,Ann,2024-01-01\n")
    (tmp_path / "in").mkdir()
    (tmp_path / "in/orders.csv").write_text("cid,item,placed\n1,pen,2024-01-01\n")
    (tmp_path / "bad.sql").write_text("-- x\nSELECT STREAM itm FROM orders")

    def explained(job, *parts, code=2):
        for part, other in parts:
            assert part in job
            job = job.replace(part, other, 1)
        (tmp_path / "job.toml").write_text(job)
        found = CliRunner().invoke(app, ["explain", str(tmp_path / "job.toml")])
        assert (found.exit_code, found.stdout) == (code, "")
        return found.stderr.removeprefix("dovetail explain: ")

    return explained


def source(words):
    """Rows of a topic in place of those of a file."""
    return (ORDERS, f"{TOPIC}{words}\n")


def sink(words):
    """A topic that takes the result."""
    return (FOLDER, f"{TOPIC}{words}\n")


@pytest.mark.parametrize(
    ("part", "line", "says"),
    [
        # A text is a part of its file.
        (("o.item", "o.itm"), 3, 'no field "itm"'),
        (("customers c", "nobody c"), 3, 'no topic "nobody"'),
        (("o.item", '\\"x\\" AS x, o.itm'), 2, "the text of job.toml, line 2, col"),
        # What is wrong of one key.
        ((ORDERS, 'format = "orc"\n'), 9, 'format="orc" without a path'),
        (('time = "placed"', 'time = "placed"\nbounds = "x"'), 12, 'bounds="x": no'),
        (("{ id = ", "{ ID = 'int', id = "), 15, "stands twice"),
        (("columns = {", "columns = {} # {"), 10, "is {}; expected columns = { id ="),
        (source('format = "jsn"'), 11, 'format="jsn"; expected one of'),
        (source('misfits = "skip"'), 11, 'misfits="skip"'),
        (source('start = "middle"'), 11, 'start="middle"'),
        (source('epoch = "minutes"'), 11, 'epoch="minutes"; expected one of'),
        (source('meta = {x = "nix"}'), 11, 'meta={"x": "nix"}; expected one of topic'),
        (source('key_format = "twlong"\nkey = {k = "int"}'), 11, 'key_format="twlong"'),
        ((ORDERS, 'kafka = "t,u"\nservers = "b:1"\n'), 9, 'topic="t,u"; expected the'),
        ((FOLDER, 'current = "out"\nevery = 0\n'), 21, 'every" is 0; expected'),
        ((ORDERS, "rate = -3\n"), 9, 'rate" is -3; expected a whole number, 1 or'),
        (sink("register = true"), 22, "register=True of the topic"),
        (("partitions = 1", 'trigger = "1 month"'), 6, 'trigger" is "1 month"; exp'),
        (("partitions = 1", 'trigger = "-1 seconds"'), 6, 'as in "10 seconds", or'),
        # What an input asks of who takes it.
        (('"at"', '"at"\nrefresh = "1 day"'), 18, "refresh of a table that lies"),
        ((ORDERS, 'jdbc = "jdbc:j"\ntable = "t"\n'), 8, "a data base as a stream"),
        # What a sink asks of a result.
        (sink('key = {nme = "string"}'), 22, 'no column "nme"; expected it beside na'),
        (sink('key = {name = "int"}'), 22, 'key={"name": "int"}: the column'),
        (sink('columns = {item = "int"}'), 22, "is of the type string"),
        (sink("upsert = true"), 22, "upsert=True into the topic"),
        (sink('upsert = true\nkey = {name = "string"}'), 22, 'no column "change"'),
        (sink('meta = {item = "offset"}'), 22, 'meta={"item": "offset"} of the'),
        ((FOLDER, 'current = "out"\n'), 20, 'have no column "change"'),
        # What cannot be honoured.
        (("partitions = 1", "partitions = 0"), 6, 'partitions" is 0; expected a whole'),
        (("partitions = 1", 'checkpoint = ""'), 6, "expected a text, or no such line"),
        (("partitions = 1", 'name = ""'), 6, "expected a text, or no such line"),
        (("partitions = 1", 'name = " "'), 6, "expected a text, or no such line"),
        (("partitions = 1", "partitions = 10001"), 6, "expected 10,000 at most"),
        (("partitions = 1", 'checkpoint = "a\\u0000b"'), 6, "none of them zero"),
        ((FOLDER, f'folder = "out/{"a" * 256}"\n'), 20, "of at most 255 bytes"),
        ((ORDERS, 'file = "a\\u0000b.csv"\n'), 9, "none of them zero"),
        (("partitions = 1", "spark.sql.ui = 1"), 6, 'in quotes alone: "sql.name" ='),
        (
            ("partitions = 1", "finish = false"),
            6,
            "finish = false without a checkpoint",
        ),
        (
            ("partitions = 1", 'checkpoint = "job.toml"'),
            6,
            'job.toml" is; expected a f',
        ),
        (("partitions = 1", 'checkpoint = "bad.sql/x"'), 6, 'where the file "'),
        ((FOLDER, 'folder = "bad.sql/x"\n'), 20, 'where the file "'),
        ((FOLDER, 'current = "bad.sql"\n'), 20, 'where the file "'),
        (("o.item", "o.item AS batch"), 20, 'have a column "batch", whose values'),
        (sink("format = 'string'"), 22, 'format="string" of the value of the topic'),
        (
            sink('format = "double"\ncolumns = {item = "double"}'),
            23,
            "is of the type st",
        ),
        (sink('start = "latest"'), 22, 'has the key "start"; expected one of kafka'),
        (sink("options = {maxOffsetsPerTrigger = 3}"), 22, "begins with kafka."),
        (
            sink('meta = {item = "partition"}'),
            22,
            "is of the type string; expected int",
        ),
        (
            sink('format = "string"\ncolumns = {item = "string"}\nepoch = "seconds"'),
            24,
            "J",
        ),
        (source("options = {maxOffsetPerTrigger = 3}"), 11, 'mean "maxOffsetsPerTrig'),
        (
            (ORDERS, 'format = "orc"\npath = "x"\noptions = {path = "y"}\n'),
            11,
            "expected none beside path",
        ),
        (
            source('options = {endingOffsets = "latest"}'),
            11,
            "which keeps coming; expected",
        ),
        (
            source('start = "latest"\noptions = {startingTimestamp = "1"}'),
            11,
            'beside the option "startingTimestamp"',
        ),
        (source('options = {subscribe = "x"}'), 11, "other words of it say"),
        (
            source('options = {minPartitions = "x"}'),
            11,
            '"x"} of a topic; expected a w',
        ),
        ((ORDERS, 'kafka = "a b"\nservers = "b:1"\n'), 9, 'topic="a b"; expected a n'),
        ((ORDERS, 'kafka = "t"\nservers = "b"\n'), 10, 'is "b"; expected addresses w'),
        ((JDBC[0], JDBC[1].replace("jdbc:", "")), 14, 'expected "jdbc:postgresql'),
        ((JDBC[0], JDBC[1] + 'options = {query = "x"}\n'), 16, "none beside a table"),
        ((JDBC[0], JDBC[1] + "options = {lowerBound = 3}\n"), 16, "has lowerBound; ex"),
        ((JDBC[0], JDBC[1] + 'options = {fetchsize = "x"}\n'), 16, "a whole number"),
    ],
)
def test_the_line_of_a_mistake_is_told(explained, part, line, says):
    told = explained(SQL, part)
    assert f"job.toml, line {line}, " in told
    assert says in told


@pytest.mark.parametrize("word", ["lateness", "idle"])
def test_a_length_for_all_streams_is_looked_at_though_each_says_its_own(
    explained, word
):
    own = ('time = "placed"', f'time = "placed"\n{word} = "1 second"')
    told = explained(SQL, own, ("partitions = 1", f'{word} = "nope"'))
    assert f'job.toml, line 6, column 1: "job.toml.{word}" is "nope"; exp' in told


EMPTY = ("key_format", "epoch", "registry", "start", "format", "misfits")
OPTIONS = {
    "failOnDataLoss": "maybe",
    "startingOffsets": "middle",
    "maxTriggerDelay": "x",
    "startingTimestamp": "yesterday",
    "kafkaConsumer.pollTimeoutMs": "1.5",
    "startingOffsetsByTimestampStrategy": "any",
    "maxRecordsPerPartition": "0",
}


@pytest.mark.parametrize(
    ("part", "line", "says"),
    [
        *((source(f'{word} = ""'), 11, 'is ""; expected a text') for word in EMPTY),
        *(
            (
                source(f'options = {{"{name}" = "{value}"}}'),
                11,
                f'"{value}"}} of a topic',
            )
            for name, value in OPTIONS.items()
        ),
        (source("key = {}"), 11, "is {}; expected"),
        (source("meta = {}"), 11, "is {}; expected"),
        (source('key_format = "long"'), 11, 'of the topic "t" without a key; expected'),
        (source("options = {minPartitions = 1, MINPARTITIONS = 2}"), 11, "twice; exp"),
        (sink('misfits = "null"'), 22, 'is "null"; expected none, or upsert'),
        ((FOLDER, 'folder = ""\n'), 20, 'is ""; expected a text, or no such line'),
        (('"placed"\n', '"placed"\nidle = ""\n'), 12, 'is ""; expected a text'),
        (("partitions = 1", 'kafka = {registry = ""}'), 6, 'is ""; expected a text'),
        (("partitions = 1", 'kafka = {connector = ["x"]}'), 6, '"group:name:version"'),
        (("partitions = 1", "kafka = {options = {nope = 1}}"), 6, 'options={"nope": .'),
    ],
)
def test_words_that_say_nothing_are_told_in_their_line(explained, part, line, says):
    told = explained(SQL, part)
    assert told.startswith(f"job.toml, line {line}, ")
    assert says in told


AVRO = """{"type": "record", "name": "R", "fields": [
    {"name": "name", "type": ["null", "string"]}, {"name": "item", "type": %s}%s]}"""
MORE = ', {"name": "more", "type": "long"}'
WHERE = 'the value of the topic "t" of b:1: '


@pytest.mark.parametrize(
    ("avro", "says"),
    [
        (AVRO % ('"int"', ""), 'the column "item" is of the type string, its field'),
        (AVRO % ('"int"', ""), "; expected int\nhint: cast the column, or change"),
        (AVRO % ('["int", "string"]', ""), "expected int or string, of which Spark"),
        (AVRO % ('"string"', MORE), 'no column for the field "more", never null'),
        (AVRO.replace('"item"', '"itm"') % ('"string"', ""), '"item" is no field of'),
        (AVRO.replace('"R"', "1") % ('"int"', ""), "a schema of Avro with {"),
        (AVRO % ('{"type": "enum", "name": "E"}', ""), '"None" in the enum "E"'),
        (AVRO % ('{"type": "fixed", "name": "E"}', ""), '"None" in the fixed "E"'),
        (AVRO % ('"enum"', ""), 'the type "enum", which it does not have'),
        (AVRO % ('"long"', MORE.replace("more", "item")), '"item" twice in the record'),
        (AVRO % ('["null", ["int"]]', ""), "several types within several ones"),
        ('"string"', "whose schema is no record, with 2 columns; expected one column"),
    ],
)
def test_a_schema_of_avro_that_does_not_suit_the_result_is_told(
    explained, tmp_path, avro, says
):
    (tmp_path / "row.avsc").write_text(avro)
    told = explained(SQL, sink('format = "avro"\navro = "row.avsc"'))
    assert told.startswith("job.toml, line 2")
    assert says in told


@pytest.mark.parametrize(
    ("part", "words", "says"),
    [
        (
            "tables",
            'key = {id = "int"}\nstreams = false',
            "the table of a topic that is",
        ),
        (
            "datasets",
            'start = "latest"',
            'start="latest" of the topic "t", which is',
        ),
    ],
)
def test_what_is_not_seen_of_a_topic_that_is_read_once_is_told(
    explained, part, words, says
):
    file = 'file = "customers.csv"\n'
    own = (("tables.c", f"{part}.c"), (file, f"{TOPIC}{words}\n"), ('key = "id"\n', ""))
    told = explained(JOIN, *own, ('time = "at"\n', ""))
    assert told.startswith("job.toml, line ")
    assert says in told


def test_partitions_of_one_bucket_are_told(explained):
    # By another column than the table's key: a row ends for all others.
    told = explained(SQL, ("partitions = 1", "partitions = 4"), ('"id"', '"name"'))
    assert told.startswith("job.toml, line 6, column 1: partitions=4 of a join that is")


def test_a_lookup_is_told_where_it_stands(explained):
    told = explained(SQL, ("tables.c", "lookups.c"), ('time = "at"\n', ""))
    assert told.startswith("job.toml, line 13, column 10: a lookup where time is named")


DOWN = "127.0.0.1:1"
REGISTRY = f'format = "avro"\nregistry = "http://ann:hunter2@{DOWN}"'
ASKED = f'postgres = "postgresql://ann:hunter2@{DOWN}/shop"\ntable = "t"\nkey = "id"\n'


@pytest.mark.parametrize(
    ("parts", "line", "says"),
    [
        ([source(REGISTRY)], 12, f"the registry of schemas at {DOWN} does not answer"),
        ([sink(REGISTRY)], 23, f"the registry of schemas at {DOWN} does not answer"),
        (
            [
                source('format = "avro"'),
                ("[sinks", f'[kafka]\nregistry = "http://{DOWN}"\n[sinks'),
            ],
            22,
            f"the registry of schemas at {DOWN} does not answer",
        ),
        (
            [("[sinks", f"[lookups.L]\n{ASKED}[sinks")],
            20,
            'PostgreSQL does not tell of the table "t": ',
        ),
    ],
)
def test_what_is_down_is_told_in_the_line_of_its_address(explained, parts, line, says):
    told = explained(SQL, *parts, code=1)
    assert told.startswith(f"job.toml, line {line}, column 1: {says}")
    assert "Connection refused; expected" in told
    assert "hunter2" not in told


def test_a_broker_that_is_down_is_told_before_spark_waits_for_it(explained, tmp_path):
    explained(SQL.replace("o.item", "o.itm"))  # writes the files
    text = SQL.replace(ORDERS, f'kafka = "t"\nservers = "{DOWN}"\n')
    (tmp_path / "job.toml").write_text(text)
    job = read_job(tmp_path / "job.toml")
    with pytest.raises(EngineError, match=f"nothing answers at {DOWN}, of") as told:
        refuse_silent(job, seconds=0)
    assert (told.value.place.file, told.value.place.line) == ("job.toml", 10)
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        (tmp_path / "job.toml").write_text(text.replace(':1"', f':1,127.0.0.1:{port}"'))
        refuse_silent(read_job(tmp_path / "job.toml"), seconds=0)


def test_all_brokers_are_waited_for_at_once(explained, tmp_path, monkeypatch):
    """Each is asked while the others are, and has the time that there is."""
    explained(SQL.replace("o.item", "o.itm"))  # writes the files
    several = ",".join(f"10.0.0.{number}:9092" for number in range(8))
    text = SQL.replace(ORDERS, f'kafka = "t"\nservers = "{several}"\n')
    text = text.replace(FOLDER, 'kafka = "u"\nservers = "10.0.1.1:9092"\n')
    (tmp_path / "job.toml").write_text(text)
    job = read_job(tmp_path / "job.toml")
    asked, all_asked, meet = [], set(), threading.Barrier(9, timeout=20)

    def answers(address):
        asked.append(address)
        if len(asked) <= 9:
            meet.wait()  # none goes on before all have been asked
        # One comes up with the first look, the other with the second.
        up = address in all_asked and address == "10.0.1.1:9092"
        all_asked.add(address)
        return up or address == "10.0.0.3:9092"

    monkeypatch.setattr("dovetail.api.places.answers", answers)
    refuse_silent(job, job.sinks)
    assert len(asked) == 10


def test_a_broker_of_a_sink_is_tried_where_a_run_has_ended(explained, tmp_path):
    explained(SQL.replace("o.item", "o.itm"))  # writes the files
    text = SQL.replace(FOLDER, f'kafka = "t"\nservers = "{DOWN}"\n')
    (tmp_path / "job.toml").write_text(text)
    job = read_job(tmp_path / "job.toml")
    refuse_silent(job, seconds=0)
    broken = EngineError("the topic t is not present in metadata")
    with pytest.raises(EngineError) as told, told_in_job(job, job.sinks):
        raise broken
    assert told.value.place.line == 21
    assert told.value.__cause__ is broken
    broken = EngineError("the disk is full")
    with (
        pytest.raises(EngineError, match="the disk is full"),
        told_in_job(job, job.sinks),
    ):
        raise broken


def test_the_file_of_a_text_is_told(explained):
    told = explained(SQL, (TEXT, 'program = "bad.sql"\n'))
    assert told.startswith('bad.sql, line 2, column 15: no field "itm"')


@pytest.mark.parametrize(
    ("part", "other", "line", "says"),
    [
        ("l.cid", "l.cide", 4, '"l.cide" in hard names no column'),
        ("l.item > ''", "l.item >", 5, "is no expression"),
        ("l.item > ''", "l.itm > ''", 5, '"l.itm" in soft'),
        ('"r.name"', '"r.nme"', 6, '"r.nme" in select of "name"'),
    ],
)
def test_the_line_of_an_expression_is_told(explained, part, other, line, says):
    told = explained(JOIN, (part, other))
    assert told.startswith(f"job.toml, line {line}, ")
    assert says in told


SETTING = '[spark]\n"spark.sql.shuffle.partitions" = "x"\n[sinks.matched]'


@pytest.mark.parametrize("name", ["spark.sql.shuffle.partitions", "spark.other"])
def test_a_setting_that_spark_refuses_is_told_in_its_line(explained, monkeypatch, name):
    def refuse(_):
        raise IllegalArgumentException(f"[INVALID] 'x' in the config \"{name}\" is bad")

    monkeypatch.setattr(SparkSession.Builder, "getOrCreate", refuse)
    told = explained(SQL, ("[sinks.matched]", SETTING), code=1 + ("sql" in name))
    says = f"Spark refuses a setting: 'x' in the config \"{name}\" is bad; expected a"
    assert says in told
    assert ("job.toml, line 20, column 2: " in told) == ("sql" in name)


@pytest.mark.parametrize(
    "word",
    [
        'trigger = "1 second"',
        'checkpoint = "state"',
        "finish = false",
        'name = "mine"',
        "partitions = 2",
    ],
)
def test_what_only_batches_have_is_told_where_all_is_read_at_once(explained, word):
    job = JOIN.replace("[streams.", "[datasets.").replace("[tables.", "[datasets.")
    job = job.replace('key = "id"\n', "").replace('clock = "event"', 'clock = "batch"')
    told = explained(f"{word}\n{job}")
    assert f"{word.split()[0]} of a job that reads all there is, once" in told
    assert "job.toml, line 1, " in told


@pytest.mark.parametrize(
    ("parts", "line", "says"),
    [
        (
            (sink("")[0], 'folder = "out"\n[sinks.late]\nfolder = "out/late"\n'),
            21,
            "two",
        ),
        (('"orders.csv"', '"in"'), 6, 'state" lies in "'),
    ],
)
def test_places_that_are_in_each_other_are_told(explained, parts, line, says):
    told = explained(SQL, ("partitions = 1", 'checkpoint = "in/state"'), parts)
    assert f"job.toml, line {line}, " in told
    assert says in told


def test_a_topic_into_which_goes_what_comes_from_it_is_told(explained):
    told = explained(SQL, source(""), sink(""))
    assert 'writes into the topic "t" of b:1, from which rows come; expected' in told
    assert "job.toml, line 22, " in told


def test_partitions_of_a_text_in_one_bucket_are_told(explained, tmp_path):
    rows = "SELECT STREAM SUM(o.cid) OVER ({}ORDER BY o.ROWTIME ROWS 3 PRECEDING) AS n"
    before = SQL[: SQL.index("[tables")] + '[sinks.result]\nfolder = "out"\n'
    text = before.replace("lenses", "sqlstream").replace("= 1\n", "= 4\n")
    start, end = text.index("INSERT"), text.index(";")
    told = explained(f"{text[:start]}{rows.format('')} FROM orders o{text[end:]}")
    says = "partitions=4 of a text that is in one bucket; expected an equality, or a PA"
    assert told.startswith(f"job.toml, line 5, column 1: {says}")
    spread = f"{rows.format('PARTITION BY o.cid ')} FROM orders o"
    (tmp_path / "job.toml").write_text(text[:start] + spread + text[end:])
    assert prepared(read_job(tmp_path / "job.toml")).job.partitions == 4


ROWS = SQL[: SQL.index("[tables")].replace("lenses", "sqlstream")
ROWS = ROWS.replace(TEXT, 'text = "SELECT STREAM o.item FROM orders o"\n')


@pytest.mark.parametrize("count", [1, 4])
def test_partitions_of_a_text_without_state_are_told(explained, count):
    told = explained(ROWS.replace("= 1", f"= {count}"))
    says = f"partitions={count} of what has no state that could be spread; expected non"
    assert told.startswith(f"job.toml, line 3, column 1: {says}")


def test_partitions_of_a_join_without_state_are_told(explained):
    times = ('time = "placed"\n', ""), ('time = "at"\n', ""), ("event", "arrival")
    told = explained(JOIN, ("[join]", "partitions = 2\n[join]"), *times)
    assert told.startswith("job.toml, line 1, column 1: partitions=2 of what has no st")


@pytest.mark.parametrize(
    ("part", "output", "says"),
    [
        ((ORDERS, 'file = "in"\n'), "in", 'rows come from "'),
        ((ORDERS, 'format = "csv"\noptions = {path = "in"}\n'), "in", "rows come from"),
        (("partitions", 'checkpoint = "in"\npartitions'), "in", 'the checkpoint "'),
    ],
)
def test_an_output_where_rows_come_from_is_told(
    tmp_path, explained, part, output, says
):
    explained(SQL.replace("o.item", "o.itm"))  # writes the files
    job = SQL[: SQL.index("[sinks")].replace(*part)
    (tmp_path / "job.toml").write_text(job)
    words = ["run", str(tmp_path / "job.toml"), "--output", str(tmp_path / output)]
    found = CliRunner().invoke(app, words)
    assert (found.exit_code, found.stdout) == (2, "")
    assert f"dovetail run: --output {tmp_path / output}: " in found.stderr
    assert says in found.stderr


def test_a_folder_into_which_goes_what_comes_from_it_is_told(explained):
    told = explained(SQL, (ORDERS, 'file = "in"\n'), ('"out"', '"in/out"'))
    assert "an outlet writes into" in told
    assert "what goes out would come in again" in told
    assert "job.toml, line 19, " in told


@pytest.mark.parametrize(
    ("part", "other", "line"),
    [
        ('file = "orders.csv"', 'file = "hdfs://nn/orders"', 9),
        ("dialect", 'files = "s3a://bucket/in"\ndialect', 5),
        ("[sinks.", "[lookups.L]\nfile = 's3a://bucket/in'\nkey = 'id'\n[sinks.", 20),
    ],
)
def test_files_of_another_machine_are_told(explained, part, other, line):
    told = explained(SQL, (part, other))
    assert "which is not on this machine; expected a path on it" in told
    assert f"job.toml, line {line}, " in told
    assert 'format = "parquet" with path = "' in told


def test_a_path_that_says_its_file_system_stays_as_it_is(tmp_path):
    (tmp_path / "in.csv").write_text("id\n1\n")
    text = f"""\
checkpoint = "hdfs://namenode:8020/state"
[streams.Files]
file = "file://{tmp_path}/in.csv"
columns = {{ id = "int" }}
[streams.Stored]
format = "parquet"
path = "s3a://bucket/in"
columns = {{ id = "int" }}
[lookups.Asked]
file = "file:{tmp_path}/in.csv"
key = "id"
[sinks.one]
folder = "s3a://bucket/out"
[sinks.two]
current = "file:/two"
[sinks.three]
folder = "out"
"""
    (tmp_path / "job.toml").write_text(text)
    job = read_job(tmp_path / "job.toml")
    assert job.checkpoint == "hdfs://namenode:8020/state"
    assert job.inputs["Files"].origin.file.place == tmp_path / "in.csv"
    assert job.inputs["Stored"].origin.path == "s3a://bucket/in"
    assert job.lookups["Asked"].table == str(tmp_path / "in.csv")
    places = [one.path for one in job.sinks.values()]
    assert places == ["s3a://bucket/out", "file:/two", str(tmp_path / "out")]
    with job_alone(job):
        assert sorted(it.name for it in tmp_path.iterdir()) == ["in.csv", "job.toml"]
    local = replace(job, checkpoint=f"file:{tmp_path}/state")
    refused = pytest.raises(DialectError, match="another run goes on")
    other = replace(job, checkpoint=f"{tmp_path}/state")
    with job_alone(local), refused, job_alone(other):
        pass


def test_moments_that_spark_cannot_read_are_told(explained, tmp_path):
    at = pa.array([0], pa.timestamp("ns", "UTC"))
    rows = pa.table({"id": pa.array([1], "int32"), "name": ["Ann"], "at": at})
    pq.write_table(rows, tmp_path / "customers.parquet")
    told = explained(SQL, ("customers.csv", "customers.parquet"))
    assert 'customers.parquet" has nanoseconds in the column "at"' in told
