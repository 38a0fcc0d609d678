"""What takes part in a join: rows with their lives, their sides, and their pairs.

Moments are microseconds of row time. A life is half-open, so a row with row time 10:00
and a window of no length lives from 10:00 to one microsecond later:

    left   10:00 [###########)            10 minutes preceding
    right          10:04 [#)              no window
                                          they meet at 10:04

Most windows give a row one life. Windows of a size that start every so often give it
one for each window that it falls into, and one that falls into none has no life.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from itertools import product

from dovetail import schema, spec
from dovetail.expression import BARE, Expression, Scope, compiled
from dovetail.spec.facts import is_state

Moment = float  # whole microseconds, or one of the two infinities
PAST = -math.inf
NEVER = math.inf
Plain = Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Life:
    """Alive in [birth, death); `end` is the row time at which it leaves unmatched.

    `end` is inside the life where windows include their last moment, and `death` one
    microsecond later; where they exclude it, both are the same.
    """

    birth: Moment
    death: Moment
    end: Moment

    def meets(self, other: Life) -> bool:
        """Tells whether two lives overlap; an empty life overlaps none."""
        return max(self.birth, other.birth) < min(self.death, other.death)

    @property
    def is_empty(self) -> bool:
        """Tells whether the row is alive at no moment."""
        return self.birth >= self.death


ALWAYS = Life(PAST, NEVER, NEVER)
NOWHERE = Life(NEVER, PAST, NEVER)


@dataclass(frozen=True, slots=True)
class NewRow:
    """A row that comes to a side: its values, its row time, and where it is from.

    The row of a join is from lives of its rows, each by its number; it lives no longer
    than they do where its window is `inherited`.
    """

    values: Plain
    time: int | None = None
    origin: tuple[tuple[LivingRow, int], ...] = ()


# Two rows with the same values are two rows: they are equal only to themselves.
@dataclass(eq=False, slots=True)
class LivingRow:
    """One row on one side.

    `place` is its position in the order of arrival, `arrived` the processing time;
    `partners` and `emitted` count its pairs, and those of them that have come out. One
    that `leaves_silently` gives no unmatched row. On the clock `arrival` `is_stored`
    tells whether the row is in a store by now, `has_too_many` whether it had too many
    candidates.
    """

    hand: spec.Hand
    values: Plain
    place: int
    time: int | None = None
    origin: tuple[tuple[LivingRow, int], ...] = ()
    arrived: int = 0
    lives: tuple[Life, ...] = (ALWAYS,)
    partners: int = 0
    emitted: int = 0
    leaves_silently: bool = False
    is_stored: bool = False
    has_too_many: bool = False

    @property
    def life(self) -> Life:
        """Returns the life of a row that has one, as on the clock `arrival`."""
        (life,) = self.lives
        return life

    def life_at(self, moment: Moment) -> int:
        """Returns the number of the life in which the row is alive at a moment.

        That is the first that is not over by then.
        """
        return next(
            number for number, life in enumerate(self.lives) if moment < life.death
        )


def moment_of(value: object) -> int | None:
    """Returns the microseconds since 1970 of a timestamp, None of a null."""
    return schema.to_microseconds(value) if isinstance(value, datetime) else None


def timestamp_of(moment: Moment) -> datetime | None:
    """Returns the timestamp of a moment, None of one that never is."""
    return None if math.isinf(moment) else schema.from_microseconds(int(moment))


# What an expression sees: the rows `l` and `r`, and the names that stand bare.
Bindings = Mapping[str, Plain]
PairScalar = Callable[[Bindings], object]
Scalar = Callable[[Plain], object]
Terms = tuple[PairScalar, ...]


def pair_scalar(
    expression: Expression, left: spec.Input, right: spec.Input
) -> PairScalar:
    """Returns the function of what a pair's expression sees."""
    return compiled(expression, Scope.pair(left.schema, right.schema))


def own_row_scalar(expression: Expression, source: spec.Input) -> Scalar:
    """Returns the function of a row whose columns an expression names bare."""
    scalar = compiled(expression, Scope.row(source.schema))
    return lambda values: scalar({BARE: values})


def side_scalar(expression: Expression, letter: str, source: spec.Input) -> Scalar:
    """Returns the function of a row that an expression names by its side's letter."""
    scalar = compiled(expression, Scope(((letter, source.schema),)))
    return lambda values: scalar({letter: values})


@dataclass(frozen=True, slots=True)
class Pair:
    """A left row and a right row that meet."""

    left: LivingRow
    right: LivingRow

    @classmethod
    def of(cls, one: LivingRow, other: LivingRow) -> Pair:
        """Returns the pair of two rows of opposite sides, whichever comes first."""
        rows = {one.hand: one, other.hand: other}
        return cls(rows[spec.Hand.LEFT], rows[spec.Hand.RIGHT])

    @property
    def rows(self) -> tuple[LivingRow, LivingRow]:
        """Returns both rows, the left one first."""
        return self.left, self.right

    @property
    def is_alive_together(self) -> bool:
        """Tells whether a life of the one overlaps a life of the other."""
        lives = product(self.left.lives, self.right.lives)
        return any(one.meets(other) for one, other in lives)


def terms_of(texts: Iterable[Expression], left: spec.Input, right: spec.Input) -> Terms:
    """Returns expressions of a pair as functions."""
    return tuple(pair_scalar(text, left, right) for text in texts)


def hold(terms: Terms, pair: Pair) -> bool:
    """Tells whether every term is true of a pair, neither false nor null."""
    seen = {"l": pair.left.values, "r": pair.right.values, BARE: {}}
    # Three-valued logic: a term that is null does not hold.
    return all(term(seen) is True for term in terms)


def equal(equality: spec.Equality) -> Expression:
    """Returns the equality as one expression; it is null where a side is null."""
    return Expression(f"({equality.left}) = ({equality.right})")


@dataclass(frozen=True, slots=True)
class OneSide:
    """One side: its input, its window, its partitions, and its parts of equalities.

    Of one that `is_state` only the newest version of each key is there at all.
    `measures` are what the window asks of a row: by what a `delta` measures it, or the
    start and the end of a `between`.
    """

    hand: spec.Hand
    clock: spec.Clock
    input: spec.Input
    window: spec.Window
    is_state: bool
    partition_by: tuple[Scalar, ...]
    partition_evict: spec.Eviction
    measures: tuple[Scalar, ...]
    hard: tuple[Scalar, ...]
    counted: tuple[Scalar, ...]

    @property
    def is_timed(self) -> bool:
        """Tells whether the rows live in row time; else they are simply there.

        What is there for ever has no beginning in a data set, nor in a batch. An
        interval is in row time, whether its rows have one or not.
        """
        if self.window.interval:
            return True
        is_whole = (
            self.input.kind is spec.InputKind.DATASET or self.clock is spec.Clock.BATCH
        )
        return self.input.is_timed and not (is_whole and self.window == spec.Forever())

    @property
    def can_grow(self) -> bool:
        """Tells whether rows may still come; a data set is there from the start."""
        return self.input.kind is not spec.InputKind.DATASET

    def partition_of(self, row: LivingRow) -> tuple[object, ...]:
        """Returns the values that rows of one partition share."""
        return tuple(same(scalar(row.values)) for scalar in self.partition_by)

    def key_of(self, values: Mapping[str, object]) -> tuple[object, ...]:
        """Returns the values that all versions of one key share."""
        # Versions are of the window's key; elsewhere a table's own key tells its rows
        # apart.
        names = (
            self.window.key if isinstance(self.window, spec.Latest) else self.input.key
        )
        return tuple(same(values.get(name)) for name in names)


Sides = Mapping[spec.Hand, OneSide]


def same(value: object) -> object:
    """Returns a value that equals itself and can be looked up: NaN and lists do not."""
    if isinstance(value, list):
        return tuple(map(same, value))
    if isinstance(value, dict):
        return tuple((name, same(part)) for name, part in value.items())
    return "NaN" if value != value else value  # noqa: PLR0124 - that is the test


def sides_of(play: spec.Play, join: spec.JoinSpec, inside: str = "the join") -> Sides:
    """Returns both sides of a join, which stands inside the side of that name."""
    found = {}
    for hand in spec.HANDS:
        side, name = join.side(hand), f"{hand.value} of {inside}"
        # The rows of a join inside this one have no input; no input may have their
        # name.
        while name in play.inputs:
            name = f"the {name}"
        source = spec.input_of(side.source, play.inputs, name)
        found[hand] = OneSide(
            hand,
            join.clock,
            source,
            side.window,
            is_state(join, hand, timed=source.is_timed),
            tuple(own_row_scalar(part, source) for part in side.partition_by),
            side.partition_evict,
            tuple(own_row_scalar(part, source) for part in side.window.measures),
            _own_part(join.hard, hand, source),
            _own_part(join.counted, hand, source),
        )
    return found


def _own_part(
    equalities: Iterable[spec.Equality], hand: spec.Hand, source: spec.Input
) -> tuple[Scalar, ...]:
    """Returns this side of every equality."""
    parts = (one.left if hand is spec.Hand.LEFT else one.right for one in equalities)
    return tuple(side_scalar(part, hand.letter, source) for part in parts)
