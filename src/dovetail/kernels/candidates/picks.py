"""Which of a left row's candidates count: one stage between pairs and emission.

    new candidates -+                        +-> met: they have a partner
                    +-> choose -> is it sure?+-> number -> skipped? -> first n -> out
    waiting pairs --+                 |
          ^---------------------------+ no

A pair waits while one that is still to come may decide about it. Where candidates are
counted or the nearest is taken, that is until its left row is closed; where the first
are kept on the event clock, until the bound has passed its right row; where pairs are
only numbered, until it is its turn to come out. Windows are not known here.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from dovetail.kernels.arrays.rows import NEVER, Mask, Whole
from dovetail.kernels.arrays.sort import sorted_by
from dovetail.kernels.arrival.admission import Present
from dovetail.kernels.candidates import emission, meetings
from dovetail.kernels.candidates.choice import (
    Choice,
    choose,
    choose_nearest,
    order_of_equals,
    right_order,
    row_times,
)
from dovetail.kernels.candidates.judgement import (
    Sureness,
    before_unborn,
    behind_unborn,
    over_by_now,
    stand_before,
    wanted,
    weighed,
)
from dovetail.kernels.candidates.nearest import Nearby, outdated_by, settled_by
from dovetail.kernels.horizon import Horizon, meeting_times
from dovetail.kernels.pairs.formulas import matches
from dovetail.kernels.pairs.matches import NO_MATCHES, Matches, join_matches
from dovetail.kernels.pairs.memo import Memo
from dovetail.kernels.pairs.results import Leaving
from dovetail.kernels.settings import JoinSettings


def _nobody() -> Whole:
    """Returns the numbers of no rows."""
    return np.empty(0, np.int64)


@dataclass(frozen=True, slots=True)
class Picked:
    """What a step's candidates come to.

    `met` have met, `given` come out, `held` wait. Of the held ones `open_pairs` may
    come out, but it is not sure. `over` are left rows with too many candidates, each
    once in `judged_over` where it is closed, else in `open_over`. `closed` left rows
    are judged for good, by the end of their lives or because the bound of right times
    is `settled_by`; right ones of which the left times' bound is `outdated_by` can be
    taken by none. `settled` ones come out with no further partner. `crowded` left rows
    have no match because they have too many candidates. `counts` are those of left
    rows, `judged` all candidates of closed ones.
    """

    met: Matches
    given: Leaving
    closed: Mask
    settled: Mask
    crowded: Mask
    counts: tuple[Whole, Whole]
    settled_by: Whole
    outdated_by: Whole
    held: Matches = NO_MATCHES
    open_pairs: Matches = NO_MATCHES
    over: Whole = field(default_factory=_nobody)
    judged_over: Whole = field(default_factory=_nobody)
    open_over: Whole = field(default_factory=_nobody)
    judged: Matches = NO_MATCHES

    def are_outdated(self, horizon: Horizon) -> Mask:
        """Tells which right rows no left row to come takes."""
        outdated: Mask = self.outdated_by <= min(horizon.bound(0), NEVER - 1)
        return outdated

    def count_met(self, present: Present) -> tuple[int, int]:
        """Returns how many rows of each side have met somebody, each counted once."""
        found = []
        for numbers, rows in zip(
            (self.met.left, self.met.right), present.rows, strict=True
        ):
            has_met = np.zeros(len(rows), bool)
            has_met[numbers] = True
            found.append(int(np.count_nonzero(has_met)))
        left, right = found
        return left, right


def pick(horizon: Horizon, memo: Memo) -> Picked:
    """Returns what becomes of the candidates of a step."""
    settings, present = horizon.settings, horizon.present
    if settings.picks.waits:
        return _judged(horizon, memo)
    fresh = matches(settings, present.rows, meetings.candidates(settings, present))
    known = weighed(horizon, memo, fresh)
    if settings.picks.ranks and settings.gives_pairs:
        return _first(horizon, memo, known)
    picked = _picked(
        horizon, known.sure, emission.plain_pairs(settings, present, known.sure)
    )
    if not len(known.open_pairs):
        return picked
    held = wanted(settings, present, known)
    return replace(picked, held=held, open_pairs=held)


def at_turn(horizon: Horizon, picked: Picked, frontier: int) -> Picked:
    """Returns what is picked with those pairs numbered whose turn it is to come out."""
    settings, present = horizon.settings, horizon.present
    if not waits_for_turn(settings):
        return picked
    # Up to the frontier nothing can come that would take a number before these.
    due = meeting_times(present, picked.held) <= frontier
    if settings.inherits:
        due &= horizon.are_sure(picked.held)
    turn = picked.held.take(due)
    places = [
        rows.place[index]
        for rows, index in zip(present.rows, (turn.left, turn.right), strict=True)
    ]
    owner = left_copies(settings, present).owners(turn.left)
    # Rows that meet a table's row late come behind those that are there with it.
    is_late = (~meetings.live_together(settings, present.rows, turn)).astype(np.int64)
    order = (owner, meeting_times(present, turn), is_late, np.maximum(*places))
    turn = turn.take(sorted_by(*order, np.minimum(*places)))
    numbered = emission.given_pairs(settings, present, turn, picked.counts)
    held = picked.held.take(~due)
    return replace(picked, given=numbered.given, held=held, counts=numbered.counts)


def with_counts(settings: JoinSettings, present: Present, picked: Picked) -> Present:
    """Returns the rows, left ones with the numbers of pairs they have had by now."""
    if not settings.counts_pairs:
        return present
    partners, given = picked.counts
    left = present.rows[0].with_arrays(partners=partners, given=given)
    return replace(present, rows=(left, present.rows[1]))


def remembered(settings: JoinSettings, picked: Picked) -> Matches:
    """Returns the pairs that wait and are not found again, as those of an `asof`."""
    return NO_MATCHES if _finds_again(settings) else picked.held


def _finds_again(settings: JoinSettings) -> bool:
    """Tells whether the nearest rows are looked for anew, of all that are there."""
    return settings.picks.takes_nearest and not settings.copies_rows


def waits_for_turn(settings: JoinSettings) -> bool:
    """Tells whether pairs are numbered as they come out."""
    return settings.ordered and settings.picks.by_turn and settings.gives_pairs


def _picked(horizon: Horizon, met: Matches, given: Leaving) -> Picked:
    """Returns what is picked where nothing waits."""
    left, right = map(len, horizon.present.rows)
    nobody, nothing = np.zeros(left, bool), np.zeros(left, np.int64)
    # Without an `asof` no bound settles or outdates anybody.
    ends = np.full(left, NEVER), np.full(right, NEVER)
    past, counts = horizon.past[0], (nothing, nothing)
    return Picked(met, given, past, nobody, nobody, counts, *ends)


def _first(horizon: Horizon, memo: Memo, known: Sureness) -> Picked:
    """Returns what is picked where a left row's pairs are numbered, or some kept."""
    settings, present = horizon.settings, horizon.present
    counts = present.rows[0].partners, present.rows[0].given
    picked = _picked(
        horizon, known.sure, emission.plain_pairs(settings, present, NO_MATCHES)
    )
    # What is inherited has already been asked with the pairs that wait: see `weighed`.
    waiting = known.open_pairs if settings.inherits else memo.pairs(present.rows)
    pairs = join_matches([waiting, known.sure])
    if waits_for_turn(settings):
        return replace(picked, held=pairs, open_pairs=known.open_pairs, counts=counts)
    is_sure = np.ones(len(pairs), bool)
    if settings.picks.by_time:
        # Until the bound has passed a right row, others may come before it.
        times = row_times(settings, present.rows[1])[pairs.right]
        is_sure = (times <= horizon.bound(1)) & before_unborn(horizon, pairs)
    if len(known.open_pairs):
        rank = right_order(settings, present.rows[1])
        count = len(present.rows[0])
        is_sure &= stand_before(pairs, known.open_pairs, rank, count)
    # Only what nothing can come before has its number for good.
    sure = by_left_row(settings, present, pairs.take(is_sure))
    numbered = emission.given_pairs(settings, present, sure, counts)
    full = numbered.counts[1] >= settings.picks.keep
    held = pairs.take(~is_sure)
    held = held.take(~full[held.left])  # a row that has all it keeps wants no more
    return replace(
        picked,
        given=numbered.given,
        held=held,
        open_pairs=held,
        settled=full,
        counts=numbered.counts,
    )


def _judged(horizon: Horizon, memo: Memo) -> Picked:
    """Returns what is picked where candidates decide about each other."""
    settings, present = horizon.settings, horizon.present
    every, choice = _chosen(settings, present, memo)
    # An `asof` alone knows a bound from which on nobody nearer comes. The best of a row
    # is one for all its copies, so it is asked of their owner.
    copies = left_copies(settings, present)
    if not settings.event_clock or not settings.picks.takes_nearest:
        settled = np.full(len(present.rows[0]), NEVER)
    else:
        chosen = Matches(copies.owners(choice.matches.left), choice.matches.right)
        best = Nearby(present.rows, chosen, horizon.bound(1))
        settled = copies.of_owners(settled_by(settings.picks.nearest[0], best))
    closed = _closed(horizon, choice, settled)
    closed |= present.rows[0].partners > 0  # before, and others count it still
    is_over = _left_rows(settings, present, choice.beyond)
    judged = choice.matches.take(closed[choice.matches.left])
    beyond = choice.beyond.take(closed[choice.beyond.left])
    held = every.take(~closed[every.left])
    may_come = choice.matches.take(~closed[choice.matches.left])
    shown = judged if settings.gives_pairs else NO_MATCHES
    shown = by_left_row(settings, present, shown)
    nothing = np.zeros(len(present.rows[0]), np.int64)
    # A right row given once comes out by meeting a left one, be that over its limit.
    wants_more = is_over & settings.sides[1].once
    # Who stays because it counts among others is not judged a second time.
    judged_once = closed & settings.event_clock
    left, rank = present.rows[0], order_of_equals(settings, present.rows[1])
    # Of a row in several windows the last copy stands for all: it leaves last.
    is_last = left_copies(settings, present).are_last(left.birth)
    return Picked(
        met=join_matches([judged, beyond]),
        given=emission.given_pairs(settings, present, shown, (nothing, nothing)).given,
        held=held,
        open_pairs=may_come,
        over=np.flatnonzero(is_over),
        judged_over=np.flatnonzero(is_over & closed & is_last),
        open_over=np.flatnonzero(is_over & ~closed & is_last),
        closed=closed,
        settled=closed | (is_over & ~wants_more),
        crowded=_left_rows(settings, present, choice.crowd),
        counts=(judged_once.astype(np.int64), nothing),
        judged=every.take(closed[every.left]),
        settled_by=settled,
        outdated_by=outdated_by(settings, present, closed, rank),
    )


def _chosen(
    settings: JoinSettings, present: Present, memo: Memo
) -> tuple[Matches, Choice]:
    """Returns the candidates that are remembered, and what is chosen of them.

    Of an `asof` alone no more than the best has to be remembered.
    """
    picks = settings.picks
    if _finds_again(settings):
        wanted = np.ones(len(present.rows[0]), bool)
        if settings.sides[1].static and not settings.event_clock:
            wanted[: present.old[0]] = False  # they were judged when they came
        wanted &= present.rows[0].partners == 0
        choice = choose_nearest(settings, present, picks.nearest[0], wanted)
        return choice.matches, choice
    every = join_matches(
        [memo.pairs(present.rows), meetings.candidates(settings, present)]
    )
    return every, choose(settings, present, every)


def _closed(horizon: Horizon, choice: Choice, settled: Whole) -> Mask:
    """Tells which left rows are judged for good: none of their copies gets more.

    What stands for one over its limit comes out at its end, so that must be known.
    """
    settings, present = horizon.settings, horizon.present
    copies = left_copies(settings, present)
    by_now = over_by_now(horizon, choice.matches).copy()
    if settings.picks.transforms:
        beyond = choice.beyond.left
        # Its stand-in tells the row's end, and a life without one has none to tell.
        waits = beyond[present.rows[0].death[beyond] == NEVER]
        by_now[waits] = (horizon.past[0] & horizon.know_ends(0))[waits]
    over = ~copies.any(~by_now)
    if settings.sides[1].static and not settings.event_clock:
        return np.ones(len(over), bool)
    if not settings.event_clock or settings.picks.counts:
        return over
    # A nearer right row may come until the bound is past all that would be nearer.
    is_open = horizon.bound(1) < settled
    return over | ~(is_open | behind_unborn(horizon, choice.matches))


def by_left_row(settings: JoinSettings, present: Present, met: Matches) -> Matches:
    """Returns the pairs by left row, each one's by the order of its right rows."""
    left = left_copies(settings, present).owners(met.left)
    if not len(left) or int(np.bincount(left).max()) == 1:
        return met
    rank = right_order(settings, present.rows[1])[met.right]
    # Mostly pairs are found in this order: a look costs less than a sort.
    same = left[1:] == left[:-1]
    if bool((~same | (rank[1:] > rank[:-1])).all()):
        # In order where they stand together; so each left row may begin but once.
        firsts = left[np.concatenate(([True], ~same))[: len(left)]]
        if int(np.bincount(firsts).max()) == 1:
            return met
    return met.take(sorted_by(left, rank))


def _left_rows(settings: JoinSettings, present: Present, pairs: Matches) -> Mask:
    """Tells which left rows some pairs are of, all copies of each."""
    is_one = np.zeros(len(present.rows[0]), bool)
    is_one[pairs.left] = True
    return left_copies(settings, present).any(is_one)


def left_copies(settings: JoinSettings, present: Present) -> meetings.Copies:
    """Returns the copies among the left rows."""
    return meetings.Copies.of(settings.sides[0].window, present.rows[0])
