"""The least that can still come: births, row times of results.

    a row that is there, death > least birth of the other side   max(birth, that)
    two rows still to come                                       max of both
    a row still to come on a side, while it can pair             max(bound, birth)
    an unmatched row whose outcome is open                          its own end
    a row still to come on a preserved side                      bound + preceding
    a row that waits                     its birth, or its end where it gives no pairs

A result goes out in row-time order when its row time is not above the least of these.
Keys are not looked at: what could come for one key holds back all.

Rows that wait and will be given once: some know by now whom they meet first.

    version   10:00 [-------------- ?       its bound is 10:05
    row              10:07 [####            waits, but nobody meets it before 10:07

What may come at 10:05 cannot be the row's first partner, so it is not asked for.
"""

from __future__ import annotations

import numpy as np

from dovetail.kernels.arrays.rows import (
    BEGINNING,
    NEVER,
    Mask,
    Rows,
    Whole,
    join_rows,
)
from dovetail.kernels.arrival.admission import Present
from dovetail.kernels.arrival.arrival import Watch
from dovetail.kernels.arrival.untimed import has_untimed, is_replaced
from dovetail.kernels.candidates.closed import possible
from dovetail.kernels.candidates.sureness import soonest_ends
from dovetail.kernels.lifetimes.births import deaths, least_birth, least_end
from dovetail.kernels.pairs.formulas import that_hold
from dovetail.kernels.pairs.matches import overlaps
from dovetail.kernels.settings import JoinSettings, SideSettings


def least_births(settings: JoinSettings, present: Present) -> tuple[int, int]:
    """Returns for each side the least birth of a row that has yet to take part.

    A row without time is met by rows that come after it, by none that is there.
    """
    if not settings.event_clock:
        return present.next_place, present.next_place
    left, right = (
        min(
            NEVER
            if side.untimed or watch.bound == NEVER
            else least_birth(side.window, watch.bound),
            int(rows.birth.min()) if len(rows) else NEVER,
        )
        for side, watch, rows in zip(
            settings.sides, present.watches, map(guests, present.waiting), strict=True
        )
    )
    return left, right


def guests(rows: Rows) -> Rows:
    """Returns rows without the deletes among them, which meet nobody."""
    return rows.take(~rows.removes) if len(rows) else rows


def frontier(
    settings: JoinSettings,
    present: Present,
    least: tuple[int, int],
    open_rows: tuple[Mask, Mask],
    settled: Mask,
) -> int:
    """Returns the least row time of a result that is still to come.

    `least` births are to come; `open_rows` marks for each side the rows that may yet
    come out by themselves: unmatched and preserved, or given once and not yet out.
    `settled` left rows come out with no further partner.
    """
    wanting = _wanting(settings, present, least, open_rows)
    wanting = (wanting[0] & ~settled, wanting[1])
    partners = _partners(settings, present, least, wanting)
    waiting = [
        time
        for hand in (0, 1)
        for time in _waiting(settings, present, hand, partners[1 - hand])
    ]
    alone = [
        time
        for hand in (0, 1)
        if settings.sides[hand].preserved
        for time in _alone(settings, present, hand, open_rows[hand])
    ]
    return min([*waiting, *alone, *_paired(settings, present, least, wanting)])


def _partners(
    settings: JoinSettings,
    present: Present,
    least: tuple[int, int],
    wanting: tuple[Mask, Mask],
) -> tuple[int, int]:
    """Returns for each side the least birth of a row that one which waits may meet.

    Who is there and wants partners was born before; where nobody is it is NEVER.
    """
    if not _meets_out(settings):
        return NEVER, NEVER
    left, right = (
        BEGINNING if able.any() or (side.untimed and _is_used(present, hand)) else birth
        for hand, (side, able, birth) in enumerate(
            zip(settings.sides, wanting, least, strict=True)
        )
    )
    return left, right


def _is_used(present: Present, hand: int) -> bool:
    """Tells whether there are rows of a side, or any may come."""
    return present.watches[hand].bound < NEVER or len(present.rows[hand]) > 0


def _waiting(
    settings: JoinSettings, present: Present, hand: int, partner: int
) -> list[int]:
    """Returns the least row times of what rows that wait may give, if anything.

    `partner` is the least birth of a row that they may meet.
    """
    side, rows = settings.sides[hand], guests(present.waiting[hand])
    if not len(rows):
        return []
    soonest = np.maximum(rows.moment, present.watches[hand].bound)
    born = np.where(rows.birth == NEVER, soonest, rows.birth)  # not known: not yet
    first = int(born.min())
    if partner <= first or (settings.splits_nulls and side.preserved):
        return [first]
    return [partner, *_null_rows_of(side, rows, born, present.watches[hand])]


def _null_rows_of(
    side: SideSettings, rows: Rows, born: Whole, watch: Watch
) -> list[int]:
    """Returns the least row time of the null rows of rows that wait, if they give any.

    They are born then, or at the soonest.
    """
    gives = ~rows.null_emitted
    if not side.preserved or not gives.any():
        return []
    least = soonest_ends(side, _with_own_ends(side, rows), watch)
    if not side.is_intrinsic and not side.inherits:
        least = np.minimum(least, np.maximum(born, watch.bound))
    return [int(least[gives].min())]


def _with_own_ends(side: SideSettings, rows: Rows) -> Rows:
    """Returns rows that wait with the ends that they have by themselves."""
    if not side.is_intrinsic:
        return rows
    return rows.with_arrays(death=deaths(side, rows))


def _alone(
    settings: JoinSettings, present: Present, hand: int, open_rows: Mask
) -> tuple[int, int]:
    """Returns the least row times of null rows, of rows here and of rows to come."""
    side, bound = settings.sides[hand], present.watches[hand].bound
    rows, watch = present.rows[hand], present.watches[hand]
    times = soonest_ends(side, rows, watch)
    if settings.is_eager and not (side.is_intrinsic or side.untimed):
        # Of those that did not come so, a row to come may end each from the bound on.
        times = np.minimum(times, np.maximum(rows.moment, bound))
    times = times[open_rows]
    here = int(times.min()) if len(times) else NEVER
    # Null rows that come with their rows wait for nobody.
    if settings.splits_nulls and bound < NEVER:
        return here, least_birth(side.window, bound)
    can_end = bound < NEVER and not side.untimed and not settings.is_eager
    return here, least_end(side.window, bound) if can_end else NEVER


def _meets_out(settings: JoinSettings) -> bool:
    """Tells whether anything comes out because two rows meet."""
    gives_once = any(side.once for side in settings.sides)
    return settings.gives_pairs or gives_once or settings.takes_back


def _wanting(
    settings: JoinSettings,
    present: Present,
    least: tuple[int, int],
    open_rows: tuple[Mask, Mask],
) -> tuple[Mask, Mask]:
    """Returns which rows of each side come out with a partner that is to come."""
    left, right = (
        (is_replaced(rows) < (other < NEVER) if side.untimed else _lasts(rows, other))
        & ~rows.removes
        & (marks | (not side.once))
        for rows, other, marks, side in zip(
            present.rows, least[::-1], open_rows, settings.sides, strict=True
        )
    )
    return left, right


def _lasts(rows: Rows, moment: int) -> Mask:
    """Tells which rows are alive at some moment behind this one."""
    lasts: Mask = (rows.death > moment) & (rows.death > rows.birth)
    return lasts


def _paired(
    settings: JoinSettings,
    present: Present,
    least: tuple[int, int],
    wanting: tuple[Mask, Mask],
) -> list[int]:
    """Returns the least row times of pairs that a row to come takes part in."""
    times = [NEVER]
    if not _meets_out(settings):
        return times
    bounds = [watch.bound for watch in present.watches]
    if NEVER not in least:
        times.append(max(least))
    elif has_untimed(settings) and NEVER not in bounds:
        times.append(min(least))
    for hand in (0, 1):
        rows, other = present.rows[hand], least[1 - hand]
        able = wanting[hand]
        if able.any():
            times.append(max(int(np.min(rows.birth[able])), other))
        can_come = able.any() or bounds[hand] < NEVER
        if can_come or want_partners(settings, present, hand):
            times.append(max(bounds[1 - hand], other))
    return times


def want_partners(settings: JoinSettings, present: Present, hand: int) -> bool:
    """Tells whether a row that waits may come out with a partner that is to come.

    One that is given once does not where a row that has come is alive at its birth.
    """
    waiting = present.waiting[hand]
    waiting = waiting.take(~waiting.removes)
    if not len(waiting) or not settings.sides[hand].once:
        return len(waiting) > 0
    both = (join_rows([present.rows[one], present.waiting[one]]) for one in (0, 1))
    sides = [possible(settings, present, one, rows) for one, rows in enumerate(both)]
    first, asking = len(present.rows[hand]), sides[hand]
    asking = asking.take(slice(first, None))
    asking = asking.take((asking.birth < asking.death) & ~asking.removes)
    sides[hand] = asking.with_arrays(death=asking.birth + 1)
    left, right = sides
    found = that_hold(settings, (left, right), overlaps(left, right))
    has_met = np.zeros(len(asking), bool)
    has_met[(found.left, found.right)[hand]] = True
    return not has_met.all()
