"""Windows: each says from when until when a row is alive on its side.

A window is a name with its numbers, and what other rooms ask of any window. What
lifetime a row gets from it is one function per window in
`kernels/lifetimes/births.py`, and once more, as a definition, in the oracle.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import Literal

from dovetail.errors import SpecError
from dovetail.expression import Expression
from dovetail.spec.spans import NO_TIME, Span

HopUnitName = Literal["second", "minute", "hour", "day", "week", "month", "year"]


def _need(found: str, expected: str, *, holds: bool) -> None:
    """Refuses a window whose numbers make no sense."""
    if not holds:
        raise SpecError(found, expected, rule="window_size")


def _is_length(span: Span) -> bool:
    """Tells whether a span is 0 or more microseconds on every date."""
    return span.is_exact and span.microseconds >= 0


# A new window answers these by itself, so that no room asks which window it has.
class Lifetime:
    """What other rooms ask of any window, as most windows have it."""

    __slots__ = ()

    @property
    def is_ended_by_rows(self) -> bool:
        """Tells whether rows that come later end a life."""
        return False

    @property
    def hop_length(self) -> Span:
        """Returns how long the windows of a size are: a row has a life in each."""
        return NO_TIME

    @property
    def interval(self) -> tuple[Expression, ...]:
        """Returns the start and the end that a row names itself, where it does."""
        return ()

    @property
    def measures(self) -> tuple[Expression, ...]:
        """Returns the expressions over a row by which its life is found."""
        return self.interval

    @property
    def is_inherited(self) -> bool:
        """Tells whether lives are those of the rows that a row is made of."""
        return False


@dataclass(frozen=True, slots=True)
class Rows(Lifetime):
    """The newest `count` rows of a partition; 0: met once, never stored."""

    count: int

    def __post_init__(self) -> None:
        """Refuses a negative number."""
        _need(f"a window of {self.count} rows", "0 or more", holds=self.count >= 0)

    @property
    def is_ended_by_rows(self) -> bool:
        """Tells it of all but a row that is met once: it is over before others come."""
        return self.count > 0


@dataclass(frozen=True, slots=True)
class Seconds(Lifetime):
    """Until more than so much processing time has passed since arrival."""

    length: Span

    def __post_init__(self) -> None:
        """Refuses a length that is negative or not always the same."""
        _need(
            f"a window of {self.length}",
            "0 seconds or more",
            holds=_is_length(self.length),
        )


@dataclass(frozen=True, slots=True)
class Delta(Lifetime):
    """Until a later row's `by` is more than `width` above this row's."""

    by: Expression
    width: Decimal

    def __post_init__(self) -> None:
        """Refuses a negative width."""
        _need(f"a delta of the width {self.width}", "0 or more", holds=self.width >= 0)

    @property
    def measures(self) -> tuple[Expression, ...]:
        """Returns what is compared with the width."""
        return (self.by,)

    @property
    def is_ended_by_rows(self) -> bool:
        """Tells that it is so."""
        return True


@dataclass(frozen=True, slots=True)
class Range(Lifetime):
    """Row times t - following to t + preceding, both ends included."""

    preceding: Span = NO_TIME
    following: Span = NO_TIME

    @property
    def is_backward(self) -> bool:
        """Tells whether the range ends before it starts, whatever the date."""
        # Months and microseconds are not summed up: which of them is more depends on
        # the date, and a range is refused only where it is backward on all of them.
        months = self.preceding.months + self.following.months
        rest = self.preceding.microseconds + self.following.microseconds
        return (months, rest) != (0, 0) and months <= 0 and rest <= 0


@dataclass(frozen=True, slots=True)
class RowsPreceding(Lifetime):
    """Row times of the `last`th to the (`first` + 1)th later row of the stream."""

    first: int
    last: int = 0

    def __post_init__(self) -> None:
        """Refuses rows that run backward."""
        found = f"rows preceding from {self.first} to {self.last}"
        _need(
            found, "from at least to, to at least 0", holds=self.first >= self.last >= 0
        )

    @property
    def is_ended_by_rows(self) -> bool:
        """Tells that it is so."""
        return True


@dataclass(frozen=True, slots=True)
class HopUnit(Lifetime):
    """Until the row time leaves the hour, day, minute it stands in."""

    unit: HopUnitName


@dataclass(frozen=True, slots=True)
class HopSize(Lifetime):
    """Every window of `size` that starts a multiple of `every` and holds the row."""

    size: Span
    every: Span

    def __post_init__(self) -> None:
        """Refuses lengths that are nothing, negative, or not always the same."""
        # A size of months would be another one in every month.
        for length in (self.size, self.every):
            holds = _is_length(length) and length != NO_TIME
            _need(
                f"a hop window of {length}",
                "more than 0 seconds, no months",
                holds=holds,
            )

    @property
    def hop_length(self) -> Span:
        """Returns the size."""
        return self.size


@dataclass(frozen=True, slots=True)
class Between(Lifetime):
    """From one row time of the row to another, both included."""

    start: Expression
    end: Expression

    @property
    def interval(self) -> tuple[Expression, ...]:
        """Returns both ends."""
        return self.start, self.end


@dataclass(frozen=True, slots=True)
class Latest(Lifetime):
    """Until the next version, or the delete, of its key."""

    key: tuple[str, ...]

    @property
    def is_ended_by_rows(self) -> bool:
        """Tells that it is so."""
        return True


@dataclass(frozen=True, slots=True)
class Inherited(Lifetime):
    """The row of a join: while both its rows live."""

    @property
    def is_inherited(self) -> bool:
        """Tells that it is so."""
        return True


@dataclass(frozen=True, slots=True)
class Forever(Lifetime):
    """Always; a stream's row on the event clock from its row time on."""


@dataclass(frozen=True, slots=True)
class Unstated(Lifetime):
    """No window was written; `with_defaults` replaces it."""


Window = (
    Rows
    | Seconds
    | Delta
    | Range
    | RowsPreceding
    | HopUnit
    | HopSize
    | Between
    | Latest
    | Inherited
    | Forever
    | Unstated
)


@dataclass(frozen=True, slots=True)
class EvictAge:
    """Partitions without a new row for so long leave."""

    age: Span

    def __post_init__(self) -> None:
        """Refuses a length that is negative or not always the same."""
        _need(f"an age of {self.age}", "0 seconds or more", holds=_is_length(self.age))


@dataclass(frozen=True, slots=True)
class EvictCount:
    """At most so many partitions stay."""

    partitions: int

    def __post_init__(self) -> None:
        """Refuses a negative number."""
        _need(f"{self.partitions} partitions", "0 or more", holds=self.partitions >= 0)


@dataclass(frozen=True, slots=True)
class EvictTuples:
    """At most so many rows stay, over all partitions."""

    rows: int

    def __post_init__(self) -> None:
        """Refuses a negative number."""
        _need(f"{self.rows} rows of all partitions", "0 or more", holds=self.rows >= 0)


@dataclass(frozen=True, slots=True)
class KeepPartitions:
    """No partition is ever dropped as a whole."""


Eviction = EvictAge | EvictCount | EvictTuples | KeepPartitions
