"""Rows of a changing result: pairs and single rows, from when until when they stand.

A pair stands while both its rows live; a null row while its row lives and has no
partner, a row given once while it has one. So single rows are known by counting:

    order 1    [-----------------------)
    trade 1        [----)[----)               the second replaces the first
    pair           +    - +   -               comes, goes, comes, goes
    partners   0   1     1    0
    null row   [---)          [--------)      two stretches, none between the trades

The count stays with the row. All moments are places in the order of arrival.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dovetail.kernels.arrays.rows import NEVER, Mask, Rows, Whole
from dovetail.kernels.arrival.admission import Present
from dovetail.kernels.candidates.emission import comes
from dovetail.kernels.candidates.meetings import live_together
from dovetail.kernels.pairs import formulas, results
from dovetail.kernels.pairs.matches import Matches, overlaps
from dovetail.kernels.settings import JoinSettings, SideSettings
from dovetail.spec.inputs import Outlet

_NAMES = ("outlet", "reason", "left", "right", "when", "counter")


@dataclass(frozen=True, slots=True)
class ResultRows:
    """Rows of the result that all come, or all go: what they are of, and when.

    `outlet` and `reason` are codes; `counter` says which of its left row's pairs a pair
    is.
    """

    outlet: Whole
    reason: Whole
    left: Whole
    right: Whole
    when: Whole
    counter: Whole

    def take(self, chosen: Whole | Mask) -> ResultRows:
        """Returns the chosen ones."""
        return ResultRows(*(getattr(self, name)[chosen] for name in _NAMES))


def join_results(parts: list[ResultRows]) -> ResultRows:
    """Returns all of the parts; there must be one."""
    return ResultRows(
        *(np.concatenate([getattr(part, name) for part in parts]) for name in _NAMES)
    )


@dataclass(frozen=True, slots=True)
class Met:
    """Pairs of rows that are partners, and from when until when they are."""

    pairs: Matches
    start: Whole
    stop: Whole

    def take(self, chosen: Whole | Mask) -> Met:
        """Returns the chosen ones."""
        return Met(self.pairs.take(chosen), self.start[chosen], self.stop[chosen])


@dataclass(frozen=True, slots=True)
class Standing:
    """Rows of the result with what they are of, from when until when they stand."""

    outlet: Outlet
    met: Met
    counter: Whole
    reason: results.Reason = results.Reason.NONE

    def gone(self) -> ResultRows:
        """Returns those that go."""
        return self._at(self.met.stop).take(self.met.stop < NEVER)

    def come(self, since: int) -> ResultRows:
        """Returns those that come, from a place on."""
        return self._at(self.met.start).take(self.met.start >= since)

    def _at(self, when: Whole) -> ResultRows:
        """Returns them as rows of the result that come or go at these places."""
        outlet, reason = (
            np.full(len(when), results.code(word))
            for word in (self.outlet, self.reason)
        )
        pairs = self.met.pairs
        return ResultRows(outlet, reason, pairs.left, pairs.right, when, self.counter)


@dataclass(frozen=True, slots=True)
class TableChange:
    """What a step changes: rows that are partners by hand, rows that stand by both.

    The partners of one hand's rows decide whether these stand by themselves.
    """

    met: tuple[Met, Met]
    standing: tuple[Standing, ...]


def change_of_pairs(
    settings: JoinSettings, present: Present, since: int
) -> TableChange:
    """Returns what changes where every pair stands for itself."""
    sides = present.rows
    changes = _changes(sides, since)
    codes = np.concatenate(
        [rows.code[moved] for rows, moved in zip(sides, changes, strict=True)]
    )
    chosen, still = [], []
    for rows, moved in zip(sides, changes, strict=True):
        # Of keys of which nothing moves no row is looked at.
        number = np.flatnonzero(np.isin(rows.code, codes) & ~moved)
        still.append(len(number))
        chosen.append(np.append(number, np.flatnonzero(moved)))
    left, right = (rows.take(one) for rows, one in zip(sides, chosen, strict=True))
    # Rows that stay as they are stand first, so that no pair of two of them is found.
    found = overlaps(left, right, (still[0], still[1]))
    found = Matches(chosen[0][found.left], chosen[1][found.right])
    met = _with_lives(
        sides, formulas.that_hold(settings, sides, _near(settings, sides, found))
    )
    standing = []
    if settings.gives_pairs:
        shown = met.take(comes(settings, present, met.pairs))
        counter = np.zeros(len(shown.pairs), np.int64)
        standing.append(Standing(Outlet.MATCHED, shown, counter))
    return TableChange((met, met), tuple(standing))


def candidates_of_touched(
    settings: JoinSettings, sides: tuple[Rows, Rows], since: int
) -> Met:
    """Returns all candidates of the left rows of which one has come or goes."""
    left, right = sides
    changes = _changes(sides, since)
    rows = np.flatnonzero(changes[0] | np.isin(left.code, right.code[changes[1]]))
    others = np.flatnonzero(np.isin(right.code, left.code[rows]))
    found = overlaps(left.take(rows), right.take(others))
    found = _near(settings, sides, Matches(rows[found.left], others[found.right]))
    return _with_lives(sides, formulas.truly_equal(settings, sides, found))


def _changes(sides: tuple[Rows, Rows], since: int) -> list[Mask]:
    """Tells which rows have come, or go."""
    return [(rows.birth >= since) | (rows.death < NEVER) for rows in sides]


def _near(settings: JoinSettings, sides: tuple[Rows, Rows], found: Matches) -> Matches:
    """Returns the pairs that meet by row time too, where a window looks at it."""
    if not settings.reads_time or not len(found):
        return found
    return found.take(live_together(settings, sides, found))


def _with_lives(sides: tuple[Rows, Rows], found: Matches) -> Met:
    """Returns pairs with the stretches in which both rows live."""
    left, right = sides
    return Met(
        found,
        np.maximum(left.birth[found.left], right.birth[found.right]),
        np.minimum(left.death[found.left], right.death[found.right]),
    )


@dataclass(frozen=True, slots=True)
class Single:
    """One side's rows that are of the result by themselves."""

    side: SideSettings
    hand: int
    rows: Rows
    since: int

    def changes(self, met: Met) -> tuple[ResultRows, ResultRows, Rows]:
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
            self._results(row[off], when[off]),
            self._results(row[on], when[on]),
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
        stands: Mask = lives & ((partners == 0) == self.side.preserved)
        return stands

    def _results(self, row: Whole, when: Whole) -> ResultRows:
        """Returns rows of the side as rows of the result."""
        absent, preserved = np.full(len(row), results.ABSENT), self.side.preserved
        left, right = (row, absent) if self.hand == 0 else (absent, row)
        outlet = results.UNMATCHED[self.hand] if preserved else Outlet.MATCHED
        outlets = np.full(len(row), results.code(outlet))
        reasons = np.full(len(row), results.code(results.Reason.NONE))
        counter = np.full(len(row), int(not preserved))
        return ResultRows(outlets, reasons, left, right, when, counter)


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
    # Minus what had been summed up before the row's first step.
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
