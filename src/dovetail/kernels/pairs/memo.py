"""When rows have a partner: from when until when, several such covers a row.

Covers of one row that touch are one. The end of one whose partner may still be ended
by another row is not known, so it stands with its partner until it is.

What picks remember between two steps: pairs that wait. How many pairs a left row has
had by now stands with the row.

Rows are named by their places in the order of arrival, which never change; a row that
a waiting pair is made of stays with its side. Two places as one name of a pair:

    pair (17, 4711)     a row of the store, with the code of both, that tells places
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from dovetail.kernels.arrays.rows import Mask, Rows, Whole, flags_of, make_rows
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
        # A gap behind all that has been reached begins a cover; one that touches goes
        # on.
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


@dataclass(frozen=True, slots=True)
class Memo:
    """Waiting pairs by the places of their rows.

    `covers` say when rows of each side have partners.
    """

    left: Whole
    right: Whole
    covers: tuple[Covers, Covers] = (NO_COVERS, NO_COVERS)

    def pairs(self, sides: tuple[Rows, Rows]) -> Matches:
        """Returns the pairs that wait, as row numbers."""
        left, right = sides
        return Matches(numbers_of(left, self.left), numbers_of(right, self.right))


_EMPTY = np.empty(0, np.int64)
NO_MEMO = Memo(_EMPTY, _EMPTY)


def numbers_of(rows: Rows, places: Whole) -> Whole:
    """Returns the numbers of the rows at the places; all of them are there."""
    # Rows do not always stand by their places: what has waited takes part later.
    order = np.argsort(rows.place)
    return order[np.searchsorted(rows.place, places, sorter=order)]


PAIRS = pa.schema([("left", pa.int64()), ("right", pa.int64())])


def rows_of_pairs(sides: tuple[Rows, Rows], held: Matches) -> Rows:
    """Returns pairs that wait as rows of their left rows' codes."""
    left, right = sides
    places = (left.place[held.left], right.place[held.right])
    payload = pa.RecordBatch.from_arrays(list(map(pa.array, places)), schema=PAIRS)
    nothing = np.zeros(len(held), np.int64)
    flags = flags_of(has_key=np.ones(len(held), bool))
    return make_rows(left.code[held.left], nothing, nothing, flags, payload)


def stay_among(known: Rows, pairs: Rows) -> tuple[Mask, Mask]:
    """Tells which known pairs still wait, and which of those that wait are known."""
    left, right = (
        np.unique(
            np.concatenate([known.hidden(name), pairs.hidden(name)]),
            return_inverse=True,
        )[1]
        for name in PAIRS.names
    )
    # Dense numbers of both places as one: equal pairs are equal numbers.
    number = left * (len(right) + 1) + right
    ones, others = number[: len(known)], number[len(known) :]
    return np.isin(ones, others), np.isin(others, ones)


def memo_of_pairs(pairs: Rows, covers: tuple[Covers, Covers]) -> Memo:
    """Returns the memo of pairs that were made into rows."""
    return Memo(pairs.hidden("left"), pairs.hidden("right"), covers)


def cover_batches(covers: tuple[Covers, Covers]) -> tuple[pa.RecordBatch, ...]:
    """Returns the covers of both sides as tables."""
    return tuple(
        pa.RecordBatch.from_pydict({name: getattr(side, name) for name in COVERS})
        for side in covers
    )


def covers_from(batch: pa.RecordBatch) -> Covers:
    """Returns covers that were made into a table."""
    return Covers(*(column.to_numpy() for column in batch.columns))
