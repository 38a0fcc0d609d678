"""Windows that fill and fire: what operators beside joins make of rows one by one.

    tumbling until 3 rows         a b c | d e f | g ..    full: it fires, and is empty
    sliding over 3, each 2nd row  a b c d e ..            fires with b, with d, ..

Rows of other partitions are in windows of their own. Behind all that a window gives as
it fires stands a mark, which a window that lasts until a mark looks at.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from enum import Enum

from dovetail.schema import MOST_DIGITS, WHOLE, AtomicType, DecimalType, Type
from dovetail.spec.spans import SECOND, Span

_DAY = 86_400 * SECOND


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

    def ticks(self, before: int, until: int) -> Iterator[int]:
        """Yields when it fires behind a moment, until another one and then too."""
        every = self.length.microseconds
        return (it * every for it in range(before // every + 1, until // every + 1))

    def after(self, moment: int) -> int:
        """Returns when it fires next behind a moment."""
        every = self.length.microseconds
        return (moment // every + 1) * every


@dataclass(frozen=True, slots=True)
class ByCalendar:
    """Rows of a week from Monday on, or of so many months, in UTC: fires as it ends.

    No months: a week. Stretches of months begin with a January.
    """

    months: int

    def ticks(self, before: int, until: int) -> Iterator[int]:
        """Yields when it fires behind a moment, until another one and then too."""
        if not self.months:
            # 1970 began on a Thursday, three days behind a Monday.
            past = 3 * _DAY
            week = ByTime(Span(0, 7 * _DAY))
            yield from (it - past for it in week.ticks(before + past, until + past))
            return
        then = datetime.fromtimestamp(before // SECOND, UTC)
        first = (then.year * 12 + then.month - 1) // self.months + 1
        # No time is behind the year 9999.
        for number in range(first, 120_000 // self.months):
            year, month = divmod(number * self.months, 12)
            moment = int(datetime(year, month + 1, 1, tzinfo=UTC).timestamp()) * SECOND
            if moment > until:
                return
            yield moment

    @property
    def longest(self) -> int:
        """Returns the microseconds of its longest stretch."""
        return (31 * self.months or 7) * _DAY


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


Policy = ByCount | ByDelta | ByTime | ByCalendar | FromFirst | FromLast | ByMark
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

    Unless it is `eager`, not before it has once been full: of time it always is. Of the
    rows that it keeps it `skips` the newest: so many, or those that have not been there
    so long. A window that does fires with each row.
    """

    keeps: Policy
    fires: Policy
    eager: bool = False
    skips: ByCount | ByTime = ByCount(0)


FiringWindow = Tumbling | Sliding


class Fold(Enum):
    """What is made of the values of a column, one after another; a null is none.

    Of whole numbers a sum has 8 bytes, in which it wraps. Of decimals and doubles it is
    the exact one: null where 38 digits do not hold it, rounded once where it is a
    double. So a total does not depend on what has come and left before.
    """

    COUNT = "count"
    SUM = "sum"
    SQUARES = "squares"
    """The sum of the squares of how far each is from the mean of all."""
    LEAST = "least"
    GREATEST = "greatest"
    FIRST = "first"
    LAST = "last"


@dataclass(frozen=True, slots=True)
class Total:
    """A column `name` with what a fold makes of a column.

    Of no value it is null, or 0 where it is a count. Sums and counts may be of
    `distinct` values alone.
    """

    name: str
    fold: Fold
    column: str
    distinct: bool = False


def type_of(fold: Fold, values: Type) -> Type:
    """Returns the type of what a fold makes of values of a type."""
    match fold:
        case Fold.COUNT:
            return AtomicType.BIGINT
        case Fold.SUM if values in WHOLE:
            return AtomicType.BIGINT
        case Fold.SUM if isinstance(values, DecimalType):
            return DecimalType(MOST_DIGITS, values.scale)
        case Fold.SUM | Fold.SQUARES:
            return AtomicType.DOUBLE
        case _:
            return values


@dataclass(frozen=True, slots=True)
class Placed:
    """A column `name` with what one row of a group has in a column.

    Rows count from 1, or from -1 at the last one on; of none it is null.
    """

    name: str
    column: str
    number: int


@dataclass(frozen=True, slots=True)
class Listed:
    """A column `name` with all the values that a column has in a group."""

    name: str
    column: str


@dataclass(frozen=True, slots=True)
class Groups:
    """A row for each group of the rows in a window: lists of values, and totals.

    Groups are `by` equal values in columns, in the order of their first rows.
    A column `counts` has how many rows each group of the window has. Of the columns
    `last` a row has the value that the last row of its group has. A column `moment` has
    when the window fires.
    """

    by: tuple[str, ...]
    lists: tuple[Listed, ...] = ()
    counts: str = ""
    last: tuple[str, ...] = ()
    moment: str = ""
    totals: tuple[Total, ...] = ()
    placed: tuple[Placed, ...] = ()


@dataclass(frozen=True, slots=True)
class Arranged:
    """The rows themselves, in an order; equal ones as they came.

    Of a sliding window each row that it no longer keeps comes out, the first in the
    order; at the end all others.
    """

    by: tuple[tuple[str, bool], ...]
    """Columns, each with whether it descends."""


Gives = Groups | Arranged
