"""What comes in: inputs with their columns, and the events that are played on them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum

from dovetail.expression import Expression
from dovetail.schema import Schema
from dovetail.spec.spans import NO_TIME, Span

# Plain values by the names of columns; `schema/values.py` says which stand for what.
Row = Mapping[str, object]


class Clock(Enum):
    """What time means in a join: order of arrival, row time, or nothing."""

    ARRIVAL = "arrival"
    EVENT = "event"
    BATCH = "batch"


class InputKind(Enum):
    """Whether rows keep coming, keep changing, or are all there."""

    STREAM = "stream"
    TABLE = "table"
    DATASET = "dataset"


@dataclass(frozen=True, slots=True)
class Input:
    """One input: its columns, a table's key, and the column of its row time.

    Of a row that names one of the `intervals` wrongly no side of any join knows.
    """

    name: str
    kind: InputKind
    schema: Schema
    key: tuple[str, ...] = ()
    time: str = ""
    lateness: Span = NO_TIME
    rows: tuple[Row, ...] = ()
    intervals: tuple[tuple[Expression, ...], ...] = ()

    @property
    def is_timed(self) -> bool:
        """Tells whether the rows carry a row time."""
        return self.time != ""


Inputs = Mapping[str, Input]


@dataclass(frozen=True, slots=True)
class Arrive:
    """A row arrives; `clock` is, as in each event, microseconds of processing time."""

    input: str
    row: Row
    clock: int = 0


@dataclass(frozen=True, slots=True)
class Remove:
    """A table loses the key that stands in `row`, at its time where it has one."""

    input: str
    row: Row
    clock: int = 0


@dataclass(frozen=True, slots=True)
class Bound:
    """A promise that no row before `moment` follows on this input."""

    input: str
    moment: int
    clock: int = 0


# What a clock of processing time ends, it ends without a row: a play has to say when.
@dataclass(frozen=True, slots=True)
class Pause:
    """Nothing but time."""

    clock: int = 0


@dataclass(frozen=True, slots=True)
class Finish:
    """The input is finished."""

    input: str
    clock: int = 0


Event = Arrive | Remove | Bound | Pause | Finish


class Outlet(Enum):
    """Where a row comes out."""

    MATCHED = "matched"
    LEFT_UNMATCHED = "left_unmatched"
    RIGHT_UNMATCHED = "right_unmatched"
    LATE = "late"
    MARKS = "marks"


# An update is two rows: who sums results up takes the first away and adds the second.
class Change(Enum):
    """What a row says about the result: a new row, or a step of a changelog."""

    NONE = "none"
    INSERT = "insert"
    UPDATE_BEFORE = "update_before"
    UPDATE_AFTER = "update_after"
    DELETE = "delete"


# Of a row of whom nobody has watched when it came out: a batch gives all at the end.
UNKNOWN_EVENT = -1


@dataclass(frozen=True, slots=True)
class Emission:
    """One row that comes out, and the event during which it does, where known."""

    outlet: Outlet
    row: Row
    after: int = UNKNOWN_EVENT
    change: Change = Change.NONE


class Arrival(Enum):
    """What the order of arrival is made of; `place` is the row's own position.

    SEQUENCE: one position over both sides. MERGED: row time, then side, then
    position; rows wait until both bounds have passed. AS_READ: batch, side, position.
    """

    SEQUENCE = "sequence"
    MERGED = "merged"
    AS_READ = "as_read"


class OuterRows(Enum):
    """When the null row of an unmatched row comes out."""

    EXPIRY = "expiry"
    PER_MILLISECOND = "per_millisecond"
    EAGER = "eager"
    EAGER_RETRACT = "eager_retract"


@dataclass(frozen=True, slots=True)
class IgnoreLateTableRows:
    """A table row gives nothing to stream rows that came before it."""


@dataclass(frozen=True, slots=True)
class Unending:
    """However long it takes."""


@dataclass(frozen=True, slots=True)
class EmitLateTableRows:
    """A preserved stream row without a match waits for its first one, so long."""

    wait: Span | Unending = Unending()


class Order(Enum):
    """In which order rows leave."""

    AS_FOUND = "as_found"
    ROW_TIME = "row_time"


@dataclass(frozen=True, slots=True)
class Settings:
    """The switches beside a join.

    `late_null_rows`: where its side is preserved, a late row of a stream gives its null
    row too.
    """

    outer_rows: OuterRows = OuterRows.EXPIRY
    late_table_rows: IgnoreLateTableRows | EmitLateTableRows = IgnoreLateTableRows()
    order: Order = Order.AS_FOUND
    late_null_rows: bool = False

    @property
    def is_eager(self) -> bool:
        """Tells whether null rows come at once."""
        return self.outer_rows in {OuterRows.EAGER, OuterRows.EAGER_RETRACT}
