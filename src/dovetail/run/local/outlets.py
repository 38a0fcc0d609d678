"""From what the kernels let out to output rows, written on the rows as they came."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import pyarrow as pa

from dovetail.kernels.changelog import Change
from dovetail.kernels.leaving import Outlet as Exit
from dovetail.kernels.leaving import Reason
from dovetail.run.local.cargo import NUMBER, Cargo
from dovetail.run.projection import Projection
from dovetail.spec.inputs import Change as Told
from dovetail.spec.inputs import Emission, Inputs, Outlet, Row
from dovetail.spec.join import JoinSpec

_OWN_PORT = {
    Exit.LEFT_UNMATCHED: Outlet.LEFT_UNMATCHED,
    Exit.RIGHT_UNMATCHED: Outlet.RIGHT_UNMATCHED,
}
CHANGES = {change: Told[change.name] for change in Change}
_HEAD = ("outlet", "reason", "row_time", f"l.{NUMBER}", f"r.{NUMBER}")


@dataclass(frozen=True, slots=True)
class Line:
    """A row that comes out: its outlet, and the numbers of the rows that it is of."""

    outlet: int
    reason: int
    row_time: int | None
    left: int | None
    right: int | None
    change: int = Change.NONE


def lines(batches: Iterable[pa.RecordBatch]) -> Iterator[Line]:
    """Gives what comes out, in its order."""
    for batch in batches:
        names = batch.schema.names
        head = [*_HEAD, *(["change"] if "change" in names else [])]
        columns = [batch.column(names.index(name)).to_pylist() for name in head]
        for values in zip(*columns, strict=True):
            yield Line(*values)


@dataclass(frozen=True, slots=True)
class Writer:
    """Writes output rows of one join."""

    projection: Projection
    has_own_ports: bool
    cargoes: tuple[Cargo, Cargo]

    @classmethod
    def of(cls, join: JoinSpec, inputs: Inputs, cargoes: tuple[Cargo, Cargo]) -> Writer:
        """Returns the writer of a join's rows."""
        return cls(Projection.of(join, inputs), join.ports > 1, cargoes)

    def emission(self, line: Line) -> Emission:
        """Returns the row of a line: through `select`, or as it came in."""
        left, right = (
            None if number is None else one.values[number]
            for number, one in zip((line.left, line.right), self.cargoes, strict=True)
        )
        outlet = Exit(line.outlet)
        if outlet is Exit.LATE:
            return late_row(left or right or {}, Reason(line.reason))
        change = CHANGES[Change(line.change)]
        if self.has_own_ports and outlet in _OWN_PORT:
            return Emission(_OWN_PORT[outlet], dict(left or right or {}), change=change)
        row = self.projection.row((left, right), line.row_time)
        return Emission(Outlet.MATCHED, row, change=change)

    def lost(self) -> Iterator[Emission]:
        """Gives the rows of sides outside time that lack the time they should have."""
        for one in self.cargoes:
            for values in one.lost:
                yield late_row(values, Reason.NULL_TIME)


def late_row(values: Row, reason: Reason) -> Emission:
    """Returns a row that takes no part, and why."""
    return Emission(Outlet.LATE, {**values, "reason": reason.name.lower()})
