"""Rows on their way: numbers take as few bytes as they need, and come as they were."""

from unittest.mock import patch

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dovetail.kernels.arrays import blobs
from dovetail.kernels.arrays.rows import Flag, make_rows

LEAST, MOST = np.iinfo(np.int64).min, np.iinfo(np.int64).max
NUMBERS = st.integers(LEAST, MOST) | st.integers(-300, 300) | st.just(7)
SPREADS = [
    (200, "uint8"),
    (60_000, "uint16"),
    (4_000_000_000, "uint32"),
    (5_000_000_000, "int64"),
]


def rows_of(numbers, times, more):
    payload = pa.RecordBatch.from_pydict(
        {
            "n": pa.array(numbers, pa.int64()),
            "t": pa.array(times, pa.timestamp("us", "UTC")),
            "some": pa.array(more, pa.int64()),
            "text": pa.array([f"{it}" for it in numbers]),
        }
    )
    code, moment = (np.array(it, np.int64) for it in (numbers, times))
    places = np.arange(len(code))
    return make_rows(code, moment, places, np.zeros(len(code), Flag), payload)


def written(rows, size):
    batch = blobs.shortened(blobs.as_batch(rows, own_partition=False))
    for start in range(0, batch.num_rows, size):
        yield blobs.write_batch(batch.slice(start, size))


@given(
    st.lists(
        st.lists(
            st.tuples(NUMBERS, NUMBERS, st.none() | NUMBERS), min_size=1, max_size=6
        ),
        min_size=1,
        max_size=4,
    ),
    st.integers(1, 4),
)
def test_reports_of_any_numbers_are_read_as_they_were(reports, size):
    every = [rows_of(*zip(*report, strict=True)) for report in reports]
    with patch.object(blobs, "_FEW", 1):
        lines = [blob for rows in every for blob in written(rows, size)]
    read = blobs.read_rows(lines)
    payload = pa.concat_batches([rows.payload for rows in every])
    assert read.payload.equals(payload, check_metadata=True)
    for name in ("code", "moment", "place", "birth", "death"):
        expected = np.concatenate([getattr(rows, name) for rows in every])
        found = getattr(read, name)
        assert found.dtype == np.int64
        assert found.tolist() == expected.tolist()


@pytest.mark.parametrize(("spread", "kind"), SPREADS)
def test_numbers_take_the_bytes_that_they_need(spread, kind):
    numbers = np.linspace(0, spread, 5000).astype(np.int64) + 1_700_000_000_000_000
    rows = rows_of(numbers, numbers, numbers)
    short = blobs.shortened(blobs.as_batch(rows, own_partition=False))
    assert str(short.column("n").type) == kind
    assert short.column("t").type.bit_width == short.column("n").type.bit_width


def test_few_rows_stay_as_they_are():
    batch = pa.RecordBatch.from_pydict({"n": [1, 2, 3]})
    assert blobs.shortened(batch) is batch
