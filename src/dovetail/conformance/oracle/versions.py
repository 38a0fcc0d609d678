"""Lives that other rows of the same side end: those of versions, those of newest rows.

ticker A   10:00 [######)                 latest: until the next A
ticker B          10:02 [##########       nobody has replaced it yet
ticker A              10:05 [#######

row 1      10:00 [######)                 rows_preceding 1: until the second later row
row 2          10:02 [#######
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

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
from dovetail.spec.windows import RowsPreceding


@dataclass(frozen=True, slots=True)
class Version:
    """A row or a delete of a key: what ends the version before it."""

    key: tuple[object, ...]
    time: Moment
    place: int

    @property
    def age(self) -> tuple[Moment, int]:
        """Returns where it stands: row time, then arrival."""
        return self.time, self.place


def version_of(side: OneSide, row: LivingRow) -> Version:
    """Returns the version that a row is: of its key, else of its partition."""
    time = PAST if row.time is None else row.time
    if isinstance(side.window, RowsPreceding):
        return Version(side.partition_of(row), time, row.place)
    return Version(side.key_of(row.values), time, row.place)


def latest_lives(
    side: OneSide, own: Version, versions: Iterable[Version]
) -> tuple[Life, ...]:
    """Returns the life from a version's time to that of the next version of its key.

    Of two versions at one time the later arrival wins, and the other lives nowhere.
    Without row times only the newest version is there, and was always. Of a side that
    is its state at the end older versions have no life at all.
    """
    times = later_times(own, versions)
    if side.is_state and times:
        return ()
    if not side.is_timed:
        return (NOWHERE,) if times else (ALWAYS,)
    end = times[0] if times else NEVER
    return (Life(own.time, end, end),)


def rows_life(window: RowsPreceding, own: Version, versions: Iterable[Version]) -> Life:
    """Returns the life between two later rows, the row itself being 0.

    They are rows of its partition; without `partition_by` that is the whole stream.
    """
    times = [own.time, *later_times(own, versions)]
    birth, end = (
        times[number] if number < len(times) else NEVER
        for number in (window.last, window.first + 1)
    )
    return Life(birth, end, end)


def later_times(own: Version, versions: Iterable[Version]) -> list[Moment]:
    """Returns the times of the versions of a key after one, by time and arrival."""
    peers = (one for one in versions if one.key == own.key)
    return [time for time, _ in sorted(one.age for one in peers if one.age > own.age)]
