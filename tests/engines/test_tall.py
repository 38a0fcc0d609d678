"""Tables of rows that each meet many have numbers of rows, and are read as all are."""

from datetime import UTC, datetime
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest

from dovetail.engines.spark_stream.worker import bucket
from dovetail.kernels.arrays.blobs import read_batch
from dovetail.kernels.arrays.names import hidden
from dovetail.kernels.arrays.rows import Flag, make_rows
from dovetail.kernels.pairs import results
from dovetail.spec.inputs import Outlet

LEFT, RIGHT = 3, 40
KINDS = {
    "n": pa.int64(),
    "text": pa.string(),
    "at": pa.timestamp("us", tz="UTC"),
    "cost": pa.decimal128(38, 2),
    "tags": pa.list_(pa.struct([("x", pa.int32())])),
}


def rows(count):
    """Rows of many types, with nulls, and a column that only matching needs."""
    number = np.arange(count, dtype=np.int64)
    values = {
        "n": number.tolist(),
        "text": [None if one % 3 == 1 else f"ä{one}" for one in range(count)],
        "at": [datetime(1969, 12, 31, 23, one, tzinfo=UTC) for one in range(count)],
        "cost": [Decimal(one) / 100 for one in range(count)],
        "tags": [
            [{"x": one}, {"x": None}] if one % 2 else None for one in range(count)
        ],
    }
    columns = [pa.array(values[name], kind) for name, kind in KINDS.items()]
    payload = pa.RecordBatch.from_arrays(
        [*columns, pa.array(number)], [*KINDS, hidden("0")]
    )
    return make_rows(number, number, number, np.zeros(count, Flag), payload)


def leaving_of(lefts, rights):
    """All pairs of so many rows, and a row of each side without a partner."""
    left, right = (one.ravel() for one in np.mgrid[:lefts, :rights])
    zero = np.zeros(len(left), np.int64)
    moments = left * 1000, zero, zero, left * 1000, zero + results.ABSENT
    met = results.Leaving(
        *(Outlet.MATCHED, results.Reason.NONE, results.Turn.PAIR, left, right),
        *moments,
    )
    alone = [
        results.one_sided(hand, np.array([1]), np.array([5]), results.UNMATCHED[hand])
        for hand in (0, 1)
    ]
    return met, *alone


@pytest.fixture
def tables(monkeypatch):
    """All pairs of two sides and a row of each without a partner, in both forms."""
    shape = results.Shape(timed=True, sorted=False)

    def made(tall):
        monkeypatch.setattr(results, "TALL", tall)
        (table,) = results.leave(
            [*leaving_of(LEFT, RIGHT)], (rows(LEFT), rows(RIGHT)), shape
        )
        return table

    return made(10**6), made(2)


@pytest.fixture
def schema():
    shown = pa.schema(KINDS.items())
    return bucket.result_schema((shown, shown))


def test_numbers_stand_for_the_same_values(tables, schema):
    plain, tall = tables
    assert not results.has_numbers(plain)
    assert results.has_numbers(tall)
    assert results.with_values(tall).equals(plain)
    blobs = [[*bucket.as_blobs([one])] for one in tables]
    assert len(blobs[1]) == 1
    read = [
        pa.concat_batches([bucket.unpacked(it, schema) for it in one]) for one in blobs
    ]
    assert read[0].equals(read[1])
    assert read[1].column("l0").null_count == 1


def test_only_what_is_asked_for_is_looked_up_some_rows_at_a_time(
    tables, schema, monkeypatch
):
    monkeypatch.setattr(bucket, "AT_ONCE", 50)
    names = ["outlet", "row_time", "l1", "r0", "r4"]
    outlets = [results.code(Outlet.MATCHED), results.code(Outlet.RIGHT_UNMATCHED)]
    unpack = bucket.make_unpack(schema, names, outlets)
    found = []
    for table in tables:
        blobs = pa.array([None, *bucket.as_blobs([table])], pa.binary())
        batch = pa.RecordBatch.from_arrays([blobs], ["blob"])
        found.append([*unpack([batch])])
    plain, tall = found
    assert len(plain) == 1
    assert [len(one) for one in tall] == [50, 50, 21]
    assert pa.concat_batches(tall).equals(plain[0])


def test_many_pairs_take_few_bytes(tables):
    plain, tall = ([*bucket.as_blobs([one])] for one in tables)
    assert read_batch(tall[0]).num_rows == LEFT * RIGHT + 2
    assert 2 * sum(map(len, tall)) < sum(map(len, plain))
