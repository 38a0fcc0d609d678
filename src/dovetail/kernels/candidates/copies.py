"""Rows that stand in several windows: as often there, and still one row each.

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
from dovetail.kernels.lifetimes.calendar import copies
from dovetail.kernels.pairs.matches import Matches
from dovetail.kernels.settings import JoinSettings
from dovetail.spec.windows import Window


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
        row = places_of(window, rows)
        _, first, number = np.unique(row, return_index=True, return_inverse=True)
        return cls(first[number], are_single=False)

    def owners(self, numbers: Whole) -> Whole:
        """Returns the owners of rows by their numbers."""
        return numbers if self.are_single else self.owner[numbers]

    def least(self, values: Whole) -> Whole:
        """Returns the least value of all copies."""
        if self.are_single:
            return values
        least = values.copy()
        np.minimum.at(least, self.owner, values)
        return least[self.owner]

    def any(self, marks: Mask) -> Mask:
        """Tells of which rows a copy is marked."""
        if self.are_single:
            return marks
        is_marked = np.zeros(len(marks), bool)
        is_marked[self.owner[marks]] = True
        return is_marked[self.owner]

    def are_last(self, births: Whole) -> Mask:
        """Tells of which rows no copy is born later."""
        last: Mask = births == -self.least(-births)
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
        pairs, number = np.unique(ours * width + theirs, return_inverse=True)
        return cls(Matches(pairs // width, pairs % width), number)

    def among(self, chosen: Matches, width: int) -> Mask:
        """Tells which meetings are of the chosen pairs."""
        every = self.once.left * width + self.once.right
        is_chosen = np.isin(every, chosen.left * width + chosen.right)
        of_chosen: Mask = is_chosen[self.number]
        return of_chosen
