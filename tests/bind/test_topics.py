"""A topic as Python has it, and keys with windows, as far as no Spark is asked."""

import pytest

import dovetail as dt
from dovetail.errors import SpecError
from tests.described import CONDITION

WORDS = {
    "servers": "localhost:9092",
    "columns": {"x": "int", "at": "timestamp"},
}
TOPICS = [
    dt.kafka("a", servers="b"),
    dt.kafka("a", **WORDS, key={"id": "bigint"}, start="latest", misfits="null"),
    dt.kafka("a", **WORDS, key={"id": "bigint", "shop": "string"}, upsert=True),
    dt.kafka(
        "a", servers="b", columns={"x": "int"}, format="int", meta={"p": "offset"}
    ),
    dt.kafka(
        "a", **WORDS, key={"id": "bigint", "start": "timestamp"}, key_format="twlong"
    ),
    dt.kafka("a", servers="b", columns={"x": "int"}, format="avro", avro='"int"'),
    dt.kafka("a", servers="b", options={"maxOffsetsPerTrigger": "10"}),
    dt.kafka("a", **WORDS, epoch="milliseconds"),
]


@pytest.mark.parametrize("topic", TOPICS)
def test_a_topic_is_made_again_by_its_call(topic):
    assert eval(topic.call, {"dt": dt}) == topic


def test_a_secret_of_a_topic_stands_in_the_environment():
    options = {"kafka.sasl.jaas.config": "hunter2", "kafka.ssl.key.password": "hunter2"}
    call = dt.kafka("a", servers="b", options=options).call
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
        dt.kafka("a", servers="b", key=key, key_format=name)
    assert expected in caught.value.expected


def test_a_value_has_no_window():
    with pytest.raises(SpecError, match="twlong"):
        dt.kafka("a", servers="b", columns={"x": "bigint"}, format="twlong")


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
        ({"format": "avro", "avro": '["int", {}]', **PLAIN}, "no record, with 2"),
        ({"epoch": "minutes"}, 'epoch="minutes"; expected .*milliseconds'),
        ({"epoch": "seconds", "format": "long", "key_format": "long"}, "without JSON"),
    ],
)
def test_a_word_of_a_topic_that_is_of_no_use_is_refused(how, told):
    with pytest.raises(SpecError, match=told):
        dt.kafka("t", servers="b", **how)


@pytest.mark.parametrize(
    "word", ["columns", "format", "key", "key_format", "meta", "start", "epoch", "avro"]
)
def test_a_column_of_spark_is_no_word_of_a_topic(word):
    with pytest.raises(SpecError, match=f"{word}="):
        dt.kafka("t", servers="b", **{word: CONDITION})
