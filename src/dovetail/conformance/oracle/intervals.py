"""Lives between two moments that the row itself names.

A row whose interval is bad takes no part: it starts before the row's own time, runs
backward, or has no start or end.
"""

from __future__ import annotations

from dovetail.conformance.oracle.life import (
    NEVER,
    PAST,
    Came,
    Life,
    Moment,
    Plain,
    moment_of,
)
from dovetail.conformance.oracle.sides import OneSide


def interval_life(side: OneSide, values: Plain) -> Life:
    """Returns the life from the one moment to the other, both included."""
    start, end = interval(side, values)
    return Life(start, end + 1, end)


def is_bad_interval(side: OneSide, came: Came) -> bool:
    """Tells whether the row of a side names an interval in which it cannot live."""
    if not side.between:
        return False
    start, end = interval(side, came.values)
    return end < start or (came.time is not None and start < came.time)


def interval(side: OneSide, values: Plain) -> tuple[Moment, Moment]:
    """Returns the start and the end that a row names; a null makes it run backward."""
    start, end = (moment_of(part(values)) for part in side.between)
    return NEVER if start is None else start, PAST if end is None else end
