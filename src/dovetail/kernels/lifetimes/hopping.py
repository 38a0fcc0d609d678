"""Windows that hop: where the calendar's units end, and those of a size and a step.

hour           10:20 [############) 11:00
size 10,       00:07 falls into [00:00, 00:10) and [00:05, 00:15): the row is there
every 5              once for each, and lives at its end
"""

from __future__ import annotations

from typing import Literal, assert_never

import numpy as np

from dovetail.kernels.arrays.rows import BEGINNING, NEVER, Rows, Whole

Unit = Literal["second", "minute", "hour", "day", "week", "month", "year"]

_SECOND = 1_000_000
_DAY = 86_400 * _SECOND
_MONDAY = 3  # 1970-01-01 was a Thursday


def unit_ends(unit: Unit, moments: Whole) -> Whole:
    """Returns the ends of the units in which moments stand; infinite ones stay."""
    fixed = (moments == NEVER) | (moments <= BEGINNING)
    plain = np.where(fixed, 0, moments)
    return np.where(fixed, moments, _ends(unit, plain))


def _ends(unit: Unit, moments: Whole) -> Whole:
    """Returns the first moment of the unit after that of each moment, in UTC."""
    match unit:
        case "second":
            return _after(moments, _SECOND)
        case "minute":
            return _after(moments, 60 * _SECOND)
        case "hour":
            return _after(moments, 3600 * _SECOND)
        case "day":
            return _after(moments, _DAY)
        case "week":
            return _after(moments + _MONDAY * _DAY, 7 * _DAY) - _MONDAY * _DAY
        case "month":
            return _first_after(moments, "M")
        case "year":
            return _first_after(moments, "Y")
        case _:
            assert_never(unit)


def _after(moments: Whole, length: int) -> Whole:
    """Returns the next multiple of a length above each moment."""
    return moments - moments % length + length


def _first_after(moments: Whole, unit: Literal["M", "Y"]) -> Whole:
    """Returns the first day of the next month or year."""
    following = moments.view("datetime64[us]").astype(f"datetime64[{unit}]") + 1
    first: Whole = following.astype("datetime64[us]").astype(np.int64)
    return first


def hopped(rows: Rows, size: int, every: int) -> Rows:
    """Returns each row once for each window that it falls into, timed at its end.

    A row without a time is there once, one between two windows not at all. Copies have
    places beside each other, so that each is known by its own.
    """
    timed = rows.moment > BEGINNING
    moment = np.where(timed, rows.moment, 0)
    newest = moment - moment % every + size
    counts = np.where(timed, np.maximum(-((moment - newest) // every), 0), 1)
    copies = rows.take(np.repeat(np.arange(len(rows)), counts))
    firsts = np.cumsum(counts) - counts
    turn = np.arange(len(copies)) - np.repeat(firsts, counts)
    back = (np.repeat(counts, counts) - 1 - turn) * every
    ends = np.repeat(newest, counts) - back
    most = -(-size // every)
    return copies.with_arrays(
        moment=np.where(copies.moment > BEGINNING, ends, copies.moment),
        place=copies.place * most + turn,
    )


def first_end(bound: int, size: int, every: int) -> int:
    """Returns the end of the first window to end after a bound."""
    return bound - (bound - size) % every + every
