"""What picks make of a changing result: each left row as it is at each place.

Every change of a left row's candidates makes it another row to pick for. So all that it
is, one place after the other, is picked for at once, as if these were many left rows:

    candidates   trade 1 [--------------)
                 trade 2      [---------------)
    order 1 is           1    1,2       2          three left rows for the picks
    keep 1               [-------------)[-----)    trade 1 stands, then trade 2

What two neighbours have in common stands on; the rest goes or comes between them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dovetail.kernels.arrays.rows import NEVER, Mask, Rows, Whole
from dovetail.kernels.arrival.admission import Present
from dovetail.kernels.candidates.choice import Choice, TooManyError, choose
from dovetail.kernels.candidates.emission import given_pairs
from dovetail.kernels.candidates.picks import by_left_row
from dovetail.kernels.lifetimes.successors import starts_of
from dovetail.kernels.pairs import formulas, results
from dovetail.kernels.pairs.matches import Matches, join_matches
from dovetail.kernels.settings import Formula, JoinSettings, PickSettings
from dovetail.kernels.tables.result_rows import (
    Met,
    Standing,
    TableChange,
    candidates_of_touched,
)
from dovetail.spec.inputs import Outlet

_ROOM = 2**22
"""About how many candidates are looked at together."""


def change_of_picks(
    settings: JoinSettings, present: Present, since: int
) -> TableChange:
    """Returns what changes where pairs of a left row decide about each other."""
    # All that was there from the start is one place: the one before the first change.
    begins = max(
        int(rows.birth[rows.from_start].max(initial=since - 1)) for rows in present.rows
    )
    found = candidates_of_touched(settings, present.rows, since)
    # What was over before the first change has been told, or never stood.
    found = found.take(found.stop > begins)
    found = found.take(np.argsort(found.pairs.left, kind="stable"))
    stages = _Stages.of(found, begins)
    if settings.picks.fails and not settings.picks.shared:
        stages.refuse_excess(settings.picks, present.rows[0])
    parts = [part.change(settings, present) for part in stages.parts()]
    if len(parts) == 1:
        return parts[0]
    left, right = (_join_met([part.met[hand] for part in parts]) for hand in (0, 1))
    standing = tuple(
        Standing(
            some[0].outlet,
            _join_met([one.met for one in some]),
            np.concatenate([one.counter for one in some]),
            some[0].reason,
        )
        for some in zip(*(part.standing for part in parts), strict=True)
    )
    return TableChange((left, right), standing)


@dataclass(frozen=True, slots=True)
class _Stages:
    """Left rows from place to place, and their candidates from stage to stage.

    Stages stand by left row, then place, and pairs by left row; `first` and `past` say
    at which stages a pair is there.
    """

    left: Whole
    place: Whole
    pairs: Matches
    first: Whole
    past: Whole

    @classmethod
    def of(cls, found: Met, begins: int) -> _Stages:
        """Returns the stages of candidates; they are there from the beginning on."""
        start, ends = np.maximum(found.start, begins), found.stop < NEVER
        left = np.concatenate((found.pairs.left, found.pairs.left[ends]))
        place = np.concatenate((start, found.stop[ends]))
        order = np.lexsort((place, left))
        ours, then = left[order], place[order]
        # Each place at which a candidate of a row comes or goes begins a stage of it.
        is_new = starts_of(ours) | starts_of(then)
        number = np.empty(len(order), np.int64)
        number[order] = np.cumsum(is_new) - 1
        rows = ours[is_new]
        # Who does not go is there up to behind the last stage of its left row.
        past = np.searchsorted(rows, found.pairs.left, "right")
        past[ends] = number[len(start) :]
        return cls(rows, then[is_new], found.pairs, number[: len(start)], past)

    def __len__(self) -> int:
        """Returns how many there are."""
        return len(self.left)

    def refuse_excess(self, picks: PickSettings, rows: Rows) -> None:
        """Raises what is wrong with the first left row that has too many candidates."""
        # One more where a pair comes, one less where it is past: how many are there.
        size = len(self) + 1
        steps = np.bincount(self.first, minlength=size)
        steps -= np.bincount(self.past, minlength=size)
        counts = np.cumsum(steps)[:-1]
        over = np.flatnonzero(counts > picks.most)
        if len(over):
            order = np.lexsort((rows.place[self.left[over]], self.place[over]))
            worst = over[order[0]]
            # The first one too many fails it, so no more are told.
            raise TooManyError(picks, rows, int(self.left[worst]), picks.most + 1)

    def parts(self) -> Iterator[_Stages]:
        """Gives the stages a few left rows at a time, so that memory has an end."""
        if not len(self.pairs):
            yield self
            return
        before = np.cumsum(self.past - self.first)
        of_row = np.searchsorted(self.pairs.left, self.pairs.left)
        edges = np.flatnonzero(np.diff(before[of_row] // _ROOM)) + 1
        for start, stop in pairwise((0, *edges.tolist(), len(self.pairs))):
            pairs = slice(start, stop)
            ours = self.pairs.take(pairs)
            first = int(np.searchsorted(self.left, ours.left[0]))
            past = int(np.searchsorted(self.left, ours.left[-1], "right"))
            yield _Stages(
                self.left[first:past],
                self.place[first:past],
                ours,
                self.first[pairs] - first,
                self.past[pairs] - first,
            )

    def change(self, settings: JoinSettings, present: Present) -> TableChange:
        """Returns what the picks choose at each stage, as it stands over them."""
        # Each stage becomes a left row of its own: the picks need not know of stages.
        ours = replace(present, rows=(present.rows[0].take(self.left), present.rows[1]))
        counts = self.past - self.first
        # Each pair's run of stages: one count over all runs, put back by each start.
        starts = self.first - np.concatenate(([0], np.cumsum(counts)))[:-1]
        stage = np.arange(int(counts.sum())) + np.repeat(starts, counts)
        choice = choose(
            settings, ours, Matches(stage, np.repeat(self.pairs.right, counts))
        )
        met = self._met(join_matches([choice.matches, choice.beyond]))
        # A left row over its limit has met somebody, but it is not given once.
        once = settings.sides[0].once
        left = self._met(choice.matches) if once else met
        standing = tuple(self._standing(settings, ours, choice))
        return TableChange((left, met), standing)

    def _standing(
        self, settings: JoinSettings, ours: Present, choice: Choice
    ) -> Iterator[Standing]:
        """Gives the rows of the result: pairs, and those for rows over their limit."""
        if settings.gives_pairs:
            nothing = np.zeros(len(self), np.int64)
            pairs = by_left_row(settings, ours, choice.matches)
            part = given_pairs(settings, ours, pairs, (nothing, nothing)).given
            given = Matches(part.left, part.right)
            seen = _Seen(settings.picks.shown, ours.rows, given, part.counter)
            number, met = self._runs(given, seen)
            yield Standing(Outlet.MATCHED, met, part.counter[number])
        if settings.picks.transforms:
            over = np.unique(choice.beyond.left)
            met = self._met(Matches(over, np.full(len(over), results.ABSENT)))
            counter = np.zeros(len(met.pairs), np.int64)
            yield Standing(Outlet.MATCHED, met, counter, results.Reason.OVER_LIMIT)

    def _met(self, found: Matches) -> Met:
        """Returns pairs of stages and right rows as those of rows, with their lives."""
        return self._runs(found, _Alike())[1]

    def _runs(self, found: Matches, seen: _Seen | _Alike) -> tuple[Whole, Met]:
        """Returns what stands over stages, and the numbers of the first ones."""
        order = np.lexsort((found.left, found.right, self.left[found.left]))
        stage, right = found.left[order], found.right[order]
        goes_on = np.zeros(len(order), bool)
        goes_on[1:] = (stage[1:] == stage[:-1] + 1) & (right[1:] == right[:-1])
        goes_on[1:] &= self.left[stage[1:]] == self.left[stage[:-1]]
        # What looks another way from one stage to the next does not stand on.
        later = np.flatnonzero(goes_on)
        goes_on[later] = seen.is_same(order[later - 1], order[later])
        starts = np.flatnonzero(~goes_on)
        last = stage[np.append(starts[1:], len(order))[: len(starts)] - 1]
        ours = self.left[stage[starts]]
        pairs = Matches(ours, right[starts])
        # It stands until the next stage of the same left row begins.
        left, place = np.append(self.left, results.ABSENT), np.append(self.place, NEVER)
        is_same = left[last + 1] == left[last]
        met = Met(
            pairs, self.place[stage[starts]], np.where(is_same, place[last + 1], NEVER)
        )
        return order[starts], met


@dataclass(frozen=True, slots=True)
class _Alike:
    """Rows of which nothing is shown that could differ from stage to stage."""

    def is_same(self, one: Whole, _other: Whole) -> Mask:
        """Tells that rows look the same."""
        return np.ones(len(one), bool)


@dataclass(frozen=True, slots=True)
class _Seen:
    """Pairs with their counters, and the output columns that show these."""

    shown: tuple[Formula, ...]
    sides: tuple[Rows, Rows]
    pairs: Matches
    counter: Whole

    def is_same(self, one: Whole, other: Whole) -> Mask:
        """Tells of which two pairs, named by their numbers, all columns are equal."""
        same: Mask = self.counter[one] == self.counter[other]
        differs = np.flatnonzero(~same)
        alike = np.ones(len(differs), bool)
        for formula in self.shown if len(differs) else ():
            columns = []
            for chosen in (one[differs], other[differs]):
                bare = {
                    "counter": pa.array(self.counter[chosen]),
                    # Tables meet in order of arrival, where no result has a row time.
                    "row_time": pa.nulls(len(chosen), pa.timestamp("us", tz="UTC")),
                }
                pairs = self.pairs.take(chosen)
                columns.append(formulas.of_pairs(formula, self.sides, pairs, bare))
            was, now = columns
            # A null stays the same, though it equals nothing.
            both = pc.and_(pc.is_null(was), pc.is_null(now))
            alike &= formulas.is_true(pc.or_kleene(both, pc.equal(was, now)))
        same[differs] = alike
        return same


def _join_met(parts: list[Met]) -> Met:
    """Returns all of the parts."""
    return Met(
        join_matches([part.pairs for part in parts]),
        np.concatenate([part.start for part in parts]),
        np.concatenate([part.stop for part in parts]),
    )
