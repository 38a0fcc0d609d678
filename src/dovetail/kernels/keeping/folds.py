"""Totals of groups of rows, over whole columns at once.

    values   5  1  2  .  4        parts   what is known of each value, as whole numbers
    groups   a  b  a  b  a        sums    of each group, and what was known of it
    sum     11  1

What is known of a group has the same parts as a value: so a group that goes on stands
among its new rows as one more, in front of them. No sum is rounded on the way: doubles
and decimals are added up as whole numbers, 32 bits of them at a time.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from math import nan
from typing import Any, Protocol

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dovetail.kernels.arrays.rows import Mask, Whole
from dovetail.kernels.keeping.totals import DIGITS, column_of, doubles_of, quotient
from dovetail.spec.firing import Fold, Total

_BITS = 32
_LOW = (1 << _BITS) - 1
_MANTISSA = 53
_COUNT, _NAN, _ABOVE, _BELOW = "count", "nan", "above", "below"
Sums = dict[str | int, Whole]
"""Whole numbers of each row or group, by name; under a number n those of which each is
2 to the power of 32 n. One that is not there is 0 everywhere."""


@dataclass(frozen=True, slots=True)
class Grouping:
    """Rows sorted by their groups, those of one group as they came.

    They stand at `places` of what there is; each group begins at one of the `starts`.
    """

    places: Whole
    starts: Whole

    @classmethod
    def by(cls, table: pa.RecordBatch, names: Sequence[str], scopes: Whole) -> Grouping:
        """Returns rows by scope and keys, groups in the order of their first rows."""
        codes = pa.array(scopes).dictionary_encode().indices.to_numpy().astype(np.int64)
        for name in names:
            keys = table.column(name).dictionary_encode("encode").indices.to_numpy()
            codes = pa.array(codes * (keys.max(initial=0) + 1) + keys)
            # Small numbers again, in the order in which they come.
            codes = codes.dictionary_encode().indices.to_numpy().astype(np.int64)
        places = np.argsort(codes, kind="stable")
        return cls(places, np.flatnonzero(np.diff(codes[places], prepend=-1)))

    @property
    def numbers(self) -> Whole:
        """Returns of which group what stands at each place is."""
        lengths = np.diff(np.append(self.starts, len(self.places)))
        found = np.empty_like(self.places)
        found[self.places] = np.repeat(np.arange(len(lengths)), lengths)
        return found

    @property
    def firsts(self) -> Whole:
        """Returns the place of the first row of each group."""
        return self.places[self.starts]

    @property
    def lasts(self) -> Whole:
        """Returns the place of the last row of each group."""
        ends: Whole = np.append(self.starts, len(self.places))[1:]
        return self.places[ends - 1]

    def sums(self, values: Whole) -> Whole:
        """Returns the sum of each group."""
        return np.add.reduceat(values[self.places], self.starts)

    def running(self, values: Whole) -> Whole:
        """Returns for each row the sum of its group up to it."""
        own = values[self.places]
        sums = np.cumsum(own)
        before = sums[self.starts] - own[self.starts]
        lengths = np.diff(np.append(self.starts, len(own)))
        found = np.empty_like(sums)
        found[self.places] = sums - np.repeat(before, lengths)
        return found

    def highest(self, values: Whole) -> Whole:
        """Returns the highest number of each group."""
        return np.maximum.reduceat(values[self.places], self.starts)


class Folding(Protocol):
    """A total of groups that go on, and of new rows behind them."""

    @property
    def known(self) -> Any:  # noqa: ANN401 - numbers or values of each
        """Returns what is known of each, as plain values."""

    def of(self, rows: Grouping) -> Folding:
        """Returns it of groups of them."""

    def take(self, groups: Whole) -> Folding:
        """Returns it of some groups."""

    def column(self) -> pa.Array:
        """Returns what it comes to, for each group."""


class Summing(Folding, Protocol):
    """A total that adds up."""

    def running(self, rows: Grouping, signs: Whole) -> Folding:
        """Returns it of each row and those of its group before it, added by a sign."""


@dataclass(frozen=True, slots=True)
class Added:
    """A count or a sum."""

    total: Total
    kind: pa.DataType
    known: Sums

    @classmethod
    def behind(
        cls, total: Total, kind: pa.DataType, sums: Sums, known: Sums | None
    ) -> Added:
        """Returns it of rows, behind what is known of groups that go on."""
        if known is None:
            return cls(total, kind, sums)
        known = _carried(known)
        before, none = np.zeros_like(known[_COUNT]), np.zeros_like(sums[_COUNT])
        every = {
            name: np.append(known.get(name, before), sums.get(name, none))
            for name in known.keys() | sums.keys()
        }
        return cls(total, kind, every)

    def of(self, rows: Grouping) -> Added:
        """Returns it of groups of what there is."""
        sums = {name: rows.sums(own) for name, own in self.known.items()}
        return Added(self.total, self.kind, sums)

    def running(self, rows: Grouping, signs: Whole) -> Added:
        """Returns it of each row and those of its group before it, added by a sign."""
        sums = {name: rows.running(own * signs) for name, own in self.known.items()}
        return Added(self.total, self.kind, sums)

    def take(self, groups: Whole) -> Added:
        """Returns it of some groups."""
        sums = {name: own[groups] for name, own in self.known.items()}
        return Added(self.total, self.kind, sums)

    def column(self) -> pa.Array:
        """Returns what it comes to, for each group."""
        counts = self.known[_COUNT].tolist()
        if self.total.fold is Fold.COUNT:
            return column_of(self.total.fold, self.kind, counts)
        if pa.types.is_floating(self.kind):
            results = self._doubles(counts)
        else:
            whole = _whole(self.known, 0)
            results = [it if n else None for it, n in zip(whole, counts, strict=True)]
        return column_of(self.total.fold, self.kind, results)

    def _doubles(self, counts: Sequence[int]) -> list[Any]:
        """Returns sums of doubles, each rounded once."""
        least = min([0, *_places(self.known)])
        whole, parts = _whole(self.known, least), 1 << -_BITS * least
        results = [
            quotient(it, parts) if n else None
            for it, n in zip(whole, counts, strict=True)
        ]
        kinds = np.nan, np.inf, -np.inf
        ended = [self.known[name] for name in (_NAN, _ABOVE, _BELOW)]
        for group in np.flatnonzero(np.logical_or.reduce(ended)).tolist():
            known = [kind for kind, n in zip(kinds, ended, strict=True) if n[group]]
            results[group] = known[0] if len(known) == 1 else np.nan
        return results


@dataclass(frozen=True, slots=True)
class _Spread:
    """How far numbers are from their mean: their sum, and that of their squares."""

    values: Added
    squares: Added

    @property
    def known(self) -> tuple[Sums, Sums]:
        """Returns the parts of both sums."""
        return self.values.known, self.squares.known

    def of(self, rows: Grouping) -> _Spread:
        """Returns it of groups of what there is."""
        return _Spread(self.values.of(rows), self.squares.of(rows))

    def running(self, rows: Grouping, signs: Whole) -> _Spread:
        """Returns it of each row and those of its group before it, added by a sign."""
        values, squares = self.values, self.squares
        return _Spread(values.running(rows, signs), squares.running(rows, signs))

    def take(self, groups: Whole) -> _Spread:
        """Returns it of some groups."""
        return _Spread(self.values.take(groups), self.squares.take(groups))

    def column(self) -> pa.Array:
        """Returns what it comes to, for each group, rounded once."""
        values, squares = self.known
        least = min([0, *_places(values), *(it // 2 for it in _places(squares))])
        every = zip(
            _whole(values, least),
            _whole(squares, 2 * least),
            values[_COUNT].tolist(),
            (values[_NAN] | values[_ABOVE] | values[_BELOW]).tolist(),
            strict=True,
        )
        parts = 1 << -2 * _BITS * least
        results = [
            (nan if is_endless else quotient(n * squared - sum_ * sum_, n * parts))
            if n
            else None
            for sum_, squared, n, is_endless in every
        ]
        return column_of(Fold.SQUARES, self.values.kind, results)


@dataclass(frozen=True, slots=True)
class _Picked:
    """A total that is one of the values: the first, the last, the least, the greatest.

    The value of each row, or of each group.
    """

    total: Total
    known: pa.Array

    def of(self, rows: Grouping) -> Folding:
        """Returns it of groups of what there is."""
        found = rows.highest(scores(self.total.fold, self.known))
        chosen = pa.array(found % max(len(self.known), 1), mask=found < 0)
        return picked(self.total, self.known, chosen)

    def take(self, groups: Whole) -> _Picked:
        """Returns it of some groups."""
        return _Picked(self.total, self.known.take(pa.array(groups)))

    def column(self) -> pa.Array:
        """Returns what it comes to, for each group."""
        return self.known


def have_codes(schema: pa.Schema, names: Sequence[str]) -> bool:
    """Tells whether equal keys in columns are equal to Arrow as they are to Python."""
    # Of doubles and what has parts the two do not say alike which are one.
    odd = pa.types.is_floating, pa.types.is_nested
    return not any(is_odd(schema.field(it).type) for it in names for is_odd in odd)


def is_foldable(total: Total, kind: pa.DataType) -> bool:
    """Tells whether a total goes by whole columns."""
    # Of what has parts Arrow does not say what is less, nor what is equal.
    whole = total.fold in {Fold.COUNT, Fold.FIRST, Fold.LAST} and not total.distinct
    return whole or not pa.types.is_nested(kind)


def folded(
    total: Total,
    column: pa.Array,
    known: Any,  # noqa: ANN401 - what such a total was `known` to be
) -> Folding:
    """Returns a total of rows, behind what is known of groups that go on."""
    if is_sum(total):
        return added(total, column, known)
    values = column if known is None else pa.concat_arrays([known, column])
    return _Picked(total, values)


def scores(fold: Fold, values: pa.Array) -> Whole:
    """Returns a number of each value, above those before which it stands; of nulls -1.

    It says how high a value ranks, and at which place it is.
    """
    count = len(values)
    at = np.arange(count)
    # Of equal ones the last stands: zeros may differ in their sign.
    match fold:
        case Fold.FIRST:
            ranks = count - at
        case Fold.LAST:
            ranks = np.zeros(count, np.int64)
        case Fold.GREATEST:
            ranks = _ranks(values)
        case _:
            ranks = count - _ranks(values)
    return np.where(_is_valid(values), ranks * count + at, -1)


def picked(total: Total, values: pa.Array, places: pa.Array) -> Folding:
    """Returns a total that is one of the values, at these places."""
    return _Picked(total, values.take(places))


def is_sum(total: Total) -> bool:
    """Tells whether a total adds up."""
    return total.fold in {Fold.COUNT, Fold.SUM, Fold.SQUARES}


def added(
    total: Total,
    column: pa.Array,
    known: Any,  # noqa: ANN401 - what such a total was `known` to be
) -> Summing:
    """Returns such a total of rows, behind what is known of groups that go on."""
    kind = column.type
    sums: Sums = {_COUNT: _is_valid(column).astype(np.int64)}
    if total.fold is Fold.SQUARES:
        values, squares = _of_doubles(column, squared=True)
        before, squared_before = known or (None, None)
        return _Spread(
            Added.behind(total, kind, sums | values, before),
            Added.behind(total, kind, sums | squares, squared_before),
        )
    own: Sums = {}
    if total.fold is Fold.SUM:
        if pa.types.is_floating(kind):
            own, _ = _of_doubles(column)
        elif pa.types.is_decimal(kind):
            own = _of_decimals(column)
        else:
            own = {0: pc.fill_null(column, 0).cast(pa.int64()).to_numpy()}
    return Added.behind(total, kind, sums | own, known)


def _is_valid(column: pa.Array) -> Mask:
    """Tells which values are there."""
    found: Mask = column.is_valid().to_numpy(zero_copy_only=False)
    return found


def _ranks(column: pa.Array) -> Whole:
    """Returns numbers in whose order values are; NaN is above all other numbers."""
    if pa.types.is_boolean(column.type):
        column = column.cast(pa.int8())
    ranks: Whole = pc.rank(column, "ascending", tiebreaker="dense").to_numpy()
    return ranks.astype(np.int64)


def _of_decimals(column: pa.Array) -> Sums:
    """Returns decimals in their last digits, as parts of a sum."""
    wide = column.cast(pa.decimal128(DIGITS, column.type.scale))
    words = np.frombuffer(wide.buffers()[1], np.int64).reshape(-1, 2)
    words = words[wide.offset : wide.offset + len(wide)]
    low, high = np.where(_is_valid(wide)[:, None], words, 0).T
    parts = low & _LOW, (low >> _BITS) & _LOW, high & _LOW, high >> _BITS
    return dict(enumerate(parts))


def _of_doubles(column: pa.Array, *, squared: bool = False) -> tuple[Sums, Sums]:
    """Returns doubles as parts of a sum and which have no end, and parts of squares."""
    values = pc.fill_null(doubles_of(column), 0.0).to_numpy()
    ended: Sums = {
        _NAN: np.isnan(values).astype(np.int64),
        _ABOVE: (values == np.inf).astype(np.int64),
        _BELOW: (values == -np.inf).astype(np.int64),
    }
    mantissa, exponent = np.frexp(np.where(np.isfinite(values), values, 0.0))
    signs = np.sign(mantissa).astype(np.int64)
    whole = (np.abs(mantissa) * (1 << _MANTISSA)).astype(np.uint64)
    number, shift = np.divmod(exponent.astype(np.int64) - _MANTISSA, _BITS)
    # A double touches three of the numbers that stand beside one another.
    low = (whole & _LOW) << shift.astype(np.uint64)
    high = ((whole >> _BITS) << shift.astype(np.uint64)) + (low >> _BITS)
    parts = low & _LOW, high & _LOW, high >> _BITS
    number = np.where(signs, number, 0)
    sums = _placed(number, [it.astype(np.int64) * signs for it in parts])
    if not squared:
        return ended | sums, {}
    squares = [np.zeros_like(signs) for _ in range(2 * len(parts))]
    for (one, own), (two, other) in product(enumerate(parts), repeat=2):
        both = own * other
        squares[one + two] += (both & _LOW).astype(np.int64)
        squares[one + two + 1] += (both >> _BITS).astype(np.int64)
    return ended | sums, _placed(2 * number, squares)


def _placed(numbers: Whole, parts: Sequence[Whole]) -> Sums:
    """Returns parts of sums by their places: the first of each is at its number."""
    sums: Sums = {}
    for first in np.unique(numbers).tolist():
        is_own = numbers == first
        for beside, part in enumerate(parts):
            own = np.where(is_own, part, 0)
            if own.any():
                sums[first + beside] = sums.get(first + beside, 0) + own
    return sums


def _places(sums: Sums) -> list[int]:
    """Returns at which places there are parts, in their order."""
    return sorted(name for name in sums if isinstance(name, int))


def _carried(sums: Sums) -> Sums:
    """Returns the same sums in numbers of 32 bits, but for the sign of the highest."""
    names = _places(sums)
    found: Sums = {name: own for name, own in sums.items() if isinstance(name, str)}
    if not names:
        return found
    number, last = names[0], names[-1]
    carry = np.zeros_like(sums[last])
    while number <= last or carry.any():
        own = carry + sums.get(number, 0)
        if number >= last and np.all(np.abs(own) <= _LOW):
            found[number] = own
            break
        found[number], carry = own & _LOW, own >> _BITS
        number += 1
    # What has left leaves no places behind.
    return {it: own for it, own in found.items() if isinstance(it, str) or own.any()}


def _whole(sums: Sums, least: int) -> list[int]:
    """Returns sums as whole numbers of parts that begin at a place."""
    whole = [0] * len(sums[_COUNT])
    for name in _places(sums):
        left = _BITS * (name - least)
        own = sums[name].tolist()
        whole = [it + (more << left) for it, more in zip(whole, own, strict=True)]
    return whole
