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

from dovetail.kernels.alone.fate import Fate
from dovetail.kernels.alone.held_nulls import taken_back
from dovetail.kernels.arrays.rows import (
    NEVER,
    NULL_GIVEN,
    REMOVES,
    STATE,
    WAITS,
    Mask,
    Rows,
    Whole,
)
from dovetail.kernels.arriving.admission import Present
from dovetail.kernels.candidates.copies import Copies
from dovetail.kernels.candidates.giving import meeting_times
from dovetail.kernels.candidates.past import past
from dovetail.kernels.candidates.picking import Picked
from dovetail.kernels.pairs.leaving import UNMATCHED, Leaving, Turn, alone
from dovetail.kernels.settings import GIVEN_TIME, JoinSettings
from dovetail.spec.inputs import Change, OuterRows


def eager(
    settings: JoinSettings,
    present: Present,
    fates: tuple[Fate, Fate],
    picked: Picked,
    edge: tuple[int, tuple[int, int]],
) -> tuple[Fate, Fate]:
    """Returns the fates with null rows as early as is asked.

    The `edge` is where the step begins in the order of arrival, and what births are
    least of those to come.
    """
    if settings.outer_rows in (OuterRows.EXPIRY, OuterRows.PER_MILLISECOND):
        return fates
    since, least = edge
    if settings.event_clock:
        return _taken_back(settings, present, fates, picked, least)
    changed = [
        replace(
            fate,
            leaving=(
                *(_not_given(settings, present, part) for part in fate.leaving),
                *_at_once(settings, present, hand, since),
            ),
        )
        for hand, fate in enumerate(fates)
    ]
    if settings.holds_nulls and settings.retracts:
        changed = [
            taken_back(settings, present, fate, hand, picked.met)
            for hand, fate in enumerate(changed)
        ]
    return changed[0], changed[1]


def _taken_back(
    settings: JoinSettings,
    present: Present,
    fates: tuple[Fate, Fate],
    picked: Picked,
    least: tuple[int, int],
) -> tuple[Fate, Fate]:
    """Returns the fates with the null rows that go; each goes once."""
    if not settings.takes_back:
        return fates
    meetings = (_of_left(settings, present, picked), present.rows[1].first)
    left, right = (
        _goes(fate, present, hand, first, other)
        for hand, (fate, first, other) in enumerate(
            zip(
                fates, meetings, _to_meet(settings, present, picked, least), strict=True
            )
        )
    )
    return left, right


def _to_meet(
    settings: JoinSettings, present: Present, picked: Picked, least: tuple[int, int]
) -> tuple[Whole, Whole]:
    """Returns for each row the least time at which it may yet meet another.

    A left row that waits for others has met only if it is judged for good; its right
    rows may have met until then.
    """
    waits = settings.picks.waits
    left, right = (
        np.where(past(settings, present, hand, least), NEVER, least[1 - hand])
        for hand in (0, 1)
    )
    if waits:
        left = np.full(len(left), NEVER)
        when = meeting_times(present, picked.held)
        np.minimum.at(right, picked.held.right, when)
    return left, right


def _of_left(settings: JoinSettings, present: Present, picked: Picked) -> Whole:
    """Returns the first meetings of left rows.

    One over its limit has noted none, and has met all its candidates in all its lives.
    """
    rows, over = present.rows[0], picked.over[picked.closed[picked.over]]
    if not len(over):
        return rows.first
    is_over = np.zeros(len(rows), bool)
    is_over[over] = True
    times = np.full(len(rows), NEVER)
    np.minimum.at(times, picked.met.left, meeting_times(present, picked.met))
    times = Copies.of(settings.sides[0].window, rows).least(times)
    return np.where(is_over, times, rows.first)


def _goes(fate: Fate, present: Present, hand: int, first: Whole, other: Whole) -> Fate:
    """Returns the fate of a side's rows with the null rows that go.

    `first` are the first meetings, `other` the least ones that may come.
    """
    rows = present.rows[hand]
    has_met = rows.has(NULL_GIVEN) & (first > WAITS) & (first < NEVER)
    goes = has_met & (first <= np.maximum(rows.birth, other))
    number = np.flatnonzero(goes)
    back = alone(hand, number, first[number], UNMATCHED[hand])
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
    given = _given(settings, rows)
    new = np.flatnonzero(given & (rows.birth >= since))
    early = alone(hand, new, rows.birth[new], UNMATCHED[hand])
    yield replace(early, turn=Turn.EARLY)
    if settings.retracts and not settings.holds_nulls:
        met = np.flatnonzero(given & (since <= rows.first) & (rows.first < NEVER))
        back = alone(hand, met, rows.first[met], UNMATCHED[hand])
        order = _room(rows.place[met])
        yield replace(back, turn=Turn.PAIR, due=order, change=Change.DELETE)


def _given(settings: JoinSettings, rows: Rows) -> Mask:
    """Tells in order of arrival which rows have given their null row at once."""
    if settings.holds_nulls:
        return rows.has(NULL_GIVEN)
    return ~rows.has(STATE) & ~rows.has(REMOVES) & (rows.first > rows.birth)


def _not_given(settings: JoinSettings, present: Present, part: Leaving) -> Leaving:
    """Returns those of the rows that leave alone which have not been given at once."""
    if part.outlet not in UNMATCHED:
        return part
    hand = UNMATCHED.index(part.outlet)
    rows, chosen = present.rows[hand], (part.left, part.right)[hand]
    if settings.holds_nulls:
        return part.take(~rows.has(NULL_GIVEN)[chosen])
    return part.take(rows.has(STATE)[chosen])


def in_order_of_older(
    settings: JoinSettings, present: Present, pairs: Leaving
) -> Leaving:
    """Returns the pairs, each with room for the row that is taken back before it.

    The pairs of one newcomer stand in the order of their older rows.
    """
    if not settings.retracts or settings.holds_nulls:
        return pairs
    left, right = present.rows
    older = np.minimum(left.place[pairs.left], right.place[pairs.right])
    return replace(pairs, due=_room(older) + 1)


def _room(place: Whole) -> Whole:
    """Returns where a row that is taken back stands among the pairs of a newcomer."""
    return 2 * place
