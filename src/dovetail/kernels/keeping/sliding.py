"""Windows that slide over a length of time, of which totals alone are asked.

    lines    a1   b5   a2   -a1   a4      a row comes, or has become too old
    sums     a1   b5   a3    a2   a6      of each partition, up to each line

Rows that leave with a batch come out of the pieces in which they lie; of all others a
batch reads none. A sum runs over a column, with a sign for each row; which value stands
in front of all is `chosen` of those that may.
"""

from __future__ import annotations

from dataclasses import astuple, dataclass
from itertools import zip_longest

import numpy as np
import pyarrow as pa

from dovetail.kernels.arrays.rows import BEGINNING, NEVER, Mask, Whole
from dovetail.kernels.keeping.chosen import Contenders, chosen
from dovetail.kernels.keeping.distinct import Occurrences, changes
from dovetail.kernels.keeping.folds import (
    Folding,
    Grouping,
    added,
    have_codes,
    is_foldable,
    is_sum,
    picked,
)
from dovetail.kernels.keeping.lines import NOW, RowLines, Saved
from dovetail.kernels.keeping.panes import results
from dovetail.kernels.keeping.recent import Pieces, is_recent
from dovetail.kernels.keeping.windows import OVER, Windows
from dovetail.spec.firing import ByTime, Groups, Total


def is_sliding(known: Windows, schema: pa.Schema) -> bool:
    """Tells whether rows leave windows as they came, and totals go by whole columns."""
    gives = known.gives
    return (
        isinstance(gives, Groups)
        and all(is_foldable(it, schema.field(it.column).type) for it in gives.totals)
        and is_recent(known)
        and have_codes(schema, known.by)
    )


@dataclass(frozen=True, slots=True)
class _Front:
    """The row that leaves next: `at` a place in the piece `first`, which is `due`.

    Rows of this batch become the piece `own`.
    """

    first: int = 0
    at: int = 0
    own: int = 0
    due: int = NEVER

    def left(
        self, pieces: Pieces, own: pa.RecordBatch, limit: int
    ) -> tuple[_Front, list[pa.RecordBatch]]:
        """Returns the one behind rows that came before a moment, and these."""
        first, at, due, gone = self.first, self.at, self.due, [own.slice(0, 0)]
        if own.num_rows:
            due = min(due, own.column(NOW)[0].as_py())
        while due < limit:
            piece = pieces.read(first) if first < self.own else own
            times = piece.column(NOW).to_numpy()
            stop = int(np.searchsorted(times, limit))
            gone.append(piece.slice(at, stop - at))
            at, due = stop, int(times[stop]) if stop < len(times) else NEVER
            if stop == len(times) and first < self.own:
                # Which row is the first one of the next piece is seen in there.
                pieces.drop(first)
                first, at, due = first + 1, 0, BEGINNING
        return _Front(first, at, self.own, due), gone

    def kept(self, pieces: Pieces, own: pa.RecordBatch) -> _Front:
        """Keeps what is left of the rows of this batch."""
        is_here = self.first == self.own
        rows = own.slice(self.at if is_here else 0)
        if rows.num_rows:
            pieces.keep(self.own, rows)
        number = self.own + bool(rows.num_rows)
        return _Front(self.first, 0 if is_here else self.at, number, self.due)

    def cleared(self, pieces: Pieces) -> _Front:
        """Forgets all pieces."""
        for number in range(self.first, self.own):
            pieces.drop(number)
        return _Front(self.own, 0, self.own)


@dataclass(frozen=True, slots=True)
class _Moves:
    """Partitions that go on, then rows that leave, then rows that come.

    Of a partition stands one row with all that is known of it, so many are `known`.
    """

    keys: pa.RecordBatch
    rows: pa.RecordBatch
    times: Whole
    known: int
    left: int

    @classmethod
    def of(
        cls, keys: pa.RecordBatch, known: int, rows: pa.RecordBatch, *, left: int
    ) -> _Moves:
        """Returns them of so many partitions, and of rows of which so many leave."""
        every = pa.concat_batches([keys, rows.select(keys.schema.names)])
        times = np.append(np.full(known, BEGINNING), rows.column(NOW))
        return cls(every, rows, times, known, left)

    @property
    def signs(self) -> Whole:
        """Returns 1 for what is added, and -1 for what is taken away."""
        signs = np.ones(len(self.times), np.int64)
        signs[self.known : self.known + self.left] = -1
        return signs

    @property
    def come(self) -> Whole:
        """Returns the places of rows that come."""
        return np.arange(self.known + self.left, len(self.times))

    def grouped(self, length: int) -> Grouping:
        """Returns them by partition in the order of time; rows leave when too old."""
        # A row is too old for those behind its time, and not for one of that moment.
        leaves = self.signs < 0
        order = np.lexsort((leaves, self.times + leaves * length))
        keys = self.keys.take(pa.array(order))
        rows = Grouping.by(keys, keys.schema.names, order * 0)
        return Grouping(order[rows.places], rows.starts)


@dataclass(frozen=True, slots=True)
class _Slide:
    """Rows that come and leave by partition; of some of these rows are left.

    A window is so long, and who came before the `limit` has left the last one.
    """

    moves: _Moves
    groups: Grouping
    are_left: Mask
    length: int
    limit: int

    @property
    def left(self) -> Whole:
        """Returns a place of each partition of which rows are left."""
        return self.groups.lasts[self.are_left]

    def total(self, total: Total, known: Saved) -> tuple[Folding, Saved]:
        """Returns a total of each row that comes, and what is known behind the last."""
        moves, column = self.moves, self.moves.rows.column(total.column)
        if total.distinct:
            return self._distinct(total, column, known)
        if is_sum(total):
            sums = added(total, column, known).running(self.groups, moves.signs)
            return sums.take(moves.come), sums.take(self.left).known
        numbers, come = self.groups.numbers, moves.come
        rows = Contenders(numbers[come], moves.times[come], column.slice(moves.left))
        if known is not None:
            partitions, times, values = known
            rows = Contenders(numbers[partitions], times, values).then(rows)
        found, stay = chosen(total.fold, rows, length=self.length, limit=self.limit)
        own = found[len(found) - len(come) :]
        of_rows = picked(total, rows.values, pa.array(own, mask=own < 0))
        return of_rows, (self._kept(stay.groups), stay.times, stay.values)

    def _distinct(
        self, total: Total, column: pa.Array, known: Saved
    ) -> tuple[Folding, Saved]:
        """Returns a total in which each value counts once, likewise."""
        moves, numbers, signs = self.moves, self.groups.numbers, self.moves.signs
        none = np.zeros(0, np.int64)
        sums, partitions, counts, values = known or (None, none, none, column[:0])
        at = self.groups.places[self.groups.places >= moves.known]
        rows = Occurrences(
            numbers[at], signs[at], column.take(pa.array(at - moves.known))
        )
        was = Occurrences(numbers[partitions], counts, values)
        signs[at], stay = changes(was, rows)
        every = added(total, column, sums).running(self.groups, signs)
        here = self.are_left[stay.groups]
        partitions = self._kept(stay.groups[here])
        values = stay.values.filter(pa.array(here))
        left = every.take(self.left).known, partitions, stay.counts[here], values
        return every.take(moves.come), left

    def _kept(self, groups: Whole) -> Whole:
        """Returns groups by the partitions that are left, as these stand in a state."""
        found: Whole = (np.cumsum(self.are_left) - 1)[groups]
        return found


def slide(
    known: Windows, lines: pa.RecordBatch, *, saved: Saved, pieces: Pieces
) -> tuple[Saved, pa.RecordBatch]:
    """Returns what is known after some lines, and what comes out of them.

    Known are the clock of the last line, the row that leaves next, and of partitions
    with rows their keys, how many rows they have, and what their totals know.
    """
    gives, length, none = known.gives, known.window.keeps, np.zeros(0, np.int64)
    assert isinstance(gives, Groups)  # noqa: S101 - see `is_recent`
    assert isinstance(length, ByTime)  # noqa: S101 - likewise
    every, by = length.length.microseconds, known.by
    begun = None, (), lines.slice(0, 0).select(by), none, ()
    clock, front, keys, sizes, totals = saved or begun
    come = RowLines.by(lines if clock != OVER else lines.slice(0, 0))
    clock = int(come.nows[-1]) if len(come.nows) else clock
    names = [*dict.fromkeys((*by, *(it.column for it in gives.totals)))]
    own = come.rows.select(names).append_column(NOW, pa.array(come.times))
    limit = BEGINNING if clock is None else clock - every
    front, gone = _Front(*front).left(pieces, own, limit)
    left = sum(it.num_rows for it in gone)
    moves = _Moves.of(keys, len(sizes), pa.concat_batches([*gone, own]), left=left)
    groups, at = moves.grouped(every), moves.come
    sizes = groups.running(np.append(sizes, moves.signs[len(sizes) :]))
    are_left = (sizes[groups.lasts] > 0) & (not come.ends)
    moved = _Slide(moves, groups, are_left, every, NEVER if come.ends else limit)
    slid = [moved.total(total, was) for total, was in zip_longest(gives.totals, totals)]
    given = results(
        gives,
        come.rows,
        [total for total, _ in slid],
        last=np.arange(len(at)),
        counts=[[size] for size in sizes[at].tolist()] if gives.counts else [],
        moments=[None] * len(at),
        causes=come.at,
    )
    front = front.kept(pieces, own)
    if come.ends:
        clock, front = OVER, front.cleared(pieces)
    partitions = moves.keys.take(pa.array(moved.left)), sizes[moved.left]
    return (clock, astuple(front), *partitions, [one for _, one in slid]), given
