"""A bucket's state as numbered blobs: chunks of rows, deltas, and a small directory.

    directory   fingerprint, identity, watches, next place, what there is of each kind
    kinds       both sides' rows that are alive and rows that wait, pairs that wait
    blobs       of these (`chunks`), of what is held back, of covers

A batch reads the rows to which something can happen (`demand`), and writes what came
and what has changed: it costs what it brings and what falls due, not what is kept.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from functools import partial
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from dovetail.kernels import chunks, demand
from dovetail.kernels.arrays.blobs import read_batch, write_batch
from dovetail.kernels.arrays.rows import NEVER, Rows, Whole, join_rows
from dovetail.kernels.arrival import arrival
from dovetail.kernels.lifetimes.births import births, deaths
from dovetail.kernels.pairs import memo
from dovetail.kernels.settings import FORMAT, JoinSettings
from dovetail.kernels.state import JoinState, new_state
from dovetail.kernels.step import Stepped

NOTHING = 0


class StateMismatchError(Exception):
    """The state was written by another join, or spread over other buckets."""


class Amount(NamedTuple):
    """How much of a side is kept: rows, those of them that wait, and bytes.

    So many rows that were kept were `evicted` by the batch. In order of arrival so many
    `partitions` of a window have rows, None where a bucket does not know.
    """

    alive: int
    waiting: int
    evicted: int
    bytes: int
    partitions: int | None = None


@dataclass(frozen=True, slots=True)
class Saved:
    """How many bytes a batch has written, and how much is kept of either side."""

    written: int
    sides: tuple[Amount, Amount]


def alive_layout(settings: JoinSettings, hand: int, schema: pa.Schema) -> chunks.Layout:
    """Returns how a side's rows are kept that take part.

    In order of arrival a row that is kept has no end yet, but where it or its pairs
    wait.
    """
    side = settings.sides[hand]
    waits = settings.picks.waits or side.waits
    stays = settings.event_clock or waits
    # Elsewhere the end follows from the row, and is not written.
    can_end = stays and (side.evicts or not side.is_intrinsic)
    are_told = stays and (side.evicts or side.told)
    met = ("partners",) if settings.changelog else ("met",)
    since = ("waits_since",) if side.waits and not settings.event_clock else ()
    counts = ("partners", "given") if settings.counts_pairs and hand == 0 else ()
    changing = (
        *((*met, *since) if side.remembers else ()),
        *counts,
        *(("death",) if can_end else ()),
        *(("flags",) if side.remembers or are_told else ()),
    )
    return chunks.Layout(
        schema,
        partial(_alive, settings, hand, is_told="death" in changing),
        changing,
        ("birth", "death") if side.counts_later else (),
        side.own_partition,
        unseen=demand.leaves_unseen(settings, hand),
        whole=bool(settings.reads_all),
    )


def _alive(settings: JoinSettings, hand: int, rows: Rows, *, is_told: bool) -> Rows:
    """Returns rows that take part with the lives that follow from them."""
    side = settings.sides[hand]
    if side.counts_later:
        return rows
    birth = births(side.window, rows) if settings.event_clock else rows.place
    rows = rows.with_arrays(birth=birth)
    if side.is_intrinsic and not is_told:
        return rows.with_arrays(death=deaths(side, rows))
    return rows


def waiting_layout(
    settings: JoinSettings, hand: int, schema: pa.Schema
) -> chunks.Layout:
    """Returns how a side's rows are kept that wait for a bound."""
    side = settings.sides[hand]
    # What inherits may have been told a sooner end while it waits.
    death = ("death",) if side.counts_later or side.inherits else ()
    life = ("birth", *death) if side.counts_later else death
    return chunks.Layout(
        schema,
        partial(_waiting, settings, hand),
        life,
        own_partition=side.own_partition,
        whole=bool(settings.reads_all),
    )


def _waiting(settings: JoinSettings, hand: int, rows: Rows) -> Rows:
    """Returns rows that wait with their births."""
    side = settings.sides[hand]
    if not settings.event_clock or side.counts_later or settings.gathers:
        return rows
    return rows.with_arrays(birth=births(side.window, rows))


@dataclass(slots=True)
class Store:
    """A bucket's state between reading and writing it, which may be done again."""

    settings: JoinSettings
    schemas: tuple[pa.Schema, pa.Schema]
    shelf: chunks.Shelf
    blobs: chunks.Blobs = field(init=False)
    sides: tuple[chunks.Chunks, chunks.Chunks] = field(init=False)
    waiting: tuple[chunks.Chunks, chunks.Chunks] = field(init=False)
    pairs: chunks.Chunks = field(init=False)
    extras: list[int] = field(default_factory=list)
    partitions: list[int] = field(default_factory=lambda: [0, 0])

    @property
    def kinds(self) -> tuple[chunks.Chunks, ...]:
        """Returns all that is kept as chunks."""
        return (*self.sides, *self.waiting, self.pairs)

    @property
    def alive(self) -> tuple[int, int]:
        """Returns how many rows of both sides are alive."""
        left, right = (side.alive for side in self.sides)
        return left, right

    def load(self, parcels: list[arrival.Parcel], now: int) -> JoinState:
        """Returns the state as the last batch left it.

        Of what is kept it has what a step on the parcels asks for.
        """
        state = self._without_rows()
        # Who waits tells who is due: so those are loaded first.
        coming = demand.Coming.of(self.settings, state, parcels, now)
        waiting = [
            kind.load(coming.codes(hand, kind.alive), coming.limit_of_waiting(hand))
            for hand, kind in enumerate(self.waiting)
        ]
        left, right = (
            kind.least_due(lambda rows: ~rows.removes) for kind in self.waiting
        )
        coming = coming.beside((waiting[0], waiting[1]), (left, right))
        alive = [
            kind.load_oldest(kind.alive - coming.newest(hand))
            if self.settings.newest_of_all(hand)
            else kind.load(coming.codes(hand, kind.alive), coming.limit(hand))
            for hand, kind in enumerate(self.sides)
        ]
        pairs = self.pairs.load(np.empty(0, np.int64), coming.limit_of_pairs())
        if self.settings.picks.ranks and not self.settings.gathers:
            # Candidates of a left row decide about each other, so keys are read whole.
            found = [rows.code for rows in (*alive, pairs)]
            codes = np.concatenate([*map(coming.all_codes, (0, 1)), *found])
            whole = np.unique(codes)
            some = [kind.load_more(whole) for kind in self.kinds]
            alive, waiting, pairs = some[:2], some[2:4], some[4]
        return replace(
            state,
            alive=(alive[0], alive[1]),
            waiting=(waiting[0], waiting[1]),
            behind=coming.behind,
            memo=memo.memo_of_pairs(pairs, state.memo.covers),
        )

    def save(self, stepped: Stepped) -> Saved:
        """Keeps what a step leaves behind."""
        self._save_rows(stepped)
        for number in filter(None, self.extras):
            self.shelf.drop(number)
        known = {
            "format": FORMAT,
            "fingerprint": self.settings.fingerprint,
            "identity": self.settings.identity,
            "buckets": self.settings.buckets,
            "kinds": [kind.listing() for kind in self.kinds],
            "held": self._put(stepped.held),
            "covers": [self._put(part) for part in memo.cover_batches(stepped.covers)],
            "watches": [
                [watch.bound, watch.newest, watch.active, watch.stopped, *watch.holds]
                for watch in stepped.present.watches
            ],
            "parts": [watch.parts for watch in stepped.present.watches],
            "next_place": stepped.present.next_place,
            "partitions": self.partitions,
        }
        self.shelf.keep_directory(json.dumps(known).encode())
        left, right = (
            Amount(
                side.alive + waiting.alive,
                waiting.alive,
                side.evicted,
                side.bytes + waiting.bytes,
                self.partitions[hand]
                if self.settings.counts_partitions(hand)
                else None,
            )
            for hand, (side, waiting) in enumerate(
                zip(self.sides, self.waiting, strict=True)
            )
        )
        return Saved(self.blobs.written, (left, right))

    def whole(self) -> JoinState:
        """Returns the state as the last batch left it, for who only looks at it."""
        state = self._without_rows()
        left, right = (kind.every() for kind in self.sides)
        ours, theirs = (kind.every() for kind in self.waiting)
        return replace(state, alive=(left, right), waiting=(ours, theirs))

    def _without_rows(self) -> JoinState:
        """Returns the state as the last batch left it, without what is in chunks."""
        self._open()
        state, written = new_state(self.schemas), self.shelf.directory()
        if not written:
            return state
        known = json.loads(written)
        if known["fingerprint"] != self.settings.fingerprint:
            raise StateMismatchError(
                "the state was written by another join, or over other buckets: "
                "start with write(checkpoint=...), which takes those it finds"
            )
        held = known["held"]
        self.extras = [held, *known["covers"]]
        self.partitions = known["partitions"]
        for kind, listing in zip(self.kinds, known["kinds"], strict=True):
            kind.take_over(listing)
        # A watch is its numbers in order, its holds last, however many there are.
        watch_left, watch_right = (
            arrival.Watch(
                bound, newest, active, stopped, tuple(holds), tuple(map(tuple, parts))
            )
            for (bound, newest, active, stopped, *holds), parts in zip(
                known["watches"], known["parts"], strict=True
            )
        )
        left, right = (
            memo.covers_from(read_batch(self.shelf.get(number))) if number else none
            for number, none in zip(known["covers"], state.memo.covers, strict=True)
        )
        return replace(
            state,
            watches=(watch_left, watch_right),
            held=read_batch(self.shelf.get(held)) if held else state.held,
            next_place=known["next_place"],
            memo=replace(state.memo, covers=(left, right)),
        )

    def _open(self) -> None:
        """Forgets what was read and written before."""
        self.blobs = chunks.Blobs(self.shelf)
        self.sides, self.waiting = (
            (
                chunks.Chunks(layout(self.settings, 0, self.schemas[0]), self.blobs),
                chunks.Chunks(layout(self.settings, 1, self.schemas[1]), self.blobs),
            )
            for layout in (alive_layout, waiting_layout)
        )
        whole = bool(self.settings.reads_all)
        # Nothing follows from a pair that waits: it is read as it was written.
        layout = chunks.Layout(memo.PAIRS, lambda rows: rows, whole=whole)
        self.pairs = chunks.Chunks(layout, self.blobs)

    def _save_rows(self, stepped: Stepped) -> None:
        """Keeps the rows that a step leaves behind, and the pairs that wait."""
        settings, present = self.settings, stepped.present
        is_whole = bool(settings.reads_all)
        for hand, kind in enumerate(self.sides):
            rows, kept = present.rows[hand], stepped.kept[hand]
            if settings.counts_partitions(hand):
                before = len(_partitions(kind.taken.rows))
                after = len(_partitions(rows.take(kept)))
                self.partitions[hand] += after - before
            due = np.full(len(rows), NEVER) if is_whole else stepped.due.rows[hand]
            kind.save(rows.take(kept), kept[: present.old[hand]], due[kept])
        for hand, kind in enumerate(self.waiting):
            rows = present.waiting[hand]
            due = demand.due_waiting(settings, present, hand)
            due = np.full(len(rows), NEVER) if is_whole else due
            kind.save(rows, present.still[hand], due)
        known = self.pairs.taken.rows
        stays, is_old = memo.stay_among(known, stepped.pairs)
        due = np.append(self.pairs.taken.due[stays], stepped.due.pairs[~is_old])
        rows = join_rows([known.take(stays), stepped.pairs.take(~is_old)])
        self.pairs.save(rows, stays, due)

    def _put(self, batch: pa.RecordBatch) -> int:
        """Keeps a batch; an empty one has no number."""
        return self.blobs.put(write_batch(batch)) if batch.num_rows else NOTHING


def _partitions(rows: Rows) -> Whole:
    """Returns the partitions of which rows live; of those that come all are there."""
    return np.unique(rows.partition[rows.death == NEVER])
