"""What a user says of a lookup is checked where it is said."""

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dovetail import spec
from dovetail.api.lookups import lookup_given, table_given
from dovetail.bind.lookups.tables import LookupTable
from dovetail.errors import SchemaError, SpecError
from dovetail.schema import Schema

COLUMNS = {"id": "bigint", "name": "string"}


class Names(LookupTable):
    """A table that tells its columns."""

    columns = COLUMNS
    title = "the names"

    def fetch(self, keys):
        return keys


def test_a_table_tells_its_columns_or_they_are_declared(tmp_path):
    assert table_given(Names())[1] == Schema.of(COLUMNS)
    assert table_given(lambda keys: keys, COLUMNS)[1] == Schema.of(COLUMNS)
    pq.write_table(pa.table({"id": [1], "name": ["a"]}), tmp_path / "a.parquet")
    found, schema = table_given(tmp_path / "a.parquet")
    assert schema == Schema.of(COLUMNS)
    assert found.fetch([{"id": 1}]).to_pylist() == [{"id": 1, "name": "a"}]
    (tmp_path / "a.csv").write_text('id,name\n1,a\n2,""\n3,\n')
    assert (
        table_given(tmp_path / "a.csv")[1]["id"].type == Schema.of(COLUMNS)["name"].type
    )
    found, _ = table_given(tmp_path / "a.csv", COLUMNS)
    keys = [{"id": key} for key in (1, 2, 3, 4)]
    assert [one["name"] for one in found.fetch(keys).to_pylist()] == ["a", "", None]


@pytest.mark.parametrize(
    ("table", "columns", "kind", "told"),
    [
        (3, {}, SpecError, "table=3"),
        (Names, {}, SpecError, "table=the class Names"),
        (lambda keys: keys, {}, SpecError, "a lookup in a function without columns"),
        (Names(), COLUMNS, SpecError, 'columns={"id": "bigint", "name": "string"}'),
        ("nowhere.parquet", {}, SchemaError, 'no file "nowhere.parquet"'),
    ],
)
def test_what_is_no_table_is_refused(table, columns, kind, told):
    with pytest.raises(kind) as raised:
        table_given(table, columns)
    assert raised.value.found == told


def test_files_that_cannot_be_asked_are_refused(tmp_path):
    (tmp_path / "a.json").write_text('{"id": 1}\n')
    with pytest.raises(SpecError) as raised:
        table_given(tmp_path / "a.json")
    assert raised.value.expected == "Parquet or CSV, of which keys and columns are read"
    (tmp_path / "a.csv").write_text("id\n1\n")
    with pytest.raises(SchemaError) as raised:
        table_given(tmp_path / "a.csv", COLUMNS)
    assert raised.value.found == 'no column "name"'


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ({"key": "nobody"}, 'key="nobody": there is no column "nobody"'),
        ({"key": []}, "key=[]"),
        ({"key": ["id", "ID"]}, 'key=["id", "ID"]'),
        ({"key": "id", "size": -1}, "size=-1"),
        ({"key": "id", "ttl": "0 seconds"}, 'ttl="0 seconds"'),
        ({"key": "id", "ttl": "1 month"}, 'ttl="1 month"'),
        (
            {"key": "id", "ttl": "1 second", "refresh": "2 seconds"},
            'refresh="2 seconds"',
        ),
        ({"key": "id", "retry": "-1 second"}, 'retry="-1 second"'),
    ],
)
def test_what_cannot_be_meant_is_refused(words, told):
    with pytest.raises((SpecError, SchemaError)) as raised:
        lookup_given(Names(), Schema.of(COLUMNS), **words)
    assert raised.value.found == told


def test_what_is_said_stands_in_the_feed():
    source, feed = lookup_given(
        Names(), Schema.of(COLUMNS), key="ID", ttl="1 minute", retry="5 seconds"
    )
    assert source.kind is spec.InputKind.DATASET
    found = feed.lookup
    assert (found.key, found.size, found.refresh) == (("id",), 100_000, found.ttl)
    assert not feed.streams
    assert found.retry == spec.Span(0, 5_000_000)


SPANS = """{{"type":"struct","fields":[
{{"name":"id","type":"long","nullable":true,"metadata":{{}}}},
{{"name":"wait","type":{},"nullable":true,"metadata":{{}}}}]}}"""


@pytest.mark.parametrize(
    "kind",
    ['"interval day to second"', '{"type":"array","elementType":"interval month"}'],
)
def test_spans_of_time_that_spark_alone_knows_are_refused(tmp_path, kind):
    """In the file they are numbers: whoever reads them as such counts days wrong."""
    told = "org.apache.spark.sql.parquet.row.metadata"
    ids = pa.table({"id": [1], "wait": [86_400_000_000]})
    spans = SPANS.replace("\n", "").format(kind)
    pq.write_table(ids.replace_schema_metadata({told: spans}), tmp_path / "a.parquet")
    with pytest.raises(SchemaError, match="wait is of the type interval"):
        table_given(tmp_path)
    plain = SPANS.replace("\n", "").format('"long"')
    pq.write_table(ids.replace_schema_metadata({told: plain}), tmp_path / "a.parquet")
    assert "wait" in table_given(tmp_path)[1]
