"""Windows that slide over a length of time, of which totals alone are asked.

    pieces   [a x b] [y c] [d e]      the rows of each batch, as they came
                ^                     leaves next, whatever its partition
    groups   {1: a b c d, 2: x y e}   of each partition the totals

Time goes on for all partitions alike: so rows leave in the order in which they came. A
batch reads the rows that leave with it, and of all others none.

Most of them go over whole columns of such rows: see `sliding`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import pyarrow as pa

from dovetail.kernels.arrays.names import LineKind
from dovetail.kernels.arrays.rows import NEVER
from dovetail.kernels.keeping.lines import NOW, Found, Key, Saved, keys_of
from dovetail.kernels.keeping.totals import Group, Totals
from dovetail.kernels.keeping.windows import OVER, Windows, groups_of
from dovetail.spec.firing import ByCount, ByTime, Groups, Sliding
from dovetail.spec.windows import KeepPartitions


class Pieces(Protocol):
    """Where rows lie, a piece under each number."""

    def read(self, number: int) -> pa.RecordBatch:
        """Returns a piece."""

    def keep(self, number: int, rows: pa.RecordBatch) -> None:
        """Keeps a piece."""

    def drop(self, number: int) -> None:
        """Forgets a piece."""


@dataclass(frozen=True, slots=True)
class Held:
    """Pieces in memory."""

    pieces: dict[int, pa.RecordBatch] = field(default_factory=dict)

    def read(self, number: int) -> pa.RecordBatch:
        """Returns a piece."""
        return self.pieces[number]

    def keep(self, number: int, rows: pa.RecordBatch) -> None:
        """Keeps a piece."""
        self.pieces[number] = rows

    def drop(self, number: int) -> None:
        """Forgets a piece."""
        del self.pieces[number]


def is_recent(known: Windows) -> bool:
    """Tells whether rows of windows leave as they came, and nobody asks for them."""
    window, gives = known.window, known.gives
    if not isinstance(window, Sliding) or not isinstance(gives, Groups):
        return False
    each, none = ByCount(1), ByCount(0)
    fires_each = window.eager and (window.fires, window.skips) == (each, none)
    asks = gives.by or gives.lists or gives.placed or known.has_marks
    is_whole = isinstance(known.drops, KeepPartitions)
    return isinstance(window.keeps, ByTime) and fires_each and is_whole and not asks


@dataclass(frozen=True, slots=True)
class _Piece:
    """Rows in the order in which they came: where each stands, and when it came."""

    keys: Sequence[Key]
    totals: Totals
    places: Sequence[int]
    moments: Sequence[int]


@dataclass(slots=True)
class Recent:
    """The windows of all partitions, and the row that leaves next.

    That is the row `at` a place in the piece `first`, and came when it is `due`. Rows
    of this batch become the piece `own`.
    """

    known: Windows
    table: pa.RecordBatch
    pieces: Pieces
    length: int
    keys: Sequence[Key]
    totals: Totals
    places: list[int] = field(default_factory=list)
    moments: list[int] = field(default_factory=list)
    groups: dict[Key, Group] = field(default_factory=dict)
    clock: int | None = None
    first: int = 0
    at: int = 0
    own: int = 0
    due: int = NEVER
    front: _Piece | None = None

    @classmethod
    def over(
        cls, known: Windows, table: pa.RecordBatch, saved: Saved, *, pieces: Pieces
    ) -> Recent:
        """Returns the windows of what is kept and comes."""
        window, gives = known.window, known.gives
        assert isinstance(window.keeps, ByTime)  # noqa: S101 - see `is_recent`
        assert isinstance(gives, Groups)  # noqa: S101 - likewise
        length = window.keeps.length.microseconds
        totals = Totals.over(gives.totals, table, drops=True)
        keys = keys_of(table, known.by)
        recent = cls(known, table, pieces, length, keys, totals)
        if saved is not None:
            recent.clock, *rest, groups = saved
            recent.first, recent.at, recent.own, recent.due = rest
            for key, size, totals in groups:
                recent.groups[key] = Group(size=size, saved=totals)
        return recent

    def come(self, kind: int, now: int, place: int) -> Iterator[Found]:
        """Yields what a row gives, behind those that are too old for it."""
        if self.clock == OVER:
            return
        self.clock = now
        match kind:
            case LineKind.ROW:
                self._outlive(now)
                key = self.keys[place]
                group = self.groups.get(key)
                if group is None:
                    group = self.groups[key] = self.totals.begun()
                self.totals.add(group, place)
                self.places.append(place)
                self.moments.append(now)
                self.due = min(self.due, now)
                results = self.totals.results(group)
                yield Found(place, counts=[group.size], totals=results)
            case LineKind.FINISH:
                for number in range(self.first, self.own):
                    self.pieces.drop(number)
                self.first, self.at, self.due = self.own, 0, NEVER
                for known in (self.places, self.moments, self.groups):
                    known.clear()
                self.clock = OVER

    def _outlive(self, now: int) -> None:
        """Drops rows that are too old, of all partitions."""
        while self.due < now - self.length:
            piece = self._front()
            place = piece.places[self.at]
            key = piece.keys[place]
            group = self.groups[key]
            piece.totals.drop(group, place)
            if not group.size:
                del self.groups[key]
            self.at += 1
            if self.at == len(piece.places) and self.first < self.own:
                self.pieces.drop(self.first)
                self.first, self.at, self.front = self.first + 1, 0, None
                piece = self._front()
            is_there = self.at < len(piece.places)
            self.due = piece.moments[self.at] if is_there else NEVER

    def _front(self) -> _Piece:
        """Returns the rows of which one leaves next: of a piece, or of this batch."""
        if self.front is None and self.first == self.own:
            self.front = _Piece(self.keys, self.totals, self.places, self.moments)
        elif self.front is None:
            rows = self.pieces.read(self.first)
            asked = [one.total for one in self.totals.known]
            self.front = _Piece(
                keys_of(rows, self.known.by),
                Totals.over(asked, rows, drops=True),
                range(rows.num_rows),
                rows.column(NOW).to_pylist(),
            )
        return self.front

    def kept(self) -> list[int]:
        """Keeps this batch's rows as a piece; of others nothing changes."""
        if self.clock is not None:
            self._outlive(self.clock)
        left = self.at if self.first == self.own else 0
        if self.first == self.own:
            self.at = 0
        if places := self.places[left:]:
            asked = (one.total.column for one in self.totals.known)
            names = [*dict.fromkeys((*self.known.by, *asked))]
            rows = self.table.select(names).take(pa.array(places, pa.int64()))
            moments = pa.array(self.moments[left:], pa.int64())
            self.pieces.keep(self.own, rows.append_column(NOW, moments))
            self.own += 1
        return []

    def saved(self, _: Mapping[int, int]) -> Saved:
        """Returns what is known of each partition, and of the row that leaves next."""
        groups = [(key, it.size, it.known()) for key, it in self.groups.items()]
        return self.clock, self.first, self.at, self.own, self.due, groups

    def columns(self, found: Sequence[Found]) -> dict[str, pa.Array]:
        """Returns the rows themselves, and the totals behind each of them."""
        assert isinstance(self.known.gives, Groups)  # noqa: S101 - see `is_recent`
        return groups_of(self.known.gives, self.totals, self.table, found=found)
