"""Unpack: blobs of results in, plain typed columns out, inside `mapInArrow`."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pyarrow as pa

from dovetail.kernels.arrays.blobs import read_batch

Batches = Iterator[pa.RecordBatch]


def make_unpack(schema: pa.Schema) -> Callable[[Batches], Batches]:
    """Returns the function for `mapInArrow`; Spark reads its columns by position."""

    def unpack(batches: Batches) -> Batches:
        for batch in batches:
            for blob in batch.column(0):
                if blob.is_valid:
                    found = read_batch(blob.as_buffer())
                    yield pa.RecordBatch.from_arrays(
                        [
                            column.cast(kind)
                            for column, kind in zip(
                                found.columns, schema.types, strict=True
                            )
                        ],
                        schema=schema,
                    )

    return unpack
