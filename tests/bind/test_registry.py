"""A registry of schemas is asked for those of a topic; what it lacks is told."""

import json

import pytest

import dovetail as dt
from dovetail.bind.jobs import read_job
from dovetail.bind.kafka import refuse_unlike
from dovetail.bind.registry import head, subject
from dovetail.errors import (
    DialectError,
    DovetailError,
    EngineError,
    SchemaError,
    SpecError,
)
from dovetail.schema import Schema
from tests.bind.registry_server import make_known, registry

AVRO = {"columns": {"id": "bigint"}, "servers": "b:9092", "format": "avro"}

EVERY = {
    "id": "smallint",
    "at": "timestamp",
    "price": "decimal(9,2)",
    "parts": "array<struct<a:int,b:string>>",
    "by": "map<string,timestamp>",
}


def refers(*subjects):
    """References to the first schemas of subjects, by the names of these."""
    return [{"name": it, "subject": it, "version": 1} for it in subjects]


@pytest.fixture
def known():
    with registry() as found:
        yield found


def test_a_subject_has_each_schema_by_its_number_the_newest_last(known):
    url, _, asked = known
    for text in ('"int"', '"long"'):
        make_known(url, "a%2Fb-value", text)
    found = subject(f"{url}/", "a/b-value")
    assert found.schemas == {1: '"int"', 2: '"long"'}
    assert found.newest == 2
    assert head(found.newest) == "0000000002"
    assert {*asked} == {None}


def test_who_asks_is_told_as_the_address_says(known):
    url, _, asked = known
    make_known(url, "t-value", '"int"')
    subject(url.replace("//", "//k%40y:se%3Acret@"), "t-value")
    assert {*asked} == {"Basic a0B5OnNlOmNyZXQ="}


def test_a_schema_that_is_known_again_is_the_newest(known):
    url, subjects, _ = known
    subjects["t-value"] = [(7, {"schema": '"int"'}), (9, {"schema": '"long"'})]
    subjects["t-value"].append((7, {"schema": '"int"'}))
    assert subject(url, "t-value").newest == 7


def test_schemas_to_which_one_refers_stand_where_they_are_first_met(known):
    """By whole names, or within a namespace; a name may be inside of another type."""
    url, subjects, _ = known
    color = {"type": "enum", "name": "Color", "symbols": ["A"]}
    size = {"type": "fixed", "name": "Size", "size": 2}
    shirt = {"type": "record", "name": "Shirt", "namespace": "a.b"}
    shirt["fields"] = [
        {"name": "color", "type": "Color"},
        {"name": "size", "type": size},
        {"name": "spare", "type": ["null", "a.b.Size"]},
    ]
    order = {"type": "record", "name": "a.b.Order"}
    order["fields"] = [
        {"name": "size", "type": "Size"},
        {"name": "shirts", "type": {"type": "array", "items": "Shirt"}},
        {"name": "colors", "type": {"type": "map", "values": "Color"}},
        {"name": "other", "type": ["null", "a.b.Shirt"], "default": None},
    ]
    subjects["color"] = [(1, {"schema": json.dumps(color)})]
    subjects["shirt"] = [
        (2, {"schema": json.dumps(shirt), "references": refers("color")})
    ]
    told = {"schema": json.dumps(order), "references": refers("shirt")}
    subjects["t-value"] = [(3, told)]
    found = json.loads(subject(url, "t-value").schemas[3])
    color |= {"namespace": ""}
    size |= {"namespace": "a.b"}
    shirt["fields"][0]["type"] = color
    shirt["fields"][1]["type"] = "a.b.Size"
    order |= {"name": "Order", "namespace": "a.b"}
    order["fields"][0]["type"] = size
    order["fields"][1]["type"]["items"] = shirt
    order["fields"][3]["type"] = ["null", "a.b.Shirt"]
    assert found == order
    # A union of types, as of a topic with several kinds of records.
    several = {"schema": '["a.b.Shirt", "Color"]', "references": refers("shirt")}
    subjects["t-value"] = [(3, several)]
    assert json.loads(subject(url, "t-value").schemas[3])[1] == "Color"


def test_what_several_schemas_refer_to_is_asked_for_once(known):
    url, subjects, asked = known
    subjects["unit"] = [(1, {"schema": '{"type": "enum", "name": "U", "symbols": []}'})]
    subjects["size"] = [(2, {"schema": '"U"', "references": refers("unit")})]
    more = {"schema": '["null", "U"]', "references": refers("size", "unit")}
    subjects["t-value"] = [(it, more) for it in range(3, 9)]
    assert len(subject(url, "t-value").schemas) == 6
    # All versions, each of the six, and both of the others.
    assert len(asked) == 1 + 6 + 2
    # Who begins anew has other schemas of the same numbers.
    subjects["unit"] = [(9, {"schema": '{"type": "fixed", "name": "U", "size": 1}'})]
    assert '"fixed"' in subject(url, "t-value").schema


@pytest.mark.parametrize(
    ("known_of_it", "error", "told"),
    [
        (None, SpecError, 'has no schema of "t-value"'),
        ("broken", EngineError, "does not answer: 500"),
        ("<html>", EngineError, "does not answer: Expecting value"),
        ([], SpecError, 'has no schema of "t-value"'),
        ([(1, {"schema": "x", "schemaType": "JSON"})], SpecError, "of the kind JSON"),
        ([(1, {"schema": "x"})], SpecError, 'schema 1 of "t-value" is no JSON'),
        ([(1, {"schema": 7})], EngineError, "is no schema"),
        ([(1, {"schema": '"a.B"', "references": [1]})], EngineError, "is no schema"),
        (
            [(1, {"schema": '"b"', "references": refers("b")})],
            SpecError,
            'no schema 1 of "b"; .*\nhint: the schema 1 of "t-value" refers to it',
        ),
        (
            [(1, {"schema": '"t"', "references": refers("t-value")})],
            SpecError,
            'of "t-value" refers to itself; expected schemas of which none needs',
        ),
    ],
)
def test_what_a_registry_lacks_is_told(known, known_of_it, error, told):
    url, subjects, _ = known
    if known_of_it is not None:
        subjects["t-value"] = known_of_it
    with pytest.raises(error, match=told):
        dt.kafka("t", registry=url, **AVRO)


@pytest.mark.parametrize(
    ("how", "told"),
    [
        ({"registry": "localhost:8081"}, "expected an address"),
        ({"registry": "ftp://a"}, "expected an address"),
        ({"registry": "http://localhost:65536"}, "a port of 1 to 65,535 if it has"),
        ({"registry": "http://localhost:0"}, "a port of 1 to 65,535 if it has"),
        ({"registry": "http://localhost:x"}, "a port of 1 to 65,535 if it has"),
        ({"registry": "http://[::1"}, "a port of 1 to 65,535 if it has"),
        ({"registry": 7}, "registry=7; expected an address"),
        ({"registry": "http://127.0.0.1:1"}, "127.0.0.1:1 does not answer"),
        ({"registry": "http://a", "format": "json"}, "without Avro"),
    ],
)
def test_a_registry_that_cannot_be_asked_is_refused(how, told):
    with pytest.raises(DovetailError, match=told):
        dt.kafka("t", **{**AVRO, **how})


def test_a_sink_that_registers_may_name_a_subject_without_a_schema(known):
    url, subjects, _ = known
    topic = dt.kafka("t", registry=url, register=True, **AVRO)
    assert "register=True" in topic.call
    # Nothing is told before there are rows; and nobody can read by no schema.
    assert subjects == {}
    with pytest.raises(SpecError, match='has no schema of "t-value"'):
        topic.columns(Schema(()))
    make_known(url, "t-value", '"int"')
    known = dt.kafka("t", registry=url, register=True, **AVRO).value
    assert known.subject == subject(url, "t-value")
    known.register()
    assert known.subject == subject(url, "t-value")


def test_a_schema_is_made_of_the_types_of_rows(known):
    url, subjects, _ = known
    how = {**AVRO, "columns": EVERY, "key": {"k": "bigint"}, "key_format": "avro"}
    topic = dt.kafka("9-shops", registry=url, register=True, **how)
    for _ in range(2):
        topic.value.register()
        topic.key.register()
    assert (topic.value.subject.newest, topic.key.subject.newest) == (1, 2)
    (told,) = (told for _, told in subjects["9-shops-value"])
    (key,) = (told for _, told in subjects["9-shops-key"])
    assert key == {"schema": '"long"'}
    made = json.loads(told["schema"])
    assert made["name"] == "_9_shops_value"
    fields = {it["name"]: it["type"][1] for it in made["fields"]}
    assert all(it["type"][0] == "null" for it in made["fields"])
    micros = {"type": "long", "logicalType": "timestamp-micros"}
    assert fields["at"] == micros
    assert fields["price"] == {
        "type": "bytes",
        "logicalType": "decimal",
        "precision": 9,
        "scale": 2,
    }
    parts = fields["parts"]["items"][1]
    assert parts["name"] == "_9_shops_value.parts"
    assert parts["fields"][0] == {"name": "a", "type": ["null", "int"], "default": None}
    assert fields["by"] == {"type": "map", "values": ["null", micros]}


@pytest.mark.parametrize(
    ("columns", "told"),
    [
        ({"id": "bigint", "a b": "int"}, '"t_value" has the column "a b"; expected'),
        ({"s": "struct<`x.y`:int>"}, '"t_value.s" has the column "x.y"'),
        ({"m": "map<int,int>"}, '"t_value.m" is of the type map<int,int>'),
    ],
)
def test_rows_of_which_avro_has_no_schema_are_refused(known, columns, told):
    url, subjects, _ = known
    how = {**AVRO, "columns": columns}
    with pytest.raises(SchemaError, match=told):
        dt.kafka("t", registry=url, register=True, **how).value.register()
    assert subjects == {}


@pytest.mark.parametrize(
    ("answer", "error", "told"),
    [
        ((409, {"message": "no"}), SpecError, '409 {"message": "no"}; expected one'),
        ((422, {"message": "no"}), SpecError, '422 {"message": "no"}; expected one'),
        ((500, "broken"), EngineError, "does not answer: 500"),
        ((404, ""), EngineError, "is no number of a schema"),
        ((200, []), EngineError, "is no number of a schema"),
    ],
)
def test_a_registry_that_takes_no_schema_is_told(known, answer, error, told):
    url, subjects, _ = known
    subjects["t-value"] = answer
    topic = dt.kafka("t", registry=url, register=True, **AVRO)
    with pytest.raises(error, match=told):
        topic.value.register()


def test_to_register_is_of_a_registry():
    with pytest.raises(SpecError, match='of the topic "t" without a registry'):
        dt.kafka("t", avro='"int"', register=True, **AVRO)


def test_a_schema_beside_a_registry_is_refused(known):
    url, _, _ = known
    make_known(url, "t-value", '"int"')
    with pytest.raises(SpecError, match="a schema of Avro and a registry"):
        dt.kafka("t", registry=url, avro='"int"', **AVRO)


def test_a_topic_tells_its_registry_and_no_secret(known):
    url, _, _ = known
    make_known(url, "t-value", '"int"')
    assert f"format='avro', registry='{url}')" in dt.kafka(
        "t", registry=url, **AVRO
    ).call.replace('"', "'")
    asks = url.replace("//", "//key:secret@")
    assert "secret" not in dt.kafka("t", registry=asks, **AVRO).call


JOB = """
checkpoint = "state"
[kafka]
servers = "b:9092"
registry = "{url}"
[join]
type = "inner"
clock = "arrival"
hard = [["l.id", "r.id"]]
[join.left]
from = "Known"
[join.right]
from = "Plain"
[streams.Known]
kafka = "known"
format = "avro"
columns = {{ id = "bigint" }}
[streams.Plain]
kafka = "plain"
columns = {{ id = "bigint" }}
{more}
[sinks.matched]
folder = "out"
"""


def test_a_registry_said_of_all_topics_is_for_those_of_avro(known, tmp_path):
    url, _, _ = known
    make_known(url, "known-value", '"int"')
    (tmp_path / "job.toml").write_text(JOB.format(url=url, more=""))
    inputs = read_job(tmp_path / "job.toml").inputs
    assert inputs["Known"].origin.registry == url
    assert inputs["Plain"].origin.registry == ""


def test_a_registry_of_no_avro_is_refused_at_its_topic(known, tmp_path):
    url, _, _ = known
    make_known(url, "known-value", '"int"')
    more = f'registry = "{url}"'
    (tmp_path / "job.toml").write_text(JOB.format(url=url, more=more))
    with pytest.raises(DialectError, match='"plain" without Avro') as caught:
        read_job(tmp_path / "job.toml")
    assert (
        caught.value.place.line == JOB[: JOB.index('kafka = "plain"')].count("\n") + 1
    )


SCALED = """{"type": "record", "name": "R", "fields": [{"name": "all", "type":
    {"type": "array", "items": {"type": "record", "name": "I", "fields": [
        {"name": "it", "type": %s}]}}}]}"""
CENTS = """["null", {"type": "bytes", "logicalType": "decimal", "precision": %d,
    "scale": %d}]"""
STAMP = '{"type": "long", "logicalType": "timestamp-%s"}'


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        (CENTS % (5, 2), CENTS % (7, 2), ""),
        (CENTS % (5, 2), CENTS % (5, 3), "decimal of the scale 2, the newest as"),
        (STAMP % "millis", STAMP % "micros", "timestamp-millis, the newest as"),
        ('"long"', STAMP % "micros", ""),
        ('"int"', '"long"', ""),
        ('["int", "string"]', '["int", "string"]', ""),
    ],
)
def test_a_field_that_means_another_number_in_an_older_schema_is_told(old, new, told):
    with registry() as (url, *_):
        for one in (old, new):
            number = make_known(url, "t-value", SCALED % one)
        columns = {"all": "array<struct<it:string>>"}
        how = {"servers": "b:1", "format": "avro", "registry": url}
        topic = dt.kafka("t", columns=columns, **how)
    if not told:
        topic.columns(Schema(()))
        return
    with pytest.raises(SchemaError) as caught:
        topic.columns(Schema(()))
    found = f'schema {number - 1} has the field "all[].it" as {told}'
    assert found in caught.value.found


def test_rows_whose_types_avro_has_not_are_told_before_any_is_registered():
    with registry() as (url, subjects, _):
        topic = dt.kafka("t", servers="b:1", format="avro", registry=url, register=True)
        with pytest.raises(SchemaError, match="for which Avro has none"):
            refuse_unlike(topic, Schema.of({"id": "int", "odd": "map<int,int>"}))
        refuse_unlike(topic, Schema.of({"id": "int"}))
        assert not subjects
