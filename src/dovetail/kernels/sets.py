"""Joins of several sets: which rows stand together, one of each active set.

A set is active for a key where it has a row of it. Each key's rows are combined, one of
each active set, and neighbours must fit:

    key    set 1   set 2   set 3      at least 2 of 3
    10     A B     C       D          A C D, B C D
    11     E               F          E F
    12             G                  none

Sets are gone through one after the other: each finds its rows by sorted search.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dovetail.kernels.arrays import program
from dovetail.kernels.arrays.names import HIDDEN, REST, SET, VERSION, hidden
from dovetail.kernels.arrays.rows import Mask, Rows, Whole, join_rows
from dovetail.kernels.arrays.sort import sorted_by
from dovetail.kernels.pairs.formulas import is_true
from dovetail.kernels.pairs.results import ABSENT, Reason, code
from dovetail.kernels.settings import JoinSettings, SeenFormula, SetSettings
from dovetail.spec.inputs import Outlet

ROWS = "rows"
"""The name of all rows that stand together, as expressions see them."""
_NONE = np.empty(0, np.int64)

NO_KEY = -1
"""The code of a row whose key has a null: it is equal to nobody's."""


@dataclass(frozen=True, slots=True)
class Neighbours:
    """Rows of two sets that follow each other among the active ones, pair by pair."""

    sets: tuple[int, int]
    rows: tuple[Whole, Whole]


Fits = Callable[[Neighbours], Mask]


@dataclass(frozen=True, slots=True)
class Combinations:
    """Rows that stand together: for each active set the number of its row."""

    active: tuple[int, ...]
    rows: tuple[Whole, ...]

    def __len__(self) -> int:
        """Returns how many combinations there are."""
        return len(self.rows[0])

    def take(self, chosen: Whole | Mask) -> Combinations:
        """Returns the chosen ones."""
        return Combinations(self.active, tuple(rows[chosen] for rows in self.rows))


def of_all(codes: Sequence[Whole], fits: Fits) -> Combinations:
    """Returns the combinations with a row of every set, in the order of the rows."""
    first = np.flatnonzero(codes[0] != NO_KEY)
    return _combined(codes, tuple(range(len(codes))), first, fits)


def of_some(
    codes: Sequence[Whole], bounds: tuple[int, int], fits: Fits
) -> Iterator[Combinations]:
    """Gives the combinations of keys that so many sets have, by those sets."""
    keys = np.unique(np.concatenate(codes))
    has = np.stack([np.isin(keys, code) for code in codes])
    counts = has.sum(axis=0)
    least, most = bounds
    chosen = (least <= counts) & (counts <= most) & (keys != NO_KEY)
    keys, has = keys[chosen], has[:, chosen]
    # Keys of one pattern of sets are combined together: there are few patterns.
    patterns, pattern = np.unique(has, axis=1, return_inverse=True)
    for number, column in enumerate(patterns.T):
        active = tuple(np.flatnonzero(column).tolist())
        first = codes[active[0]]
        of_pattern = keys[pattern.reshape(-1) == number]
        rows = np.flatnonzero(np.isin(first, of_pattern))
        yield _combined(codes, active, rows, fits)


def without(count: int, found: Combinations) -> Combinations:
    """Returns the rows of the first set that are in no combination, each alone."""
    unmatched = np.ones(count, bool)
    unmatched[found.rows[0]] = False
    return Combinations((0,), (np.flatnonzero(unmatched),))


def _combined(
    codes: Sequence[Whole], active: tuple[int, ...], first: Whole, fits: Fits
) -> Combinations:
    """Returns the combinations of the active sets that begin with the first rows."""
    columns = [first]
    for before, after in pairwise(active):
        wanted = codes[before][columns[-1]]
        order = np.argsort(codes[after], kind="stable")
        ordered = codes[after][order]
        first_of = np.searchsorted(ordered, wanted, "left")
        counts = np.searchsorted(ordered, wanted, "right") - first_of
        # Each run of equal codes one by one: where it starts, less what stands before.
        starts = np.repeat(first_of - np.cumsum(counts) + counts, counts)
        partners = order[starts + np.arange(len(starts))]
        columns = [np.repeat(column, counts) for column in columns]
        # Asked after each set, not at the end: who does not fit is not multiplied
        # further.
        fit = fits(Neighbours((before, after), (columns[-1], partners)))
        columns = [column[fit] for column in (*columns, partners)]
    return Combinations(active, tuple(columns))


def together(
    settings: JoinSettings, sides: tuple[Rows, Rows]
) -> tuple[tuple[pa.RecordBatch, ...], tuple[int, int]]:
    """Returns what comes of all rows of all sets, and how many of each side have met.

    The left side has the rows of the first set, the right one those of all others.
    """
    (how,) = settings.sets
    rows, lefts = _as_one(sides), len(sides[0])
    members = _members(rows, how.count)
    finder = _Finder(how, rows, members, _codes(rows, members, settings.key_columns))
    found = [
        finder.that_are(one, how.skips, wanted=False)
        for one in map(finder.standing, finder.parts())
    ]
    kept = [one for one in found if len(one)]
    if not kept:
        return (), (0, 0)
    # Rows of the left side have the lower numbers.
    met = np.unique(np.concatenate([one.in_company for one in kept]))
    counts = int(np.count_nonzero(met < lefts)), int(np.count_nonzero(met >= lefts))
    return (_written(finder, kept),), counts


@dataclass(frozen=True, slots=True)
class _Standing:
    """Rows that stand together, by their numbers among all: a line each.

    All lines have as many rows. By its `rank` a line stands among those of others.
    """

    numbers: Whole
    rank: Whole

    def __len__(self) -> int:
        """Returns how many lines there are."""
        return len(self.rank)

    def take(self, chosen: Mask) -> _Standing:
        """Returns the chosen lines."""
        return _Standing(self.numbers[chosen], self.rank[chosen])

    @property
    def in_company(self) -> Whole:
        """Returns the numbers of rows that do not stand alone."""
        return self.numbers.ravel() if self.numbers.shape[1] > 1 else _NONE


def _as_one(sides: tuple[Rows, Rows]) -> Rows:
    """Returns the rows of both sides as those of one."""
    left, right = sides
    # Columns of sides may differ in what Spark says of nulls: they become alike.
    alike = pa.schema(
        [(one.name, one.type) for one in left.payload.schema],
    )
    parts = []
    for one in (left, right):
        columns = [
            one.payload.column(name).cast(kind)
            for name, kind in zip(alike.names, alike.types, strict=True)
        ]
        payload = pa.RecordBatch.from_arrays(columns, schema=alike)
        parts.append(replace(one, payload=payload))
    return join_rows(parts)


def _members(rows: Rows, count: int) -> list[Whole]:
    """Returns the numbers of the rows of each set, in the order in which they came."""
    version = rows.payload.column(VERSION)
    keyed = version.is_valid().to_numpy(zero_copy_only=False)
    keys = pc.fill_null(version, 0).to_numpy(zero_copy_only=False)
    number, stands = rows.hidden(SET), ~rows.removes
    order = sorted_by(number, keyed * 1, keys, rows.place)
    follows = (np.diff(number[order]) == 0) & (np.diff(keys[order]) == 0)
    # Of the rows of one key the last one stands, which may be a delete.
    stands[order[:-1][follows & keyed[order[:-1]] & keyed[order[1:]]]] = False
    by_place = np.argsort(rows.place, kind="stable")
    standing = by_place[stands[by_place]]
    return [standing[number[standing] == one] for one in range(count)]


def _codes(rows: Rows, members: Sequence[Whole], compared: int) -> list[Whole]:
    """Returns the keys of each set's rows as numbers, in the order in which they come.

    Hashes are told apart by the values that they are of.
    """
    every = np.concatenate(members)
    parts = [rows.code[every]]
    for number in range(compared):
        values = rows.payload.column(hidden(f"{number}")).take(pa.array(every))
        indices = values.dictionary_encode().indices
        parts.append(pc.fill_null(indices, -1).to_numpy(zero_copy_only=False))
    _, first, which = np.unique(
        np.stack(parts), axis=1, return_index=True, return_inverse=True
    )
    # Values are sorted by now; where each was first seen says when its key came.
    turn = np.empty(len(first), np.int64)
    turn[np.argsort(first)] = np.arange(len(first))
    code = np.where(rows.has_key[every], turn[which.reshape(-1)], NO_KEY)
    return np.split(code, np.cumsum([len(one) for one in members])[:-1])


@dataclass(frozen=True, slots=True)
class _Finder:
    """All rows, of each set the numbers of its own, and their keys as numbers."""

    how: SetSettings
    rows: Rows
    members: Sequence[Whole]
    codes: Sequence[Whole]

    def parts(self) -> Iterator[Combinations]:
        """Gives the rows that stand together in pieces of the same active sets."""
        how = self.how
        if how.is_counted:
            yield from map(self._holding, of_some(self.codes, how.bounds, self._fits))
            return
        whole = self._holding(of_all(self.codes, self._fits))
        if how.gives_whole:
            yield whole
        if how.gives_alone:
            yield without(len(self.codes[0]), whole)

    def standing(self, found: Combinations) -> _Standing:
        """Returns what stands together as lines of numbers among all rows."""
        both = zip(found.active, found.rows, strict=True)
        numbers = np.stack([self.members[number][own] for number, own in both])
        rank = found.rows[0]
        # Lines stand in the order of left rows, or in that in which keys have come.
        rank = self.codes[found.active[0]][rank] if self.how.is_counted else rank
        return _Standing(numbers.T, rank)

    def that_are(
        self, found: _Standing, conditions: Sequence[SeenFormula], *, wanted: bool
    ) -> _Standing:
        """Returns the lines of which a condition is true, or else those of which not.

        Without one all of them are.
        """
        for one in conditions if len(found) else ():
            found = found.take(is_true(self.values(one, found)) == wanted)
        return found

    def values(self, formula: SeenFormula, found: _Standing) -> pa.Array:
        """Returns what a formula says of each line."""
        count, width = found.numbers.shape
        known = formula.several if width > 1 else formula.alone
        columns: dict[object, pa.Array] = {
            (letter, name): self.column(name, found.numbers[:, "lr".index(letter)])
            for letter, name in known.columns
            if letter != program.BARE
        }
        ends = pa.array(np.arange(count + 1, dtype=np.int32) * width)
        whole = self.structs(found.numbers.ravel())
        columns[program.BARE, ROWS] = pa.ListArray.from_arrays(ends, whole)
        return program.run_program(known.program, columns, count)

    def column(self, name: str, numbers: Whole) -> pa.Array:
        """Returns a column of rows by their numbers, null where a row is absent."""
        chosen = pa.array(numbers, mask=numbers == ABSENT)
        return self.rows.payload.column(name).take(chosen)

    def structs(self, numbers: Whole) -> pa.StructArray:
        """Returns rows by their numbers as structs."""
        names = list(self.how.columns)
        columns = [self.column(name, numbers) for name in names]
        return pa.StructArray.from_arrays(columns, names)

    def _fits(self, pairs: Neighbours) -> Mask:
        """Tells which neighbours fit."""
        count = len(pairs.rows[0])
        fits = np.ones(count, bool)
        known = dict(zip("lr", zip(pairs.sets, pairs.rows, strict=True), strict=True))
        for formula in self.how.fits if count else ():
            columns = {
                (letter, name): self.column(name, self.members[number][own])
                for letter, name in formula.columns
                for number, own in [known[letter]]
            }
            fits &= is_true(program.run_program(formula.program, columns, count))
        return fits

    def _holding(self, found: Combinations) -> Combinations:
        """Returns those of which the condition on all rows holds."""
        for one in self.how.holds if len(found) else ():
            found = found.take(is_true(self.values(one, self.standing(found))))
        return found


def _written(finder: _Finder, found: Sequence[_Standing]) -> pa.RecordBatch:
    """Returns lines as rows that come out: two rows as sides, the rest as a list."""
    # A line of few rows goes on with absent ones, so that all are as long.
    width = max(2, *(one.numbers.shape[1] for one in found))
    numbers = np.concatenate(
        [
            np.pad(
                one.numbers,
                ((0, 0), (0, width - one.numbers.shape[1])),
                constant_values=ABSENT,
            )
            for one in found
        ]
    )[_order(finder, found)]
    first, second, rest = numbers[:, 0], numbers[:, 1], numbers[:, 2:]
    there = rest != ABSENT
    ends = np.concatenate(([0], np.cumsum(there.sum(axis=1)))).astype(np.int32)
    listed = pa.ListArray.from_arrays(pa.array(ends), finder.structs(rest[there]))
    count = len(numbers)
    head = [
        pa.array(np.full(count, code(Outlet.MATCHED), np.int8)),
        pa.array(np.full(count, code(Reason.NONE), np.int8)),
        pa.nulls(count, pa.timestamp("us", tz="UTC")),
        pa.array(first != ABSENT),
        pa.array(second != ABSENT),
    ]
    payload = finder.rows.payload.schema.names
    shown = [name for name in payload if not name.startswith(HIDDEN)]
    sides = [finder.column(name, one) for one in (first, second) for name in shown]
    own = [f"{letter}{number}" for letter in "lr" for number, _ in enumerate(shown)]
    names = ["outlet", "reason", "row_time", "left", "right", *own, REST]
    return pa.RecordBatch.from_arrays([*head, *sides, listed], names=names)


def _order(finder: _Finder, found: Sequence[_Standing]) -> Whole:
    """Returns the lines in their order: nulls first, NaN last, equal ones as found."""
    order = np.argsort(np.concatenate([one.rank for one in found]), kind="stable")
    keys: list[list[tuple[bool, bool, Any]]] = []
    for formula in finder.how.order:
        parts = [finder.values(formula, one).to_pylist() for one in found]
        values = [value for part in parts for value in part]
        is_nan = [isinstance(one, float) and math.isnan(one) for one in values]
        keys.append(
            [
                (value is not None, nan, None if nan else value)
                for value, nan in zip(values, is_nan, strict=True)
            ]
        )
    # A sort keeps the order of equals: so the first key is sorted by last.
    for own in reversed(keys):
        order = np.array(sorted(order.tolist(), key=own.__getitem__), np.int64)
    return order
