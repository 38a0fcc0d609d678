"""Totals of the rows of a window, carried on as rows come and leave.

    rows     3   null   4   5        one more at the end: a step
    sum      3   3      7   12       one less at the front: a step back

So what a row costs does not depend on how many others are in its window. No sum is
rounded on the way: what has left leaves nothing behind.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from decimal import Context, Decimal
from math import inf, isfinite, nan
from typing import Any, ClassVar, Protocol

import pyarrow as pa
import pyarrow.compute as pc

from dovetail.kernels.keeping.lines import as_key
from dovetail.spec.firing import Fold, Total

DIGITS = 38
"""So many a decimal has at most."""
_WIDE = Context(prec=3 * DIGITS)


class Running(Protocol):
    """A fold of the values of some rows, of which the first one may leave."""

    def add(self, value: Any) -> None:  # noqa: ANN401 - whatever a column holds
        """Takes the value of one more row, the last one."""

    def drop(self, value: Any) -> None:  # noqa: ANN401 - whatever a column holds
        """Forgets the value of the first row."""

    @property
    def result(self) -> Any:  # noqa: ANN401 - whatever a fold makes of them
        """Returns what the fold makes of the values, None of nothing."""

    def saved(self) -> tuple[Any, ...]:
        """Returns what is known of the values, as plain values."""

    def restore(self, known: Sequence[Any]) -> None:
        """Takes what was saved."""


class _Saved:
    """What is known of values, by the names of attributes."""

    __slots__ = ()
    names: ClassVar[tuple[str, ...]] = ()

    def saved(self) -> tuple[Any, ...]:
        """Returns what is known of the values, as plain values."""
        return tuple([getattr(self, name) for name in self.names])

    def restore(self, known: Sequence[Any]) -> None:
        """Takes what was saved."""
        for name, value in zip(self.names, known, strict=True):
            setattr(self, name, value)


@dataclass(slots=True)
class _Count(_Saved):
    """How many values there are."""

    names = ("result",)
    result: int = 0

    def add(self, value: object) -> None:
        """Counts a value."""
        if value is not None:
            self.result += 1

    def drop(self, value: object) -> None:
        """Counts it no more."""
        if value is not None:
            self.result -= 1


@dataclass(slots=True)
class _Whole(_Saved):
    """A sum of whole numbers."""

    names = ("sum", "count")
    sum: int = 0
    count: int = 0

    def add(self, value: int | None) -> None:
        """Adds a number."""
        if value is not None:
            self.sum += value
            self.count += 1

    def drop(self, value: int | None) -> None:
        """Takes a number away."""
        if value is not None:
            self.sum -= value
            self.count -= 1

    @property
    def result(self) -> int | None:
        """Returns the sum."""
        return self.sum if self.count else None


@dataclass(slots=True)
class _Doubles(_Saved):
    """A sum of doubles, each of which is a whole number of parts of 1.

    What has no end is counted beside it: NaN, and infinity of both signs.
    """

    names: ClassVar[tuple[str, ...]] = ("parts", "sum", "count", "endless")
    parts: int = 1
    sum: int = 0
    count: int = 0
    endless: dict[str, int] = field(default_factory=dict)

    def add(self, value: float | None) -> None:
        """Adds a number."""
        if value is not None:
            self._move(value, 1)

    def drop(self, value: float | None) -> None:
        """Takes a number away."""
        if value is not None:
            self._move(value, -1)

    def _move(self, value: float, sign: int) -> int:
        """Adds a number, or takes it away, and returns how many parts it is."""
        self.count += sign
        if not isfinite(value):
            # As it is written: NaN does not equal itself.
            self.endless[str(value)] = self.endless.get(str(value), 0) + sign
            return 0
        number, parts = value.as_integer_ratio()
        # Both are powers of two: the one is a multiple of the other.
        if parts > self.parts:
            self.sum *= parts // self.parts
            self.parts = parts
        elif parts < self.parts:
            number *= self.parts // parts
        self.sum += number if sign > 0 else -number
        return number

    @property
    def result(self) -> float | None:
        """Returns the sum, rounded once."""
        if not self.count:
            return None
        if self.endless and (known := {it for it, n in self.endless.items() if n}):
            return float(known.pop()) if len(known) == 1 else nan
        return quotient(self.sum, self.parts)


@dataclass(slots=True)
class _Squares(_Doubles):
    """How far doubles are from their mean, squared: a sum beside that of the squares.

    Both are exact, so that nothing is lost where large numbers differ little.
    """

    names = (*_Doubles.names, "squares")
    squares: int = 0

    def _move(self, value: float, sign: int) -> int:
        """Adds a number, or takes it away, and returns how many parts it is."""
        before = self.parts
        # Which values are different is asked of them as they came.
        value = float(value)
        number = _Doubles._move(self, value, sign)  # noqa: SLF001 - super() of slots
        self.squares *= (self.parts // before) ** 2
        self.squares += sign * number * number
        return number

    @property
    def result(self) -> float | None:
        """Returns the sum, rounded once."""
        if not self.count:
            return None
        if any(self.endless.values()):
            return nan
        above = self.squares * self.count - self.sum * self.sum
        return quotient(above, self.count * self.parts * self.parts)


@dataclass(slots=True)
class _Chosen(_Saved):
    """The one value that stands before all others by a fold.

    Behind it stand those that follow when it leaves, each with the number of its row.
    """

    fold: Fold
    drops: bool
    came: int = 0
    gone: int = 0
    values: deque[tuple[int, Any]] = field(default_factory=deque)

    def add(self, value: Any) -> None:  # noqa: ANN401 - whatever a column holds
        """Takes a value behind all that stay before it."""
        self.came += 1
        if value is None:
            return
        while self.values and self._is_before(value, self.values[-1][1]):
            self.values.pop()
        # Where none leaves nobody follows the first one.
        if self.drops or not self.values:
            self.values.append((self.came, value))

    def _is_before(self, value: Any, other: Any) -> bool:  # noqa: ANN401
        """Tells whether a value outlives one before it, and stands in front of it."""
        # NaN, which equals not even itself, is above all numbers.
        match self.fold:
            case Fold.LEAST:
                return bool(value <= other or other != other)  # noqa: PLR0124
            case Fold.GREATEST:
                return bool(value >= other or value != value)  # noqa: PLR0124
            case _:
                return self.fold is Fold.LAST

    def drop(self, _: object) -> None:
        """Forgets the first row, whatever it had."""
        self.gone += 1
        if self.values and self.values[0][0] <= self.gone:
            self.values.popleft()

    @property
    def result(self) -> Any:  # noqa: ANN401 - whatever a column holds
        """Returns the value."""
        return self.values[0][1] if self.values else None

    def saved(self) -> tuple[Any, ...]:
        """Returns what is known of the values, as plain values."""
        return self.came, self.gone, [*self.values]

    def restore(self, known: Sequence[Any]) -> None:
        """Takes what was saved."""
        self.came, self.gone, values = known
        self.values = deque(values)


@dataclass(slots=True)
class _Distinct(_Saved):
    """A fold of values of which each counts once, however often it is there."""

    fold: Running
    counts: Counter[Any] = field(default_factory=Counter)

    def add(self, value: Any) -> None:  # noqa: ANN401 - whatever a column holds
        """Takes a value, if it is a new one."""
        key = as_key(value)
        self.counts[key] += 1
        if self.counts[key] == 1:
            self.fold.add(value)

    def drop(self, value: Any) -> None:  # noqa: ANN401 - whatever a column holds
        """Forgets a value, if it was the last of its kind."""
        key = as_key(value)
        self.counts[key] -= 1
        if not self.counts[key]:
            del self.counts[key]
            self.fold.drop(value)

    @property
    def result(self) -> Any:  # noqa: ANN401 - whatever the fold makes of them
        """Returns what the fold makes of the values."""
        return self.fold.result

    def saved(self) -> tuple[Any, ...]:
        """Returns what is known of the values, and by the fold."""
        return dict(self.counts), self.fold.saved()

    def restore(self, known: Sequence[Any]) -> None:
        """Takes what was saved."""
        counts, own = known
        self.counts = Counter(counts)
        self.fold.restore(own)


@dataclass(slots=True)
class Folded:
    """A total over the rows of a table: what its column has, and what folds it."""

    total: Total
    kind: pa.DataType
    values: Sequence[Any]
    drops: bool

    @classmethod
    def over(cls, total: Total, column: pa.Array, *, drops: bool) -> Folded:
        """Returns a total over a column; whether rows leave it one by one."""
        fold, kind = total.fold, column.type
        if fold is Fold.SQUARES and not total.distinct:
            column = doubles_of(column)
        elif fold is Fold.COUNT and not total.distinct:
            # A 1 for whatever a value is: what it is nobody asks.
            column = pc.if_else(column.is_valid(), 1, None)
        elif pa.types.is_timestamp(kind):
            column = column.cast(pa.int64())
        values: Sequence[Any] = column.to_pylist()
        if fold is Fold.SUM and pa.types.is_decimal(kind):
            shift = kind.scale
            values = [
                it if it is None else int(_WIDE.scaleb(it, shift)) for it in values
            ]
        return cls(total, kind, values, drops)

    def begun(self) -> Running:
        """Returns it of no values yet."""
        fold: Running
        match self.total.fold:
            case Fold.COUNT:
                fold = _Count()
            case Fold.SQUARES:
                fold = _Squares()
            case Fold.SUM:
                fold = _Doubles() if pa.types.is_floating(self.kind) else _Whole()
            case chosen:
                fold = _Chosen(chosen, self.drops)
        return _Distinct(fold) if self.total.distinct else fold

    def column(self, results: Sequence[Any]) -> pa.Array:
        """Returns results as a column."""
        return column_of(self.total.fold, self.kind, results)


def column_of(fold: Fold, kind: pa.DataType, results: Sequence[Any]) -> pa.Array:
    """Returns results over values of a type; what has no room there is null."""
    if fold is Fold.COUNT:
        return pa.array(results, pa.int64())
    if fold is Fold.SUM and pa.types.is_decimal(kind):
        decimals = [
            _WIDE.scaleb(Decimal(it), -kind.scale)
            if it is not None and abs(it) < 10**DIGITS
            else None
            for it in results
        ]
        return pa.array(decimals, pa.decimal128(DIGITS, kind.scale))
    if fold is Fold.SUM and pa.types.is_integer(kind):
        # Of a sum that has no room 8 bytes have the lowest bits.
        half = 1 << 63
        sums = [it and (it + half) % (2 * half) - half for it in results]
        return pa.array(sums, pa.int64())
    is_double = fold in {Fold.SUM, Fold.SQUARES}
    return pa.array(results, pa.float64() if is_double else kind)


@dataclass(slots=True)
class Group:
    """So many rows of one group, the place of the last one, and the totals of them.

    `places` are all of them, where they are asked for. Of a group of which no row comes
    or leaves totals stay as they were `saved`.
    """

    running: Sequence[Running] = ()
    size: int = 0
    last: int = 0
    places: Sequence[int] = ()
    saved: Sequence[Sequence[Any]] = ()

    def known(self) -> Sequence[Sequence[Any]]:
        """Returns what is known of the totals, as plain values."""
        return self.saved or [one.saved() for one in self.running]


@dataclass(slots=True)
class Totals:
    """The totals that a window has, over the rows of a table, which have places."""

    known: Sequence[Folded]

    @classmethod
    def over(
        cls, known: Sequence[Total], table: pa.RecordBatch, *, drops: bool
    ) -> Totals:
        """Returns the totals over a table; whether some rows leave before others."""
        return cls(
            [Folded.over(it, table.column(it.column), drops=drops) for it in known]
        )

    def begun(self) -> Group:
        """Returns a group of no rows yet."""
        return Group([one.begun() for one in self.known])

    def add(self, group: Group, place: int) -> None:
        """Adds a row to a group, the last one."""
        for one, known in zip(self._running(group), self.known, strict=True):
            one.add(known.values[place])
        group.size += 1
        group.last = place

    def drop(self, group: Group, place: int) -> None:
        """Takes the first row from a group."""
        for one, known in zip(self._running(group), self.known, strict=True):
            one.drop(known.values[place])
        group.size -= 1

    def results(self, group: Group) -> list[Any]:
        """Returns what the totals of a group come to."""
        return [one.result for one in self._running(group)]

    def columns(self, found: Sequence[Sequence[Any]]) -> dict[str, pa.Array]:
        """Returns columns of results, of each row as many; of a mark there are none."""
        return {
            one.total.name: one.column([row[number] if row else None for row in found])
            for number, one in enumerate(self.known)
        }

    def _running(self, group: Group) -> Sequence[Running]:
        """Returns the totals of a group as they go on."""
        if group.saved:
            group.running = [one.begun() for one in self.known]
            for one, known in zip(group.running, group.saved, strict=True):
                one.restore(known)
            group.saved = ()
        return group.running


def doubles_of(column: pa.Array) -> pa.Array:
    """Returns numbers as the doubles that are nearest to them."""
    if pa.types.is_decimal(column.type):
        # Arrow's own way there divides what it has rounded before.
        column = column.cast(pa.string())
    return column.cast(pa.float64(), safe=False)


def quotient(number: int, parts: int) -> float:
    """Returns a quotient as a double, without an end where it is too great for one."""
    try:
        return number / parts
    except OverflowError:
        return inf if number > 0 else -inf
