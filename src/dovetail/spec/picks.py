"""Picks: which of a row's pairs count."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from enum import Enum

from dovetail.errors import SpecError
from dovetail.expression import ALWAYS, NEVER, Expression
from dovetail.spec.spans import Span


def _need_count(name: str, count: int) -> None:
    """Refuses a count below 1: no limit at all is the case Unlimited."""
    if count < 1:
        raise SpecError(f"{name} of {count}", "1 or more", rule="pick_count")


@dataclass(frozen=True, slots=True)
class Equality:
    """An expression of the left row that must equal one of the right row."""

    left: Expression
    right: Expression


class Strategy(Enum):
    """How a set join looks for partners; only `lookup` changes the rows."""

    DEFAULT = "default"
    LOOKUP = "lookup"
    MANY_LOOKUP = "many_lookup"
    ALL = "all"
    SMART = "smart"
    HASH = "hash"
    SORT_MERGE = "sort_merge"
    KEYED = "keyed"


@dataclass(frozen=True, slots=True)
class Unlimited:
    """No pick of this sort."""


@dataclass(frozen=True, slots=True)
class Keep:
    """The first `count` pairs of each left row."""

    count: int

    def __post_init__(self) -> None:
        """Refuses to keep nothing."""
        _need_count("keep", self.count)


# An optional equality chooses among too many candidates: the longest shared beginning
# that leaves few enough of them counts, so it may be another one for each left row.
@dataclass(frozen=True, slots=True)
class OptionalPrefix:
    """Optional equality of two texts, character by character up to `width`."""

    left: Expression
    right: Expression
    width: int

    def __post_init__(self) -> None:
        """Refuses a prefix without a letter."""
        _need_count("a prefix", self.width)


@dataclass(frozen=True, slots=True)
class OptionalEqual:
    """Optional equality as a whole."""

    equality: Equality


@dataclass(frozen=True, slots=True)
class AllHard:
    """All hard equalities count towards the limit."""


@dataclass(frozen=True, slots=True)
class AtMost:
    """A left row with more than `count` candidates has no match at all."""

    count: int
    counted: tuple[Equality, ...] | AllHard = AllHard()
    optional: tuple[OptionalPrefix | OptionalEqual, ...] = ()

    def __post_init__(self) -> None:
        """Refuses a limit that nothing passes."""
        _need_count("atmost", self.count)

    @property
    def counts(self) -> bool:
        """Tells whether there is an equality by which candidates are counted."""
        return self.counted != () or self.optional != ()


# A left row over its limit has no pairs, and its candidates count as matched: no row of
# theirs comes out as unmatched either.
class OnExceed(Enum):
    """What becomes of a left row with more candidates than its limit."""

    SKIP = "skip"
    FAIL = "fail"
    TRANSFORM = "transform"


@dataclass(frozen=True, slots=True)
class Limit:
    """A left row with more than `count` candidates is skipped, replaced, or fatal.

    Output columns that the `transform` does not name are null.
    """

    count: int
    on_exceed: OnExceed
    transform: tuple[tuple[str, Expression], ...] = ()

    def __post_init__(self) -> None:
        """Refuses a limit that nothing passes."""
        _need_count("limit", self.count)


def row_of_key(key: Sequence[str]) -> str:
    """Returns a left row in words, by its key; not every join has one."""
    return f"the left row of the key {', '.join(key)}" if key else "a left row"


class Direction(Enum):
    """On which side of the left row's time the nearest right row is looked for."""

    BACKWARD = "backward"
    FORWARD = "forward"
    NEAREST = "nearest"


class Tie(Enum):
    """Which of several right rows of the same time is taken."""

    LAST = "last"
    FIRST = "first"


@dataclass(frozen=True, slots=True)
class AsOf:
    """Of the right rows that fit, the one whose time is nearest."""

    left: Expression
    right: Expression
    direction: Direction = Direction.BACKWARD
    # A length between times, a number between numbers.
    tolerance: Span | Decimal | Unlimited = Unlimited()
    exact: bool = True
    tie: Tie = Tie.LAST


@dataclass(frozen=True, slots=True)
class Picks:
    """All picks of a join; by default every pair counts."""

    keep: Keep | Unlimited = Unlimited()
    at_most: AtMost | Unlimited = Unlimited()
    limit: Limit | Unlimited = Unlimited()
    asof: AsOf | Unlimited = Unlimited()
    strategy: Strategy = Strategy.DEFAULT
    # Asked of the left row before any candidate: where it fails none is counted.
    left_condition: Expression = ALWAYS
    # A skipped pair is a match that does not come out, and KEEP does not count it.
    skip_when: Expression = NEVER

    @property
    def most_kept(self) -> int:
        """Returns how many pairs of a left row come out, 0 where all do."""
        # The first partner that fits, however many there are: so LOOKUP has it.
        if self.strategy is Strategy.LOOKUP:
            return 1
        return self.keep.count if isinstance(self.keep, Keep) else 0

    @property
    def transforms(self) -> bool:
        """Tells whether a left row over its limit gives a row of its own."""
        limit = self.limit
        return isinstance(limit, Limit) and limit.on_exceed is OnExceed.TRANSFORM

    @property
    def stand_in(self) -> tuple[tuple[str, Expression], ...]:
        """Returns the columns of the row that stands for a left row over its limit."""
        return self.limit.transform if isinstance(self.limit, Limit) else ()

    @property
    def optional(self) -> tuple[OptionalPrefix | OptionalEqual, ...]:
        """Returns the optional equalities of `atmost`."""
        return self.at_most.optional if isinstance(self.at_most, AtMost) else ()
