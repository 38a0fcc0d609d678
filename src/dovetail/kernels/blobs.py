"""Rows as bytes and back: Arrow streams without compression.

What follows from a row's time or place is not written: births, and deaths of windows
that a row alone decides, are worked out again after reading.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from dovetail.kernels.rows import Rows, Whole, make_rows

_HEAD = ("@code", "@moment", "@place", "@flags", "@partition")


def write_batch(batch: pa.RecordBatch) -> bytes:
    """Returns a batch as the bytes of an Arrow stream."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, batch.schema) as writer:
        writer.write_batch(batch)
    written: bytes = sink.getvalue().to_pybytes()
    return written


def read_batch(data: bytes) -> pa.RecordBatch:
    """Returns the batch that `write_batch` wrote; its arrays lie in `data`."""
    reader = pa.ipc.open_stream(pa.py_buffer(data))
    batches = list(reader)
    return batches[0] if batches else pa.RecordBatch.from_pylist([], reader.schema)


def write_rows(rows: Rows, *, own_partition: bool) -> bytes:
    """Returns rows as bytes; the partition only where it is not the key."""
    arrays = [rows.code, rows.moment, rows.place, rows.flags]
    if own_partition:
        arrays.append(rows.partition)
    columns = [*(pa.array(array) for array in arrays), *rows.payload.columns]
    names = [*_HEAD[: len(arrays)], *rows.payload.schema.names]
    return write_batch(pa.RecordBatch.from_arrays(columns, names=names))


def read_rows(data: bytes) -> Rows:
    """Returns the rows that `write_rows` wrote; they have met nobody yet."""
    batch = read_batch(data)
    head = [name for name in batch.schema.names if name in _HEAD]
    code, moment, place, flags = (_array(batch, name) for name in _HEAD[:4])
    payload = batch.select(batch.schema.names[len(head) :])
    rows = make_rows(code, moment, place, flags.astype(np.uint8), payload)
    if len(head) == len(_HEAD):
        return rows.with_arrays(partition=_array(batch, "@partition"))
    return rows


def _array(batch: pa.RecordBatch, name: str) -> Whole:
    """Returns a column without nulls as an array."""
    values: Whole = batch.column(name).to_numpy(zero_copy_only=False)
    return values
