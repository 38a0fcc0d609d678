"""From what the kernels let out to output rows, written on the rows as they came.

From two plain rows to one output row: `select`, with what stands for absent sides.

Kernels say which rows belong together; expressions that only shape the output are
evaluated here, on the rows themselves, by the rules of the definition.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime

import pyarrow as pa

from dovetail import spec
from dovetail.conformance.local.rows import NUMBER, Cargo
from dovetail.errors import LimitError
from dovetail.expression import BARE, Expression, Scope, compiled
from dovetail.kernels.pairs.results import (
    CHANGES,
    OUTLETS,
    REASONS,
    UNMATCHED,
    Reason,
)
from dovetail.plan.sides import input_of
from dovetail.schema import from_microseconds
from dovetail.spec.facts import absent_row

_MORE = ("change", "counter")
_HEAD = ("outlet", "reason", "row_time", f"l.{NUMBER}", f"r.{NUMBER}")


@dataclass(frozen=True, slots=True)
class Line:
    """A row that comes out: its outlet, and the numbers of the rows that it is of."""

    outlet: spec.Outlet
    reason: Reason
    row_time: int | None
    left: int | None
    right: int | None
    change: spec.Change = spec.Change.NONE
    counter: int = 0


def lines(batches: Iterable[pa.RecordBatch]) -> Iterator[Line]:
    """Gives what comes out, in its order."""
    for batch in batches:
        names = batch.schema.names
        zeros = [0] * batch.num_rows
        columns = [
            batch.column(names.index(name)).to_pylist() if name in names else zeros
            for name in (*_HEAD, *_MORE)
        ]
        outlets, reasons, times, lefts, rights, changes, counters = columns
        yield from map(
            Line,
            (OUTLETS[one] for one in outlets),
            (REASONS[one] for one in reasons),
            times,
            lefts,
            rights,
            (CHANGES[one] for one in changes),
            counters,
        )


@dataclass(frozen=True, slots=True)
class Writer:
    """Writes output rows of one join."""

    projection: Projection
    over: Projection
    key: tuple[Callable[[Sight], object], ...]
    limit: int
    has_own_ports: bool
    cargoes: tuple[Cargo, Cargo]

    @classmethod
    def of(
        cls, join: spec.JoinSpec, inputs: spec.Inputs, cargoes: tuple[Cargo, Cargo]
    ) -> Writer:
        """Returns the writer of a join's rows."""
        scope = Scope((("l", input_of(join, spec.Hand.LEFT, inputs).schema),))
        limit = join.picks.limit
        return cls(
            Projection.of(join, inputs),
            Projection.over_limit(join, inputs),
            tuple(compiled(one.left, scope) for one in join.hard),
            limit.count if isinstance(limit, spec.Limit) else 0,
            join.ports > 1,
            cargoes,
        )

    def emission(self, line: Line) -> spec.Emission:
        """Returns the row of a line: through `select`, or as it came in."""
        left, right = (
            None if number is None else one.values[number]
            for number, one in zip((line.left, line.right), self.cargoes, strict=True)
        )
        if line.outlet is spec.Outlet.LATE:
            return late_row(left or right or {}, line.reason)
        if self.has_own_ports and line.outlet in UNMATCHED:
            row = dict(left or right or {})
            return spec.Emission(line.outlet, row, change=line.change)
        is_over = line.reason is Reason.OVER_LIMIT
        projection = self.over if is_over else self.projection
        shown = projection.row((left, right), line.row_time, line.counter)
        return spec.Emission(spec.Outlet.MATCHED, shown, change=line.change)

    def exceeded(self, left: spec.Row, count: int) -> LimitError:
        """Returns what is wrong with a left row that has too many candidates."""
        key = [str(part({"l": left})) for part in self.key]
        return LimitError(
            f"{spec.row_of_key(key)} has {count} candidates",
            f"at most {self.limit}",
        )

    def lost(self) -> Iterator[spec.Emission]:
        """Gives the rows of sides outside time that lack the time they should have."""
        for number in (0, 1):
            yield from self.lost_of(number)

    def lost_of(self, number: int) -> Iterator[spec.Emission]:
        """Gives the rows of one side, by its number, that lack the time."""
        for values in self.cargoes[number].lost:
            yield late_row(values, Reason.NULL_TIME)


def late_row(values: spec.Row, reason: Reason) -> spec.Emission:
    """Returns a row that takes no part, and why."""
    return spec.Emission(spec.Outlet.LATE, {**values, "reason": reason.value})


Sight = Mapping[str, spec.Row]
Column = tuple[str, Callable[[Sight], object]]
Selected = tuple[tuple[str, Expression], ...]
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
        columns = {name: Expression("NULL") for name, _ in _selected(join, inputs)}
        if isinstance(join.picks.limit, spec.Limit):
            columns |= dict(join.picks.limit.transform)
        return _projection(join, inputs, tuple(columns.items()), (False, False))

    def row(self, sides: Sides, row_time: int | None, counter: int = 0) -> spec.Row:
        """Returns the output row of both sides; None stands for an absent one."""
        left, right = (
            stand_in if row is None else row
            for row, stand_in in zip(sides, self.absent, strict=True)
        )
        bare = {
            "matched_left": self.met[0] or sides[0] is not None,
            "matched_right": self.met[1] or sides[1] is not None,
            "counter": counter,
            **self._times(row_time),
        }
        seen = {"l": left, "r": right, BARE: bare}
        return {name: scalar(seen) for name, scalar in self.columns}

    def _times(self, row_time: int | None) -> dict[str, datetime | None]:
        """Returns the row time of a row, and the window that ends there."""
        if row_time is None:
            return dict.fromkeys(("row_time", "window_start", "window_end"))
        end = from_microseconds(row_time)
        start = from_microseconds(row_time - self.size)
        return {"row_time": end, "window_start": start, "window_end": end}


def _projection(
    join: spec.JoinSpec, inputs: spec.Inputs, shown: Selected, met: tuple[bool, bool]
) -> Projection:
    """Returns the projection to the columns that are shown."""
    left, right = (input_of(join, hand, inputs).schema for hand in spec.HANDS)
    scope = Scope.pair(left, right)
    columns = tuple((name, compiled(text, scope)) for name, text in shown)
    absent = (absent_row(join.absent_left, left), absent_row(join.absent_right, right))
    window = join.left.window
    size = window.size.microseconds if isinstance(window, spec.HopSize) else 0
    return Projection(columns, absent, met, size)


def _selected(join: spec.JoinSpec, inputs: spec.Inputs) -> Selected:
    """Returns the output columns with their expressions."""
    schemas = {hand: input_of(join, hand, inputs).schema for hand in spec.HANDS}
    return spec.selected_columns(join, schemas)
