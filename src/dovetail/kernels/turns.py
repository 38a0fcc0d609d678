"""Which rows of a changing result come and go, and at which place of the arrival.

A pair stands while both its rows live. A null row stands while its row lives and has no
partner, a row given once while it has one, so both are known by counting partners:

    order 1    [-----------------------)
    trade 1        [----)[----)               the second replaces the first
    partners   0   1     1    0
    null row   [---)          [--------)      two stretches, none between the trades

The count stays with the row in `first`, where `NEVER` stands for none.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from dovetail.kernels.admission import Present
from dovetail.kernels.leaving import ABSENT, Outlet
from dovetail.kernels.matching import Matches, overlaps
from dovetail.kernels.pairing import that_hold
from dovetail.kernels.rows import NEVER, REMOVES, Mask, Rows, Whole
from dovetail.kernels.settings import JoinSettings, SideSettings
from dovetail.kernels.windows import Point

ALONE = (Outlet.LEFT_UNMATCHED, Outlet.RIGHT_UNMATCHED)


@dataclass(frozen=True, slots=True)
class Turns:
    """Rows of the result that all come, or all go: what they are of, and when."""

    outlet: Whole
    left: Whole
    right: Whole
    when: Whole

    def take(self, chosen: Whole | Mask) -> Turns:
        """Returns the chosen ones."""
        arrays = (self.outlet, self.left, self.right, self.when)
        return Turns(*(array[chosen] for array in arrays))


def join_turns(parts: list[Turns]) -> Turns:
    """Returns all of the parts; there must be one."""
    names = ("outlet", "left", "right", "when")
    return Turns(
        *(np.concatenate([getattr(part, name) for part in parts]) for name in names)
    )


@dataclass(frozen=True, slots=True)
class Turned:
    """What goes and what comes during a step, and the rows with their new counts."""

    gone: Turns
    come: Turns
    rows: tuple[Rows, Rows]


@dataclass(frozen=True, slots=True)
class _Met:
    """The pairs in which a row has come or goes, with their lives."""

    pairs: Matches
    start: Whole
    stop: Whole


def turned(settings: JoinSettings, present: Present, since: int) -> Turned:
    """Returns what changes about the result; rows from the place `since` on are new."""
    left, right = (
        _stored(side, rows)
        for side, rows in zip(settings.sides, present.rows, strict=True)
    )
    met = _changing(settings, (left, right), since)
    gone, come = [], []
    if settings.gives_pairs:
        ends, begins = met.stop < NEVER, met.start >= since
        gone.append(_pairs(met, met.stop, ends))
        come.append(_pairs(met, met.start, begins))
    rows = [left, right]
    for hand, side in enumerate(settings.sides):
        if side.remembers:
            off, on, rows[hand] = _Single(side, hand, rows[hand], since).turned(met)
            gone.append(off)
            come.append(on)
    return Turned(join_turns(gone), join_turns(come), (rows[0], rows[1]))


def _stored(side: SideSettings, rows: Rows) -> Rows:
    """Returns the rows as a table has them: one that is never stored has no life."""
    return rows.with_arrays(death=rows.birth) if side.window == Point() else rows


def _changing(settings: JoinSettings, sides: tuple[Rows, Rows], since: int) -> _Met:
    """Returns the pairs in which a row has come or goes, each once."""
    changes = [(rows.birth >= since) | (rows.death < NEVER) for rows in sides]
    codes = np.unique(np.concatenate([*_codes(sides, changes)]))
    chosen, still = [], []
    for rows, moved in zip(sides, changes, strict=True):
        touched = np.isin(rows.code, codes)
        still.append(np.flatnonzero(touched & ~moved))
        chosen.append(np.append(still[-1], np.flatnonzero(moved)))
    left, right = (rows.take(one) for rows, one in zip(sides, chosen, strict=True))
    found = overlaps(left, right, (len(still[0]), len(still[1])))
    found = that_hold(settings, (left, right), found) if len(found) else found
    return _Met(
        Matches(chosen[0][found.left], chosen[1][found.right]),
        np.maximum(left.birth[found.left], right.birth[found.right]),
        np.minimum(left.death[found.left], right.death[found.right]),
    )


def _codes(sides: tuple[Rows, Rows], chosen: list[Mask]) -> Iterator[Whole]:
    """Gives the key codes of the chosen rows of both sides."""
    for rows, some in zip(sides, chosen, strict=True):
        yield rows.code[some]


def _pairs(met: _Met, when: Whole, chosen: Mask) -> Turns:
    """Returns the chosen pairs as rows of the result."""
    outlet = np.full(int(chosen.sum()), int(Outlet.MATCHED))
    return Turns(outlet, met.pairs.left[chosen], met.pairs.right[chosen], when[chosen])


@dataclass(frozen=True, slots=True)
class _Single:
    """One side's rows that are of the result by themselves."""

    side: SideSettings
    hand: int
    rows: Rows
    since: int

    def turned(self, met: _Met) -> tuple[Turns, Turns, Rows]:
        """Returns which rows go, which come, and the rows with their new counts."""
        moves = self._moves(met)
        partners = np.where(self.rows.first == NEVER, 0, self.rows.first)
        before = (self.rows.birth < self.since) & ~self.rows.has(REMOVES)
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
        counts = np.where(partners == 0, NEVER, partners)
        off, on = stood & ~stands, stands & ~stood
        return (
            self._turns(row[off], when[off]),
            self._turns(row[on], when[on]),
            self.rows.with_arrays(first=counts),
        )

    def _moves(self, met: _Met) -> _Moves:
        """Returns all that changes about the side's rows, by row and place."""
        rows, ours = self.rows, (met.pairs.left, met.pairs.right)[self.hand]
        is_row = ~rows.has(REMOVES)
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
        outlet = ALONE[self.hand] if self.side.preserved else Outlet.MATCHED
        return Turns(np.full(len(row), int(outlet)), left, right, when)


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
