"""When rows have a partner: from when until when, several such covers a row.

Covers of one row that touch are one. The end of one whose partner may still be ended
by another row is not known, so it stands with its partner until it is.

What picks remember between two steps: pairs that wait, and how many there were.

Rows are named by their places in the order of arrival, which never change; a row that
a waiting pair is made of stays with its side.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from dovetail.kernels.arrays.rows import Mask, Rows, Whole
from dovetail.kernels.arrays.sort import sorted_by
from dovetail.kernels.pairs.matches import Matches

NOBODY = -1
"""The partner of a cover whose end is known for good."""
COVERS = ("row", "partner", "begin", "end")


@dataclass(frozen=True, slots=True)
class Covers:
    """Rows that are covered, by whom, from when until when.

    Rows are known by their places between two steps, by their numbers during one.
    """

    row: Whole
    partner: Whole
    begin: Whole
    end: Whole

    def __len__(self) -> int:
        """Returns how many there are."""
        return len(self.row)

    def take(self, chosen: Whole | Mask) -> Covers:
        """Returns the chosen ones."""
        return Covers(*(getattr(self, name)[chosen] for name in COVERS))

    def merged(self) -> Covers:
        """Returns the covers of each row as few that do not touch, by row and time."""
        if not len(self):
            return self
        ordered = self.take(sorted_by(self.row, self.begin))
        known, rank = np.unique(ordered.end, return_inverse=True)
        starts = np.cumsum(np.append(0, ordered.row[1:] != ordered.row[:-1]))
        # Ranks of later rows are higher, so that the furthest end so far is its own.
        furthest = np.maximum.accumulate(starts * len(known) + rank)
        reached = known[furthest - starts * len(known)]
        is_first = np.ones(len(ordered), bool)
        is_first[1:] = starts[1:] != starts[:-1]
        is_first[1:] |= ordered.begin[1:] > reached[:-1]
        first = np.flatnonzero(is_first)
        last = np.append(first[1:], len(ordered)) - 1
        nobody = np.full(len(first), NOBODY)
        return Covers(ordered.row[first], nobody, ordered.begin[first], reached[last])


NO_COVERS = Covers(*(np.empty(0, np.int64) for _ in COVERS))


def join_covers(*parts: Covers) -> Covers:
    """Returns all covers of the parts."""
    return Covers(
        *(np.concatenate([getattr(part, name) for part in parts]) for name in COVERS)
    )


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
    counted = (kept & (partners > 0)).nonzero()[0]  # who has had none needs no line
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
    # Rows do not always stand by their places: what has waited takes part later.
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
