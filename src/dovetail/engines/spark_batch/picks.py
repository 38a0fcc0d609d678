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

Where nothing but the equalities, the time and terms over one side alone decide, `asof`
is one sort: left and right rows of a key are put in the order of time, and each left
row looks back for the last right row before it, or forward for the first behind it. No
row is compared with every other; else all candidates are, and the nearest one wins.

    10:00 right A    10:02 left    10:03 right B        backward A, forward B
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from decimal import Decimal
from functools import reduce
from typing import assert_never

from pyspark.sql import Column, DataFrame, Window, WindowSpec, types
from pyspark.sql import functions as F  # noqa: N812 - Spark's own name for it

from dovetail import expression, spec
from dovetail.engines.spark import values
from dovetail.engines.spark_batch import lives
from dovetail.engines.spark_batch.arrivals import PLACE, TIME
from dovetail.engines.spark_batch.candidates import (
    HERE,
    Meeting,
    mentioned,
    shared,
    side_column,
)
from dovetail.engines.spark_batch.stops import stopped
from dovetail.kernels.arrays.names import reserved
from dovetail.schema import quoted

MATCH, OVER = reserved("match"), reserved("over")
_SHARED, _COUNT = reserved("shared"), reserved("count")
_LIMIT_KINDS = (spec.Kind.INNER, spec.Kind.LEFT_SEMI)
_KEEP_KINDS = (spec.Kind.INNER, spec.Kind.LEFT_OUTER)
_AT, _RANK, _TIE = reserved("at"), reserved("rank"), reserved("tie")
_BEFORE, _BEHIND = reserved("before"), reserved("behind")
# At one time a left row stands before the right ones, or behind them.
_LEFT_FIRST, _RIGHT, _LEFT_LAST = range(3)
_TIMES = types.TimestampType | types.TimestampNTZType | types.DateType
_WHOLE = types.ByteType | types.ShortType | types.IntegerType | types.LongType
_WIDE = "decimal(20,0)"  # holds the distance of any two whole numbers


def judges(join: spec.JoinSpec) -> bool:
    """Tells whether a candidate decides about others of its left row."""
    at_most = join.picks.at_most
    # Without an equality that counts nothing has a candidate to be counted.
    counts = isinstance(at_most, spec.AtMost) and at_most.counts
    limit, asof = join.picks.limit, join.picks.asof
    return counts or limit != spec.Unlimited() or asof != spec.Unlimited()


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
            known = frame.withColumn(MATCH, is_match).withColumn(OVER, values.no())
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
        frame = frame.withColumn(MATCH, left & right).withColumn(OVER, values.no())
        match wanted.at_most, wanted.limit:
            case spec.AtMost() as at_most, _:
                frame = judged.with_at_most(frame, at_most)
            case _, spec.Limit() as limit:
                frame = judged.with_limit(frame, limit)
            case _:
                pass
        # Candidates have been counted: what a pair must fulfil besides comes only now.
        for term in meeting.match_terms():
            frame = frame.withColumn(MATCH, F.col(MATCH) & values.is_true(term))
        if isinstance(wanted.asof, spec.AsOf):
            frame = judged.with_nearest(frame, wanted.asof)
        return cls(meeting, frame)

    def with_at_most(self, frame: DataFrame, at_most: spec.AtMost) -> DataFrame:
        """Returns the candidates, of which all match that are not too many."""
        count = self._count(F.col(MATCH))
        own = self.of_row(spec.Hand.LEFT)
        if at_most.optional:
            share = F.when(F.col(MATCH), shared(at_most.optional)).otherwise(0)
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
            stop = stopped(self.meeting, limit.count, F.col(OVER))
            frame = frame.where(stop)
        return frame.withColumn(MATCH, F.col(MATCH) & ~F.col(OVER))

    def with_nearest(self, frame: DataFrame, asof: spec.AsOf) -> DataFrame:
        """Returns the matches, of which only the nearest stays one."""
        distance = Distance.of(asof, self.meeting)
        places = [side_column(spec.Hand.RIGHT, PLACE)]
        if self.meeting.join.clock is spec.Clock.EVENT:
            time = F.coalesce(side_column(spec.Hand.RIGHT, TIME), F.lit(0))
            places = [time, *places]
        frame = frame.withColumn(
            MATCH, F.col(MATCH) & values.is_true(distance.reaches())
        )
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
        births = [side_column(hand, lives.BIRTH)] if self.meeting.lives_often else []
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
            firsts = (side_column(hand, lives.FIRST) for hand in spec.HANDS)
            is_pair &= side_column(spec.Hand.LEFT, lives.BIRTH) == F.greatest(*firsts)
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
    is_plain = (
        join.soft == expression.ALWAYS
        and wanted.skip_when == expression.NEVER
        and not counts
    )
    first = wanted.most_kept if is_plain and join.kind in _KEEP_KINDS else 0
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


@dataclass(frozen=True, slots=True)
class Distance:
    """The pick and both times, as numbers that can be subtracted."""

    pick: spec.AsOf
    left: Column
    right: Column

    @classmethod
    def of(cls, pick: spec.AsOf, meeting: Meeting) -> Distance:
        """Returns the pick between the rows of two sides."""
        return cls(
            pick, *(_measure(pick, hand, meeting.frame(hand)) for hand in spec.HANDS)
        )

    def reaches(self) -> Column:
        """Returns whether the right time lies in the direction, and near enough."""
        match self.pick.direction, self.pick.exact:
            case spec.Direction.BACKWARD, True:
                is_on_its_side = self.right <= self.left
            case spec.Direction.BACKWARD, False:
                is_on_its_side = self.right < self.left
            case spec.Direction.FORWARD, True:
                is_on_its_side = self.right >= self.left
            case spec.Direction.FORWARD, False:
                is_on_its_side = self.right > self.left
            case _, True:
                is_on_its_side = values.yes()
            case _:
                is_on_its_side = self.right != self.left
        match self.pick.tolerance:
            case Decimal() as number:
                is_near = F.abs(self.right - self.left) <= F.lit(number)
            case spec.Span() as span:
                # Taken from the time itself: months go by the calendar.
                time = F.expr(self.pick.left.text)
                least = values.shifted(time, span.negated())
                is_near = self.right.between(least, values.shifted(time, span))
            case _:
                is_near = values.yes()
        known = self.left.isNotNull() & self.right.isNotNull()
        return known & is_on_its_side & is_near

    def order(self, places: list[Column]) -> list[Column]:
        """Returns by what the best row comes first; the tie is decided by places."""
        is_last = self.pick.tie is spec.Tie.LAST
        tie = [place.desc() if is_last else place.asc() for place in places]
        # At one distance on both sides the earlier time is taken.
        return [F.abs(self.right - self.left), self.right, *tie]


def _measure(pick: spec.AsOf, hand: spec.Hand, frame: DataFrame) -> Column:
    """Returns the time of a side as a number that can be subtracted.

    Times are whole microseconds, numbers are exact where they are whole or decimal. A
    null and a number without an end are near to nothing.
    """
    value = F.expr((pick.left if hand is spec.Hand.LEFT else pick.right).text)
    match frame.select(value.alias("value")).schema["value"].dataType:
        case kind if isinstance(kind, _TIMES):
            return values.micros(value)
        case kind if isinstance(kind, _WHOLE):
            return value.cast(_WIDE)
        case types.DoubleType() | types.FloatType():
            number = value.cast("double")
            return F.when(F.abs(number) < F.lit(float("inf")), number)
        case types.DecimalType():
            return value
        case _:
            return F.lit(None).cast("bigint")


def is_one_line(meeting: Meeting) -> bool:
    """Tells whether no left row and right row must be looked at together."""
    picks = meeting.join.picks
    match picks.asof:
        case spec.AsOf() as asof:
            counts = (
                picks.at_most != spec.Unlimited() or picks.limit != spec.Unlimited()
            )
            if counts or meeting.plan.compares or not meeting.is_by_key:
                return False
            # The times of both sides must be numbers of one type.
            frames = {hand: meeting.frame(hand) for hand in spec.HANDS}
            left, right = (
                frame.select(_measure(asof, hand, frame).alias(_AT)).dtypes
                for hand, frame in frames.items()
            )
            return left == right
        case spec.Unlimited():
            return False


@dataclass(frozen=True, slots=True)
class TimeLine:
    """Both sides of a meeting in one line of time."""

    meeting: Meeting
    asof: spec.AsOf

    def found(self) -> tuple[DataFrame, Column]:
        """Returns each left row beside its nearest right row, and if that matches."""
        # What one side lacks is null: a left row has no `r`, a right one no columns of
        # its own.
        line = self._lefts().unionByName(self._rights(), allowMissingColumns=True)
        parts = Window.partitionBy(*map(_key, range(len(self.meeting.join.hard))))
        before = _last_seen(parts.orderBy(F.asc(_AT), _RANK, _TIE))
        behind = _last_seen(parts.orderBy(F.desc(_AT), _RANK, _TIE))
        match self.asof.direction:
            case spec.Direction.BACKWARD:
                looks = {"r": before}
            case spec.Direction.FORWARD:
                looks = {"r": behind}
            case spec.Direction.NEAREST:
                looks = {_BEFORE: before, _BEHIND: behind}
            case _:
                assert_never(self.asof.direction)
        lefts = line.withColumns(looks).where(F.col(_RANK) != _RIGHT)
        names = self.meeting.frame(spec.Hand.LEFT).columns
        row = [F.col(_own(number)).alias(name) for number, name in enumerate(names)]
        beside = lefts.select(F.struct(*row, _AT).alias("l"), *looks)
        if self.asof.direction is spec.Direction.NEAREST:
            beside = beside.withColumn("r", self._nearer())
        found = beside.select("l", self._right_row().alias("r"))
        return found, values.is_true(self._reaches("r"))

    def _lefts(self) -> DataFrame:
        """Returns the left rows: a column each, so that Spark drops what nobody uses.

        One that can meet nobody has no time, so that it sees nobody.
        """
        frame = self.meeting.frame(spec.Hand.LEFT)
        condition = values.condition(self.meeting.join.picks.left_condition.text)
        is_able = values.is_true(self._is_able(spec.Hand.LEFT) & condition)
        at = F.when(is_able, _measure(self.asof, spec.Hand.LEFT, frame))
        if not self.meeting.join.kind.preserves(spec.Hand.LEFT):
            frame = frame.where(is_able)
        row = [
            side_column(spec.Hand.LEFT, name).alias(_own(number))
            for number, name in enumerate(frame.columns)
        ]
        rank = _LEFT_LAST if self.asof.exact else _LEFT_FIRST
        tie = F.lit(0).cast("bigint")
        return frame.select(*self._place(spec.Hand.LEFT, at, rank, tie), *row)

    def _rights(self) -> DataFrame:
        """Returns the right rows that can be met, each as one value.

        It holds no more than what somebody asks for: it is moved and copied as a whole.
        """
        frame = self.meeting.frame(spec.Hand.RIGHT)
        at = _measure(self.asof, spec.Hand.RIGHT, frame)
        place = side_column(spec.Hand.RIGHT, PLACE)
        row = [side_column(spec.Hand.RIGHT, name).alias(name) for name in self._used()]
        able = frame.where(self._is_able(spec.Hand.RIGHT) & at.isNotNull())
        # The last one seen wins, so the first of a tie must be seen last.
        tie = place if self.asof.tie is spec.Tie.LAST else -place
        return able.select(
            *self._place(spec.Hand.RIGHT, at, _RIGHT, tie),
            F.struct(*row, at.alias(_AT)).alias("r"),
        )

    def _is_able(self, hand: spec.Hand) -> Column:
        """Returns whether a row can meet anyone, as far as it decides that itself."""
        terms = self.meeting.own_terms(hand)
        return reduce(Column.__and__, terms, self.meeting.may_meet(hand))

    def _place(
        self, hand: spec.Hand, at: Column, rank: int, tie: Column
    ) -> list[Column]:
        """Returns where a row stands: its key, and its place in the line of time."""
        keys = [
            key.alias(_key(number))
            for number, key in enumerate(self.meeting.keys(hand))
        ]
        return [*keys, at.alias(_AT), F.lit(rank).alias(_RANK), tie.alias(_TIE)]

    def _used(self) -> list[str]:
        """Returns the columns of a right row that somebody asks for."""
        names = self.meeting.sides[spec.Hand.RIGHT].seat.source.schema.names
        asked = mentioned(self.meeting.join, spec.Hand.RIGHT, tuple(names))
        return [*asked, PLACE, TIME]

    def _right_row(self) -> Column:
        """Returns the right row with all its columns; of those not carried with null.

        What has been met is there for ever: no window ends a life here.
        """
        fields = self.meeting.frame(spec.Hand.RIGHT).schema.fields
        always = {
            lives.BIRTH: values.EARLIEST,
            lives.DEATH: values.LATEST,
            lives.END: values.LATEST,
        }
        parts = {one.name: F.lit(None).cast(one.dataType) for one in fields}
        parts |= {name: F.lit(value) for name, value in always.items()}
        used = {*self._used(), _AT}
        parts |= {name: F.col(f"r.{quoted(name)}") for name in used}
        return F.struct(*(value.alias(name) for name, value in parts.items()))

    def _nearer(self) -> Column:
        """Returns the nearer of two right rows that are near enough, or the earlier."""
        at = F.col(f"l.{quoted(_AT)}")
        before, behind = (
            F.col(f"{quoted(name)}.{quoted(_AT)}") for name in (_BEFORE, _BEHIND)
        )
        is_nearer = values.is_true(behind - at < at - before)
        fits = values.is_true(self._reaches(_BEFORE))
        is_behind = values.is_true(self._reaches(_BEHIND)) & (~fits | is_nearer)
        return F.when(is_behind, F.col(_BEHIND)).otherwise(F.col(_BEFORE))

    def _reaches(self, name: str) -> Column:
        """Returns whether a right row is near enough."""
        time = F.col(f"{quoted(name)}.{quoted(_AT)}")
        return Distance(self.asof, F.col(f"l.{quoted(_AT)}"), time).reaches()


def _last_seen(order: WindowSpec) -> Column:
    """Returns the last right row that a line of time has come by."""
    # Left rows have no `r`: they are the nulls that are ignored.
    seen = order.rowsBetween(Window.unboundedPreceding, Window.currentRow)
    return F.last("r", ignorenulls=True).over(seen)


def _key(number: int) -> str:
    """Returns the name of a column of the key."""
    return reserved(f"key_{number}")


def _own(number: int) -> str:
    """Returns the name of a column of the left row."""
    return reserved(f"l_{number}")
