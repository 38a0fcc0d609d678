"""What is known about each side of a join before a row has come."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from dovetail.conformance.oracle.life import LivingRow
from dovetail.conformance.oracle.scalars import Scalar, own_row_scalar, side_scalar
from dovetail.spec.inputs import Input, InputKind
from dovetail.spec.join import HANDS, Clock, Hand, JoinSpec
from dovetail.spec.picks import Equality
from dovetail.spec.play import Play
from dovetail.spec.results import input_of
from dovetail.spec.sources import is_state
from dovetail.spec.windows import Between, Delta, Eviction, Forever, Latest, Window


@dataclass(frozen=True, slots=True)
class OneSide:
    """One side: its input, its window, and its partitions.

    Of one that `is_state` only the newest version of each key is there at all.
    """

    hand: Hand
    clock: Clock
    input: Input
    window: Window
    is_state: bool
    partition_by: tuple[Scalar, ...]
    partition_evict: Eviction
    delta_by: Scalar
    between: tuple[Scalar, ...]
    hard: tuple[Scalar, ...]
    counted: tuple[Scalar, ...]

    @property
    def is_timed(self) -> bool:
        """Tells whether the rows live in row time; else they are simply there.

        What is there for ever has no beginning in a data set, nor in a batch. An
        interval is in row time, whether its rows have one or not.
        """
        if isinstance(self.window, Between):
            return True
        is_whole = self.input.kind is InputKind.DATASET or self.clock is Clock.BATCH
        return self.input.is_timed and not (is_whole and self.window == Forever())

    @property
    def can_grow(self) -> bool:
        """Tells whether rows may still come; a data set is there from the start."""
        return self.input.kind is not InputKind.DATASET

    def partition_of(self, row: LivingRow) -> tuple[object, ...]:
        """Returns the values that rows of one partition share."""
        return tuple(same(scalar(row.values)) for scalar in self.partition_by)

    def key_of(self, values: Mapping[str, object]) -> tuple[object, ...]:
        """Returns the values that all versions of one key share."""
        names = self.window.key if isinstance(self.window, Latest) else self.input.key
        return tuple(same(values.get(name)) for name in names)


Sides = Mapping[Hand, OneSide]


def same(value: object) -> object:
    """Returns a value that equals itself and can be looked up: NaN and lists do not."""
    if isinstance(value, list):
        return tuple(map(same, value))
    return "NaN" if value != value else value  # noqa: PLR0124 - that is the test


def sides_of(play: Play, spec: JoinSpec, inside: str = "the join") -> Sides:
    """Returns both sides of a join, which stands inside the side of that name."""
    return {hand: _side_of(play, spec, hand, inside) for hand in HANDS}


def _side_of(play: Play, spec: JoinSpec, hand: Hand, inside: str) -> OneSide:
    """Returns one side of a join with its input."""
    side = spec.side(hand)
    source = input_of(side.source, play.inputs, place_of(play, hand, inside))
    partition_by = tuple(own_row_scalar(part, source) for part in side.partition_by)
    return OneSide(
        hand,
        spec.clock,
        source,
        side.window,
        is_state(spec, hand),
        partition_by,
        side.partition_evict,
        _delta_by(side.window, source),
        _between(side.window, source),
        _own_part(spec.hard, hand, source),
        _own_part(spec.counted, hand, source),
    )


def place_of(play: Play, hand: Hand, inside: str) -> str:
    """Returns the name of the rows of a join on a side, which no input has."""
    name = f"{hand.value} of {inside}"
    while name in play.inputs:
        name = f"the {name}"
    return name


def _own_part(
    equalities: Iterable[Equality], hand: Hand, source: Input
) -> tuple[Scalar, ...]:
    """Returns this side of every equality."""
    parts = (one.left if hand is Hand.LEFT else one.right for one in equalities)
    return tuple(side_scalar(part, hand.letter, source) for part in parts)


def _delta_by(window: Window, source: Input) -> Scalar:
    """Returns what a delta window measures its rows by; nothing for other windows."""
    if isinstance(window, Delta):
        return own_row_scalar(window.by, source)
    return lambda _values: None


def _between(window: Window, source: Input) -> tuple[Scalar, ...]:
    """Returns the start and the end that a row names; nothing for other windows."""
    if isinstance(window, Between):
        return tuple(
            own_row_scalar(part, source) for part in (window.start, window.end)
        )
    return ()
