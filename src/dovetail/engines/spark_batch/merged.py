"""The pick `asof` as one sort: both sides in one line of time, no row with every other.

Left and right rows of a key are put in the order of time, and each left row looks back
for the last right row before it, or forward for the first behind it:

    10:00 right A    10:02 left    10:03 right B        backward A, forward B

That is so where nothing but the equalities, the time and terms over one side alone
decide; else all candidates of a left row are compared.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from typing import assert_never

from pyspark.sql import Column, DataFrame, Window, WindowSpec
from pyspark.sql import functions as F  # noqa: N812 - Spark's own name for it

from dovetail.engines.spark.moments import EARLIEST, LATEST
from dovetail.engines.spark_batch.arrivals import PLACE, TIME
from dovetail.engines.spark_batch.by_key import is_by_key, keys, may_meet
from dovetail.engines.spark_batch.lives import BIRTH, DEATH, END
from dovetail.engines.spark_batch.matching import Meeting, side_column
from dovetail.engines.spark_batch.mentioned import mentioned
from dovetail.engines.spark_batch.nearest import Nearest, measure
from dovetail.engines.spark_batch.own_terms import looks_across, own_terms
from dovetail.engines.spark_batch.truth import is_true
from dovetail.kernels.arrays.names import reserved
from dovetail.schema import quoted
from dovetail.spec.join import HANDS, Hand
from dovetail.spec.picks import AsOf, Direction, Tie, Unlimited

_AT, _RANK, _TIE = reserved("at"), reserved("rank"), reserved("tie")
_BEFORE, _BEHIND = reserved("before"), reserved("behind")
# At one time a left row stands before the right ones, or behind them.
_LEFT_FIRST, _RIGHT, _LEFT_LAST = range(3)


def merges(meeting: Meeting) -> bool:
    """Tells whether no left row and right row must be looked at together."""
    picks = meeting.join.picks
    match picks.asof:
        case AsOf() as asof:
            counts = picks.at_most != Unlimited() or picks.limit != Unlimited()
            is_plain = not counts and not looks_across(meeting)
            return is_plain and is_by_key(meeting) and _has_one_scale(meeting, asof)
        case Unlimited():
            return False


@dataclass(frozen=True, slots=True)
class Merged:
    """Both sides of a meeting in one line of time."""

    meeting: Meeting
    asof: AsOf

    def found(self) -> tuple[DataFrame, Column]:
        """Returns each left row beside its nearest right row, and if that matches."""
        line = self._lefts().unionByName(self._rights(), allowMissingColumns=True)
        looks = self._looks()
        lefts = line.withColumns(looks).where(F.col(_RANK) != _RIGHT)
        names = self.meeting.frame(Hand.LEFT).columns
        row = [F.col(_own(number)).alias(name) for number, name in enumerate(names)]
        beside = lefts.select(F.struct(*row, _AT).alias("l"), *looks)
        if self.asof.direction is Direction.NEAREST:
            beside = beside.withColumn("r", self._nearer())
        return beside.select("l", self._right_row().alias("r")), is_true(
            self._near("r")
        )

    def _looks(self) -> dict[str, Column]:
        """Returns the right rows that a left row looks at."""
        match self.asof.direction:
            case Direction.BACKWARD:
                return {"r": self._last_before()}
            case Direction.FORWARD:
                return {"r": self._first_behind()}
            case Direction.NEAREST:
                return {_BEFORE: self._last_before(), _BEHIND: self._first_behind()}
            case _:
                assert_never(self.asof.direction)

    def _lefts(self) -> DataFrame:
        """Returns the left rows: a column each, so that Spark drops what nobody uses.

        One that can meet nobody has no time, so that it sees nobody.
        """
        frame = self.meeting.frame(Hand.LEFT)
        condition = F.expr(self.meeting.join.picks.left_condition.text)
        is_able = is_true(self._is_able(Hand.LEFT) & condition)
        at = F.when(is_able, measure(self.asof.left.text, frame))
        if not self.meeting.join.kind.preserves(Hand.LEFT):
            frame = frame.where(is_able)
        row = [
            side_column(Hand.LEFT, name).alias(_own(number))
            for number, name in enumerate(frame.columns)
        ]
        rank = _LEFT_LAST if self.asof.exact else _LEFT_FIRST
        tie = F.lit(0).cast("bigint")
        return frame.select(*self._key(Hand.LEFT), *_stood(at, rank, tie), *row)

    def _rights(self) -> DataFrame:
        """Returns the right rows that can be met, each as one value.

        It holds no more than what somebody asks for: it is moved and copied as a whole.
        """
        frame = self.meeting.frame(Hand.RIGHT)
        at, place = measure(self.asof.right.text, frame), side_column(Hand.RIGHT, PLACE)
        names = [*self._used(), PLACE, TIME]
        row = [side_column(Hand.RIGHT, name).alias(name) for name in names]
        able = frame.where(self._is_able(Hand.RIGHT) & at.isNotNull())
        tie = place if self.asof.tie is Tie.LAST else -place
        return able.select(
            *self._key(Hand.RIGHT),
            *_stood(at, _RIGHT, tie),
            F.struct(*row, at.alias(_AT)).alias("r"),
        )

    def _is_able(self, hand: Hand) -> Column:
        """Returns whether a row can meet anyone, as far as it decides that itself."""
        terms = own_terms(self.meeting, hand)
        return reduce(Column.__and__, terms, may_meet(self.meeting, hand))

    def _used(self) -> list[str]:
        """Returns the columns of a right row that somebody asks for."""
        names = self.meeting.sides[Hand.RIGHT].seat.source.schema.names
        return mentioned(self.meeting.join, Hand.RIGHT, tuple(names))

    def _right_row(self) -> Column:
        """Returns the right row with all its columns; of those not carried with null.

        What has been met is there for ever: no window ends a life here.
        """
        used = {*self._used(), PLACE, TIME, _AT}
        fields = self.meeting.frame(Hand.RIGHT).schema.fields
        always = {BIRTH: EARLIEST, DEATH: LATEST, END: LATEST}
        values = {one.name: F.lit(None).cast(one.dataType) for one in fields}
        values |= {name: F.lit(value) for name, value in always.items()}
        values |= {name: F.col(f"r.{quoted(name)}") for name in used}
        return F.struct(*(value.alias(name) for name, value in values.items()))

    def _key(self, hand: Hand) -> list[Column]:
        """Returns the key of a row in columns of their own."""
        own = keys(self.meeting, hand)
        return [key.alias(_key(number)) for number, key in enumerate(own)]

    def _last_before(self) -> Column:
        """Returns the last right row that comes before a left one."""
        return _last_seen(self._line().orderBy(F.asc(_AT), _RANK, _TIE))

    def _first_behind(self) -> Column:
        """Returns the first right row that comes behind a left one."""
        return _last_seen(self._line().orderBy(F.desc(_AT), _RANK, _TIE))

    def _line(self) -> WindowSpec:
        """Returns the window of the rows of one key."""
        count = len(self.meeting.join.hard)
        return Window.partitionBy(*(_key(number) for number in range(count)))

    def _nearer(self) -> Column:
        """Returns the nearer of two right rows that are near enough, or the earlier."""
        at = F.col(f"l.{quoted(_AT)}")
        before, behind = (
            F.col(f"{quoted(name)}.{quoted(_AT)}") for name in (_BEFORE, _BEHIND)
        )
        is_nearer = is_true(behind - at < at - before)
        fits = is_true(self._near(_BEFORE))
        is_behind = is_true(self._near(_BEHIND)) & (~fits | is_nearer)
        return F.when(is_behind, F.col(_BEHIND)).otherwise(F.col(_BEFORE))

    def _near(self, name: str) -> Column:
        """Returns whether a right row is near enough."""
        time = F.col(f"{quoted(name)}.{quoted(_AT)}")
        return Nearest(self.asof, F.col(f"l.{quoted(_AT)}"), time).reaches()


def _stood(at: Column, rank: int, tie: Column) -> list[Column]:
    """Returns where a row stands in the line of time."""
    return [at.alias(_AT), F.lit(rank).alias(_RANK), tie.alias(_TIE)]


def _last_seen(order: WindowSpec) -> Column:
    """Returns the last right row that a line of time has come by."""
    seen = order.rowsBetween(Window.unboundedPreceding, Window.currentRow)
    return F.last("r", ignorenulls=True).over(seen)


def _has_one_scale(meeting: Meeting, asof: AsOf) -> bool:
    """Tells whether the times of both sides are numbers of one type."""
    scales = []
    for hand in HANDS:
        frame = meeting.frame(hand)
        at = measure(_time(asof, hand), frame)
        scales.append(frame.select(at.alias(_AT)).dtypes)
    return scales[0] == scales[1]


def _time(asof: AsOf, hand: Hand) -> str:
    """Returns the expression of a side's time."""
    return (asof.left if hand is Hand.LEFT else asof.right).text


def _key(number: int) -> str:
    """Returns the name of a column of the key."""
    return reserved(f"key_{number}")


def _own(number: int) -> str:
    """Returns the name of a column of the left row."""
    return reserved(f"l_{number}")
