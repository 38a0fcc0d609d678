"""Rows as bytes and back: Arrow streams without compression.

What follows from a row's time or place is not written: births, and deaths of windows
that a row alone decides, are worked out again after reading. Nor is an array that says
one thing of all rows, or that a column of the payload holds already: a key that is a
whole number, a row time. The stream's metadata says where each array is.
"""

from __future__ import annotations

import json

import numpy as np
import pyarrow as pa

from dovetail.kernels.arrays.rows import Flag, Rows, Whole, make_rows

_ARRAYS = ("code", "moment", "place", "flags")
_PARTITION = "partition"
_LIFE = ("birth", "death")
_METADATA = b"arrays"
_COLUMN, _ONE, _PAYLOAD = "column", "one", "payload"


def write_batch(batch: pa.RecordBatch) -> bytes:
    """Returns a batch as the bytes of an Arrow stream."""
    sink = pa.BufferOutputStream()
    append_batch(sink, batch)
    written: bytes = sink.getvalue().to_pybytes()
    return written


def append_batch(sink: pa.NativeFile, batch: pa.RecordBatch) -> None:
    """Writes a batch to the end of what was written to the sink."""
    with pa.ipc.new_stream(sink, batch.schema) as writer:
        writer.write_batch(batch)


def read_batch(data: bytes) -> pa.RecordBatch:
    """Returns the batch that `write_batch` wrote; its arrays lie in `data`."""
    reader = pa.ipc.open_stream(pa.py_buffer(data))
    batches = list(reader)
    return batches[0] if batches else pa.RecordBatch.from_pylist([], reader.schema)


def write_rows(rows: Rows, *, own_partition: bool, own_life: bool = False) -> bytes:
    """Returns rows as bytes; the partition only where it is not the key.

    The life only where it does not follow from the row.
    """
    life = _LIFE if own_life else ()
    return write_batch(as_batch(rows, own_partition=own_partition, more=life))


def as_batch(
    rows: Rows, *, own_partition: bool, more: tuple[str, ...] = ()
) -> pa.RecordBatch:
    """Returns rows as the batch whose bytes `read_rows` reads."""
    columns = list(rows.payload.columns)
    names = list(rows.payload.schema.names)
    places: dict[str, tuple[str, int]] = {}
    partition = (_PARTITION,) if own_partition else ()
    for name in (*_ARRAYS, *partition, *more):
        array = getattr(rows, name)
        places[name] = _place(array, rows.payload) or (_COLUMN, len(columns))
        if places[name][0] == _COLUMN:
            columns.append(pa.array(array))
            names.append(f"@{name}")
    metadata = {_METADATA: json.dumps(places)}
    schema = pa.schema(
        [(name, column.type) for name, column in zip(names, columns, strict=True)],
        metadata,
    )
    return pa.RecordBatch.from_arrays(columns, schema=schema)


def read_rows(data: bytes) -> Rows:
    """Returns the rows that `write_rows` wrote; they have met nobody yet."""
    batch = read_batch(data)
    places = json.loads(batch.schema.metadata[_METADATA])
    arrays = {name: _array(batch, *place) for name, place in places.items()}
    own = sum(kind == _COLUMN for kind, _ in places.values())
    payload = batch.select(range(batch.num_columns - own))
    rows = make_rows(
        arrays["code"],
        arrays["moment"],
        arrays["place"],
        arrays["flags"].astype(Flag),
        payload.replace_schema_metadata(None),
    )
    own_arrays = {name: arrays[name] for name in arrays if name not in _ARRAYS}
    return rows.with_arrays(**own_arrays) if own_arrays else rows


def _place(array: Whole, payload: pa.RecordBatch) -> tuple[str, int] | None:
    """Returns where the values can be found without being written, if anywhere."""
    if not len(array):
        return None
    # The two ends tell in most cases that it is not one value, without a look at all.
    if array[0] == array[-1] and bool((array == array[0]).all()):
        return _ONE, int(array[0])
    for number, column in enumerate(payload.columns):
        values = _whole(column)
        if values is not None and np.array_equal(values, array):
            return _PAYLOAD, number
    return None


def _array(batch: pa.RecordBatch, kind: str, number: int) -> Whole:
    """Returns an array from where it was put."""
    if kind == _ONE:
        return np.full(batch.num_rows, number)
    values = _whole(batch.column(number))
    if values is None:
        values = batch.column(number).to_numpy(zero_copy_only=False)
    return values


def _whole(column: pa.Array) -> Whole | None:
    """Returns the numbers of a column of long whole numbers or times without nulls."""
    if column.null_count or not (
        pa.types.is_int64(column.type) or pa.types.is_timestamp(column.type)
    ):
        return None
    values: Whole = column.view(pa.int64()).to_numpy()
    return values
