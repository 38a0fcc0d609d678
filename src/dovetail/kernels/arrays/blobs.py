"""Rows as bytes and back: Arrow streams, those of state without compression.

What follows from a row's time or place is not written: births, and deaths of windows
that a row alone decides, are worked out again after reading. Nor is an array that says
one thing of all rows, or that a column of the payload holds already: a key that is a
whole number, a row time. The stream's metadata says where each array is.

Rows on their way to their buckets have whole numbers and times as what they are more
than the least, in 1, 2 or 4 bytes each where those are enough: what Spark shuffles it
packs and unpacks, and of numbers with bytes alike that takes three times as long.

Where the bytes are a file in memory, nothing of it is read but what is asked for: a
search in an array touches the few places at which it looks, `take` the rows taken.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from dovetail.kernels.arrays.rows import (
    Flag,
    Rows,
    Whole,
    join_batches,
    join_rows,
    make_rows,
    take_payload,
)

_ARRAYS = ("code", "moment", "place", "flags")
_PARTITION = "partition"
_METADATA = b"arrays"
_COLUMN, _ONE, _PAYLOAD = "column", "one", "payload"
_SHORT = b"short"
_LONG = (pa.int64(), pa.timestamp("us"), pa.timestamp("us", "UTC"))
_FEW = 1000
"""So few rows are not worth a look at what bytes they need."""


def write_batch(batch: pa.RecordBatch, *, is_packed: bool = False) -> bytes:
    """Returns a batch as the bytes of an Arrow stream, its values packed if asked."""
    sink = pa.BufferOutputStream()
    append_batch(sink, batch, packing="lz4" if is_packed else None)
    written: bytes = sink.getvalue().to_pybytes()
    return written


def append_batch(
    sink: pa.NativeFile, batch: pa.RecordBatch, *, packing: str | None = None
) -> None:
    """Writes a batch to the end of what was written to the sink."""
    options = pa.ipc.IpcWriteOptions(compression=packing)
    with pa.ipc.new_stream(sink, batch.schema, options=options) as writer:
        writer.write_batch(batch)


def read_batch(data: bytes | pa.Buffer) -> pa.RecordBatch:
    """Returns the batch that `write_batch` wrote; its arrays lie in `data`."""
    reader = pa.ipc.open_stream(pa.py_buffer(data))
    # A stream without rows has no batch, but still the columns.
    batches = list(reader)
    return batches[0] if batches else pa.RecordBatch.from_pylist([], reader.schema)


def as_batch(
    rows: Rows,
    *,
    own_partition: bool,
    more: tuple[str, ...] = (),
    beside: tuple[tuple[str, npt.NDArray[Any]], ...] = (),
) -> pa.RecordBatch:
    """Returns rows as a batch; written, it or parts of it are what `read_rows` reads.

    The partition only where it is not the key; `more` are other arrays that do not
    follow from the row, `beside` some that are not the rows' own.
    """
    columns = list(rows.payload.columns)
    names = list(rows.payload.schema.names)
    places: dict[str, tuple[str, int]] = {}
    partition = (_PARTITION,) if own_partition else ()
    # Births, and most deaths, follow from these: see the layouts of the store.
    arrays = {name: getattr(rows, name) for name in (*_ARRAYS, *partition, *more)}
    for name, array in (arrays | dict(beside)).items():
        places[name] = _place(array, rows.payload) or (_COLUMN, len(columns))
        if places[name][0] == _COLUMN:
            columns.append(pa.array(array))
            # A column of a user may be called `code`, as an array of ours is.
            names.append(f"@{name}")
    metadata = {_METADATA: json.dumps(places)}
    schema = pa.schema(
        [(name, column.type) for name, column in zip(names, columns, strict=True)],
        metadata,
    )
    return pa.RecordBatch.from_arrays(columns, schema=schema)


@dataclass(frozen=True, slots=True)
class Filed:
    """Rows as they lie in a blob, of which some can be read without the others."""

    batch: pa.RecordBatch
    places: dict[str, tuple[str, int]]

    @classmethod
    def of(cls, batch: pa.RecordBatch) -> Filed:
        """Returns the rows of the batch that a blob has."""
        return cls(batch, json.loads(batch.schema.metadata[_METADATA]))

    def __len__(self) -> int:
        """Returns how many rows there are."""
        return int(self.batch.num_rows)

    def array(self, name: str) -> Whole:
        """Returns an array of all rows; it is not read where a column holds it."""
        kind, number = self.places[name]
        if kind == _ONE:
            # A view of one number: nothing is written for rows that all say the same.
            return np.broadcast_to(np.int64(number), len(self))
        return self._taken(name, slice(None))

    def take(self, chosen: Whole | slice, leave: tuple[str, ...] = ()) -> Rows:
        """Returns the chosen rows; they have met nobody where nothing is said of it.

        Arrays to `leave` are none of the rows' own.
        """
        arrays = {
            name: self._taken(name, chosen) for name in self.places if name not in leave
        }
        # Our own columns stand behind the payload's, so that these are found by
        # counting.
        own = sum(kind == _COLUMN for kind, _ in self.places.values())
        payload = self.batch.select(range(self.batch.num_columns - own))
        rows = make_rows(
            arrays.pop("code"),
            arrays.pop("moment"),
            arrays.pop("place"),
            arrays.pop("flags").astype(Flag),
            take_payload(payload.replace_schema_metadata(None), chosen),
        )
        return rows.with_arrays(**arrays) if arrays else rows

    def _taken(self, name: str, chosen: Whole | slice) -> Whole:
        """Returns the chosen values of an array."""
        kind, number = self.places[name]
        if kind == _ONE:
            count = len(self) if isinstance(chosen, slice) else len(chosen)
            return np.full(count, number)
        values = _whole(self.batch.column(number))
        if values is None:
            values = self.batch.column(number).to_numpy(zero_copy_only=False)
        return values[chosen]


def read_rows(blobs: Iterable[bytes]) -> Rows:
    """Returns the rows of all blobs, one after the other; there must be a blob."""
    batches = map(read_batch, blobs)
    # Parts of one batch are alike in all: they are looked at once.
    parts = groupby(batches, lambda batch: (batch.schema, batch.schema.metadata))
    whole = (_lengthened(join_batches([*some])) for _, some in parts)
    alike = groupby(whole, lambda batch: batch.schema.metadata[_METADATA])
    filed = (Filed.of(join_batches([*some])) for _, some in alike)
    return join_rows(one.take(slice(None)) for one in filed)


def shortened(batch: pa.RecordBatch) -> pa.RecordBatch:
    """Returns a batch of many rows with long numbers in as few bytes as they need."""
    if batch.num_rows < _FEW:
        return batch
    columns, names = batch.columns, batch.schema.names
    told = []
    for number, column in enumerate(columns):
        values = _whole(column) if column.type in _LONG else None
        if values is None:
            continue
        least = int(values.min())
        kind = np.min_scalar_type(int(values.max()) - least)
        if kind.itemsize < values.itemsize:
            short = np.empty(len(values), kind)
            np.subtract(values, least, out=short, casting="unsafe")
            columns[number] = pa.array(short)
            told.append((number, least, _LONG.index(column.type)))
    if not told:
        return batch
    metadata = {**batch.schema.metadata, _SHORT: json.dumps(told)}
    return pa.RecordBatch.from_arrays(columns, names, metadata=metadata)


def _lengthened(batch: pa.RecordBatch) -> pa.RecordBatch:
    """Returns a batch, or joined parts of it, as it was before it was shortened."""
    metadata = batch.schema.metadata
    if _SHORT not in metadata:
        return batch
    columns, names = batch.columns, batch.schema.names
    for number, least, kind in json.loads(metadata.pop(_SHORT)):
        values = columns[number].to_numpy().astype(np.int64)
        values += least
        columns[number] = pa.array(values).view(_LONG[kind])
    return pa.RecordBatch.from_arrays(columns, names, metadata=metadata)


def _place(array: Whole, payload: pa.RecordBatch) -> tuple[str, int] | None:
    """Returns where the values can be found without being written, if anywhere."""
    if not len(array):
        return None
    # The two ends tell in most cases that it is not one value, without a look at all.
    if array[0] == array[-1] and bool((array == array[0]).all()):
        return _ONE, int(array[0])
    for number, column in enumerate(payload.columns):
        values = _whole(column)
        # And of most columns they tell that it is not theirs.
        if values is None or values[0] != array[0] or values[-1] != array[-1]:
            continue
        if np.array_equal(values, array):
            return _PAYLOAD, number
    return None


def _whole(column: pa.Array) -> Whole | None:
    """Returns the numbers of a column of long whole numbers or times without nulls."""
    if column.null_count or not (
        pa.types.is_int64(column.type) or pa.types.is_timestamp(column.type)
    ):
        return None
    values: Whole = column.view(pa.int64()).to_numpy()
    return values
