"""Types are written as Spark SQL writes them, and read back the same."""

import pytest
from hypothesis import given

from dovetail.errors import SchemaError
from dovetail.schema import Schema, parse_type
from tests import strategies


@given(strategies.TYPES)
def test_a_type_survives_its_text(kind):
    assert parse_type(str(kind)) == kind


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("LONG", "bigint"),
        ("varchar(10)", "string"),
        ("decimal", "decimal(10,0)"),
        ("numeric(16, 4)", "decimal(16,4)"),
        ("struct<a int, b: array<int>>", "struct<a:int,b:array<int>>"),
        ("struct<a struct<b:int>>", "struct<a:struct<b:int>>"),
        ("map<string, decimal(4,2)>", "map<string,decimal(4,2)>"),
    ],
)
def test_other_spellings_are_understood(text, plain):
    assert str(parse_type(text)) == plain


@pytest.mark.parametrize(
    "text", ["", "text", "array<int,int>", "map<int>", "list<int>", "struct<a>"]
)
def test_what_is_no_type_is_refused_with_the_choices(text):
    with pytest.raises(SchemaError) as caught:
        parse_type(text)
    assert caught.value.expected


@pytest.mark.parametrize("text", ["decimal(39,2)", "decimal(0,0)", "decimal(4,5)"])
def test_a_decimal_that_spark_has_no_room_for_is_refused(text):
    with pytest.raises(SchemaError):
        parse_type(text)


def test_columns_are_found_without_regard_to_case():
    schema = Schema.of({"Id": "int"})
    assert "ID" in schema
    assert schema["iD"].name == "Id"
    assert schema.spelled("ID") == "Id"
    assert schema.spelled("other") == "other"
    assert schema.to_sql() == "`Id` int"


def test_a_column_that_is_not_there_is_an_error_with_the_names():
    with pytest.raises(SchemaError) as caught:
        Schema.of({"id": "int"})["no"]
    assert caught.value.expected == "one of id"


def test_no_column_stands_twice():
    with pytest.raises(SchemaError):
        Schema.of([("id", "int"), ("ID", "string")])
