"""The keys that the most rows have, with the values that make them.

    sorted codes   3 3 3 7 9 9      runs   3: 3 rows   9: 2 rows

Of many rows only those are sorted whose keys may have a thousandth of them: codes fall
into cells, and a key has no more rows than its cell.

A key that is hashed stands beside its row in hidden columns, so that no code need be
undone: one row of the key tells it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from dovetail.kernels.arrays.names import hidden
from dovetail.kernels.arrays.rows import Rows, Whole
from dovetail.kernels.lifetimes.successors import starts_of
from dovetail.kernels.settings import JoinSettings

MOST = 5
"""So many keys are told."""
_TIMES = {"date": pa.date32(), "timestamp": pa.timestamp("us")}
"""What the codes of keys of these types count."""


_NO_CODES = np.empty(0, np.int64)
_SHARE = 1000
"""A key is told if it has one of so many rows, and more than one."""
_BITS = 16
_MIXED = np.uint64(0x9E3779B97F4A7C15)
"""Times this odd number near codes, and codes in steps, are far apart in their highest
bits: which cell a code falls into."""


class HotKey(NamedTuple):
    """So many rows have a key, whose values these texts are."""

    rows: int
    values: list[str]


def hot_keys(settings: JoinSettings, parts: Sequence[Rows]) -> list[HotKey]:
    """Returns the keys that the most rows have, from the most.

    None has one row alone, or less than a thousandth of all. The rows of one side may
    come in parts.
    """
    if not (settings.key_type or settings.key_columns):
        return []  # without a key all rows have one
    keyed = [(rows.code, rows.has_key) for rows in parts]
    having = [codes if some.all() else codes[some] for codes, some in keyed]
    codes = np.concatenate(having or [_NO_CODES])
    least = max(2, len(codes) // _SHARE)
    ordered = np.sort(_in_full_cells(codes, least))
    starts = np.flatnonzero(starts_of(ordered))
    counts = np.diff(np.append(starts, len(ordered)))
    # Few keys have so many rows in most batches: only those are compared.
    often = np.flatnonzero(counts >= least)
    # Most rows first; of equals the lower code, so that a replay tells the same.
    most = often[np.lexsort((starts[often], -counts[often]))[:MOST]]
    return [
        HotKey(int(counts[run]), _values(settings, parts, int(ordered[starts[run]])))
        for run in most
    ]


def _in_full_cells(codes: Whole, least: int) -> Whole:
    """Returns the codes without most of those that have fewer rows than the least."""
    cells = 1 << _BITS
    if len(codes) < cells // 8:
        return codes  # to count cells would cost more than to sort all
    cell = (codes.view(np.uint64) * _MIXED) >> np.uint64(64 - _BITS)
    is_full = np.bincount(cell.view(np.int64), minlength=cells) >= least
    # Of keys that are all alike no cell has so many.
    there: Whole = codes[is_full[cell]] if is_full.any() else codes[:0]
    return there


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
