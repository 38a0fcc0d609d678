"""What others ask of expressions: columns, common types, constants, keys, text."""

import pytest

from dovetail.errors import SpecError
from dovetail.expression import (
    Expression,
    Scope,
    common_type,
    compiled,
    conjuncts,
    is_constant_true,
    lower,
    parse,
    references,
)
from dovetail.schema import Schema, parse_type

LEFT = Schema.of(
    {
        "id": "int",
        "name": "string",
        "tags": "array<int>",
        "places": "array<struct<x:int>>",
        "raw": "binary",
    }
)
PAIR = Scope.pair(LEFT, LEFT)


def test_references_are_the_columns_that_are_read():
    typed = parse("transform(l.tags, x -> x + R.ID) IS NULL OR counter > 1", PAIR)
    assert references(typed) == {("l", "tags"), ("r", "id"), ("", "counter")}


def test_conjuncts_are_what_must_all_be_true():
    typed = parse("l.id > 1 AND (r.name = 'a' AND (l.id = 2 OR r.id = 3))", PAIR)
    found = [sorted(references(part)) for part in conjuncts(typed)]
    assert found == [[("l", "id")], [("r", "name")], [("l", "id"), ("r", "id")]]
    texts = [parse(part.text, PAIR).tree for part in conjuncts(typed)]
    assert texts == [part.tree for part in conjuncts(typed)]


def test_compiled_parses_once():
    same_name = compiled(Expression("l.name = r.name"), PAIR)
    assert same_name({"l": {"name": "a"}, "r": {"name": "a"}}) is True


@pytest.mark.parametrize(
    ("left", "right", "common"),
    [
        ("int", "bigint", "bigint"),
        ("int", "double", "double"),
        ("bigint", "float", "float"),
        ("int", "string", "int"),
        ("string", "decimal(5,2)", "double"),
        ("string", "decimal(5,0)", "decimal(5,0)"),
        ("decimal(5,2)", "int", "decimal(12,2)"),
        ("decimal(5,2)", "decimal(38,0)", "decimal(38,0)"),
        ("decimal(20,2)", "int", "decimal(20,2)"),
        ("decimal(5,2)", "float", "double"),
        ("decimal(5,2)", "void", "decimal(5,2)"),
        ("date", "timestamp", "timestamp"),
        ("date", "timestamp_ntz", "timestamp_ntz"),
        ("date", "string", "date"),
        ("string", "void", "string"),
        ("array<int>", "array<bigint>", "array<bigint>"),
        ("struct<a:int>", "struct<A:bigint>", "struct<a:bigint>"),
    ],
)
def test_both_sides_of_an_equality_meet(left, right, common):
    for one, other in ((left, right), (right, left)):
        found = str(common_type(parse_type(one), parse_type(other)))
        assert found.lower() == common


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("int", "date"),
        ("boolean", "int"),
        ("binary", "int"),
        ("decimal(5,2)", "date"),
        ("string", "array<int>"),
        ("array<int>", "array<date>"),
        ("struct<a:int>", "struct<b:int>"),
        ("struct<a:int>", "struct<a:date>"),
        ("map<int,int>", "map<int,int>"),
        ("map<int,int>", "map<date,int>"),
        ("void", "void"),
    ],
)
def test_what_cannot_meet_is_refused(left, right):
    with pytest.raises(SpecError, match="does not take"):
        common_type(parse_type(left), parse_type(right))


def test_constants_are_computed_once():
    assert is_constant_true(parse("1 + 1 = 2 AND NOT false", PAIR))
    assert not is_constant_true(parse("1 = 2", PAIR))
    assert not is_constant_true(parse("l.id = l.id", PAIR))


def test_an_expression_is_its_text():
    assert str(Expression("l.id = 1")) == "l.id = 1"


def test_a_program_is_plain_data():
    typed = parse("l.id + 1 > 2.5 AND l.name LIKE 'a%'", PAIR)
    assert lower(typed) == (
        "and",
        "boolean",
        (),
        (
            ">",
            "boolean",
            (),
            (
                "cast",
                "decimal(11,1)",
                (),
                ("add", "int", (), ("column", "l", "id", "int"), ("literal", 1, "int")),
            ),
            ("literal", "2.5", "decimal(11,1)"),
        ),
        (
            "like",
            "boolean",
            (("pattern", "a.*"),),
            ("column", "l", "name", "string"),
        ),
    )


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("array_max(l.tags) > 1", "array_max"),
        ("substring(l.raw, 1, 2) IS NULL", "substring"),
        ("l.places.x IS NULL", "field"),
        ("CAST(l.id AS TIMESTAMP) IS NULL", "cast"),
        ("CAST(l.tags AS STRING) = ''", "cast"),
        ("TRY_CAST(l.id AS TINYINT) = 1", "try_cast"),
        ("substring(l.name, l.id) = 'a'", "substring"),
        ("substring(CAST(l.name AS BINARY), 1) IS NULL", "cast"),
        ("lpad(l.name, 3, 'xy') = 'a'", "lpad"),
        ("pmod(l.id, 1.5) = 0", "pmod"),
        ("timestamp_seconds(l.id / 2) IS NULL", "timestamp_seconds"),
        ("row_time + INTERVAL 1 DAY * (l.id / 2) IS NULL", "* of spans"),
        ("reverse(l.tags) IS NULL", "reverse"),
    ],
)
def test_what_arrow_has_no_operation_for_is_computed_row_by_row(text, name):
    program, again = (lower(parse(text, PAIR)) for _ in range(2))
    assert f"RowFunction(name='{name}', strict=True)" in repr(program)
    assert (program, hash(program), repr(program)) == (again, hash(again), repr(again))
