"""How rows leave: through `select`, or by their own port as they came in."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Self

from dovetail.conformance.oracle.absent import absent_row
from dovetail.conformance.oracle.life import (
    NEVER,
    LivingRow,
    Moment,
    Plain,
    timestamp_of,
)
from dovetail.conformance.oracle.matching import Pair
from dovetail.conformance.oracle.scalars import PairScalar, Sight, pair_scalar, sight
from dovetail.conformance.oracle.sides import sides_of
from dovetail.expression import Expression
from dovetail.spec.inputs import Emission, Input, Outlet
from dovetail.spec.join import HANDS, Hand, JoinSpec, Kind
from dovetail.spec.picks import Limit, OnExceed
from dovetail.spec.play import Play
from dovetail.spec.results import selected_columns
from dovetail.spec.spans import NO_TIME, Span
from dovetail.spec.windows import HopSize

Column = tuple[str, Expression]
Select = tuple[tuple[str, PairScalar], ...]
NOTHING = Expression("NULL")
OWN_PORT = {Hand.LEFT: Outlet.LEFT_UNMATCHED, Hand.RIGHT: Outlet.RIGHT_UNMATCHED}


@dataclass(frozen=True, slots=True)
class Writer:
    """Writes result rows of one join: each as a list, empty where it is skipped."""

    kind: Kind
    has_own_ports: bool
    select: Select
    exceeded: Select
    on_exceed: OnExceed
    skip_when: PairScalar
    absent: Mapping[Hand, Plain]
    window_size: Span

    @classmethod
    def of(cls, play: Play, spec: JoinSpec) -> Self:
        """Returns the writer of a join's rows."""
        sides = sides_of(play, spec)
        left, right = (sides[hand].input for hand in HANDS)
        schemas = {hand: sides[hand].input.schema for hand in HANDS}
        columns = selected_columns(spec, schemas)
        exceeded = dict.fromkeys((name for name, _ in columns), NOTHING)
        on_exceed = OnExceed.SKIP
        if isinstance(spec.picks.limit, Limit):
            exceeded |= dict(spec.picks.limit.transform)
            on_exceed = spec.picks.limit.on_exceed
        return cls(
            spec.kind,
            spec.ports > 1,
            select_of(columns, left, right),
            select_of(exceeded.items(), left, right),
            on_exceed,
            pair_scalar(spec.picks.skip_when, left, right),
            {
                hand: absent_row(spec.absent(hand), sides[hand].input.schema)
                for hand in HANDS
            },
            window_size_of(spec),
        )

    def pair(
        self, pair: Pair, counter: int, row_time: Moment = NEVER
    ) -> list[Emission]:
        """Returns the row of a pair; `counter` is its number among the left row's."""
        there = {row.hand: row.values for row in pair.rows}
        return self._matched(self.select, self._sight(there, row_time, counter))

    def unmatched(self, row: LivingRow, row_time: Moment = NEVER) -> list[Emission]:
        """Returns an unmatched row: as it came in, or with the other side absent."""
        seen = self._sight({row.hand: row.values}, row_time, 0)
        if self.has_own_ports and not self._is_skipped(seen):
            return [Emission(OWN_PORT[row.hand], dict(row.values))]
        return self._matched(self.select, seen)

    def once(self, row: LivingRow, row_time: Moment = NEVER) -> list[Emission]:
        """Returns the row of a semi join, which has found its first partner."""
        there = dict(self.absent) | {row.hand: row.values}
        return self._matched(self.select, self._sight(there, row_time, 1))

    def over_limit(self, row: LivingRow, row_time: Moment = NEVER) -> list[Emission]:
        """Returns the row that stands for a left row over its limit, if one does."""
        if self.on_exceed is not OnExceed.TRANSFORM:
            return []
        return self._matched(
            self.exceeded, self._sight({row.hand: row.values}, row_time)
        )

    def skips(self, pair: Pair, counter: int, row_time: Moment) -> bool:
        """Tells whether the row of a pair would not come out."""
        there = {row.hand: row.values for row in pair.rows}
        return self._is_skipped(self._sight(there, row_time, counter))

    def _sight(
        self, there: Mapping[Hand, Plain], row_time: Moment = NEVER, counter: int = 0
    ) -> Sight:
        """Returns what expressions see where only some of the rows are there."""
        left, right = (there.get(hand, self.absent[hand]) for hand in HANDS)
        bare = {
            "matched_left": Hand.LEFT in there,
            "matched_right": Hand.RIGHT in there,
            "counter": counter,
            "row_time": timestamp_of(row_time),
            **self._window(row_time),
        }
        return sight(left, right, bare)

    def _window(self, end: Moment) -> dict[str, object]:
        """Returns the bounds of the window of a size at whose end a row comes out."""
        if math.isinf(end):
            return {"window_start": None, "window_end": None}
        start = self.window_size.negated().after(int(end))
        return {"window_start": timestamp_of(start), "window_end": timestamp_of(end)}

    def _matched(self, select: Select, seen: Sight) -> list[Emission]:
        """Returns the row of the first port, nothing where it is skipped."""
        if self._is_skipped(seen):
            return []
        row = {name: scalar(seen) for name, scalar in select}
        return [Emission(Outlet.MATCHED, row)]

    def _is_skipped(self, seen: Sight) -> bool:
        """Tells whether `skip_when` holds of a row that would come out."""
        return self.skip_when(seen) is True


def window_size_of(spec: JoinSpec) -> Span:
    """Returns the size of the windows, nothing where they have none."""
    window = spec.side(Hand.LEFT).window
    return window.size if isinstance(window, HopSize) else NO_TIME


def select_of(columns: Iterable[Column], left: Input, right: Input) -> Select:
    """Returns output columns as functions."""
    return tuple((name, pair_scalar(text, left, right)) for name, text in columns)


def late_row(values: Plain, reason: str) -> Emission:
    """Returns a late row: its own columns and why it takes no part."""
    return Emission(Outlet.LATE, {**values, "reason": reason})


def mark(ordinal: int) -> Emission:
    """Returns the window punctuation behind so many rows of the first port."""
    return Emission(Outlet.MARKS, {"port": 0, "ordinal": ordinal})
