"""What picks remember between two steps: pairs that wait, and how many there were.

Rows are named by their places in the order of arrival, which never change; a row that
a waiting pair is made of stays with its side.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from dovetail.kernels.arrays.rows import Mask, Rows, Whole
from dovetail.kernels.pairs.covers import COVERS, NO_COVERS, Covers
from dovetail.kernels.pairs.matching import Matches

_NAMES = ("place", "partners", "given")


@dataclass(frozen=True, slots=True)
class Memo:
    """Waiting pairs by the places of their rows, and counts of left rows by place.

    `partners` says how many pairs a left row has had, `given` how many came out,
    `covers` when rows of each side have partners.
    """

    left: Whole
    right: Whole
    place: Whole
    partners: Whole
    given: Whole
    covers: tuple[Covers, Covers] = (NO_COVERS, NO_COVERS)

    def counts(self, rows: Rows) -> tuple[Whole, Whole]:
        """Returns how many pairs each left row has had, and how many came out."""
        partners = np.zeros(len(rows), np.int64)
        given = np.zeros(len(rows), np.int64)
        if len(self.place):
            at = numbers_of(rows, self.place)
            partners[at], given[at] = self.partners, self.given
        return partners, given

    def pairs(self, sides: tuple[Rows, Rows]) -> Matches:
        """Returns the pairs that wait, as row numbers."""
        left, right = sides
        return Matches(numbers_of(left, self.left), numbers_of(right, self.right))


_EMPTY = np.empty(0, np.int64)
NO_MEMO = Memo(_EMPTY, _EMPTY, _EMPTY, _EMPTY, _EMPTY)


def memo_of(
    sides: tuple[Rows, Rows],
    held: Matches,
    counts: tuple[Whole, Whole],
    kept: Mask,
    covers: tuple[Covers, Covers],
) -> Memo:
    """Returns the memo of pairs that wait, of the left rows kept, and of covers."""
    left, right = sides
    partners, given = counts
    counted = (kept & (partners > 0)).nonzero()[0]
    return Memo(
        left.place[held.left],
        right.place[held.right],
        left.place[counted],
        partners[counted],
        given[counted],
        covers,
    )


def numbers_of(rows: Rows, places: Whole) -> Whole:
    """Returns the numbers of the rows at the places; all of them are there."""
    order = np.argsort(rows.place)
    return order[np.searchsorted(rows.place, places, sorter=order)]


def memo_batches(memo: Memo) -> tuple[pa.RecordBatch, ...]:
    """Returns a memo as tables: the pairs, the counts, the covers of both sides."""
    pairs = pa.RecordBatch.from_pydict({"left": memo.left, "right": memo.right})
    counts = {name: getattr(memo, name) for name in _NAMES}
    covers = (
        pa.RecordBatch.from_pydict({name: getattr(side, name) for name in COVERS})
        for side in memo.covers
    )
    return pairs, pa.RecordBatch.from_pydict(counts), *covers


def memo_from(
    pairs: pa.RecordBatch, counts: pa.RecordBatch, *covers: pa.RecordBatch
) -> Memo:
    """Returns the memo that was made into tables."""
    left, right = (
        Covers(*(column.to_numpy() for column in side.columns)) for side in covers
    )
    columns = [column.to_numpy() for column in (*pairs.columns, *counts.columns)]
    one, other, place, partners, given = columns
    return Memo(one, other, place, partners, given, (left, right))
