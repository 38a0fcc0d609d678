"""Lives between two moments that the row itself names.

A row whose interval is bad takes no part: it starts before the row's own time, runs
backward, or has no start or end.
"""

from __future__ import annotations

from collections.abc import Mapping

from dovetail.oracle.life import NOWHERE, Came, Life, moment_of
from dovetail.oracle.sides import OneSide


def interval_life(side: OneSide, values: Mapping[str, object]) -> Life:
    """Returns the life from the one moment to the other, both included."""
    start, end = (moment_of(part(values)) for part in side.between)
    return NOWHERE if start is None or end is None else Life(start, end + 1, end)


def is_bad_interval(side: OneSide, came: Came) -> bool:
    """Tells whether the row of a side names an interval in which it cannot live."""
    if not side.between:
        return False
    start, end = (moment_of(part(came.values)) for part in side.between)
    if start is None or end is None or end < start:
        return True
    return came.time is not None and start < came.time
