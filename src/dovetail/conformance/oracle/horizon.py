"""What can still come on the event clock, and what the picks make of what is there.

left    10:00 [####)   10:03 [####)    bound 10:03: rows from here on may come
right              10:02 [##)          bound 10:02

A life may still change: the next version ends it, and a row that counts may come in
between. So each life is looked at twice: as it is if nothing more comes, and as soon
as what comes can make it begin and end.

A pair is *sure* when no version can come that ends one of its lives before they meet.
A left row is *closed* when nothing that comes can change what it gives: no candidate,
or, in an `asof`, none that is better than the best by now.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import product

from dovetail import spec
from dovetail.conformance.oracle.lives import (
    first_life,
    inherited_life,
    is_settled,
    soonest,
)
from dovetail.conformance.oracle.parts import Bounds, Parts
from dovetail.conformance.oracle.picks import Nearest
from dovetail.conformance.oracle.sides import (
    NEVER,
    PAST,
    Life,
    LivingRow,
    Moment,
    Pair,
    Sides,
)


@dataclass(frozen=True, slots=True)
class Overlap:
    """Two lives that overlap or may, by their numbers, and the least time they meet."""

    lives: tuple[int, int]
    row_time: Moment
    is_sure: bool


@dataclass(frozen=True, slots=True)
class Horizon:
    """Both sides with their bounds; `gone` are rows that left a table without time.

    `inner` is the horizon of the join that a side is made of.
    """

    sides: Sides
    bounds: Bounds
    gone: set[LivingRow]
    inner: Mapping[spec.Hand, Horizon]

    def bound(self, hand: spec.Hand) -> Moment:
        """Returns the least row time that a row still to come can have."""
        side = self.sides[hand]
        return self.bounds.bound(side.input) if side.can_grow else NEVER

    def first_to_come(self, hand: spec.Hand) -> Life:
        """Returns the least birth and end that a row still to come can have.

        A row without time is met by rows that come after it: for those that are there
        already it is never born.
        """
        side = self.sides[hand]
        return first_life(side, self.bound(hand) if side.is_timed else NEVER)

    def soonest(self, row: LivingRow, life: Life) -> Life:
        """Returns a life of a row as soon as rows to come can make it begin and end."""
        if is_settled(self.sides[row.hand]):
            return life
        if self.sides[row.hand].window.is_inherited:
            # Its life is as sure as those of the rows that it is made of, which the
            # join inside knows.
            inner = self.inner[row.hand]
            lives = [inner.soonest(one, one.lives[at]) for one, at in row.origin]
            return inherited_life(self._time(row), lives)
        return soonest(life, self._time(row), self.bound(row.hand))

    def can_meet(self, row: LivingRow) -> bool:
        """Tells whether a row still to come on the other side can meet this row."""
        return any(self.can_meet_in(row, life) for life in row.lives)

    def can_meet_in(self, row: LivingRow, life: Life) -> bool:
        """Tells whether a row still to come can meet this one in one of its lives."""
        least_birth = self.first_to_come(row.hand.other).birth
        birth = max(self.soonest(row, life).birth, least_birth)
        return row not in self.gone and life.death > birth

    def meetings(self, pair: Pair) -> Iterator[Overlap]:
        """Yields the meetings of a pair that there are or may be, by number of lives.

        One is sure when neither life can change any more so that it would fall away or
        come at another time.
        """
        left, right = ([*enumerate(row.lives)] for row in pair.rows)
        for (one, left_life), (other, right_life) in product(left, right):
            lives = (left_life, right_life)
            # As early as either life may begin or end: the pair is sure if it meets
            # even so.
            least = list(map(self.soonest, pair.rows, lives))
            row_time = max(life.birth for life in least)
            if row_time < min(life.death for life in lives):
                # Even if both lives end as soon as they can, they still meet.
                is_sure = row_time < min(life.death for life in least)
                yield Overlap((one, other), row_time, is_sure)

    def is_sure(self, pair: Pair) -> bool:
        """Tells whether the rows of a pair have met for good."""
        return any(meeting.is_sure for meeting in self.meetings(pair))

    def is_passed(self, row: LivingRow) -> bool:
        """Tells whether no row can come that stands before this one on its side."""
        return self.bound(row.hand) >= self._time(row)

    def can_come(self, hand: spec.Hand) -> bool:
        """Tells whether a row may still come on this hand."""
        return self.bound(hand) < NEVER

    def least_meeting(self) -> Moment:
        """Returns the least row time of a pair of which both rows are to come."""
        # Both rows are to come: with one input at its end there is no such pair.
        if not all(map(self.can_come, spec.HANDS)):
            return NEVER
        timed = [hand for hand in spec.HANDS if self.sides[hand].is_timed]
        return max((self.first_to_come(hand).birth for hand in timed), default=NEVER)

    def least_meeting_with(self, row: LivingRow) -> Moment:
        """Returns the least row time of a row with one to come that it can meet."""
        least_birth = self.first_to_come(row.hand.other).birth
        births = (self.soonest(row, life).birth for life in row.lives)
        return max(min(births), least_birth)

    def _time(self, row: LivingRow) -> Moment:
        """Returns the row time of a row; those without stand before all others."""
        return PAST if row.time is None else row.time


@dataclass(frozen=True, slots=True)
class Judgement:
    """The pairs that come out or may, and those that match a right row or may.

    Where every pair stands for itself nothing is picked. What is picked waits until the
    left row is closed.
    """

    matches: list[Pair]
    marks: list[Pair]
    is_picked: bool = False
    is_closed: bool = False
    is_over_limit: bool = False
    has_too_many: bool = False

    @property
    def is_open(self) -> bool:
        """Tells whether the picks may still take pairs from the left row."""
        return self.is_picked and not self.is_closed


@dataclass(frozen=True, slots=True)
class Judge:
    """The judge of left rows at one moment."""

    parts: Parts
    horizon: Horizon

    def of(
        self, lefts: Iterable[LivingRow], pairs: Iterable[Pair]
    ) -> dict[LivingRow, Judgement]:
        """Returns the judgement on each left row, its pairs by time and order."""
        met: dict[LivingRow, list[Pair]] = {left: [] for left in lefts}
        # Stable: of one row time they stay in order of arrival.
        for pair in sorted(pairs, key=by_right_row):
            if any(self.horizon.meetings(pair)):
                met[pair.left].append(pair)
        if not self.parts.picker.waits:
            return {left: Judgement(own, own) for left, own in met.items()}
        return {left: self._picked(left, own) for left, own in met.items()}

    def _picked(self, left: LivingRow, met: list[Pair]) -> Judgement:
        """Returns the judgement where a pair decides about others."""
        picker = self.parts.picker
        sure = [pair for pair in met if self.horizon.is_sure(pair)]
        self.parts.refuse_excess(left, len(picker.candidates(sure)))
        possible = []
        for pair in met:
            # Is it picked if it is there beside those for sure? More pairs only ever
            # take others away, so what is not picked now never is.
            beside = sure if pair in sure else sorted([*sure, pair], key=by_right_row)
            choice = picker.choose(beside)
            if pair in choice.matches and not choice.is_over_limit:
                possible.append(pair)
        is_closed = self._is_closed(left, met, possible)
        choice = picker.choose(sure)
        # Until the row is closed each candidate may be its match, so that none of the
        # right rows is unmatched for sure.
        marks = choice.matches if is_closed else met
        return Judgement(
            possible,
            marks,
            is_picked=True,
            is_closed=is_closed,
            is_over_limit=choice.is_over_limit,
            has_too_many=choice.has_too_many,
        )

    def _is_closed(
        self, left: LivingRow, met: list[Pair], possible: list[Pair]
    ) -> bool:
        """Tells whether the judgement is final."""
        can_meet, nearest = self.horizon.can_meet(left), self.parts.picker.nearest
        if isinstance(nearest, Nearest) and not self.parts.picker.counts:
            # Only a right row that is nearer than the best by now changes anything.
            best = [nearest.right(pair.right.values) for pair in possible]
            time, bound = nearest.left(left.values), self.horizon.bound(spec.Hand.RIGHT)
            can_improve = nearest.can_be_better(time, next(iter(best), None), bound)
            is_open = can_meet and can_improve
            return not is_open and all(map(self.horizon.is_sure, possible))
        return not can_meet and all(map(self.horizon.is_sure, met))


def by_right_row(pair: Pair) -> int:
    """Returns what pairs of a left row, in order of arrival, are picked by."""
    return pair.right.time or 0
