"""A row and its lives: from when until when it is alive on its side.

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
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from dovetail.schema import from_microseconds, to_microseconds
from dovetail.spec.join import Hand

Moment = float  # whole microseconds, or one of the two infinities
PAST = -math.inf
NEVER = math.inf
Plain = Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Life:
    """Alive in [birth, death); `end` is the row time at which it leaves unmatched."""

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
class Came:
    """A row that comes to a side: its values, its row time, and where it is from.

    The row of a join is from lives of its rows, each by its number; it lives no longer
    than they do where its window is `inherited`.
    """

    values: Plain
    time: int | None = None
    origin: tuple[tuple[LivingRow, int], ...] = ()


@dataclass(eq=False, slots=True)
class LivingRow:
    """One row on one side.

    `place` is its position in the order of arrival, `arrived` the processing time;
    `partners` and `given` count its pairs, and those of them that have come out. One
    that is `forgotten` leaves without a word. On the clock `arrival` `is_stored` tells
    whether the row is in a store by now, `has_too_many` whether it had too many
    candidates.
    """

    hand: Hand
    values: Plain
    place: int
    time: int | None = None
    origin: tuple[tuple[LivingRow, int], ...] = ()
    arrived: int = 0
    lives: tuple[Life, ...] = (ALWAYS,)
    partners: int = 0
    given: int = 0
    is_forgotten: bool = False
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
    return to_microseconds(value) if isinstance(value, datetime) else None


def timestamp_of(moment: Moment) -> datetime | None:
    """Returns the timestamp of a moment, None of one that never is."""
    return None if math.isinf(moment) else from_microseconds(int(moment))
