"""The pick `asof` as one sort: both sides in one line of time, no row with every other.

Left and right rows of a key are put in the order of time, and each left row looks back
for the last right row before it, or forward for the first behind it:

    10:00 right A    10:02 left    10:03 right B        backward A, forward B

That is so where nothing but the equalities and the time decides; else all candidates
of a left row are compared.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import assert_never

from pyspark.sql import Column, DataFrame, Window, WindowSpec
from pyspark.sql import functions as F  # noqa: N812 - Spark's own name for it

from dovetail.expression import ALWAYS
from dovetail.run.spark_batch.arrivals import PLACE
from dovetail.run.spark_batch.by_key import is_by_key, keys, may_meet
from dovetail.run.spark_batch.matching import Meeting, side_column
from dovetail.run.spark_batch.nearest import Nearest, measure
from dovetail.run.spark_batch.truth import is_true
from dovetail.spec.join import HANDS, Hand
from dovetail.spec.picks import AsOf, Direction, Tie, Unlimited

_AT, _ORDER = "__at", "__order"
_BEFORE, _BEHIND = "__before", "__behind"


def merges(meeting: Meeting) -> bool:
    """Tells whether nothing but the equalities and the time decides."""
    picks = meeting.join.picks
    match picks.asof:
        case AsOf() as asof:
            counts = picks.at_most != Unlimited() or picks.limit != Unlimited()
            is_plain = meeting.join.soft == ALWAYS and not counts
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
        left, right = (self._line_of_time(hand) for hand in HANDS)
        line = left.unionByName(right, allowMissingColumns=True)
        looked = self._looked(line)
        lefts = looked.where(F.col("l").isNotNull())
        condition = F.expr(self.meeting.join.picks.left_condition.text)
        is_met = may_meet(self.meeting, Hand.LEFT) & condition
        return lefts, is_true(is_met & self._reaches("r"))

    def _looked(self, line: DataFrame) -> DataFrame:
        """Returns the line of time with the right row that each left row looks at."""
        match self.asof.direction:
            case Direction.BACKWARD:
                return line.withColumn("r", self._last_before())
            case Direction.FORWARD:
                return line.withColumn("r", self._first_behind())
            case Direction.NEAREST:
                both = {_BEFORE: self._last_before(), _BEHIND: self._first_behind()}
                return line.withColumns(both).withColumn("r", self._nearer())
            case _:
                assert_never(self.asof.direction)

    def _line_of_time(self, hand: Hand) -> DataFrame:
        """Returns the rows of one side as structs, with their keys and times."""
        frame = self.meeting.frame(hand)
        at = measure(_time(self.asof, hand), frame)
        row = [side_column(hand, name).alias(name) for name in frame.columns]
        named = {
            **{_key(n): key for n, key in enumerate(keys(self.meeting, hand))},
            _AT: at,
            _ORDER: self._order(hand),
            hand.letter: F.struct(*row, at.alias(_AT)),
        }
        line = frame
        if hand is Hand.RIGHT:
            line = frame.where(may_meet(self.meeting, hand) & at.isNotNull())
        return line.select(*(column.alias(name) for name, column in named.items()))

    def _order(self, hand: Hand) -> Column:
        """Returns the order at one time: the right row to take is the last seen.

        A left row sees those of its own time where they may be the one.
        """
        if hand is Hand.LEFT:
            rank, place = 2 if self.asof.exact else 0, F.lit(0).cast("bigint")
        else:
            rank, place = 1, side_column(hand, PLACE)
            place = place if self.asof.tie is Tie.LAST else -place
        return F.struct(F.lit(rank).alias("rank"), place.alias("place"))

    def _last_before(self) -> Column:
        """Returns the last right row that comes before a left one."""
        return _last_seen(self._line().orderBy(F.asc(_AT), F.asc(_ORDER)))

    def _first_behind(self) -> Column:
        """Returns the first right row that comes behind a left one."""
        return _last_seen(self._line().orderBy(F.desc(_AT), F.asc(_ORDER)))

    def _line(self) -> WindowSpec:
        """Returns the window of the rows of one key."""
        count = len(self.meeting.join.hard)
        return Window.partitionBy(*(_key(number) for number in range(count)))

    def _nearer(self) -> Column:
        """Returns the nearer of two right rows that are near enough, or the earlier."""
        before, behind = (F.col(f"`{name}`.`{_AT}`") for name in (_BEFORE, _BEHIND))
        is_nearer = is_true(behind - F.col(_AT) < F.col(_AT) - before)
        fits = is_true(self._reaches(_BEFORE))
        is_behind = is_true(self._reaches(_BEHIND)) & (~fits | is_nearer)
        return F.when(is_behind, F.col(_BEHIND)).otherwise(F.col(_BEFORE))

    def _reaches(self, name: str) -> Column:
        """Returns whether a right row is near enough."""
        time = F.col(f"`{name}`.`{_AT}`")
        return Nearest(self.asof, F.col(f"l.`{_AT}`"), time).reaches()


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
    return f"__key_{number}"
