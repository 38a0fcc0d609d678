"""Plays an operator that keeps rows with its kernel, in steps of one line and more."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import cycle

import pyarrow as pa

from dovetail import spec
from dovetail.conformance.oracle import firing
from dovetail.engines import tables
from dovetail.engines.kernel_settings import firing_settings
from dovetail.kernels.arrays.names import LineKind
from dovetail.kernels.firing import CAUSE, KIND, NOW, Kept, advance

_STEPS = (1, 2, 5)
"""How many lines a step has: what is kept goes from one to the next."""
_KINDS = {
    firing.Passing.TIME: LineKind.BOUND,
    firing.Sign.MARK: LineKind.MARK,
    firing.Sign.END: LineKind.FINISH,
}


def fire(
    step: spec.Windowed | spec.Aligned, given: Sequence[firing.Given]
) -> Iterator[tuple[int, firing.Content]]:
    """Yields what comes out, each with the number of what has come just then."""
    # Lines as the kernel reads them: what is no row has nulls in the row's columns.
    nothing = dict.fromkeys(step.source.schema.names)
    contents = [content for _, content in given]
    filled = (
        nothing if isinstance(it, firing.Sign | firing.Passing) else it
        for it in contents
    )
    kinds = [
        int(
            _KINDS[it] if isinstance(it, firing.Sign | firing.Passing) else LineKind.ROW
        )
        for it in contents
    ]
    table = tables.arrow_table(filled, step.source.schema)
    table = table.append_column(KIND, pa.array(kinds, pa.int32()))
    table = table.append_column(NOW, pa.array([now for now, _ in given], pa.int64()))
    lines = table.combine_chunks().to_batches()[0]
    # Nothing is kept yet, but it has the columns of lines.
    kept = Kept(lines.slice(0, 0).drop_columns([KIND, NOW]))
    first, lengths = 0, cycle(_STEPS)
    while first < len(given):
        some = lines.slice(first, next(lengths))
        kept, found = advance(firing_settings(step), kept, some)
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
        first += some.num_rows
