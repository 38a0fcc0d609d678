"""What is stored of one side on the clock `arrival`: one class, used for both sides."""

from __future__ import annotations

from collections.abc import Sequence

from dovetail.conformance.oracle.eviction import leaving, of_key, stays
from dovetail.conformance.oracle.expiry import Now, has_expired
from dovetail.conformance.oracle.life import LivingRow
from dovetail.conformance.oracle.partitions import too_many, too_old
from dovetail.conformance.oracle.sides import Sides
from dovetail.conformance.oracle.versions import Version, version_of
from dovetail.spec.join import Hand
from dovetail.spec.windows import Latest, Seconds


class Store:
    """The rows of one side that are alive, in order of arrival."""

    def __init__(self, sides: Sides, hand: Hand) -> None:
        """Starts empty."""
        self.rows: list[LivingRow] = []
        self._sides = sides
        self._side = sides[hand]
        self._versions: list[Version] = []
        self._is_frozen = False

    def insert(self, row: LivingRow, now: Now) -> list[LivingRow]:
        """Stores a row where it stays, and returns the rows that leave, it maybe too.

        Those of partitions that are evicted as a whole are forgotten.
        """
        if not stays(self._side, row) or has_expired(self._sides, row, now):
            return [row]
        too_long = self._forget(too_old(self._side, self.rows, now.clock))
        gone = self._out(leaving(self._side, self.rows, row))
        self.rows.append(row)
        row.is_stored = True
        return [*too_long, *gone, *self._forget(too_many(self._side, self.rows))]

    def expire(self, now: Now) -> list[LivingRow]:
        """Takes out the rows that time has passed, and returns them."""
        if self._is_frozen:
            return []
        return self._out(
            [row for row in self.rows if has_expired(self._sides, row, now)]
        )

    def freeze(self) -> None:
        """Keeps what is there when the input has ended: its clock stands still."""
        self._is_frozen = isinstance(self._side.window, Seconds)

    def is_newest(self, row: LivingRow) -> bool:
        """Tells whether a row lives at all: an older version of a key does not."""
        return self._take_version(version_of(self._side, row))

    def delete(self, version: Version) -> list[LivingRow]:
        """Takes a key out, unless a newer version of it is known."""
        if not self._take_version(version):
            return []
        return self._out(of_key(self._side, self.rows, version.key))

    def _take_version(self, version: Version) -> bool:
        """Tells whether no newer version of a key is known, and takes it in."""
        if not isinstance(self._side.window, Latest) or not self._side.input.is_timed:
            return True
        known = [one for one in self._versions if one.key == version.key]
        if any(one.time > version.time for one in known):
            return False
        self._versions.append(version)
        return True

    def _forget(self, partitions: Sequence[Sequence[LivingRow]]) -> list[LivingRow]:
        """Takes whole partitions out, and returns their rows as forgotten."""
        forgotten = [row for rows in partitions for row in rows]
        for row in forgotten:
            row.is_forgotten = True
        return self._out(forgotten)

    def _out(self, rows: Sequence[LivingRow]) -> list[LivingRow]:
        """Takes rows out and returns them."""
        for row in rows:
            row.is_stored = False
        self.rows = [row for row in self.rows if row not in rows]
        return list(rows)
