"""The keys that the most rows have, with the values that make them.

    sorted codes   3 3 3 7 9 9      runs   3: 3 rows   9: 2 rows

A key that is hashed stands beside its row in hidden columns, so that no code need be
undone: one row of the key tells it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from dovetail.kernels.arrays.names import hidden
from dovetail.kernels.arrays.rows import Rows
from dovetail.kernels.lifetimes.successors import starts_of
from dovetail.kernels.settings import JoinSettings

MOST = 5
"""So many keys are told."""
_TIMES = {"date": pa.date32(), "timestamp": pa.timestamp("us")}
"""What the codes of keys of these types count."""


_NO_CODES = np.empty(0, np.int64)


class HotKey(NamedTuple):
    """So many rows have a key, whose values these texts are."""

    rows: int
    values: list[str]


def hot_keys(settings: JoinSettings, parts: Sequence[Rows]) -> list[HotKey]:
    """Returns the keys that the most rows have, from the most; none of one row.

    The rows of one side may come in parts.
    """
    if not (settings.key_type or settings.key_columns):
        return []  # without a key all rows have one
    having = [rows.code[rows.has_key] for rows in parts]
    ordered = np.sort(np.concatenate(having or [_NO_CODES]))
    starts = np.flatnonzero(starts_of(ordered))
    counts = np.diff(np.append(starts, len(ordered)))
    # Few keys have more than one row in most batches: only those are compared.
    often = np.flatnonzero(counts > 1)
    # Most rows first; of equals the lower code, so that a replay tells the same.
    most = often[np.lexsort((starts[often], -counts[often]))[:MOST]]
    return [
        HotKey(int(counts[run]), _values(settings, parts, int(ordered[starts[run]])))
        for run in most
    ]


def _values(settings: JoinSettings, parts: Sequence[Rows], code: int) -> list[str]:
    """Returns the key of a code, as texts; of one that is hashed a row tells it."""
    if settings.key_columns:
        names = [hidden(f"{number}") for number in range(settings.key_columns)]
        found = ((rows, (rows.code == code) & rows.has_key) for rows in parts)
        rows, at = next((rows, mask.argmax()) for rows, mask in found if mask.any())
        return [str(rows.payload.column(name)[int(at)].as_py()) for name in names]
    if settings.key_type in _TIMES:
        return [str(pa.array([code], _TIMES[settings.key_type])[0].as_py())]
    return [str(bool(code)).lower() if settings.key_type == "boolean" else str(code)]
