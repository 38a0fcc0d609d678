"""Relay: between two operators of one query, from lines of results to rows again.

    line of results                 rows for the select and the pack that follow
    blob of the join's rows   -->   ROW       each with its row time
    late rows in that blob    -->   PASSED    as a blob: no row of the next join
                              -->   LATE      or as rows, of the last join of a stream
    until 10:05               -->   BOUND     no row before 10:05 comes any more
    lives                     -->   ENDS      of lives that its rows hand on
    blob of a join inside     -->   PASSED    as it is

So what a join turns away reaches the end of the query through the joins around it: if
its results were read twice, Spark would run the join twice, with a state for each.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from dovetail.engines.spark_stream.worker.bucket import CHANGE, OUTLET, unpacked
from dovetail.kernels.arrays.blobs import read_batch, write_batch
from dovetail.kernels.arrays.names import TURN, LineKind, reserved
from dovetail.kernels.arrays.rows import MISSING
from dovetail.kernels.arrival.causes import turn_of_time
from dovetail.kernels.lifetimes.lives import BUCKET
from dovetail.kernels.pairs.results import code
from dovetail.spec.inputs import Change, Outlet

EVENT, MOMENT, SCOPE, JOIN, BLOB = (
    reserved(word) for word in ("event", "moment", "scope", "join", "blob")
)
RELAYED = pa.schema(
    [
        (EVENT, pa.int32()),
        (MOMENT, pa.int64()),
        (SCOPE, pa.int32()),
        (JOIN, pa.int32()),
        (BLOB, pa.binary()),
    ]
)
"""What stands behind the columns of results: what a line is, and what it passes on."""
Batches = Iterator[pa.RecordBatch]


@dataclass(frozen=True, slots=True)
class Marks:
    """Marks behind the rows of each cause, or those of one `port`.

    What time lets out of the join of a step no row has caused: no mark is behind it.
    """

    port: Outlet | None
    step: int

    def are_behind(self, rows: pa.RecordBatch) -> pa.Array:
        """Returns which rows have a mark behind all that are of their cause."""
        by_time = pc.starts_with(rows.column(TURN), pattern=turn_of_time(self.step))
        caused = pc.invert(by_time)
        if self.port is None:
            return caused
        return pc.and_(caused, pc.equal(rows.column(OUTLET), code(self.port)))


def make_relay(
    schema: pa.Schema,
    number: int,
    scopes: Mapping[int, int],
    *,
    marks: Marks | None = None,
    keys: tuple[str, ...] = (),
    tells_late: bool = False,
) -> Callable[[Batches], Batches]:
    """Returns the function for `mapInArrow` behind the operator of join `number`.

    `schema` is that of its results; `scopes` says whose a bucket is, by its label.
    Where somebody looks at `marks` they stand behind rows. The changes of a table go on
    as its rows, which replace each other by their `keys`. Late rows go on with their
    values where somebody behind `tells_late`.
    """

    def relay(batches: Batches) -> Batches:
        for batch in batches:
            lines = zip(*(column.to_pylist() for column in batch.columns), strict=True)
            for blob, join, bucket, until, lives in lines:
                scope = scopes[bucket]
                # Only the first line of a bucket says it. All buckets must, also where
                # it is the beginning: the least counts.
                if until != MISSING:
                    yield _Said(LineKind.BOUND, until, scope).alone(schema)
                if lives is not None:
                    yield _Said(LineKind.ENDS, None, scope, blob=lives).alone(schema)
                if blob is not None:
                    yield from lines_of(blob, join, bucket)

    def lines_of(blob: bytes, join: int, bucket: int) -> Batches:
        scope = scopes[bucket]
        if join:
            yield _Said(LineKind.PASSED, None, scope, join, blob).alone(schema)
            return
        # What leaves by itself has its place among the results of all joins at the end.
        rows = unpacked(blob, schema)
        is_late = pc.equal(rows.column(OUTLET), code(Outlet.LATE))
        late = rows.filter(is_late)
        if tells_late:
            yield _Said(LineKind.LATE, None, scope).of(late)
        else:
            yield from _packed(late, scope, number)
        own = from_bucket(rows.filter(pc.invert(is_late)), bucket)
        lines = _Said(LineKind.ROW, None, scope).of(own)
        yield _of_table(lines, keys) if keys else lines
        if marks and (marked := own.filter(marks.are_behind(own))).num_rows:
            yield _Said(LineKind.MARK, None, scope).of(_marks(marked))

    return relay


def make_late_rows(
    schema: pa.Schema, number: int, *, as_they_are: bool = False
) -> Callable[[Batches], Batches]:
    """Returns the function that takes the late rows of join `number` out of lines.

    A line is what it is, for whom it is passed on, and a blob. What is of nobody's, or
    of another join, goes by; of a late row, which has no line, the columns are there.
    Blobs are results of which some are late, or all rows are late `as_they_are`.
    """

    def late_of(blob: bytes) -> pa.RecordBatch:
        if as_they_are:
            return read_batch(blob)
        rows = unpacked(blob, schema)
        return rows.filter(pc.equal(rows.column(OUTLET), code(Outlet.LATE)))

    def late_rows(batches: Batches) -> Batches:
        for batch in batches:
            lines, joins, blobs = batch.columns
            is_own = pc.fill_null(pc.equal(joins, number), fill_value=False)
            others = lines.filter(pc.invert(is_own))
            nothing = [pa.nulls(len(others), kind) for kind in schema.types]
            names = [*schema.names, batch.schema.names[0]]
            yield pa.RecordBatch.from_arrays([*nothing, others], names)
            for blob in blobs.filter(is_own).to_pylist():
                late = late_of(blob)
                no_lines = pa.nulls(late.num_rows, lines.type)
                yield pa.RecordBatch.from_arrays([*late.columns, no_lines], names)

    return late_rows


def _packed(late: pa.RecordBatch, scope: int, join: int) -> Batches:
    """Yields late rows as a line that goes by whoever is behind, if there are any."""
    if late.num_rows:
        kept = _Said(LineKind.PASSED, None, scope, join, write_batch(late))
        yield kept.alone(late.schema)


def _of_table(lines: pa.RecordBatch, keys: tuple[str, ...]) -> pa.RecordBatch:
    """Returns changes as what comes to a table: rows, and deletes of their keys.

    The old row of an update goes where the new one has another key; else it is
    replaced, and nobody need be told of it.
    """
    changes = lines.column(CHANGE)
    # The new row of an update stands behind the old one, which is never the last.
    stays = pa.repeat(pa.scalar(value=True), lines.num_rows)
    for name in keys:
        own = lines.column(name)
        after = pa.concat_arrays([own.slice(1), own.slice(0, 1)])
        same = pc.fill_null(pc.equal(own, after), fill_value=False)
        both_null = pc.and_(own.is_null(), after.is_null())
        stays = pc.and_(stays, pc.or_(same, both_null))
    is_old = pc.equal(changes, code(Change.UPDATE_BEFORE))
    goes = pc.or_(is_old, pc.equal(changes, code(Change.DELETE)))
    kinds = pc.if_else(goes, int(LineKind.DELETE), int(LineKind.ROW))
    at = lines.schema.names.index(EVENT)
    told = lines.set_column(at, lines.schema.field(EVENT), kinds.cast(pa.int32()))
    return told.filter(pc.invert(pc.and_(is_old, stays)))


_TURN_OF_ROW = 8
"""So many bytes at the end of a turn are a row's own; those before are of its cause."""


def _marks(rows: pa.RecordBatch) -> pa.RecordBatch:
    """Returns a line for each cause of rows, which stands behind all of them."""
    turns = rows.column(TURN)
    causes = pc.binary_slice(turns, 0, -_TURN_OF_ROW)
    # Rows leave cause by cause, so the last one of each has another behind it.
    changes = pc.not_equal(causes.slice(1), causes.slice(0, len(causes) - 1))
    is_last = pa.concat_arrays([changes, pa.array([True])])
    # No row's own number is that high: the mark stands behind all of them.
    last = pa.scalar(b"\xff" * _TURN_OF_ROW)
    behind = pc.binary_join_element_wise(causes, last, b"")
    at = rows.schema.names.index(TURN)
    return rows.set_column(at, TURN, behind).filter(is_last)


def from_bucket(rows: pa.RecordBatch, bucket: int) -> pa.RecordBatch:
    """Returns rows that say which bucket they are from, where they hand on a life."""
    if BUCKET not in rows.schema.names:
        return rows
    own = pa.repeat(pa.scalar(bucket, pa.int64()), rows.num_rows)
    return rows.set_column(rows.schema.names.index(BUCKET), BUCKET, own)


@dataclass(frozen=True, slots=True)
class _Said:
    """What is said of lines: their kind, a bound, the scope, what is passed on."""

    kind: LineKind
    moment: int | None
    scope: int
    join: int = 0
    blob: bytes | None = None

    def alone(self, schema: pa.Schema) -> pa.RecordBatch:
        """Returns a line that brings no row."""
        nothing = [pa.nulls(1, kind) for kind in schema.types]
        return self.of(pa.RecordBatch.from_arrays(nothing, schema=schema))

    def of(self, rows: pa.RecordBatch) -> pa.RecordBatch:
        """Returns rows as lines of which this is said."""
        said = (int(self.kind), self.moment, self.scope, self.join, self.blob)
        columns = [
            pa.repeat(pa.scalar(value, kind), rows.num_rows)
            for value, kind in zip(said, RELAYED.types, strict=True)
        ]
        schema = pa.schema([*rows.schema, *RELAYED])
        return pa.RecordBatch.from_arrays([*rows.columns, *columns], schema=schema)
