"""Windows on the clock `arrival` from which rows leave as time goes on, not by rows.

`seconds` looks at the processing time, `range` at the highest row time seen on either
input: a row is gone once that exceeds its end, as far as the other side reaches back,
and the larger lateness.
"""

from __future__ import annotations

from dataclasses import dataclass

from dovetail.conformance.oracle.life import (
    ALWAYS,
    NEVER,
    PAST,
    Life,
    LivingRow,
    Moment,
)
from dovetail.conformance.oracle.lifetimes import range_life
from dovetail.conformance.oracle.sides import OneSide, Sides
from dovetail.spec.windows import Range, Seconds


@dataclass(slots=True)
class Now:
    """How far time has come: processing time, and the highest row time seen."""

    clock: int = 0
    highest: Moment = PAST


def arrival_life(side: OneSide, row: LivingRow) -> Life:
    """Returns the row times that a row meets; outside `range` time is not looked at."""
    if isinstance(side.window, Range) and row.time is not None:
        return range_life(side.window, row.time)
    return ALWAYS


def expires_after(sides: Sides, row: LivingRow) -> Moment:
    """Returns the last moment at which the row can still meet another."""
    mine, other = sides[row.hand], sides[row.hand.other]
    match mine.window, other.window:
        case Seconds(length=length), _:
            return length.after(row.arrived)
        case Range(), Range(following=following):
            end = following.after(int(row.life.end))
            return max(side.input.lateness.after(end) for side in (mine, other))
        case _:
            return NEVER


def has_expired(sides: Sides, row: LivingRow, now: Now) -> bool:
    """Tells whether time has passed the row."""
    return reading(sides[row.hand], now) > expires_after(sides, row)


def reading(side: OneSide, now: Now) -> Moment:
    """Returns the time that a side's window looks at."""
    match side.window:
        case Seconds():
            return now.clock
        case Range():
            return now.highest
        case _:
            return PAST
