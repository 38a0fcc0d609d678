"""From what the kernels let out to output rows, written on the rows as they came."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

import pyarrow as pa

from dovetail.conformance.local.cargo import NUMBER, Cargo
from dovetail.conformance.local.projection import Projection, Sight
from dovetail.engines.kernel_settings import input_of
from dovetail.errors import LimitError
from dovetail.expression import Scope, compiled
from dovetail.kernels.pairs.leaving import (
    CHANGES,
    OUTLETS,
    REASONS,
    UNMATCHED,
    Reason,
)
from dovetail.spec.inputs import Change, Emission, Inputs, Outlet, Row
from dovetail.spec.join import Hand, JoinSpec
from dovetail.spec.picks import Limit
from dovetail.spec.stops import row_of_key

_MORE = ("change", "counter")
_HEAD = ("outlet", "reason", "row_time", f"l.{NUMBER}", f"r.{NUMBER}")


@dataclass(frozen=True, slots=True)
class Line:
    """A row that comes out: its outlet, and the numbers of the rows that it is of."""

    outlet: Outlet
    reason: Reason
    row_time: int | None
    left: int | None
    right: int | None
    change: Change = Change.NONE
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
    def of(cls, join: JoinSpec, inputs: Inputs, cargoes: tuple[Cargo, Cargo]) -> Writer:
        """Returns the writer of a join's rows."""
        scope = Scope((("l", input_of(join, Hand.LEFT, inputs).schema),))
        limit = join.picks.limit
        return cls(
            Projection.of(join, inputs),
            Projection.over_limit(join, inputs),
            tuple(compiled(one.left, scope) for one in join.hard),
            limit.count if isinstance(limit, Limit) else 0,
            join.ports > 1,
            cargoes,
        )

    def emission(self, line: Line) -> Emission:
        """Returns the row of a line: through `select`, or as it came in."""
        left, right = (
            None if number is None else one.values[number]
            for number, one in zip((line.left, line.right), self.cargoes, strict=True)
        )
        if line.outlet is Outlet.LATE:
            return late_row(left or right or {}, line.reason)
        if self.has_own_ports and line.outlet in UNMATCHED:
            row = dict(left or right or {})
            return Emission(line.outlet, row, change=line.change)
        is_over = line.reason is Reason.OVER_LIMIT
        projection = self.over if is_over else self.projection
        shown = projection.row((left, right), line.row_time, line.counter)
        return Emission(Outlet.MATCHED, shown, change=line.change)

    def exceeded(self, left: Row, count: int) -> LimitError:
        """Returns what is wrong with a left row that has too many candidates."""
        key = [str(part({"l": left})) for part in self.key]
        return LimitError(
            f"{row_of_key(key)} has {count} candidates",
            f"at most {self.limit}",
        )

    def lost(self) -> Iterator[Emission]:
        """Gives the rows of sides outside time that lack the time they should have."""
        for number in (0, 1):
            yield from self.lost_of(number)

    def lost_of(self, number: int) -> Iterator[Emission]:
        """Gives the rows of one side, by its number, that lack the time."""
        for values in self.cargoes[number].lost:
            yield late_row(values, Reason.NULL_TIME)


def late_row(values: Row, reason: Reason) -> Emission:
    """Returns a row that takes no part, and why."""
    return Emission(Outlet.LATE, {**values, "reason": reason.value})
