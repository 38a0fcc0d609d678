"""Rows of a changing result that stand by themselves: null rows, rows given once.

A null row stands while its row lives and has no partner, a row given once while it has
one, so both are known by counting partners:

    order 1    [-----------------------)
    trade 1        [----)[----)               the second replaces the first
    partners   0   1     1    0
    null row   [---)          [--------)      two stretches, none between the trades

The count stays with the row.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dovetail.kernels.arrays.rows import NEVER, Mask, Rows, Whole
from dovetail.kernels.pairs.results import ABSENT, UNMATCHED, Reason, code
from dovetail.kernels.settings import SideSettings
from dovetail.kernels.tables.turns import Met, Turns
from dovetail.spec.inputs import Outlet


@dataclass(frozen=True, slots=True)
class Single:
    """One side's rows that are of the result by themselves."""

    side: SideSettings
    hand: int
    rows: Rows
    since: int

    def turned(self, met: Met) -> tuple[Turns, Turns, Rows]:
        """Returns which rows go, which come, and the rows with their new counts."""
        moves = self._moves(met)
        partners = self.rows.partners.copy()
        before = (self.rows.birth < self.since) & ~self.rows.removes
        stands = self._stands(
            before[moves.row] + _running(moves.row, moves.lives) > 0,
            partners[moves.row] + _running(moves.row, moves.meets),
        )
        # Only what holds when all of one place has happened can be seen.
        last = _differs(moves.row, 1) | _differs(moves.when, 1)
        row, when, stands = moves.row[last], moves.when[last], stands[last]
        at_first = self._stands(before, partners)[row]
        stood = np.where(_differs(row, -1), at_first, np.roll(stands, 1))
        np.add.at(partners, moves.row, moves.meets)
        off, on = stood & ~stands, stands & ~stood
        return (
            self._turns(row[off], when[off]),
            self._turns(row[on], when[on]),
            self.rows.with_arrays(partners=partners),
        )

    def _moves(self, met: Met) -> _Moves:
        """Returns all that changes about the side's rows, by row and place."""
        rows, ours = self.rows, (met.pairs.left, met.pairs.right)[self.hand]
        is_row = ~rows.removes
        born = np.flatnonzero(is_row & (rows.birth >= self.since))
        dead = np.flatnonzero(is_row & (rows.death < NEVER))
        begins, stops = met.start >= self.since, met.stop < NEVER
        row = np.concatenate((ours[begins], ours[stops], born, dead))
        when = (met.start[begins], met.stop[stops], rows.birth[born], rows.death[dead])
        counts = [len(part) for part in when]
        meets, lives = (
            np.repeat(np.array(steps), counts)
            for steps in ((1, -1, 0, 0), (0, 0, 1, -1))
        )
        moments = np.concatenate(when)
        order = np.lexsort((moments, row))
        return _Moves(row[order], moments[order], meets[order], lives[order])

    def _stands(self, lives: Mask, partners: Whole) -> Mask:
        """Tells whether rows are of the result, alive or not, with so many partners."""
        if self.side.preserved:
            partnerless: Mask = lives & (partners == 0)
            return partnerless
        met: Mask = lives & (partners > 0)
        return met

    def _turns(self, row: Whole, when: Whole) -> Turns:
        """Returns rows of the side as rows of the result."""
        absent = np.full(len(row), ABSENT)
        left, right = (row, absent) if self.hand == 0 else (absent, row)
        outlet = UNMATCHED[self.hand] if self.side.preserved else Outlet.MATCHED
        outlets = np.full(len(row), code(outlet))
        reasons = np.full(len(row), code(Reason.NONE))
        counter = np.full(len(row), int(not self.side.preserved))
        return Turns(outlets, reasons, left, right, when, counter)


@dataclass(frozen=True, slots=True)
class _Moves:
    """What changes about rows: partners won or lost, the row's own birth and death."""

    row: Whole
    when: Whole
    meets: Whole
    lives: Whole


def _running(row: Whole, steps: Whole) -> Whole:
    """Returns the sum of each row's steps so far; rows stand one after the other."""
    total = np.cumsum(steps)
    starts = np.flatnonzero(_differs(row, -1))
    lengths = np.diff(np.append(starts, len(row)))
    result: Whole = total - np.repeat(total[starts] - steps[starts], lengths)
    return result


def _differs(values: Whole, step: int) -> Mask:
    """Tells where a value differs from the one before (-1) or behind it (1)."""
    differs = np.ones(len(values), bool)
    inner = values[1:] != values[:-1]
    if step < 0:
        differs[1:] = inner
    else:
        differs[:-1] = inner
    return differs
