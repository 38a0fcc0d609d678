"""Null rows given with the row that arrives, on the clock `event`.

    row arrives -> who of the other side has come by now, and lives with it,
                   by what is known now?  nobody: its null row, at once

What is known grows with every row, so each newcomer is judged by the lives and bounds
as they were at its own place in the order of arrival, whatever came with it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa

from dovetail.kernels.arrays.rows import (
    NEVER,
    Mask,
    Rows,
    Whole,
    join_rows,
)
from dovetail.kernels.arrival.admission import Present
from dovetail.kernels.arrival.news import News
from dovetail.kernels.arrival.untimed import end_place
from dovetail.kernels.candidates.copies import places_of
from dovetail.kernels.candidates.emitted import not_skipped
from dovetail.kernels.candidates.known_by_now import (
    NO_CROWD,
    Candidates,
    Crowd,
    matched_left,
    matched_right,
)
from dovetail.kernels.horizon import sure_below
from dovetail.kernels.lifetimes.births import ends
from dovetail.kernels.lifetimes.history import Stages, always, stages_of, time_of
from dovetail.kernels.pairs.formulas import that_hold
from dovetail.kernels.pairs.matches import Matches, join_matches, overlaps
from dovetail.kernels.pairs.results import UNMATCHED, Shape, alone, as_told, leave
from dovetail.kernels.settings import GIVEN_TIME, JoinSettings
from dovetail.kernels.state import JoinState


@dataclass(frozen=True, slots=True)
class Early:
    """The rows of a step, those marked that have given a null row, and these rows."""

    present: Present
    out: tuple[pa.RecordBatch, ...]


def at_once(
    settings: JoinSettings, state: JoinState, present: Present, news: News
) -> Early:
    """Returns the null rows of rows that have come in this step and find nobody."""
    judge = _Judge.of(settings, state, present, news)
    parts, sides = [], list(judge.sides)
    for hand, side in enumerate(settings.sides):
        if side.preserved:
            lonely = judge.lonely(hand)
            told = judge.told(hand)[lonely]
            part = alone(hand, lonely, judge.came[hand][lonely], UNMATCHED[hand])
            part = replace(part, told=told)
            parts.append(not_skipped(settings, judge.sides, part))
            sides[hand] = _marked(sides[hand], lonely, told)
    left, right = (
        (rows.take(slice(count)), rows.take(slice(count, None)))
        for rows, count in zip(sides, map(len, present.rows), strict=True)
    )
    return Early(
        replace(present, rows=(left[0], right[0]), waiting=(left[1], right[1])),
        tuple(map(as_told, leave(parts, judge.sides, _shape(settings)))),
    )


def _shape(settings: JoinSettings) -> Shape:
    """Returns what can be seen of null rows given at once."""
    return Shape(
        timed=True,
        sorted=True,
        numbered=settings.picks.numbered,
        changing=settings.retracts,
        told=True,
    )


def _marked(rows: Rows, lonely: Whole, told: Whole) -> Rows:
    """Returns the rows with those marked that have given their null row."""
    null_emitted = rows.null_emitted
    null_emitted[lonely] = True
    rows = rows.with_flags(null_emitted=null_emitted)
    payload = rows.payload
    if GIVEN_TIME in payload.schema.names:
        times = rows.hidden(GIVEN_TIME).copy()
        times[lonely] = told
        number = payload.schema.names.index(GIVEN_TIME)
        payload = payload.set_column(number, GIVEN_TIME, pa.array(times))
    return replace(rows, payload=payload)


@dataclass(frozen=True, slots=True)
class _Judge:
    """All rows that are there, as each newcomer found them.

    `came` are places; a row of a self-join comes on both sides at one. `bounds` are
    those of each side behind the rows of each.
    """

    settings: JoinSettings
    present: Present
    came: tuple[Whole, Whole]
    start: int
    stages: tuple[Stages, Stages]
    bounds: tuple[tuple[Whole, Whole], tuple[Whole, Whole]]
    crowd: Crowd

    @classmethod
    def of(
        cls, settings: JoinSettings, state: JoinState, present: Present, news: News
    ) -> _Judge:
        """Returns the judge of a step."""
        twice = int(settings.self_join)
        left, right = (
            join_rows([rows, waiting])
            for rows, waiting in zip(present.rows, present.waiting, strict=True)
        )
        start = state.next_place >> twice
        place, other_place = (
            places_of(side.window, rows)
            for side, rows in zip(settings.sides, (left, right), strict=True)
        )
        came = (place >> twice, other_place >> twice)
        one, other = (
            always(rows, places, end_place(rows))
            if side.untimed
            else stages_of(side, _before(rows, alive), places, start)
            for side, rows, alive, places in zip(
                settings.sides, (left, right), state.alive, came, strict=True
            )
        )
        ours, theirs = map(news.bounds, (place, other_place))
        every = replace(present, rows=(left, right))
        crowd = _crowd(settings, state, present, news)
        lives, bounds = (one, other), (ours, theirs)
        return cls(settings, every, came, start, lives, bounds, crowd)

    @property
    def sides(self) -> tuple[Rows, Rows]:
        """Returns all rows, those that wait behind those that take part."""
        return self.present.rows

    def lonely(self, hand: int) -> Whole:
        """Returns the newcomers of a side that no row of the other lives with.

        One of a table without time meets only rows that come after it.
        """
        rows = self.sides[hand]
        is_new = (self.came[hand] >= self.start) & ~rows.removes & ~rows.from_start
        if self.settings.sides[hand].untimed:
            return np.flatnonzero(is_new)
        pairs, sure = self._alive(hand, self._found(hand, np.flatnonzero(is_new)))
        if len(pairs):
            is_new[self._matched(hand, pairs, sure)] = False
        return np.flatnonzero(is_new)

    def _matched(self, hand: int, pairs: Matches, sure: Mask) -> Whole:
        """Returns the newcomers that have a match among who they live with."""
        settings, sides = self.settings, self.sides
        if not settings.picks.waits:
            found = that_hold(settings, sides, pairs)
            return (found.left, found.right)[hand]
        candidates = Candidates.of(settings, sides, pairs, sure)
        if hand == 0:
            return matched_left(settings, self.present, candidates)
        place = self.came[1][candidates.pairs.right]
        return matched_right(settings, sides, candidates, self.crowd, place)

    def told(self, hand: int) -> Whole:
        """Returns the ends of a side's rows as they were known when they came."""
        rows, stages = self.sides[hand], self.stages[hand]
        birth, death = stages.birth[: len(rows)], stages.death[: len(rows)]
        looked = rows.with_arrays(birth=birth, death=death)
        return ends(self.settings.sides[hand], looked)

    def _found(self, hand: int, new: Whole) -> Matches:
        """Returns new rows beside stages of the other side's that they may meet.

        Lives that are over are searched by row time, those without an end by place: of
        them there are few at any place, but for rows that live for ever.
        """
        mine, other = self.stages[hand], self.stages[1 - hand]
        over = np.flatnonzero(other.death < NEVER)
        endless = np.flatnonzero(other.death == NEVER)
        begun, born = self._least(hand, mine.birth), self._least(1 - hand, other.birth)
        came = self.came[hand][new]
        by_time = overlaps(
            _bare(self.sides[hand], new, begun[new], mine.death[new]),
            _bare(self.sides[1 - hand], other.row[over], born[over], other.death[over]),
        )
        by_place = overlaps(
            _bare(self.sides[hand], new, came, came + 1),
            _bare(
                self.sides[1 - hand],
                other.row[endless],
                other.since[endless],
                other.until[endless],
            ),
        )
        return join_matches(
            [
                Matches(new[by_time.left], over[by_time.right]),
                Matches(new[by_place.left], endless[by_place.right]),
            ]
        )

    def _least(self, hand: int, birth: Whole) -> Whole:
        """Returns the least births of a side's stages, by whatever bound."""
        if not self.settings.sides[hand].counts_later:
            return birth
        return time_of(self.sides[hand])[self.stages[hand].row]

    def _alive(self, hand: int, found: Matches) -> tuple[Matches, Mask]:
        """Returns the pairs of rows that live together when the new row comes.

        Then which of them nothing that comes can part.
        """
        mine, other = self.stages[hand], self.stages[1 - hand]
        came = self.came[hand][found.left]
        begun = np.maximum(
            self._soonest(hand, found.left, (hand, found.left)),
            self._soonest(1 - hand, found.right, (hand, found.left)),
        )
        ended = np.minimum(mine.death[found.left], other.death[found.right])
        there = (other.since[found.right] <= came) & (came < other.until[found.right])
        together = there & (begun < ended)
        met = found.take(together)
        left, right = (bound[met.left] for bound in self.bounds[hand])
        sure = begun[together] < sure_below(self.settings, (left, right))
        pairs = Matches(met.left, other.row[met.right])
        return pairs if hand == 0 else pairs.swapped(), sure

    def _soonest(self, hand: int, stage: Whole, newcomer: tuple[int, Whole]) -> Whole:
        """Returns the least births that lives can have when a newcomer has come."""
        birth = self.stages[hand].birth[stage]
        if not self.settings.sides[hand].counts_later:
            return birth
        side, number = newcomer
        bound = self.bounds[side][hand][number]
        time = time_of(self.sides[hand])[self.stages[hand].row[stage]]
        return np.where(birth <= bound, birth, np.maximum(time, bound))


def _crowd(
    settings: JoinSettings, state: JoinState, present: Present, news: News
) -> Crowd:
    """Returns how many candidates left rows have, where right ones ask for it."""
    if not settings.picks.counts or not settings.sides[1].preserved:
        return NO_CROWD
    return Crowd.of(settings, state, present, news)


def _before(rows: Rows, alive: Rows) -> Rows:
    """Returns the rows with the lives that were known of them before the step."""
    birth, death = np.full(len(rows), NEVER), np.full(len(rows), NEVER)
    birth[: len(alive)], death[: len(alive)] = alive.birth, alive.death
    return rows.with_arrays(birth=birth, death=death)


def _bare(rows: Rows, chosen: Whole, birth: Whole, death: Whole) -> Rows:
    """Returns the chosen rows with other lives and no payload."""
    bare = replace(rows.bare(), flags=rows.flags[chosen])
    return bare.with_arrays(code=rows.code[chosen], birth=birth, death=death)
