"""A topic as Python has it, and keys with windows, as far as no Spark is asked."""

import pytest

import dovetail as dt
from dovetail.bind.avro import fields_of
from dovetail.errors import SchemaError, SpecError
from dovetail.schema import Schema
from tests.described import CONDITION

WORDS = {
    "servers": "localhost:9092",
    "columns": {"x": "int", "at": "timestamp"},
}
TOPICS = [
    dt.kafka("a", servers="b:1"),
    dt.kafka("a", **WORDS, key={"id": "bigint"}, start="latest", misfits="null"),
    dt.kafka("a", **WORDS, key={"id": "bigint", "shop": "string"}, upsert=True),
    dt.kafka(
        "a", servers="b:1", columns={"x": "int"}, format="int", meta={"p": "offset"}
    ),
    dt.kafka(
        "a", **WORDS, key={"id": "bigint", "start": "timestamp"}, key_format="twlong"
    ),
    dt.kafka("a", servers="b:1", columns={"x": "int"}, format="avro", avro='"int"'),
    dt.kafka("a", servers="b:1", options={"maxOffsetsPerTrigger": "10"}),
    dt.kafka("a", **WORDS, epoch="milliseconds"),
]


@pytest.mark.parametrize("topic", TOPICS)
def test_a_topic_is_made_again_by_its_call(topic):
    assert eval(topic.call, {"dt": dt}) == topic


def test_a_secret_of_a_topic_stands_in_the_environment():
    options = {"kafka.sasl.jaas.config": "hunter2", "kafka.ssl.key.password": "hunter2"}
    call = dt.kafka("a", servers="b:1", options=options).call
    assert "hunter2" not in call
    assert "os.environ['KAFKA_SSL_KEY_PASSWORD']" in call


@pytest.mark.parametrize(
    ("name", "key", "expected"),
    [
        ("twlong", {"id": "bigint"}, "columns of the key, and its start"),
        (
            "swint",
            {"id": "int", "s": "bigint"},
            "of the key, and its start and its end",
        ),
        (
            "twlong",
            {"id": "bigint", "s": "string"},
            "columns of the key, and its start",
        ),
        ("twlong", {"id": "string", "s": "bigint"}, "bigint"),
        ("txlong", {"id": "string", "s": "bigint"}, "one of"),
    ],
)
def test_a_key_without_room_for_its_window_is_refused(name, key, expected):
    with pytest.raises(dt.DovetailError) as caught:
        dt.kafka("a", servers="b:1", key=key, key_format=name)
    assert expected in caught.value.expected


def test_a_value_has_no_window():
    with pytest.raises(SpecError, match="twlong"):
        dt.kafka("a", servers="b:1", columns={"x": "bigint"}, format="twlong")


PLAIN = {"columns": {"a": "int", "b": "int"}}


@pytest.mark.parametrize(
    ("how", "told"),
    [
        ({"avro": "{bad", "format": "avro"}, 'avro="{bad"; expected a schema of Avro'),
        ({"key_avro": "{bad"}, 'key_avro="{bad"; expected a schema of Avro'),
        ({"avro": '"int"'}, 'format="json" of .* with a schema of Avro'),
        ({"key_avro": '"int"'}, 'key_format="json" of .* with a schema of Avro'),
        ({"format": "avro"}, "without a schema"),
        ({"format": "avro", "avro": '"int"', **PLAIN}, "no record, with 2 columns"),
        ({"format": "avro", "avro": '["int", "long"]', **PLAIN}, "no record, with 2"),
        ({"epoch": "minutes"}, 'epoch="minutes"; expected .*milliseconds'),
        ({"epoch": "seconds", "format": "long", "key_format": "long"}, "without JSON"),
    ],
)
def test_a_word_of_a_topic_that_is_of_no_use_is_refused(how, told):
    with pytest.raises(SpecError, match=told):
        dt.kafka("t", servers="b:1", **how)


AVRO = """{"type": "record", "name": "R", "fields": [
    {"name": "At", "type": {"type": "long", "logicalType": "timestamp-millis"}},
    {"name": "day", "type": ["null", {"type": "int", "logicalType": "date"}]},
    {"name": "price", "type":
        {"type": "bytes", "logicalType": "decimal", "precision": 5, "scale": 2}},
    {"name": "some", "type": {"type": "array", "items": ["null", "long"]}},
    {"name": "by", "type": {"type": "map", "values": "float"}},
    {"name": "one", "type": {"type": "record", "name": "P", "fields": [
        {"name": "a", "type": "int"}, {"name": "b", "type": "string"}]}},
    {"name": "other", "type": "P"},
    {"name": "any", "type": ["int", "string"]}]}"""


@pytest.mark.parametrize(
    ("columns", "told"),
    [
        ({"at": "bigint"}, 'column "at" bigint has moments of time; expected timestam'),
        ({"day": "int"}, 'the column "day" int has moments of time; expected date'),
        ({"nix": "int"}, 'column "nix" is no field; expected one of at, day, price'),
        ({"some": "array<int>"}, 'column "some" array<int> has no room for array<big'),
        ({"by": "map<string,int>"}, "has no room for map<string,float>"),
        ({"other": "struct<a:int,c:int>"}, "has no room for struct<a:int,b:string>"),
        ({"one": "struct<b:int>"}, "has no room for struct<a:int,b:string>"),
    ],
)
def test_a_column_that_is_another_one_in_avro_is_refused(columns, told):
    how = {"servers": "b:1", "format": "avro", "avro": AVRO}
    with pytest.raises(SchemaError) as caught:
        dt.kafka("t", columns=columns, **how).columns(Schema(()))
    assert told in str(caught.value)
    key = {"key": {**columns, "from": "bigint"}, "key_format": "twavro"}
    topic = dt.kafka("t", servers="b:1", key_avro=AVRO, columns={"x": "int"}, **key)
    with pytest.raises(SchemaError, match="the key of the topic"):
        topic.columns(Schema(()))


def test_a_schema_is_looked_at_once_for_all_columns_and_batches():
    """Of 300 columns it took three seconds of each batch."""
    assert fields_of(AVRO) is fields_of(f"{AVRO}")


TREE = """{"type": "record", "name": "Tree", "namespace": "a", "fields": [
    {"name": "id", "type": "long"},
    {"name": "below", "type": {"type": "array", "items": ["null", "%s"]}}]}"""
ODD = [
    (TREE % "Tree", 'the type "Tree" within itself'),
    (TREE % "a.Tree", 'the type "a.Tree" within itself'),
    (TREE % "b.Tree", 'the type "b.Tree", which it does not have'),
    ('["null", {"type": "lng"}]', 'the type "lng", which it does not have'),
    (
        '{"type": "record", "name": "R", "fields": [{"name": "id"}]}',
        '{"name": "id"} in',
    ),
    ("5", "5 in place of a type"),
]


@pytest.mark.parametrize(("schema", "told"), ODD, ids=lambda it: it[-9:])
def test_a_schema_of_avro_that_no_row_is_read_in_is_refused(schema, told):
    topic = {"servers": "b:1", "format": "avro", "columns": {"id": "bigint"}}
    with pytest.raises(SchemaError) as caught:
        dt.kafka("t", avro=schema, **topic)
    assert f'the value of the topic "t": a schema of Avro with {told}' in str(
        caught.value
    )
    assert caught.value.hint == 'format="bytes" takes the records as they are'
    with pytest.raises(SchemaError, match='the key of the topic "t": a schema of Avro'):
        dt.kafka(
            "t", servers="b:1", key={"id": "int"}, key_format="avro", key_avro=schema
        )


def test_a_type_may_be_met_again_behind_the_record_that_has_it():
    pair = TREE % "long"
    again = '{"type": "record", "name": "a.Pair", "fields": [{"name": "id", "type": '
    again += f'{pair}}}, {{"name": "other", "type": ["null", "Tree", "a.Tree"]}}]}}'
    columns = {"id": "struct<id:bigint>"}
    dt.kafka("t", servers="b:1", format="avro", avro=again, columns=columns)


def test_a_record_that_is_one_of_several_is_refused():
    """Spark has columns for them, and reads none."""
    second = '{"type": "record", "name": "S", "fields": []}'
    several = f'["null", {AVRO}, {second}]'
    how = {"servers": "b:1", "format": "avro", "avro": several}
    with pytest.raises(SchemaError, match="of 2 types, of which one is a record"):
        dt.kafka("t", columns={"a": "int"}, **how).columns(Schema(()))


def test_a_column_that_is_wider_or_has_other_names_first_is_none():
    columns = {
        "at": "date",
        "price": "double",
        "some": "array<string>",
        "by": "map<string,double>",
        "other": "struct<B:string,a:bigint>",
        "any": "struct<member0:int>",
    }
    topic = dt.kafka("t", servers="b:1", format="avro", avro=AVRO, columns=columns)
    assert topic.columns(Schema(())) == Schema.of(columns)


@pytest.mark.parametrize(
    "word", ["columns", "format", "key", "key_format", "meta", "start", "epoch", "avro"]
)
def test_a_column_of_spark_is_no_word_of_a_topic(word):
    with pytest.raises(SpecError, match=f"{word}="):
        dt.kafka("t", servers="b:1", **{word: CONDITION})
