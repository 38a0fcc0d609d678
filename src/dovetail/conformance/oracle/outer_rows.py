"""Null rows on the clock `arrival`: when they leave, at once, or once more taken back.

    expiry          row arrives .......... leaves: null row
    eager           row arrives: null row ... match: pair
    eager_retract   row arrives: null row ... match: null row deleted, pair

A stream's row that has given its null row may also wait for a table's row that comes
late, and meet that one.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace

from dovetail.conformance.oracle.life import LivingRow
from dovetail.conformance.oracle.matching import Pair
from dovetail.conformance.oracle.parts import Parts
from dovetail.spec.inputs import Change, Emission, EmitLateTableRows, OuterRows
from dovetail.spec.spans import Span


class NullRows:
    """The null rows that were given early, and the rows that still wait for a table."""

    def __init__(self, parts: Parts) -> None:
        """Starts with none."""
        self._parts = parts
        self._early: dict[LivingRow, list[Emission]] = {}
        self._waiting: dict[LivingRow, int] = {}

    def at_once(self, row: LivingRow) -> list[Emission]:
        """Returns the null row of a row that arrives and has no partner."""
        if not self._parts.settings.is_eager or not self._parts.kind.preserves(
            row.hand
        ):
            return []
        self._early[row] = self._parts.writer.unmatched(row)
        return self._early[row]

    def at_end(self, row: LivingRow, clock: int) -> list[Emission]:
        """Returns the null row of a row that leaves, if it never matched."""
        if row.partners or row.is_forgotten or not self._parts.kind.preserves(row.hand):
            return []
        if self._parts.waits_for_table(row.hand) and not row.has_too_many:
            self._waiting[row] = clock
        return [] if row in self._early else self._parts.writer.unmatched(row)

    def taken_back(self, *rows: LivingRow) -> Iterator[Emission]:
        """Yields again, as deletes, the null rows of rows that have found a partner."""
        for row in rows:
            early = self._early.pop(row, [])
            if self._parts.settings.outer_rows is OuterRows.EAGER_RETRACT:
                yield from (replace(one, change=Change.DELETE) for one in early)

    def late_matches(self, newcomer: LivingRow, clock: int) -> Iterator[Emission]:
        """Yields the pairs of a table's newcomer with rows that wait, one each."""
        for row in [row for row in self._waiting if row.hand is not newcomer.hand]:
            pair = Pair.of(row, newcomer)
            if has_waited(self._parts, self._waiting[row], clock):
                del self._waiting[row]
            elif self._parts.picker.choose([pair]).matches:
                del self._waiting[row]
                yield from self.taken_back(row)
                for one in pair.rows:
                    one.partners += 1
                yield from self._parts.writer.pair(pair, pair.left.partners)


def has_waited(parts: Parts, since: float, now: float) -> bool:
    """Tells whether a row has waited longer than rows wait for a table."""
    match parts.settings.late_table_rows:
        case EmitLateTableRows(wait=Span() as wait) if math.isfinite(since):
            return now > wait.after(int(since))
        case _:
            return False
