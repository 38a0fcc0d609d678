"""The operator: what Spark calls for each bucket of a batch, with its state store.

Each look into the store is a round trip to the JVM, and under load a long one, whatever
it brings. So a bucket's small blobs lie beside its directory:

    directory   1   the directory, and blobs 7, 9, 12      read and written every batch
    blobs       n   blob 3 .. blob 8                       each when it is asked for

Lines go in and out as Spark's rows. There are few, however many rows their blobs hold;
frames of pandas, which Spark has here too, would cost a bucket more than its step.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import pyarrow as pa
from pyspark.sql import Row
from pyspark.sql.streaming.stateful_processor import (
    StatefulProcessor,
    StatefulProcessorHandle,
)
from pyspark.sql.types import ArrayType, BinaryType, LongType, StructType

from dovetail.bind.travel import Carried
from dovetail.engines.spark_stream.worker.bucket import (
    RESULT_NAMES,
    Line,
    read_delivery,
    run_batch,
    run_lives,
)
from dovetail.engines.spark_stream.worker.copies import CopiedShelf, copies_here
from dovetail.kernels.chunks import Shelf
from dovetail.kernels.lives import seen_schema
from dovetail.kernels.settings import JoinSettings
from dovetail.kernels.store import Store

PIECE_TYPES = StructType().add("number", "long").add("piece", "integer")
BLOB_TYPES = StructType().add("data", "binary")
HEAD_TYPES = (
    StructType()
    .add("data", "binary")
    .add("numbers", ArrayType(LongType()))
    .add("small", ArrayType(BinaryType()))
    .add("cut", ArrayType(LongType()))
    .add("pieces", ArrayType(LongType()))
)
"""Types, not their DDL: for that each task would ask the JVM, twice."""
SMALL_BYTES = 1 << 14
"""So many bytes of blobs lie beside a directory, and are written with it."""
PIECE_BYTES = 1 << 20
"""Longer blobs are cut: what Java is told it has on its heap several times."""


@dataclass(slots=True)
class StateShelf:
    """A bucket's blobs in Spark's state store; `small` ones go with the directory.

    That also says how many `pieces` there are of a blob, if several.
    """

    head: Any
    blobs: Any
    small: dict[int, bytes] = field(default_factory=dict)
    pieces: dict[int, int] = field(default_factory=dict)

    def directory(self) -> bytes:
        """Returns the directory, empty where there is none yet."""
        data, numbers, small, cut, pieces = self.head.get() or (b"", [], [], [], [])
        self.small = dict(zip(numbers, map(bytes, small), strict=True))
        self.pieces = dict(zip(cut, pieces, strict=True))
        return bytes(data)

    def keep_directory(self, data: bytes) -> None:
        """Keeps the directory."""
        small, cut = self.small, self.pieces
        self.head.update((data, [*small], [*small.values()], [*cut], [*cut.values()]))

    def get(self, number: int) -> bytes:
        """Returns a blob."""
        pieces = range(self.pieces.get(number, 1))
        return b"".join(self.blobs.getValue((number, one))[0] for one in pieces)

    def put(self, number: int, data: bytes) -> None:
        """Keeps a blob; how many pieces it has is kept with the directory."""
        starts = range(0, len(data) or 1, PIECE_BYTES)
        for piece, start in enumerate(starts):
            part = data[start : start + PIECE_BYTES]
            self.blobs.updateValue((number, piece), (part,))
        # What lay there under the same number may have had more of them.
        for piece in range(len(starts), self.pieces.pop(number, 1)):
            self.blobs.removeKey((number, piece))
        if len(starts) > 1:
            self.pieces[number] = len(starts)

    def drop(self, number: int) -> None:
        """Forgets a blob."""
        for piece in range(self.pieces.pop(number, 1)):
            self.blobs.removeKey((number, piece))


@dataclass(frozen=True, slots=True)
class SmallShelf:
    """A bucket's blobs, the small ones where its directory is, others on a shelf.

    The directory is read first and kept last.
    """

    state: StateShelf
    shelf: Shelf

    def directory(self) -> bytes:
        """Returns the directory, empty where there is none yet."""
        return self.state.directory()

    def keep_directory(self, data: bytes) -> None:
        """Keeps the directory, and all small blobs."""
        self.state.keep_directory(data)

    def get(self, number: int) -> bytes | pa.Buffer:
        """Returns a blob."""
        small = self.state.small
        return small[number] if number in small else self.shelf.get(number)

    def put(self, number: int, data: bytes) -> None:
        """Keeps a blob."""
        small = self.state.small
        # One that has become large lies on the shelf from now on.
        small.pop(number, None)
        # They are all written again in every batch, so they stay few.
        if sum(map(len, small.values())) + len(data) <= SMALL_BYTES:
            small[number] = data
        else:
            self.shelf.put(number, data)

    def drop(self, number: int) -> None:
        """Forgets a blob."""
        if self.state.small.pop(number, None) is None:
            self.shelf.drop(number)


class JoinOperator(StatefulProcessor):
    """Runs one step of the join for each bucket of a batch.

    The process that sets up a query asks it for the state's variables and no more: so
    no method names what a step needs, lest it be loaded there.
    """

    def __init__(self, run: Callable[..., Iterator[Any]]) -> None:
        """Keeps what is called with the shelf and the lines of a bucket."""
        self.run = run

    def init(self, handle: StatefulProcessorHandle) -> None:
        """Opens the bucket's two state variables."""
        self.shelf = StateShelf(
            handle.getValueState("directory", HEAD_TYPES),
            handle.getMapState("blobs", PIECE_TYPES, BLOB_TYPES),
        )

    def handleInputRows(  # noqa: N802 - Spark's name for it
        self,
        key: Any,  # noqa: ANN401, ARG002 - the bucket; its state is bound to it
        rows: Any,  # noqa: ANN401 - what `run` takes: rows of Spark, or pandas frames
        timerValues: Any,  # noqa: ANN401, ARG002, N803 - Spark's name; never read
    ) -> Iterator[Any]:
        """Gives what comes of the lines of one bucket."""
        yield from self.run(self.shelf, rows)

    def close(self) -> None:
        """Has nothing to close."""


def make_operator(
    settings: JoinSettings, schemas: tuple[pa.Schema, pa.Schema]
) -> JoinOperator:
    """Returns the operator of a join whose sides have these payloads."""
    return JoinOperator(Carried(partial(results, settings, schemas)))


Join = tuple[JoinSettings, tuple[pa.Schema, pa.Schema]]
"""What a bucket must know: the join, and its sides' payloads."""


def make_lives_operator(finding: Mapping[int, Join]) -> JoinOperator:
    """Returns the operator in front of a join's: in these buckets it finds lives.

    Lines for all others go by as they are.
    """
    own: dict[int, Join] = {}
    for label, (settings, (left, right)) in finding.items():
        own[label] = settings.of_lives(), (seen_schema(left), seen_schema(right))
    return JoinOperator(Carried(partial(told_lines, own)))


def results(
    settings: JoinSettings,
    schemas: tuple[pa.Schema, pa.Schema],
    state: StateShelf,
    rows: Iterator[Row],
) -> Iterator[Row]:
    """Gives the results of one bucket and what it counted."""
    delivery = read_delivery(map(Line._make, rows), schemas)
    ran = run_batch(settings, _store(settings, schemas, state), delivery)
    line = Row(*RESULT_NAMES)
    for told in ran.lines():
        yield line(*told)


def told_lines(
    finding: Mapping[int, Join], state: StateShelf, rows: Iterator[Row]
) -> Iterator[Row]:
    """Gives the lines for buckets of joins that one bucket lets by, or writes."""
    rest = iter(rows)
    # Spark calls for no bucket without a line, and for one at a time.
    first = next(rest)
    every = itertools.chain([first], rest)
    own = finding.get(first["bucket"])
    if own is None:
        yield from every
        return
    settings, schemas = own
    delivery = read_delivery(map(Line._make, every), schemas)
    line = Row(*Line._fields)
    for told in run_lives(settings, _store(settings, schemas, state), delivery):
        yield line(*told)


def _store(
    settings: JoinSettings, schemas: tuple[pa.Schema, pa.Schema], state: StateShelf
) -> Store:
    """Returns the state of a bucket, of which copies lie on this machine."""
    copies = copies_here()
    shelf = SmallShelf(state, CopiedShelf(state, copies) if copies else state)
    return Store(settings, schemas, shelf)
