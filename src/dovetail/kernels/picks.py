"""What the kernels know of a join's picks: which of a left row's pairs count.

Plain frozen data, as all settings; what is done with it stands in `picking`. A count
that is not limited is UNLIMITED, a condition that nobody wrote is no formula at all.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from dovetail.kernels.arrays.rows import NEVER
from dovetail.spec.spans import Span

UNLIMITED = NEVER
Program = tuple[object, ...]


@dataclass(frozen=True, slots=True)
class Formula:
    """A program, and the columns that it reads, each as (side, name)."""

    program: Program
    columns: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Letters:
    """Two texts that are compared letter by letter, up to a width."""

    left: Formula
    right: Formula
    width: int


class Direction(Enum):
    """On which side of a left row's time the nearest right row is looked for."""

    BACKWARD = "backward"
    FORWARD = "forward"
    NEAREST = "nearest"


@dataclass(frozen=True, slots=True)
class Nearest:
    """The pick of the right row whose time is nearest.

    How far it may be is a `span` of time or a `width` in numbers, or nothing. `last`:
    of equal times the last is taken. `is_row_time`: bounds tell of right times;
    `is_left_row_time`: and of left ones.
    """

    left: Formula
    right: Formula
    direction: Direction
    span: tuple[Span, ...]
    width: tuple[float, ...]
    exact: bool
    last: bool
    is_row_time: bool
    is_left_row_time: bool = False


class Excess(Enum):
    """What becomes of a left row with too many candidates."""

    UNMATCHED = "unmatched"
    SKIP = "skip"
    FAIL = "fail"
    TRANSFORM = "transform"


@dataclass(frozen=True, slots=True)
class Skip:
    """When a row does not come out: a pair, a row alone by its hand, one over a limit.

    What stands for an absent side is written into the formulas.
    """

    pair: Formula
    alone: tuple[Formula, Formula]
    over: Formula


@dataclass(frozen=True, slots=True)
class Picks:
    """The picks of a join.

    `most` candidates a left row may have, `keep` pairs of it come out. `shared` ranks
    candidates by how many elements they share, and those that share least go first.
    `numbered` pairs say which of their left row's they are; `shown` are the output
    columns of a changelog that say so. A left row's pairs stand in the order in which
    its right rows came, or first `by_time`, a payload column.
    """

    keep: int = UNLIMITED
    most: int = UNLIMITED
    excess: Excess = Excess.UNMATCHED
    shared: tuple[Formula | Letters, ...] = ()
    skip: tuple[Skip, ...] = ()
    nearest: tuple[Nearest, ...] = ()
    numbered: bool = False
    time: str = ""
    by_time: bool = False
    shown: tuple[Formula, ...] = ()

    @property
    def counts(self) -> bool:
        """Tells whether candidates are counted before anything else is asked."""
        return self.most < UNLIMITED

    @property
    def waits(self) -> bool:
        """Tells whether a pair that comes later decides about those before it."""
        return self.counts or bool(self.nearest)

    @property
    def ranks(self) -> bool:
        """Tells whether the order of a left row's pairs matters."""
        return self.numbered or self.waits or self.keep < UNLIMITED
