"""An operator that keeps rows and is no join, in a worker: lines in, lines out.

lines    rows, and what stands among them, each with its place in the order
blobs    all lines of a play, in one bucket, or rows in the buckets of their keys
state    the rows that are kept, and what is known of them
"""

from __future__ import annotations

import gc
import json
import pickle
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import Row

from dovetail.engines.spark_stream.worker.bucket import as_blobs
from dovetail.engines.spark_stream.worker.operator import SmallShelf, StateShelf
from dovetail.kernels.arrays.blobs import read_batch, write_batch
from dovetail.kernels.arrays.names import TURN, LineKind, reserved
from dovetail.kernels.arrays.rows import Whole, take_payload
from dovetail.kernels.arrival.causes import in_order as as_turns
from dovetail.kernels.chunks import Shelf
from dovetail.kernels.code import Coding, carry_out
from dovetail.kernels.keeping.lines import CAUSE, KIND, NOW, ORDER
from dovetail.kernels.keeping.memory import Memory
from dovetail.kernels.keeping.operator import Kept, advance
from dovetail.kernels.keeping.queues import Queues
from dovetail.kernels.keeping.windows import Windows
from dovetail.kernels.row_order import (
    CAME,
    GOING_BY,
    INPUT,
    NUMBER,
    RowOrder,
    Waiting,
    begun,
    between_tasks,
    in_order,
)
from dovetail.kernels.settings import FORMAT

Batches = Iterator[pa.RecordBatch]
LINE_DDL, RESULT_DDL = "bucket int, blob binary", "blob binary"
BUCKET = reserved("bucket")
"""The column with the number of the bucket that a row goes to, where there are some."""
_ROWS, _KNOWN, _WAITING, _BOUNDS, _ENDED = 1, 2, 3, 4, 5
_PIECES = 16
_PACKED_ROWS = 1 << 18
"""So many rows of a task are spread over buckets at once."""
_OWN = (int(LineKind.ROW), int(LineKind.MARK))
"""Lines that the operator itself takes and gives; others go by."""


@dataclass(frozen=True, slots=True)
class Stage:
    """An operator, and what of its lines is not the rows' own.

    Lines stand in the order of the columns `place`. `riding` are those that go along:
    a line that comes out has them from the one that has let it out. Where there is an
    `order` rows wait for it first, and go on under the stage's own `name`; an operator
    there may be none.
    """

    known: Windows | Queues | Memory | Coding | None
    place: tuple[str, ...]
    riding: tuple[str, ...]
    order: RowOrder | None = None
    name: str = ""
    ends: int = 1
    """How many inputs run together there: it ends with the last of them."""
    buckets: int = 1
    """Over how many buckets its rows are spread."""


def make_lines(names: tuple[str, ...], scope: str) -> Callable[[Batches], Batches]:
    """Returns the function for `mapInArrow` that writes lines as blobs.

    Of the column `scope` each number is a bucket; without one all lines are in one.
    """

    def lines(batches: Batches) -> Batches:
        for batch in batches:
            # Whether Spark knows that a column is never null differs by the batch.
            whole = pa.RecordBatch.from_arrays(batch.columns, names=list(names))
            for number in whole.column(scope).unique().to_pylist() if scope else [0]:
                own = whole
                if scope:
                    own = whole.filter(pc.equal(whole.column(scope), number))
                blob = pa.array([write_batch(own)], pa.binary())
                bucket = pa.array([number], pa.int32())
                yield pa.RecordBatch.from_arrays([bucket, blob], ["bucket", "blob"])

    return lines


def make_spread_lines(
    names: tuple[str, ...], order: RowOrder, labels: tuple[int, ...]
) -> Callable[[Batches], Batches]:
    """Returns the function for `mapInArrow` that writes lines for several buckets.

    A row goes into its own, by BUCKET; what is said of the time goes into all.
    """

    def lines(batches: Batches) -> Batches:
        for some in _together(batches):
            whole = [pa.RecordBatch.from_arrays(it.columns, list(names)) for it in some]
            rows, late, for_all = between_tasks(order, pa.concat_batches(whole))
            numbers = rows.column(BUCKET).to_numpy()
            # Stable: rows of a bucket stay as they have come.
            by_bucket = np.argsort(numbers, kind="stable")
            rows = take_payload(rows, by_bucket)
            edges = np.searchsorted(numbers[by_bucket], np.arange(len(labels) + 1))
            blobs = []
            for number, (start, stop) in enumerate(pairwise(edges.tolist())):
                # Whichever bucket has late rows tells of them.
                beside = [for_all] if number else [for_all, late]
                own = pa.concat_batches([rows.slice(start, stop - start), *beside])
                blobs.append(write_batch(own.drop_columns([BUCKET])))
            columns = pa.array(labels, pa.int32()), pa.array(blobs, pa.binary())
            yield pa.RecordBatch.from_arrays([*columns], ["bucket", "blob"])

    return lines


def _together(batches: Batches) -> Iterator[list[pa.RecordBatch]]:
    """Yields batches together that have many rows."""
    some: list[pa.RecordBatch] = []
    for batch in batches:
        some.append(batch)
        if sum(one.num_rows for one in some) >= _PACKED_ROWS:
            yield some
            some = []
    if some:
        yield some


def make_rows(names: tuple[str, ...]) -> Callable[[Batches], Batches]:
    """Returns the function for `mapInArrow` that reads such columns of blobs."""

    def rows(batches: Batches) -> Batches:
        for batch in batches:
            for blob in batch.column(0).to_pylist():
                lines = read_batch(blob).select(list(names))
                yield lines.rename_columns([f"c{n}" for n in range(len(names))])

    return rows


def run(stage: Stage, state: StateShelf, rows: Iterator[Row]) -> Iterator[Row]:
    """Gives what comes out of the lines of a bucket, and keeps the rest."""
    shelf = SmallShelf(state, state)
    # Rows of one place are of one task, in their order there: sorting keeps that.
    blobs = [read_batch(row["blob"]) for row in rows]
    table = pa.Table.from_batches(blobs).combine_chunks()
    order = pc.sort_indices(table, [(name, "ascending") for name in stage.place])
    (lines,) = table.take(order).combine_chunks().to_batches() or [blobs[0]]
    # As that of a join it says what it is of; its identity says that it is none.
    text = f"{stage.known!r} {stage.order!r}" if stage.order else repr(stage.known)
    spread = {"identity": "", "buckets": stage.buckets}
    now = {"format": FORMAT, **spread, "fingerprint": text}
    directory = shelf.directory()
    is_new = not directory
    if not is_new and json.loads(directory) != now:
        raise _of_another(json.loads(directory)["fingerprint"], text)
    # First into row time: an operator there must see its rows in that order.
    if stage.order is not None:
        lines = _in_row_time(stage, _Waits(shelf, stage.order, is_new), lines)
    if stage.ends > 1:
        lines = _as_one(stage, shelf, lines, is_new=is_new)
    if stage.known is not None:
        keeps = _Keeps(shelf, stage.known, is_new)
        lines = _operated(stage, keeps, lines)
    # Last: it also says how what is kept lies there.
    shelf.keep_directory(json.dumps(now).encode())
    # Without a row the columns alone go on.
    given = as_blobs([lines]) if lines.num_rows else iter([write_batch(lines)])
    line = Row("blob")
    yield from map(line, given)


def _as_one(
    stage: Stage, shelf: Shelf, lines: pa.RecordBatch, *, is_new: bool
) -> pa.RecordBatch:
    """Returns the lines without the ends of inputs but for that of the last one."""
    is_end = pc.equal(lines.column(KIND), int(LineKind.FINISH))
    ends = pc.indices_nonzero(is_end).to_pylist()
    # Where all end at once nobody asks how many have ended before.
    before = (
        0 if is_new or len(ends) in {0, stage.ends} else int(bytes(shelf.get(_ENDED)))
    )
    if is_new or ends:
        shelf.put(_ENDED, str(before + len(ends)).encode())
    last = ends[-1:] if before + len(ends) == stage.ends else []
    stays = [number in last for number in range(lines.num_rows)]
    return lines.filter(pc.or_(pc.invert(is_end), pa.array(stays, pa.bool_())))


def _of_another(was: object, now: object) -> ValueError:
    """Returns that what is kept is of another operator."""
    told = "the checkpoint is of another program: an operator that keeps rows"
    return ValueError(f"{told} was {was}, and is {now}")


def _kept_rows(shelf: Shelf, number: int, schema: pa.Schema) -> pa.RecordBatch:
    """Returns rows that are kept, which must have the columns that rows have now.

    But what they were as they came: a sink of late rows may be there since, or no more.
    """
    rows = read_batch(shelf.get(number))
    if CAME in rows.schema.names and CAME not in schema.names:
        rows = rows.drop_columns([CAME])
    elif CAME in schema.names and CAME not in rows.schema.names:
        nothing = pa.nulls(rows.num_rows, schema.field(CAME).type)
        at = schema.get_field_index(CAME)
        rows = rows.add_column(at, schema.field(CAME), nothing)
    if not rows.schema.equals(schema):
        raise _of_another(f"of {rows.schema.names}", f"of {schema.names}")
    return rows


@dataclass(frozen=True, slots=True)
class _Waits:
    """The rows that wait for their turn in row time, on a shelf."""

    shelf: Shelf
    order: RowOrder
    is_new: bool

    def read(self, schema: pa.Schema) -> Waiting:
        """Returns what waits."""
        if self.is_new:
            return begun(self.order, schema)
        rows = _kept_rows(self.shelf, _WAITING, schema)
        bounds = json.loads(bytes(self.shelf.get(_BOUNDS)))
        # Under no input's name: earlier versions have written bounds alone.
        silent = bounds.pop("", {})
        return Waiting(rows, bounds, silent)

    def write(self, waiting: Waiting) -> None:
        """Keeps what waits."""
        self.shelf.put(_WAITING, write_batch(waiting.rows))
        known = {**waiting.bounds, "": dict(waiting.silent)}
        self.shelf.put(_BOUNDS, json.dumps(known).encode())


def _in_row_time(stage: Stage, waits: _Waits, lines: pa.RecordBatch) -> pa.RecordBatch:
    """Returns the lines that go on, in the order of row time, and a bound behind them.

    They are the stage's own, and stand among others in that order.
    """
    # The end of an input stands behind its rows, whichever task was first.
    is_end = lines.column(KIND).to_numpy() == LineKind.FINISH
    parts = [take_payload(lines, ~is_end), take_payload(lines, is_end)]
    lines = pa.concat_batches(parts) if is_end.any() else lines
    # What waits is kept with all columns of ours: it goes on as a line like others.
    waiting = waits.read(lines.schema)
    waiting, ready = in_order(waits.order, waiting, lines)
    waits.write(waiting)
    count = ready.num_rows
    # Rows that were late before stay those of their step.
    goes_by = pc.is_in(ready.column(KIND), pa.array(GOING_BY, pa.int32()))
    own = {
        INPUT: pc.if_else(
            goes_by,
            pc.fill_null(ready.column(INPUT), stage.name),
            pa.scalar(stage.name, pa.string()),
        ),
        NUMBER: pa.array(np.arange(count)),
    }
    for name, column in own.items():
        ready = ready.set_column(ready.schema.get_field_index(name), name, column)
    return ready if stage.known is not None else ready.drop_columns([NOW])


@dataclass(frozen=True, slots=True)
class _Keeps:
    """The rows that an operator keeps, on a shelf."""

    shelf: Shelf
    known: Windows | Queues | Memory | Coding
    is_new: bool

    def read(self, schema: pa.Schema) -> Kept:
        """Returns what is kept."""
        if self.is_new:
            nothing = pa.RecordBatch.from_pylist([], schema)
            return Kept(nothing, pieces=_Pieces(self.shelf))
        rows = _kept_rows(self.shelf, _ROWS, schema)
        saved = pickle.loads(self.shelf.get(_KNOWN))  # noqa: S301 - our own state
        return Kept(rows, saved, _Pieces(self.shelf))

    def write(self, kept: Kept) -> None:
        """Keeps what is kept."""
        self.shelf.put(_ROWS, write_batch(kept.rows))
        self.shelf.put(_KNOWN, pickle.dumps(kept.saved))


@dataclass(frozen=True, slots=True)
class _Pieces:
    """Rows that lie on a shelf in pieces, behind all other blobs."""

    shelf: Shelf

    def read(self, number: int) -> pa.RecordBatch:
        """Returns a piece."""
        return read_batch(self.shelf.get(_PIECES + number))

    def keep(self, number: int, rows: pa.RecordBatch) -> None:
        """Keeps a piece."""
        self.shelf.put(_PIECES + number, write_batch(rows))

    def drop(self, number: int) -> None:
        """Forgets a piece."""
        self.shelf.drop(_PIECES + number)


def _as_places(numbers: pa.Array) -> Whole:
    """Returns places of lines, of which there may be none."""
    places: Whole = numbers.to_numpy().astype(np.int64)
    return places


def _heard(lines: pa.RecordBatch) -> tuple[Whole, pa.RecordBatch]:
    """Returns the places of lines that say something to an operator, and these.

    A bound that says no time does not: no window must go back for it.
    """
    now = lines.column(NOW)
    is_bound = pc.equal(lines.column(KIND), int(LineKind.BOUND))
    is_silent = pc.and_(is_bound, pc.is_null(now))
    at = lines.schema.get_field_index(NOW)
    # What was there from the start came before all time.
    lines = lines.set_column(at, NOW, pc.fill_null(now, 0))
    heard = _as_places(pc.indices_nonzero(pc.invert(is_silent)))
    return heard, take_payload(lines, heard)


def _operated(stage: Stage, keeps: _Keeps, lines: pa.RecordBatch) -> pa.RecordBatch:
    """Returns the lines that an operator makes of others."""
    beside = {*stage.riding, KIND, NOW}
    shown = [name for name in lines.schema.names if name not in beside]
    heard, own = _heard(lines.select([*shown, KIND, NOW]))
    # Rows make many objects and no rings, for which Python would look half of the time.
    gc.disable()
    try:
        kept = keeps.read(lines.select(shown).schema)
        if isinstance(keeps.known, Coding):
            saved, found = carry_out(keeps.known, kept.saved, own)
            kept = Kept(kept.rows, saved)
        else:
            kept, found = advance(keeps.known, kept, own)
        keeps.write(kept)
    finally:
        gc.enable()
    # What comes out are lines again: each stands behind the one that has let it out,
    # and those that have gone by stay where they were.
    kinds = lines.column(KIND)
    others = pc.indices_nonzero(pc.invert(pc.is_in(kinds, pa.array(_OWN, pa.int32()))))
    causes = np.concatenate(
        (heard[_as_places(found.column(CAUSE))], _as_places(others))
    )
    order = np.argsort(causes, kind="stable")
    columns = {}
    for name in [one for one in found.schema.names if one not in {CAUSE, KIND, ORDER}]:
        own = found.column(name)
        # Lines that have gone by bring no row: they have nulls in its columns.
        whole = pa.concat_arrays([own, pa.nulls(len(others), own.type)])
        columns[name] = whole.take(pa.array(order))
    said = [*found.column(KIND).to_pylist(), *kinds.take(others).to_pylist()]
    columns |= {
        name: lines.column(name).take(pa.array(causes[order])) for name in stage.riding
    }
    columns[KIND] = pa.array(said, pa.int32()).take(pa.array(order))
    # Several results of one cause have its turn: behind it goes which one this is.
    if TURN in stage.riding:
        numbers = np.arange(len(order))
        if isinstance(keeps.known, Coding):
            # Among what all ports give: each of them is carried out by itself.
            given = found.column(ORDER).to_numpy()
            numbers = np.concatenate((given, np.zeros(len(others), np.int64)))[order]
        turns = as_turns(numbers)
        columns[TURN] = pc.binary_join_element_wise(columns[TURN], turns, b"")
    return pa.RecordBatch.from_pydict(columns)
