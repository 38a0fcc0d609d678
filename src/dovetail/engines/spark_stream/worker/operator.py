"""The operator: what Spark calls for each bucket of a batch, with its state store.

Each look into the store is a round trip to the JVM, and under load a long one, whatever
it brings. So a bucket's small blobs lie beside its directory, in one entry:

    0   the directory, and blobs 7, 9, 12       read and written every batch
    3   blob 3                                  when it is asked for
    8   blob 8

All are entries of one variable: for each there is Java makes and compiles code again in
every task of every batch.

Lines go in and out as Spark's rows. There are few, however many rows their blobs hold;
frames of pandas, which Spark has here too, would cost a bucket more than its step.
"""

from __future__ import annotations

import itertools
import json
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
from pyspark.sql.types import StructType

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
"""Types, not their DDL: for that each task would ask the JVM, twice."""
VARIABLE = "kept"
"""The name of the state's variable."""
DIRECTORY = 0
"""The number of a bucket's directory among its blobs, none of which has it.

It is the first of all in Spark's order, where whoever looks at a checkpoint finds it.
"""
_LENGTH = 4
SMALL_BYTES = 1 << 14
"""So many bytes of blobs lie beside a directory, and are written with it."""
PIECE_BYTES = 1 << 20
"""Longer blobs are cut: what Java is told it has on its heap several times."""


@dataclass(frozen=True, slots=True)
class Head:
    """A directory with what lies beside it: small blobs, and how long others are cut.

    It is written as the length of what says how long all is, that, and all.
    """

    directory: bytes = b""
    small: Mapping[int, bytes] = field(default_factory=dict)
    pieces: Mapping[int, int] = field(default_factory=dict)

    def written(self) -> bytes:
        """Returns it as bytes."""
        sizes = [[number, len(data)] for number, data in self.small.items()]
        told = [len(self.directory), sizes, [*self.pieces.items()]]
        said = json.dumps(told).encode()
        length = len(said).to_bytes(_LENGTH, "big")
        return b"".join((length, said, self.directory, *self.small.values()))

    @staticmethod
    def read(data: bytes) -> Head:
        """Returns what has been written so."""
        start = _LENGTH + int.from_bytes(data[:_LENGTH], "big")
        own, sizes, pieces = json.loads(data[_LENGTH:start])
        starts = itertools.accumulate(
            [own, *(size for _, size in sizes)], initial=start
        )
        parts = [data[first:past] for first, past in itertools.pairwise(starts)]
        numbers = (number for number, _ in sizes)
        return Head(parts[0], dict(zip(numbers, parts[1:], strict=True)), dict(pieces))


@dataclass(slots=True)
class StateShelf:
    """A bucket's blobs in Spark's state store; `small` ones go with the directory.

    That also says how many `pieces` there are of a blob, if several.
    """

    blobs: Any
    small: dict[int, bytes] = field(default_factory=dict)
    pieces: dict[int, int] = field(default_factory=dict)

    def directory(self) -> bytes:
        """Returns the directory, empty where there is none yet."""
        found = self.blobs.getValue((DIRECTORY, 0))
        head = Head.read(bytes(found[0])) if found else Head()
        self.small, self.pieces = dict(head.small), dict(head.pieces)
        return head.directory

    def keep_directory(self, data: bytes) -> None:
        """Keeps the directory."""
        head = Head(data, self.small, self.pieces)
        self.blobs.updateValue((DIRECTORY, 0), (head.written(),))

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
        """Opens the bucket's state."""
        self.shelf = StateShelf(handle.getMapState(VARIABLE, PIECE_TYPES, BLOB_TYPES))

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
