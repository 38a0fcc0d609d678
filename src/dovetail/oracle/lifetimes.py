"""Lives in row time, one function per window: a row and its side in, a life out.

On the clocks `event` and `batch`. A window is nothing but this: whoever matches rows
looks at lives only.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from dovetail.errors import UnsupportedError
from dovetail.oracle.life import (
    ALWAYS,
    NEVER,
    NOWHERE,
    PAST,
    Life,
    LivingRow,
    Moment,
)
from dovetail.oracle.sides import OneSide
from dovetail.spec.windows import Forever, Latest, Range, Rows


@dataclass(frozen=True, slots=True)
class Version:
    """A row or a delete of a key: what ends the version before it."""

    key: tuple[object, ...]
    time: Moment
    place: int


def give_lives(
    side: OneSide, rows: Sequence[LivingRow], deletes: Iterable[Version]
) -> None:
    """Gives every row its life, as far as it can be known by now."""
    versions = [*(version_of(side, row) for row in rows), *deletes]
    for row in rows:
        row.life = life_of(side, row, versions)


def version_of(side: OneSide, row: LivingRow) -> Version:
    """Returns the version that a row is."""
    time = PAST if row.time is None else row.time
    return Version(side.key_of(row.values), time, row.place)


def life_of(side: OneSide, row: LivingRow, versions: Iterable[Version]) -> Life:
    """Returns the life of a row among the versions of its side."""
    if side.input.is_timed and row.time is None:
        return NOWHERE
    match side.window:
        case Latest():
            return latest_life(version_of(side, row), versions, is_timed=side.is_timed)
        case _ if row.time is None or not side.is_timed:
            return ALWAYS
        case Range() as window:
            return range_life(window, row.time)
        case Rows(count=0):
            return Life(row.time, row.time + 1, row.time)
        case Forever():
            return Life(row.time, NEVER, NEVER)
        case window:
            raise UnsupportedError.not_yet("oracle", f"the window {window}")


def range_life(window: Range, time: int) -> Life:
    """Returns [time - following, time + preceding], by the calendar for months."""
    end = window.preceding.after(time)
    return Life(window.following.negated().after(time), end + 1, end)


def latest_life(own: Version, versions: Iterable[Version], *, is_timed: bool) -> Life:
    """Returns the life from a version's time to that of the next version of its key.

    Of two versions at one time the later arrival wins, and the other lives nowhere.
    Without row times only the newest version is there, and was always.
    """
    later = [
        (version.time, version.place)
        for version in versions
        if version.key == own.key
        and (version.time, version.place) > (own.time, own.place)
    ]
    if not is_timed:
        return NOWHERE if later else ALWAYS
    end = min(later)[0] if later else NEVER
    return Life(own.time, end, end)
