"""What is stored of one side on the clock `arrival`, and who leaves it.

A newcomer may drive out rows of its own side, as the window says; it never drives out
rows of the other side. Partitions may be evicted as a whole, the one least recently
inserted into first; its rows leave without a word: not even unmatched ones come out.
From other windows rows leave as time goes on: `seconds` looks at the processing time,
`range` at the highest row time seen on either input:

    rows: 2      a b  c arrives -> b c      a is driven out
    seconds 10   12:00:00 arrives ........ 12:00:10 stays ... 12:00:11 is gone
    range        gone once the highest row time exceeds its end, as far as the other
                 side reaches back, and the larger lateness
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import MAX_PREC, Decimal, localcontext
from typing import Any

from dovetail import spec
from dovetail.conformance.oracle import lives
from dovetail.conformance.oracle.sides import (
    ALWAYS,
    NEVER,
    PAST,
    Life,
    LivingRow,
    Moment,
    OneSide,
    Sides,
)
from dovetail.errors import UnsupportedError
from dovetail.schema import to_microseconds


class Store:
    """The rows of one side that are alive, in order of arrival."""

    def __init__(self, sides: Sides, hand: spec.Hand) -> None:
        """Starts empty."""
        self.rows: list[LivingRow] = []
        self._sides = sides
        self._side = sides[hand]
        self._versions: list[lives.Version] = []
        self._is_frozen = False

    def insert(self, row: LivingRow, now: Now) -> list[LivingRow]:
        """Stores a row where it stays, and returns the rows that leave, it maybe too.

        Those of partitions that are evicted as a whole leave silently.
        """
        if not stays(self._side, row) or has_expired(self._sides, row, now):
            return [row]
        # Age is looked at before the newcomer makes its own partition young again, and
        # the number of partitions once it is there.
        evicted = self._evict(too_old(self._side, self.rows, now.clock))
        gone = self._out(leaving(self._side, self.rows, row))
        self.rows.append(row)
        row.is_stored = True
        return [*evicted, *gone, *self._evict(too_many(self._side, self.rows))]

    def expire(self, now: Now) -> list[LivingRow]:
        """Takes out the rows that time has passed, and returns them."""
        if self._is_frozen:
            return []
        return self._out(
            [row for row in self.rows if has_expired(self._sides, row, now)]
        )

    def freeze(self) -> None:
        """Keeps what is there when the input has ended: its clock stands still."""
        # No other window looks at a clock that its own input moves.
        self._is_frozen = isinstance(self._side.window, spec.Seconds)

    def is_newest(self, row: LivingRow) -> bool:
        """Tells whether a row lives at all: an older version of a key does not."""
        return self._take_version(lives.version_of(self._side, row))

    def delete(self, version: lives.Version) -> list[LivingRow]:
        """Takes a key out, unless a newer version of it is known."""
        if not self._take_version(version):
            return []
        return self._out(of_key(self._side, self.rows, version.key))

    def _take_version(self, version: lives.Version) -> bool:
        """Tells whether no newer version of a key is known, and takes it in."""
        # A delete is remembered too: an older row that comes after it stays out.
        if (
            not isinstance(self._side.window, spec.Latest)
            or not self._side.input.is_timed
        ):
            return True
        known = [one for one in self._versions if one.key == version.key]
        if any(one.time > version.time for one in known):
            return False
        self._versions.append(version)
        return True

    def _evict(self, partitions: Sequence[Sequence[LivingRow]]) -> list[LivingRow]:
        """Takes whole partitions out, and returns their rows, which leave silently.

        They leave together: whatever comes of them comes in order of arrival.
        """
        evicted = sorted(
            (row for rows in partitions for row in rows), key=lambda row: row.place
        )
        # Marked before they are out: who leaves with its partition gives no null row.
        for row in evicted:
            row.leaves_silently = True
        return self._out(evicted)

    def _out(self, rows: Sequence[LivingRow]) -> list[LivingRow]:
        """Takes rows out and returns them."""
        for row in rows:
            row.is_stored = False
        self.rows = [row for row in self.rows if row not in rows]
        return list(rows)


def stays(side: OneSide, row: LivingRow) -> bool:
    """Tells whether a row is kept; one of `rows: 0` meets only what is there.

    Nor does `range` keep a row that a null keeps from ever being a candidate.
    """
    if isinstance(side.window, spec.Range):
        return all(part(row.values) is not None for part in side.counted)
    return side.window != spec.Rows(0)


def leaving(
    side: OneSide, stored: Sequence[LivingRow], newcomer: LivingRow
) -> list[LivingRow]:
    """Returns the rows of a side that a newcomer drives out, oldest first."""
    match side.window:
        case spec.Rows(count=count):
            peers = peers_of(side, stored, newcomer)
            return peers[: max(0, len(peers) + 1 - count)]
        case spec.Latest():
            return of_key(side, stored, side.key_of(newcomer.values))
        case spec.Delta(width=width):
            peers, (by,) = peers_of(side, stored, newcomer), side.measures
            new = by(newcomer.values)
            return [row for row in peers if rise(by(row.values), new) > width]
        case spec.Forever() | spec.Seconds() | spec.Range():
            return []
        case window:
            raise UnsupportedError.not_yet("oracle", f"the window {window}")


def peers_of(
    side: OneSide, stored: Sequence[LivingRow], newcomer: LivingRow
) -> list[LivingRow]:
    """Returns the stored rows of the newcomer's partition."""
    partition = side.partition_of(newcomer)
    return [row for row in stored if side.partition_of(row) == partition]


def rise(old: Any, new: Any) -> Decimal | float:  # noqa: ANN401 - numbers or times
    """Returns how far a value is above an older one, in seconds where it is a time.

    A null or NaN is far from nothing.
    """
    if old is None or new is None:
        return -math.inf
    if isinstance(new, datetime):
        return Decimal(to_microseconds(new) - to_microseconds(old)) / spec.SECOND
    # The difference of two decimals must not be rounded to the usual 28 digits.
    with localcontext(prec=MAX_PREC):
        rise = new - old
    return -math.inf if math.isnan(rise) else rise


def of_key(
    side: OneSide, stored: Sequence[LivingRow], key: tuple[object, ...]
) -> list[LivingRow]:
    """Returns the stored version of a key, which a newer one or a delete drives out."""
    return [row for row in stored if side.key_of(row.values) == key]


Partitions = list[list[LivingRow]]


def least_recent_first(side: OneSide, stored: Sequence[LivingRow]) -> Partitions:
    """Returns the rows by partition, the least recently inserted into first."""
    partitions: dict[tuple[object, ...], list[LivingRow]] = {}
    for row in stored:
        partitions.setdefault(side.partition_of(row), []).append(row)
    return sorted(partitions.values(), key=lambda rows: rows[-1].place)


def too_old(side: OneSide, stored: Sequence[LivingRow], clock: int) -> Partitions:
    """Returns the partitions that an insertion finds too old, in whole seconds.

    Nothing goes before the oldest is older than the age; then all of that age go.
    """
    if not isinstance(side.partition_evict, spec.EvictAge):
        return []
    # The platform reads its clock in whole seconds: so ages are compared.
    limit = clock // spec.SECOND - side.partition_evict.age.microseconds // spec.SECOND
    partitions = least_recent_first(side, stored)
    inserted = [rows[-1].arrived // spec.SECOND for rows in partitions]
    if not inserted or inserted[0] >= limit:
        return []
    return [
        rows for rows, last in zip(partitions, inserted, strict=True) if last <= limit
    ]


def too_many(side: OneSide, stored: Sequence[LivingRow]) -> Partitions:
    """Returns the partitions that are too many after an insertion."""
    partitions = least_recent_first(side, stored)
    match side.partition_evict:
        case spec.EvictCount(partitions=most):
            return partitions[: max(0, len(partitions) - most)]
        case spec.EvictTuples(rows=most) if len(stored) > most:
            # One is enough: an insertion adds one row, and no partition is empty.
            return partitions[:1]
        case _:
            return []


@dataclass(slots=True)
class Now:
    """How far time has come: processing time, and the highest row time seen."""

    clock: int = 0
    highest: Moment = PAST


def arrival_life(side: OneSide, row: LivingRow) -> Life:
    """Returns the row times that a row meets; outside `range` time is not looked at."""
    if isinstance(side.window, spec.Range) and row.time is not None:
        return lives.range_life(side.window, row.time)
    return ALWAYS


def expires_after(sides: Sides, row: LivingRow) -> Moment:
    """Returns the last moment at which the row can still meet another."""
    mine, other = sides[row.hand], sides[row.hand.other]
    match mine.window, other.window:
        case spec.Seconds(length=length), _:
            return length.after(row.arrived)
        case spec.Range(), spec.Range(following=following):
            # A row of the other side may look so far ahead, and one of either side come
            # so late.
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
        case spec.Seconds():
            return now.clock
        case spec.Range():
            return now.highest
        case _:
            return PAST
