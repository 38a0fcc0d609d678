"""The pairs of two tables that a step touches: a row of theirs has come or goes."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from dovetail.kernels.arrays.rows import NEVER, Mask, Rows, Whole
from dovetail.kernels.arrival.admission import Present
from dovetail.kernels.candidates.emitted import comes
from dovetail.kernels.candidates.new_pairs import live_together
from dovetail.kernels.pairs.formulas import that_hold, truly_equal
from dovetail.kernels.pairs.matches import Matches, overlaps
from dovetail.kernels.settings import JoinSettings
from dovetail.kernels.tables.turns import Met, Standing, TableChange
from dovetail.spec.inputs import Outlet


def touched(settings: JoinSettings, present: Present, since: int) -> TableChange:
    """Returns what changes where every pair stands for itself."""
    met = _changing(settings, present.rows, since)
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
    found = Matches(rows[found.left], others[found.right])
    return _with_lives(
        sides, truly_equal(settings, sides, _near(settings, sides, found))
    )


def _changing(settings: JoinSettings, sides: tuple[Rows, Rows], since: int) -> Met:
    """Returns the pairs in which a row has come or goes, each once."""
    changes = _changes(sides, since)
    codes = np.unique(np.concatenate([*_codes(sides, changes)]))
    chosen, still = [], []
    for rows, moved in zip(sides, changes, strict=True):
        is_touched = np.isin(rows.code, codes)
        still.append(np.flatnonzero(is_touched & ~moved))
        chosen.append(np.append(still[-1], np.flatnonzero(moved)))
    left, right = (rows.take(one) for rows, one in zip(sides, chosen, strict=True))
    found = overlaps(left, right, (len(still[0]), len(still[1])))
    found = Matches(chosen[0][found.left], chosen[1][found.right])
    return _with_lives(sides, that_hold(settings, sides, _near(settings, sides, found)))


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


def _changes(sides: tuple[Rows, Rows], since: int) -> list[Mask]:
    """Tells which rows have come, or go."""
    return [(rows.birth >= since) | (rows.death < NEVER) for rows in sides]


def _codes(sides: tuple[Rows, Rows], chosen: list[Mask]) -> Iterator[Whole]:
    """Gives the key codes of the chosen rows of both sides."""
    for rows, some in zip(sides, chosen, strict=True):
        yield rows.code[some]
