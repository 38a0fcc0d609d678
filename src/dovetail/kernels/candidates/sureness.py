"""Which pairs are sure, where rows inherit lives that other rows may still end.

    x   10:00 [-----------|- - - - -      sure until 10:12, at most until 10:20
    y          10:11 [    .               they meet for sure
    y             10:15 [                 they may: the pair is open, and waits
    y                        10:20 [      they do not, for x has died

An open pair is looked at in each step until it is sure, or falls away. Until then
nothing is decided of its rows that it might change.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from dovetail.kernels.arrays.rows import BEGINNING, NEVER, Mask, Rows, Whole
from dovetail.kernels.arrival.admission import Present
from dovetail.kernels.arrival.arrival import Watch
from dovetail.kernels.candidates.emitted import meeting_times
from dovetail.kernels.lifetimes.births import ends
from dovetail.kernels.lifetimes.lives import sure_until
from dovetail.kernels.pairs.matches import NO_MATCHES, Matches, join_matches
from dovetail.kernels.pairs.memo import Memo
from dovetail.kernels.settings import JoinSettings, SideSettings


@dataclass(frozen=True, slots=True)
class Sureness:
    """Pairs that are sure, and pairs that may still fall away."""

    sure: Matches
    open_pairs: Matches = NO_MATCHES


def weighed(
    settings: JoinSettings, present: Present, memo: Memo, fresh: Matches
) -> Sureness:
    """Returns which of the new pairs, and of those that wait, are sure by now.

    Where no row inherits a life all new ones are, and none that waits is looked at.
    """
    if not settings.inherits:
        return Sureness(fresh)
    pairs = join_matches([memo.pairs(present.rows), fresh])
    pairs = pairs.take(_are_left(settings, present, pairs))
    is_sure = are_sure(settings, present, pairs)
    return Sureness(pairs.take(is_sure), pairs.take(~is_sure))


def _are_left(settings: JoinSettings, present: Present, pairs: Matches) -> Mask:
    """Tells which pairs meet before the lives end that they inherit."""
    return _meet_before(settings, present, pairs, _deaths)


def are_sure(settings: JoinSettings, present: Present, pairs: Matches) -> Mask:
    """Tells of which pairs that are left neither life can end before they meet."""
    return _meet_before(settings, present, pairs, _sure_until)


def _meet_before(
    settings: JoinSettings,
    present: Present,
    pairs: Matches,
    limit: Callable[[Present, int], Whole],
) -> Mask:
    """Tells which pairs meet before a limit of every life that is inherited."""
    when = meeting_times(present, pairs)
    before = np.ones(len(pairs), bool)
    for hand, numbers in enumerate((pairs.left, pairs.right)):
        if settings.sides[hand].inherits:
            before &= when < limit(present, hand)[numbers]
    return before


def wanted(settings: JoinSettings, present: Present, found: Sureness) -> Matches:
    """Returns the open pairs that matter: a row given once wants its earliest."""
    pairs = found.open_pairs
    if settings.gives_pairs or not len(pairs):
        return pairs
    for hand in (0, 1):
        if settings.sides[hand].once:
            rows = present.rows[hand]
            first = np.where(rows.emitted, BEGINNING, rows.met)
            met = (found.sure.left, found.sure.right)[hand]
            np.minimum.at(first, met, meeting_times(present, found.sure))
            of_row = first[(pairs.left, pairs.right)[hand]]
            pairs = pairs.take(meeting_times(present, pairs) < of_row)
    return pairs


def before_open(found: Sureness, pairs: Matches, rank: Whole, count: int) -> Mask:
    """Tells which pairs stand before all open ones of their left row.

    `rank` is the order of the right rows; `count` says how many left rows there are.
    """
    least = np.full(count, NEVER)
    np.minimum.at(least, found.open_pairs.left, rank[found.open_pairs.right])
    before: Mask = rank[pairs.right] < least[pairs.left]
    return before


def soonest_ends(side: SideSettings, rows: Rows, watch: Watch) -> Whole:
    """Returns when null rows come out, at the soonest where they inherit a life."""
    found = ends(side, rows)
    if not side.inherits:
        return found
    held = np.maximum(rows.moment, sure_until(rows, watch.holds))
    soonest: Whole = np.minimum(found, held)
    return soonest


def know_ends(side: SideSettings, rows: Rows, watch: Watch) -> Mask:
    """Tells of which rows that inherit a life its end can no longer change."""
    known: Mask = ends(side, rows) == soonest_ends(side, rows, watch)
    return known


def _deaths(present: Present, hand: int) -> Whole:
    """Returns when the lives of one side's rows end, by all that is known."""
    return present.rows[hand].death


def _sure_until(present: Present, hand: int) -> Whole:
    """Returns until when the lives of one side's rows are sure."""
    return sure_until(present.rows[hand], present.watches[hand].holds)
