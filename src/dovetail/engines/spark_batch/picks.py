"""Picks: which candidates of a left row become its pairs.

`limit`, `atmost` and `asof` look at all candidates of a left row at once. Window
functions over them say how many they are, which of them match, and whether they are too
many. What was joined by a key is judged by that key and the row's place, so that Spark
need not move any row again.

    left 1   candidates 3   limit 2     over: none matches, all of them have been met
    left 2   candidates 2   soft ok, no     the first matches

Where the equalities alone say which rows are candidates, all left rows of a key have
the same. Then the right side is *pruned* before it meets anybody: each key is looked at
once, and says which of its right rows a pick would let through.

    atmost 2    right a1 a2 a3 b1      b1 is left: an a has 3 candidates
    keep 1      right a1 a2 b1 b2      a1 and b1 are left
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from pyspark.sql import Column, DataFrame, Window, WindowSpec
from pyspark.sql import functions as F  # noqa: N812 - Spark's own name for it

from dovetail import spec
from dovetail.engines.spark.values import is_true, no
from dovetail.engines.spark_batch.arrivals import PLACE, TIME
from dovetail.engines.spark_batch.candidates import HERE, Meeting, shared, side_column
from dovetail.engines.spark_batch.lives import BIRTH, FIRST
from dovetail.engines.spark_batch.nearest import Distance, TimeLine, is_one_line
from dovetail.engines.spark_batch.stops import stopped
from dovetail.expression import ALWAYS, NEVER
from dovetail.kernels.arrays.names import reserved

MATCH, OVER = reserved("match"), reserved("over")
_SHARED, _COUNT = reserved("shared"), reserved("count")
_LIMIT_KINDS = (spec.Kind.INNER, spec.Kind.LEFT_SEMI)
_KEEP_KINDS = (spec.Kind.INNER, spec.Kind.LEFT_OUTER)


def judges(join: spec.JoinSpec) -> bool:
    """Tells whether a candidate decides about others of its left row."""
    match join.picks.at_most:
        case spec.AtMost(counted=(), optional=()):
            counts = False
        case at_most:
            counts = isinstance(at_most, spec.AtMost)
    limit, asof = join.picks.limit, join.picks.asof
    return counts or limit != spec.Unlimited() or asof != spec.Unlimited()


def most_kept(wanted: spec.Picks) -> int:
    """Returns how many pairs of a left row come out, 0 where all do."""
    if wanted.strategy is spec.Strategy.LOOKUP:
        return 1
    return wanted.keep.count if isinstance(wanted.keep, spec.Keep) else 0


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
    def of(cls, meeting: Meeting, kept: spec.Hand, how: str) -> Judged:
        """Returns the verdict on every left row."""
        wanted = meeting.join.picks
        if isinstance(wanted.asof, spec.AsOf) and is_one_line(meeting):
            frame, is_match = TimeLine(meeting, wanted.asof).found()
            known = frame.withColumn(MATCH, is_match).withColumn(OVER, no())
            return cls(meeting, known, is_single=True)
        more: list[Column] = []
        match wanted.asof, wanted.at_most, wanted.limit:
            case spec.AsOf() as asof, spec.Unlimited(), spec.Unlimited():
                # Nobody counts those that are too far: they need not meet at all.
                more = [Distance.of(asof, meeting).reaches(), *meeting.match_terms()]
            case _:
                pass
        frame = meeting.candidates(kept, how, more)
        judged = cls(meeting, frame)
        left, right = (side_column(hand, HERE).isNotNull() for hand in spec.HANDS)
        frame = frame.withColumn(MATCH, left & right).withColumn(OVER, no())
        match wanted.at_most, wanted.limit:
            case spec.AtMost() as at_most, _:
                frame = judged.with_at_most(frame, at_most)
            case _, spec.Limit() as limit:
                frame = judged.with_limit(frame, limit)
            case _:
                pass
        # Candidates have been counted: what a pair must fulfil besides comes only now.
        for term in meeting.match_terms():
            frame = frame.withColumn(MATCH, F.col(MATCH) & is_true(term))
        if isinstance(wanted.asof, spec.AsOf):
            frame = judged.with_nearest(frame, wanted.asof)
        return cls(meeting, frame)

    def with_at_most(self, frame: DataFrame, at_most: spec.AtMost) -> DataFrame:
        """Returns the candidates, of which all match that are not too many."""
        count = self._count(F.col(MATCH))
        own = self.of_row(spec.Hand.LEFT)
        if at_most.optional:
            share = F.when(F.col(MATCH), shared(at_most)).otherwise(0)
            frame = frame.withColumn(_SHARED, share)
            # A candidate stays if those that share as much, or more, are few enough.
            own = own.orderBy(F.desc(_SHARED))
        frame = frame.withColumn(_COUNT, F.sum(count).over(own))
        return frame.withColumn(MATCH, F.col(MATCH) & (F.col(_COUNT) <= at_most.count))

    def with_limit(self, frame: DataFrame, limit: spec.Limit) -> DataFrame:
        """Returns the candidates, of which none matches where they are too many."""
        count = F.sum(self._count(F.col(MATCH))).over(self.of_row(spec.Hand.LEFT))
        frame = frame.withColumn(_COUNT, count)
        frame = frame.withColumn(OVER, F.col(MATCH) & (F.col(_COUNT) > limit.count))
        if limit.on_exceed is spec.OnExceed.FAIL:
            stop = stopped(self.meeting, limit, F.col(OVER), F.col(_COUNT))
            frame = frame.where(stop)
        return frame.withColumn(MATCH, F.col(MATCH) & ~F.col(OVER))

    def with_nearest(self, frame: DataFrame, asof: spec.AsOf) -> DataFrame:
        """Returns the matches, of which only the nearest stays one."""
        distance = Distance.of(asof, self.meeting)
        places = [side_column(spec.Hand.RIGHT, PLACE)]
        if self.meeting.join.clock is spec.Clock.EVENT:
            time = F.coalesce(side_column(spec.Hand.RIGHT, TIME), F.lit(0))
            places = [time, *places]
        frame = frame.withColumn(MATCH, F.col(MATCH) & is_true(distance.reaches()))
        # Rank, not row number: the best pair may meet in several windows.
        best = self.of_row(spec.Hand.LEFT).orderBy(
            F.desc(MATCH), *distance.order(places)
        )
        return frame.withColumn(MATCH, F.col(MATCH) & (F.rank().over(best) == 1))

    def of_row(self, hand: spec.Hand) -> WindowSpec:
        """Returns the window of all lines of one row."""
        return Window.partitionBy(*self._apart(hand))

    def of_life(self, hand: spec.Hand) -> WindowSpec:
        """Returns the window of all lines of one life of a row."""
        births = [side_column(hand, BIRTH)] if self.meeting.lives_often else []
        return Window.partitionBy(*self._apart(hand), *births)

    def _apart(self, hand: spec.Hand) -> list[Column]:
        """Returns what tells a row from others; a line without it stands for itself."""
        # Left rows of one key have been brought together already: place alone, which
        # would be enough, would move them again.
        keys = self.meeting.key if hand is spec.Hand.LEFT else []
        place, other = (side_column(one, PLACE) for one in (hand, hand.other))
        return [*keys, place, F.when(place.isNull(), other)]

    def _count(self, is_pair: Column) -> Column:
        """Returns 1 for a pair, but for each pair only once."""
        if self.meeting.lives_often:
            # Of the windows that both are in it counts in the first.
            firsts = (side_column(hand, FIRST) for hand in spec.HANDS)
            is_pair &= side_column(spec.Hand.LEFT, BIRTH) == F.greatest(*firsts)
        return F.when(is_pair, 1).otherwise(0)


def pruned(meeting: Meeting) -> Meeting:
    """Returns the meeting without right rows, and picks, that the keys decide about."""
    join, wanted, most = meeting.join, meeting.join.picks, 0
    match wanted.at_most, wanted.limit:
        case spec.AtMost(count=count, counted=spec.AllHard(), optional=()), _:
            most = count
        case _, spec.Limit(count, spec.OnExceed.SKIP) if join.kind in _LIMIT_KINDS:
            most = count
        case _:
            pass
    nothing = spec.Unlimited()
    if most:
        wanted = replace(wanted, at_most=nothing, limit=nothing)
    counts = any(it != nothing for it in (wanted.at_most, wanted.limit, wanted.asof))
    is_plain = join.soft == ALWAYS and wanted.skip_when == NEVER and not counts
    first = most_kept(wanted) if is_plain and join.kind in _KEEP_KINDS else 0
    if not join.hard or not (most or first) or not meeting.is_by_key:
        return meeting
    own = Window.partitionBy(*meeting.keys(spec.Hand.RIGHT))
    if most:
        meeting = _only(meeting, F.count(F.lit(1)).over(own), most, wanted)
    if first:
        order = own.orderBy(side_column(spec.Hand.RIGHT, PLACE))
        # Counted, not ranked: for the first ranks Spark sorts before it moves rows too,
        # which pays only where most keys have many more rows than are kept.
        come = order.rowsBetween(Window.unboundedPreceding, Window.currentRow)
        wanted = replace(wanted, keep=nothing)
        if wanted.strategy is spec.Strategy.LOOKUP:
            wanted = replace(wanted, strategy=spec.Strategy.MANY_LOOKUP)
        meeting = _only(meeting, F.count(F.lit(1)).over(come), first, wanted)
    return meeting


def _only(meeting: Meeting, number: Column, most: int, left: spec.Picks) -> Meeting:
    """Returns the meeting with the right rows up to a number, and the picks left."""
    frame = meeting.sides[spec.Hand.RIGHT].frame.alias(spec.Hand.RIGHT.letter)
    able = frame.where(meeting.may_meet(spec.Hand.RIGHT))
    few = able.withColumn(_COUNT, number).where(F.col(_COUNT) <= most).drop(_COUNT)
    right = replace(meeting.sides[spec.Hand.RIGHT], frame=few)
    join = replace(meeting.join, picks=left)
    return replace(meeting, join=join, sides={**meeting.sides, spec.Hand.RIGHT: right})
