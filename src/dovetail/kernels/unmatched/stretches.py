"""Null rows per millisecond: one for each stretch of a life without a partner.

    row        10:00:00 [#################] 10:01:00
    partners        10:00:05 [###] 10:00:20
                             10:00:10 [##] 10:00:30
    null rows  10:00:00                    10:00:30.001

A stretch begins with the row's own life, or in the first millisecond in which the last
partner is gone. It is sure once no row comes any more that is there by then: starts
are judged once, from the least birth that was still to come to the one that is.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from dovetail.kernels.arrays.rows import BEGINNING, MISSING, NEVER, Rows, Whole
from dovetail.kernels.arrival.admission import Present
from dovetail.kernels.horizon import Horizon
from dovetail.kernels.lifetimes import births
from dovetail.kernels.pairs import memo, results
from dovetail.kernels.pairs.matches import Matches
from dovetail.kernels.settings import JoinSettings
from dovetail.kernels.state import JoinState
from dovetail.kernels.unmatched.outcome import Outcome

MILLISECOND = 1000


@dataclass(frozen=True, slots=True)
class Stretches:
    """What a step gives of stretches, and the least start that is not sure.

    `covers` may still say something about starts to come, by the rows' numbers.
    """

    leaving: tuple[tuple[results.Leaving, ...], tuple[results.Leaving, ...]] = ((), ())
    covers: tuple[memo.Covers, memo.Covers] = (memo.NO_COVERS, memo.NO_COVERS)
    least: int = NEVER

    def added_to(self, outcomes: tuple[Outcome, Outcome]) -> tuple[Outcome, Outcome]:
        """Returns the outcomes with the null rows of stretches."""
        left, right = (
            replace(outcome, leaving=(*outcome.leaving, *parts)) if parts else outcome
            for outcome, parts in zip(outcomes, self.leaving, strict=True)
        )
        return left, right

    def kept(
        self, present: Present, outcomes: tuple[Outcome, Outcome]
    ) -> tuple[memo.Covers, memo.Covers]:
        """Returns the covers of rows that are kept, by the rows' places."""
        if not any(map(len, self.covers)):
            return self.covers
        kept = []
        for hand, (found, outcome) in enumerate(
            zip(self.covers, outcomes, strict=True)
        ):
            covers = found.take(outcome.kept[found.row])
            rows, others = present.rows[hand], present.rows[1 - hand]
            partner, is_open = (
                np.full(len(covers), memo.NOBODY),
                covers.partner != memo.NOBODY,
            )
            partner[is_open] = others.place[covers.partner[is_open]]
            places = rows.place[covers.row]
            kept.append(replace(covers, row=places, partner=partner))
        return kept[0], kept[1]


def null_stretches(horizon: Horizon, state: JoinState, met: Matches) -> Stretches:
    """Returns the stretches that begin by now; `met` are the new pairs of a step."""
    settings, present = horizon.settings, horizon.present
    if not settings.splits_nulls:
        return Stretches()
    # The horizon as it was: what starts it had made sure is not given again.
    watched = replace(present, watches=state.watches, waiting=state.waiting)
    before, least = Horizon(settings, watched).least, horizon.least
    left, right = (
        _Side(settings, present, hand, before[1 - hand], least[1 - hand]).split(
            met if hand == 0 else met.swapped(), state.memo.covers[hand]
        )
        if side.preserved
        else _NOTHING
        for hand, side in enumerate(settings.sides)
    )
    return Stretches(
        (left.leaving, right.leaving),
        (left.covers, right.covers),
        min(left.least, right.least),
    )


@dataclass(frozen=True, slots=True)
class _Part:
    """What one side gives of stretches."""

    leaving: tuple[results.Leaving, ...] = ()
    covers: memo.Covers = memo.NO_COVERS
    least: int = NEVER


_NOTHING = _Part()


@dataclass(frozen=True, slots=True)
class _Starts:
    """Rows, and when they begin to be without a partner."""

    row: Whole
    when: Whole


@dataclass(frozen=True, slots=True)
class _Side:
    """The rows of a preserved side, and the least births of partners to come.

    `before` were those of the step before this one, `least` are those of now.
    """

    settings: JoinSettings
    present: Present
    hand: int
    before: int
    least: int

    @property
    def rows(self) -> Rows:
        """Returns the rows."""
        return self.present.rows[self.hand]

    @property
    def others(self) -> Rows:
        """Returns the rows of the other side."""
        return self.present.rows[1 - self.hand]

    def split(self, met: Matches, known: memo.Covers) -> _Part:
        """Returns what the side gives; `met` has its rows on the left."""
        begin = np.maximum(self.others.birth[met.right], self.rows.birth[met.left])
        new = memo.Covers(met.left, met.right, begin, np.full(len(met), NEVER))
        # Between steps rows are known by their places, here by their numbers.
        partner, was_open = known.partner.copy(), known.partner != memo.NOBODY
        partner[was_open] = memo.numbers_of(self.others, known.partner[was_open])
        covers = memo.join_covers(
            self._with_ends(
                replace(
                    known, row=memo.numbers_of(self.rows, known.row), partner=partner
                )
            ),
            self._with_ends(new),
        )
        starts = self._starts(covers.merged())
        # Starts before the least birth of the last step were judged then.
        is_old = np.arange(len(self.rows)) < self.present.old[self.hand]
        lower = np.where(is_old, self.before, MISSING)
        sure = starts.when < self.least
        out = sure & (starts.when >= lower[starts.row])
        part = results.one_sided(
            self.hand, starts.row[out], starts.when[out], results.UNMATCHED[self.hand]
        )
        is_open = covers.partner != memo.NOBODY
        kept = memo.join_covers(covers.take(~is_open).merged(), covers.take(is_open))
        bound = self.present.watches[1 - self.hand].bound
        # A partner whose end is not known ends, at the soonest, at its side's bound.
        partners = covers.take(is_open)
        ended = _whole(np.maximum(self.others.moment[partners.partner], bound))
        least = [starts.when[~sure], self._within(partners.row, ended)]
        least.append(self._if_one_comes())
        return _Part(
            (part,),
            kept.take(kept.end >= self.least),
            min(int(times.min(initial=NEVER)) for times in least),
        )

    def _with_ends(self, covers: memo.Covers) -> memo.Covers:
        """Returns the covers with the ends of those that are open, where known."""
        end, partner = covers.end.copy(), covers.partner.copy()
        is_open = partner != memo.NOBODY
        death = _whole(self.others.death[partner[is_open]])
        other = self.settings.sides[1 - self.hand]
        if other.untimed:
            death = np.full(len(death), NEVER)
        end[is_open] = death
        is_final = other.is_intrinsic or other.untimed
        # Only whose partner may still be ended by another row is looked at again.
        partner[(end < NEVER) | is_final] = memo.NOBODY
        return replace(covers, end=end, partner=partner)

    def _starts(self, covers: memo.Covers) -> _Starts:
        """Returns when rows begin to be alone, with merged covers of them."""
        rows, row = self.rows, covers.row
        is_alone = rows.birth < rows.death
        # Merged covers do not touch: one that begins by the birth covers it.
        is_alone[row[covers.begin <= rows.birth[row]]] = False
        first = np.flatnonzero(is_alone)
        later = covers.end < rows.death[row]
        return _Starts(
            np.concatenate((first, row[later])),
            np.concatenate((rows.birth[first], covers.end[later])),
        )

    def _if_one_comes(self) -> Whole:
        """Returns when stretches begin behind a partner that is to come."""
        watch = self.present.watches[1 - self.hand]
        side, rows = self.settings.sides[1 - self.hand], self.rows
        if side.untimed or watch.bound == NEVER:
            return rows.birth[:0]
        meets = np.flatnonzero(rows.death > np.maximum(rows.birth, self.least))
        # Whoever comes lives so long at least, so no stretch behind it begins before.
        end = _whole(np.array([births.least_death(side.window, watch.bound)]))
        return self._within(meets, np.repeat(end, len(meets)))

    def _within(self, row: Whole, end: Whole) -> Whole:
        """Returns those of some moments that are in their rows' lives, or before."""
        inside = end < self.rows.death[row]
        return np.maximum(end[inside], self.rows.birth[row][inside])


def _whole(moment: Whole) -> Whole:
    """Returns the first whole millisecond from moments on."""
    fixed = (moment == NEVER) | (moment <= BEGINNING)
    plain = np.where(fixed, 0, moment)
    # Twice negated, floor division rounds up.
    return np.where(fixed, moment, -(-plain // MILLISECOND) * MILLISECOND)
