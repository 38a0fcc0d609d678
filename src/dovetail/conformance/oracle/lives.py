"""Lives in row time, one function per window: a row and its side in, lives out.

    range          10:00 [######)             preceding 10 minutes
    between        from the one moment that the row names to the other
    hop hour       10:20 [############) 11:00      null row at 11:00
    hop size 10,   00:07 falls into [00:00, 00:10) and [00:05, 00:15):
    every 5                        [#) 00:10  [#) 00:15
    latest         A 10:00 [######)           until the next version of A
                   B   10:02 [##########      nobody has replaced it yet
                   A        10:05 [#######
    rows_preceding   10:00 [######)           1: until the second later row
                       10:02 [#######

On the clocks `event` and `batch`. A window is nothing but this: whoever matches rows
looks at lives only. Besides, a window says what the first row still to come may have,
and whether rows to come can change the lives of those that are there.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from dovetail import schema, spec
from dovetail.conformance.oracle import sides
from dovetail.errors import UnsupportedError

Lives = tuple[sides.Life, ...]


def give_lives(
    side: sides.OneSide, rows: Sequence[sides.LivingRow], deletes: Iterable[Version]
) -> None:
    """Gives every row its lives, as they are if nothing more comes."""
    versions = [*(version_of(side, row) for row in rows), *deletes]
    for row in rows:
        row.lives = lives_of(side, row, versions)


def lives_of(
    side: sides.OneSide, row: sides.LivingRow, versions: Sequence[Version]
) -> Lives:
    """Returns the lives of a row among the versions of its side."""
    # Asked first: whatever the window, who lacks its row time lives nowhere.
    if side.input.is_timed and row.time is None:
        return (sides.NOWHERE,)
    match side.window:
        case spec.Latest():
            return latest_lives(side, version_of(side, row), versions)
        case spec.Between():
            return (interval_life(side, row.values),)
        case _ if row.time is None or not side.is_timed:
            return (sides.ALWAYS,)
        case spec.Inherited():
            lives = [one.lives[number] for one, number in row.origin]
            return (inherited_life(row.time, lives),)
        case spec.RowsPreceding() as window:
            return (rows_life(window, version_of(side, row), versions),)
        case spec.HopSize() as window:
            return hop_lives(window, row.time)
        case _:
            return (own_life(side, row.time),)


def own_life(side: sides.OneSide, time: int) -> sides.Life:
    """Returns the one life that follows from a row time alone."""
    match side.window:
        case spec.Range() as window:
            return range_life(window, time)
        case spec.Rows(count=0):
            return sides.Life(time, time + 1, time)
        case spec.HopUnit(unit=unit):
            return unit_life(unit, time)
        case spec.Forever():
            return sides.Life(time, sides.NEVER, sides.NEVER)
        case window:
            raise UnsupportedError.not_yet("oracle", f"the window {window}")


def range_life(window: spec.Range, time: int) -> sides.Life:
    """Returns [time - following, time + preceding], by the calendar for months."""
    # Both ends belong to the window, so death is a microsecond behind the end.
    end = window.preceding.after(time)
    return sides.Life(window.following.negated().after(time), end + 1, end)


def inherited_life(time: sides.Moment, lives: Sequence[sides.Life]) -> sides.Life:
    """Returns the life of a join's row: from its row time on, while all its own last.

    One that has no partner is alive at its own row time only.
    """
    deaths = [life.death for life in lives]
    ends = [life.end for life in lives]
    return sides.Life(time, min(deaths, default=time + 1), min(ends, default=time))


def first_life(side: sides.OneSide, bound: sides.Moment) -> sides.Life:
    """Returns the least birth, death and end that a row not before a bound can have.

    What follows from other rows, or from other columns, may be over as it begins.
    """
    match side.window:
        case spec.Forever():
            return sides.Life(bound, sides.NEVER, sides.NEVER)
        case _ if bound in (sides.PAST, sides.NEVER):
            return sides.Life(bound, bound, bound)
        case spec.Range(preceding=preceding, following=following):
            # Of months the least is asked for: a later day may end a month earlier.
            end = preceding.least_after(int(bound))
            return sides.Life(following.negated().least_after(int(bound)), end + 1, end)
        case spec.Rows() | spec.HopUnit():
            return own_life(side, int(bound))
        case spec.HopSize(size=size, every=every):
            # The first window to end after the bound; ends are `size` after its start.
            behind = (int(bound) - size.microseconds) % every.microseconds
            end = int(bound) - behind + every.microseconds
            return sides.Life(end, end + 1, end)
        case _:
            return sides.Life(bound, bound, bound)


def is_settled(side: sides.OneSide) -> bool:
    """Tells whether rows to come leave the lives of those that are there alone."""
    changing = spec.Latest | spec.RowsPreceding | spec.Inherited
    return not side.is_timed or not isinstance(side.window, changing)


def soonest(life: sides.Life, time: sides.Moment, bound: sides.Moment) -> sides.Life:
    """Returns a life as rows to come may make it: each moment as early as can be.

    What is after the bound may move back to it, not before the row's own time.
    """
    moments = (life.birth, life.death, life.end)
    return sides.Life(*(min(one, max(time, bound)) for one in moments))


def interval_life(side: sides.OneSide, values: sides.Plain) -> sides.Life:
    """Returns the life from the one moment to the other, both included."""
    start, end = interval(side, values)
    return sides.Life(start, end + 1, end)


def is_bad_interval(side: sides.OneSide, came: sides.NewRow) -> bool:
    """Tells whether the row of a side names an interval in which it cannot live.

    Such a row starts before the row's own time, runs backward, or has no start or end.
    """
    if not side.window.interval:
        return False
    start, end = interval(side, came.values)
    return end < start or (came.time is not None and start < came.time)


def interval(
    side: sides.OneSide, values: sides.Plain
) -> tuple[sides.Moment, sides.Moment]:
    """Returns the start and the end that a row names; a null makes it run backward."""
    start, end = (sides.moment_of(part(values)) for part in side.measures)
    # So that one comparison finds nulls too: the end stands before the start.
    return sides.NEVER if start is None else start, sides.PAST if end is None else end


def unit_life(unit: spec.HopUnitName | spec.Span, time: int) -> sides.Life:
    """Returns the life from a row time to the end of the unit in which it stands."""
    if isinstance(unit, spec.Span):
        end = time - time % unit.microseconds + unit.microseconds
        return sides.Life(time, end, end)
    start = unit_start(unit, schema.from_microseconds(time))
    end = spec.parse_span(f"1 {unit}").after(schema.to_microseconds(start))
    return sides.Life(time, end, end)


def unit_start(unit: spec.HopUnitName, moment: datetime) -> datetime:
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


def hop_lives(window: spec.HopSize, time: int) -> tuple[sides.Life, ...]:
    """Returns a life at the end of each window that a row falls into: none in a gap.

    In windows of a size everything happens at their ends. So a row lives at the end of
    each window that it falls into, and two rows meet once for each that they share.
    """
    size, every = window.size.microseconds, window.every.microseconds
    # Windows start at multiples of `every` since 1970.
    latest_start = time - time % every
    ends = [start + size for start in range(latest_start, time - size, -every)]
    return tuple(sides.Life(end, end + 1, end) for end in reversed(ends))


@dataclass(frozen=True, slots=True)
class Version:
    """A row or a delete of a key: what ends the version before it."""

    key: tuple[object, ...]
    time: sides.Moment
    place: int

    @property
    def age(self) -> tuple[sides.Moment, int]:
        """Returns where it stands: row time, then arrival."""
        return self.time, self.place


def version_of(side: sides.OneSide, row: sides.LivingRow) -> Version:
    """Returns the version that a row is: of its key, else of its partition."""
    time = sides.PAST if row.time is None else row.time
    if isinstance(side.window, spec.RowsPreceding):
        return Version(side.partition_of(row), time, row.place)
    return Version(side.key_of(row.values), time, row.place)


def latest_lives(
    side: sides.OneSide, own: Version, versions: Iterable[Version]
) -> tuple[sides.Life, ...]:
    """Returns the life from a version's time to that of the next version of its key.

    Of two versions at one time the later arrival wins, and the other lives nowhere.
    Without row times only the newest version is there, and was always. Of a side that
    is its state at the end older versions have no life at all.
    """
    # Later by row time, then by arrival: of two at one time the one that came last
    # stays.
    times = later_times(own, versions)
    if side.is_state and times:
        return ()
    if not side.is_timed:
        return (sides.NOWHERE,) if times else (sides.ALWAYS,)
    end = times[0] if times else sides.NEVER
    return (sides.Life(own.time, end, end),)


def rows_life(
    window: spec.RowsPreceding, own: Version, versions: Iterable[Version]
) -> sides.Life:
    """Returns the life between two later rows, the row itself being 0.

    They are rows of its partition; without `partition_by` that is the whole stream.
    """
    times = [own.time, *later_times(own, versions)]
    # Row `last` lets it in, and the row behind row `first` puts it out.
    birth, end = (
        times[number] if number < len(times) else sides.NEVER
        for number in (window.last, window.first + 1)
    )
    return sides.Life(birth, end, end)


def later_times(own: Version, versions: Iterable[Version]) -> list[sides.Moment]:
    """Returns the times of the versions of a key after one, by time and arrival."""
    peers = (one for one in versions if one.key == own.key)
    return [time for time, _ in sorted(one.age for one in peers if one.age > own.age)]
