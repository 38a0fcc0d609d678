"""Rows of one side, as arrays: what matching needs, and the payload it never opens.

A row has a key code, a window partition, its row time (`moment`), its place in the
order of arrival, and its lifetime [birth, death). What has become of it by now:

    met          the moment, or the place, at which it first met a partner; or NEVER
    partners     in a changing result (`tables/`): how many partners it has; beside
                 picks: how many pairs of a left row are numbered, or that it is judged
    given        beside picks: how many of a left row's pairs have come out
    waits_since  where it `waits` in order of arrival: the clock as it began to

and yes or no, one bit each: `Rows` has a property for every flag.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from operator import attrgetter
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

Whole = npt.NDArray[np.int64]
Flags = npt.NDArray[np.uint16]
Mask = npt.NDArray[np.bool_]

# Whole numbers with a meaning at both ends: what is missing sorts first, then what was
# always there; what never comes sorts last.
MISSING = np.iinfo(np.int64).min
BEGINNING = MISSING + 1
NEVER = np.iinfo(np.int64).max
FIRST = MISSING + (1 << 56)
"""In front of all numbers by which rows come: where time alone lets rows out."""

Flag = np.uint16
_FLAGS = (
    "has_key",
    "removes",
    "late",
    "from_start",
    "open_time",
    "dropped",
    "barred",
    "due",
    "null_emitted",
    "emitted",
    "waits",
)
# One bit a flag: a take or a join of rows moves one array instead of eleven.
_BIT = {name: Flag(1 << number) for number, name in enumerate(_FLAGS)}
ENDING = _BIT["dropped"] | _BIT["due"]
"""The flags that say how a life has ended."""


@dataclass(frozen=True, slots=True)
class Rows:
    """Rows of one side; all arrays have one length."""

    code: Whole
    partition: Whole
    moment: Whole
    place: Whole
    birth: Whole
    death: Whole
    met: Whole
    partners: Whole
    given: Whole
    waits_since: Whole
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
        # Mostly nobody is parted from the others: then nothing is copied.
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

    def with_flags(self, **marked: Mask) -> Rows:
        """Returns the same rows with the named flags where marked, nowhere else."""
        flags = self.flags
        for name, marks in marked.items():
            flags = (flags & ~_BIT[name]) | (marks * _BIT[name])
        return replace(self, flags=flags)

    def _has(self, name: str) -> Mask:
        """Tells which rows have a flag."""
        return (self.flags & _BIT[name]).astype(np.bool_)

    @property
    def has_key(self) -> Mask:
        """Tells whose equality has no null, so that they may meet somebody."""
        return self._has("has_key")

    @property
    def removes(self) -> Mask:
        """Tells which rows are the delete of their partition's newest version.

        They meet nobody.
        """
        return self._has("removes")

    @property
    def late(self) -> Mask:
        """Tells which rows came behind a bound that their own task had seen."""
        return self._has("late")

    @property
    def from_start(self) -> Mask:
        """Tells which rows were there from the start; these are never late."""
        return self._has("from_start")

    @property
    def open_time(self) -> Mask:
        """Tells which rows take the newest row time seen before, at least `moment`."""
        return self._has("open_time")

    @property
    def dropped(self) -> Mask:
        """Tells which rows left with their whole partition, without a word."""
        return self._has("dropped")

    @property
    def barred(self) -> Mask:
        """Tells which rows fail the condition of their side: they meet nobody."""
        return self._has("barred")

    @property
    def due(self) -> Mask:
        """Tells which rows time has passed: they leave ahead of who moved the time."""
        return self._has("due")

    @property
    def null_emitted(self) -> Mask:
        """Tells which rows gave their null row when they came, before they leave."""
        return self._has("null_emitted")

    @property
    def emitted(self) -> Mask:
        """Tells which rows have come out by themselves: once, and not again."""
        return self._has("emitted")

    @property
    def waits(self) -> Mask:
        """Tells which rows met nobody and wait for a table's row that comes late.

        The flag stays when they have waited long enough.
        """
        return self._has("waits")

    @property
    def decided(self) -> Mask:
        """Tells of which rows it no longer matters whom they meet in their lives."""
        return (self.flags & (_BIT["emitted"] | _BIT["waits"])).astype(np.bool_)


_ARRAYS = (
    "code",
    "partition",
    "moment",
    "place",
    "birth",
    "death",
    "met",
    "partners",
    "given",
    "waits_since",
    "flags",
)
_arrays_of = attrgetter(*_ARRAYS)


def flags_of(**marked: Mask) -> Flags:
    """Returns the flags of rows: each of the named ones where it is marked."""
    bits = [marks * _BIT[name] for name, marks in marked.items()]
    flags: Flags = np.bitwise_or.reduce(bits)
    return flags


def can_meet(rows: Rows) -> Mask:
    """Tells for each row whether it may meet anybody at all."""
    # One comparison of all three bits: a key is needed, the others must not be there.
    deciding = _BIT["has_key"] | _BIT["removes"] | _BIT["barred"]
    may_meet: Mask = (rows.flags & deciding) == _BIT["has_key"]
    return may_meet & (rows.birth < rows.death)


def take_payload(batch: pa.RecordBatch, chosen: Whole | Mask | slice) -> pa.RecordBatch:
    """Returns the chosen rows of a batch."""
    return _taken(batch, _simplest(chosen))


def _taken(batch: pa.RecordBatch, chosen: Whole | slice) -> pa.RecordBatch:
    """Returns the rows of a batch with these numbers, or in this slice."""
    if isinstance(chosen, slice):
        start, stop, _ = chosen.indices(batch.num_rows)
        return batch.slice(start, max(0, stop - start))
    # Numbers are our own and inside: Arrow need not look at each a second time.
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
    endless, nothing = np.full(len(code), NEVER), np.zeros(len(code), np.int64)
    # In the order of the fields: moment, place, birth, death. Arrays that say the same
    # are one array, which `take` then takes once.
    lives = (moment, place, moment, endless)
    counts = (nothing, nothing, nothing)
    return Rows(code, code, *lives, endless, *counts, flags, payload)


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
    payload = join_batches([part.payload for part in filled])
    # What one array stands for more than once, in every part, is joined once.
    joined: dict[tuple[int, ...], npt.NDArray[Any]] = {}
    arrays = {}
    for name in _ARRAYS:
        some = [getattr(part, name) for part in filled]
        key = tuple(map(id, some))
        if key not in joined:
            joined[key] = np.concatenate(some)
        arrays[name] = joined[key]
    return Rows(**arrays, payload=payload)


def join_batches(batches: list[pa.RecordBatch]) -> pa.RecordBatch:
    """Returns the batches one after the other as one; there must be at least one."""
    return batches[0] if len(batches) == 1 else pa.concat_batches(batches)
