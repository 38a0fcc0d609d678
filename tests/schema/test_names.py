"""A name in a text of SQL is one word, whatever is in it, and reads back the same."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dovetail.schema import QUOTED, Schema, parse_type, quoted, unquoted


@given(st.text(min_size=1))
def test_a_name_survives_its_backticks(name):
    assert unquoted(quoted(name)) == name
    assert re.fullmatch(QUOTED, quoted(name), re.DOTALL)


@given(st.text(min_size=1), st.text(min_size=1))
def test_names_side_by_side_stay_apart(one, other):
    text = f"{quoted(one)}.{quoted(other)}"
    assert [unquoted(word) for word in re.findall(QUOTED, text)] == [one, other]


def test_a_plain_word_is_its_own_name():
    assert unquoted("word") == "word"


@pytest.mark.parametrize("name", ["a`b", "a.b", "l.x", "x,y", "p<q", "r:s", "`", "a b"])
def test_a_field_of_a_struct_may_have_any_name(name):
    text = f"struct<{quoted(name)}:array<int>,plain:map<string,int>>"
    assert str(parse_type(text)) == text


def test_a_schema_is_written_with_its_names_in_backticks():
    assert Schema.of({"a`b": "int", "a.b": "int"}).to_sql() == "`a``b` int, `a.b` int"
