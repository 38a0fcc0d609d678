"""Lives in row time, one function per window: a row and its side in, lives out.

On the clocks `event` and `batch`. A window is nothing but this: whoever matches rows
looks at lives only. Besides, a window says what the first row still to come may have,
and whether rows to come can change the lives of those that are there.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from dovetail.conformance.oracle.hops import first_hop_life, hop_lives, unit_life
from dovetail.conformance.oracle.intervals import interval_life
from dovetail.conformance.oracle.life import (
    ALWAYS,
    NEVER,
    NOWHERE,
    PAST,
    Life,
    LivingRow,
    Moment,
)
from dovetail.conformance.oracle.sides import OneSide
from dovetail.conformance.oracle.versions import (
    Version,
    latest_lives,
    rows_life,
    version_of,
)
from dovetail.errors import UnsupportedError
from dovetail.spec.windows import (
    Between,
    Forever,
    HopSize,
    HopUnit,
    Inherited,
    Latest,
    Range,
    Rows,
    RowsPreceding,
)

Lives = tuple[Life, ...]


def give_lives(
    side: OneSide, rows: Sequence[LivingRow], deletes: Iterable[Version]
) -> None:
    """Gives every row its lives, as they are if nothing more comes."""
    versions = [*(version_of(side, row) for row in rows), *deletes]
    for row in rows:
        row.lives = lives_of(side, row, versions)


def lives_of(side: OneSide, row: LivingRow, versions: Sequence[Version]) -> Lives:
    """Returns the lives of a row among the versions of its side."""
    if side.input.is_timed and row.time is None:
        return (NOWHERE,)
    match side.window:
        case Latest():
            return latest_lives(side, version_of(side, row), versions)
        case Between():
            return (interval_life(side, row.values),)
        case _ if row.time is None or not side.is_timed:
            return (ALWAYS,)
        case Inherited():
            lives = [one.lives[number] for one, number in row.origin]
            return (inherited_life(row.time, lives),)
        case RowsPreceding() as window:
            return (rows_life(window, version_of(side, row), versions),)
        case HopSize() as window:
            return hop_lives(window, row.time)
        case _:
            return (own_life(side, row.time),)


def own_life(side: OneSide, time: int) -> Life:
    """Returns the one life that follows from a row time alone."""
    match side.window:
        case Range() as window:
            return range_life(window, time)
        case Rows(count=0):
            return Life(time, time + 1, time)
        case HopUnit(unit=unit):
            return unit_life(unit, time)
        case Forever():
            return Life(time, NEVER, NEVER)
        case window:
            raise UnsupportedError.not_yet("oracle", f"the window {window}")


def range_life(window: Range, time: int) -> Life:
    """Returns [time - following, time + preceding], by the calendar for months."""
    end = window.preceding.after(time)
    return Life(window.following.negated().after(time), end + 1, end)


def inherited_life(time: Moment, lives: Sequence[Life]) -> Life:
    """Returns the life of a join's row: from its row time on, while all of those last.

    One that has no partner is alive at its own row time only.
    """
    deaths = [life.death for life in lives]
    ends = [life.end for life in lives]
    return Life(time, min(deaths, default=time + 1), min(ends, default=time))


def first_life(side: OneSide, bound: Moment) -> Life:
    """Returns the least birth, death and end that a row not before a bound can have.

    What follows from other rows, or from other columns, may be over as it begins.
    """
    match side.window:
        case Forever():
            return Life(bound, NEVER, NEVER)
        case _ if bound in (PAST, NEVER):
            return Life(bound, bound, bound)
        case Range() as window:
            return _first_range_life(window, int(bound))
        case Rows() | HopUnit():
            return own_life(side, int(bound))
        case HopSize() as window:
            return first_hop_life(window, int(bound))
        case _:
            return Life(bound, bound, bound)


def _first_range_life(window: Range, bound: int) -> Life:
    """Returns the least of what the lives of rows from a bound on may have."""
    end = window.preceding.least_after(bound)
    return Life(window.following.negated().least_after(bound), end + 1, end)


def is_settled(side: OneSide) -> bool:
    """Tells whether rows to come leave the lives of those that are there alone."""
    changing = Latest | RowsPreceding | Inherited
    return not side.is_timed or not isinstance(side.window, changing)


def soonest(life: Life, time: Moment, bound: Moment) -> Life:
    """Returns a life as rows to come may make it: each moment as early as can be.

    What is after the bound may move back to it, not before the row's own time.
    """
    moments = (life.birth, life.death, life.end)
    return Life(*(min(one, max(time, bound)) for one in moments))
