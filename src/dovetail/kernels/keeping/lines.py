"""Lines that come one by one, and what they let out.

    kept     a b c             a table of rows; who keeps them knows places in it
    lines    d . e M f         rows, time alone (.), marks (M), the end

What comes out is places again: so columns are taken once for all of a batch, and no
value is looked at but those of keys, deltas, totals and sort keys.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np
import pyarrow as pa

from dovetail.kernels.arrays.names import LineKind, reserved
from dovetail.kernels.arrays.rows import Whole, take_payload
from dovetail.spec.firing import ByDelta, Policy

KIND, NOW, CAUSE = reserved("event"), reserved("now"), reserved("cause")
"""What a line is, and when it comes; of a result the place of its line in the batch."""
ORDER = reserved("order")
"""Where a result stands among all of its line, also those that go elsewhere."""
Key = tuple[Any, ...]
Saved = Any
"""What is known of rows that stay, as plain values: it goes into a checkpoint."""


class Found(NamedTuple):
    """What a line lets out: a mark, or a result, which is made of rows at some places.

    Each has a `last` row. `counts` are those of all groups of a window, which fires at
    a `moment`: none where nobody asks. So it is with all its `rows`, its `totals`, and
    the places of `placed` rows.
    """

    last: int | None = None
    rows: Sequence[int] = ()
    counts: Sequence[int] = ()
    moment: int | None = None
    totals: Sequence[Any] = ()
    placed: Sequence[int | None] = ()

    @property
    def is_mark(self) -> bool:
        """Tells whether it is a mark."""
        # By what it is, and not by which: code that has travelled has objects anew.
        return self.last is None


class Keeper(Protocol):
    """What remembers rows: it is told of each line, and gives what comes out then."""

    def come(self, kind: int, now: int, place: int) -> Iterator[Found]:
        """Yields what comes out when a line comes, which may be a row's."""

    def kept(self) -> list[int]:
        """Returns the places of the rows that stay."""

    def saved(self, numbers: Mapping[int, int]) -> Saved:
        """Returns what is known, of rows by the places that they get."""

    def columns(self, found: Sequence[Found]) -> dict[str, pa.Array]:
        """Returns the columns of what comes out, null for a mark."""


def keys_of(table: pa.RecordBatch, names: Sequence[str]) -> list[Key]:
    """Returns the values of columns, row by row."""
    if not names:
        return [()] * table.num_rows
    return [*zip(*(_values(table.column(name)) for name in names), strict=True)]


def _values(column: pa.Array) -> Sequence[Any]:
    """Returns the values of a column as parts of keys."""
    # Times are told apart by their numbers: to make one of Python's takes longest.
    if pa.types.is_timestamp(column.type):
        column = column.cast(pa.int64())
    values: list[Any] = column.to_pylist()
    kind = column.type
    is_odd = pa.types.is_nested(kind) or pa.types.is_floating(kind)
    return [*map(as_key, values)] if is_odd else values


def as_key(value: Any) -> Any:  # noqa: ANN401 - whatever a column holds
    """Returns a value that can be a key: a list as a tuple, and so on inside it.

    NaN, which does not even equal itself, is `...`: one key wherever it comes from.
    """
    if isinstance(value, list):
        return tuple(map(as_key, value))
    if isinstance(value, dict):
        return tuple((name, as_key(part)) for name, part in value.items())
    return ... if value != value else value  # noqa: PLR0124 - that is the test


def taken(
    table: pa.RecordBatch, names: Iterable[str], places: Sequence[int | None] | Whole
) -> dict[str, pa.Array]:
    """Returns the values of columns at some places."""
    numbers = pa.array(places, pa.int64())
    return {name: table.column(name).take(numbers) for name in names}


@dataclass(frozen=True, slots=True)
class Measure:
    """How far rows are above others, by a column."""

    values: Sequence[Any]
    width: Any

    @classmethod
    def of(cls, policy: Policy, table: pa.RecordBatch) -> Measure | None:
        """Returns the measure of a policy; None if it measures nothing."""
        if not isinstance(policy, ByDelta):
            return None
        column, width = table.column(policy.column), policy.width
        if pa.types.is_floating(column.type):
            return cls(column.to_pylist(), float(width))
        # Whole numbers are compared sooner than decimals.
        is_whole = width == int(width)
        return cls(column.to_pylist(), int(width) if is_whole else width)

    def is_over(self, place: int, earlier: Any) -> bool:  # noqa: ANN401 - its value
        """Tells whether a row is too far above an earlier value."""
        return bool(self.values[place] - earlier > self.width)


@dataclass(frozen=True, slots=True)
class RowLines:
    """Lines in whole columns: rows, at which line each stands, and when it comes.

    Lines come at `nows`; behind the end of all no more do.
    """

    rows: pa.RecordBatch
    at: Whole
    nows: Whole
    ends: bool

    @classmethod
    def by(cls, lines: pa.RecordBatch) -> RowLines:
        """Returns what comes in lines."""
        kinds = lines.column(KIND).to_numpy()
        (ends,) = np.nonzero(kinds == LineKind.FINISH)
        count = ends[0] + 1 if len(ends) else len(kinds)
        (at,) = np.nonzero(kinds[:count] == LineKind.ROW)
        rows = take_payload(lines.drop_columns([KIND, NOW]), at)
        nows = lines.column(NOW).to_numpy()[:count]
        return cls(rows, at, nows, len(ends) > 0)

    @property
    def times(self) -> Whole:
        """Returns when rows come."""
        return self.nows[self.at]
