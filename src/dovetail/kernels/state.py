"""What a bucket remembers between two batches."""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa

from dovetail.kernels.arrays.rows import NEVER, Rows, no_rows
from dovetail.kernels.arrival.arrival import Watch
from dovetail.kernels.pairs.memo import NO_MEMO, Memo


@dataclass(frozen=True, slots=True)
class JoinState:
    """Rows that are alive, that wait for a bound, that are held back for order.

    What is held has no columns before there is any; the memo is what picks remember.
    Of rows that wait and are not here, as nothing can happen to them in a step, the
    least births are `behind`.
    """

    alive: tuple[Rows, Rows]
    waiting: tuple[Rows, Rows]
    watches: tuple[Watch, Watch]
    held: pa.RecordBatch
    next_place: int = 0
    memo: Memo = NO_MEMO
    behind: tuple[int, int] = (NEVER, NEVER)


def new_state(schemas: tuple[pa.Schema, pa.Schema]) -> JoinState:
    """Returns the state before anything has come."""
    left, right = (no_rows(schema) for schema in schemas)
    return JoinState(
        alive=(left, right),
        waiting=(left, right),
        watches=(Watch(), Watch()),
        held=pa.RecordBatch.from_arrays([], names=[]),
    )
