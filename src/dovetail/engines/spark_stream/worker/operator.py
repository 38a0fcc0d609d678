"""The operator: one bucket's lines in, blobs of results out, state in Spark's store."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import pandas as pd
import pyarrow as pa
from pyspark import cloudpickle
from pyspark.sql.streaming.stateful_processor import (
    StatefulProcessor,
    StatefulProcessorHandle,
)

from dovetail.engines.spark_stream.worker.parcels import read_delivery
from dovetail.kernels.arrays.blobs import write_batch
from dovetail.kernels.pairs.results import code
from dovetail.kernels.settings import JoinSettings
from dovetail.kernels.step import Stepped, step
from dovetail.kernels.store import Store
from dovetail.spec.inputs import Outlet

BLOB_BYTES = 16 << 20
RESULT_DDL = (
    "blob binary, came bigint, matched bigint, unmatched bigint, late bigint, "
    "alive bigint, waiting bigint, written bigint"
)


@dataclass(slots=True)
class StateShelf:
    """A bucket's blobs in Spark's state store."""

    head: Any
    blobs: Any

    def directory(self) -> bytes:
        """Returns the directory, empty where there is none yet."""
        found = self.head.get()
        return bytes(found[0]) if found else b""

    def keep_directory(self, data: bytes) -> None:
        """Keeps the directory."""
        self.head.update((data,))

    def get(self, number: int) -> bytes:
        """Returns a blob."""
        return bytes(self.blobs.getValue((number,))[0])

    def put(self, number: int, data: bytes) -> None:
        """Keeps a blob."""
        self.blobs.updateValue((number,), (data,))

    def drop(self, number: int) -> None:
        """Forgets a blob."""
        self.blobs.removeKey((number,))


class JoinOperator(StatefulProcessor):
    """Runs one step of the join for each bucket of a batch."""

    def __init__(
        self, settings: JoinSettings, schemas: tuple[pa.Schema, pa.Schema]
    ) -> None:
        """Keeps what the kernels know of the join, and the payloads' columns."""
        self.settings = settings
        self.schemas = schemas

    def init(self, handle: StatefulProcessorHandle) -> None:
        """Opens the bucket's two state variables."""
        head = handle.getValueState("directory", "data binary")
        blobs = handle.getMapState("blobs", "number bigint", "data binary")
        self.shelf = StateShelf(head, blobs)

    def handleInputRows(  # noqa: N802 - Spark's name for it
        self,
        key: Any,  # noqa: ANN401, ARG002 - the bucket; its state is bound to it
        rows: Any,  # noqa: ANN401 - an iterator of pandas frames
        timerValues: Any,  # noqa: ANN401, ARG002, N803 - Spark's name; never read
    ) -> Iterator[pd.DataFrame]:
        """Gives the results of one bucket and what it counted."""
        delivery = read_delivery(rows, self.schemas)
        store = Store(self.settings, self.schemas, self.shelf)
        stepped = step(self.settings, store.load(), delivery.parcels, delivery.now)
        written = store.save(stepped)
        yield _results(stepped, delivery.rows, written)

    def close(self) -> None:
        """Has nothing to close."""

    def __reduce__(self) -> tuple[Callable[[bytes], JoinOperator], tuple[bytes]]:
        """Travels compressed, code and all.

        Spark sends what has a megabyte or more as a broadcast, which the process that
        sets up a stateful operator does not load.
        """
        content = JoinOperator, self.settings, self.schemas
        made = cloudpickle.dumps(content)  # type: ignore[no-untyped-call]
        return _arrived, (zlib.compress(made),)


def _arrived(data: bytes) -> JoinOperator:
    """Returns an operator where it has travelled to."""
    kind, settings, schemas = cloudpickle.loads(zlib.decompress(data))
    operator: JoinOperator = kind(settings, schemas)
    return operator


def _results(stepped: Stepped, came: int, written: int) -> pd.DataFrame:
    """Returns the blobs, with what was counted beside the first of them."""
    blobs: list[bytes | None] = [
        write_batch(part) for batch in stepped.out for part in _sliced(batch)
    ]
    blobs = blobs or [None]
    counted = (came, *_counts(stepped), written)
    names = [part.split()[0] for part in RESULT_DDL.split(", ")]
    zeros = (0,) * len(counted)
    lines = [(blob, *(zeros if n else counted)) for n, blob in enumerate(blobs)]
    return pd.DataFrame(lines, columns=names)


def _counts(stepped: Stepped) -> tuple[int, int, int, int, int]:
    """Returns how many rows matched, stayed alone, were late, are alive, wait."""
    left_by = {
        outlet: sum(_count(batch, outlet) for batch in stepped.out) for outlet in Outlet
    }
    unmatched = left_by[Outlet.LEFT_UNMATCHED] + left_by[Outlet.RIGHT_UNMATCHED]
    waiting = sum(len(rows) for rows in stepped.present.waiting)
    alive = sum(int(kept.sum()) for kept in stepped.kept) + waiting
    return left_by[Outlet.MATCHED], unmatched, left_by[Outlet.LATE], alive, waiting


def _count(batch: pa.RecordBatch, outlet: Outlet) -> int:
    """Returns how many rows of a batch leave by an outlet."""
    leaving = batch.column("outlet").to_numpy(zero_copy_only=False)
    return int((leaving == code(outlet)).sum())


def _sliced(batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
    """Gives a batch in slices of about 16 MB."""
    each = max(1, int(BLOB_BYTES // (batch.nbytes / batch.num_rows + 1)))
    for start in range(0, batch.num_rows, each):
        yield batch.slice(start, each)
