"""A bucket's state as numbered blobs: chunks of rows, deltas, and a small directory.

    directory   fingerprint, identity, watches, next place, chunks and deltas of sides
    blobs       of rows that are alive (`chunks`), that wait, that are held back

A batch reads the rows to which something can happen (`demand`), and writes what came
and what has changed: it costs what it brings and what falls due, not what is kept.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from typing import Any

import pyarrow as pa

from dovetail.kernels.arrays.blobs import as_batch, read_batch, read_rows, write_batch
from dovetail.kernels.arrays.rows import Rows, no_rows
from dovetail.kernels.arrival.arrival import Parcel, Watch
from dovetail.kernels.chunks import Blobs, Chunks, Shelf
from dovetail.kernels.demand import demands
from dovetail.kernels.lifetimes.births import births
from dovetail.kernels.pairs.memo import NO_MEMO, memo_batches, memo_from
from dovetail.kernels.settings import FORMAT, JoinSettings
from dovetail.kernels.state import JoinState, new_state
from dovetail.kernels.step import Stepped

NOTHING = 0


class StateMismatchError(Exception):
    """The state was written by another join, or spread over other buckets."""


@dataclass(frozen=True, slots=True)
class Saved:
    """How many bytes were written, and how many rows are alive or wait."""

    written: int
    alive: int


@dataclass(slots=True)
class Store:
    """A bucket's state between reading and writing it."""

    settings: JoinSettings
    schemas: tuple[pa.Schema, pa.Schema]
    shelf: Shelf
    blobs: Blobs = field(init=False)
    sides: tuple[Chunks, Chunks] = field(init=False)
    extras: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.blobs = Blobs(self.shelf)
        left, right = (
            Chunks(self.settings, hand, schema, self.blobs)
            for hand, schema in enumerate(self.schemas)
        )
        self.sides = left, right

    def load(self, parcels: list[Parcel], now: int) -> JoinState:
        """Returns the state as the last batch left it.

        Of the rows that are alive it has those that a step on the parcels asks for.
        """
        state, written = new_state(self.schemas), self.shelf.directory()
        if written:
            known = json.loads(written)
            if known["fingerprint"] != self.settings.fingerprint:
                raise StateMismatchError(
                    "the state was written by another join, or over other buckets: "
                    "start with write(checkpoint=...), which takes those it finds"
                )
            state = self._read(known, state)
        asked = demands(self.settings, state, parcels, now)
        left, right = (
            side.load(demand) for side, demand in zip(self.sides, asked, strict=True)
        )
        return replace(state, alive=(left, right))

    def save(self, stepped: Stepped) -> Saved:
        """Keeps what a step leaves behind."""
        present = stepped.present
        for hand, side in enumerate(self.sides):
            side.save(present.rows[hand], present.old[hand], stepped.kept[hand])
        for number in filter(None, self.extras):
            self.shelf.drop(number)
        known = {
            "format": FORMAT,
            "fingerprint": self.settings.fingerprint,
            "identity": self.settings.identity,
            "buckets": self.settings.buckets,
            "sides": [side.listing() for side in self.sides],
            "waiting": [self._put_rows(hand, present.waiting[hand]) for hand in (0, 1)],
            "held": self._put(stepped.held),
            "memo": [self._put(part) for part in memo_batches(stepped.memo)],
            "watches": [
                [watch.bound, watch.newest, watch.active, watch.stopped, *watch.holds]
                for watch in present.watches
            ],
            "next_place": present.next_place,
        }
        self.shelf.keep_directory(json.dumps(known).encode())
        waiting = sum(map(len, present.waiting))
        return Saved(self.blobs.written, waiting + sum(one.alive for one in self.sides))

    def _read(self, known: dict[str, Any], new: JoinState) -> JoinState:
        """Returns what a directory tells, without the rows that are alive."""
        held = known["held"]
        self.extras = [*known["waiting"], held, *known["memo"]]
        for side, listing in zip(self.sides, known["sides"], strict=True):
            side.take_over(listing)
        left, right = (self._waiting(hand, known["waiting"][hand]) for hand in (0, 1))
        # A watch is its numbers in order, its holds last, however many there are.
        watch_left, watch_right = (
            Watch(bound, newest, active, stopped, tuple(holds))
            for bound, newest, active, stopped, *holds in known["watches"]
        )
        memo = zip(known["memo"], memo_batches(NO_MEMO), strict=True)
        return replace(
            new,
            waiting=(left, right),
            watches=(watch_left, watch_right),
            held=read_batch(self.shelf.get(held)) if held else new.held,
            next_place=known["next_place"],
            memo=memo_from(
                *(
                    read_batch(self.shelf.get(number)) if number else none
                    for number, none in memo
                )
            ),
        )

    def _waiting(self, hand: int, number: int) -> Rows:
        """Returns a side's rows that wait for a bound."""
        if not number:
            return no_rows(self.schemas[hand])
        rows = read_rows(self.shelf.get(number))
        side = self.settings.sides[hand]
        if not self.settings.event_clock or side.counts_later:
            return rows
        return rows.with_arrays(birth=births(side.window, rows))

    def _put_rows(self, hand: int, rows: Rows) -> int:
        """Keeps rows that wait; no rows have no number."""
        side = self.settings.sides[hand]
        life = ("birth", "death") if side.counts_later else ()
        return self._put(as_batch(rows, own_partition=side.own_partition, more=life))

    def _put(self, batch: pa.RecordBatch) -> int:
        """Keeps a batch; an empty one has no number."""
        return self.blobs.put(write_batch(batch)) if batch.num_rows else NOTHING
