"""The matches among all candidates of left rows, where they decide about each other.

    candidates -> too many? -> condition -> nearest

Candidates are counted before any further condition. Where they are ranked by how many
elements they share, those that share least go, all of one rank together, until no
more are left than are allowed, be it none:

    most 2    shares 3, 2, 2  ->  3 shares 3      shares 3, 3, 1  ->  both that share 3
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import assert_never

import numpy as np
import pyarrow.compute as pc

from dovetail.kernels.arrays.rows import Mask, Rows, Whole, can_meet
from dovetail.kernels.arrays.sort import sorted_by
from dovetail.kernels.arrival.admission import Present
from dovetail.kernels.candidates import meetings
from dovetail.kernels.candidates.nearest import Test, best_of, nearest_pairs
from dovetail.kernels.lifetimes.successors import starts_of
from dovetail.kernels.pairs.formulas import (
    is_true,
    matches,
    of_every_row,
    of_pairs,
    of_rows,
    that_hold,
)
from dovetail.kernels.pairs.matches import NO_MATCHES, Matches
from dovetail.kernels.settings import (
    Formula,
    JoinSettings,
    Letters,
    Nearest,
    PickSettings,
)
from dovetail.spec.picks import row_of_key
from dovetail.spec.windows import Forever


@dataclass(frozen=True, slots=True)
class Choice:
    """The matches of left rows, and the candidates of those over their limit.

    `crowd` are candidates of left rows that have too many and so no match at all.
    """

    matches: Matches
    beyond: Matches
    crowd: Matches = NO_MATCHES


def choose(settings: JoinSettings, present: Present, found: Matches) -> Choice:
    """Returns what the picks choose of all candidates of left rows.

    Two rows that meet more than once are one candidate, and all their meetings stay.
    """
    if not settings.copies_rows:
        return _choose(settings, present, found)
    # Counted once however many windows they share; what is chosen is then every meeting
    # of the pair.
    pairs = meetings.Pairs.of(settings, present.rows, found)
    choice = _choose(settings, present, pairs.once)
    width = len(present.rows[1]) + 1
    chosen, beyond, crowd = (
        found.take(pairs.among(some, width))
        for some in (choice.matches, choice.beyond, choice.crowd)
    )
    return Choice(chosen, beyond, crowd)


def _choose(settings: JoinSettings, present: Present, found: Matches) -> Choice:
    """Returns what the picks choose of candidates that meet once each."""
    counted = _counted(settings, present, found)
    met = matches(settings, present.rows, counted.matches)
    # At most one: a tuple of none is how settings say that there is no such pick.
    for nearest in settings.picks.nearest:
        rank = right_order(settings, present.rows[1])
        met = best_of(nearest, present.rows, met, rank)
    return replace(counted, matches=met)


def choose_nearest(
    settings: JoinSettings, present: Present, nearest: Nearest, wanted: Mask
) -> Choice:
    """Returns the nearest right rows of the left rows that want one."""
    sides = present.rows
    found = _nearest(
        settings, sides, nearest, wanted, lambda pairs: _passes(settings, sides, pairs)
    )
    return Choice(found, NO_MATCHES)


def nearest_before(
    settings: JoinSettings, present: Present, nearest: Nearest, wanted: Mask
) -> Matches:
    """Returns the nearest right rows of those that came before the left ones."""
    left, right = sides = present.rows

    def came_before(pairs: Matches) -> Mask:
        """Tells which pairs pass whose right rows were there."""
        was_there: Mask = right.place[pairs.right] < left.place[pairs.left]
        return was_there & _passes(settings, sides, pairs)

    return _nearest(settings, sides, nearest, wanted, came_before)


def _nearest(
    settings: JoinSettings,
    sides: tuple[Rows, Rows],
    nearest: Nearest,
    wanted: Mask,
    test: Test,
) -> Matches:
    """Returns the nearest right rows that pass, of the left rows that want one."""
    left, right = sides
    able = (can_meet(left) & wanted, can_meet(right))
    return nearest_pairs(nearest, sides, able, order_of_equals(settings, right), test)


def order_of_equals(settings: JoinSettings, rows: Rows) -> Whole:
    """Returns for each right row its rank among those that are as near as it."""
    # Of one row time their places alone tell which was first: no sort need find it.
    if all(nearest.is_row_time for nearest in settings.picks.nearest):
        return rows.place
    return right_order(settings, rows)


def right_order(settings: JoinSettings, rows: Rows) -> Whole:
    """Returns for each right row its rank among those of one left row."""
    if not settings.picks.by_time:
        return rows.place
    rank = np.empty(len(rows), np.int64)
    rank[sorted_by(row_times(settings, rows), rows.place)] = np.arange(len(rows))
    return rank


def row_times(settings: JoinSettings, rows: Rows) -> Whole:
    """Returns the row times of right rows, 0 where there is none."""
    times = rows.payload.column(settings.picks.time).view("int64")
    known = times.fill_null(0) if times.null_count else times
    counts: Whole = known.to_numpy(zero_copy_only=False)
    return counts


def _passes(settings: JoinSettings, sides: tuple[Rows, Rows], found: Matches) -> Mask:
    """Tells which pairs of equal codes live together and hold."""
    # Rows that live for ever always live together: nothing to look up.
    stays = np.ones(len(found), bool)
    if any(side.untimed or side.window != Forever() for side in settings.sides):
        stays = meetings.live_together(settings, sides, found)
    if not settings.soft and not settings.key_columns:
        return stays
    number = np.flatnonzero(stays)
    pairs = found.take(number)
    # What holds keeps its order, so that a pair is known by both its numbers.
    holding = that_hold(settings, sides, pairs)
    width = len(sides[1]) + 1
    held = np.isin(
        pairs.left * width + pairs.right,
        holding.left * width + holding.right,
        assume_unique=True,
    )
    stays[number] = held
    return stays


def _counted(settings: JoinSettings, present: Present, found: Matches) -> Choice:
    """Returns the candidates that stay, and those of left rows with too many."""
    picks = settings.picks
    if not picks.counts or not len(found):
        return Choice(found, NO_MATCHES)
    stay, over = within_limit(picks, present.rows, found)
    if picks.unmatches:
        # Of whom none are left by their ranks has no match at all.
        has_some = np.isin(found.left, found.left[stay])
        return Choice(found.take(stay), NO_MATCHES, found.take(~has_some))
    if picks.fails and over.any():
        fail(picks, present.rows, found)
    return Choice(found.take(stay), found.take(over))


class TooManyError(Exception):
    """A left row has more candidates than it may; of a worker only its words come."""

    def __init__(self, picks: PickSettings, rows: Rows, left: int, count: int) -> None:
        """Says the key of the left row, by its number, and how many candidates."""
        at = np.array([left])
        key = [str(of_rows(one, 0, rows, at, {})[0].as_py()) for one in picks.key]
        super().__init__(f"{row_of_key(key)} has {count} candidates")


def within_limit(
    picks: PickSettings, sides: tuple[Rows, Rows], found: Matches
) -> tuple[Mask, Mask]:
    """Tells which candidates stay, and which belong to a left row with too many."""
    if picks.shared:
        return _of_most_shared(picks, sides, found), np.zeros(len(found), bool)
    counts = np.bincount(found.left, minlength=len(sides[0]))
    over: Mask = counts[found.left] > picks.most
    return ~over, over


def fail(picks: PickSettings, sides: tuple[Rows, Rows], found: Matches) -> None:
    """Raises what is wrong with the left row that first has one candidate too many."""
    left, right = (
        rows.place[index]
        for rows, index in zip(sides, (found.left, found.right), strict=True)
    )
    met, older = np.maximum(left, right), np.minimum(left, right)
    # The candidate that is one too many, of each left row; the first of these is told.
    order = sorted_by(found.left, met, older)
    starts = np.searchsorted(found.left[order], found.left[order])
    last = order[np.arange(len(order)) - starts == picks.most]
    first = found.left[last[sorted_by(met[last], older[last])[0]]]
    raise TooManyError(picks, sides[0], int(first), picks.most + 1)


def _of_most_shared(
    picks: PickSettings, sides: tuple[Rows, Rows], found: Matches
) -> Mask:
    """Tells which candidates share the most, as many of them as are allowed."""
    # How many elements each pair shares, from the first without a gap.
    shared = np.zeros(len(found), np.int64)
    unbroken = np.ones(len(found), bool)
    for part in picks.shared:
        elements = _elements(part, sides, found)
        # Up to the first element that differs, unless one did in a part before.
        run = np.logical_and.accumulate(elements, axis=1) & unbroken[:, None]
        shared += run.sum(axis=1)
        unbroken &= elements.all(axis=1)
    # Best first: the place of a candidate in its run says how many are better.
    order = sorted_by(found.left, -shared)
    left, rank = found.left[order], shared[order]
    starts = starts_of(left)
    begins = np.flatnonzero(starts)[np.cumsum(starts) - 1]
    # All of one rank stay or go together: the last of them says how many there are.
    changes = starts[1:] | (rank[1:] != rank[:-1])
    lasts = np.append(np.flatnonzero(changes), len(left) - 1)
    ends = np.repeat(lasts, np.diff(np.concatenate(([-1], lasts))))
    stays = np.empty(len(found), bool)
    stays[order] = (ends - begins < picks.most) & (rank > 0)
    return stays


def _elements(
    part: Formula | Letters, sides: tuple[Rows, Rows], found: Matches
) -> Mask:
    """Returns which elements each pair has in common: one column an element."""
    match part:
        case Formula():
            return is_true(of_pairs(part, sides, found, {}))[:, None]
        case Letters(width=width):
            letters = []
            for hand, formula in enumerate((part.left, part.right)):
                texts = of_every_row(formula, hand, sides[hand])
                # Blanks fill up what is too short.
                padded = pc.utf8_slice_codeunits(pc.utf8_rpad(texts, width), 0, width)
                known = np.array(padded.to_pylist(), dtype=object)
                filled = np.where(known == None, "", known)  # noqa: E711 - one by one
                # A text of fixed width is its letters' code points, one beside the
                # other; those of a null are zeros.
                points = filled.astype(f"U{width}").view(np.uint32)
                letters.append(points.reshape(len(texts), width).astype(np.int64))
            ours, theirs = letters[0][found.left], letters[1][found.right]
            same: Mask = (ours == theirs) & (ours != 0) & (theirs != 0)
            return same
        case _:
            assert_never(part)
