"""From what a bucket lets out, unpacked, to output rows.

    outlet  reason  row_time  left  right  l0 ..  r0 ..     as unpack reads it
      ->  OutputRow     two plain rows, one of which may be absent
      ->  Emission      `select`, with what stands for absent sides

Spark does the last step in its SQL. Here expressions that only shape the output are
evaluated on the rows themselves, by the rules of the definition.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from dovetail import expression, spec
from dovetail.conformance.local.frames import NUMBER
from dovetail.engines.spark_stream.worker import bucket
from dovetail.engines.tables import plain_rows
from dovetail.kernels.arrays.names import REST
from dovetail.kernels.lifetimes.lives import HANDED
from dovetail.kernels.pairs import results
from dovetail.plan.sides import input_of
from dovetail.schema import from_microseconds


@dataclass(frozen=True, slots=True)
class OutputRow:
    """A row that comes out: its outlet, the rows that it is of, and their numbers.

    `handed` stands beside it for a join around that inherits its life. Of several sets
    the `rest` are the rows that stand together with those of both sides.
    """

    outlet: spec.Outlet
    reason: results.Reason
    row_time: int | None
    numbers: tuple[int | None, int | None]
    sides: Sides
    change: spec.Change
    counter: int
    handed: spec.Row
    rest: Sequence[spec.Row] = ()


def output_rows(
    batch: pa.RecordBatch, names: Sequence[Sequence[str]]
) -> Iterator[OutputRow]:
    """Gives the rows of an unpacked batch; `names` are those of both sides' columns."""
    words = (bucket.OUTLET, bucket.REASON, *bucket.MORE.names)
    outlets, reasons, counters, changes = (
        batch.column(name).to_pylist() for name in words
    )
    times = batch.column(bucket.ROW_TIME).cast(pa.int64()).to_pylist()
    handed = batch.select(HANDED.names).to_pylist()
    # Only where several sets are joined more than two rows stand together.
    rest = [()] * batch.num_rows
    if REST in batch.schema.names:
        rest = batch.column(REST).to_pylist(maps_as_pydicts="strict")
    first = len(bucket.HEAD)
    lefts = _rows_of(batch, bucket.LEFT, first, names[0])
    rights = _rows_of(batch, bucket.RIGHT, first + len(names[0]), names[1])
    for at, (left, right) in enumerate(zip(lefts, rights, strict=True)):
        yield OutputRow(
            results.OUTLETS[outlets[at]],
            results.REASONS[reasons[at]],
            times[at],
            # The rows' numbers are ours: they come out beside the users' columns.
            (_number(left), _number(right)),
            (left, right),
            results.CHANGES[changes[at]],
            counters[at],
            handed[at],
            rest[at],
        )


def _number(row: dict[str, Any] | None) -> int | None:
    """Takes a row's number out of it."""
    return None if row is None else row.pop(NUMBER)


def _rows_of(
    batch: pa.RecordBatch, side: str, start: int, names: Sequence[str]
) -> list[dict[str, Any] | None]:
    """Returns one side's rows, whose columns begin at a place; None where absent."""
    # By place, not by name: both sides may have a column of one name.
    columns = batch.columns[start : start + len(names)]
    rows = plain_rows(pa.Table.from_arrays(columns, names=list(names)))
    there = batch.column(side).to_pylist()
    both = zip(rows, there, strict=True)
    return [row if is_there else None for row, is_there in both]


@dataclass(frozen=True, slots=True)
class Writer:
    """Writes output rows of one join, as Spark does by the SQL of its outlets."""

    projection: Projection
    over: Projection
    has_own_ports: bool

    @classmethod
    def of(cls, join: spec.JoinSpec, inputs: spec.Inputs) -> Writer:
        """Returns the writer of a join's rows."""
        return cls(
            Projection.of(join, inputs),
            Projection.over_limit(join, inputs),
            join.ports > 1,
        )

    def emission(self, found: OutputRow) -> spec.Emission:
        """Returns what a row shows: through `select`, or as it came in."""
        left, right = found.sides
        if found.outlet is spec.Outlet.LATE:
            return late_row(left or right or {}, found.reason)
        if self.has_own_ports and found.outlet in results.UNMATCHED:
            row = dict(left or right or {})
            return spec.Emission(found.outlet, row, change=found.change)
        is_over = found.reason is results.Reason.OVER_LIMIT
        projection = self.over if is_over else self.projection
        shown = projection.row(found.sides, found.row_time, found.counter)
        return spec.Emission(spec.Outlet.MATCHED, shown, change=found.change)


def late_row(values: spec.Row, reason: results.Reason) -> spec.Emission:
    """Returns a row that takes no part, and why."""
    return spec.Emission(spec.Outlet.LATE, {**values, "reason": reason.value})


Sight = Mapping[str, spec.Row]
Column = tuple[str, Callable[[Sight], object]]
Selected = tuple[tuple[str, expression.Expression], ...]
Sides = tuple[spec.Row | None, spec.Row | None]


@dataclass(frozen=True, slots=True)
class Projection:
    """The output columns as functions, and the rows that stand for absent sides.

    `met` marks a side that a row given once does not show: its partner was there.
    `size` is the length of windows that hop; a row comes out at the end of one.
    """

    columns: tuple[Column, ...]
    absent: tuple[spec.Row, spec.Row]
    met: tuple[bool, bool]
    size: int

    @classmethod
    def of(cls, join: spec.JoinSpec, inputs: spec.Inputs) -> Projection:
        """Returns the projection of a join."""
        met_left, met_right = (join.kind.gives_once(hand.other) for hand in spec.HANDS)
        return _projection(join, inputs, _selected(join, inputs), (met_left, met_right))

    @classmethod
    def over_limit(cls, join: spec.JoinSpec, inputs: spec.Inputs) -> Projection:
        """Returns that of left rows over their limit: null where nothing is said."""
        columns = {
            name: expression.Expression("NULL") for name, _ in _selected(join, inputs)
        }
        columns |= dict(join.picks.stand_in)
        return _projection(join, inputs, tuple(columns.items()), (False, False))

    def row(self, sides: Sides, row_time: int | None, counter: int = 0) -> spec.Row:
        """Returns the output row of both sides; None stands for an absent one."""
        left, right = (
            stand_in if row is None else row
            for row, stand_in in zip(sides, self.absent, strict=True)
        )
        start, end = None, None
        if row_time is not None:
            # What comes out of a window has the row time at which that ends.
            start, end = map(from_microseconds, (row_time - self.size, row_time))
        bare = {
            "matched_left": self.met[0] or sides[0] is not None,
            "matched_right": self.met[1] or sides[1] is not None,
            "counter": counter,
            "row_time": end,
            "window_start": start,
            "window_end": end,
        }
        seen = {"l": left, "r": right, expression.BARE: bare}
        return {name: scalar(seen) for name, scalar in self.columns}


def _projection(
    join: spec.JoinSpec, inputs: spec.Inputs, shown: Selected, met: tuple[bool, bool]
) -> Projection:
    """Returns the projection to the columns that are shown."""
    left, right = (input_of(join, hand, inputs).schema for hand in spec.HANDS)
    scope = expression.Scope.pair(left, right)
    columns = tuple((name, expression.compiled(text, scope)) for name, text in shown)
    absent = (
        spec.absent_row(join.absent_left, left),
        spec.absent_row(join.absent_right, right),
    )
    # The windows of both sides are the same, where they are of a size.
    return Projection(columns, absent, met, join.left.window.hop_length.microseconds)


def _selected(join: spec.JoinSpec, inputs: spec.Inputs) -> Selected:
    """Returns the output columns with their expressions."""
    schemas = {hand: input_of(join, hand, inputs).schema for hand in spec.HANDS}
    return spec.selected_columns(join, schemas)
