"""Files are read as they are declared, without Spark; what does not fit is named."""

from datetime import UTC, datetime

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dovetail.bind.files.columns import fitted, own_schema
from dovetail.bind.files.names import Root
from dovetail.bind.files.rows import cells
from dovetail.bind.lookups.files import Files
from dovetail.errors import SchemaError
from dovetail.spec.program import AnyLayout, CsvLayout, Heading
from tests.bind.files.files import BAD, GOOD, Bad, Good, given, write


def rows(folder, case):
    return [tuple(row.values()) for row in fitted(Root.of(folder), given(case)).rows()]


@pytest.mark.parametrize("case", GOOD, ids=lambda case: case.name)
def test_rows_are_as_they_are_declared(tmp_path, case):
    write(tmp_path, case)
    assert rows(tmp_path, case) == case.rows


@pytest.mark.parametrize("case", BAD, ids=lambda case: case.name)
def test_a_value_that_does_not_fit_is_told_with_its_file(tmp_path, case):
    write(tmp_path, case)
    with pytest.raises(SchemaError) as error:
        rows(tmp_path, case)
    assert case.says in error.value.found
    assert case.name in error.value.found
    assert case.expected in error.value.expected


ID = {"id": "bigint"}
IDX = {**ID, "x": "string"}
UNFIT = [
    (Bad("a.csv", "idd,x\n", IDX, 'no column "id"', "it beside idd, x"), 'mean "idd"?'),
    (Bad("a.csv", "id,ID\n", ID, 'columns "id" and "ID"', "one column"), ""),
    (Bad("a.json", {"x": 1}, ID, 'no column "id"', "it beside x"), "1000 rows"),
    (
        Bad(
            "a.parquet", pa.table({"id": [[1]]}), ID, '"id" as array<bigint>', "bigint"
        ),
        "declare it",
    ),
    (
        Bad(
            "a/p*.csv", ["id\n", "id,x\n"], ID, "has the columns id string, x", "those"
        ),
        "",
    ),
    (Bad("a.parquet", "no", ID, "cannot be read", "a Parquet file"), ""),
    (Bad("a.json", '{"id":\n', ID, "is no JSON", "an object"), ""),
    (Bad("a.json", "[1]", ID, "has", "an object for each row"), ""),
]


@pytest.mark.parametrize(("case", "hint"), UNFIT)
def test_a_file_that_does_not_fit_is_refused_before_its_rows_are_read(
    tmp_path, case, hint
):
    write(tmp_path, case)
    with pytest.raises(SchemaError) as error:
        fitted(Root.of(tmp_path), given(case))
    assert case.says in error.value.found
    assert case.expected in error.value.expected
    assert hint in error.value.hint


def test_too_few_places_are_refused(tmp_path):
    case = Good(
        "a.csv",
        "1\n",
        {"id": "bigint", "x": "string"},
        [],
        CsvLayout(heading=Heading.NONE),
    )
    write(tmp_path, case)
    with pytest.raises(SchemaError, match="has 1 columns; expected 2: id, x"):
        fitted(Root.of(tmp_path), given(case))


@pytest.mark.parametrize(
    ("name", "content", "told"),
    [
        ("a.csv", "id,name\n1,x\n", "`id` string, `name` string"),
        (
            "a.json",
            [{"id": 1, "t": "01", "s": [1, 2.5]}, {"id": None, "r": {"a": True}}],
            "`id` bigint, `t` string, `s` array<double>, `r` struct<a:boolean>",
        ),
        ("a.json", [{"x": 1, "y": None}, {"x": "a"}], "`x` string, `y` string"),
        ("a.parquet", pa.table({"id": [1], "x": [1.5]}), "`id` bigint, `x` double"),
    ],
)
def test_an_undeclared_file_has_the_columns_that_it_has(tmp_path, name, content, told):
    write(tmp_path, Good(name, content, {}, []))
    found = own_schema(Root.of(tmp_path).find("a", AnyLayout()), AnyLayout())
    assert found.to_sql() == told


def test_times_that_spark_keeps_in_96_bits_are_moments(tmp_path):
    """Spark writes a timestamp so, unless it is told to write another type."""
    old = datetime(1600, 1, 1, tzinfo=UTC)
    kind = pa.struct(
        [("at", pa.list_(pa.timestamp("us"))), ("by", pa.map_("string", "int32"))]
    )
    table = pa.table(
        {
            "n": pa.array([1], pa.int32()),
            "s": pa.array([{"at": [old], "by": [("x", 1)]}], kind),
            "t": pa.array([old], pa.timestamp("us")),
        }
    )
    pq.write_table(table, tmp_path / "a.parquet", use_deprecated_int96_timestamps=True)
    pq.write_table(table, tmp_path / "b.parquet")
    found = {
        name: own_schema(Root.of(tmp_path).find(name, AnyLayout()), AnyLayout())
        for name in "ab"
    }
    assert found["a"].to_sql() == (
        "`n` int, `s` struct<at:array<timestamp>,by:map<string,int>>, `t` timestamp"
    )
    assert found["b"].to_sql().endswith("`t` timestamp_ntz")
    file = Root.of(tmp_path).find("a", AnyLayout())
    expected = {"n": 1, "s": {"at": [old], "by": {"x": 1}}, "t": old}
    assert [*cells(file, AnyLayout(), ())] == [expected]
    types = pa.schema([("n", pa.int32()), ("t", pa.timestamp("us", "UTC"))])
    lookup = Files(str(tmp_path / "a.parquet"), layout="parquet", types=types)
    assert lookup.fetch([{"t": old}]).to_pylist() == [{"n": 1, "t": old}]
