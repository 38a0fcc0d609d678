"""Lookups in files find what is there, by key and by condition, and new files too."""

import operator
from datetime import UTC, date, datetime
from decimal import Decimal

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dovetail.bind.lookups.files import Files
from dovetail.plan.lookups import Compared

TYPES = pa.schema(
    [
        ("id", pa.int64()),
        ("name", pa.string()),
        ("at", pa.timestamp("us", "UTC")),
        ("price", pa.decimal128(6, 2)),
    ]
)
PEOPLE = [
    {
        "id": number % 5 or None,
        "name": [None, "", "Ada", "Ämil", 'a "b", c'][number % 4],
        "at": datetime(2026, 1, 1 + number, tzinfo=UTC) if number % 3 else None,
        "price": Decimal(number) / 4 if number % 7 else None,
    }
    for number in range(20)
]
SIGNS = {
    "=": operator.eq,
    "<>": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


@pytest.fixture(scope="module", params=["parquet", "csv"])
def files(request, tmp_path_factory):
    """The people as a folder of two files."""
    folder = tmp_path_factory.mktemp("people") / "people"
    folder.mkdir()
    for part in (0, 1):
        table = pa.Table.from_pylist(PEOPLE[part::2], schema=TYPES)
        path = folder / f"{part}.{request.param}"
        if request.param == "parquet":
            pq.write_table(table, path, row_group_size=3)
        else:
            plain = table.set_column(2, "at", table["at"].cast(pa.timestamp("us")))
            pyarrow.csv.write_csv(plain, path)
    return Files(str(folder), layout=request.param, types=TYPES)


CONDITIONS = st.one_of(
    st.builds(
        lambda sign, value: Compared("id", sign, (value,)),
        st.sampled_from([*SIGNS]),
        st.integers(0, 5),
    ),
    st.builds(
        lambda sign, value: Compared("name", sign, (value,)),
        st.sampled_from([*SIGNS]),
        st.sampled_from(["", "Ada", "Z", "Ä"]),
    ),
    st.builds(
        lambda sign, value: Compared("at", sign, (value,)),
        st.sampled_from([*SIGNS]),
        st.just(datetime(2026, 1, 9, tzinfo=UTC)),
    ),
    st.builds(
        lambda values: Compared("price", "in", tuple(values)),
        st.lists(st.sampled_from([Decimal("0.25"), Decimal("4.00")]), min_size=1),
    ),
    st.sampled_from(["is null", "is not null"]).map(lambda sign: Compared("at", sign)),
)


def holds(condition, row):
    """Whether a condition is true of a row, which null never is."""
    value = row[condition.column]
    if condition.sign == "is null":
        return value is None
    if value is None or condition.sign == "is not null":
        return value is not None
    if condition.sign == "in":
        return value in condition.values
    return SIGNS[condition.sign](value, *condition.values)


@given(st.sets(st.integers(0, 6), min_size=1), st.lists(CONDITIONS, max_size=3))
def test_files_find_the_rows_of_keys_that_meet_the_conditions(files, keys, conditions):
    narrowed = files.narrowed(["id", "name"], conditions)
    found = narrowed.fetch([{"id": key} for key in keys])
    expected = [
        {"id": row["id"], "name": row["name"]}
        for row in PEOPLE
        if row["id"] in keys and all(holds(one, row) for one in conditions)
    ]
    assert sorted(map(repr, found.to_pylist())) == sorted(map(repr, expected))


def test_all_columns_come_where_no_fewer_are_asked_for(files):
    found = files.fetch([{"id": 2, "name": "Ada"}])
    expected = [one for one in PEOPLE if one["id"] == 2 and one["name"] == "Ada"]
    assert found.to_pylist() == expected
    assert len(expected) == 1


def test_a_new_file_is_seen_and_other_types_are_converted(tmp_path):
    day = pa.table({"id": pa.array([1], pa.int32()), "on": [date(2026, 1, 1)]})
    pq.write_table(day, tmp_path / "a.parquet")
    wide = pa.schema([("id", pa.int64()), ("on", pa.date32())])
    files = Files(str(tmp_path), layout="parquet", types=wide)
    keys = [{"id": 1}, {"id": 2**40}]
    assert files.fetch(keys).to_pylist() == [{"id": 1, "on": date(2026, 1, 1)}]
    pq.write_table(day, tmp_path / "b.parquet")
    assert files.fetch(keys).num_rows == 2
