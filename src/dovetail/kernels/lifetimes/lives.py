"""Lives that other rows end, told from outside: the rows of a join inherit theirs.

    inner    x = (a, v)  10:00 [----------- ? ------    a newer v will end it
    told                 x lives no longer than 10:20; lives are sure until 10:12

What is told of a life only ever makes it shorter. A meeting at 10:11 is sure by then;
one at 10:15 may still fall away, and one at 10:20 has.

Lives in order of arrival that rows of other keys end, who are in other buckets:

    all rows      place   4     5     6     7       as `kernels/lives` sees them
                  ends    6     -     -     -       newest 2 rows, whatever their key
    one bucket    told    4..6        6             so its row 4 dies as row 6 comes

Of a row that comes it is told at which place, in an order over all buckets; of one that
dies, then or later, where. Rows of a bucket have that order too, so that its newcomers
get the places one after the other.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from dovetail.kernels.arrays.names import hidden
from dovetail.kernels.arrays.rows import (
    BEGINNING,
    ENDING,
    NEVER,
    Flags,
    Rows,
    Whole,
)

LIFE, GROUP, KNOWN_END = hidden("life"), hidden("group"), hidden("known end")
"""The payload columns of lives: their numbers, their groups, their ends when told."""
LABEL, CODE = hidden("label"), hidden("code")
"""The payload columns with the bucket that has a row, and with its key's code there."""
SETTLED = 0
"""The group of lives that no other row ends."""


@dataclass(frozen=True, slots=True)
class Lives:
    """When lives end, by number, if no other row ends them sooner.

    `holds` tells of each group but the settled one until when its lives are sure;
    without any, what was told before holds.
    """

    number: Whole
    death: Whole
    holds: tuple[int, ...] = ()

    @property
    def says_nothing(self) -> bool:
        """Tells whether nothing is told."""
        return not len(self.number) and not self.holds


NO_LIVES = Lives(np.empty(0, np.int64), np.empty(0, np.int64))


def join_lives(parts: Iterable[Lives]) -> Lives:
    """Returns all that is told, one part after the other."""
    told = [part for part in parts if not part.says_nothing]
    if len(told) < 2:  # noqa: PLR2004 - one stays as it is
        return told[0] if told else NO_LIVES
    holds = [part.holds for part in told if part.holds]
    return Lives(
        np.concatenate([part.number for part in told]),
        np.concatenate([part.death for part in told]),
        holds[-1] if holds else (),
    )


def shortened(rows: Rows, lives: Lives) -> Rows:
    """Returns the rows with the ends that they are told."""
    if not len(lives.number) or not len(rows):
        return rows
    # Of a life that has two ends here the earlier one counts.
    known, group = np.unique(lives.number, return_inverse=True)
    least = np.full(len(known), NEVER)
    np.minimum.at(least, group, lives.death)
    number = rows.hidden(LIFE)
    # Who is not among them finds another's place: nothing ends it.
    at = np.minimum(np.searchsorted(known, number), len(known) - 1)
    told = np.where(known[at] == number, least[at], NEVER)
    return rows.with_arrays(death=np.minimum(rows.death, told))


def sure_until(rows: Rows, holds: tuple[int, ...]) -> Whole:
    """Returns until when each life is sure; nothing is known of a group not told of."""
    group = rows.hidden(GROUP)
    # One place a group: the settled one first, then those that holds tell of.
    known = np.full(int(group.max(initial=len(holds))) + 1, BEGINNING)
    known[SETTLED] = NEVER
    known[1 : len(holds) + 1] = holds
    until: Whole = known[group]
    return until


_NAMES = ("code", "place", "death", "flags")


@dataclass(frozen=True, slots=True)
class Told:
    """Lives of rows of one side by their places, which rise.

    Beside them stand their keys' codes, and the flags that say how lives end.
    """

    code: Whole
    place: Whole
    death: Whole
    flags: Flags

    @classmethod
    def of(cls, rows: Rows) -> Told:
        """Returns what is told of rows that have come or ended."""
        order = np.argsort(rows.place)
        code, place, death = (
            array[order] for array in (rows.hidden(CODE), rows.place, rows.death)
        )
        return cls(code, place, death, rows.flags[order] & ENDING)

    @classmethod
    def read(cls, batch: pa.RecordBatch) -> Told:
        """Returns what `written` has made a batch of."""
        code, place, death, flags = (column.to_numpy() for column in batch.columns)
        return cls(code, place, death, flags)

    def written(self) -> pa.RecordBatch:
        """Returns it as columns."""
        columns = [pa.array(getattr(self, name)) for name in _NAMES]
        return pa.RecordBatch.from_arrays(columns, names=list(_NAMES))

    def __len__(self) -> int:
        """Returns of how many lives it tells."""
        return len(self.place)

    def past(self, place: int) -> int:
        """Returns the first place that is behind one and behind all that is told."""
        # An end may be behind all rows: time may have ended a life.
        ends = self.death[self.death < NEVER]
        return max(
            place, int(self.place.max(initial=-1)) + 1, int(ends.max(initial=-1))
        )

    def placed(self, rows: Rows, since: int) -> Rows:
        """Returns newcomers, in places of their own, at those that they are told."""
        place = rows.place.copy()
        # As many as have come: places from `since` on are those of newcomers.
        place[np.argsort(rows.place)] = self.place[self.place >= since]
        return rows.with_arrays(place=place)

    def ended(self, rows: Rows) -> Rows:
        """Returns rows with the ends, and how they end, that are told of them."""
        if not len(self) or not len(rows):
            return rows
        at = np.minimum(np.searchsorted(self.place, rows.place), len(self) - 1)
        is_told = (self.place[at] == rows.place) & (self.death[at] < NEVER)
        death = np.where(is_told, self.death[at], rows.death)
        flags = np.where(is_told, rows.flags | self.flags[at], rows.flags)
        return rows.with_arrays(death=death, flags=flags)


_NONE = np.empty(0, np.int64)
NOTHING_TOLD = Told(_NONE, _NONE, _NONE, np.empty(0, np.uint16))
