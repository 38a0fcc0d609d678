"""Rows of one side, as arrays: what matching needs, and the payload it never opens.

A row has a key code, a window partition, its row time (`moment`), its place in the
order of arrival, and its lifetime [birth, death). `first` says whom it has met:

    NEVER               nobody
    a moment, a place   a partner, then for the first time
    GIVEN               whoever it was, the row is out
    WAITS               nobody, and it waits for a table's row that comes late
    WAITS_SINCE and     the same in order of arrival: so much below as the clock
    below               stood at when it began to wait
    a count             in a changing result (`tables/`) how many partners it has
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from operator import attrgetter

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

Whole = npt.NDArray[np.int64]
Flags = npt.NDArray[np.uint16]
Mask = npt.NDArray[np.bool_]

MISSING = np.iinfo(np.int64).min
BEGINNING = MISSING + 1
NEVER = np.iinfo(np.int64).max

GIVEN = MISSING
"""`first` of a row that has come out by itself, once, and must not again."""
WAITS = BEGINNING
"""`first` of a row that met nobody and waits for a table's row that comes late."""
WAITS_SINCE = -2
"""`first` of one that waits in order of arrival, since the clock stood at 0.

One that waits since a later time has so much less: as places are 0 and more, and GIVEN
and WAITS far below, no clock's number is one of them.
"""

Flag = np.uint16
HAS_KEY = Flag(1)
"""The row's equality has no null, so that it may meet somebody."""
REMOVES = Flag(2)
"""The row is the delete of its partition's newest version; it meets nobody."""
LATE = Flag(4)
"""The row came behind a bound that its own task had seen."""
STATE = Flag(8)
"""The row was there from the start; it is never late."""
OPEN_TIME = Flag(16)
"""The row takes the newest row time seen before it, at least `moment`."""
DROPPED = Flag(32)
"""The row left with its whole partition, without a word."""
BARRED = Flag(64)
"""The row fails the condition of its own side, so that it meets nobody."""
DUE = Flag(128)
"""Time has passed the row: it leaves ahead of the row that moved the time."""
NULL_GIVEN = Flag(256)
"""The row has given its null row when it came, before it left its window."""


@dataclass(frozen=True, slots=True)
class Rows:
    """Rows of one side; all arrays have one length."""

    code: Whole
    partition: Whole
    moment: Whole
    place: Whole
    birth: Whole
    death: Whole
    first: Whole
    flags: Flags
    payload: pa.RecordBatch

    def __len__(self) -> int:
        """Returns how many rows there are."""
        return len(self.code)

    def take(self, chosen: Whole | Mask | slice) -> Rows:
        """Returns the chosen rows, in the order in which they are chosen."""
        chosen = _simplest(chosen)
        if isinstance(chosen, slice) and chosen.indices(len(self)) == (0, len(self), 1):
            return self
        # What one array stands for more than once is taken once.
        arrays = _arrays_of(self)
        once = {id(array): array[chosen] for array in arrays}
        parts = [once[id(array)] for array in arrays]
        parts.append(_taken(self.payload, chosen))
        return Rows(*parts)

    def parted(self, chosen: Mask) -> tuple[Rows, Rows]:
        """Returns the chosen rows, and the others."""
        if np.count_nonzero(chosen) == len(chosen):
            return self, self.take(slice(0))
        return self.take(chosen), self.take(~chosen)

    def with_arrays(self, **arrays: Whole) -> Rows:
        """Returns the same rows with other values in the named arrays."""
        known = dict(zip(_ARRAYS, _arrays_of(self), strict=True))
        return Rows(**(known | arrays), payload=self.payload)

    def bare(self) -> Rows:
        """Returns the rows without their payload."""
        parts = (*_arrays_of(self), self.payload.slice(0, 0))
        return Rows(*parts)

    def hidden(self, name: str) -> Whole:
        """Returns the whole numbers of a payload column that does not come out."""
        numbers: Whole = self.payload.column(name).to_numpy(zero_copy_only=False)
        return numbers

    def has(self, flag: np.uint16) -> Mask:
        """Tells for each row whether it carries the flag."""
        return (self.flags & flag).astype(np.bool_)


_ARRAYS = (
    "code",
    "partition",
    "moment",
    "place",
    "birth",
    "death",
    "first",
    "flags",
)
_arrays_of = attrgetter(*_ARRAYS)


def flagged(marked: Mask, flag: np.uint16) -> Flags:
    """Returns the flag where rows are marked, nothing where they are not."""
    return marked * flag


def can_meet(rows: Rows) -> Mask:
    """Tells for each row whether it may meet anybody at all."""
    may_meet: Mask = (rows.flags & (HAS_KEY | REMOVES | BARRED)) == HAS_KEY
    return may_meet & (rows.birth < rows.death)


def take_payload(batch: pa.RecordBatch, chosen: Whole | Mask | slice) -> pa.RecordBatch:
    """Returns the chosen rows of a batch."""
    return _taken(batch, _simplest(chosen))


def _taken(batch: pa.RecordBatch, chosen: Whole | slice) -> pa.RecordBatch:
    """Returns the rows of a batch with these numbers, or in this slice."""
    if isinstance(chosen, slice):
        start, stop, _ = chosen.indices(batch.num_rows)
        return batch.slice(start, max(0, stop - start))
    return pc.take(batch, pa.array(chosen), boundscheck=False)


def _simplest(chosen: Whole | Mask | slice) -> Whole | slice:
    """Returns the same choice as row numbers, or as a slice, which copies nothing."""
    if isinstance(chosen, slice):
        return chosen
    if chosen.dtype != np.bool_:
        return chosen.astype(np.int64, copy=False)
    count = int(np.count_nonzero(chosen))
    return slice(count) if count in {0, len(chosen)} else chosen.nonzero()[0]


def make_rows(
    code: Whole, moment: Whole, place: Whole, flags: Flags, payload: pa.RecordBatch
) -> Rows:
    """Returns rows that have met nobody and whose lifetimes are still open."""
    endless = np.full(len(code), NEVER)
    return Rows(
        code=code,
        partition=code,
        moment=moment,
        place=place,
        birth=moment,
        death=endless,
        first=endless,
        flags=flags,
        payload=payload,
    )


def no_rows(schema: pa.Schema) -> Rows:
    """Returns no rows, with the payload's columns."""
    empty = np.empty(0, np.int64)
    flags = np.empty(0, Flag)
    none = [pa.nulls(0, kind) for kind in schema.types]
    payload = pa.RecordBatch.from_arrays(none, schema=schema)
    return make_rows(empty, empty, empty, flags, payload)


def join_rows(parts: Iterable[Rows]) -> Rows:
    """Returns all rows of the parts, one part after the other; there must be one."""
    kept = list(parts)
    if len(kept) == 1:
        return kept[0]
    filled = [part for part in kept if len(part)] or kept[:1]
    if len(filled) == 1:
        return filled[0]
    arrays = {
        name: np.concatenate([getattr(part, name) for part in filled])
        for name in _ARRAYS
    }
    payload = join_batches([part.payload for part in filled])
    return Rows(**arrays, payload=payload)


def join_batches(batches: list[pa.RecordBatch]) -> pa.RecordBatch:
    """Returns the batches one after the other as one; there must be at least one."""
    return batches[0] if len(batches) == 1 else pa.concat_batches(batches)
