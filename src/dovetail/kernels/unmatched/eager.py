"""Null rows that do not wait for the end of their rows, and those that are taken back.

    at the end    row arrives .............. leaves: null row
    eager         row arrives: null row ... match: pair
    retracted     row arrives: null row ... match: null row deleted, pair

A row that was there from the start was never given, so it still gives its null row when
it leaves. On the clock event null rows are given by `at_once`; here is only what goes
back, at the earliest meeting of its row, once no earlier one can follow.

Null rows that come at once in order of arrival, beside picks that hold pairs.

    left row arrives     none of its candidates would be picked by now: its null row
    right row arrives    no left row that is there would pick it by now: its null row
    left row leaves      what is picked is known: null rows that go, then the pairs

That a pair is known so late leaves no trace of what was known when its rows came, so
the rows that have given their null row carry a flag.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from dovetail.kernels.arrays.rows import (
    NEVER,
    Mask,
    Rows,
    Whole,
)
from dovetail.kernels.arrays.sort import sorted_by
from dovetail.kernels.arrival.admission import Present
from dovetail.kernels.candidates.choice import choose, nearest_before, without_failing
from dovetail.kernels.candidates.copies import Copies
from dovetail.kernels.candidates.emitted import let_out
from dovetail.kernels.candidates.picks import Picked
from dovetail.kernels.horizon import Horizon, meeting_times
from dovetail.kernels.pairs.formulas import matches
from dovetail.kernels.pairs.matches import Matches, join_matches
from dovetail.kernels.pairs.results import UNMATCHED, Leaving, Turn, alone
from dovetail.kernels.settings import GIVEN_TIME, JoinSettings
from dovetail.kernels.unmatched.outcome import Outcome, at_first_host
from dovetail.spec.inputs import Change, OuterRows


def eager(
    horizon: Horizon,
    present: Present,
    outcomes: tuple[Outcome, Outcome],
    picked: Picked,
    since: int,
) -> tuple[Outcome, Outcome]:
    """Returns the outcomes with null rows as early as is asked.

    `since` is where the step begins in the order of arrival.
    """
    settings = horizon.settings
    if settings.outer_rows in (OuterRows.EXPIRY, OuterRows.PER_MILLISECOND):
        return outcomes
    if settings.event_clock:
        return _taken_back(horizon, present, outcomes, picked)
    changed = [
        replace(
            outcome,
            leaving=(
                *(_not_given(settings, present, part) for part in outcome.leaving),
                *_at_once(settings, present, hand, since),
            ),
        )
        for hand, outcome in enumerate(outcomes)
    ]
    if settings.holds_nulls and settings.retracts:
        changed = [
            taken_back(settings, present, outcome, hand, picked.met)
            for hand, outcome in enumerate(changed)
        ]
    return changed[0], changed[1]


def _taken_back(
    horizon: Horizon,
    present: Present,
    outcomes: tuple[Outcome, Outcome],
    picked: Picked,
) -> tuple[Outcome, Outcome]:
    """Returns the outcomes with the null rows that go; each goes once."""
    settings = horizon.settings
    if not settings.takes_back:
        return outcomes
    meetings = (_of_left(settings, present, picked), _open_meetings(present.rows[1]))
    left, right = (
        _goes(outcome, present, hand, first, other)
        for hand, (outcome, first, other) in enumerate(
            zip(
                outcomes,
                meetings,
                _to_meet(horizon, picked),
                strict=True,
            )
        )
    )
    return left, right


def _to_meet(horizon: Horizon, picked: Picked) -> tuple[Whole, Whole]:
    """Returns for each row the least time at which it may yet meet another.

    A left row that waits for others has met only if it is judged for good; its right
    rows may have met until then.
    """
    left, right = (
        np.where(horizon.past[hand], NEVER, horizon.least[1 - hand]) for hand in (0, 1)
    )
    if horizon.settings.picks.waits:
        left = np.full(len(left), NEVER)
        when = meeting_times(horizon.present, picked.held)
        np.minimum.at(right, picked.held.right, when)
    return left, right


def _of_left(settings: JoinSettings, present: Present, picked: Picked) -> Whole:
    """Returns the first meetings of left rows.

    One over its limit has noted none, and has met all its candidates in all its lives.
    """
    rows, over = present.rows[0], picked.over[picked.closed[picked.over]]
    if not len(over):
        return _open_meetings(rows)
    is_over = np.zeros(len(rows), bool)
    is_over[over] = True
    times = np.full(len(rows), NEVER)
    np.minimum.at(times, picked.met.left, meeting_times(present, picked.met))
    times = Copies.of(settings.sides[0].window, rows).least(times)
    return np.where(is_over, times, _open_meetings(rows))


def _open_meetings(rows: Rows) -> Whole:
    """Returns the first meetings of rows of which these still decide something."""
    return np.where(rows.decided, NEVER, rows.met)


def _goes(
    outcome: Outcome, present: Present, hand: int, first: Whole, other: Whole
) -> Outcome:
    """Returns the outcome of a side's rows with the null rows that go.

    `first` are the first meetings, `other` the least ones that may come.
    """
    rows = present.rows[hand]
    has_met = rows.null_emitted & (first < NEVER)
    goes = has_met & (first <= np.maximum(rows.birth, other))
    number = np.flatnonzero(goes)
    back = alone(hand, number, first[number], UNMATCHED[hand])
    told = rows.hidden(GIVEN_TIME)[number]
    back = replace(back, told=told, turn=Turn.DUE, change=Change.DELETE)
    return replace(
        outcome, leaving=(*outcome.leaving, back), given=outcome.given | goes
    )


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
        met = np.flatnonzero(given & (since <= rows.met) & (rows.met < NEVER))
        back = alone(hand, met, rows.met[met], UNMATCHED[hand])
        order = _room(rows.place[met])
        yield replace(back, turn=Turn.PAIR, due=order, change=Change.DELETE)


def _given(settings: JoinSettings, rows: Rows) -> Mask:
    """Tells in order of arrival which rows have given their null row at once."""
    if settings.holds_nulls:
        return rows.null_emitted
    never_met = ~rows.decided & (rows.met > rows.birth)
    return never_met & ~rows.from_start & ~rows.removes


def _not_given(settings: JoinSettings, present: Present, part: Leaving) -> Leaving:
    """Returns those of the rows that leave alone which have not been given at once."""
    if part.outlet not in UNMATCHED:
        return part
    hand = UNMATCHED.index(part.outlet)
    rows, chosen = present.rows[hand], (part.left, part.right)[hand]
    if settings.holds_nulls:
        return part.take(~rows.null_emitted[chosen])
    return part.take(rows.from_start[chosen])


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
    lonely = is_new & ~rows.removes & ~rows.from_start
    lonely[matched] = False
    return rows.with_flags(null_emitted=np.where(is_new, lonely, rows.null_emitted))


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
    settings: JoinSettings, present: Present, outcome: Outcome, hand: int, met: Matches
) -> Outcome:
    """Returns the outcome of a side's rows with the null rows that go; each goes once.

    `met` are the pairs of left rows that are judged. That of a left row goes when it is
    judged itself, that of a right row with the first left row that it matches.
    """
    rows, chosen = present.rows[hand], (met.left, met.right)[hand]
    goes = np.zeros(len(rows), bool)
    goes[chosen] = rows.null_emitted[chosen]
    if hand == 1:
        goes &= ~rows.emitted
    number = np.flatnonzero(goes)
    back = alone(hand, number, rows.place[number], UNMATCHED[hand])
    back = replace(back, change=Change.DELETE)
    parts = (
        let_out(settings, present, back)
        if hand == 0
        else at_first_host(settings, present, back, met)
    )
    return replace(
        outcome, leaving=(*outcome.leaving, *parts), given=outcome.given | goes
    )
