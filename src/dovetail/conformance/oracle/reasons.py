"""Why a row met nobody, found from all rows of a play when it is over."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from dovetail.conformance.oracle.horizon import Horizon
from dovetail.conformance.oracle.life import LivingRow
from dovetail.conformance.oracle.matching import Pair
from dovetail.conformance.oracle.parts import Parts
from dovetail.conformance.oracle.watching import Watched
from dovetail.spec.join import Clock
from dovetail.spec.windows import HopSize, Latest, Window


class Fate(Enum):
    """What became of a row by the end of a play."""

    MATCHED = "matched"
    UNMATCHED = "unmatched"
    OPEN = "still open"
    LATE = "late"


@dataclass(frozen=True, slots=True)
class Loneliness:
    """A row that met nobody, among all rows of its play."""

    watched: Watched
    row: LivingRow

    @property
    def parts(self) -> Parts:
        """Returns the parts of the join that was played."""
        return self.watched.parts

    def fate(self) -> Fate:
        """Returns whether a partner may still come."""
        is_open = self.row.is_stored
        if self.watched.clock is Clock.EVENT:
            is_open = horizon_of(self.parts).can_meet(self.row)
        return Fate.OPEN if is_open else Fate.UNMATCHED

    def reason(self) -> str:
        """Returns the first reason that holds, from the row itself to its partners."""
        side, row = self.parts.sides[self.row.hand], self.row
        is_never_alive = all(life.is_empty for life in row.lives)
        if side.input.is_timed and row.time is None and is_never_alive:
            return "no row time"
        if is_never_alive:
            return _lifeless(side.window)
        if any(part(self.row.values) is None for part in side.hard):
            return "null in its key"
        fitting = self._fitting()
        if not fitting:
            return "no partner fits"
        is_beside = any(map(self.watched.were_together, fitting))
        return "not picked" if is_beside else "not alive together"

    def _fitting(self) -> list[Pair]:
        """Returns the pairs that fit, alive together or not."""
        others = [row for row in self.parts.rows if row.hand is self.row.hand.other]
        pairs = [Pair.of(self.row, other) for other in others]
        return [pair for pair in pairs if self.parts.picker.condition.holds(pair)]


def _lifeless(window: Window) -> str:
    """Returns why a row with a time is never alive in a window."""
    match window:
        case Latest():
            return "replaced at once"
        case HopSize():
            return "between two windows"
        case _:
            return "never alive"


def horizon_of(parts: Parts) -> Horizon:
    """Returns what can still come to a join, and to the joins inside it."""
    inner = {hand: horizon_of(part) for hand, part in parts.inner.items()}
    return Horizon(parts.sides, parts.bounds, set(), inner)
