"""An operator that keeps rows and is no join, in a worker: lines in, lines out.

lines    rows, and what stands among them, each with its place in the order
blobs    all lines of a play, in one bucket
state    the rows that are kept, and what is known of them
"""

from __future__ import annotations

import json
import pickle
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from dovetail.kernels.arrays.blobs import read_batch, write_batch
from dovetail.kernels.arrays.names import TURN, LineKind
from dovetail.kernels.arrival.arrival import in_order
from dovetail.kernels.firing import (
    CAUSE,
    KIND,
    NOW,
    Kept,
    Queues,
    Windows,
    advance,
)
from dovetail.kernels.settings import FORMAT

Batches = Iterator[pa.RecordBatch]
LINE_DDL, RESULT_DDL = "bucket int, blob binary", "blob binary"
_ROWS, _KNOWN = 1, 2
_OWN = (int(LineKind.ROW), int(LineKind.MARK))
"""Lines that the operator itself takes and gives; others go by."""


class Shelf(Protocol):
    """What keeps the state of a bucket."""

    def directory(self) -> bytes:
        """Returns the directory, empty where there is none yet."""

    def keep_directory(self, data: bytes) -> None:
        """Keeps the directory."""

    def get(self, number: int) -> bytes:
        """Returns a blob."""

    def put(self, number: int, data: bytes) -> None:
        """Keeps a blob."""


@dataclass(frozen=True, slots=True)
class Stage:
    """An operator, and what of its lines is not the rows' own.

    Lines stand in the order of the columns `place`. `riding` are those that go along:
    a line that comes out has them from the one that has let it out.
    """

    known: Windows | Queues
    place: tuple[str, ...]
    riding: tuple[str, ...]


def make_lines(names: tuple[str, ...], scope: str) -> Callable[[Batches], Batches]:
    """Returns the function for `mapInArrow` that writes lines as blobs.

    Of the column `scope` each number is a bucket; without one all lines are in one.
    """

    def lines(batches: Batches) -> Batches:
        for batch in batches:
            whole = batch.rename_columns(list(names))
            for number in whole.column(scope).unique().to_pylist() if scope else [0]:
                own = whole
                if scope:
                    own = whole.filter(pc.equal(whole.column(scope), number))
                blob = pa.array([write_batch(own)], pa.binary())
                bucket = pa.array([number], pa.int32())
                yield pa.RecordBatch.from_arrays([bucket, blob], ["bucket", "blob"])

    return lines


def make_rows(count: int) -> Callable[[Batches], Batches]:
    """Returns the function for `mapInArrow` that reads so many columns of blobs."""
    names = [f"c{number}" for number in range(count)]

    def rows(batches: Batches) -> Batches:
        for batch in batches:
            for blob in batch.column(0).to_pylist():
                yield read_batch(blob).rename_columns(names)

    return rows


def run(
    stage: Stage, shelf: Shelf, rows: Iterator[pd.DataFrame]
) -> Iterator[pd.DataFrame]:
    """Gives what comes out of the lines of a bucket, and keeps the rest."""
    # Rows of one place are of one task, in their order there: sorting keeps that.
    blobs = [read_batch(blob) for frame in rows for blob in frame["blob"]]
    table = pa.Table.from_batches(blobs).combine_chunks()
    order = pc.sort_indices(table, [(name, "ascending") for name in stage.place])
    (lines,) = table.take(order).combine_chunks().to_batches() or [blobs[0]]
    shown = lines.drop_columns(list(stage.riding))
    own = {*stage.riding} - {KIND, NOW}
    kept = _opened(stage, shelf, shown.schema)
    kept, found = advance(stage.known, kept, lines.drop_columns(sorted(own)))
    shelf.put(_ROWS, write_batch(kept.rows))
    shelf.put(_KNOWN, pickle.dumps(kept.saved))
    yield pd.DataFrame({"blob": [write_batch(_with_others(stage, lines, found))]})


def _opened(stage: Stage, shelf: Shelf, schema: pa.Schema) -> Kept:
    """Returns what is kept, which must be of the same operator."""
    # As that of a join it says what it is of; its identity says that it is none.
    now = {"format": FORMAT, "identity": "", "buckets": 0, "fingerprint": _text(stage)}
    known = shelf.directory()
    if not known:
        shelf.keep_directory(json.dumps(now).encode())
        return Kept(pa.RecordBatch.from_pylist([], schema))
    rows = read_batch(shelf.get(_ROWS))
    if json.loads(known) != now or not rows.schema.equals(schema):
        told = "the checkpoint is of another program: an operator that keeps rows was"
        raise ValueError(
            f"{told} {json.loads(known)['fingerprint']}, and is {_text(stage)}"
        )
    return Kept(rows, pickle.loads(shelf.get(_KNOWN)))  # noqa: S301 - our own state


def _text(stage: Stage) -> str:
    """Returns an operator in words that are the same in each process."""
    return repr(stage.known)


def _with_others(
    stage: Stage, lines: pa.RecordBatch, found: pa.RecordBatch
) -> pa.RecordBatch:
    """Returns what comes out as lines again, among those that have gone by."""
    kinds = lines.column(KIND)
    others = pc.indices_nonzero(pc.invert(pc.is_in(kinds, pa.array(_OWN, pa.int32()))))
    causes = np.concatenate(
        (found.column(CAUSE).to_numpy(), others.to_numpy().astype(np.int64))
    )
    order = np.argsort(causes, kind="stable")
    columns = {
        name: _with_nulls(found.column(name), len(others)).take(pa.array(order))
        for name in found.schema.names
        if name not in {CAUSE, KIND}
    }
    said = [*found.column(KIND).to_pylist(), *kinds.take(others).to_pylist()]
    columns |= {
        name: lines.column(name).take(pa.array(causes[order])) for name in stage.riding
    }
    columns[KIND] = pa.array(said, pa.int32()).take(pa.array(order))
    # Several results of one cause have its turn: behind it goes which one this is.
    if TURN in stage.riding:
        turns = in_order(np.arange(len(order)))
        columns[TURN] = pc.binary_join_element_wise(columns[TURN], turns, b"")
    return pa.RecordBatch.from_pydict(columns)


def _with_nulls(column: pa.Array, count: int) -> pa.Array:
    """Returns a column with so many nulls behind it."""
    return pa.concat_arrays([column, pa.nulls(count, column.type)])
