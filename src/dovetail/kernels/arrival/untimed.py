"""A table without row times on the event clock: a row meets it as it is at its arrival.

    place         1       2        3        4
    version 1     [-----------------)
    version 2                      [---------
    row of the other side    meets 1        meets 2

On the line of row time a version was always there, so that a pair has the row time of
the other row; it is the line of arrival that says who meets whom. A version that has
been replaced dies before all row times: at its place in a time before time.
"""

from __future__ import annotations

import numpy as np

from dovetail.kernels.arrays.rows import BEGINNING, NEVER, Mask, Rows, Whole
from dovetail.kernels.lifetimes.successors import later
from dovetail.kernels.settings import JoinSettings

BEFORE_TIME = BEGINNING + 1
"""The place 0 in the time before time."""


def replaced(rows: Rows) -> Rows:
    """Returns a table's rows with the ends of those that are replaced; an end stays."""
    place = later(rows, rows.place, 1)  # the next version's, whatever its time
    # Places as negative numbers before all row times: a death there says where the row
    # ended and that it meets no row time any more.
    end = np.where(
        place == NEVER, NEVER, BEFORE_TIME + np.where(place == NEVER, 0, place)
    )
    return rows.with_arrays(death=np.minimum(end, rows.death))


def is_replaced(rows: Rows) -> Mask:
    """Tells which rows of such a table have been replaced or deleted."""
    gone: Mask = rows.death < NEVER
    return gone


def has_untimed(settings: JoinSettings) -> bool:
    """Tells whether one side is such a table."""
    return any(side.untimed for side in settings.sides)


def by_arrival(settings: JoinSettings, sides: tuple[Rows, Rows]) -> tuple[Rows, Rows]:
    """Returns the rows with their lives on the line of arrival.

    A row of the other side is there at its own place; one that never lives, nowhere.
    """
    left, right = (
        rows.with_arrays(
            birth=rows.place,
            death=end_place(rows)
            if side.untimed
            # One place long: it is there as it comes, and at no place if it lives at no
            # row time.
            else rows.place + (rows.birth < rows.death),
        )
        for side, rows in zip(settings.sides, sides, strict=True)
    )
    return left, right


def end_place(rows: Rows) -> Whole:
    """Returns the places at which rows of the table are replaced."""
    return np.where(is_replaced(rows), rows.death - BEFORE_TIME, NEVER)
