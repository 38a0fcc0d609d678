"""A bucket's state as numbered blobs: append-only chunks and a small directory.

    directory   fingerprint, layout, watches, next place and number, chunks of each side
    n           rows of one side, never changed
    n (marks)   beside a chunk: which of its rows are gone, whom they met, when they die

A chunk goes when nothing in it is alive; one that is more than half gone, or small, is
poured into the newest chunk. Each row is so written few times, and a batch writes
about as much as came.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
import pyarrow as pa

from dovetail.kernels.arrays.blobs import read_batch, read_rows, write_batch, write_rows
from dovetail.kernels.arrays.rows import Rows, Whole, join_rows, no_rows
from dovetail.kernels.arrival.arrival import Watch
from dovetail.kernels.lifetimes.births import births, deaths
from dovetail.kernels.pairs.memo import NO_MEMO, memo_batches, memo_from
from dovetail.kernels.settings import FORMAT, JoinSettings
from dovetail.kernels.state import JoinState, new_state
from dovetail.kernels.step import Stepped

SMALL = 4096
NOTHING = 0


class Shelf(Protocol):
    """Where a bucket keeps its blobs."""

    def directory(self) -> bytes:
        """Returns the directory, empty where there is none yet."""

    def keep_directory(self, data: bytes) -> None:
        """Keeps the directory."""

    def get(self, number: int) -> bytes:
        """Returns a blob."""

    def put(self, number: int, data: bytes) -> None:
        """Keeps a blob."""

    def drop(self, number: int) -> None:
        """Forgets a blob."""


class StateMismatchError(Exception):
    """The state was written by another join, or spread over other buckets."""


@dataclass(frozen=True, slots=True)
class Chunk:
    """One chunk: where it and its marks lie, and which of its rows are alive."""

    number: int
    marks: int
    size: int
    alive: Whole


@dataclass(slots=True)
class Store:
    """A bucket's state between reading and writing it."""

    settings: JoinSettings
    schemas: tuple[pa.Schema, pa.Schema]
    shelf: Shelf
    next_number: int = 1
    chunks: tuple[list[Chunk], list[Chunk]] = field(default_factory=lambda: ([], []))
    extras: list[int] = field(default_factory=list)

    def load(self) -> JoinState:
        """Returns the state as the last batch left it."""
        written = self.shelf.directory()
        if not written:
            return new_state(self.schemas)
        known = json.loads(written)
        if known["fingerprint"] != self.settings.fingerprint:
            raise StateMismatchError(
                "the state was written by another join, or over other buckets: start "
                "with write(checkpoint=...), or with the same shuffle partitions"
            )
        self.next_number = known["next_number"]
        self.extras = [*known["waiting"], known["held"], *known["memo"]]
        left, right = (self._alive(hand, known["chunks"][hand]) for hand in (0, 1))
        waiting_left, waiting_right = (
            self._waiting(hand, known["waiting"][hand]) for hand in (0, 1)
        )
        state = new_state(self.schemas)
        held = known["held"]
        # A watch is its numbers in order, its holds last, however many there are.
        watch_left, watch_right = (
            Watch(bound, newest, active, stopped, tuple(holds))
            for bound, newest, active, stopped, *holds in known["watches"]
        )
        return JoinState(
            alive=(left, right),
            waiting=(waiting_left, waiting_right),
            watches=(watch_left, watch_right),
            held=read_batch(self.shelf.get(held)) if held else state.held,
            next_place=known["next_place"],
            memo=memo_from(
                *(
                    read_batch(self.shelf.get(number)) if number else none
                    for number, none in zip(
                        known["memo"], memo_batches(NO_MEMO), strict=True
                    )
                )
            ),
        )

    def save(self, stepped: Stepped) -> int:
        """Keeps what a step leaves behind; returns how many bytes were written."""
        writing = _Writing(self)
        lists = [writing.side(hand, stepped) for hand in (0, 1)]
        for number in self.extras:
            writing.drop(number)
        present = stepped.present
        known = {
            "format": FORMAT,
            "fingerprint": self.settings.fingerprint,
            "layout": self.settings.layout,
            "chunks": lists,
            "waiting": [writing.rows(hand, present.waiting[hand]) for hand in (0, 1)],
            "held": writing.batch(stepped.held),
            "memo": [writing.batch(part) for part in memo_batches(stepped.memo)],
            "watches": [
                [watch.bound, watch.newest, watch.active, watch.stopped, *watch.holds]
                for watch in present.watches
            ],
            "next_place": present.next_place,
            "next_number": writing.next_number,
        }
        self.shelf.keep_directory(json.dumps(known).encode())
        return writing.written

    def _alive(self, hand: int, listed: list[list[int]]) -> Rows:
        """Returns a side's rows that are alive, chunk by chunk."""
        parts = [no_rows(self.schemas[hand])]
        for number, marks, size in listed:
            rows = _lived(self.settings, hand, read_rows(self.shelf.get(number)))
            alive = np.arange(size)
            if marks:
                changed = read_batch(self.shelf.get(marks))
                columns = {
                    name: changed.column(name).to_numpy(zero_copy_only=False)
                    for name in changed.schema.names
                }
                alive = np.flatnonzero(~columns.pop("gone"))
                rows = rows.with_arrays(**columns).take(alive)
            self.chunks[hand].append(Chunk(number, marks, size, alive))
            parts.append(rows)
        return join_rows(parts)

    def _waiting(self, hand: int, number: int) -> Rows:
        """Returns a side's rows that wait for a bound."""
        if not number:
            return no_rows(self.schemas[hand])
        rows = read_rows(self.shelf.get(number))
        side = self.settings.sides[hand]
        if not self.settings.event_clock or side.counts_later:
            return rows
        return rows.with_arrays(birth=births(side.window, rows))


def _lived(settings: JoinSettings, hand: int, rows: Rows) -> Rows:
    """Returns rows read from a chunk with the lifetimes that follow from them."""
    side = settings.sides[hand]
    if side.counts_later:
        return rows
    begun = births(side.window, rows) if settings.event_clock else rows.place
    rows = rows.with_arrays(birth=begun)
    if side.is_intrinsic:
        return rows.with_arrays(death=deaths(side, rows))
    return rows


@dataclass(slots=True)
class _Writing:
    """One save: counts numbers and bytes."""

    store: Store
    next_number: int = field(init=False)
    written: int = 0

    def __post_init__(self) -> None:
        self.next_number = self.store.next_number

    def put(self, data: bytes) -> int:
        """Keeps a blob under a new number, which is returned."""
        number = self.next_number
        self.next_number += 1
        self.written += len(data)
        self.store.shelf.put(number, data)
        return number

    def drop(self, number: int) -> None:
        """Forgets a blob, if there is one."""
        if number:
            self.store.shelf.drop(number)

    def rows(self, hand: int, rows: Rows) -> int:
        """Keeps rows; no rows have no number."""
        if not len(rows):
            return NOTHING
        side = self.store.settings.sides[hand]
        own_life = side.counts_later
        own = side.own_partition
        return self.put(write_rows(rows, own_partition=own, own_life=own_life))

    def batch(self, batch: pa.RecordBatch) -> int:
        """Keeps a batch; an empty one has no number."""
        return self.put(write_batch(batch)) if batch.num_rows else NOTHING

    def side(self, hand: int, stepped: Stepped) -> list[list[int]]:
        """Keeps one side's rows; returns its chunks as the directory lists them."""
        rows, kept = stepped.present.rows[hand], stepped.kept[hand]
        chunks = self.store.chunks[hand]
        ends = np.cumsum([len(chunk.alive) for chunk in chunks], dtype=np.int64)
        pool = [np.flatnonzero(kept[stepped.present.old[hand] :])]
        pool[0] += stepped.present.old[hand]
        listed: list[list[int]] = []
        for chunk, end in zip(reversed(chunks), reversed(ends.tolist()), strict=True):
            part = slice(end - len(chunk.alive), end)
            stays = np.flatnonzero(kept[part]) + part.start
            # Small chunks, and those more than half gone, are poured into the newest:
            # so there are few, and each row is written few times.
            is_small = len(stays) <= sum(map(len, pool)) and len(stays) < SMALL
            if is_small or 2 * len(stays) <= chunk.size:
                pool.append(stays)
                self.drop(chunk.number)
                self.drop(chunk.marks)
            else:
                listed.append(self._stays(hand, chunk, rows.take(part), kept[part]))
        listed.reverse()
        chosen = np.concatenate(pool[::-1])
        if len(chosen):
            fresh, nothing = rows.take(chosen), np.zeros(len(chosen), bool)
            number, marks = self.rows(hand, fresh), self._marks(hand, fresh, nothing)
            listed.append([number, marks, len(chosen)])
        return listed

    def _stays(
        self, hand: int, chunk: Chunk, rows: Rows, kept: np.ndarray
    ) -> list[int]:
        """Keeps what changed about a chunk that stays where it is."""
        own = self._changing(hand)
        if kept.all() and not own:
            return [chunk.number, chunk.marks, chunk.size]
        gone = np.ones(chunk.size, bool)
        gone[chunk.alive[kept]] = False
        self.drop(chunk.marks)
        # Marks lie as the chunk's rows do; in the gaps of those gone the first repeats.
        index = np.zeros(chunk.size, np.int64)
        index[chunk.alive] = np.arange(len(chunk.alive))
        marks = self._marks(hand, rows.take(index), gone)
        return [chunk.number, marks, chunk.size]

    def _changing(self, hand: int) -> tuple[str, ...]:
        """Returns the arrays of a side's rows that later batches change.

        In order of arrival a row that is kept has no end yet, but where it or
        its pairs wait.
        """
        settings = self.store.settings
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

    def _marks(self, hand: int, rows: Rows, gone: np.ndarray) -> int:
        """Keeps the marks of a chunk, if it has any."""
        names = self._changing(hand)
        if not names and not gone.any():
            return NOTHING
        columns = [pa.array(gone), *(pa.array(getattr(rows, name)) for name in names)]
        return self.put(
            write_batch(pa.RecordBatch.from_arrays(columns, names=["gone", *names]))
        )
