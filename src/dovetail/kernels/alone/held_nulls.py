"""Null rows that come at once in order of arrival, beside picks that hold pairs.

    left row arrives     none of its candidates would be picked by now: its null row
    right row arrives    no left row that is there would pick it by now: its null row
    left row leaves      what is picked is known: null rows that go, then the pairs

That a pair is known so late leaves no trace of what was known when its rows came, so
the rows that have given their null row carry a flag.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from dovetail.kernels.alone.fate import Fate
from dovetail.kernels.alone.hosting import at_first_host
from dovetail.kernels.arrays.rows import (
    GIVEN,
    NULL_GIVEN,
    REMOVES,
    STATE,
    Rows,
    Whole,
    flagged,
)
from dovetail.kernels.arrays.sorting import sorted_by
from dovetail.kernels.arriving.admission import Present
from dovetail.kernels.candidates.choosing import choose, nearest_before, without_failing
from dovetail.kernels.candidates.giving import let_out
from dovetail.kernels.candidates.pairing import matches
from dovetail.kernels.candidates.picking import Picked
from dovetail.kernels.pairs.leaving import UNMATCHED, alone
from dovetail.kernels.pairs.matching import Matches, join_matches
from dovetail.kernels.settings import JoinSettings
from dovetail.spec.inputs import Change


def given_at_once(
    settings: JoinSettings, present: Present, picked: Picked, since: int
) -> Present:
    """Returns the rows with those of a step marked that give their null row at once."""
    if not settings.holds_nulls:
        return present
    every = join_matches([picked.held, picked.judged])
    matched = (_matched_left, _matched_right)
    left, right = (
        _marked(rows, since, some(settings, present, every, since))
        if side.preserved
        else rows
        for rows, side, some in zip(present.rows, settings.sides, matched, strict=True)
    )
    return replace(present, rows=(left, right))


def _marked(rows: Rows, since: int, matched: Whole) -> Rows:
    """Returns the rows with the flag on those that have come and have no match."""
    is_new = rows.birth >= since
    lonely = is_new & ~rows.has(REMOVES) & ~rows.has(STATE)
    lonely[matched] = False
    kept = np.where(is_new, rows.flags & ~NULL_GIVEN, rows.flags)
    given = flagged(lonely, NULL_GIVEN)
    return replace(rows, flags=kept | given)


def _matched_left(
    settings: JoinSettings, present: Present, every: Matches, since: int
) -> Whole:
    """Returns the left rows that have come and have a match in who was there before."""
    left, right = present.rows
    picks, is_new = settings.picks, left.birth >= since
    if picks.nearest and not picks.counts:
        return nearest_before(settings, present, picks.nearest[0], is_new).left
    was_there = right.place[every.right] < left.place[every.left]
    found = every.take(is_new[every.left] & was_there)
    choice = choose(without_failing(settings), present, found)
    return np.concatenate((choice.matches.left, choice.beyond.left))


def _matched_right(
    settings: JoinSettings, present: Present, every: Matches, since: int
) -> Whole:
    """Returns the right rows that have come and match a left row by then.

    Nothing but a `limit` stands beside right rows that give null rows: one that comes
    as one too many has matched.
    """
    left, right = present.rows
    place = right.place[every.right]
    order = sorted_by(every.left, place)
    owner = every.left[order]
    is_beyond = np.empty(len(every), bool)
    rank = np.arange(len(order)) - np.searchsorted(owner, owner)
    is_beyond[order] = rank >= settings.picks.most
    comes = (right.birth[every.right] >= since) & (place > left.place[every.left])
    fitting = matches(settings, present.rows, every.take(comes & ~is_beyond))
    return np.concatenate((every.right[comes & is_beyond], fitting.right))


def taken_back(
    settings: JoinSettings, present: Present, fate: Fate, hand: int, met: Matches
) -> Fate:
    """Returns the fate of a side's rows with the null rows that go; each goes once.

    `met` are the pairs of left rows that are judged. That of a left row goes when it is
    judged itself, that of a right row with the first left row that it matches.
    """
    rows, chosen = present.rows[hand], (met.left, met.right)[hand]
    goes = np.zeros(len(rows), bool)
    goes[chosen] = rows.has(NULL_GIVEN)[chosen]
    if hand == 1:
        goes &= rows.first != GIVEN
    number = np.flatnonzero(goes)
    back = alone(hand, number, rows.place[number], UNMATCHED[hand])
    back = replace(back, change=Change.DELETE)
    parts = (
        let_out(settings, present, back)
        if hand == 0
        else at_first_host(settings, present, back, met)
    )
    return replace(fate, leaving=(*fate.leaving, *parts), given=fate.given | goes)
