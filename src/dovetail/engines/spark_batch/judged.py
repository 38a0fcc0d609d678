"""Judges each left row by all its candidates at once: `limit`, `atmost` and `asof`.

Window functions over a left row's candidates say how many they are, which of them
match, and whether they are too many. What was joined by a key is judged by that key and
the row's place, so that Spark need not move any row again.

    left 1   candidates 3   limit 2     over: none matches, all of them have been met
    left 2   candidates 2   soft ok, no     the first matches
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from pyspark.sql import Column, DataFrame, Window, WindowSpec
from pyspark.sql import functions as F  # noqa: N812 - Spark's own name for it

from dovetail.engines.spark_batch.arrivals import PLACE, TIME
from dovetail.engines.spark_batch.atmost import shared
from dovetail.engines.spark_batch.limit import stopped
from dovetail.engines.spark_batch.lives import BIRTH, FIRST
from dovetail.engines.spark_batch.matching import HERE, Meeting, side_column
from dovetail.engines.spark_batch.merged import Merged, merges
from dovetail.engines.spark_batch.nearest import Nearest
from dovetail.engines.spark_batch.truth import is_true, no
from dovetail.kernels.arrays.names import reserved
from dovetail.spec.join import HANDS, Clock, Hand, JoinSpec
from dovetail.spec.picks import AsOf, AtMost, Limit, OnExceed, Unlimited

MATCH, OVER = reserved("match"), reserved("over")
_SHARED, _COUNT = reserved("shared"), reserved("count")


def judges(join: JoinSpec) -> bool:
    """Tells whether a candidate decides about others of its left row."""
    picks = join.picks
    match picks.at_most:
        case AtMost(counted=(), optional=()):
            counts = False
        case at_most:
            counts = isinstance(at_most, AtMost)
    return counts or picks.limit != Unlimited() or picks.asof != Unlimited()


@dataclass(frozen=True, slots=True)
class Judged:
    """The candidates of a meeting, with MATCH, and OVER where a limit is exceeded.

    The rows of the kept hand are all there, be it without a candidate. Where it
    `is_single` each line is a left row of its own.
    """

    meeting: Meeting
    frame: DataFrame
    is_single: bool = False

    @classmethod
    def of(cls, meeting: Meeting, kept: Hand, how: str) -> Judged:
        """Returns the verdict on every left row."""
        if isinstance(meeting.join.picks.asof, AsOf) and merges(meeting):
            frame, is_match = Merged(meeting, meeting.join.picks.asof).found()
            known = frame.withColumn(MATCH, is_match).withColumn(OVER, no())
            return cls(meeting, known, is_single=True)
        frame = meeting.candidates(kept, how, _reaching(meeting))
        judged = cls(meeting, frame)
        join = meeting.join
        frame = frame.withColumn(MATCH, _is_pair()).withColumn(OVER, no())
        match join.picks.at_most, join.picks.limit:
            case AtMost() as at_most, _:
                frame = judged.with_at_most(frame, at_most)
            case _, Limit() as limit:
                frame = judged.with_limit(frame, limit)
            case _:
                pass
        for term in meeting.match_terms():
            frame = frame.withColumn(MATCH, F.col(MATCH) & is_true(term))
        if isinstance(join.picks.asof, AsOf):
            frame = judged.with_nearest(frame, join.picks.asof)
        return cls(meeting, frame)

    def with_at_most(self, frame: DataFrame, at_most: AtMost) -> DataFrame:
        """Returns the candidates, of which all match that are not too many."""
        count = self._count(F.col(MATCH))
        own = self.of_row(Hand.LEFT)
        if at_most.optional:
            share = F.when(F.col(MATCH), shared(at_most)).otherwise(0)
            frame = frame.withColumn(_SHARED, share)
            # A candidate stays if those that share as much, or more, are few enough.
            own = own.orderBy(F.desc(_SHARED))
        frame = frame.withColumn(_COUNT, F.sum(count).over(own))
        return frame.withColumn(MATCH, F.col(MATCH) & (F.col(_COUNT) <= at_most.count))

    def with_limit(self, frame: DataFrame, limit: Limit) -> DataFrame:
        """Returns the candidates, of which none matches where they are too many."""
        count = F.sum(self._count(F.col(MATCH))).over(self.of_row(Hand.LEFT))
        frame = frame.withColumn(_COUNT, count)
        frame = frame.withColumn(OVER, F.col(MATCH) & (F.col(_COUNT) > limit.count))
        if limit.on_exceed is OnExceed.FAIL:
            frame = frame.where(
                stopped(self.meeting, limit, F.col(OVER), F.col(_COUNT))
            )
        return frame.withColumn(MATCH, F.col(MATCH) & ~F.col(OVER))

    def with_nearest(self, frame: DataFrame, asof: AsOf) -> DataFrame:
        """Returns the matches, of which only the nearest stays one."""
        nearest = _nearest(self.meeting, asof)
        places = [side_column(Hand.RIGHT, PLACE)]
        if self.meeting.join.clock is Clock.EVENT:
            time = F.coalesce(side_column(Hand.RIGHT, TIME), F.lit(0))
            places = [time, *places]
        frame = frame.withColumn(MATCH, F.col(MATCH) & is_true(nearest.reaches()))
        best = self.of_row(Hand.LEFT).orderBy(F.desc(MATCH), *nearest.order(places))
        return frame.withColumn(MATCH, F.col(MATCH) & (F.rank().over(best) == 1))

    def of_row(self, hand: Hand) -> WindowSpec:
        """Returns the window of all lines of one row."""
        return Window.partitionBy(*self._keys(hand), *_own(hand))

    def of_life(self, hand: Hand) -> WindowSpec:
        """Returns the window of all lines of one life of a row."""
        if not self.meeting.lives_often:
            return self.of_row(hand)
        birth = side_column(hand, BIRTH)
        return Window.partitionBy(*self._keys(hand), *_own(hand), birth)

    def _keys(self, hand: Hand) -> list[Column]:
        """Returns by what the rows of a hand are apart already."""
        return self.meeting.key() if hand is Hand.LEFT else []

    def _count(self, is_pair: Column) -> Column:
        """Returns 1 for a pair, but for each pair only once."""
        if self.meeting.lives_often:
            firsts = (side_column(hand, FIRST) for hand in HANDS)
            is_pair &= side_column(Hand.LEFT, BIRTH) == F.greatest(*firsts)
        return F.when(is_pair, 1).otherwise(0)


def _nearest(meeting: Meeting, asof: AsOf) -> Nearest:
    """Returns the pick by time between the two sides."""
    return Nearest.of(asof, {hand: meeting.frame(hand) for hand in HANDS})


def _reaching(meeting: Meeting) -> Iterator[Column]:
    """Gives that a right row is near enough, where nobody counts those that are not."""
    picks = meeting.join.picks
    match picks.asof, picks.at_most, picks.limit:
        case AsOf() as asof, Unlimited(), Unlimited():
            yield _nearest(meeting, asof).reaches()
            yield from meeting.match_terms()
        case _:
            pass


def _own(hand: Hand) -> list[Column]:
    """Returns what tells a row from others; a line without it stands for itself."""
    place, other = (side_column(one, PLACE) for one in (hand, hand.other))
    return [place, F.when(place.isNull(), other)]


def _is_pair() -> Column:
    """Returns whether both rows are there."""
    left, right = (side_column(hand, HERE).isNotNull() for hand in HANDS)
    return left & right
