"""The least row time of a row that can still come out: what is below it goes in order.

    a row that is there, death > least birth of the other side   max(birth, that)
    two rows still to come                                       max of both
    a row still to come on a side, while it can pair             max(bound, birth)
    an unmatched row whose outcome is open                          its own end
    a row still to come on a preserved side                      bound + preceding
    a row that waits                     its birth, or its end where it gives no pairs
    a pair that picks hold               its own

Keys are not looked at: what could come for one key holds back all.

Rows that wait and will be given once: some know by now whom they meet first.

    version   10:00 [-------------- ?       its bound is 10:05
    row              10:07 [####            waits, but nobody meets it before 10:07

What may come at 10:05 cannot be the row's first partner, so it is not asked for.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from dovetail.kernels.arrays.rows import BEGINNING, NEVER, Mask
from dovetail.kernels.arrival import untimed
from dovetail.kernels.arrival.admission import Present
from dovetail.kernels.candidates.emission import given_pairs
from dovetail.kernels.candidates.picks import (
    Picked,
    by_left_row,
    left_copies,
    waits_for_turn,
)
from dovetail.kernels.horizon import Horizon, meeting_times
from dovetail.kernels.lifetimes import births
from dovetail.kernels.pairs.formulas import that_hold
from dovetail.kernels.pairs.matches import Matches, overlaps
from dovetail.kernels.settings import UNLIMITED, JoinSettings
from dovetail.kernels.unmatched.outcome import Outcome


def frontier(
    horizon: Horizon,
    present: Present,
    outcomes: tuple[Outcome, Outcome],
    picked: Picked,
) -> int:
    """Returns the least row time of a result that is still to come.

    `present` are the rows as the step has marked them.
    """
    settings = horizon.settings
    open_rows = (outcomes[0].open_rows, outcomes[1].open_rows)
    times = list(_undecided(settings, present, outcomes, picked))
    for hand, side in enumerate(settings.sides):
        if side.preserved:
            times.extend(_null_rows(horizon, hand, open_rows[hand]))
    meets_out = settings.gives_pairs or settings.takes_back
    if not meets_out and not any(side.once for side in settings.sides):
        for hand in (0, 1):
            times.extend(_of_waiting(horizon, hand, NEVER))
        return min(times, default=NEVER)
    left, right = _wanting(horizon, open_rows)
    wanting = (left & ~picked.settled, right & ~picked.are_outdated(horizon))
    for hand in (0, 1):
        other = 1 - hand
        is_used = horizon.can_come(other) or len(horizon.present.rows[other]) > 0
        is_untimed = settings.sides[other].untimed and is_used
        # Who is there and wants partners was born before; where nobody is, the least
        # birth of one to come is NEVER.
        is_born = wanting[other].any() or is_untimed
        least = BEGINNING if is_born else horizon.least[other]
        times.extend(_of_waiting(horizon, hand, least))
    times.extend(_of_pairs(horizon, wanting))
    return min(times, default=NEVER)


def _undecided(
    settings: JoinSettings,
    present: Present,
    outcomes: tuple[Outcome, Outcome],
    picked: Picked,
) -> Iterator[int]:
    """Gives the least row times of what the picks have not decided."""
    if settings.gives_pairs or settings.sides[0].once:
        yield _earliest(present, _coming(settings, present, picked))
    if settings.sides[1].once:
        # A row that is out gives nothing more, whoever else it has met.
        is_out = present.rows[1].emitted | outcomes[1].given
        yield _earliest(present, picked.held.take(~is_out[picked.held.right]))
    if settings.picks.transforms and len(picked.open_over):
        null_rows = births.ends(settings.sides[0], present.rows[0])
        yield int(null_rows[picked.open_over].min())
    # Pairs that wait for nothing but to be numbered are sure: none goes back.
    if settings.takes_back and not waits_for_turn(settings) and len(picked.held):
        left, right = present.rows
        # A left row goes with the first pair that may come or, over its limit, with
        # any; a right one with the first that may match it, where none does so before.
        over = np.zeros(len(left), bool)
        over[picked.over] = True
        over = left_copies(settings, present).any(over & left.null_emitted)
        beyond, when = over[picked.held.left], meeting_times(present, picked.held)
        goes = (right.null_emitted & ~right.decided)[picked.held.right]
        is_first = goes & (when < right.met[picked.held.right])
        may_come = picked.open_pairs.take(left.null_emitted[picked.open_pairs.left])
        least = int(when[beyond | is_first].min(initial=NEVER))
        yield min(least, _earliest(present, may_come))


def _earliest(present: Present, pairs: Matches) -> int:
    """Returns the least row time of some pairs."""
    return int(meeting_times(present, pairs).min(initial=NEVER))


def _coming(settings: JoinSettings, present: Present, picked: Picked) -> Matches:
    """Returns the pairs that come out if nothing more comes, but for rows given once.

    What is skipped by then, or beyond those that are kept, holds nobody back.
    """
    picks, pairs = settings.picks, picked.open_pairs
    is_whole = not picks.skip and picks.keep == UNLIMITED
    if is_whole or not picks.waits or not settings.gives_pairs:
        return pairs
    pairs = by_left_row(settings, present, pairs)
    nothing = np.zeros(len(present.rows[0]), np.int64)
    given = given_pairs(settings, present, pairs, (nothing, nothing)).given
    return Matches(given.left, given.right)


def _null_rows(horizon: Horizon, hand: int, open_rows: Mask) -> Iterator[int]:
    """Gives the least row times of null rows, of rows here and of rows to come."""
    settings, side = horizon.settings, horizon.settings.sides[hand]
    rows, bound = horizon.present.rows[hand], horizon.bound(hand)
    times = horizon.soonest_ends(hand, rows)
    if settings.early and not (side.is_intrinsic or side.untimed):
        # Of those that were not early a row to come may end each from the bound on.
        times = np.minimum(times, np.maximum(rows.moment, bound))
    yield int(times[open_rows].min(initial=NEVER))
    if horizon.can_come(hand):
        # Null rows that come with their rows wait for nobody.
        if settings.splits_nulls:
            yield births.least_birth(side.window, bound)
        elif not side.untimed and not settings.early:
            yield births.least_end(side.window, bound)


def _wanting(horizon: Horizon, open_rows: tuple[Mask, Mask]) -> tuple[Mask, Mask]:
    """Returns which rows of each side come out with a partner that is to come."""
    left, right = (
        (
            untimed.is_replaced(rows) < (other < NEVER)
            if side.untimed
            else (rows.death > other) & (rows.death > rows.birth)
        )
        & ~rows.removes
        & (marks | (not side.once))
        for rows, other, marks, side in zip(
            horizon.present.rows,
            horizon.least[::-1],
            open_rows,
            horizon.settings.sides,
            strict=True,
        )
    )
    return left, right


def _of_waiting(horizon: Horizon, hand: int, partner: int) -> Iterator[int]:
    """Gives the least row times of what rows that wait may give, if anything.

    `partner` is the least birth of a row that they may meet.
    """
    side, rows = horizon.settings.sides[hand], horizon.waiting(hand)
    if not len(rows):
        return
    # Its birth is that of a later row, which may come from the bound on.
    soonest = np.maximum(rows.moment, horizon.bound(hand))
    born = np.where(rows.birth == NEVER, soonest, rows.birth)  # not known: not yet
    first = int(born.min())
    if partner <= first or (horizon.settings.splits_nulls and side.preserved):
        yield first
        return
    yield partner
    if side.preserved:
        if side.is_intrinsic:
            rows = rows.with_arrays(death=births.deaths(side, rows))
        least = horizon.soonest_ends(hand, rows)
        if not side.is_intrinsic and not side.inherits:
            least = np.minimum(least, np.maximum(born, horizon.bound(hand)))
        yield int(least[~rows.null_emitted].min(initial=NEVER))


def _of_pairs(horizon: Horizon, wanting: tuple[Mask, Mask]) -> Iterator[int]:
    """Gives the least row times of pairs that a row to come takes part in."""
    least, all_come = horizon.least, horizon.can_come(0) and horizon.can_come(1)
    if NEVER not in least:
        yield max(least)
    elif untimed.has_untimed(horizon.settings) and all_come:
        yield min(least)
    for hand, (rows, able) in enumerate(
        zip(horizon.present.rows, wanting, strict=True)
    ):
        other, is_able = least[1 - hand], able.any()
        if is_able:
            yield max(int(np.min(rows.birth[able])), other)
        if is_able or horizon.can_come(hand) or _want_partners(horizon, hand):
            yield max(horizon.bound(1 - hand), other)


def _want_partners(horizon: Horizon, hand: int) -> bool:
    """Tells whether a row that waits may come out with a partner that is to come.

    One that is given once does not where a row that has come is alive at its birth.
    """
    settings, present = horizon.settings, horizon.present
    waiting = horizon.waiting(hand)
    if not len(waiting) or not settings.sides[hand].once:
        return len(waiting) > 0
    sides = [horizon.widest(one) for one in (0, 1)]
    asking = sides[hand].take(slice(len(present.rows[hand]), None))
    asking = asking.take((asking.birth < asking.death) & ~asking.removes)
    # It asks for its birth alone, the first moment at which it can meet anybody.
    sides[hand] = asking.with_arrays(death=asking.birth + 1)
    left, right = sides
    found = that_hold(settings, (left, right), overlaps(left, right))
    has_met = np.zeros(len(asking), bool)
    has_met[(found.left, found.right)[hand]] = True
    return not has_met.all()
