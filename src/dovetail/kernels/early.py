"""Null rows that do not wait for the end of their rows, and those that are taken back.

    at the end    row arrives .............. leaves: null row
    eager         row arrives: null row ... match: pair
    retracted     row arrives: null row ... match: null row deleted, pair

A row that was there from the start was never given, so it still gives its null row when
it leaves. On the clock event null rows are given by `at_once`; here is only what goes
back, at the earliest meeting of its row, once no earlier one can follow.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from dovetail.kernels.admission import Present
from dovetail.kernels.fate import WAITS, Fate
from dovetail.kernels.leaving import Change, Leaving, Outlet, Turn, alone
from dovetail.kernels.past import past
from dovetail.kernels.rows import EARLY, NEVER, REMOVES, STATE, Whole
from dovetail.kernels.settings import GIVEN_TIME, JoinSettings, Nulls

ALONE = (Outlet.LEFT_UNMATCHED, Outlet.RIGHT_UNMATCHED)


def eager(
    settings: JoinSettings,
    present: Present,
    fates: tuple[Fate, Fate],
    since: int,
    least: tuple[int, int],
) -> tuple[Fate, Fate]:
    """Returns the fates with null rows as early as is asked; new from `since` on."""
    if settings.nulls in (Nulls.AT_END, Nulls.SPLIT):
        return fates
    if settings.event_clock:
        return _taken_back(settings, present, fates, least)
    left, right = (
        replace(
            fate,
            leaving=(
                *(_not_given(present, part) for part in fate.leaving),
                *_at_once(settings, present, hand, since),
            ),
        )
        for hand, fate in enumerate(fates)
    )
    return left, right


def _taken_back(
    settings: JoinSettings,
    present: Present,
    fates: tuple[Fate, Fate],
    least: tuple[int, int],
) -> tuple[Fate, Fate]:
    """Returns the fates with the null rows that go; each goes once."""
    if not settings.takes_back:
        return fates
    left, right = (
        _goes(fate, present, hand, _least_to_meet(settings, present, hand, least))
        for hand, fate in enumerate(fates)
    )
    return left, right


def _least_to_meet(
    settings: JoinSettings, present: Present, hand: int, least: tuple[int, int]
) -> Whole:
    """Returns for each row of a side the least birth of a row to come that meets it."""
    if hand == 0 and settings.picks.waits:
        # It has met only if it is judged for good.
        return np.full(len(present.rows[0]), NEVER)
    is_past = past(settings, present, hand, least)
    return np.where(is_past, NEVER, least[1 - hand])


def _goes(fate: Fate, present: Present, hand: int, other: Whole) -> Fate:
    """Returns the fate of a side's rows with the null rows that go.

    `other` is for each row the least birth of a row to come that it may meet.
    """
    rows = present.rows[hand]
    has_met = rows.has(EARLY) & (rows.first > WAITS) & (rows.first < NEVER)
    goes = has_met & (rows.first <= np.maximum(rows.birth, other))
    number = np.flatnonzero(goes)
    back = alone(hand, number, rows.first[number], ALONE[hand])
    told = rows.hidden(GIVEN_TIME)[number]
    back = replace(back, told=told, turn=Turn.DUE, change=Change.DELETE)
    return replace(fate, leaving=(*fate.leaving, back), given=fate.given | goes)


def _at_once(
    settings: JoinSettings, present: Present, hand: int, since: int
) -> Iterator[Leaving]:
    """Gives null rows of rows that have come and meet nobody yet.

    Then those taken back of rows that were given so and now have met somebody.
    """
    rows = present.rows[hand]
    if not settings.sides[hand].preserved:
        return
    given = ~rows.has(STATE) & ~rows.has(REMOVES) & (rows.first > rows.birth)
    new = np.flatnonzero(given & (rows.birth >= since))
    early = alone(hand, new, rows.birth[new], ALONE[hand])
    yield replace(early, turn=Turn.EARLY)
    if settings.nulls is Nulls.RETRACTED:
        met = np.flatnonzero(given & (since <= rows.first) & (rows.first < NEVER))
        back = alone(hand, met, rows.first[met], ALONE[hand])
        order = _room(rows.place[met])
        yield replace(back, turn=Turn.PAIR, due=order, change=Change.DELETE)


def _not_given(present: Present, part: Leaving) -> Leaving:
    """Returns those of the rows that leave alone which have not been given at once."""
    if part.outlet not in ALONE:
        return part
    hand = ALONE.index(part.outlet)
    chosen = (part.left, part.right)[hand]
    return part.take(present.rows[hand].has(STATE)[chosen])


def in_order_of_older(
    settings: JoinSettings, present: Present, pairs: Leaving
) -> Leaving:
    """Returns the pairs, each with room for the row that is taken back before it.

    The pairs of one newcomer stand in the order of their older rows.
    """
    if settings.nulls is not Nulls.RETRACTED:
        return pairs
    left, right = present.rows
    older = np.minimum(left.place[pairs.left], right.place[pairs.right])
    return replace(pairs, due=_room(older) + 1)


def _room(place: Whole) -> Whole:
    """Returns where a row that is taken back stands among the pairs of a newcomer."""
    return 2 * place
