"""How rows leave: through `select`, or by their own port as they came in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import assert_never

from dovetail.expression import Expression
from dovetail.oracle.absent import absent_row
from dovetail.oracle.life import NEVER, LivingRow, Moment, Plain, timestamp_of
from dovetail.oracle.matching import Pair
from dovetail.oracle.scalars import PairScalar, pair_scalar, sight
from dovetail.oracle.sides import Sides, sides_of
from dovetail.spec.inputs import Emission, Outlet
from dovetail.spec.join import HANDS, AllColumns, Columns, Hand, JoinSpec, Kind
from dovetail.spec.play import Play

OWN_PORT = {Hand.LEFT: Outlet.LEFT_UNMATCHED, Hand.RIGHT: Outlet.RIGHT_UNMATCHED}


@dataclass(frozen=True, slots=True)
class Writer:
    """Writes result rows of one join."""

    kind: Kind
    has_own_ports: bool
    select: tuple[tuple[str, PairScalar], ...]
    absent: Mapping[Hand, Plain]

    @classmethod
    def of(cls, play: Play, spec: JoinSpec) -> Writer:
        """Returns the writer of a join's rows."""
        sides = sides_of(play, spec)
        left, right = (sides[hand].input for hand in HANDS)
        select = tuple(
            (name, pair_scalar(text, left, right))
            for name, text in columns_of(spec, sides)
        )
        absent = {
            hand: absent_row(spec.absent(hand), sides[hand].input.schema)
            for hand in HANDS
        }
        return cls(spec.kind, spec.ports > 1, select, absent)

    def pair(self, pair: Pair, row_time: Moment = NEVER) -> Emission:
        """Returns the row of a pair; `counter` is its number among the left row's."""
        there = {row.hand: row.values for row in pair.rows}
        return self._matched(there, row_time, pair.left.partners)

    def unmatched(self, row: LivingRow, row_time: Moment = NEVER) -> Emission:
        """Returns an unmatched row: as it came in, or with the other side absent."""
        if self.has_own_ports:
            return Emission(OWN_PORT[row.hand], dict(row.values))
        return self._matched({row.hand: row.values}, row_time, 0)

    def once(self, row: LivingRow, row_time: Moment = NEVER) -> Emission:
        """Returns the row of a semi join, which has found its first partner."""
        there = dict(self.absent) | {row.hand: row.values}
        return self._matched(there, row_time, 1)

    def _matched(
        self, there: Mapping[Hand, Plain], row_time: Moment, counter: int
    ) -> Emission:
        """Returns what `select` makes of the rows that are there."""
        bare = {
            "matched_left": Hand.LEFT in there,
            "matched_right": Hand.RIGHT in there,
            "counter": counter,
            "row_time": timestamp_of(row_time),
        }
        left, right = (there.get(hand, self.absent[hand]) for hand in HANDS)
        seen = sight(left, right, bare)
        return Emission(
            Outlet.MATCHED, {name: scalar(seen) for name, scalar in self.select}
        )


def columns_of(spec: JoinSpec, sides: Sides) -> tuple[tuple[str, Expression], ...]:
    """Returns the output columns with their expressions."""
    match spec.select:
        case Columns(columns=columns):
            return columns
        case AllColumns():
            return _all_columns(spec.kind, sides)
        case _:
            assert_never(spec.select)


def _all_columns(kind: Kind, sides: Sides) -> tuple[tuple[str, Expression], ...]:
    """Returns all columns of the left, then those of the right with a new name.

    A semi join sees its own side only.
    """
    found: dict[str, tuple[str, Expression]] = {}
    for hand in HANDS:
        if kind.gives_once(hand.other):
            continue
        for name in sides[hand].input.schema.names:
            column = Expression(f"{hand.letter}.`{name}`")
            found.setdefault(name.lower(), (name, column))
    return tuple(found.values())


def late_row(values: Plain, reason: str) -> Emission:
    """Returns a late row: its own columns and why it takes no part."""
    return Emission(Outlet.LATE, {**values, "reason": reason})


def mark(ordinal: int) -> Emission:
    """Returns the window punctuation behind so many rows of the first port."""
    return Emission(Outlet.MARKS, {"port": 0, "ordinal": ordinal})
