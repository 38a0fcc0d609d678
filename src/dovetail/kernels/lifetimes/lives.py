"""Lives that other rows end, told from outside: the rows of a join inherit theirs.

    inner    x = (a, v)  10:00 [----------- ? ------    a newer v will end it
    told                 v lives no longer than 10:20; lives are sure until 10:12

So does x, and what else is made of v. What is told only ever makes a life shorter. A
meeting at 10:11 is sure by then; one at 10:15 may still fall away, one at 10:20 has.

Lives in order of arrival that rows of other keys end, who are in other buckets:

    all rows      place   4     5     6     7       as `kernels/lives` sees them
                  ends    6     -     -     -       newest 2 rows, whatever their key
    one bucket    told    4..6        6             so its row 4 dies as row 6 comes

Of a row that comes it is told at which place, in an order over all buckets; of one that
dies, then or later, where. Rows of a bucket have that order too, so that its newcomers
get the places one after the other.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from dovetail.kernels.arrays import names
from dovetail.kernels.arrays.rows import (
    BEGINNING,
    ENDING,
    NEVER,
    Flags,
    Mask,
    Rows,
    Whole,
)
from dovetail.kernels.arrays.sort import sorted_by

BUCKET, LEFT, RIGHT = (
    names.hidden("bucket"),
    names.hidden("left"),
    names.hidden("right"),
)
GROUP, KNOWN_END = names.hidden("group"), names.hidden("known_end")
HANDED = pa.schema(
    [
        (name, pa.int64())
        for name in (
            BUCKET,
            LEFT,
            RIGHT,
            GROUP,
            names.OWN_DEATH,
            names.OWN_END,
            KNOWN_END,
        )
    ]
)
"""What stands beside a row of a join whose life goes on.

In a bucket it is made of the rows at two places; its group says which bounds its life
waits for; then come its life if no other row ends it, and its end by now.
"""
NOBODY = -1
"""The place of a row that is not there, or that no other ends."""
LABEL, CODE = names.hidden("label"), names.hidden("code")
"""The payload columns with the bucket that has a row, and with its key's code there."""
SETTLED = 0
"""The group of lives that no other row ends."""


@dataclass(frozen=True, slots=True)
class Lives:
    """When rows of a join inside end, by bucket and place, if none ends them sooner.

    `holds` tells of each group but the settled one until when its lives are sure;
    without any, what was told before holds.
    """

    bucket: Whole
    place: Whole
    death: Whole
    holds: tuple[int, ...] = ()

    @property
    def says_nothing(self) -> bool:
        """Tells whether nothing is told."""
        return not len(self.place) and not self.holds

    def ends_of(self, bucket: Whole, place: Whole) -> Whole:
        """Returns when the rows at these places end, NEVER where nothing is told."""
        if not len(self.place):
            return np.full(len(place), NEVER)
        # Asked and told are numbered together, so that equal (bucket, place) are equal
        # numbers.
        buckets = np.concatenate((self.bucket, bucket))
        places = np.concatenate((self.place, place))
        order = sorted_by(buckets, places)
        is_other = (np.diff(buckets[order]) != 0) | (np.diff(places[order]) != 0)
        number = np.empty(len(order), np.int64)
        number[order] = np.cumsum(np.append(False, is_other))
        # Of a row that has two ends here the earlier one counts.
        least = np.full(len(order), NEVER)
        np.minimum.at(least, number[: len(self.place)], self.death)
        ends: Whole = least[number[len(self.place) :]]
        return ends

    def written(self) -> pa.RecordBatch:
        """Returns it as columns; before all rows stand the holds, as of no bucket."""
        count = len(self.holds)
        nobody, groups = np.full(count, NOBODY), np.arange(1, count + 1)
        holds = np.array(self.holds, np.int64)
        columns = {
            "bucket": np.append(nobody, self.bucket),
            "place": np.append(groups, self.place),
            "death": np.append(holds, self.death),
        }
        return pa.RecordBatch.from_pydict(columns)

    @classmethod
    def read(cls, batch: pa.RecordBatch) -> Lives:
        """Returns what `written` has made a batch of."""
        bucket, place, death = (column.to_numpy() for column in batch.columns)
        count = int(np.count_nonzero(bucket == NOBODY))
        holds = tuple(death[:count].tolist())
        return cls(bucket[count:], place[count:], death[count:], holds)


_NONE = np.empty(0, np.int64)
NO_LIVES = Lives(_NONE, _NONE, _NONE)


def join_lives(parts: Iterable[Lives]) -> Lives:
    """Returns all that is told, one part after the other."""
    # Of bounds the newest count: parts come in the order in which they were told.
    told = [part for part in parts if not part.says_nothing]
    holds = [part.holds for part in told if part.holds]
    return _all_of(told, holds[-1] if holds else ())


def lives_of_all(parts: Iterable[Lives]) -> Lives:
    """Returns all that is told at once, by several buckets: the least holds count."""
    told = list(parts)
    holds = zip(*(one.holds for one in told), strict=True)
    return _all_of(told, tuple(map(min, holds)))


def _all_of(told: Sequence[Lives], holds: tuple[int, ...]) -> Lives:
    """Returns the ends of all parts, with these holds."""
    if len(told) < 2:  # noqa: PLR2004 - one stays as it is
        return told[0] if told else NO_LIVES
    bucket, place, death = (
        np.concatenate([getattr(one, name) for one in told])
        for name in ("bucket", "place", "death")
    )
    return Lives(bucket, place, death, holds)


def shortened(rows: Rows, lives: Lives) -> Rows:
    """Returns the rows with the ends that they are told."""
    if not len(lives.place) or not len(rows):
        return rows
    death, bucket = rows.death, rows.hidden(BUCKET)
    for name in (LEFT, RIGHT):
        death = np.minimum(death, lives.ends_of(bucket, rows.hidden(name)))
    return rows.with_arrays(death=death)


def are_open(rows: Rows, holds: tuple[int, ...]) -> Mask:
    """Tells which inherited lives may still become shorter."""
    sure = sure_until(rows, holds)
    is_open: Mask = (sure < NEVER) & (rows.death > sure)
    return is_open


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


NOTHING_TOLD = Told(_NONE, _NONE, _NONE, np.empty(0, np.uint16))
