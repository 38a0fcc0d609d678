"""Rows of a table that come late on the event clock: a stream's row waits for them.

    stream   10:00 (null row) ............ pair
    table                       10:05 [##########

A stream's row that found no match gives one more row with the first version of the
table that begins after its own life.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from dovetail.conformance.oracle.horizon import Horizon
from dovetail.conformance.oracle.life import NOWHERE, PAST, Life, LivingRow, Moment
from dovetail.conformance.oracle.matching import Pair
from dovetail.conformance.oracle.outer_rows import has_waited
from dovetail.conformance.oracle.parts import Parts


@dataclass(frozen=True, slots=True)
class LateMatch:
    """A stream's row with the table's row that comes late, and when they meet."""

    pair: Pair
    row_time: Moment
    is_decided: bool


@dataclass(frozen=True, slots=True)
class LateTables:
    """Finds the late matches of rows that wait."""

    parts: Parts
    horizon: Horizon

    def of(self, row: LivingRow, pairs: Iterable[Pair]) -> Iterator[LateMatch]:
        """Yields the late match of a row without a match, if one is there.

        `pairs` are those of the row that are no meetings. One that is still to come has
        the row time of a row to come, so nothing that is known waits for it.
        """
        late = [pair for pair in pairs if self._is_late(row, pair)]
        if late:
            first = min(late, key=lambda pair: first_life(self._other(row, pair)).birth)
            there = self._other(row, first)
            birth = self.horizon.soonest(there, first_life(there)).birth
            birth = max(birth, last_life(row).birth)
            yield LateMatch(first, birth, self._is_sure(there))

    def _is_late(self, row: LivingRow, pair: Pair) -> bool:
        """Tells whether the table's row begins after the other, not too late.

        One without time begins as it comes.
        """
        there = self._other(row, pair)
        life, came = first_life(there), there.place > row.place
        is_behind = life.birth >= last_life(row).death or (life.birth == PAST and came)
        is_there = is_behind and not life.is_empty
        has_match = bool(self.parts.picker.choose([pair]).matches)
        return is_there and has_match and not self._has_waited(row, life.birth)

    def _is_sure(self, there: LivingRow) -> bool:
        """Tells whether no row can come that is met before this one, or ends it."""
        life = first_life(there)
        is_first = self.horizon.first_to_come(there.hand).birth >= life.birth
        return is_first and self.horizon.soonest(there, life).death > life.birth

    def _has_waited(self, row: LivingRow, moment: Moment) -> bool:
        """Tells whether a moment is too late for a row; a row without end waits not."""
        return has_waited(self.parts, last_life(row).end, moment)

    def _other(self, row: LivingRow, pair: Pair) -> LivingRow:
        """Returns the row that a row is paired with."""
        return pair.right if row is pair.left else pair.left


def first_life(row: LivingRow) -> Life:
    """Returns the first life of a table's row; one that is in no window has none."""
    return next(iter(row.lives), NOWHERE)


def last_life(row: LivingRow) -> Life:
    """Returns the last life of a row, after which it waits."""
    return row.lives[-1]
