"""Rows of one kind that are kept: chunks, and deltas of what has changed about them.

Rows that are alive, that wait, pairs that wait are kept in this one way.

    rows     0 .......... 4000 .... 5000 . 5200     numbered as they are written
    chunks   [           ][        ][     ]         sorted by code, never changed
    deltas   17 met 10:02, 4711 gone | 5100 gone    of one row the newest counts
    limit    10:05                                  who was due by then has left

A batch writes what it brings as a small chunk, and what changes about old rows as a
small delta. As soon as there are a few of one size they become one of the next, so
that a row is written again as often as the rows grow fourfold. A chunk whose last row
has left is dropped unread; one that is half gone is written again.

What a batch wants is found by sorted search: rows by their codes, those that fall due
in a second order of the chunk, or of the delta that has changed them.
"""

from __future__ import annotations

import secrets
from bisect import bisect_right
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from dovetail.kernels.arrays.blobs import Filed, as_batch, read_batch, write_batch
from dovetail.kernels.arrays.rows import (
    NEVER,
    Mask,
    Rows,
    Whole,
    join_rows,
    no_rows,
)
from dovetail.kernels.arrays.sort import sorted_by
from dovetail.kernels.demand import NO_LIMIT

FAN = 4
"""So many of one size become one of the next, which is as many times as large."""
SMALL = 64
"""All that have no more rows than this are of one size."""
_INDEX = ("due", "by_due")
_Arrays = dict[str, npt.NDArray[Any]]


class Shelf(Protocol):
    """Where a bucket keeps its blobs."""

    def directory(self) -> bytes:
        """Returns the directory, empty where there is none yet."""

    def keep_directory(self, data: bytes) -> None:
        """Keeps the directory."""

    def get(self, number: int) -> bytes | pa.Buffer:
        """Returns a blob, or a file in memory that holds it."""

    def put(self, number: int, data: bytes) -> None:
        """Keeps a blob."""

    def drop(self, number: int) -> None:
        """Forgets a blob."""


@dataclass(slots=True)
class Blobs:
    """What is put on a shelf, and how many bytes that are.

    A blob's number is drawn, not counted: a batch that is tried again never writes
    something else under a number of which somebody has a copy.
    """

    shelf: Shelf
    written: int = 0

    def put(self, data: bytes) -> int:
        """Keeps a blob under a new number, which is returned."""
        number = 1 + secrets.randbelow(2**63 - 1)
        self.written += len(data)
        self.shelf.put(number, data)
        return number


@dataclass(frozen=True, slots=True)
class Chunk:
    """A blob of rows: the number of its first one, how many there are, and alive."""

    blob: int
    first: int
    size: int
    alive: int
    length: int

    @property
    def past(self) -> int:
        """Returns the number behind its last row."""
        return self.first + self.size


@dataclass(frozen=True, slots=True)
class RowChanges:
    """What has changed of some rows, by their numbers, which rise.

    `due` says when those rows fall due, `by_due` in which order they do.
    """

    number: Whole
    gone: npt.NDArray[np.uint8]
    changes: _Arrays
    due: Whole
    by_due: Whole
    blob: int = 0
    length: int = 0

    @classmethod
    def of(
        cls,
        number: Whole,
        gone: npt.NDArray[np.uint8],
        changes: _Arrays,
        due: Whole,
    ) -> RowChanges:
        """Returns what has changed of rows in any order, some there more than once.

        Of these the last counts.
        """
        order = np.argsort(number, kind="stable")
        ordered = number[order]
        # Stable, so of one row's changes the newest stands last: those with another
        # number behind them are kept.
        order = order[np.append(ordered[1:] != ordered[:-1], True)[: len(order)]]
        return cls(
            number[order],
            gone[order],
            {name: array[order] for name, array in changes.items()},
            due[order],
            np.argsort(due[order], kind="stable"),
        )

    @classmethod
    def read(cls, blob: int, data: bytes | pa.Buffer) -> RowChanges:
        """Returns the delta of a blob."""
        batch = read_batch(data)
        arrays = {
            name: column.to_numpy()
            for name, column in zip(batch.schema.names, batch.columns, strict=True)
        }
        own = [arrays.pop(name) for name in ("number", "gone", *_INDEX)]
        return cls(own[0], own[1], arrays, own[2], own[3], blob, len(data))

    def written(self) -> bytes:
        """Returns the delta as bytes."""
        own = {"number": self.number, "gone": self.gone}
        index = dict(zip(_INDEX, (self.due, self.by_due), strict=True))
        columns = {**own, **self.changes, **index}
        return write_batch(pa.RecordBatch.from_pydict(columns))

    def __len__(self) -> int:
        """Returns of how many rows it tells."""
        return len(self.number)


@dataclass(frozen=True, slots=True)
class Layout:
    """How rows of one kind are kept.

    Arrays that are `lasting` are written with a row, those that are `changing` again
    whenever they do. `lived` gives rows that were read what follows from them. Where
    rows are `unseen` nothing comes of one that falls due, so that it leaves unread.
    Where all are read with every batch, as a `whole`, nothing is sorted.
    """

    schema: pa.Schema
    lived: Callable[[Rows], Rows]
    changing: tuple[str, ...] = ()
    lasting: tuple[str, ...] = ()
    own_partition: bool = False
    unseen: bool = False
    whole: bool = False


class Taken(NamedTuple):
    """Rows that were read, with their numbers, and when they are due."""

    number: Whole
    rows: Rows
    due: Whole

    def take(self, chosen: Mask | slice) -> Taken:
        """Returns the chosen rows."""
        if isinstance(chosen, np.ndarray) and chosen.all():
            return self
        return Taken(self.number[chosen], self.rows.take(chosen), self.due[chosen])

    def joined(self, more: Taken) -> Taken:
        """Returns these rows, and more behind them."""
        return Taken(
            np.append(self.number, more.number),
            join_rows([self.rows, more.rows]),
            np.append(self.due, more.due),
        )


@dataclass(slots=True)
class Chunks:
    """Rows of one kind between reading and writing them.

    `overdue` are the numbers of rows that are alive though they were due. `taken` are
    the rows that were asked for, with their numbers and when they are due, as they
    were.
    """

    layout: Layout
    blobs: Blobs
    chunks: list[Chunk] = field(default_factory=list)
    deltas: list[RowChanges] = field(default_factory=list)
    overdue: Whole = field(default_factory=lambda: np.empty(0, np.int64))
    limit: int = NO_LIMIT
    next_row: int = 0
    known: int = 0
    taken: Taken = field(init=False)
    _open: dict[int, Filed] = field(default_factory=dict)

    def __post_init__(self) -> None:
        nothing = np.empty(0, np.int64)
        self.taken = Taken(nothing, no_rows(self.layout.schema), nothing)

    def take_over(self, known: dict[str, Any]) -> None:
        """Takes what a directory says of the rows."""
        self.chunks = [Chunk(*numbers) for numbers in known["chunks"]]
        self.deltas = [
            RowChanges.read(blob, self.blobs.shelf.get(blob))
            for blob in known["deltas"]
        ]
        self.overdue = np.array(known["overdue"], np.int64)
        self.limit, self.next_row = known["limit"], known["next_row"]
        self.known = self.alive

    def listing(self) -> dict[str, Any]:
        """Returns what the directory says of the rows."""
        return {
            "chunks": [
                [chunk.blob, chunk.first, chunk.size, chunk.alive, chunk.length]
                for chunk in self.chunks
            ],
            "deltas": [delta.blob for delta in self.deltas],
            "overdue": self.overdue.tolist(),
            "limit": self.limit,
            "next_row": self.next_row,
        }

    @property
    def alive(self) -> int:
        """Returns how many rows are alive."""
        return sum(chunk.alive for chunk in self.chunks)

    @property
    def evicted(self) -> int:
        """Returns how many rows have left in this batch that were kept before."""
        return self.known - self.alive

    @property
    def bytes(self) -> int:
        """Returns how many bytes the blobs of the rows have."""
        parts: list[Chunk | RowChanges] = [*self.chunks, *self.deltas]
        return sum(part.length for part in parts)

    def every(self) -> Rows:
        """Returns all rows that are alive, for who only looks at them."""
        return self._read((chunk, slice(None)) for chunk in self.chunks).rows

    def load(self, codes: Whole | None, limit: int) -> Rows:
        """Returns rows of some codes, and those due by a limit.

        Where it must, or no codes are given, all.
        """
        if self.layout.whole:
            self.taken = self._read((chunk, slice(None)) for chunk in self.chunks)
            return self.taken.rows
        # Nothing is kept yet; the limit still moves, so that what is saved now is
        # judged by it.
        if not self.chunks:
            self.limit = max(self.limit, limit)
            return self.taken.rows
        if codes is None:
            self.taken = self._read((chunk, slice(None)) for chunk in self.chunks)
        else:
            due = self._due(limit)
            self.taken = self._read(
                (chunk, self._wanted(chunk, codes, due)) for chunk in self.chunks
            )
        if self.layout.unseen:
            for number, chunk in enumerate(self.chunks):
                part = self._between(*self._index_of(chunk), limit)
                # Who falls due unseen is counted out here, since nobody reads it to say
                # so.
                left = chunk.alive - (part.stop - part.start)
                self.chunks[number] = replace(chunk, alive=left)
        self.limit = max(self.limit, limit)
        return self.taken.rows

    def load_oldest(self, count: int) -> Rows:
        """Returns so many of the oldest rows, which leave in the order they came."""
        wanted = []
        for chunk in self.chunks:
            some = min(max(0, count), chunk.alive)
            # All leave in this order, so that of each chunk the first rows have left.
            wanted.append((chunk, chunk.size - chunk.alive + np.arange(some)))
            count -= some
        self.taken = self._read(wanted)
        return self.taken.rows

    def load_more(self, codes: Whole) -> Rows:
        """Returns what is loaded, and rows of some codes behind it."""
        if not self.layout.whole and self.chunks:
            more = self._read(
                (chunk, self._wanted(chunk, codes, codes[:0])) for chunk in self.chunks
            )
            # Some were loaded already, and no row may be there twice.
            fresh = ~np.isin(more.number, self.taken.number)
            self.taken = self.taken.joined(more.take(fresh))
        return self.taken.rows

    def least_due(self, wanted: Callable[[Rows], Mask]) -> int:
        """Returns when the first row is due that is wanted and was not loaded."""
        least = NEVER
        for chunk in self.chunks if not self.layout.whole else ():
            due, by_due = self._index_of(chunk)
            first, count = bisect_right(by_due, self.limit, key=due.__getitem__), SMALL
            while first < len(by_due) and due[by_due[first]] < least:
                # Places are read in order: a file in memory is then read page by page.
                part = np.sort(by_due[first : first + count].astype(np.int64))
                found = self._read([(chunk, part)])
                able = wanted(found.rows) & ~np.isin(found.number, self.taken.number)
                least = min(least, int(found.due[able].min(initial=NEVER)))
                first, count = first + count, 2 * count
        return least

    def save(self, kept: Rows, stays: Mask, due: Whole) -> None:
        """Keeps rows: those taken that stay, as they are now, then new ones.

        Who does not stay leaves. When they are `due` is told in the order of `kept`.
        """
        if not self.chunks and not len(kept):
            return
        old = int(np.count_nonzero(stays))
        now, fresh = kept.take(slice(old)), kept.take(slice(old, None))
        number, rows, was_due = self.taken
        told = self._are_due(was_due)  # who was due has left without a word
        # When a row is due is kept beside it, so a change of that alone is a change
        # too.
        differ = due[:old] != was_due[stays]
        for name in self.layout.changing:
            differ |= getattr(rows, name)[stays] != getattr(now, name)
        # Chunks count who is alive in them: one that has nobody is dropped unread.
        left = np.sort(number[~stays & ~told] if self.layout.unseen else number[~stays])
        for at, chunk in enumerate(self.chunks):
            first, past = np.searchsorted(left, (chunk.first, chunk.past)).tolist()
            self.chunks[at] = replace(chunk, alive=chunk.alive - past + first)
        changed, gone = np.flatnonzero(differ), np.flatnonzero(~stays & ~told)
        if len(changed) or len(gone):
            self.deltas.append(
                RowChanges.of(
                    np.append(number[stays][changed], number[gone]),
                    np.repeat(np.array([0, 1], np.uint8), [len(changed), len(gone)]),
                    {
                        name: np.append(
                            getattr(now, name)[changed], getattr(rows, name)[gone]
                        )
                        for name in self.layout.changing
                    },
                    np.append(due[changed], np.full(len(gone), NEVER)),
                )
            )
        self.overdue = number[stays][self._are_due(due[:old])]
        self.known += len(fresh)
        self._keep_chunks(fresh, due[old:])
        self._keep_deltas()

    # What is read.

    def _filed(self, chunk: Chunk) -> Filed:
        """Returns the rows of a chunk as they lie on the shelf."""
        if chunk.blob not in self._open:
            self._open[chunk.blob] = Filed.of(
                read_batch(self.blobs.shelf.get(chunk.blob))
            )
        return self._open[chunk.blob]

    def _index_of(self, chunk: Chunk) -> tuple[Whole, Whole]:
        """Returns when a chunk's rows are due, and in which order."""
        filed = self._filed(chunk)
        return filed.array("due"), filed.array("by_due")

    def _read(self, wanted: Iterable[tuple[Chunk, Whole | slice]]) -> Taken:
        """Returns those of the rows at some places of chunks that are alive."""
        # At least no rows with the right columns: joins of nothing need one part.
        parts, numbers = [no_rows(self.layout.schema)], [np.empty(0, np.int64)]
        dues = [np.empty(0, np.int64)]
        for chunk, at in wanted:
            if isinstance(at, slice) or len(at):
                filed = self._filed(chunk)
                parts.append(filed.take(at, leave=_INDEX))
                places = np.arange(chunk.size) if isinstance(at, slice) else at
                numbers.append(chunk.first + places)
                dues.append(filed.array("due")[at])
        found = Taken(np.concatenate(numbers), join_rows(parts), np.concatenate(dues))
        lived = found._replace(rows=self.layout.lived(found.rows))
        # First what follows from a row, then what has been written about it: that
        # counts.
        found, gone = self._changed(lived)
        leaves = self._are_due(found.due)
        # They were due and had a reason to stay.
        leaves[np.isin(found.number, self.overdue)] = False
        return found.take(~(gone | leaves))

    def _wanted(self, chunk: Chunk, codes: Whole, due: Whole) -> Whole:
        """Returns the places of a chunk's rows that have such a code or are due."""
        places = _places_of(self._filed(chunk).array("code"), codes)
        first, past = np.searchsorted(due, (chunk.first, chunk.past)).tolist()
        own = due[first:past]
        return np.union1d(places, own - chunk.first) if len(own) else places

    def _due(self, limit: int) -> Whole:
        """Returns the numbers of rows that fall due by a limit, and some more."""
        if self.layout.unseen:
            return self.overdue
        found = [self.overdue]
        for chunk in self.chunks:
            due, by_due = self._index_of(chunk)
            places = by_due[self._between(due, by_due, limit)]
            found.append(chunk.first + places.astype(np.int64))
        for delta in self.deltas:
            part = self._between(delta.due, delta.by_due, limit)
            found.append(delta.number[delta.by_due[part]])
        return np.unique(np.concatenate(found))

    def _between(self, due: Whole, by_due: Whole, limit: int) -> slice:
        """Returns which of rows in the order in which they fall due do so now."""
        # The two ends tell in most cases, without a search.
        if not len(due) or due[by_due[0]] > limit or due[by_due[-1]] <= self.limit:
            return slice(0, 0)
        # An index of a few thousand pages is searched in place, not read.
        first, past = (
            bisect_right(by_due, edge, key=due.__getitem__)
            for edge in (self.limit, limit)
        )
        return slice(first, past)

    def _changed(self, found: Taken) -> tuple[Taken, Mask]:
        """Returns rows as deltas have changed them, and which are gone."""
        number, gone = found.number, np.zeros(len(found.number), bool)
        if not self.deltas or not len(number):
            return found, gone
        order, due = np.argsort(number, kind="stable"), found.due.copy()
        ordered, own = number[order], {}
        for delta in self.deltas:
            mine, told = _common(ordered, delta.number)
            at = order[mine]
            gone[at], due[at] = delta.gone[told], delta.due[told]
            for name, values in delta.changes.items():
                if len(at) and name not in own:
                    own[name] = getattr(found.rows, name).copy()
                if len(at):
                    own[name][at] = values[told]
        return Taken(number, found.rows.with_arrays(**own), due), gone

    # What is written.

    def _are_due(self, due: Whole) -> Mask:
        """Tells which rows the limit has passed."""
        if self.layout.whole:
            return np.zeros(len(due), bool)
        are_due: Mask = due <= self.limit
        return are_due

    def _keep_chunks(self, fresh: Rows, due: Whole) -> None:
        """Keeps new rows, with those of chunks that are merged or written again."""
        new = Taken(np.empty(0, np.int64), fresh, due)
        there = [chunk for chunk in self.chunks if chunk.alive]
        for chunk in self.chunks:
            if not chunk.alive:
                self.blobs.shelf.drop(chunk.blob)
        # Sizes are counted by who is alive: merging is what frees the room of the
        # others.
        sizes = [chunk.alive for chunk in there]
        first = merged_from([*sizes, len(fresh)]) if len(fresh) else len(there)
        self.chunks = [
            self._written([chunk], new.take(slice(0)))
            if chunk.size > FAN * SMALL and 2 * chunk.alive <= chunk.size
            else chunk
            for chunk in there[:first]
        ]
        if len(fresh):
            self.chunks.append(self._written(there[first:], new))
        self.overdue = self.overdue[self._are_there(self.overdue)]

    def _written(self, chunks: list[Chunk], fresh: Taken) -> Chunk:
        """Returns a new chunk of the rows of chunks that are alive, and of new ones."""
        known = self._read((chunk, slice(None)) for chunk in chunks)
        for chunk in chunks:
            self.blobs.shelf.drop(chunk.blob)
        rows, due = join_rows([known.rows, fresh.rows]), np.append(known.due, fresh.due)
        index: tuple[tuple[str, npt.NDArray[Any]], ...] = (("due", due),)
        if not self.layout.whole:
            order = sorted_by(rows.code)
            rows, due = rows.take(order), due[order]
            by_due = np.argsort(due, kind="stable").astype(np.int32)
            index = (("due", due), ("by_due", by_due))
        batch = as_batch(
            rows,
            own_partition=self.layout.own_partition,
            more=tuple(dict.fromkeys((*self.layout.changing, *self.layout.lasting))),
            beside=index,
        )
        first, size = self.next_row, len(rows)
        late = first + np.flatnonzero(self._are_due(due))
        self.overdue = np.concatenate((self.overdue, late))
        self.next_row += size
        data = write_batch(batch)
        return Chunk(self.blobs.put(data), first, size, size, len(data))

    def _are_there(self, number: Whole) -> Mask:
        """Tells which rows are in a chunk that is still there."""
        there = np.zeros(len(number), bool)
        for chunk in self.chunks:
            there |= (number >= chunk.first) & (number < chunk.past)
        return there

    def _keep_deltas(self) -> None:
        """Keeps the newest delta, those of its size merged with it."""
        if not self.deltas:
            return
        sizes = [len(delta) for delta in self.deltas]
        # Deltas that tell of more rows than there are say little: all become one.
        first = 0 if sum(sizes) > self.alive else merged_from(sizes)
        merging = self.deltas[first:]
        if len(merging) == 1 and merging[0].blob and self.alive:
            return
        self.deltas = self.deltas[:first]
        for delta in merging:
            if delta.blob:
                self.blobs.shelf.drop(delta.blob)
        number = np.concatenate([delta.number for delta in merging])
        # What is told of a chunk that is gone, or written anew, is told for nobody.
        there = self._are_there(number)
        if not there.any():
            return
        merged = RowChanges.of(
            number[there],
            np.concatenate([delta.gone for delta in merging])[there],
            {
                name: np.concatenate([delta.changes[name] for delta in merging])[there]
                for name in self.layout.changing
            },
            np.concatenate([delta.due for delta in merging])[there],
        )
        data = merged.written()
        self.deltas.append(replace(merged, blob=self.blobs.put(data), length=len(data)))


def merged_from(sizes: list[int]) -> int:
    """Returns from where on the last sizes become one.

    That is where a few are no larger than what they make together; none leaves the
    last one alone.
    """
    first = len(sizes) - 1
    while True:
        level, before = _level(sum(sizes[first:])), first
        while before and _level(sizes[before - 1]) <= level:
            before -= 1
        if before == first or first - before + 1 < FAN:
            return first
        first = before


def _level(size: int) -> int:
    """Returns how often the smallest size has grown as many times as large."""
    return max(0, (size // SMALL).bit_length() - 1) // (FAN.bit_length() - 1)


def _places_of(codes: Whole, wanted: Whole) -> Whole:
    """Returns the places of sorted codes at which one that is wanted stands."""
    least, most = codes[0], codes[-1]
    # Codes that the chunk cannot have are cut off first: a chunk of one key is then
    # looked into once.
    past = np.searchsorted(wanted, most, "right")
    near = wanted[np.searchsorted(wanted, least) : past]
    first = np.searchsorted(codes, near)
    found = codes[first] == near
    first = first[found]
    counts = np.searchsorted(codes, near[found], "right") - first
    # Each run of equal codes one by one: where it starts, less what stands before.
    starts = np.repeat(first - np.cumsum(counts) + counts, counts)
    places: Whole = starts + np.arange(len(starts))
    return places


def _common(ones: Whole, others: Whole) -> tuple[Whole, Whole]:
    """Returns where numbers stand that both have; both rise."""
    if len(ones) > len(others):
        theirs, mine = _common(others, ones)
        return mine, theirs
    at = np.minimum(np.searchsorted(others, ones), len(others) - 1)
    found = np.flatnonzero(others[at] == ones)
    return found, at[found]
