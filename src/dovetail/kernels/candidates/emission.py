"""Pairs on their way out: numbered, tested by `skip_when`, the first so many kept."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa

from dovetail.kernels.arrays.rows import BEGINNING, NEVER, Mask, Rows, Whole
from dovetail.kernels.arrival.admission import Present
from dovetail.kernels.arrival.time_limits import last_moments
from dovetail.kernels.candidates.meetings import copies_of
from dovetail.kernels.horizon import meeting_times
from dovetail.kernels.lifetimes.births import ends
from dovetail.kernels.lifetimes.successors import starts_of
from dovetail.kernels.pairs import formulas, results
from dovetail.kernels.pairs.matches import NO_MATCHES, Matches
from dovetail.kernels.settings import JoinSettings
from dovetail.spec.inputs import Outlet

Counts = tuple[Whole, Whole]


@dataclass(frozen=True, slots=True)
class Numbered:
    """Pairs that come out, and how many each left row has had and has given by now."""

    given: results.Leaving
    counts: Counts


def plain_pairs(
    settings: JoinSettings, present: Present, met: Matches
) -> results.Leaving:
    """Returns the pairs that come out, whichever of their left row's they are."""
    if not settings.gives_pairs:
        met = NO_MATCHES
    nothing = np.zeros(len(met), np.int64)
    when = meeting_times(present, met) if settings.shows_meetings else nothing
    part = _leaving(met, when, nothing)
    return part.take(passes(settings, present, part)) if settings.picks.skip else part


def comes(settings: JoinSettings, present: Present, met: Matches) -> Mask:
    """Tells which pairs come out, whichever of their left row's they are."""
    part = _leaving(met, meeting_times(present, met), np.zeros(len(met), np.int64))
    return passes(settings, present, part)


def given_pairs(
    settings: JoinSettings, present: Present, met: Matches, counts: Counts
) -> Numbered:
    """Returns the pairs that come out of pairs by left row, each one's in their order.

    `counts` are those of all pairs before; what is skipped is numbered, not kept. A
    pair that meets more than once is numbered each time, and kept once.
    """
    partners, given = counts
    left, right = copies_of(settings, present.rows)
    owner, partner = left.owners(met.left), right.owners(met.right)
    begins = starts_of(owner)
    # For each pair where those of its left row begin: they stand side by side.
    starts: Whole = np.flatnonzero(begins)[np.cumsum(begins) - 1]
    # A pair that meets in several windows stands there as often, side by side.
    is_first = begins | starts_of(partner)
    counter = _ranks(np.ones(len(met), bool), starts) + partners[met.left]
    part = _leaving(met, meeting_times(present, met), counter)
    shown = passes(settings, present, part)
    counts_once = is_first & _any_of(shown, is_first)
    kept = _ranks(counts_once, starts) + given[met.left] <= settings.picks.keep
    had = partners + left.sums(met.left)
    out = given + left.sums(met.left[counts_once & kept])
    return Numbered(part.take(shown & kept), (had, out))


def not_skipped(
    settings: JoinSettings, sides: tuple[Rows, Rows], part: results.Leaving
) -> results.Leaving:
    """Returns those of the one-sided rows which `skip_when` does not take.

    Pairs that come late have been asked already.
    """
    if part.turn is results.Turn.LATE_PAIR and part.outlet is Outlet.MATCHED:
        return part
    for skip in settings.picks.skip if len(part.when) else ():
        # All rows of a part are of one hand, so the first one tells which.
        hand = int(part.left[0] == results.ABSENT)
        is_over = part.reason is results.Reason.OVER_LIMIT
        formula = skip.over if is_over else skip.unmatched[hand]
        chosen = part.right if hand else part.left
        bare = {"row_time": _times(settings, part.shown_time)}
        skipped = formulas.of_rows(formula, hand, sides[hand], chosen, bare)
        return part.take(~formulas.is_true(skipped))
    return part


def let_out(
    settings: JoinSettings, present: Present, part: results.Leaving
) -> list[results.Leaving]:
    """Returns pairs, or rows given once, at the moment at which they leave.

    In order of arrival a pair that has waited leaves with its left row.
    """
    if not settings.pairs_wait or not len(part.when):
        return [part]
    left = present.rows[0]
    is_due = left.due[part.left]
    due, plain = part.take(is_due), part.take(~is_due)
    # Left rows that time has passed go ahead of who moved it, the others at their ends.
    last = last_moments(settings, 0, left)[due.left]
    when = ends(settings.sides[0], left)[plain.left]
    plain = replace(
        plain, when=when, turn=results.Turn.UNMATCHED, host=left.place[plain.left]
    )
    when, host = left.death[due.left], left.place[due.left]
    return [plain, replace(due, when=when, turn=results.Turn.DUE, due=last, host=host)]


def over_limit(
    settings: JoinSettings, present: Present, over: Whole
) -> list[results.Leaving]:
    """Returns the rows that stand for left rows with too many candidates."""
    if not settings.picks.transforms:
        return []
    when = ends(settings.sides[0], present.rows[0])[over]
    stand_in = results.one_sided(
        0, over, when, Outlet.MATCHED, results.Reason.OVER_LIMIT
    )
    return let_out(settings, present, stand_in)


def _leaving(met: Matches, when: Whole, counter: Whole) -> results.Leaving:
    """Returns pairs as they leave."""
    due = np.zeros_like(when)
    rows = (met.left, met.right)
    others = (*rows, when, due, counter, when, np.full(len(when), results.ABSENT))
    return results.Leaving(
        Outlet.MATCHED, results.Reason.NONE, results.Turn.PAIR, *others
    )


def passes(settings: JoinSettings, present: Present, part: results.Leaving) -> Mask:
    """Tells which pairs `skip_when` lets out."""
    for skip in settings.picks.skip:
        pairs = Matches(part.left, part.right)
        counter = pa.array(part.counter)
        bare = {"row_time": _times(settings, part.when), "counter": counter}
        return ~formulas.is_true(
            formulas.of_pairs(skip.pair, present.rows, pairs, bare)
        )
    return np.ones(len(part.when), bool)


def _any_of(marks: Mask, is_first: Mask) -> Mask:
    """Tells of each run, and all in it, whether any of it is marked."""
    if is_first.all():
        return marks
    run = np.cumsum(is_first) - 1
    is_marked = np.bincount(run[marks], minlength=int(run[-1]) + 1) > 0
    of_runs: Mask = is_marked[run]
    return of_runs


def _ranks(counted: Mask, starts: Whole) -> Whole:
    """Returns how many pairs of the left row count, from its first up to each.

    `starts` says for each pair where its left row's begin.
    """
    # Counted through all rows at once; what stands before a left row's first is taken
    # away.
    until = np.concatenate(([0], np.cumsum(counted)))
    ranks: Whole = until[1:] - until[starts]
    return ranks


def _times(settings: JoinSettings, when: Whole) -> pa.Array:
    """Returns moments as timestamps, null where there are none."""
    # In order of arrival moments are places, which nobody is shown.
    unknown = (when == NEVER) | (when <= BEGINNING) | (not settings.event_clock)
    return pa.array(when, mask=unknown).cast(pa.timestamp("us", tz="UTC"))
