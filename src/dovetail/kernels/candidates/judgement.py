"""When it is known who matches whom: what picks ask the horizon.

Pairs are sure, or open, where rows inherit lives that other rows may still end:

    x   10:00 [-----------|- - - - -      sure until 10:12, at most until 10:20
    y          10:11 [    .               they meet for sure
    y             10:15 [                 they may: the pair is open, and waits
    y                        10:20 [      they do not, for x has died

A left row gets no more candidates though its life may still grow shorter, as soon as no
right row to come is born before its widest life ends, and none that waits could be one:

    version     10:02 [--------------) 10:14     until 10:10 others may come between
    right bound 10:17                            no right row meets it, whatever comes

A right row that is not born yet may still come before others that have met:

    right   10:01  x                 [--      its life begins when the next x comes
    right   10:02      y  [-------            y meets first, but x stands before it

A left row of an `asof` waits for nobody where no right row that is there or may come is
near enough: of versions until 10:00 none fits, and one of 10:00 would not.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from dovetail.kernels.arrays.rows import BEGINNING, NEVER, Mask, Rows, Whole, join_rows
from dovetail.kernels.arrival.admission import Present
from dovetail.kernels.candidates.choice import right_order
from dovetail.kernels.candidates.nearest import Nearby, best_of, can_improve, near
from dovetail.kernels.horizon import Horizon, meeting_times
from dovetail.kernels.lifetimes.births import deaths
from dovetail.kernels.pairs import formulas
from dovetail.kernels.pairs.matches import (
    NO_MATCHES,
    Matches,
    join_matches,
    overlaps,
)
from dovetail.kernels.pairs.memo import Memo
from dovetail.kernels.settings import JoinSettings, waits_for
from dovetail.spec.inputs import Arrival


@dataclass(frozen=True, slots=True)
class Sureness:
    """Pairs that are sure, and pairs that may still fall away."""

    sure: Matches
    open_pairs: Matches = NO_MATCHES


def weighed(horizon: Horizon, memo: Memo, fresh: Matches) -> Sureness:
    """Returns which of the new pairs, and of those that wait, are sure by now.

    Where no row inherits a life all new ones are, and none that waits is looked at.
    """
    if not horizon.settings.inherits:
        return Sureness(fresh)
    pairs = join_matches([memo.pairs(horizon.present.rows), fresh])
    # A life that has been cut short since takes its pairs along.
    pairs = pairs.take(horizon.are_left(pairs))
    are_sure = horizon.are_sure(pairs)
    return Sureness(pairs.take(are_sure), pairs.take(~are_sure))


def wanted(settings: JoinSettings, present: Present, found: Sureness) -> Matches:
    """Returns the open pairs that matter: a row given once wants its earliest."""
    pairs = found.open_pairs
    if settings.gives_pairs or not len(pairs):
        return pairs
    for hand in (0, 1):
        if settings.sides[hand].once:
            rows = present.rows[hand]
            # Of a row that is out no pair matters: none meets before the beginning.
            first = np.where(rows.emitted, BEGINNING, rows.met)
            met = (found.sure.left, found.sure.right)[hand]
            np.minimum.at(first, met, meeting_times(present, found.sure))
            of_row = first[(pairs.left, pairs.right)[hand]]
            pairs = pairs.take(meeting_times(present, pairs) < of_row)
    return pairs


def stand_before(pairs: Matches, others: Matches, rank: Whole, count: int) -> Mask:
    """Tells which pairs stand before all others of their left row.

    `rank` is the order of the right rows; `count` says how many left rows there are.
    """
    least = np.full(count, NEVER)
    np.minimum.at(least, others.left, rank[others.right])
    before: Mask = rank[pairs.right] < least[pairs.left]
    return before


def over_by_now(horizon: Horizon, best: Matches) -> Mask:
    """Tells which left rows no right row to come meets, whatever else comes.

    `best` are the pairs that are chosen by now.
    """
    settings, present, over = horizon.settings, horizon.present, horizon.past[0]
    # A table without time is met by arrival: no row time says that nobody comes.
    is_timed = not any(side.untimed for side in settings.sides)
    if not settings.event_clock or not is_timed or over.all():
        return over
    latest = horizon.latest_ends(0)
    # Its widest life ends before any right row to come is born.
    gone = ~over & (latest <= horizon.first_birth(1))
    if gone.any() and len(present.waiting[1]):
        left = present.rows[0]
        left = left.with_arrays(death=np.where(gone, latest, left.birth))
        right, found = _with_waiting(horizon, left)
        if not settings.picks.counts and len(found):
            found = _nearer(horizon, (left, right), best, found)
        gone[found.left] = False
    return over | gone


def before_unborn(horizon: Horizon, pairs: Matches) -> Mask:
    """Tells which pairs stand before all that right rows without a life may give."""
    if not _has_unborn(horizon):
        return np.ones(len(pairs), bool)
    left = horizon.present.rows[0].with_arrays(death=horizon.latest_ends(0))
    right, found = _with_waiting(horizon, left)
    return stand_before(pairs, found, right_order(horizon.settings, right), len(left))


def behind_unborn(horizon: Horizon, best: Matches) -> Mask:
    """Tells of which left rows a right row without a life may be nearer than the best.

    Nothing but an `asof` asks.
    """
    left = horizon.present.rows[0]
    is_behind = np.zeros(len(left), bool)
    if _has_unborn(horizon):
        left = left.with_arrays(death=horizon.latest_ends(0))
        right, found = _with_waiting(horizon, left)
        is_behind[_nearer(horizon, (left, right), best, found).left] = True
    return is_behind


def _has_unborn(horizon: Horizon) -> bool:
    """Tells whether right rows wait that the bound of their own side has passed.

    Their lives begin with later rows, or they wait for the bound of versions.
    """
    settings = horizon.settings
    waits = settings.sides[1].counts_later or waits_for(settings)[0]
    return waits and len(horizon.present.waiting[1]) > 0


def _with_waiting(horizon: Horizon, left: Rows) -> tuple[Rows, Matches]:
    """Returns all right rows, those that wait last, and left rows' pairs with these.

    So they are in their widest lives. Where candidates are counted an equal key will
    do.
    """
    settings, right = horizon.settings, horizon.widest(1)
    known = len(horizon.present.rows[1])  # behind them stand those that wait
    waiting = right.take(slice(known, None))
    # Too many candidates are counted before the condition: whoever has the key is one.
    hold = formulas.truly_equal if settings.picks.counts else formulas.that_hold
    found = hold(settings, (left, waiting), overlaps(left, waiting))
    return right, Matches(found.left, known + found.right)


def _nearer(
    horizon: Horizon, sides: tuple[Rows, Rows], best: Matches, found: Matches
) -> Matches:
    """Returns the pairs with right rows that wait which are nearer than the best."""
    (nearest,) = horizon.settings.picks.nearest
    rank = right_order(horizon.settings, sides[1])
    nearer = best_of(nearest, sides, join_matches([best, found]), rank)
    return nearer.take(nearer.right >= len(horizon.present.rows[1]))


def without_hopeless(settings: JoinSettings, present: Present) -> Present:
    """Returns the rows; left ones that can match nobody take part and meet nobody.

    They wait for the bound of rows whose lives later ones may end, for the nearest of
    them alone.
    """
    waiting, picks = present.waiting[0], settings.picks
    is_asof = settings.event_clock and picks.takes_nearest
    if not len(waiting) or not is_asof or not waits_for(settings)[1]:
        return present
    side = settings.sides[0]
    end = deaths(side, waiting) if side.is_intrinsic else waiting.death
    gone = _are_hopeless(Horizon(settings, present), end)
    if not gone.any():
        return present
    rows, next_place = waiting.take(gone), present.next_place
    if not settings.keeps_places and settings.arrival is not Arrival.SEQUENCE:
        # Who has no place in the order of arrival yet gets the next ones.
        rows = rows.with_arrays(place=next_place + np.arange(len(rows)))
        next_place += len(rows)
    barred = rows.with_flags(barred=np.ones(len(rows), bool))
    barred = barred.with_arrays(death=end[gone])
    # `still` speaks of rows that waited before this step; behind them stand those that
    # came in it.
    still = present.still[0].copy()
    still[still] = ~gone[: np.count_nonzero(still)]
    return replace(
        present,
        rows=(join_rows([present.rows[0], barred]), present.rows[1]),
        waiting=(waiting.take(~gone), present.waiting[1]),
        next_place=next_place,
        still=(still, present.still[1]),
    )


def _are_hopeless(horizon: Horizon, end: Whole) -> Mask:
    """Tells which left rows that wait no right row can be nearest to; they die then."""
    settings, waiting = horizon.settings, horizon.present.waiting[0]
    (nearest,) = settings.picks.nearest
    sides = (waiting, horizon.widest(1))
    gone = ~can_improve(nearest, Nearby(sides, NO_MATCHES, horizon.bound(1)))
    if not settings.sides[0].is_intrinsic:
        # Where later rows end a life it must be known.
        is_known = (waiting.death < NEVER) | (not horizon.can_come(0))
        gone &= (waiting.birth < NEVER) & is_known & ~waiting.removes
    if not horizon.can_come(1) or not gone.any():
        return gone
    left = waiting.with_arrays(death=np.where(gone, end, waiting.birth))
    found = formulas.that_hold(settings, (left, sides[1]), overlaps(left, sides[1]))
    gone[near(nearest, sides, found).left] = False
    return gone
