"""How many candidates a left row has, and what becomes of those that are too many.

Candidates are counted before any further condition. Where they are ranked by how many
elements they share, those that share least go, all of one rank together, until no
more are left than are allowed, be it none:

    most 2    shares 3, 2, 2  ->  3 shares 3      shares 3, 3, 1  ->  both that share 3
"""

from __future__ import annotations

from typing import assert_never

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dovetail.kernels.arrays.rows import Mask, Rows, Whole
from dovetail.kernels.arrays.sort import sorted_by
from dovetail.kernels.pairs.formulas import of_every_row, of_pairs
from dovetail.kernels.pairs.matches import Matches
from dovetail.kernels.settings import Formula, Letters, PickSettings


class TooManyError(Exception):
    """A left row has more candidates than it may; `row` is its payload."""

    def __init__(self, row: pa.RecordBatch, count: int) -> None:
        """Keeps the row and how many candidates it has."""
        super().__init__(f"{count} candidates")
        self.row = row
        self.count = count


def within_limit(
    picks: PickSettings, sides: tuple[Rows, Rows], found: Matches
) -> tuple[Mask, Mask]:
    """Tells which candidates stay, and which belong to a left row with too many."""
    if picks.shared:
        return _of_most_shared(picks, sides, found), np.zeros(len(found), bool)
    counts = np.bincount(found.left, minlength=len(sides[0]))
    over: Mask = counts[found.left] > picks.most
    return ~over, over


def fail(rows: Rows, found: Matches, over: Mask) -> None:
    """Raises what is wrong with the first left row that has too many candidates."""
    chosen = found.left[over]
    first = int(chosen[np.argmin(rows.place[chosen])])
    count = int((chosen == first).sum())
    raise TooManyError(rows.payload.slice(first, 1), count)


def fail_at_first(
    picks: PickSettings, sides: tuple[Rows, Rows], found: Matches
) -> None:
    """Raises what is wrong with the left row that first has one candidate too many."""
    left, right = (
        rows.place[index]
        for rows, index in zip(sides, (found.left, found.right), strict=True)
    )
    met, older = np.maximum(left, right), np.minimum(left, right)
    order = sorted_by(found.left, met, older)
    starts = np.searchsorted(found.left[order], found.left[order])
    last = order[np.arange(len(order)) - starts == picks.most]
    first = found.left[last[sorted_by(met[last], older[last])[0]]]
    raise TooManyError(sides[0].payload.slice(int(first), 1), picks.most + 1)


def _of_most_shared(
    picks: PickSettings, sides: tuple[Rows, Rows], found: Matches
) -> Mask:
    """Tells which candidates share the most, as many of them as are allowed."""
    shared = _shared(picks, sides, found)
    order = sorted_by(found.left, -shared)
    left, rank = found.left[order], shared[order]
    starts = np.concatenate(([True], left[1:] != left[:-1]))[: len(left)]
    begins = np.flatnonzero(starts)[np.cumsum(starts) - 1]
    changes = starts[1:] | (rank[1:] != rank[:-1])
    lasts = np.append(np.flatnonzero(changes), len(left) - 1)
    ends = np.repeat(lasts, np.diff(np.concatenate(([-1], lasts))))
    stays = np.empty(len(found), bool)
    stays[order] = (ends - begins < picks.most) & (rank > 0)
    return stays


def _shared(picks: PickSettings, sides: tuple[Rows, Rows], found: Matches) -> Whole:
    """Returns how many elements each pair shares, from the first without a gap."""
    total = np.zeros(len(found), np.int64)
    unbroken = np.ones(len(found), bool)
    for part in picks.shared:
        elements = _elements(part, sides, found)
        run = np.logical_and.accumulate(elements, axis=1) & unbroken[:, None]
        total += run.sum(axis=1)
        unbroken &= elements.all(axis=1)
    return total


def _elements(
    part: Formula | Letters, sides: tuple[Rows, Rows], found: Matches
) -> Mask:
    """Returns which elements each pair has in common: one column an element."""
    match part:
        case Formula():
            truth = pc.fill_null(of_pairs(part, sides, found, {}), fill_value=False)
            whole: Mask = truth.to_numpy(zero_copy_only=False)[:, None]
            return whole
        case Letters(width=width):
            left, right = (
                _letters(formula, hand, sides[hand], width)
                for hand, formula in enumerate((part.left, part.right))
            )
            ours, theirs = left[found.left], right[found.right]
            same: Mask = (ours == theirs) & (ours != 0) & (theirs != 0)
            return same
        case _:
            assert_never(part)


def _letters(formula: Formula, hand: int, rows: Rows, width: int) -> Whole:
    """Returns the texts letter by letter, blanks filling up; a null has zeros."""
    texts = of_every_row(formula, hand, rows)
    padded = pc.utf8_slice_codeunits(pc.utf8_rpad(texts, width), 0, width)
    known = np.array(padded.to_pylist(), dtype=object)
    points = np.where(known == None, "", known).astype(f"U{width}")  # noqa: E711
    return points.view(np.uint32).reshape(len(rows), width).astype(np.int64)
