"""The join itself: two sides, a condition, a pick, a kind, an emission.

The nodes are frozen and check themselves; what concerns several of them is a named
rule in `spec/rules/`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import Enum

from dovetail.expression import ALWAYS, Expression
from dovetail.spec.inputs import Clock, Event, Inputs, Settings
from dovetail.spec.picks import Equality, Picks
from dovetail.spec.windows import Eviction, KeepPartitions, Unstated, Window


class Hand(Enum):
    """Which side of a join: left or right."""

    LEFT = "left"
    RIGHT = "right"

    @property
    def other(self) -> Hand:
        """Returns the opposite hand."""
        return Hand.RIGHT if self is Hand.LEFT else Hand.LEFT

    @property
    def letter(self) -> str:
        """Returns the name of the row in expressions: `l` or `r`."""
        return self.value[0]


# In this order: the left side's rows, columns and mistakes come first.
HANDS = (Hand.LEFT, Hand.RIGHT)


class Kind(Enum):
    """Which rows a join puts out: pairs, rows without a partner, rows with one."""

    INNER = "inner"
    LEFT_OUTER = "left_outer"
    RIGHT_OUTER = "right_outer"
    FULL_OUTER = "full_outer"
    LEFT_ONLY = "left_only"
    RIGHT_ONLY = "right_only"
    FULL_ONLY = "full_only"
    LEFT_SEMI = "left_semi"
    RIGHT_SEMI = "right_semi"
    CROSS = "cross"

    @property
    def gives_pairs(self) -> bool:
        """Tells whether every pair comes out."""
        return self in {Kind.INNER, Kind.CROSS} or self.value.endswith("_outer")

    def preserves(self, hand: Hand) -> bool:
        """Tells whether a row of this side comes out when it has no partner."""
        # The name says it: of whom, and whether pairs come out beside them.
        word, _, rest = self.value.partition("_")
        return word in {hand.value, "full"} and rest in {"outer", "only"}

    def gives_once(self, hand: Hand) -> bool:
        """Tells whether a row of this side comes out once when it has a partner."""
        return self.value == f"{hand.value}_semi"

    @property
    def mirrored(self) -> Kind:
        """Returns the kind that gives the same rows when the sides are swapped."""
        word, underscore, rest = self.value.partition("_")
        # Of full, inner and cross joins the sides are alike.
        swapped = {"left": "right", "right": "left"}.get(word, word)
        return Kind(swapped + underscore + rest)


@dataclass(frozen=True, slots=True)
class Named:
    """The rows of an input, by its name."""

    name: str


@dataclass(frozen=True, slots=True)
class Nested:
    """The rows of another join; the changes of a table replace those of their `key`."""

    join: JoinSpec
    name: str
    key: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Side:
    """One side of a join: where its rows come from and how long they live."""

    source: Named | Nested
    window: Window = Unstated()
    partition_by: tuple[Expression, ...] = ()
    partition_evict: Eviction = KeepPartitions()


@dataclass(frozen=True, slots=True)
class AllColumns:
    """All columns of the left, then those of the right with a new name."""


@dataclass(frozen=True, slots=True)
class Columns:
    """The output columns by name, each with its expression."""

    columns: tuple[tuple[str, Expression], ...]


@dataclass(frozen=True, slots=True)
class NullRow:
    """An absent row is null in every column."""


@dataclass(frozen=True, slots=True)
class BlankRow:
    """An absent row is 0, '' or false in every column, by type."""


@dataclass(frozen=True, slots=True)
class GivenRow:
    """An absent row is this row; values are as JSON has them, typed by the schema.

    Columns that the row does not name are as `rest` says.
    """

    values: tuple[tuple[str, object], ...]
    rest: NullRow | BlankRow = NullRow()


Absent = NullRow | BlankRow | GivenRow


@dataclass(frozen=True, slots=True)
class JoinSpec:
    """A join of two sides."""

    left: Side
    right: Side
    kind: Kind
    clock: Clock
    hard: tuple[Equality, ...] = ()
    soft: Expression = ALWAYS
    select: AllColumns | Columns = AllColumns()
    # One outlet for all rows, or one more for each side that is preserved.
    ports: int = 1
    absent_left: Absent = NullRow()
    absent_right: Absent = NullRow()
    picks: Picks = Picks()

    @property
    def counted(self) -> tuple[Equality, ...]:
        """Returns the equalities that make a candidate: all but where some are named.

        A row with a null in one of them has no candidate, whatever comes.
        """
        return self.picks.at_most.counted_among(self.hard)

    def side(self, hand: Hand) -> Side:
        """Returns the side on this hand."""
        return self.left if hand is Hand.LEFT else self.right

    def with_sides(self, change: Callable[[Hand, Side], Side]) -> JoinSpec:
        """Returns the join with what is made of each of its sides."""
        left, right = (change(hand, self.side(hand)) for hand in HANDS)
        return replace(self, left=left, right=right)

    def absent(self, hand: Hand) -> Absent:
        """Returns what stands for a missing row of this hand."""
        return self.absent_left if hand is Hand.LEFT else self.absent_right


class SetKind(Enum):
    """Which keys a join of several sets puts out."""

    INNER = "inner"
    LEFT_OUTER = "left_outer"
    LEFT_ONLY = "left_only"
    M_OF_N = "mofn"


@dataclass(frozen=True, slots=True)
class SetJoinSpec:
    """A join of several sets on stepped keys."""

    sets: tuple[str, ...]
    kind: SetKind
    stepped: tuple[str, ...]
    ordered_by: tuple[str, ...]
    select: Columns
    # In how many sets a key must be, of MOFN alone; 0 is unsaid.
    least: int = 0
    most: int = 0
    # Of neighbours among the rows that stand together, and of all of these.
    pair_condition: Expression = ALWAYS
    rows_condition: Expression = ALWAYS
    skip_when: Expression = Expression("false")


@dataclass(frozen=True, slots=True)
class Play:
    """A join with its inputs and the events in their total order.

    `opening` are the events before event number 0: the rows that a stream has from
    the start. Rows of tables and data sets stay with their inputs; they are state.
    """

    join: JoinSpec | SetJoinSpec
    inputs: Inputs
    events: tuple[Event, ...] = ()
    opening: tuple[Event, ...] = ()
    settings: Settings = Settings()
