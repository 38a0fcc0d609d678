"""Who has a match by now, where picks decide about pairs, on the clock `event`.

A pair is sure once bounds say that its rows meet. What is sure counts; a pair that is
not may still be picked beside what is sure. So each newcomer is judged by the pairs
that were sure at its own place, whatever came with it:

    place            4           5         6
    left row         R1 sure               R2 sure      may have 1 candidate
    right row R3                 comes                  it is one too many beside R1
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from dovetail.kernels.arrays.rows import Mask, Rows, Whole
from dovetail.kernels.arrays.sort import sorted_by
from dovetail.kernels.arrival.admission import Present
from dovetail.kernels.arrival.news import News
from dovetail.kernels.candidates.choice import choose, without_failing
from dovetail.kernels.candidates.copies import Copies, Pairs, copies_of, places_of
from dovetail.kernels.candidates.new_pairs import candidates
from dovetail.kernels.horizon import meeting_times, sure_below
from dovetail.kernels.pairs.formulas import matches, truly_equal
from dovetail.kernels.pairs.matches import NO_MATCHES, Matches, join_matches
from dovetail.kernels.settings import JoinSettings
from dovetail.kernels.state import JoinState


@dataclass(frozen=True, slots=True)
class Candidates:
    """Candidates, each of a newcomer and a row that is there as it comes.

    `sure` are those of which nothing that comes changes that they meet.
    """

    pairs: Matches
    sure: Mask

    @classmethod
    def of(
        cls,
        settings: JoinSettings,
        sides: tuple[Rows, Rows],
        pairs: Matches,
        sure: Mask,
    ) -> Candidates:
        """Returns the candidates among pairs of equal codes."""
        known, open_ones = (
            truly_equal(settings, sides, pairs.take(marks)) for marks in (sure, ~sure)
        )
        marks = np.arange(len(known) + len(open_ones)) < len(known)
        return cls(join_matches([known, open_ones]), marks)


def matched_left(settings: JoinSettings, present: Present, found: Candidates) -> Whole:
    """Returns the left newcomers that have a match.

    One that has too many candidates for sure has matched; what fails, fails elsewhere.
    """
    settings = without_failing(settings)
    # Where nothing is counted one that is near enough will do.
    sure = found.sure | (not settings.picks.counts)
    known = choose(settings, present, found.pairs.take(sure))
    rows = present.rows[0]
    is_over = np.zeros(len(rows), bool)
    is_over[known.beyond.left] = True
    is_matched = Copies.of(settings.sides[0].window, rows).any(is_over)
    is_matched[known.matches.left] = True
    is_matched[_beside(settings, present, Candidates(found.pairs, sure))] = True
    return np.flatnonzero(is_matched)


def _beside(settings: JoinSettings, present: Present, found: Candidates) -> Whole:
    """Returns the left rows of pairs that are not sure and may still be picked.

    Each such pair is tried alone beside what is sure of its left row.
    """
    trials, known = found.pairs.take(~found.sure), found.pairs.take(found.sure)
    if not len(trials):
        return trials.left
    known = known.take(np.argsort(known.left, kind="stable"))
    begins = np.searchsorted(known.left, trials.left)
    counts = np.searchsorted(known.left, trials.left, "right") - begins
    trial = np.repeat(np.arange(len(trials)), counts)
    number = np.arange(len(trial)) + (begins + counts - np.cumsum(counts))[trial]
    own = Matches(np.arange(len(trials)), trials.right)
    every = join_matches([own, Matches(trial, known.right[number])])
    left, right = present.rows
    tried = replace(present, rows=(left.take(trials.left), right))
    chosen = choose(settings, tried, every).matches
    is_reserved = chosen.right == trials.right[chosen.left]
    possible: Whole = trials.left[chosen.left[is_reserved]]
    return possible


@dataclass(frozen=True, slots=True)
class Crowd:
    """The candidates of left rows, and behind which place each was sure, in order."""

    left: Whole
    since: Whole

    @classmethod
    def of(
        cls, settings: JoinSettings, state: JoinState, present: Present, news: News
    ) -> Crowd:
        """Returns the crowd of a step: candidates that waited, and the new ones."""
        rows = present.rows
        waiting, fresh = state.memo.pairs(rows), candidates(settings, present)
        pairs = join_matches([waiting, fresh])
        came = [
            places_of(side.window, side_rows)[index]
            for side, side_rows, index in zip(
                settings.sides, rows, (pairs.left, pairs.right), strict=True
            )
        ]
        bounds = news.bounds(news.since + np.arange(len(news.position)))
        below = sure_below(settings, bounds)
        passed = np.searchsorted(below, meeting_times(present, pairs), "right")
        since = np.maximum(np.maximum(*came), news.since + passed)
        return cls._once(settings, present, pairs, since >> int(settings.self_join))

    @classmethod
    def _once(
        cls, settings: JoinSettings, present: Present, pairs: Matches, since: Whole
    ) -> Crowd:
        """Returns the crowd of pairs, each counted once, however often it meets."""
        left = pairs.left
        if settings.copies_rows:
            every = Pairs.of(settings, present.rows, pairs)
            _, first = np.unique(every.number, return_index=True)
            left, since = every.once.left, since[first]
        order = sorted_by(left, since)
        return cls(left[order], since[order])

    def counts(self, left: Whole, place: Whole) -> Whole:
        """Returns how many candidates left rows have for sure behind places."""
        width = max(self.since.max(initial=0), place.max(initial=0)) + 2
        line = self.left * width + self.since
        until = np.searchsorted(line, left * width + place, "right")
        counts: Whole = until - np.searchsorted(line, left * width)
        return counts


NO_CROWD = Crowd(NO_MATCHES.left, NO_MATCHES.left)


def matched_right(
    settings: JoinSettings,
    sides: tuple[Rows, Rows],
    found: Candidates,
    crowd: Crowd,
    place: Whole,
) -> Whole:
    """Returns the right newcomers that have a match; `place` is where they came.

    Nothing but a `limit` stands beside right rows that give null rows.
    """
    left, _ = copies_of(settings, sides)
    pairs = found.pairs
    others = crowd.counts(left.owners(pairs.left), place) - found.sure
    fitting = pairs.take(others < settings.picks.most)
    return matches(settings, sides, fitting).right
