"""The new pairs of a step: found by overlap, kept where equalities are true."""

from __future__ import annotations

import numpy as np

from dovetail.kernels.arrays.rows import Mask, Rows
from dovetail.kernels.arrival.admission import Present
from dovetail.kernels.arrival.untimed import by_arrival, has_untimed
from dovetail.kernels.lifetimes.births import births, own_deaths
from dovetail.kernels.pairs.formulas import truly_equal
from dovetail.kernels.pairs.matches import (
    NO_MATCHES,
    Matches,
    first_overlaps,
    overlaps,
)
from dovetail.kernels.settings import UNLIMITED, Closing, JoinSettings
from dovetail.spec.windows import Forever


def candidates(settings: JoinSettings, present: Present) -> Matches:
    """Returns the pairs of equal keys with at least one new row, each once."""
    if _are_first_enough(settings):
        return first_overlaps(*present.rows, settings.picks.keep)
    found = overlaps(*_in_reach(settings, present.rows), present.old)
    if settings.reads_time and len(found):
        found = _of_the_living(present.rows, found)
    return truly_equal(settings, present.rows, found) if len(found) else NO_MATCHES


def _are_first_enough(settings: JoinSettings) -> bool:
    """Tells whether the first pairs of each left row are all that anybody looks at.

    So they are in a batch of rows that live for ever, where a pair needs no more than
    its key and a right row is not asked whether it has met anybody.
    """
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
    if has_untimed(settings):
        return by_arrival(settings, sides)
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


def _of_the_living(sides: tuple[Rows, Rows], found: Matches) -> Matches:
    """Returns the pairs whose rows are alive at one place in the order of arrival."""
    return found.take(np.flatnonzero(_overlap(sides, found)))


def _overlap(sides: tuple[Rows, Rows], found: Matches) -> Mask:
    """Tells of which pairs the lives overlap."""
    left, right = sides
    later = np.maximum(left.birth[found.left], right.birth[found.right])
    ends = np.minimum(left.death[found.left], right.death[found.right])
    overlap: Mask = later < ends
    return overlap
