"""The operator: what Spark calls for each bucket of a batch, with its state store."""

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

from dovetail.engines.spark_stream.worker.bucket import (
    RESULT_NAMES,
    Line,
    read_delivery,
    run_batch,
)
from dovetail.engines.spark_stream.worker.copies import CopiedShelf, copies_here
from dovetail.kernels.chunks import Shelf
from dovetail.kernels.settings import JoinSettings
from dovetail.kernels.store import Store


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
        shelf, copies = StateShelf(head, blobs), copies_here()
        self.shelf: Shelf = CopiedShelf(shelf, copies) if copies else shelf

    def handleInputRows(  # noqa: N802 - Spark's name for it
        self,
        key: Any,  # noqa: ANN401, ARG002 - the bucket; its state is bound to it
        rows: Any,  # noqa: ANN401 - an iterator of pandas frames
        timerValues: Any,  # noqa: ANN401, ARG002, N803 - Spark's name; never read
    ) -> Iterator[pd.DataFrame]:
        """Gives the results of one bucket and what it counted."""
        lines = (
            Line._make(line)
            for frame in rows
            for line in frame.itertuples(index=False, name=None)
        )
        store = Store(self.settings, self.schemas, self.shelf)
        delivery = read_delivery(lines, self.schemas)
        ran = run_batch(self.settings, store, delivery)
        yield pd.DataFrame(ran.lines(), columns=RESULT_NAMES)

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
