"""Programs over Arrow columns: how columns are found, and what becomes of constants.

That every operation gives what the evaluation and Spark give is a law of its own, in
tests/expression/test_laws.py.
"""

import pyarrow as pa
import pytest

from dovetail.kernels.arrays.program import run_program

ID = ("column", "l", "id", "bigint")
COLUMNS = {("l", "id"): pa.array([1, None, 3])}


def test_a_column_is_found_by_side_and_name():
    assert run_program(ID, COLUMNS, 3).to_pylist() == [1, None, 3]


def test_a_bare_name_is_found_either_way():
    program = ("column", "", "counter", "bigint")
    counter = pa.array([5])
    assert run_program(program, {"counter": counter}, 1) == counter
    assert run_program(program, {("", "counter"): counter}, 1) == counter


def test_a_constant_stands_in_every_row():
    found = run_program(("literal", "1.50", "decimal(5,2)"), {}, 2)
    assert found.type == pa.decimal128(5, 2)
    assert [str(value) for value in found.to_pylist()] == ["1.50", "1.50"]


def test_no_rows_give_no_values():
    program = ("=", "boolean", (), ID, ("literal", 1, "bigint"))
    assert run_program(program, {("l", "id"): pa.array([], pa.int64())}, 0) == pa.array(
        [], pa.bool_()
    )


@pytest.mark.parametrize(
    ("column", "text"),
    [
        (pa.chunked_array([[1], [2]], pa.int32()), "bigint"),
        (pa.array(["a", "b"], pa.large_string()), "string"),
        (pa.array(["a", "a"]).dictionary_encode(), "string"),
        (pa.array([1, 2], pa.timestamp("ms", tz="Europe/Berlin")), "timestamp"),
    ],
)
def test_columns_come_in_the_type_that_the_program_names(column, text):
    found = run_program(("column", "l", "a", text), {("l", "a"): column}, 2)
    wanted = {"bigint": pa.int64(), "string": pa.string()}
    assert found.type == wanted.get(text, pa.timestamp("us", tz="UTC"))
    assert len(found) == 2


def test_an_operation_of_constants_alone_is_computed_once():
    null = ("literal", None, "date")
    program = ("months_later", "date", (), null, ("literal", 1, "int"))
    same = ("<=>", "boolean", (), program, null)
    assert run_program(same, {}, 2).to_pylist() == [True, True]


def test_null_equals_null_in_no_type_at_all():
    null = ("literal", None, "void")
    for sign in ("=", "<", "<=", ">", ">="):
        assert run_program((sign, "boolean", (), null, null), {}, 1).to_pylist() == [
            None
        ]


def test_a_field_of_a_struct_is_null_where_the_struct_is():
    record = pa.array([{"x": 1}, None], pa.struct([("x", pa.int32())]))
    column = ("column", "l", "place", "struct<x:int>")
    program = ("field", "int", (("field", "x"),), column)
    found = run_program(program, {("l", "place"): record}, 2)
    assert found.to_pylist() == [1, None]
