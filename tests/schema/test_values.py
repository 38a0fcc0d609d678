"""Plain values: what each type accepts from JSON, and what it refuses."""

import json
from datetime import UTC, date, datetime
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dovetail.errors import SchemaError
from dovetail.schema import (
    Schema,
    blank,
    from_microseconds,
    parse_type,
    read_moment,
    read_row,
    read_value,
    shown,
    to_microseconds,
)
from tests import strategies

ACCEPTED = [
    ("bigint", 2**63 - 1, 2**63 - 1),
    ("int", 1.0, 1),
    ("boolean", True, True),
    ("string", "text", "text"),
    ("int", None, None),
    ("double", 3, 3.0),
    ("double", "-Infinity", float("-inf")),
    ("float", 0.1, 0.10000000149011612),
    ("decimal(6,2)", 0.1, Decimal("0.10")),
    ("decimal(6,2)", "-1111.525", Decimal("-1111.53")),
    ("timestamp", "10:00:05", datetime(1970, 1, 1, 10, 0, 5, tzinfo=UTC)),
    ("timestamp", "9:00:05.25", datetime(1970, 1, 1, 9, 0, 5, 250000, tzinfo=UTC)),
    ("timestamp", "2020-10-10T00:00:01", datetime(2020, 10, 10, 0, 0, 1, tzinfo=UTC)),
    ("timestamp", "2020-10-10T02:00+02:00", datetime(2020, 10, 10, tzinfo=UTC)),
    (
        "timestamp_ntz",
        "2020-10-10T00:00:01",
        datetime.fromisoformat("2020-10-10T00:00:01"),
    ),
    ("date", "2020-02-29", date(2020, 2, 29)),
    ("binary", "YWJj", b"abc"),
    ("array<int>", [1, None], [1, None]),
    ("struct<a:int,b:string>", {"A": 1}, {"a": 1, "b": None}),
    ("map<int,string>", {"1": "a"}, {1: "a"}),
]

REFUSED = [
    ("tinyint", 128),
    ("tinyint", -129),
    ("bigint", 2**63),
    ("int", 1.5),
    ("int", True),
    ("int", "1"),
    ("int", float("nan")),
    ("boolean", 1),
    ("double", "1.0"),
    ("double", True),
    ("double", 10**400),
    ("float", 1e300),
    ("decimal(6,2)", 12345.6),
    ("decimal(6,2)", 9999.995),
    ("decimal(6,2)", "x"),
    ("decimal(6,2)", "NaN"),
    ("decimal(6,2)", False),
    ("string", 1),
    ("timestamp", 5),
    ("timestamp", "25:00:00"),
    ("timestamp", "yesterday"),
    ("timestamp_ntz", "2020-10-10T00:00:01Z"),
    ("date", "2020-02-30"),
    ("binary", "?"),
    ("array<int>", "[1]"),
    ("array<int>", ["a"]),
    ("map<string,int>", [1]),
    ("struct<a:int>", 1),
    ("void", 0),
]


@pytest.mark.parametrize(("kind", "value", "plain"), ACCEPTED)
def test_a_value_that_fits_becomes_plain(kind, value, plain):
    read = read_value(value, parse_type(kind), "c")
    assert read == plain
    assert type(read) is type(plain)


@pytest.mark.parametrize(("kind", "value", "plain"), ACCEPTED)
def test_a_plain_value_is_shown_as_it_can_be_read(kind, value, plain):
    del value
    assert read_value(shown(plain), parse_type(kind), "c") == plain
    assert read_value(plain, parse_type(kind), "c") == plain


@pytest.mark.parametrize(("kind", "value"), REFUSED)
def test_a_value_that_does_not_fit_is_refused(kind, value):
    with pytest.raises(SchemaError):
        read_value(value, parse_type(kind), "c")


def test_a_refusal_names_column_value_and_type():
    with pytest.raises(SchemaError) as caught:
        read_row({"k": "a"}, Schema.of({"k": "int"}), "event 3")
    assert caught.value.found == 'the column "k" of event 3 has "a"'
    assert caught.value.expected == "int"


def test_a_refused_time_says_how_times_are_written():
    with pytest.raises(SchemaError) as caught:
        read_moment("noon", '"bound" of event 3')
    assert '"10:00:05"' in caught.value.hint


def test_a_row_has_every_column_as_the_schema_spells_it():
    assert read_row({"K": 1}, Schema.of({"k": "int", "v": "string"})) == {
        "k": 1,
        "v": None,
    }


@pytest.mark.parametrize("row", [{"x": 1}, {"k": 1, "K": 1}, [1]])
def test_a_row_with_other_columns_is_refused(row):
    with pytest.raises(SchemaError):
        read_row(row, Schema.of({"k": "int"}))


@given(
    strategies.TYPES.flatmap(
        lambda kind: st.tuples(st.just(kind), strategies.values(kind))
    )
)
def test_a_value_survives_json(typed):
    kind, value = typed
    through = json.loads(json.dumps(shown(value)))
    assert read_value(through, kind, "c") == value


@given(
    strategies.TYPES.flatmap(
        lambda kind: st.tuples(st.just(kind), strategies.values(kind))
    )
)
def test_a_plain_value_stays_as_it_is(typed):
    kind, value = typed
    assert read_value(value, kind, "c") == value


@given(strategies.MOMENTS)
def test_microseconds_and_moments_are_the_same(moment):
    assert from_microseconds(to_microseconds(moment)) == moment
    assert to_microseconds(moment.replace(tzinfo=None)) == to_microseconds(moment)


def test_what_is_not_a_number_is_a_word_in_json():
    assert [shown(float(word)) for word in ("nan", "inf", "-inf")] == [
        "NaN",
        "Infinity",
        "-Infinity",
    ]


def test_a_key_that_is_no_text_becomes_one_in_json():
    assert shown({1: True}) == {"1": True}


def test_what_is_no_plain_value_is_not_shown():
    with pytest.raises(SchemaError):
        shown(object())


@given(strategies.TYPES)
def test_a_blank_is_a_value_of_its_type(kind):
    assert read_value(blank(kind), kind, "c") == blank(kind)


@pytest.mark.parametrize(
    ("kind", "plain"),
    [("int", 0), ("string", ""), ("boolean", False), ("decimal(4,2)", Decimal("0.00"))],
)
def test_a_blank_is_zero_empty_or_false(kind, plain):
    assert blank(parse_type(kind)) == plain
