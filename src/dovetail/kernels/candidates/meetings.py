"""Which rows meet in a step: the new pairs of equal keys, found by overlap.

A row may stand in several windows: then it is there as often, and still one row:

    row      a           b
    place    0  1        2  3       two windows of a size cover each moment
    owner    0  0        2  2

Windows and meetings look at a copy, picks and rows given once at the row: two rows are
one pair, however many windows they share.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dovetail.kernels.arrays.rows import Mask, Rows, Whole
from dovetail.kernels.arrival import untimed
from dovetail.kernels.arrival.admission import Present
from dovetail.kernels.lifetimes.births import births, own_deaths
from dovetail.kernels.lifetimes.calendar import copies
from dovetail.kernels.pairs.formulas import truly_equal
from dovetail.kernels.pairs.matches import (
    NO_MATCHES,
    Matches,
    first_overlaps,
    overlaps,
)
from dovetail.kernels.settings import UNLIMITED, Closing, JoinSettings
from dovetail.spec.windows import Forever, Window


def candidates(settings: JoinSettings, present: Present) -> Matches:
    """Returns the pairs of equal keys with at least one new row, each once."""
    if _are_first_enough(settings):
        return first_overlaps(*present.rows, settings.picks.keep)
    sides = _in_reach(settings, present.rows)
    found = overlaps(*sides, present.old, most=settings.most_pairs)
    if settings.reads_time and len(found):
        # Row times overlap; both must also be there at one place of the arrival.
        found = found.take(np.flatnonzero(_overlap(present.rows, found)))
    return truly_equal(settings, present.rows, found) if len(found) else NO_MATCHES


def _are_first_enough(settings: JoinSettings) -> bool:
    """Tells whether the first pairs of each left row are all that anybody looks at.

    So they are in a batch of rows that live for ever, where a pair needs no more than
    its key and a right row is not asked whether it has met anybody.
    """
    # Each of these asks for more than the first pairs: an order by time, a condition
    # that some fail, a row that must know whether it ever met anybody.
    picks, sides = settings.picks, settings.sides
    is_batch = settings.event_clock and not settings.ordered and not picks.by_time
    is_plain = not settings.soft and not settings.key_columns and not picks.skip
    is_short = picks.keep < UNLIMITED and not picks.waits and not sides[1].remembers
    is_endless = all(side.window == Forever() for side in sides)
    ends = all(side.static for side in sides)
    return is_batch and is_plain and is_short and is_endless and ends


def _in_reach(settings: JoinSettings, sides: tuple[Rows, Rows]) -> tuple[Rows, Rows]:
    """Returns the rows with the lives on whose line they are searched.

    A range is searched by row time on every clock: few rows that meet there are dead
    by arrival. A table without row times is searched by arrival.
    """
    if untimed.has_untimed(settings):
        return untimed.by_arrival(settings, sides)
    left, right = (
        rows.with_arrays(
            birth=births(side.window, rows),
            death=own_deaths(side.window, rows),
        )
        if side.closing is Closing.ROW_TIME
        else rows
        for side, rows in zip(settings.sides, sides, strict=True)
    )
    return left, right


def live_together(
    settings: JoinSettings, sides: tuple[Rows, Rows], found: Matches
) -> Mask:
    """Tells of which pairs the rows are alive at one moment, on every line of time."""
    together = _overlap(_in_reach(settings, sides), found)
    if settings.reads_time:
        together &= _overlap(sides, found)
    return together


def _overlap(sides: tuple[Rows, Rows], found: Matches) -> Mask:
    """Tells of which pairs the lives overlap."""
    left, right = sides
    later = np.maximum(left.birth[found.left], right.birth[found.right])
    ends = np.minimum(left.death[found.left], right.death[found.right])
    overlap: Mask = later < ends
    return overlap


@dataclass(frozen=True, slots=True)
class Copies:
    """For each row of a side the number of the first copy of the same row.

    Most windows hold a row once: then all are single, and each is its own owner.
    """

    owner: Whole
    are_single: bool

    @classmethod
    def of(cls, window: Window, rows: Rows) -> Copies:
        """Returns who is a copy of whom."""
        if copies(window) == 1:
            return cls(np.arange(len(rows)), are_single=True)
        # Copies stand at neighbouring places, so that one division finds their row.
        row = places_of(window, rows)
        _, first, number = np.unique(row, return_index=True, return_inverse=True)
        return cls(first[number], are_single=False)

    def owners(self, numbers: Whole) -> Whole:
        """Returns the owners of rows by their numbers."""
        return numbers if self.are_single else self.owner[numbers]

    def of_owners(self, values: Whole) -> Whole:
        """Returns for each row what is said of its owner."""
        return values if self.are_single else values[self.owner]

    def least(self, values: Whole) -> Whole:
        """Returns the least value of all copies."""
        if self.are_single:
            return values
        # `minimum.at` goes on where one owner is named several times; plain indexing
        # keeps the last.
        least = values.copy()
        np.minimum.at(least, self.owner, values)
        return least[self.owner]

    def any(self, marks: Mask) -> Mask:
        """Tells of which rows a copy is marked."""
        if self.are_single:
            return marks
        is_marked = np.zeros(len(marks), bool)
        # Written at the owner, read back by all copies of it.
        is_marked[self.owner[marks]] = True
        return is_marked[self.owner]

    def are_last(self, births: Whole) -> Mask:
        """Tells of which rows no copy is born later."""
        last: Mask = births == -self.least(-births)  # the greatest of all copies
        return last

    def sums(self, numbers: Whole) -> Whole:
        """Returns how often each row stands among row numbers, with all its copies."""
        counts = np.bincount(self.owners(numbers), minlength=len(self.owner))
        return counts if self.are_single else counts[self.owner]


def places_of(window: Window, rows: Rows) -> Whole:
    """Returns the places at which rows came, one for all copies of a row."""
    return rows.place // copies(window)


def are_first(window: Window, rows: Rows) -> Mask:
    """Tells which rows are there for the first of their windows."""
    first: Mask = rows.place % copies(window) == 0
    return first


def copies_of(settings: JoinSettings, sides: tuple[Rows, Rows]) -> tuple[Copies, ...]:
    """Returns the copies among the rows of both sides."""
    return tuple(
        Copies.of(side.window, rows)
        for side, rows in zip(settings.sides, sides, strict=True)
    )


@dataclass(frozen=True, slots=True)
class Pairs:
    """Pairs of rows, each once, and which of them each meeting is of."""

    once: Matches
    number: Whole

    @classmethod
    def of(
        cls, settings: JoinSettings, sides: tuple[Rows, Rows], found: Matches
    ) -> Pairs:
        """Returns the pairs of rows that meet."""
        left, right = copies_of(settings, sides)
        ours, theirs = left.owners(found.left), right.owners(found.right)
        width = len(sides[1]) + 1
        # Both numbers as one, so that equal pairs are equal numbers.
        pairs, number = np.unique(ours * width + theirs, return_inverse=True)
        return cls(Matches(pairs // width, pairs % width), number)

    def among(self, chosen: Matches, width: int) -> Mask:
        """Tells which meetings are of the chosen pairs."""
        every = self.once.left * width + self.once.right
        is_chosen = np.isin(every, chosen.left * width + chosen.right)
        of_chosen: Mask = is_chosen[self.number]
        return of_chosen
