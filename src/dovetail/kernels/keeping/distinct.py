"""Which rows of a window that slides change what values there are, each counted once.

    rows      a  b  a  -a  c  -b  -a     of one partition; one comes, or leaves
    are there 1  1  2   1  1   0   0     of the row's own value, behind it
    changes   +  +         +   -   -     the first one comes, and the last one leaves

A total over what is different adds up where these stand, as any other does with each
row.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dovetail.kernels.arrays.rows import Whole
from dovetail.kernels.keeping.folds import Grouping


@dataclass(frozen=True, slots=True)
class Occurrences:
    """Values of groups, each with how many rows that have it come, or leave if < 0."""

    groups: Whole
    counts: Whole
    values: pa.Array


def changes(known: Occurrences, rows: Occurrences) -> tuple[Whole, Occurrences]:
    """Returns 1 for a row that is the first of its value, -1 for the last one to leave.

    For all others 0; then the values that are there behind them all. The rows of a
    group are in the order in which they come and leave.
    """
    groups = np.append(known.groups, rows.groups)
    values = pa.concat_arrays([known.values, rows.values])
    # Zeros of both signs are one value.
    floats = pa.types.is_floating(values.type)
    alike = pc.add(values, pa.scalar(0, values.type)) if floats else values
    of_values = Grouping.by(pa.RecordBatch.from_arrays([alike], ["it"]), ["it"], groups)
    there = of_values.running(np.append(known.counts, rows.counts))
    behind = there[len(known.counts) :]
    changing = np.where(behind == (rows.counts > 0), rows.counts, 0)
    lasts = of_values.lasts
    stay = lasts[there[lasts] > 0]
    left = Occurrences(groups[stay], there[stay], values.take(pa.array(stay)))
    return changing, left
