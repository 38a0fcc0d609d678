"""Lives in windows that hop: to the end of a unit of the calendar, or of a size.

    hour           10:20 [############) 11:00      null row at 11:00
    size 10,       00:07 falls into [00:00, 00:10) and [00:05, 00:15):
    every 5                        [#) 00:10  [#) 00:15

In windows of a size everything happens at their ends. So a row lives at the end of each
window that it falls into, and two rows meet once for each window that they share.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from dovetail.conformance.oracle.life import Life
from dovetail.schema import from_microseconds, to_microseconds
from dovetail.spec.spans import parse_span
from dovetail.spec.windows import HopSize, HopUnitName


def unit_life(unit: HopUnitName, time: int) -> Life:
    """Returns the life from a row time to the end of the unit in which it stands."""
    start = unit_start(unit, from_microseconds(time))
    end = parse_span(f"1 {unit}").after(to_microseconds(start))
    return Life(time, end, end)


def unit_start(unit: HopUnitName, moment: datetime) -> datetime:
    """Returns the first moment of the unit in which a moment stands, in UTC."""
    midnight = moment.replace(hour=0, minute=0, second=0, microsecond=0)
    match unit:
        case "second":
            return moment.replace(microsecond=0)
        case "minute":
            return moment.replace(second=0, microsecond=0)
        case "hour":
            return moment.replace(minute=0, second=0, microsecond=0)
        case "day":
            return midnight
        case "week":
            return midnight - timedelta(days=midnight.weekday())
        case "month":
            return midnight.replace(day=1)
        case "year":
            return midnight.replace(month=1, day=1)


def hop_lives(window: HopSize, time: int) -> tuple[Life, ...]:
    """Returns a life at the end of each window that a row falls into: none in a gap."""
    size, every = window.size.microseconds, window.every.microseconds
    latest_start = time - time % every
    ends = [start + size for start in range(latest_start, time - size, -every)]
    return tuple(moment_life(end) for end in reversed(ends))


def first_hop_life(window: HopSize, bound: int) -> Life:
    """Returns the life in the first window to end after a bound."""
    size, every = window.size.microseconds, window.every.microseconds
    return moment_life(bound - (bound - size) % every + every)


def moment_life(moment: int) -> Life:
    """Returns a life at one moment only."""
    return Life(moment, moment + 1, moment)
