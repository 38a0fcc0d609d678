"""Windows that fill and fire: what operators beside joins make of rows one by one.

    tumbling until 3 rows         a b c | d e f | g ..    full: it fires, and is empty
    sliding over 3, each 2nd row  a b c d e ..            fires with b, with d, ..

Rows of other partitions are in windows of their own. Behind all that a window gives as
it fires stands a mark, which a window that lasts until a mark looks at.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

from dovetail.spec.spans import Span


@dataclass(frozen=True, slots=True)
class ByCount:
    """So many rows."""

    count: int


@dataclass(frozen=True, slots=True)
class ByDelta:
    """Rows by how much more a column of a later one has."""

    column: str
    width: Decimal


@dataclass(frozen=True, slots=True)
class ByTime:
    """Rows by when they come; what fires does so at each multiple of the length."""

    length: Span


@dataclass(frozen=True, slots=True)
class FromFirst:
    """Rows that come less than so long after the first one; of each partition."""

    length: Span


@dataclass(frozen=True, slots=True)
class FromLast:
    """Rows that come no more than so long after the one before; of each partition."""

    length: Span


@dataclass(frozen=True, slots=True)
class ByMark:
    """Rows up to the next mark."""


Policy = ByCount | ByDelta | ByTime | FromFirst | FromLast | ByMark
"""What a window looks at."""


@dataclass(frozen=True, slots=True)
class Tumbling:
    """A window that fires when it is full, and begins anew."""

    until: Policy

    @property
    def keeps(self) -> Policy:
        """Returns how long rows stay."""
        return self.until

    @property
    def fires(self) -> Policy:
        """Returns when it fires."""
        return self.until


@dataclass(frozen=True, slots=True)
class Sliding:
    """A window that keeps the last rows, and fires again and again; at no mark.

    Unless it is `eager`, not before it has once been full: of time it always is.
    """

    keeps: Policy
    fires: Policy
    eager: bool = False


FiringWindow = Tumbling | Sliding


@dataclass(frozen=True, slots=True)
class Lists:
    """A row for each group of the rows in a window: of some columns all their values.

    Groups are of equal values in columns, and stand in the order of their first rows.
    The column `counts` has how many rows each group of the window has. Of the columns
    `last` a row has the value that the last row of its group has.
    """

    groups: tuple[str, ...]
    columns: tuple[str, ...]
    counts: str
    last: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Arranged:
    """The rows themselves, in an order; equal ones as they came.

    Of a sliding window each row that it no longer keeps comes out, the first in the
    order; at the end all others.
    """

    by: tuple[tuple[str, bool], ...]
    """Columns, each with whether it descends."""


Gives = Lists | Arranged
