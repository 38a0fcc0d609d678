"""Puts rows in row time with its kernel, in steps of one line and more."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa
import pyarrow.compute as pc

from dovetail import spec
from dovetail.conformance.local.firing import in_steps
from dovetail.conformance.oracle.row_time import Line, late_line
from dovetail.conformance.oracle.sides import NEVER, PAST, moment_of
from dovetail.engines.tables import arrow_table, plain_rows
from dovetail.kernels import row_order
from dovetail.kernels.arrays.names import LineKind
from dovetail.kernels.arrays.rows import BEGINNING
from dovetail.kernels.arrays.rows import NEVER as ENDED
from dovetail.kernels.keeping.lines import KIND, NOW
from dovetail.schema import Schema


def arrange(
    step: spec.InRowTime, sources: Sequence[spec.Input], lines: Sequence[Line]
) -> list[Line]:
    """Returns rows in row time, those that are late, and how far all have come."""
    if not lines:
        return [Line(sources[0], 0, bound=PAST)]
    lateness = {it.name: it.lateness for it in sources}
    order = row_order.RowOrder(step.time, lateness, by=step.by)
    coming = _lines(step.schema, lines)
    waiting = row_order.begun(order, coming.schema)
    found = list[Line]()
    # What waits goes from one step to the next.
    for _, some in in_steps(coming):
        waiting, ready = row_order.in_order(order, waiting, some)
        goes = pc.equal(ready.column(KIND), int(LineKind.ROW))
        rows = ready.filter(goes)
        # Which line each was tells what it was as it came.
        numbers = rows.column(row_order.CAME).to_pylist()
        own = rows.drop_columns([*row_order.RIDING, row_order.CAME, NOW])
        for number, row in zip(
            numbers, plain_rows(pa.Table.from_batches([own])), strict=True
        ):
            time = moment_of(row[step.time])
            came = lines[number].came
            found.append(Line(sources[0], len(found), row, time, came=came))
        is_late = pc.equal(ready.column(KIND), int(LineKind.LATE))
        for row in ready.filter(is_late).to_pylist():
            line = lines[int(row[row_order.CAME])]
            reason = "null_time" if row[row_order.MOMENT] is None else "late"
            found.append(late_line(line, reason))
    bound = {BEGINNING: PAST, ENDED: NEVER}.get(waiting.bound, waiting.bound)
    return [*found, Line(sources[0], len(lines), bound=bound)]


def _lines(schema: Schema, lines: Sequence[Line]) -> pa.RecordBatch:
    """Returns what comes as lines; those without a row have nulls."""
    nothing = dict.fromkeys(schema.names)
    table = arrow_table((line.row or nothing for line in lines), schema)
    # A line tells a bound, or the time of its row, if that has one.
    moments = [it.time if it.bound is None else it.bound for it in lines]
    told = [None if it in (None, NEVER, PAST) else it for it in moments]
    beside = {
        KIND: pa.array([int(_kind(line)) for line in lines], pa.int32()),
        row_order.MOMENT: pa.array(told, pa.int64()),
        row_order.INPUT: pa.array([line.source.name for line in lines]),
        row_order.NUMBER: pa.array([line.place for line in lines], pa.int64()),
        row_order.CAME: pa.array(range(len(lines)), pa.int64()),
    }
    for name, column in beside.items():
        table = table.append_column(name, column)
    batch: pa.RecordBatch = table.combine_chunks().to_batches()[0]
    return batch


def _kind(line: Line) -> LineKind:
    """Returns what a line is to the kernel."""
    if line.bound is not None:
        return LineKind.FINISH if line.bound == NEVER else LineKind.BOUND
    return LineKind.PASSED if line.row is None else LineKind.ROW
