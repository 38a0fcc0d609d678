"""A registry of schemas is asked for those of a topic; what it lacks is told."""

import pytest

import dovetail as dt
from dovetail.bind.jobs import read_job
from dovetail.bind.registry import head, subject
from dovetail.errors import DialectError, DovetailError, EngineError, SpecError
from tests.bind.registry_server import make_known, registry

AVRO = {"columns": {"id": "bigint"}, "servers": "b:9092", "format": "avro"}


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
    subjects["t-value"] = [(7, {"schema": "a"}), (9, {"schema": "b"})]
    subjects["t-value"].append((7, {"schema": "a"}))
    assert subject(url, "t-value").newest == 7


@pytest.mark.parametrize(
    ("known_of_it", "error", "told"),
    [
        (None, SpecError, 'has no schema of "t-value"'),
        ("broken", EngineError, "does not answer: 500"),
        ("<html>", EngineError, "does not answer: Expecting value"),
        ([], SpecError, 'has no schema of "t-value"'),
        ([(1, {"schema": "x", "schemaType": "JSON"})], SpecError, "of the kind JSON"),
        ([(1, {"schema": "x", "references": [1]})], SpecError, "refers to others"),
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
        ({"registry": 7}, "registry=7; expected an address"),
        ({"registry": "http://127.0.0.1:1"}, "127.0.0.1:1 does not answer"),
        ({"registry": "http://a", "format": "json"}, "without Avro"),
    ],
)
def test_a_registry_that_cannot_be_asked_is_refused(how, told):
    with pytest.raises(DovetailError, match=told):
        dt.kafka("t", **{**AVRO, **how})


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
