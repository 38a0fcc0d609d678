"""One side's rows that are alive: chunks, and deltas of what has changed about them.

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
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from dovetail.kernels.arrays.blobs import Filed, as_batch, read_batch, write_batch
from dovetail.kernels.arrays.rows import Mask, Rows, Whole, join_rows, no_rows
from dovetail.kernels.arrays.sort import sorted_by
from dovetail.kernels.demand import NO_LIMIT, Demand, due_times, leaves_unseen
from dovetail.kernels.lifetimes.births import births, deaths
from dovetail.kernels.settings import JoinSettings, SideSettings

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

    @property
    def past(self) -> int:
        """Returns the number behind its last row."""
        return self.first + self.size


@dataclass(frozen=True, slots=True)
class Delta:
    """What has changed of some rows, by their numbers, which rise.

    `due` says in order when those rows fall due, `by_due` which ones.
    """

    number: Whole
    gone: npt.NDArray[np.uint8]
    changes: _Arrays
    due: Whole
    by_due: Whole
    blob: int = 0

    @classmethod
    def of(
        cls,
        number: Whole,
        gone: npt.NDArray[np.uint8],
        changes: _Arrays,
        due: Whole,
    ) -> Delta:
        """Returns what has changed of rows in any order, some there more than once.

        Of these the last counts.
        """
        order = np.argsort(number, kind="stable")
        ordered = number[order]
        order = order[np.append(ordered[1:] != ordered[:-1], True)[: len(order)]]
        by_due = np.argsort(due[order], kind="stable")
        return cls(
            number[order],
            gone[order],
            {name: array[order] for name, array in changes.items()},
            due[order][by_due],
            by_due,
        )

    @classmethod
    def read(cls, blob: int, data: bytes | pa.Buffer) -> Delta:
        """Returns the delta of a blob."""
        batch = read_batch(data)
        arrays = {
            name: column.to_numpy()
            for name, column in zip(batch.schema.names, batch.columns, strict=True)
        }
        first = [arrays.pop(name) for name in ("number", "gone")]
        last = [arrays.pop(name) for name in _INDEX]
        return cls(first[0], first[1], arrays, last[0], last[1], blob)

    def written(self) -> bytes:
        """Returns the delta as bytes."""
        own = {"number": self.number, "gone": self.gone}
        index = dict(zip(_INDEX, (self.due, self.by_due), strict=True))
        columns = {**own, **self.changes, **index}
        return write_batch(pa.RecordBatch.from_pydict(columns))

    def __len__(self) -> int:
        """Returns of how many rows it tells."""
        return len(self.number)

    def by_number(self) -> Whole:
        """Returns when the rows fall due, in the order of their numbers."""
        due = np.empty_like(self.due)
        due[self.by_due] = self.due
        return due


@dataclass(slots=True)
class Chunks:
    """One side's rows between reading and writing them.

    `overdue` are the numbers of rows that are alive though they were due. `taken` are
    the rows that were asked for, with their numbers, as they were.
    """

    settings: JoinSettings
    hand: int
    schema: pa.Schema
    blobs: Blobs
    chunks: list[Chunk] = field(default_factory=list)
    deltas: list[Delta] = field(default_factory=list)
    overdue: Whole = field(default_factory=lambda: np.empty(0, np.int64))
    limit: int = NO_LIMIT
    next_row: int = 0
    taken: tuple[Whole, Rows] = field(init=False)
    _open: dict[int, Filed] = field(default_factory=dict)

    def take_over(self, known: dict[str, Any]) -> None:
        """Takes what a directory says of the side."""
        self.chunks = [Chunk(*numbers) for numbers in known["chunks"]]
        self.deltas = [
            Delta.read(blob, self.blobs.shelf.get(blob)) for blob in known["deltas"]
        ]
        self.overdue = np.array(known["overdue"], np.int64)
        self.limit, self.next_row = known["limit"], known["next_row"]

    def listing(self) -> dict[str, Any]:
        """Returns what the directory says of the side."""
        return {
            "chunks": [
                [chunk.blob, chunk.first, chunk.size, chunk.alive]
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

    def load(self, demand: Demand) -> Rows:
        """Returns the rows that a step asks for; where it must, all."""
        if self.settings.reads_all:
            self.taken = self._read((chunk, slice(None)) for chunk in self.chunks)
            return self.taken[1]
        due = self._due(demand.limit)
        self.taken = self._read(
            (chunk, self._wanted(chunk, demand.codes, due)) for chunk in self.chunks
        )
        if leaves_unseen(self._side):
            for number, chunk in enumerate(self.chunks):
                part = self._between(self._filed(chunk).array("due"), demand.limit)
                left = chunk.alive - (part.stop - part.start)
                self.chunks[number] = replace(chunk, alive=left)
        self.limit = max(self.limit, demand.limit)
        return self.taken[1]

    def save(self, rows: Rows, old: int, kept: Mask) -> None:
        """Keeps rows: the first `old` are those taken, as they are now.

        Those that are not `kept` leave.
        """
        numbers, before = self.taken
        now, stays = rows.take(slice(old)), kept[:old]
        told = self._are_due(before)  # who was due has left without a word
        is_new = np.where(stays, self._differ(before, now), ~told)
        leaving = ~stays & ~told if leaves_unseen(self._side) else ~stays
        left = np.sort(numbers[leaving])
        for number, chunk in enumerate(self.chunks):
            first, past = np.searchsorted(left, (chunk.first, chunk.past)).tolist()
            self.chunks[number] = replace(chunk, alive=chunk.alive - past + first)
        if is_new.any():
            names = changing(self.settings, self.hand)
            changes = {name: getattr(now, name)[is_new] for name in names}
            gone = (~stays[is_new]).astype(np.uint8)
            due = due_times(self._side, now)[is_new]
            self.deltas.append(Delta.of(numbers[is_new], gone, changes, due))
        self.overdue = numbers[stays & self._are_due(now)]
        fresh = np.flatnonzero(kept[old:]) + old
        self._keep_chunks(rows.take(fresh))
        self._keep_deltas()

    @property
    def _side(self) -> SideSettings:
        """Returns what is known of the side."""
        return self.settings.sides[self.hand]

    # What is read.

    def _filed(self, chunk: Chunk) -> Filed:
        """Returns the rows of a chunk as they lie on the shelf."""
        if chunk.blob not in self._open:
            self._open[chunk.blob] = Filed.of(self.blobs.shelf.get(chunk.blob))
        return self._open[chunk.blob]

    def _read(
        self, wanted: Iterable[tuple[Chunk, Whole | slice]]
    ) -> tuple[Whole, Rows]:
        """Returns those of the rows at some places of chunks that are alive."""
        parts, numbers = [no_rows(self.schema)], [np.empty(0, np.int64)]
        for chunk, at in wanted:
            if isinstance(at, slice) or len(at):
                parts.append(self._filed(chunk).take(at, leave=_INDEX))
                places = np.arange(chunk.size) if isinstance(at, slice) else at
                numbers.append(chunk.first + places)
        number = np.concatenate(numbers)
        rows, gone = self._changed(number, self._lived(join_rows(parts)))
        leaves = self._are_due(rows)
        leaves[np.isin(number, self.overdue)] = False
        alive = ~(gone | leaves)
        return (number, rows) if alive.all() else (number[alive], rows.take(alive))

    def _wanted(self, chunk: Chunk, codes: Whole, due: Whole) -> Whole:
        """Returns the places of a chunk's rows that have such a code or are due."""
        places = _places_of(self._filed(chunk).array("code"), codes)
        first, past = np.searchsorted(due, (chunk.first, chunk.past)).tolist()
        own = due[first:past]
        return np.union1d(places, own - chunk.first) if len(own) else places

    def _due(self, limit: int) -> Whole:
        """Returns the numbers of rows that fall due by a limit, and some more."""
        if leaves_unseen(self._side):
            return self.overdue
        found = [self.overdue]
        for chunk in self.chunks:
            filed = self._filed(chunk)
            part = self._between(filed.array("due"), limit)
            if part.start < part.stop:
                found.append(chunk.first + filed.array("by_due")[part])
        for delta in self.deltas:
            part = self._between(delta.due, limit)
            found.append(delta.number[delta.by_due[part]])
        return np.unique(np.concatenate(found))

    def _between(self, due: Whole, limit: int) -> slice:
        """Returns which of rows in the order in which they fall due do so now."""
        # The two ends tell in most cases, without a search.
        if not len(due) or due[0] > limit or due[-1] <= self.limit:
            return slice(0, 0)
        first, past = np.searchsorted(due, (self.limit, limit), "right").tolist()
        return slice(first, past)

    def _lived(self, rows: Rows) -> Rows:
        """Returns rows read from chunks with the lives that follow from them."""
        side, event_clock = self._side, self.settings.event_clock
        if side.counts_later:
            return rows
        rows = rows.with_arrays(
            birth=births(side.window, rows) if event_clock else rows.place
        )
        if side.is_intrinsic and "death" not in changing(self.settings, self.hand):
            return rows.with_arrays(death=deaths(side, rows))
        return rows

    def _changed(self, number: Whole, rows: Rows) -> tuple[Rows, Mask]:
        """Returns rows as deltas have changed them, and which are gone."""
        gone = np.zeros(len(rows), bool)
        if not self.deltas or not len(rows):
            return rows, gone
        order, own = np.argsort(number, kind="stable"), {}
        ordered = number[order]
        for delta in self.deltas:
            mine, told = _common(ordered, delta.number)
            at = order[mine]
            gone[at] = delta.gone[told]
            for name, values in delta.changes.items():
                if len(at) and name not in own:
                    own[name] = getattr(rows, name).copy()
                if len(at):
                    own[name][at] = values[told]
        return rows.with_arrays(**own), gone

    # What is written.

    def _are_due(self, rows: Rows) -> Mask:
        """Tells which rows the limit has passed."""
        if self.settings.reads_all:
            return np.zeros(len(rows), bool)
        due: Mask = due_times(self._side, rows) <= self.limit
        return due

    def _differ(self, before: Rows, now: Rows) -> Mask:
        """Tells which rows have changed."""
        differ = np.zeros(len(now), bool)
        for name in changing(self.settings, self.hand):
            differ |= getattr(before, name) != getattr(now, name)
        return differ

    def _keep_chunks(self, fresh: Rows) -> None:
        """Keeps new rows, with those of chunks that are merged or written again."""
        there = [chunk for chunk in self.chunks if chunk.alive]
        for chunk in self.chunks:
            if not chunk.alive:
                self.blobs.shelf.drop(chunk.blob)
        sizes = [chunk.alive for chunk in there]
        first = merged_from([*sizes, len(fresh)]) if len(fresh) else len(there)
        self.chunks = [
            self._written([chunk], fresh.take(slice(0)))
            if chunk.size > FAN * SMALL and 2 * chunk.alive <= chunk.size
            else chunk
            for chunk in there[:first]
        ]
        if len(fresh):
            self.chunks.append(self._written(there[first:], fresh))
        self.overdue = self.overdue[self._are_there(self.overdue)]

    def _written(self, chunks: list[Chunk], fresh: Rows) -> Chunk:
        """Returns a new chunk of the rows of chunks that are alive, and of new ones."""
        _, known = self._read((chunk, slice(None)) for chunk in chunks)
        for chunk in chunks:
            self.blobs.shelf.drop(chunk.blob)
        rows = join_rows([known, fresh])
        if not self.settings.reads_all:
            rows = rows.take(sorted_by(rows.code))
        side, life = self._side, ("birth", "death")
        more = changing(self.settings, self.hand)
        batch = as_batch(
            rows,
            own_partition=side.own_partition,
            more=tuple(dict.fromkeys((*more, *(life if side.counts_later else ())))),
            beside=self._index(rows),
        )
        first, size = self.next_row, len(rows)
        late = first + np.flatnonzero(self._are_due(rows))
        self.overdue = np.concatenate((self.overdue, late))
        self.next_row += size
        return Chunk(self.blobs.put(write_batch(batch)), first, size, size)

    def _index(self, rows: Rows) -> tuple[tuple[str, npt.NDArray[Any]], ...]:
        """Returns when rows fall due, in order, and which ones where it matters."""
        if self.settings.reads_all:
            return ()
        due = due_times(self._side, rows)
        if leaves_unseen(self._side):
            return (("due", np.sort(due)),)
        by_due = np.argsort(due, kind="stable")
        return ("due", due[by_due]), ("by_due", by_due.astype(np.int32))

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
        first = 0 if sum(sizes) > self.alive else merged_from(sizes)
        merging = self.deltas[first:]
        if len(merging) == 1 and merging[0].blob and self.alive:
            return
        self.deltas = self.deltas[:first]
        for delta in merging:
            if delta.blob:
                self.blobs.shelf.drop(delta.blob)
        number = np.concatenate([delta.number for delta in merging])
        there = self._are_there(number)
        if not there.any():
            return
        merged = Delta.of(
            number[there],
            np.concatenate([delta.gone for delta in merging])[there],
            {
                name: np.concatenate([delta.changes[name] for delta in merging])[there]
                for name in changing(self.settings, self.hand)
            },
            np.concatenate([delta.by_number() for delta in merging])[there],
        )
        self.deltas.append(replace(merged, blob=self.blobs.put(merged.written())))


def changing(settings: JoinSettings, hand: int) -> tuple[str, ...]:
    """Returns the arrays of a side's rows that later batches change.

    In order of arrival a row that is kept has no end yet, but where it or its pairs
    wait.
    """
    side = settings.sides[hand]
    waits = settings.picks.waits or side.waits
    stays = settings.event_clock or waits
    can_end = stays and (side.evicts or not side.is_intrinsic)
    met = ("partners",) if settings.changelog else ("met",)
    since = ("waits_since",) if side.waits and not settings.event_clock else ()
    return (
        *((*met, *since) if side.remembers else ()),
        *(("death",) if can_end else ()),
        *(("flags",) if side.remembers or (stays and side.evicts) else ()),
    )


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
    past = np.searchsorted(wanted, most, "right")
    near = wanted[np.searchsorted(wanted, least) : past]
    first = np.searchsorted(codes, near)
    found = codes[first] == near
    first = first[found]
    counts = np.searchsorted(codes, near[found], "right") - first
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
