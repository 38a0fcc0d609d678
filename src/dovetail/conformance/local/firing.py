"""Plays an operator that keeps rows with its kernel, in steps of one line and more."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import cycle

import pyarrow as pa

from dovetail import spec
from dovetail.conformance.oracle import firing
from dovetail.engines import tables
from dovetail.engines.code_settings import code_settings
from dovetail.engines.kernel_settings import firing_settings, in_row_time
from dovetail.kernels import code
from dovetail.kernels.arrays.names import LineKind
from dovetail.kernels.keeping.lines import CAUSE, KIND, NOW, ORDER
from dovetail.kernels.keeping.operator import Kept, advance
from dovetail.schema import Schema

_STEPS = (1, 2, 5)
"""How many lines a step has: what is kept goes from one to the next."""
_KINDS = {
    firing.Passing.TIME: LineKind.BOUND,
    firing.Sign.MARK: LineKind.MARK,
    firing.Sign.END: LineKind.FINISH,
}


def in_steps(lines: pa.RecordBatch) -> Iterator[tuple[int, pa.RecordBatch]]:
    """Gives lines in steps of one and more, each with the number of its first line."""
    first, lengths = 0, cycle(_STEPS)
    while first < lines.num_rows:
        some = lines.slice(first, next(lengths))
        yield first, some
        first += some.num_rows


def fire(
    step: spec.Keeping, given: Sequence[firing.Given], *, has_marks: bool = True
) -> Iterator[tuple[int, firing.Content]]:
    """Yields what comes out, each with the number of what has come just then."""
    lines = _lines(step.source.schema, given)
    # Nothing is kept yet, but it has the columns of lines.
    kept = Kept(lines.slice(0, 0).drop_columns([KIND, NOW]))
    settings = firing_settings(step)
    if not has_marks:
        settings = in_row_time(settings)
    for first, some in in_steps(lines):
        kept, found = advance(settings, kept, some)
        rows = tables.plain_rows(pa.Table.from_batches([found]))
        for row in rows:
            cause, kind = row.pop(CAUSE), row.pop(KIND)
            assert isinstance(cause, int)  # noqa: S101 - a column of numbers
            is_mark = kind == LineKind.MARK
            yield first + cause, firing.Sign.MARK if is_mark else row
        # An end goes through as it came: the kernel keeps nothing of it.
        for number, (_, content) in enumerate(given[first : first + some.num_rows]):
            if content is firing.Sign.END:
                yield first + number, firing.Sign.END


def carry_out(
    step: spec.Coded, given: Sequence[firing.Given]
) -> Iterator[tuple[int, tuple[int, firing.Content]]]:
    """Yields what code hands on by each port, with the number of what has come then."""
    lines = _lines(step.source.schema, given)
    found: list[tuple[int, int, tuple[int, firing.Content]]] = []
    for port in range(len(step.code.ports)):
        # A stream of Spark carries code out once for each port, and so it is here.
        known = code_settings(replace(step, port=port))
        saved = None
        for first, some in in_steps(lines):
            saved, handed = code.carry_out(known, saved, some)
            for row in tables.plain_rows(pa.Table.from_batches([handed])):
                cause, kind, order = (row.pop(it) for it in (CAUSE, KIND, ORDER))
                assert isinstance(cause, int)  # noqa: S101 - a column of numbers
                assert isinstance(order, int)  # noqa: S101 - one too
                content = firing.Sign.MARK if kind == LineKind.MARK else row
                found.append((first + cause, order, (port, content)))
    for cause, _, handed_on in sorted(found, key=lambda one: one[:2]):
        yield cause, handed_on


def _lines(schema: Schema, given: Sequence[firing.Given]) -> pa.RecordBatch:
    """Returns lines as the kernel reads them: what is no row has nulls in columns."""
    nothing = dict.fromkeys(schema.names)
    contents = [content for _, content in given]
    rows = (
        nothing if isinstance(it, firing.Sign | firing.Passing) else it
        for it in contents
    )
    kinds = [
        int(
            _KINDS[it] if isinstance(it, firing.Sign | firing.Passing) else LineKind.ROW
        )
        for it in contents
    ]
    table = tables.arrow_table(rows, schema)
    table = table.append_column(KIND, pa.array(kinds, pa.int32()))
    table = table.append_column(NOW, pa.array([now for now, _ in given], pa.int64()))
    (lines,) = table.combine_chunks().to_batches() or [
        pa.RecordBatch.from_pylist([], table.schema)
    ]
    return lines
