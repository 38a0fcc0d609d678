"""The pick `asof` in Spark: how far a right row's time is, and which is the best.

Where nothing but the equalities, the time and terms over one side alone decide, it is
one sort: left and right rows of a key are put in the order of time, and each left row
looks back for the last right row before it, or forward for the first behind it. No row
is compared with every other:

    10:00 right A    10:02 left    10:03 right B        backward A, forward B

Else all candidates of a left row are compared, and the nearest one wins.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from functools import reduce
from typing import assert_never

from pyspark.sql import Column, DataFrame, Window, WindowSpec, types
from pyspark.sql import functions as F  # noqa: N812 - Spark's own name for it

from dovetail import spec
from dovetail.engines.spark import values
from dovetail.engines.spark_batch.arrivals import PLACE, TIME
from dovetail.engines.spark_batch.candidates import Meeting, mentioned, side_column
from dovetail.engines.spark_batch.lives import BIRTH, DEATH, END
from dovetail.kernels.arrays.names import reserved
from dovetail.schema import quoted

_AT, _RANK, _TIE = reserved("at"), reserved("rank"), reserved("tie")
_BEFORE, _BEHIND = reserved("before"), reserved("behind")
# At one time a left row stands before the right ones, or behind them.
_LEFT_FIRST, _RIGHT, _LEFT_LAST = range(3)
_TIMES = types.TimestampType | types.TimestampNTZType | types.DateType
_WHOLE = types.ByteType | types.ShortType | types.IntegerType | types.LongType
_WIDE = "decimal(20,0)"  # holds the distance of any two whole numbers


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
        condition = F.expr(self.meeting.join.picks.left_condition.text)
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
        always = {BIRTH: values.EARLIEST, DEATH: values.LATEST, END: values.LATEST}
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
