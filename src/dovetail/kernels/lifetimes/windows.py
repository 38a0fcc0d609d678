"""Windows as the kernels know them, and how whole partitions leave: plain data.

How long each lets a row live says `births.py`.
"""

from __future__ import annotations

from dataclasses import dataclass

from dovetail.kernels.arrays.names import hidden
from dovetail.kernels.lifetimes.hopping import Unit
from dovetail.kernels.lifetimes.lengths import Length


@dataclass(frozen=True, slots=True)
class Fixed:
    """Alive around the row time: both lengths may be negative, their sum not."""

    preceding: Length
    following: Length


@dataclass(frozen=True, slots=True)
class Point:
    """Alive at its own birth and never again."""


@dataclass(frozen=True, slots=True)
class Newest:
    """Alive until `count` later rows of its partition have come."""

    count: int


@dataclass(frozen=True, slots=True)
class Delta:
    """Alive until a later row of its partition measures more than the row reaches."""


@dataclass(frozen=True, slots=True)
class Seconds:
    """Alive until more than so many microseconds have passed since the row came."""

    length: int


@dataclass(frozen=True, slots=True)
class Band:
    """Meets around its row time like `Fixed`, in order of arrival.

    Alive until the highest row time seen is past its end, `beyond` and the larger
    grace: the other side's following, and how late the rows of both may be.
    """

    preceding: Length
    following: Length
    beyond: Length
    graces: tuple[Length, Length]

    @property
    def reach(self) -> Fixed:
        """Returns the row times that a row meets."""
        return Fixed(self.preceding, self.following)


@dataclass(frozen=True, slots=True)
class Version:
    """Alive until the next version of its partition; `timed` versions have an age."""

    timed: bool


@dataclass(frozen=True, slots=True)
class Calendar:
    """Alive until the end of the unit of the calendar in which the row stands."""

    unit: Unit


@dataclass(frozen=True, slots=True)
class Interval:
    """Alive between two moments that the row names in its columns START and END."""


START, END, BAD = hidden("start"), hidden("end"), hidden("bad")
"""The payload columns of intervals; BAD is 1 where the row takes no part for its."""


@dataclass(frozen=True, slots=True)
class Hop:
    """Alive at the end of each window of a size that the row falls into."""

    size: int
    every: int

    @property
    def copies(self) -> int:
        """Returns how many windows a row falls into at most."""
        return -(-self.size // self.every)


@dataclass(frozen=True, slots=True)
class Preceding:
    """Alive from the `last`th later row of its partition until the (`first` + 1)th.

    The rows stand in order of row time, then arrival; the row itself is number 0.
    """

    first: int
    last: int


@dataclass(frozen=True, slots=True)
class Inherited:
    """Alive until the first of the rows dies that the row of a join is made of."""


OWN_DEATH, OWN_END = hidden("own death"), hidden("own end")
"""The payload columns of inherited lives: what they are if no other row ends them."""


@dataclass(frozen=True, slots=True)
class Endless:
    """Alive for ever."""


Window = (
    Preceding
    | Fixed
    | Point
    | Calendar
    | Interval
    | Hop
    | Newest
    | Delta
    | Seconds
    | Band
    | Version
    | Inherited
    | Endless
)


@dataclass(frozen=True, slots=True)
class KeepAll:
    """No partition is ever dropped as a whole."""


@dataclass(frozen=True, slots=True)
class ByAge:
    """Partitions leave that had no row for so many whole seconds."""

    seconds: int


@dataclass(frozen=True, slots=True)
class ByCount:
    """At most so many partitions stay."""

    partitions: int


@dataclass(frozen=True, slots=True)
class ByTuples:
    """At most so many rows stay, over all partitions."""

    rows: int


Eviction = KeepAll | ByAge | ByCount | ByTuples


def is_intrinsic(window: Window) -> bool:
    """Tells whether a row alone says how long it lives."""
    return isinstance(window, Fixed | Point | Endless | Calendar | Interval | Hop)
